package choose

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/search"
)

const (
	oneSEGap     = 1e-3 // gap of inner problems: its effect is far below the standard error
	oneSEFinest  = 1e-12
	oneSEClose   = 0.05 // standard errors from the limit that are close enough
	oneSEBelow   = 0.03 // standard errors below the limit at which a point is placed: one above it would be of no use
	oneSESteps   = 12   // evaluations, at most
	oneSETighter = 3    // how often the gap is divided by ten if a fold keeps the solution that it starts from
	oneSEHalve   = 3    // evaluations after which the interval is halved: the model may approach a bent curve slowly
	oneSELeast   = 0.01 // least distance of neighbours in λ
	oneSEStep    = 0.05 // distance below the crossing in λ that is close enough: about a grid's of 100 points over two decades
	oneSEFar     = 0.25 // standard errors below the limit up to which it is, since the model predicts the crossing well
)

// OneStandardError returns the most penalised choice that cross-validation cannot distinguish
// from the best. All coordinates of λ go up together from the best λ, to where the criterion
// first exceeds its best value by the standard error over the folds at the best λ. The choice is
// within a twentieth of a standard error of that limit, or within a twentieth in λ of the
// crossing if it is less than a quarter of a standard error below the limit. It is the null
// model if the criterion exceeds the limit nowhere. seen are the evaluations of the search; those
// on the way make a model that predicts the point to evaluate. The result is nil if ctx ends, or
// if no standard error is known.
//
// The log of the search does not hold these evaluations, so that a search that was cut short goes
// on after its own.
func OneStandardError(ctx context.Context, p Problem, best search.Evaluation, seen []search.Evaluation) (*search.Evaluation, error) {
	if !(best.StandardError > 0) || len(best.FoldValues) < 2 {
		return nil, nil
	}
	top := math.Inf(1) // shift to where every coefficient is zero
	for i, l := range p.Top {
		top = min(top, l-best.LogLambda[i])
	}
	r := oneSERule{limit: best.Value + best.StandardError, unit: best.StandardError}
	r.points = append(r.points, oneSEPointOf(&best, 0))
	for i := range seen {
		if shift, ok := shiftFrom(seen[i].LogLambda, best.LogLambda); ok && shift > 0 {
			r.points = append(r.points, oneSEPointOf(&seen[i], shift))
		}
	}
	r.sort()
	if null := p.Null(); len(r.points) == 0 || r.points[len(r.points)-1].depth < top {
		r.add(&null, top)
	}
	line := line{p.Objective, best.LogLambda}
	gap := oneSEGap
	if best.TrainLoss > 0 {
		gap = max(oneSEFinest, gap*min(1, best.TrainLoss)) // else the start might meet the gap and stay the solution
	}
	for taken := range oneSESteps {
		shift, chosen := r.crossing(taken >= oneSEHalve)
		if chosen != nil {
			return clone(chosen), nil
		}
		at := line.at([]float64{shift})
		request := search.Request{LogLambda: at, Tol: gap, ValueOnly: true, From: r.nearest(shift)}
		e, err := p.Eval(ctx, request)
		for k := 0; k < oneSETighter && err == nil && r.keepsSolution(&e); k++ {
			request.Tol = max(oneSEFinest, 0.1*request.Tol)
			e, err = p.Eval(ctx, request)
		}
		if err != nil {
			if ctx.Err() != nil {
				err = nil
			}
			return nil, err
		}
		e.LogLambda, e.Memory = at, search.Memory{}
		r.add(&e, shift)
	}
	return clone(r.lastBelow()), nil
}

func clone(e *search.Evaluation) *search.Evaluation {
	own := *e
	return &own
}

// shiftFrom returns by how much the coordinates of x are above those of from; ok is false
// unless all are by the same amount.
func shiftFrom(x, from []float64) (shift float64, ok bool) {
	if len(x) != len(from) {
		return 0, false
	}
	shift = x[0] - from[0]
	for i := range x {
		if math.Abs(x[i]-from[i]-shift) > oneSELeast/2 {
			return 0, false
		}
	}
	return shift, true
}

// oneSERule is the model of the criterion above its best point.
type oneSERule struct {
	limit, unit float64
	points      []oneSEPoint // in order of shift
}

