package choose

import (
	"context"

	"github.com/seed-45b9a24c/pare/search"
)

// stepping is an objective whose gradients are good enough for steps: their error bounds, which may
// cost more than the gradients, are not computed.
type stepping struct{ search.Objective }

// Eval implements [search.Objective].
func (s stepping) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	r.Rough = true
	return s.Objective.Eval(ctx, r)
}

// stepped returns f as the objective of a descent: as [stepping] if the descent is as exact as the standard
// error asks for, or f itself if it goes on to the last digits or is not by Auto.
func (o Options) stepped(f search.Objective) search.Objective {
	if o.Precision || o.Search != Auto {
		return f
	}
	return stepping{f}
}
