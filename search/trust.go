package search

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// TrustRegion minimises over a few λ: quasi-Newton steps no longer than a radius
// in any coordinate, which begins at 1, grows to 3 where the quadratic model
// tells the truth, and shrinks where it does not. Its second derivatives are the
// objective's [Evaluation.Curvature], stiffened by what the last step met, or else a
// BFGS matrix, damped so that it stays positive definite; both learn from failed
// steps too. It keeps r × r numbers; for many λ use [LBFGS].
//
// It takes steps that lower the value, and stops where the gradient, without what
// pushes against the box, promises less than 100·options.Stop per unit of λ;
// where the model promises less than options.Stop/100; or where the radius is below
// 0.001. Where the curvature is the objective's, the model is believed sooner: at
// options.Stop, whatever the slopes.
//
// The status is Box where only the border holds the iterate back, Stationary, Kink
// where the curvature has grown without bound or no step lowers the value as the slope
// says, be it along the valley that meets there, or Flat.
//
// Where two coordinates matter unequally it is worth starting where both do: for
// the elastic net the Lasso's optimum, not a point where the solution is 0.
func TrustRegion(ctx context.Context, f Objective, start []float64, box Box, options Options) (*Result, error) {
	return TrustRegionFrom(ctx, f, Evaluation{LogLambda: start}, box, options)
}

// TrustRegionFrom is [TrustRegion] from an evaluation, which is not made again where it has slopes and meets the
// final tolerance. It is none of the result's, but may be the best.
func TrustRegionFrom(ctx context.Context, f Objective, start Evaluation, box Box, options Options) (*Result, error) {
	if err := box.check(start.LogLambda); err != nil {
		return nil, err
	}
	r, err := newRecorder(f, options)
	if err != nil {
		return nil, err
	}
	s := trust{recorder: r, box: box, model: newQuadratic(len(start.LogLambda)), step: make([]float64, len(start.LogLambda))}
	return r.search(ctx, func(ctx context.Context) (outcome.Status, error) { return s.run(ctx, start) })
}

const (
	firstRadius = 1.0
	knownRadius = 2.0 // where the curvature is known from the start
	mostRadius  = 3.0
	leastRadius = 1e-3
	// afterConfirm is the least radius to go on with after a loose value, which
	// steps were compared with, has been made good.
	afterConfirm = 0.1
	leastPromise = 0.01 // times options.Stop: what a step promises where all is over
	trustError   = 0.1  // the gap for a step, as a share of what it promises
	perUnit      = 100  // times options.Stop: what a slope may promise per unit of λ
	goodModel    = 0.75 // share of the promised gain above which the radius grows
	badModel     = 0.25 // and below which it shrinks
	valleyStep   = 0.4  // first step along a valley's floor
	valleyWalls  = 10   // points among which its other wall is looked for
	valleyWidth  = 0.1  // how far from here in a coordinate
	damping      = 0.2  // Powell's
	mostStiffer  = 3    // times an entry of a given diagonal, what the last step may add
	ridge        = 1e-8 // added to the objective's curvature, as a share of its diagonal
)

// trust is a search by [TrustRegion].
type trust struct {
	*recorder
	box    Box
	here   *Evaluation
	radius float64
	model  *quadratic
	step   []float64
	near   []*Evaluation // points lately seen
}

func (s *trust) run(ctx context.Context, start Evaluation) (status outcome.Status, err error) {
	if s.here, status, err = s.beginAt(ctx, start, s.box); status != "" || err != nil {
		return status, err
	}
	s.radius = firstRadius
	if s.here.Curvature != nil {
		s.radius = knownRadius
	}
	for {
		free, held := projected(s.here, s.box)
		s.model.at(s.here)
		promise := s.model.minimise(s.here, s.box, s.radius, s.step)
		if s.here.Flat || s.radius < leastRadius || s.settled(free, promise) {
			status, err = s.end(ctx, free, promise, held)
		} else {
			status, err = s.advance(ctx, free, promise)
		}
		if status != "" || err != nil {
			return status, err
		}
	}
}

