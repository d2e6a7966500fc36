package model

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Logistic is the datafit f(β, b) = (1/N)Σ sᵢ ln(1 + e^{−yᵢmᵢ}) of classes
// yᵢ = ±1 (table 1). It implements [Curved].
type Logistic struct {
	view     *sparse.View
	y        []float64
	null     float64
	positive float64 // Σsᵢ of class +1
	logOdds  float64 // of it
}

// NewLogistic checks the target: ±1 on every row, and both classes among the
// rows of positive weight. y is kept, not copied, and must not change. The error is
// an [outcome.Error]: Shape, NonFinite or BadParameter with the row, or SingleClass.
func NewLogistic(view *sparse.View, y []float64) (*Logistic, error) {
	n, _ := view.Dims()
	if len(y) != n {
		return nil, outcome.Errorf(outcome.Shape, "%d targets for %d rows", len(y), n)
	}
	var positive float64
	weights := view.Weights()
	for i, label := range y {
		if err := checkLabel(i, label); err != nil {
			return nil, err
		}
		switch {
		case label < 0:
		case weights == nil:
			positive++
		default:
			positive += weights[i]
		}
	}
	share := positive / view.Total()
	if share == 0 || share == 1 {
		return nil, outcome.Errorf(outcome.SingleClass, "all training rows are of one class")
	}
	f := &Logistic{view: view, y: y, null: math.Ln2, positive: positive, logOdds: kernels.Log(share / (1 - share))}
	if view.Centred() {
		f.null = -float64(share*kernels.Log(share)) - float64((1-share)*kernels.Log(1-share))
	}
	return f, nil
}

// checkLabel refuses what is not ±1.
func checkLabel(i int, label float64) error {
	if label == 1 || label == -1 {
		return nil
	}
	return badLabel(i, label)
}

// badLabel is apart, so that what is asked of every row is inlined.
func badLabel(i int, label float64) error {
	e := outcome.Errorf(outcome.BadParameter, "the label is %g, want −1 or 1", label)
	if math.IsNaN(label) || math.IsInf(label, 0) {
		e = outcome.Errorf(outcome.NonFinite, "the label is not finite")
	}
	e.HasRow, e.Row = true, i
	return e
}

// Rows implements [Curved]; it fails where the rows are of one class.
func (f *Logistic) Rows(view *sparse.View, list []int32) (Curved, error) {
	y := make([]float64, len(list))
	for k, i := range list {
		y[k] = f.y[i]
	}
	return NewLogistic(view, y)
}

// View returns the view of the design matrix.
func (f *Logistic) View() *sparse.View { return f.view }

// Target returns y. Read only.
func (f *Logistic) Target() []float64 { return f.y }

// Null returns P₀: ln 2, or with an intercept the entropy of the classes.
func (f *Logistic) Null() float64 { return f.null }

// Smoothness returns 1/4.
func (f *Logistic) Smoothness() float64 { return 0.25 }

// Fit implements [Datafit].
func (f *Logistic) Fit(cols []int32, b []float64, s *State) {
	clear(s.Linear)
	f.view.AddColumns(cols, b, s.Linear)
	f.Move(s, s)
}

// Move implements [Curved].
func (f *Logistic) Move(from, to *State) {
	to.balance = [2]float64{1, 1}
	if f.view.Centred() {
		to.Intercept = from.Intercept
		f.settle(to)
		f.rebalance(to)
	} else {
		to.Intercept = 0
		f.respond(to)
	}
	k := f.view.Kernels()
	for i, y := range f.y {
		to.scratch[i] = -y * to.Prediction[i]
	}
	k.Log1pExp(to.scratch, to.scratch)
	to.Loss = f.mean(to.scratch)
}

// respond sets predictions and residuals yᵢσ(−yᵢmᵢ) for the intercept at hand.
func (f *Logistic) respond(s *State) {
	for i, y := range f.y {
		m := s.Linear[i] + s.Intercept
		s.Prediction[i] = m
		s.Residual[i] = -y * m
	}
	f.view.Kernels().Sigmoid(s.Residual, s.Residual)
	for i, y := range f.y {
		s.Residual[i] *= y
	}
	f.view.Weigh(s.Residual, s.Weighted)
}

const (
	interceptSteps = 100
	interceptTol   = 1e-15 // of Σsᵢ, for the slope
	interceptNear  = 1e-7  // a step after which the error, less than its square, is rounding
)

