package inner

import (
	"cmp"
	"context"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
)

// approach provides starts for a penalty that is not convex: solutions on condensed rows, where following the
// path from αmax is cheap.
type approach struct {
	sought bool
	few    *blocked // nil: there is none
	work   float64  // of the pass that made few
	met    bool     // a solution has counted work
}

// startTol is the tolerance of solutions that are used as starts.
const startTol = 1e-9

// lead makes a problem start at the solution on condensed rows, and returns that solution with its effort;
// nil where there are no condensed rows.
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

// restart drops the last solution, see [Problem].
func (a *approach) restart() {
	if a.met = false; a.few != nil {
		a.few.Restart()
	}
}

// seek makes the problem on condensed rows, the first time.
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
