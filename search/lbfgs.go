package search

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// LBFGSOptions are the options of [LBFGS]. The zero value is ready to use.
type LBFGSOptions struct {
	Options
	// Memory is the number of steps remembered. 0 means 8.
	Memory int
	// Prox adds ½·Prox·‖λ − start‖² to the objective, which keeps λ near the start
	// where the data determine it poorly. [Result.Best] is then the evaluation of
	// least sum.
	Prox float64
	// Judge, if set, is called with the start and every accepted iterate, and returns
	// a value to judge it by, such as the loss on a third split. The search ends,
	// Stationary, when that value has not fallen for Patience iterates in a row, and
	// [Result.Best] is the iterate of least judged value, however the search ends. An
	// error ends the search.
	Judge func(ctx context.Context, e Evaluation) (float64, error)
	// Keep keeps λ and the gradient of every evaluation in [Result.Evaluations].
	Keep bool
	// Patience is the number of consecutive iterates without improvement after which
	// Judge ends the search. 0 means 3.
	Patience int
}

const (
	lbfgsMemory    = 8
	lbfgsPatience  = 3
	longestMove    = 1.0   // of one coordinate in one step
	armijo         = 1e-4  // share of the decrease predicted by the slope that a step must achieve
	leastCurvature = 1e-10 // cosine of step and gradient change up to which there is no curvature to remember
)

// LBFGS minimises over many λ: projected steps of limited-memory BFGS on the
// coordinates that the box leaves free, each shortened until the value falls; no
// coordinate moves by more than 1 at a time. It needs memory for 2·Memory and
// about ten more vectors, and so keeps none in [Result.Evaluations] unless asked to:
// Progress sees them, and a Log keeps them.
//
// It stops where the model predicts a gain of less than options.Stop. The status is
// Box where the border holds some coordinates back, else Stationary, Kink where no
// step lowers the value although the gradient predicts that, or Flat.
func LBFGS(ctx context.Context, f Objective, start []float64, box Box, options LBFGSOptions) (*Result, error) {
	if err := box.check(start); err != nil {
		return nil, err
	}
	switch {
	case options.Memory < 0 || options.Patience < 0:
		return nil, outcome.At(outcome.BadParameter, "memory", "memory %d and patience %d must not be negative", options.Memory, options.Patience)
	case !(options.Prox >= 0) || math.IsInf(options.Prox, 0):
		return nil, outcome.At(outcome.BadParameter, "prox", "must not be negative, got %g", options.Prox)
	}
	if options.Memory == 0 {
		options.Memory = lbfgsMemory
	}
	if options.Patience == 0 {
		options.Patience = lbfgsPatience
	}
	r, err := newRecorder(f, options.Options)
	if err != nil {
		return nil, err
	}
	s := &lbfgs{recorder: r, options: options, box: box, anchor: slices.Clone(start), free: make([]bool, len(start))}
	box.clamp(s.anchor)
	r.dropVectors = !options.Keep
	r.merit = s.value
	if options.Judge != nil {
		r.merit = s.judgedBefore
	}
	return r.search(ctx, s.run)
}

// lbfgs is the state of the method.
type lbfgs struct {
	*recorder
	options LBFGSOptions
	box     Box
	anchor  []float64 // the centre of the proximal term
	free    []bool    // coordinates that the box does not hold back
	memory  []pair    // oldest first
	waited  int       // iterates since the judged value last fell
}

// pair is a step and the change of the gradient on it.
type pair struct{ step, change []float64 }

// value returns the objective with the proximal term.
func (s *lbfgs) value(e *Evaluation) float64 {
	if s.options.Prox == 0 {
		return e.Value
	}
	var sum float64
	for i, x := range e.LogLambda {
		d := x - s.anchor[i]
		sum = math.FMA(d, d, sum)
	}
	return math.FMA(0.5*s.options.Prox, sum, e.Value)
}

// gradient sets g to the gradient of value.
func (s *lbfgs) gradient(e *Evaluation, g []float64) {
	for i, x := range e.LogLambda {
		g[i] = math.FMA(s.options.Prox, x-s.anchor[i], e.Gradient[i])
	}
}

