package inner

import (
	"context"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

const (
	rotatedRows  = 2048 // largest number of rows
	rotatedRatio = 2    // least number of columns per row
)

// Rotates reports whether a ridge alone should be fitted on the columns of the [bilevel.Rotation] of X.
func (s *Statement) Rotates() bool {
	x, dense := s.X.(*sparse.Dense)
	if !dense || s.Standardise || s.Times != nil || s.Box != nil || s.Solver().MaxSupport > 0 { // MaxSupport counts columns of X
		return false
	}
	n, p := x.Dims()
	return n <= rotatedRows && p >= rotatedRatio*n
}

// Rotation returns the rotation of X for a ridge alone on few rows; nil where the problem should be solved on
// X itself.
func (s *Statement) Rotation(ctx context.Context) (_ *bilevel.Rotation, err error) {
	defer outcome.Caught(&err)
	if !s.Form.Round || !s.Rotates() {
		return nil, nil
	}
	defer s.Turn(ctx)()
	return bilevel.Rotate(s.Kernels, s.X.(*sparse.Dense), s.Weights, s.Intercept)
}

// rotated returns the problem on the columns of the rotation, which has the same predictions; the problem itself
// where there is none.
func (s *separable) rotated(ctx context.Context) (*separable, error) {
	r, err := s.statement.Rotation(ctx)
	if r == nil || err != nil {
		return s, err
	}
	of := *s.statement
	of.X, of.Keep = r.L, false
	problem, err := OnColumns(&of)
	if err != nil {
		return s, err
	}
	on := problem.(*separable)
	on.unrotatedColumns = r.Columns()
	return on, nil
}
