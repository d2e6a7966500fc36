package model

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Softmax is the multinomial datafit
//
//	f(B, b) = (1/N)Σ sᵢ(ln Σₖ e^{mᵢₖ} − mᵢ,cᵢ)
//
// of classes cᵢ in 0 … q−1. Intercepts are determined only up to a common constant; they are chosen
// to sum to 0. Softmax implements [Scores].
type Softmax struct {
	view       *sparse.View
	class      []int32
	q          int
	classShare []float64 // the weighted share of each class among the rows; nil without intercepts
	null       float64
}

// NewSoftmax returns the datafit of the classes: class has an index into labels for each row of the
// view, held-out rows included. Every class must have rows of positive weight. class is kept. The
// error is an [outcome.Error] of kind Shape or SingleClass.
func NewSoftmax(view *sparse.View, class []int32, labels []float64) (*Softmax, error) {
	n, _ := view.Dims()
	q := len(labels)
	if len(class) != n {
		return nil, outcome.Errorf(outcome.Shape, "%d classes for %d rows", len(class), n)
	}
	f := &Softmax{view: view, class: class, q: q, null: kernels.Log(float64(q))}
	share, pace := make([]float64, q), view.Kernels().Pace()
	for i, c := range class {
		pace.Did(1)
		share[c] += f.weight(i) / view.Total()
	}
	for k, s := range share {
		if !(s > 0) {
			return nil, outcome.OfClass(outcome.SingleClass, labels[k], "there is no row to train on")
		}
	}
	if view.Centred() {
		f.classShare, f.null = share, 0
		for _, s := range share {
			f.null -= float64(s * kernels.Log(s))
		}
	}
	return f, nil
}

func (f *Softmax) weight(i int) float64 {
	if w := f.view.Weights(); w != nil {
		return w[i]
	}
	return 1
}

// Pair returns the softmax of two classes as the logistic loss of the score of the second class minus the score of the
// first. ok is false if there are more than two classes, or if the rows of one class have negligible weight.
func (f *Softmax) Pair() (fit Datafit, ok bool) {
	if f.q != 2 {
		return nil, false
	}
	y, pace := kernels.Undefined[float64](len(f.class)), f.view.Kernels().Pace()
	for i, c := range f.class {
		pace.Did(1)
		y[i] = float64(2*c - 1)
	}
	of, err := NewLogistic(f.view, y)
	return of, err == nil
}

// View implements [Scores].
func (f *Softmax) View() *sparse.View { return f.view }

// Count implements [Scores].
func (f *Softmax) Count() int { return f.q }

// Null implements [Scores]: the entropy of the classes, ln q without intercepts.
func (f *Softmax) Null() float64 { return f.null }

// Quadratic implements [Scores].
func (f *Softmax) Quadratic() bool { return false }

// Concordance implements [Scores].
func (f *Softmax) Concordance() (float64, bool) { return 1, true }

// NewPoint implements [Scores].
func (f *Softmax) NewPoint() *ScorePoint {
	n, _ := f.view.Dims()
	at := &ScorePoint{
		Prediction: make([]float64, n*f.q), Weighted: make([]float64, n*f.q),
		Intercept: make([]float64, f.q), probability: make([]float64, n*f.q),
	}
	for k, s := range f.classShare {
		at.Intercept[k] = kernels.Log(s)
	}
	return at
}

// Metric implements [Scores].
func (f *Softmax) Metric(at *ScorePoint, m *Metric) {
	m.reset(f, at.probability)
	pace := f.view.Kernels().Pace()
	for i := range m.Weight {
		pace.Did(1)
		m.Weight[i] = f.weight(i)
	}
}

// Majorant implements [Scores]; there is none of this form.
func (f *Softmax) Majorant(*ScorePoint, *Metric) bool { return false }

// Fit implements [Scores].
func (f *Softmax) Fit(cols []int32, b []float64, at *ScorePoint) {
	n, q := len(f.class), f.q
	own := f.view.Kernels()
	pace := own.Pace()
	own.Clear(at.Prediction)
	one, of := make([]float64, n), make([]float64, len(cols))
	for k := range q {
		own.Clear(one)
		for c := range cols {
			of[c] = b[c*q+k]
		}
		f.view.AddColumns(cols, of, one)
		for i, v := range one {
			pace.Did(1)
			at.Prediction[i*q+k] = v
		}
	}
	if !f.view.Centred() {
		clear(at.Intercept)
	} else if !f.solveIntercepts(at) { // the intercepts of a trial step that went too far are no good start
		clear(at.Intercept)
		f.solveIntercepts(at)
	}
	f.setProbabilities(at, true)
}

