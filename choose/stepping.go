package choose

import (
	"context"

	"github.com/seed-45b9a24c/pare/search"
)

// stepping is an objective whose slopes are to step by: what they are off by is not computed,
// which may cost more than they do.
type stepping struct{ search.Objective }

// Eval implements [search.Objective].
func (s stepping) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	r.Rough = true
	return s.Objective.Eval(ctx, r)
}

// stepped returns an objective for a descent that ends in standard errors, and f itself for one that
// goes on to the last digits.
func (o Options) stepped(f search.Objective) search.Objective {
	if o.Precision || o.Search != Auto {
		return f
	}
	return stepping{f}
}
