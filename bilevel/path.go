package bilevel

import (
	"cmp"
	"context"
	"iter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-45b9a24c/pare/search"
)

// Path evaluates the criterion, without its gradient, at one λ after the other: to
// the bit what [Problem.Evaluate] finds in turn. Lanes do not wait for one another,
// so that five folds keep two threads busy to the end. It stops after an error, which
// is that of ctx where ctx ended; no goroutine is left when it has.
func (p *Problem) Path(ctx context.Context, path [][]float64) iter.Seq2[Report, error] {
	return func(yield func(Report, error) bool) {
		stoppable, stop := context.WithCancel(ctx)
		group, inner := errgroup.WithContext(stoppable)
		wait := func() error {
			stop()
			return group.Wait()
		}
		defer func() { _ = wait() }() // whatever lanes still do is of no use
		tell := p.spec.counting(p.lanes * len(path))
		results := make([]chan LaneResult, p.lanes)
		for i := range results {
			results[i] = make(chan LaneResult, len(path))
			group.Go(func() error {
				defer close(results[i])
				for _, logLambda := range path {
					at, err := p.runner.Run(inner, []LaneRequest{{
						Lane: LaneID{Fold: i}, Ask: AskSolve, LogLambda: logLambda, ValueOnly: true, Anew: p.anew(),
					}}, tell(logLambda))
					if err != nil {
						return err
					}
					if p.memory.on {
						state, err := p.runner.Run(inner, []LaneRequest{{Lane: LaneID{Fold: i}, Ask: AskState}}, nil)
						if err != nil {
							return err
						}
						at[0].State = state[0].State
					}
					results[i] <- at[0]
				}
				return nil
			})
		}
		began := time.Now()
		for _, logLambda := range path {
			at := make([]LaneResult, p.lanes)
			for i := range at {
				var done bool
				if at[i], done = <-results[i]; !done {
					yield(Report{}, cmp.Or(ctx.Err(), wait()))
					return
				}
			}
			report := p.collect(search.Request{LogLambda: logLambda, ValueOnly: true}, at)
			if p.memory.on {
				report.Memory.Last = p.memory.encode(at, nil)
			}
			report.Seconds = time.Since(began).Seconds()
			began = time.Now()
			if !yield(report, nil) {
				return
			}
		}
	}
}
