package choose

import (
	"context"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/search"
)

const (
	tubeScans  = 8    // scans along C and ε in turn, at most
	tubeStop   = 0.01 // gain in standard errors below which no other scan follows
	tubeRivals = 2    // other points that are followed, at most
	// alongBefore makes a scan along C begin dualBefore − alongBefore below the best C.
	alongBefore = 3
)

// chooseTube chooses C and ε of a regression by support vectors: on the line on which both are the same multiple
// of their units, then along C and along ε in turn as long as that gains. It uses scans, since the criterion
// is rough. While work is cheap, it then follows the best other points that the scans have seen in the same
// way. With Precision, a trust region follows.
func (p *Problem) chooseTube(ctx context.Context, s *stages, top []float64, o Options) (best *search.Result, err error) {
	known := &caching{Objective: p.Objective}
	whole := *p
	whole.Objective, whole.inTurn = known, true
	quick := o
	quick.Precision = false
	units := line{known, top}
	best, err = s.run(units.lift, func(options search.Options) (*search.Result, error) {
		return whole.scan(ctx, units, quick, options)
	})
	if s.mayContinue(best, err) {
		best, err = whole.scanInTurn(ctx, s, best, quick, 0)
	}
	for k := 0; k < tubeRivals && s.mayContinue(best, err); k++ {
		rival, across, ok := rivalTo(best.Best, s.done)
		if !ok {
			break
		}
		best, err = whole.scanFromRival(ctx, s, best, rival, quick, across)
	}
	if !o.Precision || !s.mayContinue(best, err) {
		return best, err
	}
	at := best.Best.LogLambda
	result, err := s.run(unchanged, func(options search.Options) (*search.Result, error) {
		return search.TrustRegion(ctx, known, at, p.extendBelow(p.box(top), at), options)
	})
	if result == nil {
		return best, err
	}
	return noWorse(result, best), err
}

// scanInTurn scans along C and along ε in turn, or beginning with ε if across is 1, from the best point as long as that
// gains. While evaluations are cheap, every scan follows a whole path; otherwise it resumes the last scan along the
// same coordinate or, if there is none, starts at the best point.
func (p *Problem) scanInTurn(ctx context.Context, s *stages, best *search.Result, o Options, across int) (*search.Result, error) {
	var scans [2]*search.Result // the last scan along each coordinate
	for k := 0; k < tubeScans && s.mayContinue(best, nil); k++ {
		free := (k + across) % 2
		on := axis{p.Objective, free, best.Best.LogLambda[1-free]}
		o.From = nil
		if best.Best.Work > cheapPoint {
			if o.From = on.movedOnto(scans[free]); scans[free] == nil {
				o.From = on.movedOnto(&search.Result{Best: withoutGradient(best.Best)})
			}
		}
		before := len(s.done)
		next, err := p.scanAlong(ctx, s, on, best.Best, o)
		if next == nil {
			return best, err
		}
		scans[free] = &search.Result{Best: next.Best, Evaluations: slices.Clone(next.Evaluations[before:])}
		gain := best.Best.Value - next.Best.Value
		if next.Seen = best.Seen; !(gain > 0) {
			next.Best = best.Best
		}
		if best = next; err != nil || k+across > 0 && !(gain > tubeStop*best.Best.StandardError) {
			return best, err
		}
	}
	return best, nil
}

// scanAlong scans along C or ε, through a point that has been evaluated.
func (p *Problem) scanAlong(ctx context.Context, s *stages, on axis, at search.Evaluation, o Options) (*search.Result, error) {
	one := *p
	if here, ok := on.lower(withoutGradient(at)); ok && o.From == nil {
		one.known = []search.Evaluation{here}
	}
	one.Objective, one.Top, one.Shape, one.Start = on, p.Top[on.free:on.free+1], Dual, kernels.Exp(at.LogLambda[0]+alongBefore)
	if on.free == 1 {
		one.Shape = Tube
	}
	lift := func(e search.Evaluation) search.Evaluation {
		slope := e.Gradient
		e = on.lift(e)
		e.Gradient = slope // the slope along the other coordinate is not known
		return e
	}
	return s.run(lift, func(options search.Options) (*search.Result, error) {
		return one.scan(ctx, on, o, options)
	})
}

// withoutGradient returns an evaluation without its gradient, which is along another line.
func withoutGradient(e search.Evaluation) search.Evaluation {
	e.Gradient = nil
	return e
}

// caching is an objective that keeps its evaluations, and returns them again for requests that they satisfy.
type caching struct {
	Objective
	answers  []search.Evaluation
	requests []search.Request
}

// Eval implements [search.Objective].
func (r *caching) Eval(ctx context.Context, request search.Request) (search.Evaluation, error) {
	for k, q := range r.requests {
		if slices.Equal(q.LogLambda, request.LogLambda) && q.Tol <= request.Tol && q.ValueOnly == request.ValueOnly && (!q.Rough || request.Rough) {
			return r.answers[k], nil
		}
	}
	e, err := r.Objective.Eval(ctx, request)
	if err == nil {
		request.LogLambda = slices.Clone(request.LogLambda)
		r.requests, r.answers = append(r.requests, request), append(r.answers, e)
	}
	return e, err
}
