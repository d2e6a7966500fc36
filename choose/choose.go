package choose

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

const (
	defaultBudget = 50   // evaluations, if none are given
	preciseStop   = 1e-6 // relative gain at which a search to the last digits stops, or the tolerance of the solutions if that is less
	budgetJumps   = 120  // budget where the penalty is not convex or the criterion jumps
	budgetSteps   = 160  // budget for two λ where the criterion jumps
	budgetTube    = 100  // budget for regression by support vectors
	lineStop      = 1e-3 // relative gain at which the search along a line stops, when a search in all directions follows
	classesReach  = 3    // how far the λ of a class may be from the common share of αmax
	manyStop      = 1e-4 // relative gain at which a search over many λ stops, so as not to overfit
)

// Minimise chooses λ. With several λ it may begin on the line on which all are the same share
// of αmax; common is then the best point there, if the search went on from it. An error comes
// with the partial result.
func Minimise(ctx context.Context, p Problem, o Options) (result, common *search.Result, err error) {
	if err := o.Check(); err != nil {
		return nil, nil, err
	}
	if len(p.Top) == 0 {
		return nil, nil, outcome.Errorf(outcome.Shape, "there is no λ to choose")
	}
	o.Search = cmp.Or(o.Search, Auto)
	tube := p.Shape == Dual && len(p.Top) == 2 && o.Search == Auto
	if o.Search == Auto {
		o.Evaluations = cmp.Or(o.Evaluations, p.budget(tube))
	}
	s := &stages{options: o.search()}
	top := p.origins()
	if p.Pair && o.Search == Auto {
		result, err = p.choosePair(ctx, s, top, o)
		return result, nil, err
	}
	if tube {
		result, err = p.chooseTube(ctx, s, top, o)
		return result, nil, err
	}
	if len(top) == 1 || !p.Common && o.Search != Auto {
		result, err = s.run(unchanged, func(options search.Options) (*search.Result, error) {
			return p.minimise(ctx, p, top, p.starts(top), o, options)
		})
		return result, nil, err
	}
	line, origin := line{p.Objective, top}, []float64{0}
	result, err = s.run(line.lift, func(options search.Options) (*search.Result, error) {
		if !p.Common || o.PerClass {
			options.Stop, options.Schedule = lineStop, search.Exact
		}
		return p.minimise(ctx, line, origin, p.starts(origin), o, options)
	})
	if p.Common && !o.PerClass || !s.mayContinue(result, err) {
		return result, nil, err
	}
	common = result
	if p.Common {
		s.options.Schedule = search.Exact // solutions are already good, and steps are short
	}
	if p.Jumps && o.Search == Auto && !p.Common {
		result, err = p.compass(ctx, s, common, p.extendBelow(p.box(top), common.Best.LogLambda))
		if !o.Precision || !s.mayContinue(result, err) {
			return result, common, err
		}
	}
	from := result
	if c, ok := p.Objective.(hasCurvature); ok && o.Search == Auto {
		c.AskCurvature()
	}
	stepObjective := o.forSteps(p)
	result, err = s.run(unchanged, func(options search.Options) (*search.Result, error) {
		if !p.Common {
			return p.descend(ctx, stepObjective, from.Best.LogLambda, p.extendBelow(p.box(top), from.Best.LogLambda), o, options)
		}
		options.Stop = manyStop
		return p.descend(ctx, stepObjective, common.Best.LogLambda, around(common.Best.LogLambda, classesReach), o, options)
	})
	return noWorse(result, from), common, err
}

// budget returns the number of evaluations of Auto if none are given; 0 means as many as other searches.
func (p *Problem) budget(tube bool) int {
	switch {
	case tube:
		return budgetTube
	case p.Jumps && len(p.Top) == 2 && !p.Common:
		return budgetSteps
	case p.Jumps:
		return budgetJumps
	default:
		return 0
	}
}

