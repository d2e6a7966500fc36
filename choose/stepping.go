package choose

import (
	"context"

	"github.com/seed-45b9a24c/pare/search"
)

// roughGradients is an objective whose gradients are good enough for steps: their error bounds, which may
// cost more than the gradients, are not computed.
type roughGradients struct{ search.Objective }

// Eval implements [search.Objective].
func (s roughGradients) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	r.Rough = true
	return s.Objective.Eval(ctx, r)
}

// forSteps returns f as the objective of a descent: as [roughGradients] if the descent is as exact as the standard
// error asks for, or f itself if it goes on to the last digits or is not by Auto.
func (o Options) forSteps(f search.Objective) search.Objective {
	if o.Precision || o.Search != Auto {
		return f
	}
	return roughGradients{f}
}
