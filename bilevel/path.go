package bilevel

import (
	"cmp"
	"context"
	"iter"
	"sync"
	"time"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// Path evaluates the criterion, without its gradient, at one λ after another. The results are, bit
// for bit, those of calls of [Problem.Evaluate] in this order. Lanes do not wait for one another,
// so that five folds keep two threads busy to the end. It stops after an error, which is that of ctx
// if ctx has ended, else the first in the order of λ and lane. No goroutine is left when it stops.
func (p *Problem) Path(ctx context.Context, path [][]float64) iter.Seq2[Report, error] {
	return func(yield func(Report, error) bool) {
		inner, stop := context.WithCancel(ctx)
		var lanes sync.WaitGroup
		defer func() {
			stop() // further results of the lanes are not needed
			lanes.Wait()
		}()
		tell := p.spec.progressCounter(p.lanes * len(path))
		results := make([]chan pathResult, p.lanes)
		for i := range results {
			results[i] = make(chan pathResult, len(path))
			lanes.Go(func() {
				for _, logLambda := range path {
					at, err := p.solveAlong(inner, i, logLambda, tell(logLambda))
					if results[i] <- (pathResult{at, err}); err != nil {
						return
					}
				}
			})
		}
		began := time.Now()
		for _, logLambda := range path {
			at := make([]LaneResult, p.lanes)
			for i := range at {
				next := <-results[i]
				if next.err != nil {
					yield(Report{}, cmp.Or(ctx.Err(), next.err))
					return
				}
				at[i] = next.LaneResult
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

// pathResult is the result of a lane at one λ of a path.
type pathResult struct {
	LaneResult
	err error
}

// solveAlong asks lane i for its solution at one λ of a path.
func (p *Problem) solveAlong(ctx context.Context, i int, logLambda []float64, solved func()) (_ LaneResult, err error) {
	defer outcome.Caught(&err)
	at, err := p.runner.Run(ctx, []LaneRequest{{
		Lane: LaneID{Fold: i}, Ask: AskSolve, LogLambda: logLambda, ValueOnly: true, Anew: p.solvesAnew(),
	}}, solved)
	if err != nil {
		return LaneResult{}, err
	}
	if p.memory.on {
		state, err := p.runner.Run(ctx, []LaneRequest{{Lane: LaneID{Fold: i}, Ask: AskState}}, nil)
		if err != nil {
			return LaneResult{}, err
		}
		at[0].State = state[0].State
	}
	return at[0], nil
}
