package pare

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

const (
	budget        = 50   // evaluations, where none is stated
	budgetColumns = 15   // the same for a λ for each column: more overfit the held-out rows
	roughly       = 1e-3 // gain, as a share, not worth an evaluation on the line of a search that goes on beside it
	classesReach  = 3    // how far λ's of classes may go from the common share of αmax
	nothing       = 9    // how far below the box of its λ a strength is nothing beside the other
	dying         = 8    // how far below αmax the slopes in the elastic net's ℓ1 strength die away as it does
	wellPosed     = 14   // how far a ridge may be below the largest curvature to do without an ℓ1 strength
	pairStop      = 1e-5 // gain, as a share, not worth an evaluation with the elastic net's λ's
	manyStop      = 1e-4 // gain with many λ's that is not worth overfitting for
	columnsReach  = 2    // how far λ's of columns may go from the one for all
	columnsProx   = 0.1  // pull back to it: times the criterion per column of its support
	columnsRisk   = 3    // the same for a criterion of all rows, times columns per row up to 1
)

// stages are searches in a row, on one budget and one log.
type stages struct {
	options search.Options
	done    []search.Evaluation
}

// run runs the next search, which finds its share of budget and log in the options;
// lift says what its evaluations are in all coordinates. The result is that of all
// searches so far, but for the status; nil where the arguments are refused.
func (s *stages) run(lift func(search.Evaluation) search.Evaluation, method func(search.Options) (*search.Result, error)) (*search.Result, error) {
	o := s.options
	o.Evaluations -= len(s.done)
	o.Logged = len(s.done)
	if progress := o.Progress; progress != nil {
		o.Progress = func(e search.Evaluation) { progress(lift(e)) }
	}
	result, err := method(o)
	if result == nil {
		return nil, err
	}
	result.Best = lift(result.Best)
	for _, e := range result.Evaluations {
		s.done = append(s.done, lift(e))
	}
	result.Evaluations = s.done
	return result, err
}

// further reports whether a search is to be followed by another.
func (s *stages) further(r *search.Result, err error) bool {
	return err == nil && r.Status.OK() && r.Status != outcome.Flat && s.options.Evaluations > len(s.done)
}

func asIs(e search.Evaluation) search.Evaluation { return e }

// search minimises over λ. Where there are several, but for searchPair, it begins on the
// line on which all are the same share of αmax; common is the best point there, if the
// search went on from it. Partial results come with an error.
func (e *engine) search(ctx context.Context, f outer, o SelectOptions) (result, common *search.Result, err error) {
	s := &stages{options: search.Options{
		Evaluations: o.Evaluations, Progress: o.Progress, Log: o.Log,
		Tol: e.config.Tol, Schedule: cmp.Or(o.Schedule, search.Auto),
	}}
	if o.Search != Grid && o.Evaluations == 0 {
		s.options.Evaluations = budget
	}
	top := slices.Clone(e.max())
	for i, l := range top {
		if math.IsNaN(l) {
			top[i] = 0 // no αmax: λ itself
		}
	}
	if len(top) == 1 || !e.family.common && o.Search != Auto {
		result, err = s.run(asIs, func(options search.Options) (*search.Result, error) {
			return e.minimise(ctx, f, top, e.starts(top, o), o, options)
		})
		return result, nil, err
	}
	if problem, ok := f.(*bilevel.Problem); ok && !e.family.common && criterion.Curved(o.Validation.Loss) && e.config.Method.iterate() == nil {
		problem.Curvature = true
		result, err = e.searchPair(ctx, s, problem, top, o)
		return result, nil, err
	}
	line, origin := ray{f, top}, []float64{0}
	result, err = s.run(line.lift, func(options search.Options) (*search.Result, error) {
		if !e.family.common || o.PerClass {
			options.Stop, options.Schedule = roughly, search.Exact
		}
		return e.minimise(ctx, line, origin, e.starts(origin, o), o, options)
	})
	if e.family.common && !o.PerClass || !s.further(result, err) {
		return result, nil, err
	}
	common = result
	if e.family.common {
		s.options.Schedule = search.Exact // solutions are good already, and steps short
	}
	if o.Search == Auto {
		switch f := f.(type) {
		case *bilevel.Multiclass:
			f.Curvature = true
		case *bilevel.Problem:
			f.Curvature = true
		}
	}
	result, err = s.run(asIs, func(options search.Options) (*search.Result, error) {
		if e.family.common {
			options.Stop = manyStop
			return e.descend(ctx, f, common.Best.LogLambda, around(common.Best.LogLambda, classesReach), o, options)
		}
		return e.minimise(ctx, f, top, common.Best.LogLambda, o, options)
	})
	return noWorse(result, common), common, err
}

