package choose

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

const (
	pairGap       = 1e-4 // relative gap of the points compared, and of the descent
	pairStop      = 0.01 // gain in standard errors below which the descent ends
	pairStopShare = 1e-5 // the same as a share of the value, where there is no standard error
	pairFollow    = 0.3  // standard errors above the best up to which a mixture is followed by another
	pairLead      = 0.1  // the same, up to which the descent begins at the mixture
	pairBelow     = 9    // how far below its best value alone a strength may go
	pairAbove     = 4    // how far above the strongest ridge of mixtures the ridge may go
	vanishDepth   = 6    // how far below the Lasso's best the ℓ1 strength begins to vanish
	pairDescents  = 4    // descents with Precision, at most, each from the kink at which the last one ended
	pairRefined   = 25   // evaluations of the descent, at most
)

// noStrength is the λ of a strength of 0.
var noStrength = math.Inf(-1)

// choosePair chooses both λ of an elastic net. It starts a trust region from the best of the Lasso,
// the ridge and mixtures of both. The result is no worse than the Lasso, the ridge and the
// null model.
func (p *Problem) choosePair(ctx context.Context, s *stages, top []float64, o Options) (*search.Result, error) {
	if o.From != nil {
		if result, done, err := p.resumePair(ctx, s, top, o); done {
			return result, err
		}
	}
	quick := o
	quick.Precision, quick.From, quick.Fresh = false, nil, 0
	lasso := onlyStrength(p.Objective, 0)
	one := *p
	one.Objective, one.Top, one.Shape, one.Pair = lasso, p.Top[:1], Sparse, false
	best, err := s.run(lasso.lift, func(options search.Options) (*search.Result, error) {
		return one.scan(ctx, lasso, quick, options)
	})
	if !s.mayContinue(best, err) && (best == nil || best.Status != outcome.NullModel) {
		return best, err
	}
	ridge := onlyStrength(p.Objective, 1)
	two := *p
	two.Objective, two.Top, two.Shape, two.Pair = ridge, []float64{p.RidgeTop}, Smooth, false
	if !o.Precision {
		two.rival = &best.Best
	}
	other, err := s.run(ridge.lift, func(options search.Options) (*search.Result, error) {
		return two.scan(ctx, ridge, quick, options)
	})
	if other == nil || err != nil {
		return noWorse(best, best), err
	}
	if other.Best.LogLambda == nil { // ctx has ended
		return noWorse(other, best), nil
	}
	l, r := best.Best.LogLambda[0], other.Best.LogLambda[1]
	strongest := strongestRidge(other)
	other.Seen = best.Seen
	result := noWorse(other, best)
	if !s.mayContinue(result, err) {
		return result, err
	}
	single := result.Best
	result, from, err := p.mixtures(ctx, s, result, l, strongest)
	if !s.mayContinue(result, err) || result.Best.LogLambda == nil {
		return result, err
	}
	result, err = p.descendBoth(ctx, s, result, from, l, boxAround(l, r, strongest, top), o)
	return preferSingle(single, result, o), err
}

// strongestRidge returns the largest strength seen at which the ridge is hardly worse than at its best. With fewer rows
// than columns it may be decades above the best strength, and a ridge as weak as the best has no effect beside a Lasso.
func strongestRidge(ridge *search.Result) float64 {
	best := ridge.Best
	strongest := best.LogLambda[1]
	for _, e := range ridge.Evaluations {
		if e.LogLambda[0] == noStrength && e.Value <= best.Value+float64(pairLead*best.StandardError) {
			strongest = max(strongest, e.LogLambda[1])
		}
	}
	return strongest
}

// preferSingle returns the result with a Lasso or a ridge in place of a mixture that hardly
// gains.
func preferSingle(single search.Evaluation, r *search.Result, o Options) *search.Result {
	if r == nil || slices.Contains(r.Best.LogLambda, noStrength) || r.Best.Value < single.Value-o.mixtureGain(single) {
		return r
	}
	if r.Best = single; r.Status.OK() {
		r.Status = outcome.Converged
	}
	return r
}

// mixtureGain returns the gain over a Lasso or a ridge below which that is preferred to a mixture.
func (o Options) mixtureGain(at search.Evaluation) float64 {
	if o.Precision || !(at.StandardError > 0) {
		return pairStopShare * math.Abs(at.Value)
	}
	return pairStop * at.StandardError
}

// pairTol returns the relative gap of points that are compared with the best: tol or pairGap, whichever is larger, but
// no more than the standard error of the best allows.
func (p *Problem) pairTol(tol float64, best search.Evaluation) float64 {
	tol = max(tol, pairGap)
	if null := p.Null().Value; best.StandardError > 0 && null > 0 {
		tol = min(tol, search.LargestGap(best.StandardError, null))
	}
	return tol
}

