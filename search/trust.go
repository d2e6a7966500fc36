package search

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// TrustRegion minimises over a few λ: quasi-Newton steps no longer than a radius
// in any coordinate, which begins at 1 or, with the objective's curvature, at 2. The
// radius grows up to 3 where the quadratic model predicts gains well, and shrinks where
// it does not. The second derivatives are the objective's [Evaluation.Curvature],
// stiffened by the curvature met on the last step, or else a BFGS matrix, damped so that
// it stays positive definite; both are updated by failed steps, too. They take r × r
// numbers; for many λ use [LBFGS].
//
// It takes steps that lower the value. It stops where the gradient, without the
// components that push against the box, predicts a gain of less than 100·options.Stop
// per unit of λ; where the model predicts less than options.Stop/100; or where the
// radius is below 0.001. If the curvature is the objective's, it stops earlier: where
// the model predicts less than options.Stop, whatever the gradient.
//
// The status is Box where only the border holds the iterate back; Stationary; Kink
// where the curvature has grown without bound, or where no step lowers the value as the
// gradient predicts, not even along a valley that ends there; or Flat.
//
// If two coordinates matter unequally, it is worth starting where both do: for the
// elastic net at the Lasso's optimum, not at a point where the solution is 0.
func TrustRegion(ctx context.Context, f Objective, start []float64, box Box, options Options) (*Result, error) {
	return TrustRegionFrom(ctx, f, Evaluation{LogLambda: start}, box, options)
}

// TrustRegionFrom is [TrustRegion] from an evaluation, which is not repeated if it has a gradient and meets the final
// tolerance. It is then not among the evaluations of the result, but it may be the best.
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
	// confirmedRadius is the least radius after the current point has been evaluated
	// again at the final tolerance: steps were compared with its loose value before.
	confirmedRadius = 0.1
	leastPredicted  = 0.01 // times options.Stop: the predicted gain of a step at which the search ends
	trustError      = 0.1  // the gap for a step, as a share of its predicted gain
	zeroSlope       = 100  // times options.Stop: the gain per unit of λ up to which a gradient counts as 0
	goodModel       = 0.75 // share of the predicted gain above which the radius grows
	badModel        = 0.25 // the same, below which the radius shrinks
	valleyStep      = 0.4  // first step along a valley's floor
	valleyWalls     = 10   // recent points among which its other wall is looked for
	valleyWidth     = 0.1  // largest distance of a point on the other wall, in any coordinate
	damping         = 0.2  // Powell's
	mostStiffening  = 3    // times an entry of a given diagonal: the most that the last step may add to it
	ridge           = 1e-8 // added to the objective's curvature, as a share of its diagonal
)

// trust is the state of [TrustRegion].
type trust struct {
	*recorder
	box    Box
	here   *Evaluation
	radius float64
	model  *quadratic
	step   []float64
	recent []*Evaluation // recent points
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
		free, held := projectedNorm(s.here, s.box)
		s.model.load(s.here)
		predicted := s.model.minimise(s.here, s.box, s.radius, s.step)
		if s.here.Flat || s.radius < leastRadius || s.converged(free, predicted) {
			status, err = s.end(ctx, free, predicted, held)
		} else {
			status, err = s.advance(ctx, free, predicted)
		}
		if status != "" || err != nil {
			return status, err
		}
	}
}

// leastGain returns options.Stop as a change of the value.
func (s *trust) leastGain() float64 { return s.options.Stop * math.Abs(s.here.Value) }

// converged reports whether gradient and model predict too little gain for another step.
func (s *trust) converged(free, predicted float64) bool {
	scale := s.leastGain()
	if s.model.given { // there is no curvature left to learn
		return free <= zeroNorm || predicted <= scale
	}
	return free <= max(zeroSlope*scale, zeroNorm) || predicted <= leastPredicted*scale
}

// end returns the status with which the search ends at the current point. It returns "" if the search goes on: with
// the point evaluated at the final tolerance, or along a valley.
func (s *trust) end(ctx context.Context, free, predicted float64, held bool) (_ outcome.Status, err error) {
	switch here := s.here; {
	case !here.Final:
		s.radius = max(s.radius, confirmedRadius)
		s.here, err = s.confirmUsable(ctx, here)
		return "", err
	case here.Flat:
		return outcome.Flat, nil
	case held:
		return outcome.Box, nil
	case free <= zeroSlope*s.leastGain():
		return outcome.Stationary, nil
	case s.radius >= leastRadius:
		return endStatus(0.5*free*free/predicted, s.model.firstCurvature), nil
	case s.model.given: // no step lowers the value as predicted, and with many corners two gradients show no valley
		return outcome.Kink, nil
	}
	next, err := s.valley(ctx, s.here, s.recent, s.box)
	if next == nil {
		return outcome.Kink, err
	}
	s.here, s.radius, s.model.updated = next, confirmedRadius, false
	return "", nil
}

