package inner

import (
	"context"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// condensedPays is how many rows there are to be for each that they are condensed to, from which on that pays.
const condensedPays = 2

// Condenses reports whether so many folds had better be judged, by their mean squared error, on condensed rows.
func (s *Statement) Condenses(folds int) bool {
	_, dense := s.X.(*sparse.Dense)
	n, p := s.X.Dims()
	return dense && s.quadratic() && !s.Classes && s.Form.Blocks == nil && s.Form.Hyperparameters != PerColumn &&
		s.Offset == nil && s.ClassWeights == nil && !s.unpenalised && n >= condensedPays*folds*(p+2)
}

// Condense implements [Condensable].
func (s *separable) Condense(ctx context.Context, spec bilevel.Spec) (_ Problem, rows *bilevel.Condensed, err error) {
	defer outcome.Caught(&err)
	defer s.of.Turn(ctx)()
	rows, err = bilevel.Condense(s.of.Kernels, s.of.X.(*sparse.Dense), s.of.Y, &spec)
	if rows == nil || err != nil {
		return nil, nil, err
	}
	of := *s.of
	of.X, of.Y, of.Weights, of.Keep = rows.X, rows.Y, rows.Spec(spec).Weights, false
	problem, err := OnColumns(&of)
	return problem, rows, err
}