// searchPair minimises over both λ's of the elastic net, where their curvature is known.
// Where it ends at the least ridge, the Lasso may have a better minimum: elsewhere, or
// since the border's ridge still shrinks.
func (e *engine) searchPair(ctx context.Context, s *stages, f *bilevel.Problem, top []float64, o SelectOptions) (*search.Result, error) {
	start, box := e.starts(top, o), e.pairBox(top)
	v := vanishing{f, top[0] - dying}
	region := func() (*search.Result, error) {
		return s.run(v.lift, func(options search.Options) (*search.Result, error) {
			options.Stop = pairStop
			return search.TrustRegion(ctx, v, v.coordinates(start), search.Box{Lower: v.coordinates(box.Lower), Upper: box.Upper}, options)
		})
	}
	both, err := region()
	if !s.further(both, err) || both.Best.LogLambda[1] > box.Lower[1] {
		return both, err
	}
	box = e.box(top) // not both may vanish
	box.Lower[1] -= nothing
	box.Upper[1] = box.Lower[1]
	lasso, err := region()
	if lasso != nil && (lasso.Status == outcome.Stationary || lasso.Status == outcome.Kink) {
		lasso.Status = outcome.Box
	}
	return noWorse(lasso, both), err
}

// pairBox is that of the elastic net. It reaches to where a ridge alone is searched for,
// which is at home beside ‖X‖², not αmax; and to next to no ℓ1 strength, where the least
// ridge, or more rows than columns, see to it that solutions are found without.
func (e *engine) pairBox(top []float64) search.Box {
	box := e.box(top)
	curvature := kernels.Log((&model.Null{Fit: e.problem.(*single).fit}).RidgeMax())
	box.Upper[1] = max(box.Upper[1], curvature+Ridge.family().ranges[0].above)
	if n, p := e.x.Dims(); n > p || curvature-box.Lower[1] <= wellPosed {
		box.Lower[0] -= nothing
	}
	return box
}

// noWorse puts the best point of an earlier search in place of a worse one.
func noWorse(result, earlier *search.Result) *search.Result {
	if result != nil && (result.Best.LogLambda == nil || !(result.Best.Value <= earlier.Best.Value)) {
		result.Best = earlier.Best
	}
	return result
}

// around is the box of all λ's within reach of a point.
func around(x []float64, reach float64) search.Box {
	var box search.Box
	for _, l := range x {
		box.Lower, box.Upper = append(box.Lower, l-reach), append(box.Upper, l+reach)
	}
	return box
}

