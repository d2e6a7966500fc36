package inner

import (
	"cmp"
	"context"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
)

// approach leads to solutions under a penalty that is not convex: its problem on condensed rows, which has the path there.
type approach struct {
	sought bool
	few    *blocked // nil: there is none
	work   float64  // of the pass that made it
	met    bool     // a solution has counted that
}

// startTol is the tolerance of solutions that others begin at.
const startTol = 1e-9

// lead moves a problem to the solution on condensed rows, and returns that with what it has taken; nil where there are no such rows.
func (a *approach) lead(ctx context.Context, b *blocked, logLambda []float64) (*Solution, error) {
	if err := a.seek(ctx, b.of); a.few == nil {
		return nil, err
	}
	s, err := a.few.Solve(ctx, logLambda)
	if err != nil {
		return nil, err
	}
	if s.Passes = 0; !a.met {
		s.Passes, s.Work, a.met = 1, s.Work+a.work, true
	}
	defer b.of.Turn(ctx)()
	b.startNear(s.Support, s.Coef)
	return s, nil
}

// restart forgets the path, see [Problem].
func (a *approach) restart() {
	if a.met = false; a.few != nil {
		a.few.Restart()
	}
}

// seek makes the problem, the first time.
func (a *approach) seek(ctx context.Context, of *Statement) error {
	if a.sought || !of.tall(condensedPath) {
		return nil
	}
	rows, few, err := of.Condense(ctx, bilevel.Spec{Weights: of.Weights, Intercept: of.Intercept})
	if err != nil {
		return err
	}
	if a.sought = true; rows == nil {
		return nil
	}
	few.Solver = func() cd.Options {
		o := of.Solver()
		o.Tol = min(cmp.Or(o.Tol, startTol), startTol)
		return o
	}
	problem, err := OnBlocks(few)
	if err != nil {
		return err
	}
	a.few, a.work = problem.(*blocked), rows.Work
	return nil
}
