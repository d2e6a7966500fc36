package choose

import (
	"context"
	"slices"

	"github.com/seed-45b9a24c/pare/search"
)

// earlier returns the evaluations of the earlier choice in the coordinates of f, with the
// chosen point first; none if that point is not one of f.
func (o Options) earlier(f search.Objective) []search.Evaluation {
	if o.From == nil {
		return nil
	}
	lower := commonLambda
	if on, ok := f.(interface {
		lower(search.Evaluation) (search.Evaluation, bool)
	}); ok {
		lower = on.lower
	}
	best, ok := lower(o.From.Best)
	if !ok {
		return nil
	}
	seen := []search.Evaluation{best}
	for _, e := range o.From.Evaluations {
		if e, ok = lower(e); ok {
			seen = append(seen, e)
		}
	}
	return seen
}

// commonLambda returns an evaluation with the one λ that all its coordinates have, and false if they differ.
func commonLambda(e search.Evaluation) (search.Evaluation, bool) {
	if len(e.LogLambda) == 0 || slices.Min(e.LogLambda) != slices.Max(e.LogLambda) {
		return e, false
	}
	e.LogLambda = e.LogLambda[:1]
	return e, true
}

// lower is the inverse of lift; it reports false for an evaluation that is not on the line.
func (r line) lower(e search.Evaluation) (search.Evaluation, bool) {
	shift, ok := shiftFrom(e.LogLambda, r.origin)
	e.LogLambda = []float64{shift}
	return e, ok
}

// resumePair chooses both λ of an elastic net from an earlier choice: by a scan along an axis
// if that choice was a Lasso or a ridge, else by the trust region. done is false if that leads
// to no choice.
func (p *Problem) resumePair(ctx context.Context, s *stages, top []float64, o Options) (result *search.Result, done bool, err error) {
	from := o.From.Best.LogLambda
	if len(from) != 2 {
		return nil, false, nil
	}
	for free := range from {
		if from[1-free] != noStrength {
			continue
		}
		one := *p
		on := onlyStrength(p.Objective, free)
		one.Objective, one.Top, one.Shape, one.Pair = on, p.Top[:1], Sparse, false
		if free == 1 {
			one.Top, one.Shape = []float64{p.RidgeTop}, Smooth
		}
		result, err = s.run(on.lift, func(options search.Options) (*search.Result, error) {
			return one.scan(ctx, on, o, options)
		})
		return result, true, err
	}
	if c, ok := p.Objective.(hasCurvature); ok {
		c.AskCurvature()
	}
	result, err = s.run(unchanged, func(options search.Options) (*search.Result, error) {
		options.Tol, options.Schedule = p.pairTol(options.Tol, o.From.Best), search.Exact
		return search.Point(ctx, o.forSteps(p), slices.Clone(from), options)
	})
	if result == nil || err != nil || !(result.Best.Value < p.Null().Value) {
		return result, err != nil, err
	}
	result, err = p.descendBoth(ctx, s, result, result.Best, from[0], boxAround(from[0], from[1], from[1], top), o)
	return result, true, err
}