// searchColumns chooses a λ for each column: from the best one for all, those of
// columns that nothing tells apart on training rows together, within e² of it and
// pulled back to it, for as long as rows kept for testing agree, where there are such.
func (e *engine) searchColumns(ctx context.Context, scalar *engine, f outer, spec bilevel.Spec, o SelectOptions) (result, common *search.Result, err error) {
	s := &stages{options: search.Options{
		Evaluations: cmp.Or(o.Evaluations, budgetColumns), Progress: o.Progress, Log: o.Log,
		Tol: e.config.Tol, Schedule: cmp.Or(o.Schedule, search.Auto),
	}}
	top := scalar.max()
	_, p := e.x.Dims()
	spread := func(at search.Evaluation) search.Evaluation {
		if at.LogLambda != nil {
			at.LogLambda, at.Gradient = slices.Repeat(at.LogLambda, p), nil
		}
		return at
	}
	line := o
	line.Search = Auto
	var one search.Evaluation
	result, err = s.run(spread, func(options search.Options) (*search.Result, error) {
		options.Stop, options.Schedule = roughly, search.Exact
		r, err := scalar.minimise(ctx, f, top, scalar.starts(top, o), line, options)
		if r != nil {
			one = r.Best
		}
		return r, err
	})
	if !s.further(result, err) {
		return result, nil, err
	}
	common = result
	x, home, err := bilevel.Merge(e.k, e.x, spec, e.config.Positive)
	if err != nil {
		return nil, nil, err
	}
	each, err := e.problem.(*single).on(x, spec)
	if err != nil {
		return nil, nil, err
	}
	merged := tied{home}
	n, columns := x.Dims()
	start := slices.Repeat(one.LogLambda, columns)
	box := around(start, columnsReach)
	s.options.Schedule = search.Exact
	result, err = s.run(merged.lift, func(options search.Options) (*search.Result, error) {
		options.Stop = manyStop
		if o.Search != Auto && o.Search != LBFGS {
			return e.descend(ctx, each, start, box, o, options)
		}
		l := search.LBFGSOptions{Options: options, Keep: true, Prox: columnsProx * one.Value}
		if spec.Risk != nil {
			l.Prox = columnsRisk * min(1, float64(columns)/float64(n)) * (one.Value - spec.Risk.Constant)
		}
		l.Prox = max(0, l.Prox) / float64(max(1, one.Support))
		if one.Tested {
			l.Judge = func(_ context.Context, at search.Evaluation) (float64, error) { return at.Test, nil }
		}
		return search.LBFGS(ctx, each, start, box, l)
	})
	return result, common, err
}

// starts returns where a search starts whose origins stand for αmax.
func (e *engine) starts(origins []float64, o SelectOptions) []float64 {
	start := slices.Clone(origins)
	for i := range start {
		start[i] += kernels.Log(o.Start)
	}
	return start
}

// minimise runs the method asked for, in the box of the model; methods that draw or
// list their points, where a grid has them.
func (e *engine) minimise(ctx context.Context, f search.Objective, origins, start []float64, o SelectOptions, options search.Options) (*search.Result, error) {
	var narrow search.Box
	switch o.Search {
	case Grid:
		points, err := o.grid(origins)
		if err != nil {
			return nil, err
		}
		if problem, ok := f.(*bilevel.Problem); ok {
			known := &ahead{problem: problem, path: points}
			defer known.end()
			f = known
		}
		return search.Grid(ctx, f, points, options)
	case Random, Halton, TPE:
		span, err := o.span()
		if err != nil {
			return nil, err
		}
		for i, origin := range origins {
			narrow.Lower = append(narrow.Lower, origin+span)
			narrow.Upper = append(narrow.Upper, origin)
			if math.IsNaN(e.max()[i]) {
				narrow.Upper[i] = origin - span // around C = 1
			}
		}
		if o.Search == Random {
			return search.Random(ctx, f, narrow, o.Validation.Seed, options)
		}
		if o.Search == Halton {
			return search.Halton(ctx, f, narrow, options)
		}
		return search.TPE(ctx, f, narrow, search.TPEOptions{Options: options, Seed: o.Validation.Seed})
	default:
		return e.descend(ctx, f, start, e.box(origins), o, options)
	}
}

// box is that of the model, around what stands for αmax.
func (e *engine) box(origins []float64) (box search.Box) {
	for i, origin := range origins {
		within := e.family.ranges[min(i, len(e.family.ranges)-1)]
		box.Lower = append(box.Lower, origin-within.below)
		box.Upper = append(box.Upper, origin+within.above)
	}
	return box
}

// descend runs a method that goes from point to point.
func (e *engine) descend(ctx context.Context, f search.Objective, start []float64, box search.Box, o SelectOptions, options search.Options) (*search.Result, error) {
	switch o.Search {
	case Auto:
		if len(start) > 1 {
			return search.TrustRegion(ctx, f, start, box, options)
		}
		return search.Secant(ctx, f, start[0], box, options)
	case GradientStep:
		return search.Gradient(ctx, f, start, box, options)
	case LineSearch:
		return search.LineSearch(ctx, f, start, box, options)
	case LBFGS:
		return search.LBFGS(ctx, f, start, box, search.LBFGSOptions{Options: options, Keep: true})
	case Adam:
		return search.Adam(ctx, f, start, box, search.AdamOptions{Options: options})
	default:
		return nil, outcome.At(outcome.Usage, "search", "no search %q; there are %v", o.Search, Searches())
	}
}
