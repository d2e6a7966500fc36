package cd

import (
	"context"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// paired is a loss of two scores that depends only on their difference, such as a softmax of two classes.
type paired interface {
	// Pair returns the loss as a datafit of the second score minus the first. ok is false if there is none.
	Pair() (fit model.Datafit, ok bool)
}

// solvePair sets the coefficients of two scores from a solution for their difference, which [Solver] finds with half as many
// coefficients and on compact columns. It reports whether that solve has converged. The point is certified like any other.
func (s *Blocks) solvePair(ctx context.Context, g model.Blocks, opts Options) (led bool, err error) {
	split, ok := g.(interface {
		Pair() (of model.Penalty, first float64, ok bool)
	})
	if !ok || s.q != 2 || s.part.Largest() != 1 {
		return false, nil
	}
	penalty, first, ok := split.Pair()
	if !ok || !s.makePair() {
		return false, nil
	}
	columns := s.columns()
	at, coef := make([]int32, 0, 2*len(columns)), make([]float64, 0, 2*len(columns))
	for _, j := range columns {
		coef = append(coef, s.beta[2*j+1]-s.beta[2*j])
	}
	s.pair.MoveTo(columns, coef)
	solution, err := s.pair.Solve(ctx, penalty, opts)
	if err != nil {
		return false, err
	}
	s.out.Add(solution.Effort)
	s.work += solution.Work
	coef = coef[:0]
	for k, j := range solution.Support {
		w := solution.Coef[k]
		at, coef = append(at, 2*j, 2*j+1), append(coef, -first*w, (1-first)*w)
	}
	s.Start(at, coef)
	return solution.Status == outcome.Converged, nil
}

// makePair creates the solver for the difference of two scores at the first call, and reports whether there is one.
func (s *Blocks) makePair() bool {
	if s.pair == nil {
		if loss, ok := s.fit.(paired); ok {
			if fit, ok := loss.Pair(); ok {
				s.pair = New(fit)
			}
		}
	}
	return s.pair != nil
}
