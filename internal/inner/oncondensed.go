package inner

import (
	"cmp"
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// onCondensed is the inner problem on condensed rows. Its duality gaps, at its solutions, are those on the
// rows of X up to the rounding of sums over these rows, a bound of which is included. Where a gap exceeds the
// tolerance, the problem is solved on X itself.
type onCondensed struct {
	summable
	statement   *Statement // the problem on X
	rows        *bilevel.Condensed
	onX         summable // nil before it is needed
	passCounted bool     // a solve has counted the pass over X
	corrErrors  []float64
}

// summable is a problem whose duality gaps can be computed from sums over the rows.
type summable interface {
	Problem
	Anchored
	view() *sparse.View
	// startNear makes the next solve start at coefficients of X, which it may overwrite.
	startNear(columns []int32, coef []float64)
	// dualErrorCost returns the cost of errors of the correlations, off by at most off, to the dual point of a
	// solution: the relative amount by which the dual point has to be scaled, or with a ridge the change of
	// its objective.
	dualErrorCost(s *Solution, logLambda, off []float64) (share, objective float64, err error)
}

// newSummable makes the problem of a statement, on columns or on blocks.
func newSummable(of *Statement) (summable, error) {
	on := OnColumns
	if of.Form.Blocks != nil {
		on = OnBlocks
	}
	problem, err := on(of)
	if err != nil {
		return nil, err
	}
	return problem.(summable), nil
}

const (
	condensedValues = 1 << 20 // entries from which on X is larger than caches near the processor
	condensedFor    = 64      // least number of rows per column
	condensedFit    = 40      // largest number of columns for one fit: with more it may be better to leave columns out
	condensedPath   = 256     // largest number of columns for many fits
	pathPasses      = 100     // passes over sparse X that many fits take at least
	usualTol        = 1e-6    // the default tolerance of package cd
)

// FitsCondensed reports whether a problem is to be solved on condensed rows, at one λ or at many.
func (s *Statement) FitsCondensed(many bool) bool {
	most := condensedFit
	if many {
		most = condensedPath
	} else if _, dense := s.X.(*sparse.Dense); !dense { // passes over sparse data take less
		return false
	}
	return (s.Form.Blocks == nil || !s.Form.Blocks.Shape.Concave) && !s.unpenalised && s.Box == nil && !s.Certify && s.isTall(most)
}

// isTall reports whether X has no more columns than most, and so many rows that a pass takes long.
func (s *Statement) isTall(most int) bool {
	n, p := s.X.Dims()
	return s.condensable() && p <= most && n >= condensedFor*p && s.X.NNZ() >= condensedValues && s.sumsPay() && len(s.Y) == n && sparse.CheckWeights(s.Kernels, s.Weights, n) == nil
}

// sumsPay reports whether all products of columns cost less than the passes over X that many fits take, as
// they do on dense data.
func (s *Statement) sumsPay() bool {
	_, dense := s.X.(*sparse.Dense)
	return dense || bilevel.SumsCost(s.X) <= float64(pathPasses*PassCost(s.X)*float64(s.X.NNZ()))
}

// OnCondensed makes the inner problem of one predictor and a convex penalty on condensed rows; nil where there are none.
func OnCondensed(ctx context.Context, of *Statement) (Problem, error) {
	rows, few, err := of.Condense(ctx, bilevel.Spec{Weights: of.Weights, Intercept: of.Intercept})
	if rows == nil || err != nil {
		return nil, err
	}
	few.Keep = of.Keep
	problem, err := newSummable(few)
	if err != nil {
		return nil, err
	}
	return &onCondensed{summable: problem, statement: of, rows: rows, corrErrors: make([]float64, len(rows.Norms)-1)}, nil
}

// Solve implements [Problem].
func (c *onCondensed) Solve(ctx context.Context, logLambda []float64) (*Solution, error) {
	s, err := c.summable.Solve(ctx, logLambda)
	if err != nil || s.Status == outcome.Cancelled {
		return s, err
	}
	s.Gap += c.gapError(s, logLambda)
	s.RelativeGap = s.Gap / c.Null() // not a number where the target is constant
	if tol := cmp.Or(c.statement.Solver().Tol, usualTol); s.Status != outcome.Converged || !(s.RelativeGap <= tol) {
		return c.solveOnX(ctx, s, logLambda)
	}
	s.Intercept += c.rows.Shifted(s.Support, s.Coef)
	if s.Passes = 0; !c.passCounted {
		s.Passes, s.Work, s.Shared, c.passCounted = 1, s.Work+c.rows.Work, s.Shared+c.rows.Work, true
	}
	return s, nil
}

// gapError bounds by how much the gap on X may exceed the gap on condensed rows. Let δ be the rounding of
// products of columns, relative to the norms of these columns, and S = ‖y‖ + Σ‖xⱼ‖|βⱼ|. Both objectives are
// off by δS²/N at most, and a correlation by δ‖xⱼ‖S/N. A dual point that meets its bound αⱼ on condensed rows
// has to be scaled for that error, which changes its objective by four times as much of P₀ at most; with a
// ridge it is not scaled, and its objective changes by the square of the error.
func (c *onCondensed) gapError(s *Solution, logLambda []float64) float64 {
	norms, view := c.rows.Norms, c.view()
	size := norms[len(norms)-1]
	for k, j := range s.Support {
		size += float64(norms[j] * math.Abs(s.Coef[k]))
	}
	off := c.rows.Rounding * size / view.Total()
	for j, norm := range norms[:len(norms)-1] {
		c.corrErrors[j] = off * norm * view.Scale(j)
	}
	share, objective, err := c.dualErrorCost(s, logLambda, c.corrErrors)
	if err != nil {
		return math.Inf(1)
	}
	return float64(3*off*size) + objective + float64(4*share*c.Null())
}

// solveOnX solves the problem on X, from a solution on condensed rows.
func (c *onCondensed) solveOnX(ctx context.Context, from *Solution, logLambda []float64) (*Solution, error) {
	if c.onX == nil {
		end := c.statement.Turn(ctx)
		onX, err := newSummable(c.statement)
		end()
		if err != nil {
			return nil, err
		}
		c.onX = onX
	}
	c.onX.startNear(from.Support, from.Coef)
	return c.onX.Solve(ctx, logLambda)
}

// Restart implements [Problem].
func (c *onCondensed) Restart() {
	c.summable.Restart()
	c.passCounted = false
	if c.onX != nil {
		c.onX.Restart()
	}
}