// advance evaluates the end of the step, updates the model and the radius, and moves there if the value falls. It
// returns a status if one solution meets the tolerance at both ends, so that the search cannot distinguish them.
func (s *trust) advance(ctx context.Context, free, predicted float64) (outcome.Status, error) {
	here, step, q := s.here, s.step, s.model
	x := slices.Clone(here.LogLambda)
	for i := range x {
		x[i] += step[i]
	}
	s.box.clamp(x)
	next, err := s.evalWithin(ctx, x, trustError*predicted/math.Abs(here.Value))
	if err != nil {
		return "", err
	}
	length := 0.0
	for i := range x {
		step[i] = x[i] - here.LogLambda[i]
		length = max(length, math.Abs(step[i]))
	}
	if q.given && here.Final && next.Final && next.Value == here.Value && dot(here.Gradient, next.Gradient) > 0 {
		return endStatus(0.5*free*free/predicted, q.firstCurvature), nil
	}
	gain := decrease(here, next)
	q.mispredicted = gain < badModel*predicted
	if next.usable() {
		q.update(here, next, step)
		s.recent = append(s.recent[max(0, len(s.recent)-valleyWalls):], here, next)
	}
	switch {
	case q.mispredicted:
		s.radius = length * parabolic(dot(here.Gradient, step), -gain)
	case gain > goodModel*predicted && length > 0.9*s.radius:
		s.radius = min(2*s.radius, mostRadius)
	}
	if gain > 0 {
		s.here = next
	}
	return "", nil
}

// parabolic returns the share of a step, between a tenth and a half, at which a
// parabola is least that begins with the slope, per step, and has the rise at its end.
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
	dim            int
	h              []float64 // H, row by row
	updated        bool      // H has been updated by steps; else it is a multiple of the identity
	given          bool      // H is the objective's
	mispredicted   bool      // the last step gained much less than predicted
	lastStep       pair      // the last step and the change of the gradient on it, if H is given
	firstCurvature float64   // the curvature met first
	hd             []float64 // H·step
}

func newQuadratic(dim int) *quadratic {
	return &quadratic{dim: dim, h: make([]float64, dim*dim), hd: make([]float64, dim)}
}

// load prepares the model for steps from e.
func (q *quadratic) load(e *Evaluation) {
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
	} else if !q.updated {
		// The first step is the negative gradient, scaled to length 1.
		q.setIdentity(math.Sqrt(dot(e.Gradient, e.Gradient)))
	}
}

// stiffen adds to the diagonal of a given H the change of the gradient on the last step
// beyond what H predicts, but at most three times an entry: knots add curvature that a
// formula for the intervals between them does not have. With two coordinates it does so
// only if that step failed: these form valleys, and a stiffer diagonal blocks their floor.
func (q *quadratic) stiffen() {
	if q.lastStep.step == nil || q.dim <= 2 && !q.mispredicted {
		return
	}
	q.multiply(q.lastStep.step)
	for i, d := range q.lastStep.step {
		entry := &q.h[i*q.dim+i]
		if excess := q.lastStep.change[i] - q.hd[i]; d != 0 && excess/d > 0 {
			*entry += min(excess/d, mostStiffening**entry)
		}
	}
}

func (q *quadratic) setIdentity(scale float64) {
	clear(q.h)
	for i := range q.dim {
		q.h[i*q.dim+i] = scale
	}
}

// multiply sets hd = H·d.
func (q *quadratic) multiply(d []float64) {
	for i := range q.dim {
		q.hd[i] = dot(q.h[i*q.dim:(i+1)*q.dim], d)
	}
}

// update updates H by the step from a to b: BFGS with Powell's damping. If H is the
// objective's, it only records the step.
func (q *quadratic) update(a, b *Evaluation, step []float64) {
	change := make([]float64, q.dim)
	for i := range change {
		change[i] = b.Gradient[i] - a.Gradient[i]
	}
	curvature, square := dot(step, change), dot(step, step)
	if square == 0 {
		return
	}
	if curvature > 0 && q.firstCurvature == 0 {
		q.firstCurvature = curvature / square
	}
	if q.given {
		q.lastStep = pair{slices.Clone(step), change}
		return
	}
	if !q.updated && curvature > 0 {
		q.setIdentity(dot(change, change) / curvature)
	}
	q.updated = true
	q.multiply(step)
	modelled := dot(step, q.hd)
	if !(modelled > 0) {
		return
	}
	if curvature < damping*modelled {
		t := (1 - damping) * modelled / (modelled - curvature)
		for i := range change {
			change[i] = math.FMA(t, change[i], (1-t)*q.hd[i])
		}
		curvature = dot(step, change)
	}
	for i := range q.dim {
		for j := range q.dim {
			rank2 := float64(change[i]*change[j]/curvature) - float64(q.hd[i]*q.hd[j]/modelled)
			q.h[i*q.dim+j] += rank2
		}
	}
}

// minimise sets step to the minimum of the model in the box, with no coordinate
// beyond radius, by cyclic coordinate descent, and returns the predicted gain.
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