func (s *lbfgs) run(ctx context.Context) (outcome.Status, error) {
	here, _, status, err := s.begin(ctx, s.anchor, s.box)
	if status != "" || err != nil {
		return status, err
	}
	dim := len(s.anchor)
	g, after, direction := make([]float64, dim), make([]float64, dim), make([]float64, dim)
	if enough, err := s.judge(ctx, here); enough || err != nil {
		return outcome.Stationary, err
	}
	for {
		s.gradient(here, g)
		held := s.findFree(here, g)
		next, status, err := s.step(ctx, here, g, direction)
		if err != nil {
			return "", err
		}
		switch {
		case next != here:
			s.gradient(next, after)
			s.remember(here, next, g, after)
			here = next
			if enough, err := s.judge(ctx, here); enough || err != nil {
				return outcome.Stationary, err
			}
		case !here.Final:
			s.memory = nil
			if here, err = s.confirmUsable(ctx, here); err != nil {
				return "", err
			}
		case here.Flat:
			return outcome.Flat, nil
		case held:
			return outcome.Box, nil
		default:
			return status, nil
		}
	}
}

// step returns the next iterate, or here and the reason why there is none. If the memory gives no descent, step
// clears it and tries again without.
func (s *lbfgs) step(ctx context.Context, here *Evaluation, g, direction []float64) (next *Evaluation, why outcome.Status, err error) {
	predicted := s.quasiNewton(g, direction)
	if !(predicted > 0) && len(s.memory) > 0 {
		s.memory = nil
		predicted = s.quasiNewton(g, direction)
	}
	if here.Flat || !(predicted > s.recorder.options.Stop*math.Abs(s.value(here))) {
		return here, outcome.Stationary, nil
	}
	next, err = s.descend(ctx, here, g, direction)
	if err == nil && next == here && len(s.memory) > 0 {
		s.memory = nil
		return s.step(ctx, here, g, direction)
	}
	return next, outcome.Kink, err
}

// judge calls Judge with an iterate, and reports whether the judged value has not
// improved for Patience iterates.
func (s *lbfgs) judge(ctx context.Context, e *Evaluation) (enough bool, err error) {
	if s.options.Judge == nil {
		return false, nil
	}
	value, err := s.options.Judge(ctx, *e)
	if err != nil {
		return false, err
	}
	if s.waited++; value < min(s.best.meritOrInf(), s.loose.meritOrInf()) {
		s.waited = 0
	}
	s.keepIfBest(ranked{e, value})
	return s.waited >= s.options.Patience, nil
}

// judgedBefore is the merit of an evaluation that Judge has not seen yet: the merit of
// the best loose iterate if e is at the same λ, else NaN.
func (s *lbfgs) judgedBefore(e *Evaluation) float64 {
	if s.loose.Evaluation != nil && slices.Equal(e.LogLambda, s.loose.LogLambda) {
		return s.loose.merit
	}
	return math.NaN()
}

// findFree finds the coordinates that may move, and reports whether some may not.
func (s *lbfgs) findFree(here *Evaluation, g []float64) (held bool) {
	for i, x := range here.LogLambda {
		s.free[i] = !s.box.blocked(i, x, g[i])
		held = held || !s.free[i]
	}
	return held
}

// quasiNewton sets direction to −H·g on the free coordinates by the two-loop recursion,
// with H the inverse curvature in memory. Without memory, direction is −g scaled so
// that its largest entry is 1, or less under a strong proximal term. quasiNewton returns the
// decrease predicted for a full step; it is not positive for a direction that does not
// descend.
func (s *lbfgs) quasiNewton(g, direction []float64) float64 {
	most := 0.0
	for i, x := range g {
		direction[i] = 0
		if s.free[i] {
			direction[i] = -x
			most = max(most, math.Abs(x))
		}
	}
	if most == 0 {
		return 0
	}
	if !s.twoLoops(direction) {
		scale := longestMove / max(most, s.options.Prox*longestMove)
		for i := range direction {
			direction[i] *= scale
		}
	}
	// A step that is too long is scaled as a whole, so that it keeps its direction.
	longest := 0.0
	for _, d := range direction {
		longest = max(longest, math.Abs(d))
	}
	scale := 1.0
	if longest > longestMove {
		scale = longestMove / longest
	}
	var fall float64
	for i := range direction {
		direction[i] *= scale
		fall = math.FMA(-g[i], direction[i], fall)
	}
	return fall * (1 - float64(0.5*scale))
}

