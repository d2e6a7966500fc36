package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/model"
)

// inner is the state of the problem restricted to the working set.
type inner struct {
	r      []float64 // packed residual r̂; the residual is r̂ + offset·√s
	offset float64

	// By position in the working set:
	coef      []float64 // βⱼ
	square    []float64 // ‖X̃_j‖ₛ²
	threshold []float64 // Nαⱼ
	mean      []float64 // x̄ⱼ the sweep has to carry
	grad      []float64 // c_j − Nα₂βⱼ when the last sweep reached column j

	factor    float64 // the inner gap asked for, relative to the outer one
	left      int     // epochs left in this solve
	work      int     // values visited by sweeps since the last Newton step
	reluctant int     // factor on the price of the next Newton step
}

const (
	innerFactor = 0.1  // of the outer gap
	leastFactor = 1e-4 // where rounding ends the tightening
)

func (in *inner) start(epochs int) {
	in.left = epochs
	in.factor = innerFactor
	in.reluctant = 1
}

func (in *inner) exhausted() bool { return in.left == 0 }
func (in *inner) tighten()        { in.factor = max(leastFactor, 0.1*in.factor) }
func (in *inner) relax()          { in.factor = innerFactor }

// sweep solves the problem on the working set until its gap is a fraction of
// the outer one. It returns false where ctx ended.
func (s *Solver) sweep(ctx context.Context, tol float64) bool {
	in, columns := &s.in, s.set.columns
	s.pack.hold(columns)
	s.load()
	target := in.factor * s.sol.Gap
	values := 0
	for _, j := range columns {
		values += s.pack.length(j)
	}
	in.work = 0
	for in.left > 0 {
		if ctx.Err() != nil {
			return false
		}
		in.left--
		s.sol.Epochs++
		in.work += values + s.epoch()
		if s.innerGap() <= target {
			break
		}
		if in.work > s.newtonPrice() {
			s.newton(ctx)
			in.work = 0
		}
	}
	for k, j := range columns {
		s.beta[j] = in.coef[k]
	}
	return true
}

// load fills the inner state from β and the certified residual.
func (s *Solver) load() {
	in, columns, total := &s.in, s.set.columns, s.view.Total()
	w := len(columns)
	for _, v := range []*[]float64{&in.coef, &in.square, &in.threshold, &in.mean, &in.grad} {
		*v = grow(*v, w)
	}
	in.r = grow(in.r, s.pack.m)
	s.pack.residual(s.sol.Residual, in.r)
	in.offset = 0
	for k, j := range columns {
		norm := s.view.Norm(int(j))
		in.coef[k] = s.beta[j]
		in.square[k] = norm * norm
		in.threshold[k] = total * s.pen.Alpha(int(j))
		in.mean[k] = s.pack.mean(j)
	}
}

// epoch sweeps the working set once and returns the number of values visited
// by its updates. For column j, in units of N:
//
//	c = X̃_jᵀr,  βⱼ ← ST(‖X̃_j‖²βⱼ + c, Nαⱼ)/(‖X̃_j‖² + Nα₂),  r ← r − X̃_jΔβⱼ
func (s *Solver) epoch() (updated int) {
	in, total := &s.in, s.view.Total()
	ridge := total * s.pen.Ridge()
	for k, j := range s.set.columns {
		index, values := s.pack.column(j)
		var c float64
		if index == nil {
			c = s.k.Dot(values, in.r)
		} else {
			c = math.FMA(in.offset*total, in.mean[k], s.k.DotIndexed(values, index, in.r))
		}
		old, square := in.coef[k], in.square[k]
		in.grad[k] = c - float64(ridge*old)
		b := model.SoftThreshold(math.FMA(square, old, c), in.threshold[k]) / (square + ridge)
		if b == old {
			continue
		}
		in.coef[k] = b
		s.shift(index, values, in.mean[k], b-old)
		updated += len(values)
	}
	return updated
}

// shift moves one coefficient by d in the packed residual.
func (s *Solver) shift(index []int32, values []float64, mean, d float64) {
	if index == nil {
		s.k.Axpy(-d, values, s.in.r)
		return
	}
	s.k.AxpyIndexed(-d, values, index, s.in.r)
	s.in.offset = math.FMA(d, mean, s.in.offset)
}

// innerGap estimates the gap of the restricted problem from the correlations
// that the last sweep met on its way, which costs no pass. They are older than
// the coefficients, so it is used as a stopping rule only, never reported.
func (s *Solver) innerGap() float64 {
	in, total := &s.in, s.view.Total()
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
	norm := math.FMA(total*s.pen.Ridge(), l2, s.innerSquare())
	return (float64(rest*rest*norm)/2 + math.FMA(rest, product, slack)) / total
}

// innerSquare returns ‖r‖ₛ² of the packed residual. The true residual sums to
// zero where columns are centred, hence Σ√s·r̂ = −offset·N.
func (s *Solver) innerSquare() float64 {
	in := &s.in
	return s.k.Dot(in.r, in.r) - float64(in.offset*in.offset*s.view.Total())
}

// innerObjective returns N·Φ of the restricted problem.
func (s *Solver) innerObjective() float64 {
	in := &s.in
	var l1, l2 float64
	for k, b := range in.coef {
		if b != 0 {
			l1 = math.FMA(in.threshold[k], math.Abs(b), l1)
			l2 = math.FMA(b, b, l2)
		}
	}
	return float64(0.5*s.innerSquare()) + l1 + float64(0.5*s.view.Total()*s.pen.Ridge()*l2)
}

// grow returns v with length n, its contents undefined.
func grow(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n+n/2)[:n]
	}
	return v[:n]
}