// setProbabilities sets the probabilities at the current intercepts, and if final also the predictions, the
// slopes and the loss.
func (f *Softmax) setProbabilities(at *ScorePoint, final bool) {
	q := f.q
	k := f.view.Kernels()
	pace := k.Pace()
	for i := range f.class {
		pace.Did(q)
		row, m := at.probability[i*q:][:q], at.Prediction[i*q:][:q]
		top := math.Inf(-1)
		for c, v := range m {
			if row[c] = v + at.Intercept[c]; row[c] > top {
				top = row[c]
			}
		}
		for c := range row {
			row[c] -= top
		}
		if final {
			for c := range m {
				m[c] += at.Intercept[c]
			}
		}
	}
	k.Exp(at.probability, at.probability)
	if final {
		at.Loss = f.loss(at)
	}
	for i := range f.class {
		pace.Did(q)
		row := at.probability[i*q:][:q]
		var total float64
		for _, v := range row {
			total += v
		}
		for c := range row {
			row[c] /= total
		}
	}
	if final {
		f.setSlopes(at)
	}
}

// setSlopes sets the weighted slopes to a dual point that is feasible with intercepts: it replaces the
// probabilities P by T = (P + ηπ − e/N)/(1 + η), whose weighted sums equal those of the classes.
func (f *Softmax) setSlopes(at *ScorePoint) {
	q := f.q
	shift, eta := f.slopeShift(at)
	pace := f.view.Kernels().Pace()
	for i, own := range f.class {
		pace.Did(q)
		s := f.weight(i)
		for c, p := range at.probability[i*q:][:q] {
			t := p
			if shift != nil {
				t = (p + shift[c]) / (1 + eta)
			}
			if int32(c) == own {
				t--
			}
			at.Weighted[i*q+c] = -s * t
		}
	}
}

// slopeShift returns ηπ − e/N and η; nil without intercepts.
func (f *Softmax) slopeShift(at *ScorePoint) (shift []float64, eta float64) {
	if !f.view.Centred() {
		return nil, 0
	}
	shift = f.classExcess(at)
	total := f.view.Total()
	for c, e := range shift {
		eta = max(eta, e/(total*f.classShare[c]))
	}
	for c, e := range shift {
		shift[c] = float64(eta*f.classShare[c]) - e/total
	}
	return shift, eta
}

// classExcess returns e = Σ sᵢ(Pᵢ − Yᵢ).
func (f *Softmax) classExcess(at *ScorePoint) []float64 {
	q := f.q
	e, pace := make([]float64, q), f.view.Kernels().Pace()
	for i, own := range f.class {
		pace.Did(q)
		s := f.weight(i)
		for c, p := range at.probability[i*q:][:q] {
			if int32(c) == own {
				p--
			}
			e[c] = math.FMA(s, p, e[c])
		}
	}
	return e
}

// loss returns f. It needs the shares before they are divided by their sum, e^(m − top).
func (f *Softmax) loss(at *ScorePoint) float64 {
	q := f.q
	var sum float64
	pace := f.view.Kernels().Pace()
	for i, own := range f.class {
		if pace.Did(q); f.weight(i) != 0 {
			sum = math.FMA(f.weight(i), rowLoss(at.Prediction[i*q:][:q], at.probability[i*q:][:q], int(own)), sum)
		}
	}
	return sum / f.view.Total()
}

// rowLoss returns ln Σₖ e^{mₖ} − m_c, with full relative accuracy also if it is small. e has
// e^(mₖ − top), where top is the largest of m.
func rowLoss(m, e []float64, own int) float64 {
	if e[own] == 1 {
		var rest float64 // Σ e^{mₖ − m_c} over the other classes
		for k, v := range e {
			if k != own {
				rest += v
			}
		}
		return log1p(rest)
	}
	top, total := m[own], 0.0
	for k, v := range m {
		top = max(top, v)
		total += e[k]
	}
	return kernels.Log(total) + (top - m[own])
}

// log1p returns ln(1 + x), x ≥ 0.
func log1p(x float64) float64 {
	one := 1 + x
	if one == 1 {
		return x
	}
	return kernels.Log(one) * (x / (one - 1)) // the factor undoes the rounding of 1 + x
}

const (
	softSteps    = 100
	softTol      = 1e-15 // relative to N, for Σ sᵢ(Pᵢ − Yᵢ): converged
	softRounding = 1e-12 // likewise: converged if a step does not reduce it, which is rounding
	softAccepted = 1e-6  // likewise: accepted when all steps are used up
)

