package inner

import (
	"cmp"
	"context"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
)

// condensedStart provides starts for a penalty that is not convex: solutions on condensed rows, where following the
// path from αmax is cheap.
type condensedStart struct {
	tried        bool
	condensed    *blockProblem // nil: there is none
	condenseWork float64       // of the pass that made condensed
	workCounted  bool          // a solution has counted work
}

// startTol is the tolerance of solutions that are used as starts.
const startTol = 1e-9

// startAtCondensed makes a problem start at the solution on condensed rows, and returns that solution with its effort;
// nil where there are no condensed rows.
func (a *condensedStart) startAtCondensed(ctx context.Context, b *blockProblem, logLambda []float64) (*Solution, error) {
	if err := a.condense(ctx, b.statement); a.condensed == nil {
		return nil, err
	}
	s, err := a.condensed.Solve(ctx, logLambda)
	if err != nil {
		return nil, err
	}
	if s.Passes = 0; !a.workCounted {
		s.Passes, s.Work, a.workCounted = 1, s.Work+a.condenseWork, true
	}
	defer b.statement.Turn(ctx)()
	b.startNear(s.Support, s.Coef)
	return s, nil
}

// restart drops the last solution, see [Problem].
func (a *condensedStart) restart() {
	if a.workCounted = false; a.condensed != nil {
		a.condensed.Restart()
	}
}

// condense makes the problem on condensed rows, the first time.
func (a *condensedStart) condense(ctx context.Context, of *Statement) error {
	if a.tried || !of.isTall(condensedPath) {
		return nil
	}
	rows, few, err := of.Condense(ctx, bilevel.Spec{Weights: of.Weights, Intercept: of.Intercept})
	if err != nil {
		return err
	}
	if a.tried = true; rows == nil {
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
	a.condensed, a.condenseWork = problem.(*blockProblem), rows.Work
	return nil
}
