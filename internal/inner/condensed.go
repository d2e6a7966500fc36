package inner

import (
	"context"
	"slices"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

const (
	condensedPasses = 50      // passes over X that condensing may cost for each fold: a search takes as many
	factorCost      = 1. / 30 // work of a factorisation, relative to the cube of the number of columns
)

// PassCost is the work of one entry in a pass over X.
func PassCost(x sparse.Matrix) float64 {
	if _, dense := x.(*sparse.Dense); dense {
		return 0.1
	}
	return 0.6
}

// condensedRatio is the number of entries of X per entry of the condensed rows from which on condensing pays.
func condensedRatio(x sparse.Matrix) float64 {
	if _, dense := x.(*sparse.Dense); dense {
		return 2
	}
	return 1.4 // a pass over a sparse entry costs six times as much, but factors are most of the cost of condensed rows
}

// Condenses reports whether the mean squared error on the given number of folds is better computed on
// condensed rows.
func (s *Statement) Condenses(folds int) bool {
	if !s.condensable() {
		return false
	}
	_, p := s.X.Dims()
	entries, columns, parts := float64(s.X.NNZ()), float64(p), float64(bilevel.Parts(folds))
	factors := float64(parts * factorCost * columns * columns * columns)
	left := float64(float64(condensedPasses*folds)*PassCost(s.X)*entries) - factors
	return entries >= float64(condensedRatio(s.X)*parts*float64((p+2)*p)) && left > 0 && bilevel.SumsCost(s.X) <= left
}

// condensable reports whether the problem depends on the rows through their moments alone.
func (s *Statement) condensable() bool {
	return s.quadratic() && !s.Classes && s.Form.Hyperparameters != PerColumn &&
		s.Offset == nil && s.ClassWeights == nil && !slices.Contains(s.GroupWeights, 0)
}

// Condense returns the condensed rows of the folds, and the problem on them; nil where rows cannot be
// condensed, see [bilevel.Condense].
func (s *Statement) Condense(ctx context.Context, spec bilevel.Spec) (rows *bilevel.Condensed, on *Statement, err error) {
	defer outcome.Caught(&err)
	defer s.Turn(ctx)()
	if s.unpenalised {
		spec.Free = s.l1Factors
	}
	rows, err = bilevel.Condense(s.Kernels, s.Team(), s.X, s.Y, &spec)
	if rows == nil || err != nil {
		return nil, nil, err
	}
	few := *s
	few.X, few.Y, few.Weights, few.Keep = rows.X, rows.Y, rows.Spec(spec).Weights, false
	return rows, &few, nil
}
