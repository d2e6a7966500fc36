package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
)

// vectorsAscent is accelerated gradient ascent of the dual of [Vectors] on the simplex, where
// the gradient is y − m and has the Lipschitz constant ‖X̃‖² (Beck and Teboulle, SIAM Journal on
// Imaging Sciences 2, 2009), restarted where it turns back (O'Donoghue and Candès, Foundations of
// Computational Mathematics 15, 2015). Near the solution the constant is that of the columns
// inside the face, which may be much smaller. So the step length follows the change of the
// gradient along the last step, until such steps do not reduce the gap.
type vectorsAscent struct {
	norm             float64   // about ‖X̃‖²; 0: not computed yet
	lipschitz        float64   // bound on the Lipschitz constant of the gradient
	cautious         bool      // step lengths follow lipschitz, not the change along the last step
	extrapolated     []float64 // the extrapolated point
	before, m        []float64 // a of the step before, predictions at extrapolated
	lastExtrapolated []float64 // extrapolated of the step before
	lastM            []float64 // m of the step before
}

const (
	climbFirst          = 64   // steps before exact steps are tried, doubled each time
	powerSteps          = 30   // of the power method
	powerShare          = 1.05 // factor on its estimate
	curvatureFactor     = 1.2  // factor on the curvature along the last step
	leastCurvatureRatio = 0.9  // the least curvature assumed, relative to that of the step before
)

// climb takes accelerated steps, with exact ones in between, until the gap is within tol, they have
// cost the budget, or most epochs are done.
func (s *Vectors) climb(ctx context.Context, tol, budget float64, most int) {
	u := &s.ascent
	if s.bestGap > tol && u.norm == 0 {
		u.norm = s.squaredNorm()
	}
	u.lipschitz, u.cautious = u.norm, false
	budget += s.sol.Work
	for steps := climbFirst; s.bestGap > tol && s.sol.Epochs < most && s.sol.Work < budget && ctx.Err() == nil; steps *= 2 {
		s.ascend(ctx, min(steps, most-s.sol.Epochs))
		s.activeSet(ctx)
	}
}

// ascend takes accelerated steps from the best point and evaluates the last one.
func (s *Vectors) ascend(ctx context.Context, steps int) {
	u := &s.ascent
	u.extrapolated, u.before, u.m = grow(u.extrapolated, s.n), grow(u.before, s.n), grow(u.m, s.n)
	s.k.Copy(s.a, s.sol.Dual)
	s.k.Copy(u.extrapolated, s.a)
	u.lastExtrapolated, u.lastM = grow(u.lastExtrapolated, s.n), grow(u.lastM, s.n)
	momentum, steep := 1.0, u.lipschitz
	for step := range steps {
		if ctx.Err() != nil {
			break
		}
		s.fit.SetPrimal(u.extrapolated, s.w)
		s.fit.Predict(s.w, 0, u.m)
		s.sol.Epochs++
		s.sol.Work += 2 * s.pass()
		if step > 0 && !u.cautious {
			steep = min(u.lipschitz, max(curvatureFactor*u.curvatureAlong(s), leastCurvatureRatio*steep))
		}
		s.k.Copy(u.lastExtrapolated, u.extrapolated)
		s.k.Copy(u.lastM, u.m)
		var turn float64
		for _, i := range kernels.Each(s.k, s.list) {
			lower, upper := s.fit.Interval(int(i), s.c)
			r := s.fit.Target()[i] - u.m[i]
			u.before[i] = s.a[i]
			next := model.SoftThreshold(math.FMA(u.extrapolated[i], steep, r), s.epsilon) / steep
			s.a[i] = max(lower, min(upper, next))
			turn = math.FMA(u.extrapolated[i]-s.a[i], s.a[i]-u.before[i], turn)
		}
		next := 0.5 * (1 + math.Sqrt(1+float64(4*momentum*momentum)))
		share := (momentum - 1) / next
		if momentum = next; turn > 0 {
			momentum, share = 1, 0
		}
		for _, i := range kernels.Each(s.k, s.list) {
			u.extrapolated[i] = math.FMA(share, s.a[i]-u.before[i], s.a[i])
		}
	}
	best := s.bestGap
	if s.evaluate() >= best { // steps may have been too long
		if u.cautious {
			u.lipschitz *= 2
		}
		u.cautious = true
	}
}

// curvatureAlong returns the curvature of the dual along the last step: much less than ‖X̃‖² where most
// entries of w are 0.
func (u *vectorsAscent) curvatureAlong(s *Vectors) float64 {
	var square, product float64
	for _, i := range kernels.Each(s.k, s.list) {
		dm, da := u.m[i]-u.lastM[i], u.extrapolated[i]-u.lastExtrapolated[i]
		square, product = math.FMA(dm, dm, square), math.FMA(dm, da, product)
	}
	if !(product > 0) {
		return 0
	}
	return square / product
}

// squaredNorm returns an estimate of ‖X̃‖² on the rows in list, a little above that of the power
// method.
func (s *Vectors) squaredNorm() float64 {
	v, w, next := make([]float64, s.n), make([]float64, s.p), make([]float64, s.n)
	for k, i := range kernels.Each(s.k, s.list) {
		v[i] = 1 + 1/float64(k+1)
	}
	var steep float64
	for range powerSteps {
		size := s.k.Nrm2(v)
		for _, i := range kernels.Each(s.k, s.list) {
			v[i] /= size
		}
		s.fit.SetCombination(v, w)
		s.fit.Predict(w, 0, next)
		if steep = s.k.Dot(v, next); steep == 0 {
			return 1 // all products are 0: any value will do
		}
		for _, i := range kernels.Each(s.k, s.list) {
			v[i] = next[i]
		}
	}
	return powerShare * steep
}