// oneSEPoint is an evaluation; depth is its shift above the best λ, and slope the derivative by that shift.
type oneSEPoint struct {
	*search.Evaluation
	depth, slope float64
}

func oneSEPointOf(e *search.Evaluation, shift float64) oneSEPoint {
	m := oneSEPoint{e, shift, math.NaN()}
	if e.Gradient != nil && e.Trusted {
		m.slope = 0
		for _, g := range e.Gradient {
			m.slope += g
		}
	}
	return m
}

// sort orders the points and keeps only the first of those at the same shift.
func (r *oneSERule) sort() {
	slices.SortStableFunc(r.points, func(a, b oneSEPoint) int { return cmp.Compare(a.depth, b.depth) })
	r.points = slices.CompactFunc(r.points, func(a, b oneSEPoint) bool { return a.depth == b.depth })
}

// add adds a point; it replaces the null model at the same shift.
func (r *oneSERule) add(e *search.Evaluation, shift float64) {
	r.points = slices.DeleteFunc(r.points, func(m oneSEPoint) bool { return m.depth == shift && m.LogLambda == nil })
	r.points = append(r.points, oneSEPointOf(e, shift))
	r.sort()
}

// lastBelow returns the last point before the criterion first exceeds the limit.
func (r *oneSERule) lastBelow() *search.Evaluation {
	k := 0
	for k+1 < len(r.points) && r.points[k+1].Value <= r.limit+float64(oneSEClose*r.unit) && r.points[k+1].LogLambda != nil {
		k++
	}
	return r.points[k].Evaluation
}

// keepsSolution reports whether a fold has the same value as at another point, whose solution then is within the gap at
// e, too.
func (r *oneSERule) keepsSolution(e *search.Evaluation) bool {
	for _, m := range r.points {
		for k, v := range m.FoldValues {
			if m.LogLambda != nil && k < len(e.FoldValues) && v == e.FoldValues[k] {
				return true
			}
		}
	}
	return false
}

// nearest returns the λ of the evaluation closest to a shift.
func (r *oneSERule) nearest(shift float64) (from []float64) {
	distance := math.Inf(1)
	for _, m := range r.points {
		if d := math.Abs(m.depth - shift); d < distance && m.LogLambda != nil {
			from, distance = m.LogLambda, d
		}
	}
	return from
}

// crossing returns the shift to evaluate next: a little before the model first exceeds the limit or, with halve, the
// middle of that interval. If the choice has been evaluated, crossing returns it instead: a point close to the limit,
// or the last point below it if the crossing, or the next point, is close to that.
func (r *oneSERule) crossing(halve bool) (shift float64, chosen *search.Evaluation) {
	for k := 1; k < len(r.points); k++ {
		a, b := r.points[k-1], r.points[k]
		if near := float64(oneSEClose * r.unit); b.LogLambda != nil && math.Abs(b.Value-r.limit) <= near {
			return 0, r.points[k].Evaluation
		}
		if b.Value <= r.limit {
			continue
		}
		if b.depth-a.depth <= oneSELeast {
			return 0, r.lastBelow()
		}
		shift = r.crossingBetween(a, b, r.limit)
		if a.LogLambda != nil && shift-a.depth <= oneSEStep && a.Value >= r.limit-float64(oneSEFar*r.unit) {
			return 0, r.lastBelow()
		}
		if halve {
			return 0.5 * (a.depth + b.depth), nil
		}
		return r.crossingBetween(a, b, r.limit-float64(oneSEBelow*r.unit)), nil
	}
	if end := r.points[len(r.points)-1]; end.LogLambda == nil { // the null model is below the limit, too
		return end.depth, nil
	}
	return 0, r.lastBelow()
}

// crossingBetween returns where the cubic or parabola through two points crosses a limit, by
// bisection; a must be below the limit and b above.
func (r *oneSERule) crossingBetween(a, b oneSEPoint, limit float64) float64 {
	h := b.depth - a.depth
	curve := search.Interpolate(h, a.Value, b.Value, a.slope, b.slope)
	low, high := 0.0, h
	for range 30 {
		middle := 0.5 * (low + high)
		if curve(middle) > limit {
			high = middle
		} else {
			low = middle
		}
	}
	margin := float64(0.02 * h)
	return a.depth + min(max(low, margin), h-margin)
}