// mixtures compares the best of the Lasso and the ridge with mixtures of both, which have shares a and
// 1 − a of their strengths. It begins with the mixture closest to the best, and goes on as long as
// mixtures gain or are hardly above the best. A descent in both λ begins at from: the best mixture if
// that is hardly above the best point, since a Lasso or a ridge is already a minimum in one of the two λ.
func (p *Problem) mixtures(ctx context.Context, s *stages, best *search.Result, l, r float64) (result *search.Result, from search.Evaluation, err error) {
	if c, ok := p.Objective.(hasCurvature); ok {
		c.AskCurvature()
	}
	shares := []float64{0.9, 0.5, 0.1}
	if best.Best.LogLambda[0] == noStrength {
		slices.Reverse(shares)
	}
	var first []float64
	var mixture *search.Evaluation
	descentStart := func() search.Evaluation {
		if mixture != nil && mixture.Value < best.Best.Value+float64(pairLead*best.Best.StandardError) {
			return *mixture
		}
		return best.Best
	}
	for _, a := range shares {
		at := []float64{l + kernels.Log(a), r + kernels.Log(1-a)}
		if first == nil {
			first = at
		}
		mixed, err := s.run(unchanged, func(options search.Options) (*search.Result, error) {
			options.Tol, options.Schedule = p.pairTol(options.Tol, best.Best), search.Exact
			return search.Point(ctx, startingAt{roughGradients{p}, first, []float64{l, noStrength}}, at, options) // starts from the Lasso, whose solutions are sparse
		})
		if mixed == nil || err != nil {
			return best, descentStart(), err
		}
		if mixture == nil || mixed.Best.Value < mixture.Value {
			lowest := mixed.Best
			mixture = &lowest
		}
		near := mixed.Best.Value < best.Best.Value+float64(pairFollow*best.Best.StandardError)
		if best = noWorse(mixed, best); !near || !s.mayContinue(best, err) {
			return best, descentStart(), err
		}
	}
	return best, descentStart(), nil
}

// startingAt is an objective whose evaluation at one point starts from the solutions of another
// point, if these are kept.
type startingAt struct {
	search.Objective
	at, from []float64
}

// Eval implements [search.Objective].
func (b startingAt) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	if r.From == nil && slices.Equal(r.LogLambda, b.at) {
		r.From = b.from
	}
	return b.Objective.Eval(ctx, r)
}

// boxAround returns the box of a descent in both λ, given the best value of each strength alone and the strongest ridge
// of mixtures.
func boxAround(l, r, strongest float64, top []float64) search.Box {
	return search.Box{
		Lower: []float64{l - pairBelow, r - pairBelow},
		Upper: []float64{max(l, top[0]), strongest + pairAbove},
	}
}

// descendBoth searches from a point in both λ, by a trust region.
func (p *Problem) descendBoth(ctx context.Context, s *stages, best *search.Result, from search.Evaluation, l float64, box search.Box, o Options) (*search.Result, error) {
	start := slices.Clone(from.LogLambda)
	for i := range start {
		start[i] = min(max(start[i], box.Lower[i]), box.Upper[i])
	}
	v := vanishing{o.forSteps(p.Objective), l - vanishDepth}
	v.Objective = startingAt{v.Objective, v.lambda(v.coordinates(start)), from.LogLambda}
	result, err := s.run(v.lift, func(options search.Options) (*search.Result, error) {
		if options.Stop = pairStopShare; !o.Precision {
			options.Stop = max(pairStopShare, pairStop*best.Best.StandardError/math.Abs(best.Best.Value))
			options.Tol, options.Schedule = p.pairTol(options.Tol, best.Best), search.Exact
			options.Evaluations = min(options.Evaluations, pairRefined)
		}
		within := search.Box{Lower: v.coordinates(box.Lower), Upper: box.Upper}
		if o.Precision {
			return descendRepeatedly(ctx, v, v.coordinates(start), within, options)
		}
		begin := search.Evaluation{LogLambda: v.coordinates(start)}
		if slices.Equal(start, from.LogLambda) {
			begin = v.at(begin.LogLambda, from)
		}
		return search.TrustRegionFrom(ctx, v, begin, within, options)
	})
	if result == nil || result.Best.LogLambda == nil {
		return best, err
	}
	gain := o.mixtureGain(best.Best)
	if !slices.Contains(best.Best.LogLambda, noStrength) { // a mixture, where the descent began
		gain = 0
	}
	switch {
	case !(result.Best.Value < best.Best.Value-gain):
		if result.Best = best.Best; result.Status.OK() {
			result.Status = outcome.Converged
		}
	case result.Status == outcome.Stationary && !o.Precision:
		result.Status = outcome.Converged
	}
	result.Seen = best.Seen
	return result, err
}

// descendRepeatedly runs a trust region, and runs it again from the kink at which it ends, as long
// as that gains: a valley may lead on once the curvature of its floor is learnt anew.
func descendRepeatedly(ctx context.Context, f search.Objective, start []float64, box search.Box, options search.Options) (*search.Result, error) {
	var all *search.Result
	for range pairDescents {
		r, err := search.TrustRegion(ctx, f, start, box, options)
		if r == nil {
			return all, err
		}
		options.Evaluations -= len(r.Evaluations)
		options.Logged += len(r.Evaluations)
		gained := all == nil || r.Best.Value < all.Best.Value
		if all != nil {
			if worth := float64(options.Stop * math.Abs(all.Best.Value)); r.Status == outcome.Budget && !(r.Best.Value < all.Best.Value-worth) {
				r.Status = all.Status // the search still ended at the kink
			}
			r.Evaluations = append(all.Evaluations, r.Evaluations...)
			if !gained {
				r.Best = all.Best
			}
		}
		if all = r; err != nil || r.Status != outcome.Kink || !gained || options.Evaluations <= 0 {
			return all, err
		}
		start = r.Best.LogLambda
	}
	return all, nil
}
