package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/model"
)

// proxNewton solves the working set's problem for a loss that is not quadratic:
// each step minimises the quadratic model of the loss at the current point plus
// the penalty, by the sweeps and Newton steps of the inner problem, and moves
// towards the minimiser until the objective falls enough. Exponentials are taken
// once per step, never inside a sweep.
type proxNewton struct {
	state, trial *model.State // the current point and the one tried
	d            []float64    // n: curvature
	direction    []float64    // n: X̃δ
	from         []float64    // β at the current point, by position
	delta        []float64    // δ, by position
	dual         model.Dual
}

const (
	proxSteps     = 50
	modelFactor   = 0.1  // of the step's gap, to which the model is solved
	sufficient    = 1e-4 // of the decrease that the model promises
	halvings      = 30
	modelRoundoff = 1e-13 // relative to P₀: below it decrease is noise
)

// proxNewton improves β on the working set until its gap is a fraction of the
// certified one. It returns false where ctx ended.
func (s *Solver) proxNewton(ctx context.Context) bool {
	in := &s.in
	s.enter()
	target := in.factor * s.sol.Gap
	for step := range proxSteps {
		if in.left == 0 {
			break
		}
		if ctx.Err() != nil {
			return false
		}
		s.approximate()
		gap := s.workingGap()
		if step > 0 && gap <= target {
			break
		}
		if !in.solve(ctx, s, modelFactor*max(gap, target)) {
			return false
		}
		if !s.descend() {
			break
		}
	}
	return true
}

// enter makes the certified point the current one.
func (s *Solver) enter() {
	pn := &s.prox
	if pn.d == nil {
		n, _ := s.view.Dims()
		pn.state, pn.trial = model.NewState(n), model.NewState(n)
		pn.d, pn.direction = make([]float64, n), make([]float64, n)
	}
	copy(pn.state.Linear, s.state.Linear)
	s.curved.Move(s.state, pn.state)
}

// approximate loads the quadratic model of the loss at the current point.
func (s *Solver) approximate() {
	pn, in := &s.prox, &s.in
	s.curved.Curvature(pn.state, pn.d)
	in.store.Reweigh(pn.d)
	in.gram.Clear()
	in.load(s, pn.state.Weighted)
	pn.from = append(pn.from[:0], in.coef...)
}

// workingGap returns the duality gap of the problem on the working set at the
// current point.
func (s *Solver) workingGap() float64 {
	in := &s.in
	dual := &s.prox.dual
	*dual = model.Dual{Penalty: s.pen, Total: in.total, Smoothness: s.fit.Smoothness()}
	for k, j := range in.columns {
		dual.Add(int(j), in.engine.correlation(k)/in.total, in.coef[k], 0)
	}
	return s.fit.Gap(dual, s.prox.state)
}

// descend moves from the current point towards the minimiser of the model by
// the longest of the steps 1, ½, ¼, … that achieves a share of the decrease that
// the model promises. It returns false where rounding leaves nothing to gain.
func (s *Solver) descend() bool {
	pn, in := &s.prox, &s.in
	pn.delta = grow(pn.delta, len(in.columns))
	var promised float64 // slope of the loss along δ, plus the change of g
	for k, j := range in.columns {
		d := in.coef[k] - pn.from[k]
		pn.delta[k] = d
		if d != 0 {
			promised = math.FMA(-d, s.view.Dot(int(j), pn.state.Weighted)/in.total, promised)
		}
	}
	before := s.penalty(0)
	promised += s.penalty(1) - before
	before += pn.state.Loss
	clear(pn.direction)
	s.view.AddColumns(in.columns, pn.delta, pn.direction)
	length := 1.0
	for range halvings {
		copy(pn.trial.Linear, pn.state.Linear)
		s.k.Axpy(length, pn.direction, pn.trial.Linear)
		s.curved.Move(pn.state, pn.trial)
		after := pn.trial.Loss + s.penalty(length)
		if after <= before+float64(sufficient*length*promised) || -promised <= modelRoundoff*s.fit.Null() {
			pn.state, pn.trial = pn.trial, pn.state
			for k, j := range in.columns {
				s.beta[j] = math.FMA(length, pn.delta[k], pn.from[k])
			}
			s.sol.Steps++
			return true
		}
		length *= 0.5
	}
	return false
}

// penalty returns g(from + length·δ).
func (s *Solver) penalty(length float64) float64 {
	in, pn := &s.in, &s.prox
	var l1, l2 float64
	for k := range in.columns {
		b := math.FMA(length, pn.delta[k], pn.from[k])
		l1 = math.FMA(in.threshold[k], math.Abs(b), l1)
		l2 = math.FMA(b, b, l2)
	}
	return (l1 + float64(0.5*in.ridge*l2)) / in.total
}
