package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// inner is the problem restricted to the working set, in units of N. Slices are
// indexed by position in the working set.
type inner struct {
	columns []int32
	total   float64 // N
	ridge   float64 // Nα₂

	coef      []float64 // βⱼ
	square    []float64 // ‖X̃_j‖ₛ²
	threshold []float64 // Nαⱼ
	grad      []float64 // c_j − Nα₂βⱼ when the last sweep reached column j

	store     *support.Columns
	gram      *support.Gram
	residual  residualEngine
	quadratic gramEngine
	engine    engine // the one in use
	newton    newton

	factor float64 // the inner gap asked for, relative to the outer one
	left   int     // epochs left in this solve
	spent  float64 // modelled cost of the sweeps since the last Newton step
}

// engine keeps the correlations c_j = X̃_jᵀ(s⊙r) of the working set up to date
// while coefficients move: through the residual, or through the Gram matrix.
type engine interface {
	load(s *Solver)
	// epoch sweeps the set once and fills grad:
	// βⱼ ← ST(‖X̃_j‖²βⱼ + c, Nαⱼ)/(‖X̃_j‖² + Nα₂).
	epoch() (cost float64)
	// correlation returns c_j for the column at position k.
	correlation(k int) float64
	// move takes in that the coefficient at position k has moved by d.
	move(k int, d float64)
	// squaredResidual returns ‖r‖ₛ².
	squaredResidual() float64
}

const (
	innerFactor = 0.1  // of the outer gap
	leastFactor = 1e-4 // where rounding ends the tightening
)

func (in *inner) init(view *sparse.View) {
	in.total = view.Total()
	in.store = support.NewColumns(view)
	in.gram = support.NewGram(in.store)
	in.residual.inner, in.quadratic.inner = in, in
	in.residual.k, in.quadratic.k = view.Kernels(), view.Kernels()
	in.newton.init(view, in)
}

func (in *inner) start(epochs int) {
	in.left = epochs
	in.factor = innerFactor
	in.newton.reluctant = 1
}

func (in *inner) exhausted() bool { return in.left == 0 }
func (in *inner) tighten()        { in.factor = max(leastFactor, 0.1*in.factor) }
func (in *inner) relax()          { in.factor = innerFactor }

// sweep solves the problem on the working set until its gap is a fraction of
// the outer one. It returns false where ctx ended.
func (s *Solver) sweep(ctx context.Context) bool {
	in := &s.in
	in.load(s)
	target := in.factor * s.sol.Gap
	for in.left > 0 {
		if ctx.Err() != nil {
			return false
		}
		in.left--
		s.sol.Epochs++
		in.spent += in.engine.epoch()
		if in.gap() <= target {
			break
		}
		if in.spent > in.newton.price() {
			if in.newton.step(ctx, s.fit.Null()) {
				s.sol.Steps++
			}
			in.spent = 0
		}
	}
	for k, j := range in.columns {
		s.beta[j] = in.coef[k]
	}
	return true
}

// polish takes a Newton step on the support to working precision.
func (s *Solver) polish(ctx context.Context) {
	s.set.keep(s)
	in := &s.in
	in.load(s)
	in.newton.collect()
	in.newton.tol = polishTol
	in.newton.step(ctx, s.fit.Null())
	in.newton.tol = newtonTol
	for k, j := range in.columns {
		s.beta[j] = in.coef[k]
	}
}

// load takes the working set, β and the certified point over, and chooses the
// engine.
func (in *inner) load(s *Solver) {
	in.columns = s.set.columns
	in.ridge = in.total * s.pen.Ridge()
	w := len(in.columns)
	for _, v := range []*[]float64{&in.coef, &in.square, &in.threshold, &in.grad} {
		*v = grow(*v, w)
	}
	for k, j := range in.columns {
		norm := s.view.Norm(int(j))
		in.coef[k] = s.beta[j]
		in.square[k] = norm * norm
		in.threshold[k] = in.total * s.pen.Alpha(int(j))
	}
	if in.store.Hold(in.columns) {
		in.gram.Clear()
	}
	in.engine = in.choose()
	in.engine.load(s)
	in.spent = 0
}

// gap estimates the gap of the restricted problem from the correlations that
// the last sweep met on its way, which costs no pass. They are older than the
// coefficients, so it is used as a stopping rule only, never reported.
func (in *inner) gap() float64 {
	var worst, l2, slack, product float64
	for k, a := range in.grad {
		worst = max(worst, math.Abs(a)/in.threshold[k])
		if b := in.coef[k]; b != 0 {
			l2 = math.FMA(b, b, l2)
			product = math.FMA(a, b, product)
			slack = math.FMA(in.threshold[k]-math.Copysign(1, b)*a, math.Abs(b), slack)
		}
	}
	rest := 0.0
	if worst > 1 {
		rest = 1 - 1/worst
	}
	norm := math.FMA(in.ridge, l2, in.engine.squaredResidual())
	return (float64(rest*rest*norm)/2 + math.FMA(rest, product, slack)) / in.total
}

// objective returns N·Φ of the restricted problem.
func (in *inner) objective() float64 {
	var l1, l2 float64
	for k, b := range in.coef {
		if b != 0 {
			l1 = math.FMA(in.threshold[k], math.Abs(b), l1)
			l2 = math.FMA(b, b, l2)
		}
	}
	return float64(0.5*in.engine.squaredResidual()) + l1 + float64(0.5*in.ridge*l2)
}

// grow returns v with length n, its contents undefined.
func grow(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n+n/2)[:n]
	}
	return v[:n]
}