// solveIntercepts moves the intercepts to their minimiser by Newton steps, damped by the self-concordance of
// the loss so that no line search is needed. It returns false if the steps do not converge.
func (f *Softmax) solveIntercepts(at *ScorePoint) bool {
	q, total := f.q, f.view.Total()
	step, matrix := make([]float64, q), make([]float64, q*q)
	var metric Metric
	f.Metric(at, &metric)
	last := math.Inf(1)
	for range softSteps {
		f.setProbabilities(at, false)
		e := f.classExcess(at)
		worst := 0.0
		for _, v := range e {
			worst = max(worst, math.Abs(v))
		}
		switch {
		case math.IsNaN(worst):
			return false
		case worst <= softTol*total, !(worst < last) && worst < softRounding*total:
			return true
		}
		last = worst
		metric.Sum(f.view.Kernels(), matrix)
		for c := range e {
			step[c] = -e[c]
		}
		SolveShifted(matrix, step)
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range step {
			low, high = min(low, v), max(high, v)
		}
		length := 1.0
		if reach := high - low; reach > 1e-8 {
			length = log1p(reach) / reach
		}
		var mean float64
		for c, v := range step {
			at.Intercept[c] = math.FMA(length, v, at.Intercept[c])
			mean += at.Intercept[c] / float64(q)
		}
		for c := range at.Intercept {
			at.Intercept[c] -= mean
		}
	}
	return last < softAccepted*total
}

// SolveShifted solves A·x = b in place of b, for a symmetric positive semidefinite matrix whose null
// space is spanned by the vector of ones, and b that sums to 0. Of the solutions it returns the one
// that sums to 0. The matrix is overwritten.
func SolveShifted(a, b []float64) {
	FactorShifted(a, len(b))
	SolveFactored(a, b)
}

// FactorShifted overwrites the lower triangle of a with the Cholesky factor of A + τ11ᵀ, which has
// the solution of [SolveShifted].
func FactorShifted(a []float64, q int) {
	var trace float64
	for k := range q {
		trace += a[k*q+k]
	}
	lift := trace / float64(q*q)
	if !(lift > 0) {
		lift = 1
	}
	for k := range a {
		a[k] += lift
	}
	for i := range q {
		for j := range i + 1 {
			sum := a[i*q+j]
			for k := range j {
				sum = math.FMA(-a[i*q+k], a[j*q+k], sum)
			}
			if i == j {
				a[i*q+i] = math.Sqrt(max(sum, 1e-14*lift))
			} else {
				a[i*q+j] = sum / a[j*q+j]
			}
		}
	}
}

// SolveFactored solves with the factor from [FactorShifted], in place.
func SolveFactored(l, b []float64) {
	HalfSolveFactored(l, b)
	q := len(b)
	for i := q - 1; i >= 0; i-- {
		for k := i + 1; k < q; k++ {
			b[i] = math.FMA(-l[k*q+i], b[k], b[i])
		}
		b[i] /= l[i*q+i]
	}
}

// HalfSolveFactored solves with the lower triangle alone, in place.
func HalfSolveFactored(l, b []float64) {
	q := len(b)
	for i := range q {
		for k := range i {
			b[i] = math.FMA(-l[i*q+k], b[k], b[i])
		}
		b[i] /= l[i*q+i]
	}
}

// Divergence implements [Scores]: Σₖ KL(T_ik‖P_ik), T = (1 − c)Y + cT̃.
func (f *Softmax) Divergence(at *ScorePoint, c float64) float64 {
	q := f.q
	shift, eta := f.slopeShift(at)
	var sum float64
	pace := f.view.Kernels().Pace()
	for i, own := range f.class {
		s := f.weight(i)
		if pace.Did(4 * q); s == 0 {
			continue
		}
		for k, p := range at.probability[i*q:][:q] {
			y := 0.0
			if int32(k) == own {
				y = 1
			}
			d := float64((1 - c) * (y - p)) // T − P
			if shift != nil {
				d += float64(c * (shift[k] - float64(eta*p)) / (1 + eta))
			}
			if p < leastProbability && d > 0 { // p is inaccurate, its logarithm is not
				sum = math.FMA(s, float64(d*(kernels.Log(d)-logProbability(at.Prediction[i*q:][:q], k)))-d, sum)
				continue
			}
			sum = math.FMA(s, relativeEntropy(p, d), sum)
		}
	}
	return max(0, sum) / f.view.Total()
}

// leastProbability is the smallest normal number, below which a probability loses digits.
const leastProbability = 0x1p-1022

// logProbability returns ln P of a class in a row with scores m.
func logProbability(m []float64, class int) float64 {
	top, total := slices.Max(m), 0.0
	for _, v := range m {
		total += kernels.Exp(v - top)
	}
	return m[class] - top - kernels.Log(total)
}

// relativeEntropy returns KL(p + d‖p) = (p + d)ln((p + d)/p) − d.
func relativeEntropy(p, d float64) float64 {
	t := p + d
	switch {
	case d == 0:
		return 0
	case math.Abs(d) <= 0.25*p:
		x := d / p
		var sum float64
		for k := 24.0; k >= 2; k-- {
			sum = math.FMA(-x, sum, 1/(k*(k-1)))
		}
		return float64(p*x) * float64(x*sum)
	case t <= 0:
		return -d
	case p == 0:
		return math.Inf(1)
	default:
		return float64(t*(kernels.Log(t)-kernels.Log(p))) - d
	}
}
