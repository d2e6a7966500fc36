package bilevel

import (
	"math"

	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Information is a criterion without held-out rows: Fit·‖y − m‖² + Freedom·dof +
// Constant, where dof are the degrees of freedom of the fit.
type Information struct{ Fit, Freedom, Constant float64 }

// SURE returns Stein's unbiased estimate of the risk, ‖y − m‖² − nσ² + 2σ²·dof, for
// noise of standard deviation σ = sigma.
func SURE(n int, sigma float64) Information {
	return Information{Fit: 1, Freedom: 2 * sigma * sigma, Constant: -float64(n) * sigma * sigma}
}

// AIC returns the criterion ‖y − m‖²/σ² + 2·dof.
func AIC(sigma float64) Information { return Information{Fit: 1 / (sigma * sigma), Freedom: 2} }

// BIC returns the criterion ‖y − m‖²/σ² + ln(n)·dof.
func BIC(n int, sigma float64) Information {
	return Information{Fit: 1 / (sigma * sigma), Freedom: kernels.Log(float64(n))}
}

// Risk is an [Information] criterion of a squared-loss model on all rows. The degrees
// of freedom |S| jump with λ and have no gradient, so they are estimated by a finite
// difference along a random direction δ,
//
//	dof = δᵀ(m(y + εδ) − m(y))/ε,  ε = 2σ/n^0.3
//
// (Deledalle, Vaiter, Fadili and Peyré, SIAM J. Imaging Sci. 7, 2014; Bertrand et al.,
// section 4.1). This is a sum over two inner problems, with the targets y and y + εδ, each of
// which is a lane, as a fold is. The standard error is that of a sum of squares of normal noise,
// Fit·σ²·√(2n); the lane of y reports it.
type Risk struct {
	Information
	Sigma float64 // the noise level, which sets ε
	Seed  uint64  // of the random numbers that δ is drawn from

	condensed *Condensed // set if the problem is on condensed rows
}

const (
	leastVariance = 0x1p-900 // the smallest σ²; its inverse does not overflow
	leastStep     = 0x1p-40  // the smallest ε relative to the largest target, so that differences have a few digits
)

// newRisk prepares the two lanes of a [Risk].
func newRisk(k *kernels.Set, x sparse.Matrix, y []float64, spec Spec) (*Lanes, error) {
	n, p := x.Dims()
	risk := spec.Risk
	switch sigma := risk.Sigma; {
	case !(sigma > 0) || math.IsInf(sigma, 0):
		return nil, outcome.At(outcome.BadParameter, "sigma", "the noise level must be positive and finite, got %g", sigma)
	case spec.Weights != nil:
		return nil, outcome.Errorf(outcome.Usage, "information criteria need rows of equal weight")
	case len(y) != n:
		return nil, outcome.Errorf(outcome.Shape, "%d targets for %d rows", len(y), n)
	}
	view, err := spec.View(k, x, nil)
	if err != nil {
		return nil, err
	}
	all, each := float64(n), 1.0 // the number of rows, and of rows that one at hand stands for
	var delta []float64
	if of := risk.condensed; of != nil {
		all, delta = float64(of.sourceRows), of.direction
		each = all / float64(n)
	} else {
		delta = normals(n, risk.Seed)
	}
	epsilon := 2 * risk.Sigma / kernels.Exp(0.3*kernels.Log(all))
	switch largest := k.MaxAbs(y); {
	case math.IsInf(4*epsilon*epsilon*all, 1) || risk.Sigma*risk.Sigma < leastVariance:
		return nil, outcome.At(outcome.BadParameter, "sigma", "the square of the noise level %g overflows or underflows: scale the target", risk.Sigma)
	case epsilon < leastStep*largest:
		return nil, outcome.At(outcome.BadParameter, "sigma", "the noise level %g is below the precision of targets up to %g: subtract their mean, or use a criterion on held-out rows", risk.Sigma, largest)
	}
	weight := risk.Freedom / epsilon * each
	moved, rows := make([]float64, n), make([]int32, n)
	for i, t := range y {
		moved[i], rows[i] = math.FMA(epsilon, delta[i], t), int32(i)
	}
	targets := [2][]float64{y, moved}
	spec.Folds = nil // no row is kept for testing
	return newLanes(spec, len(targets), 0, p, func(id LaneID) (lane, error) {
		fit, err := model.NewSquared(view, targets[id.Fold])
		if err != nil {
			return nil, err
		}
		own := spec
		if id.Fold == 0 {
			spread := risk.Fit * risk.Sigma * risk.Sigma * math.Sqrt(2*all)
			own.Criterion = riskPart{fit: risk.Fit * each, constant: risk.Constant, weight: -weight, direction: delta, standardError: spread}
		} else {
			own.Criterion = riskPart{weight: weight, direction: delta}
		}
		return newLane(own, fit, newFoldCriterion(k, &own, y, rows))
	}), nil
}

// riskPart is the contribution of one of the two inner problems to a [Risk]: fit·‖y − m‖² + weight·δᵀ(m − y) +
// constant, where y is subtracted so that less cancels.
type riskPart struct {
	fit, constant, weight float64
	direction             []float64 // δ
	standardError         float64   // the standard error
}

// Name implements [criterion.Criterion].
func (riskPart) Name() string { return "risk" }

// Quadratic reports that second derivatives do not vary; see [criterion.Quadratic].
func (riskPart) Quadratic() bool { return true }

// Eval implements [criterion.Criterion].
func (p riskPart) Eval(rows []int32, y, m, slope, curvature []float64) float64 {
	var square, drift float64
	for _, i := range rows {
		r := m[i] - y[i]
		square = math.FMA(r, r, square)
		drift = math.FMA(p.direction[i], r, drift)
		if slope != nil {
			slope[i] = math.FMA(2*p.fit, r, p.weight*p.direction[i])
			curvature[i] = 2 * p.fit
		}
	}
	return float64(p.fit*square) + float64(p.weight*drift) + p.constant
}

// normals draws n standard normal numbers by Marsaglia's polar method from
// SplitMix64: the same bits on every architecture.
func normals(n int, seed uint64) []float64 {
	source := random.SplitMix64(seed)
	uniform := func() float64 { // in (−1, 1)
		return float64(int64(source.Next())>>10) * 0x1p-53
	}
	out := make([]float64, 0, n+1)
	for len(out) < n {
		u, v := uniform(), uniform()
		r := math.FMA(u, u, v*v)
		if r == 0 || r >= 1 {
			continue
		}
		scale := math.Sqrt(-2 * kernels.Log(r) / r)
		out = append(out, u*scale, v*scale)
	}
	return out[:n]
}