// scale is the change of the value that options.Stop stands for.
func (s *trust) scale() float64 { return s.options.Stop * math.Abs(s.here.Value) }

// settled reports whether slope and model promise too little for another step.
func (s *trust) settled(free, promise float64) bool {
	scale := s.scale()
	if s.model.given { // there is no curvature left to learn
		return free <= leastNormal || promise <= scale
	}
	return free <= max(perUnit*scale, leastNormal) || promise <= leastPromise*scale
}

// end returns the status of an end here; none where the value has yet to be computed to the final tolerance, or
// a valley leads on.
func (s *trust) end(ctx context.Context, free, promise float64, held bool) (_ outcome.Status, err error) {
	switch here := s.here; {
	case !here.Final:
		s.radius = max(s.radius, afterConfirm)
		s.here, err = s.again(ctx, here)
		return "", err
	case here.Flat:
		return outcome.Flat, nil
	case held:
		return outcome.Box, nil
	case free <= perUnit*s.scale():
		return outcome.Stationary, nil
	case s.radius >= leastRadius:
		return ended(0.5*free*free/promise, s.model.first), nil
	case s.model.given: // no step falls as the slope says, and near many corners two slopes make no valley
		return outcome.Kink, nil
	}
	next, err := s.valley(ctx, s.here, s.near, s.box)
	if next == nil {
		return outcome.Kink, err
	}
	s.here, s.radius, s.model.learned = next, afterConfirm, false
	return "", nil
}

// advance evaluates where the step leads, learns from it, and goes on from there if the value falls. It returns a
// status where one solution meets the tolerance at both ends, so that they are the same to the search.
func (s *trust) advance(ctx context.Context, free, promise float64) (outcome.Status, error) {
	here, step, q := s.here, s.step, s.model
	x := slices.Clone(here.LogLambda)
	for i := range x {
		x[i] += step[i]
	}
	s.box.clamp(x)
	next, err := s.evalWithin(ctx, x, trustError*promise/math.Abs(here.Value))
	if err != nil {
		return "", err
	}
	length := 0.0
	for i := range x {
		step[i] = x[i] - here.LogLambda[i]
		length = max(length, math.Abs(step[i]))
	}
	if q.given && here.Final && next.Final && next.Value == here.Value && dot(here.Gradient, next.Gradient) > 0 {
		return ended(0.5*free*free/promise, q.first), nil
	}
	gain := fall(here, next)
	q.misled = gain < badModel*promise
	if next.usable() {
		q.learn(here, next, step)
		s.near = append(s.near[max(0, len(s.near)-valleyWalls):], here, next)
	}
	switch {
	case q.misled:
		s.radius = length * parabolic(dot(here.Gradient, step), -gain)
	case gain > goodModel*promise && length > 0.9*s.radius:
		s.radius = min(2*s.radius, mostRadius)
	}
	if gain > 0 {
		s.here = next
	}
	return "", nil
}

// parabolic returns the share of a step at which the parabola through its first
// slope, per step, and its rise is least, between a tenth and a half.
func parabolic(slope, rise float64) float64 {
	t := -0.5 * slope / (rise - slope)
	if !(t > mostShrink) { // NaN too
		return mostShrink
	}
	return min(t, leastShrink)
}

func dot(x, y []float64) float64 {
	var sum float64
	for i, v := range x {
		sum = math.FMA(v, y[i], sum)
	}
	return sum
}

// quadratic is the model ⟨g,d⟩ + ½⟨d,Hd⟩ of the change by a step d.
type quadratic struct {
	dim     int
	h       []float64 // H, row by row
	learned bool      // from the last steps; if not, a multiple of the identity
	given   bool      // by the objective
	misled  bool      // by H, about the last step
	recent  pair      // the last step and change of the slopes, where the rest is given
	first   float64   // curvature met first
	hd      []float64 // H·step
}

func newQuadratic(dim int) *quadratic {
	return &quadratic{dim: dim, h: make([]float64, dim*dim), hd: make([]float64, dim)}
}

