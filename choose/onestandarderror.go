package choose

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/search"
)

const (
	oneSEGap     = 1e-3 // of inner problems: the standard error is far above what that changes
	oneSEFinest  = 1e-12
	oneSEClose   = 0.05 // standard errors from the limit that are near enough
	oneSEBelow   = 0.03 // and below it, where a point is looked for: one above it would be of no use
	oneSESteps   = 12   // evaluations, at most
	oneSETighter = 3    // times that a gap is a tenth where it leaves a fold where it began
	oneSEHalve   = 3    // evaluations after which the interval is halved: a curve that bends may creep up on its limit
	oneSELeast   = 0.01 // of λ, between neighbours
	oneSEStep    = 0.05 // of λ, below the crossing: about that of a grid of 100 points over two decades
	oneSEFar     = 0.25 // and standard errors below the limit, up to which the model knows the crossing
)

// OneStandardError returns the most penalised choice that cross-validation cannot tell
// from the best: going up from the best λ, all coordinates together, where the criterion
// first exceeds its best value by its standard error over the folds there, to a twentieth
// of that or, where it is within a quarter below, of λ; the null model where it nowhere does. seen are the evaluations of the search, of which those on the way make a model
// that names the point, which is evaluated. It returns nil where ctx ends and where no standard error is known.
//
// A log of the search does not hold these evaluations: one that was cut short goes on after its own.
func OneStandardError(ctx context.Context, p Problem, best search.Evaluation, seen []search.Evaluation) (*search.Evaluation, error) {
	if !(best.StandardError > 0) || len(best.FoldValues) < 2 {
		return nil, nil
	}
	top := math.Inf(1) // shift to where every coefficient is zero
	for i, l := range p.Top {
		top = min(top, l-best.LogLambda[i])
	}
	r := rule{limit: best.Value + best.StandardError, unit: best.StandardError}
	r.points = append(r.points, markOf(&best, 0))
	for i := range seen {
		if shift, ok := along(seen[i].LogLambda, best.LogLambda); ok && shift > 0 {
			r.points = append(r.points, markOf(&seen[i], shift))
		}
	}
	r.sort()
	if null := p.Null(); len(r.points) == 0 || r.points[len(r.points)-1].depth < top {
		r.add(&null, top)
	}
	line := line{p.Objective, best.LogLambda}
	gap := oneSEGap
	if best.TrainLoss > 0 {
		gap = max(oneSEFinest, gap*min(1, best.TrainLoss)) // a start within the gap would be the answer
	}
	for taken := range oneSESteps {
		shift, chosen := r.crossing(taken >= oneSEHalve)
		if chosen != nil {
			return copied(chosen), nil
		}
		at := line.at([]float64{shift})
		request := search.Request{LogLambda: at, Tol: gap, ValueOnly: true, From: r.nearest(shift)}
		e, err := p.Eval(ctx, request)
		for k := 0; k < oneSETighter && err == nil && r.stays(&e); k++ {
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
	return copied(r.last()), nil
}

func copied(e *search.Evaluation) *search.Evaluation {
	own := *e
	return &own
}

// along returns by how much all coordinates of x are above those of from, and whether
// they are alike.
func along(x, from []float64) (shift float64, ok bool) {
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

// rule is the model of the criterion above its best point.
type rule struct {
	limit, unit float64
	points      []mark // by shift
}

// mark is an evaluation by how far it is above the best λ.
type mark struct {
	*search.Evaluation
	depth, slope float64
}

func markOf(e *search.Evaluation, shift float64) mark {
	m := mark{e, shift, math.NaN()}
	if e.Gradient != nil && e.Trusted {
		m.slope = 0
		for _, g := range e.Gradient {
			m.slope += g
		}
	}
	return m
}

// sort orders the points; of those at one shift the first stays.
func (r *rule) sort() {
	slices.SortStableFunc(r.points, func(a, b mark) int { return cmp.Compare(a.depth, b.depth) })
	r.points = slices.CompactFunc(r.points, func(a, b mark) bool { return a.depth == b.depth })
}

// add takes a point in, in the place of the null model where that is there.
func (r *rule) add(e *search.Evaluation, shift float64) {
	r.points = slices.DeleteFunc(r.points, func(m mark) bool { return m.depth == shift && m.LogLambda == nil })
	r.points = append(r.points, markOf(e, shift))
	r.sort()
}

// last returns the last point before the criterion first exceeds the limit.
func (r *rule) last() *search.Evaluation {
	k := 0
	for k+1 < len(r.points) && r.points[k+1].Value <= r.limit+float64(oneSEClose*r.unit) && r.points[k+1].LogLambda != nil {
		k++
	}
	return r.points[k].Evaluation
}

// stays reports whether a fold has the value of another point: its solution there is within the gap.
func (r *rule) stays(e *search.Evaluation) bool {
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
func (r *rule) nearest(shift float64) (from []float64) {
	distance := math.Inf(1)
	for _, m := range r.points {
		if d := math.Abs(m.depth - shift); d < distance && m.LogLambda != nil {
			from, distance = m.LogLambda, d
		}
	}
	return from
}

// crossing returns where the model, or the middle of the interval if that is to be halved, first exceeds the limit, or the evaluation that is the
// choice: one close to the limit, or the last before it where its neighbour is next to it.
func (r *rule) crossing(halve bool) (shift float64, chosen *search.Evaluation) {
	for k := 1; k < len(r.points); k++ {
		a, b := r.points[k-1], r.points[k]
		if near := float64(oneSEClose * r.unit); b.LogLambda != nil && math.Abs(b.Value-r.limit) <= near {
			return 0, r.points[k].Evaluation
		}
		if b.Value <= r.limit {
			continue
		}
		if b.depth-a.depth <= oneSELeast {
			return 0, r.last()
		}
		shift = r.between(a, b, r.limit)
		if a.LogLambda != nil && shift-a.depth <= oneSEStep && a.Value >= r.limit-float64(oneSEFar*r.unit) {
			return 0, r.last()
		}
		if halve {
			return 0.5 * (a.depth + b.depth), nil
		}
		return r.between(a, b, r.limit-float64(oneSEBelow*r.unit)), nil
	}
	if end := r.points[len(r.points)-1]; end.LogLambda == nil { // the null model is within the limit, too
		return end.depth, nil
	}
	return 0, r.last()
}

// between returns where the cubic or parabola through two points meets a limit, by
// bisection; it is below at a and above at b.
func (r *rule) between(a, b mark, limit float64) float64 {
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