// twoLoops multiplies d by H. It reports false, and leaves d unchanged, if the
// memory has no curvature on the free coordinates.
func (s *lbfgs) twoLoops(d []float64) bool {
	curvatures := make([]float64, len(s.memory))
	alphas := make([]float64, len(s.memory))
	scale := 0.0
	for k := len(s.memory) - 1; k >= 0; k-- {
		curvature, square := s.curvature(k)
		if curvature == 0 {
			continue
		}
		if scale == 0 {
			scale = curvature / square
		}
		curvatures[k], alphas[k] = curvature, dot(s.memory[k].step, d)/curvature
		s.axpy(-alphas[k], s.memory[k].change, d)
	}
	if scale == 0 {
		return false
	}
	for i := range d {
		d[i] *= scale
	}
	for k, curvature := range curvatures {
		if curvature != 0 {
			s.axpy(alphas[k]-dot(s.memory[k].change, d)/curvature, s.memory[k].step, d)
		}
	}
	return true
}

// curvature returns ⟨step,change⟩ and ‖change‖² of pair k over the free coordinates; 0 if
// the former is too small to divide by.
func (s *lbfgs) curvature(k int) (curvature, square float64) {
	var length float64
	for i, d := range s.memory[k].step {
		if s.free[i] {
			c := s.memory[k].change[i]
			curvature, square, length = math.FMA(d, c, curvature), math.FMA(c, c, square), math.FMA(d, d, length)
		}
	}
	if !(curvature > leastCurvature*math.Sqrt(length*square)) {
		return 0, 0
	}
	return curvature, square
}

// axpy adds a·x to d on the free coordinates.
func (s *lbfgs) axpy(a float64, x, d []float64) {
	for i, v := range x {
		if s.free[i] {
			d[i] = math.FMA(a, v, d[i])
		}
	}
}

// descend shortens the step along direction, projected onto the box, until the value
// falls enough, and returns that point. It returns here if no step does.
func (s *lbfgs) descend(ctx context.Context, here *Evaluation, g, direction []float64) (*Evaluation, error) {
	const attempts = 8
	x := make([]float64, len(direction))
	t := 1.0
	for range attempts {
		var slope float64
		for i, d := range direction {
			x[i] = math.FMA(t, d, here.LogLambda[i])
		}
		s.box.clamp(x)
		for i, v := range x {
			slope = math.FMA(g[i], v-here.LogLambda[i], slope)
		}
		if slope >= 0 {
			return here, nil
		}
		next, err := s.eval(ctx, x, false)
		if err != nil {
			return nil, err
		}
		rise := s.value(next) - s.value(here) // with the proximal terms
		rise -= decrease(here, next) - (here.Value - next.Value)
		if next.usable() && rise <= armijo*slope {
			return next, nil
		}
		if -slope <= s.recorder.options.Stop*math.Abs(s.value(here)) {
			return here, nil
		}
		t *= parabolic(slope, rise)
	}
	return here, nil
}

// remember stores the pair of an accepted step, in place of the oldest if the memory is full.
func (s *lbfgs) remember(from, to *Evaluation, before, after []float64) {
	var p pair
	if len(s.memory) == s.options.Memory {
		p = s.memory[0]
		s.memory = slices.Delete(s.memory, 0, 1)
	} else {
		p = pair{make([]float64, len(before)), make([]float64, len(before))}
	}
	for i := range before {
		p.step[i] = to.LogLambda[i] - from.LogLambda[i]
		p.change[i] = after[i] - before[i]
	}
	s.memory = append(s.memory, p)
}