// settle moves the intercept to the minimum of the loss over b, where as many rows of
// class +1 are expected as there are. Newton's method is on the log-odds of the share
// expected, which are linear in b where predictions are alike or far out, and the loss
// is far from a parabola; what brackets the minimum safeguards it.
func (f *Logistic) settle(s *State) {
	lower, upper, reach := math.Inf(-1), math.Inf(1), 16.0
	total := f.view.Total()
	near := false
	for range interceptSteps {
		f.respond(s)
		if near {
			return
		}
		var slope, bend float64
		for i, v := range s.Weighted {
			slope += v
			bend = math.FMA(v, f.y[i]-s.Residual[i], bend) // s·σσ̄
		}
		if math.Abs(slope) <= interceptTol*total {
			return
		}
		if slope > 0 {
			lower = s.Intercept
		} else {
			upper = s.Intercept
		}
		expected, rest := f.positive-slope, total-f.positive+slope
		odds := f.logOdds - kernels.Log(expected/rest)
		step := math.Abs(odds * expected / total * rest / bend)
		if !(step <= reach) { // next to no curvature, or none
			step = reach
		}
		reach *= 4
		next := s.Intercept + math.Copysign(step, slope)
		if next == s.Intercept {
			return
		}
		if !(next > lower && next < upper) {
			next = 0.5 * (lower + upper)
		}
		near = math.Abs(next-s.Intercept) <= interceptNear
		s.Intercept = next
	}
	f.respond(s)
}

// rebalance scales the residuals of the heavier class down so that they sum to
// zero, which makes them feasible for the dual of a problem with an intercept.
func (f *Logistic) rebalance(s *State) {
	var plus, minus float64
	for _, v := range s.Weighted {
		if v > 0 {
			plus += v
		} else {
			minus -= v
		}
	}
	switch {
	case plus > minus:
		s.balance[0] = minus / plus
	case minus > plus:
		s.balance[1] = plus / minus
	default:
		return
	}
	for i, y := range f.y {
		s.Residual[i] *= s.balance[class(y)]
	}
	f.view.Weigh(s.Residual, s.Weighted)
}

// class returns 0 for +1 and 1 for −1.
func class(y float64) int {
	if y > 0 {
		return 0
	}
	return 1
}

// mean returns Σ sᵢuᵢ/N for u ≥ 0.
func (f *Logistic) mean(u []float64) float64 {
	k := f.view.Kernels()
	if weights := f.view.Weights(); weights != nil {
		return k.Dot(weights, u) / f.view.Total()
	}
	return k.Asum(u) / f.view.Total()
}

// Curvature sets d[i] = sᵢσ(mᵢ)σ(−mᵢ) to full relative accuracy, down to the smallest
// numbers: with p = σ(−|m|) ≤ ½ nothing in p(1 − p) cancels.
func (f *Logistic) Curvature(s *State, d []float64) {
	for i, m := range s.Prediction {
		d[i] = -math.Abs(m)
	}
	f.view.Kernels().Sigmoid(d, d)
	for i, p := range d {
		d[i] = p * (1 - p)
	}
	f.view.Weigh(d, d)
}

// Dampen raises d[i] to share·sᵢ(σ(mᵢ) − ½)/mᵢ at least. At share 1 that is the curvature
// of the parabola that touches the loss at mᵢ and lies above it (Jaakkola and Jordan,
// Statistics and Computing 10, 2000).
func (f *Logistic) Dampen(s *State, share float64, d []float64) {
	p := s.scratch
	f.view.Kernels().Sigmoid(p, s.Prediction)
	for i, m := range s.Prediction {
		above := 0.25
		if math.Abs(m) > 1e-3 {
			above = (p[i] - 0.5) / m
		}
		p[i] = share * above
	}
	f.view.Weigh(p, p)
	for i, v := range p {
		d[i] = max(d[i], v)
	}
}

// Gap implements [Datafit]: the loss lacks (1/N)Σ sᵢKL(τᵢ‖tᵢ) at the dual point
// τᵢ = c·tᵢ, tᵢ = σ(−yᵢmᵢ), c the scale times the balance of the class:
//
//	KL(c·t‖t) = c·t·ln c + (1 − c·t)·ln(1 + (1 − c)e^{−ym}).
func (f *Logistic) Gap(d *Dual, s *State) float64 {
	return d.gap(f.divergence(s, d.Scale()), f.divergence(s, 1))
}

func (f *Logistic) divergence(s *State, scale float64) float64 {
	if scale == 1 && s.balance == [2]float64{1, 1} {
		return 0
	}
	var c, logC, logRest [2]float64
	for k, balance := range s.balance {
		c[k] = scale * balance
		logC[k], logRest[k] = kernels.Log(c[k]), kernels.Log(1-c[k])
	}
	for i, y := range f.y {
		s.scratch[i] = logRest[class(y)] - float64(y*s.Prediction[i])
	}
	f.view.Kernels().Log1pExp(s.scratch, s.scratch)
	weights := f.view.Weights()
	var sum float64
	for i, y := range f.y {
		k := class(y)
		ct := float64(scale * math.Abs(s.Residual[i])) // the balance is in the residual
		term := float64((1 - ct) * s.scratch[i])
		if balance := s.balance[k]; balance > 0 {
			term = math.FMA(ct, logC[k], term)
		}
		if weights != nil {
			term *= weights[i]
		}
		sum += term
	}
	return max(0, sum) / f.view.Total()
}