// compass searches from the best common share along each λ, without slopes, and then evaluates its choice with slopes.
func (p *Problem) compass(ctx context.Context, s *stages, common *search.Result, box search.Box) (*search.Result, error) {
	start := common.Best
	start.Gradient, start.Curvature = nil, nil // they are derivatives along the line
	result, err := s.run(unchanged, func(options search.Options) (*search.Result, error) {
		options.Schedule = search.Exact
		return search.Compass(ctx, p, start, box, options)
	})
	if result = noWorse(result, common); !s.mayContinue(result, err) {
		return result, err
	}
	chosen, err := s.run(unchanged, func(options search.Options) (*search.Result, error) {
		options.Schedule = search.Exact
		return search.Point(ctx, roughGradients{p}, result.Best.LogLambda, options)
	})
	if err != nil || chosen.Status != outcome.Exhausted {
		return noWorse(chosen, result), err
	}
	chosen.Status, chosen.Seen = result.Status, result.Seen
	return chosen, nil
}

// starts returns the point at which a search starts, the share Start of αmax; origins are ln αmax.
func (p *Problem) starts(origins []float64) []float64 {
	start := slices.Clone(origins)
	for i := range start {
		start[i] += kernels.Log(p.Start)
	}
	return start
}

// extendBelow extends a box so that it reaches as far below a point as below αmax, since the point may be
// at the lower bounds already.
func (p *Problem) extendBelow(box search.Box, at []float64) search.Box {
	for i, l := range at {
		box.Lower[i] = min(box.Lower[i], l-p.rangeOf(i).Below)
	}
	return box
}

// around returns the box of all λ within reach of a point.
func around(x []float64, reach float64) search.Box {
	var box search.Box
	for _, l := range x {
		box.Lower, box.Upper = append(box.Lower, l-reach), append(box.Upper, l+reach)
	}
	return box
}

// minimise runs the method asked for: in the box of the model or, for methods that list
// or draw their points, in the range of a grid.
func (p *Problem) minimise(ctx context.Context, f search.Objective, origins, start []float64, o Options, options search.Options) (*search.Result, error) {
	switch o.Search {
	case Grid:
		points, err := o.grid(origins)
		if err != nil {
			return nil, err
		}
		if problem, ok := p.Objective.(alongPath); ok && len(origins) == len(p.Top) {
			known := &prefetched{problem: problem, path: points}
			if most := options.Evaluations; most > 0 && most < len(points) {
				known.path = points[:most] // folds that went on would change the warm starts of what follows
			}
			defer known.end()
			f = known
		}
		return search.Grid(ctx, f, points, options)
	case Random, Halton, TPE:
		box, err := p.drawBox(origins, o)
		if err != nil {
			return nil, err
		}
		switch o.Search {
		case Random:
			return search.Random(ctx, f, box, o.Seed, options)
		case Halton:
			return search.Halton(ctx, f, box, options)
		default:
			return search.TPE(ctx, f, box, search.TPEOptions{Options: options, Seed: o.Seed})
		}
	default:
		return p.descend(ctx, f, start, p.box(origins), o, options)
	}
}

// drawBox returns the box from which points are drawn.
func (p *Problem) drawBox(origins []float64, o Options) (box search.Box, err error) {
	span, err := o.span()
	if err != nil {
		return box, err
	}
	for i, origin := range origins {
		box.Lower = append(box.Lower, origin+span)
		box.Upper = append(box.Upper, origin)
		if math.IsNaN(p.Top[i]) {
			box.Upper[i] = origin - span // around C = 1
		}
	}
	return box, nil
}

// descend runs a method that goes from point to point.
func (p *Problem) descend(ctx context.Context, f search.Objective, start []float64, box search.Box, o Options, options search.Options) (*search.Result, error) {
	switch o.Search {
	case Auto:
		if len(start) > 1 {
			return search.TrustRegion(ctx, f, start, box, options)
		}
		return p.scan(ctx, f, o, options)
	case GradientStep:
		return search.Gradient(ctx, f, start, box, options)
	case LineSearch:
		return search.LineSearch(ctx, f, start, box, options)
	case LBFGS:
		return search.LBFGS(ctx, f, start, box, search.LBFGSOptions{Options: options, Keep: true})
	case Adam:
		return search.Adam(ctx, f, start, box, search.AdamOptions{Options: options})
	default:
		return nil, outcome.At(outcome.Usage, "search", "unknown search %q; the searches are %v", o.Search, Searches())
	}
}