// at prepares the model for steps from e.
func (q *quadratic) at(e *Evaluation) {
	q.given = e.Curvature != nil
	if q.given {
		copy(q.h, e.Curvature)
		var trace float64
		for i := range q.dim {
			trace += q.h[i*q.dim+i]
		}
		for i := range q.dim {
			q.h[i*q.dim+i] += ridge * trace / float64(q.dim)
		}
		q.stiffen()
	} else if !q.learned {
		// The first step has length 1 against the slope.
		q.identity(math.Sqrt(dot(e.Gradient, e.Gradient)))
	}
}

// stiffen adds to the diagonal of a given H what the slopes changed by on the last step
// beyond what H says, but no more than threefold: knots bend, and formulas that hold
// between them do not tell. Of two coordinates only where that step failed: they make
// valleys, which a stiffer diagonal walls up.
func (q *quadratic) stiffen() {
	if q.recent.step == nil || q.dim <= 2 && !q.misled {
		return
	}
	q.times(q.recent.step)
	for i, d := range q.recent.step {
		own := &q.h[i*q.dim+i]
		if more := q.recent.change[i] - q.hd[i]; d != 0 && more/d > 0 {
			*own += min(more/d, mostStiffer**own)
		}
	}
}

func (q *quadratic) identity(scale float64) {
	clear(q.h)
	for i := range q.dim {
		q.h[i*q.dim+i] = scale
	}
}

// times sets hd = H·d.
func (q *quadratic) times(d []float64) {
	for i := range q.dim {
		q.hd[i] = dot(q.h[i*q.dim:(i+1)*q.dim], d)
	}
}

// learn updates H by the step from a to b: BFGS with Powell's damping. Where H is the
// objective's, it remembers the step.
func (q *quadratic) learn(a, b *Evaluation, step []float64) {
	change := make([]float64, q.dim)
	for i := range change {
		change[i] = b.Gradient[i] - a.Gradient[i]
	}
	bend, square := dot(step, change), dot(step, step)
	if square == 0 {
		return
	}
	if bend > 0 && q.first == 0 {
		q.first = bend / square
	}
	if q.given {
		q.recent = pair{slices.Clone(step), change}
		return
	}
	if !q.learned && bend > 0 {
		q.identity(dot(change, change) / bend)
	}
	q.learned = true
	q.times(step)
	whole := dot(step, q.hd)
	if !(whole > 0) {
		return
	}
	if bend < damping*whole {
		t := (1 - damping) * whole / (whole - bend)
		for i := range change {
			change[i] = math.FMA(t, change[i], (1-t)*q.hd[i])
		}
		bend = dot(step, change)
	}
	for i := range q.dim {
		for j := range q.dim {
			rank2 := float64(change[i]*change[j]/bend) - float64(q.hd[i]*q.hd[j]/whole)
			q.h[i*q.dim+j] += rank2
		}
	}
}

// minimise sets step to the model's minimum in the box, no coordinate farther
// than radius, and returns by how much it falls: cyclic coordinate descent.
func (q *quadratic) minimise(e *Evaluation, box Box, radius float64, step []float64) float64 {
	const (
		sweeps  = 500
		settled = 1e-10
	)
	clear(step)
	clear(q.hd)
	for range sweeps {
		moved := 0.0
		for i, g := range e.Gradient {
			x := e.LogLambda[i]
			lower, upper := max(box.Lower[i]-x, -radius), min(box.Upper[i]-x, radius)
			row := q.h[i*q.dim : (i+1)*q.dim]
			slope, to := g+q.hd[i], step[i]
			if row[i] > 0 {
				to -= slope / row[i]
			} else if slope != 0 {
				to = math.Copysign(math.Inf(1), -slope)
			}
			to = min(max(to, lower), upper)
			d := to - step[i]
			if d == 0 {
				continue
			}
			moved = max(moved, math.Abs(d))
			step[i] = to
			for j, h := range row {
				q.hd[j] = math.FMA(h, d, q.hd[j])
			}
		}
		if moved <= settled*radius {
			break
		}
	}
	return -math.FMA(0.5, dot(step, q.hd), dot(e.Gradient, step))
}
