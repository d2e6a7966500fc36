package model

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Vectors is a linear support vector machine with an intercept, in its dual form: over the
// samples i of weight sᵢ > 0, with Cᵢ = C·sᵢ,
//
//	min over a of ½‖w‖² − Σyᵢaᵢ + ε‖a‖₁, w = Σaᵢx̃ᵢ, Σaᵢ = 0, aᵢ in its interval,
//
// the dual of ½‖w‖² + Σ Cᵢ·h(yᵢ − mᵢ), m = X̃w + b. Regression (ε-SVR) has h(r) = (|r| − ε)₊
// and the interval [−Cᵢ, Cᵢ]. Classification with y = ±1 has the hinge, h = (yr)₊ and ε = 0,
// and yᵢaᵢ between 0 and Cᵢ. Without an intercept there is no constraint on Σaᵢ. x̃ are the
// samples with scaled columns. Columns are not centred, since the intercept absorbs any shift.
//
// On the simplex, w ≥ 0 and Σw = 1, and w is the projection of Σaᵢx̃ᵢ onto it.
//
// A Vectors is immutable and safe for any number of goroutines.
type Vectors struct {
	x            sparse.Matrix
	k            *kernels.Set
	y            []float64
	weights      []float64 // nil: every row has weight 1
	scale        []float64 // of columns; nil: 1
	isClassifier bool
	intercept    bool
	simplex      bool
	total        float64 // Σs
}

// VectorsOptions are the options of [NewVectors].
type VectorsOptions struct {
	Weights     []float64 // of the rows; nil: all 1. The slice is copied
	Classes     bool      // y is −1 or 1 and the loss the hinge; otherwise regression
	Intercept   bool
	Simplex     bool // w is on the probability simplex; only without an intercept
	Standardise bool // columns of unit variance over the weighted rows; without an intercept of unit mean square
}

// NewVectors checks the target and the weights. x and y are kept and must not change. The
// error is an [outcome.Error]: Shape, NonFinite or BadParameter with the row, SingleClass
// if only one class has rows of positive weight.
func NewVectors(k *kernels.Set, x sparse.Matrix, y []float64, o VectorsOptions) (*Vectors, error) {
	n, p := x.Dims()
	switch {
	case len(y) != n:
		return nil, outcome.Errorf(outcome.Shape, "%d targets for %d rows", len(y), n)
	case o.Simplex && (o.Intercept || o.Classes):
		return nil, outcome.Errorf(outcome.Usage, "coefficients on the simplex are available only for regression without an intercept")
	case o.Simplex && p == 0:
		return nil, outcome.Errorf(outcome.Shape, "there are no columns, but coefficients on the simplex must sum to 1")
	}
	var l loss.Loss = loss.Squared{}
	if o.Classes {
		l = loss.SmoothedHinge{}
	}
	if err := loss.CheckTarget(k, l, y); err != nil {
		return nil, err
	}
	view, err := sparse.NewView(k, x, o.Weights, o.Intercept)
	if err != nil {
		return nil, err
	}
	f := &Vectors{x: x, k: k, y: y, weights: k.Clone(o.Weights), isClassifier: o.Classes, intercept: o.Intercept, simplex: o.Simplex, total: view.Total()}
	if o.Classes {
		var sides [2]bool
		pace := k.Pace()
		for i, label := range y {
			pace.Did(1)
			sides[loss.Side(label)] = sides[loss.Side(label)] || f.Weight(i) > 0
		}
		if !sides[0] || !sides[1] {
			return nil, outcome.Errorf(outcome.SingleClass, "every training row has the same label")
		}
	}
	if spread := 2 * k.MaxAbs(y); !o.Classes && !(spread*spread*max(1, f.total) <= math.MaxFloat64) {
		return nil, outOfRange(view, outcome.NonFinite, "the sum of squared residuals overflows")
	}
	if o.Standardise {
		view = view.Standardised()
		f.scale = make([]float64, p)
		for j := range f.scale {
			f.scale[j] = view.Scale(j)
		}
	}
	return f, nil
}

// Dims returns the number of samples n, held-out ones included, and of features p.
func (f *Vectors) Dims() (n, p int) { return f.x.Dims() }

// Kernels returns the kernel set to compute with.
func (f *Vectors) Kernels() *kernels.Set { return f.k }

// Matrix returns the design matrix, not scaled.
func (f *Vectors) Matrix() sparse.Matrix { return f.x }

// Target returns y. Read only.
func (f *Vectors) Target() []float64 { return f.y }

// Centred reports whether there is an intercept.
func (f *Vectors) Centred() bool { return f.intercept }

// Simplex reports whether w is on the probability simplex.
func (f *Vectors) Simplex() bool { return f.simplex }

// Classes reports whether the problem is classification, with y = ±1.
func (f *Vectors) Classes() bool { return f.isClassifier }

// Hyperparameters returns the number of hyperparameters: C, and for regression ε.
func (f *Vectors) Hyperparameters() int {
	if f.isClassifier {
		return 1
	}
	return 2
}

// Weight returns sᵢ.
func (f *Vectors) Weight(i int) float64 {
	if f.weights == nil {
		return 1
	}
	return f.weights[i]
}

// Scaled reports whether columns are scaled.
func (f *Vectors) Scaled() bool { return f.scale != nil }

// Scales returns the factors of the columns; nil if all are 1. Read only.
func (f *Vectors) Scales() []float64 { return f.scale }

// Scale returns the factor of column j.
func (f *Vectors) Scale(j int) float64 {
	if f.scale == nil {
		return 1
	}
	return f.scale[j]
}

// Strengths returns C and ε from their logarithms (ε is 0 for classes). It refuses values that are not
// finite, overflow or underflow.
func (f *Vectors) Strengths(logLambda []float64) (c, epsilon float64, err error) {
	if len(logLambda) != f.Hyperparameters() {
		return 0, 0, outcome.At(outcome.Shape, "log-lambda", "%d λ's for %d strengths", len(logLambda), f.Hyperparameters())
	}
	if c, err = strength(logLambda[0], 0); err == nil && math.IsInf(c*f.total, 1) {
		err = outcome.At(outcome.BadParameter, "log-lambda", "ΣCᵢ overflows")
	}
	if err == nil && !f.isClassifier {
		epsilon, err = strength(logLambda[1], 1)
	}
	return c, epsilon, err
}

// Interval returns the interval that constrains aᵢ.
func (f *Vectors) Interval(i int, c float64) (lower, upper float64) {
	bound := c * f.Weight(i)
	switch {
	case !f.isClassifier:
		return -bound, bound
	case f.y[i] > 0:
		return 0, bound
	default:
		return -bound, 0
	}
}

// SetPrimal sets w to the primal point of the dual variables a of all n rows: X̃ᵀa, on the simplex its
// projection.
func (f *Vectors) SetPrimal(a, w []float64) {
	f.SetCombination(a, w)
	if f.simplex {
		projectOntoSimplex(w)
	}
}

// SetMotion sets w to the motion of the primal point at when the dual variables move by a: X̃ᵀa, on
// the simplex its projection onto the face whose interior contains at.
func (f *Vectors) SetMotion(a, at, w []float64) {
	f.SetCombination(a, w)
	if f.simplex {
		projectOntoFace(at, w)
	}
}

// SetCombination sets w = X̃ᵀa, a of all n rows.
func (f *Vectors) SetCombination(a, w []float64) {
	if x, ok := f.x.(*sparse.Dense); ok {
		_, values := x.Arrays()
		f.k.DotDense(values, a, w)
		for j, d := range f.scale {
			w[j] *= d
		}
		return
	}
	clear(w)
	for _, j := range f.x.Order() {
		rows, values := f.x.Column(int(j))
		w[j] = f.Scale(int(j)) * f.k.DotIndexed(values, rows, a)
	}
}

// Predict sets m = X̃w + b on all n rows.
func (f *Vectors) Predict(w []float64, b float64, m []float64) {
	f.k.Fill(m, b)
	if x, ok := f.x.(*sparse.Dense); ok {
		f.addDense(x, w, m)
		return
	}
	for _, j := range f.x.Order() {
		if w[j] != 0 {
			rows, values := f.x.Column(int(j))
			f.k.AxpyIndexed(w[j]*f.Scale(int(j)), values, rows, m)
		}
	}
}

// addDense adds X̃w to m for dense X, many columns in one pass over the rows.
func (f *Vectors) addDense(x *sparse.Dense, w, m []float64) {
	const atOnce = 128
	most := min(atOnce, len(w))
	factor, from := make([]float64, 0, most), make([]int64, 0, most)
	_, values := x.Arrays()
	for j, v := range w {
		if v != 0 {
			start, _ := x.Span(j)
			factor, from = append(factor, v*f.Scale(j)), append(from, start)
		}
		if len(from) == most || j == len(w)-1 {
			f.k.AxpyDenseSpans(factor, from, values, m)
			factor, from = factor[:0], from[:0]
		}
	}
}

// Squares returns ‖x̃ᵢ‖² of all rows.
func (f *Vectors) Squares() []float64 {
	n, _ := f.x.Dims()
	out := make([]float64, n)
	f.eachEntry(func(i int, v float64) { out[i] = math.FMA(v, v, out[i]) })
	return out
}

// Spreads returns, for every row, the sum of squares of its entries about the mean of the row. On the simplex only
// deviations from that mean change a prediction, since Σw is constant.
func (f *Vectors) Spreads() []float64 {
	n, p := f.x.Dims()
	means, absent, out := make([]float64, n), make([]float64, n), make([]float64, n)
	f.Predict(slices.Repeat([]float64{1 / float64(p)}, p), 0, means)
	f.k.Fill(absent, float64(p))
	f.eachEntry(func(i int, v float64) {
		v -= means[i]
		out[i] = math.FMA(v, v, out[i])
		absent[i]--
	})
	for i, mean := range kernels.Each(f.k, means) {
		out[i] = math.FMA(absent[i]*mean, mean, out[i])
	}
	return out
}

// eachEntry calls do with the row and the value of every scaled entry, column by column.
func (f *Vectors) eachEntry(do func(i int, v float64)) {
	for _, j := range f.x.Order() {
		rows, values := f.x.Column(int(j))
		for k, v := range kernels.Each(f.k, values) {
			i := k
			if rows != nil {
				i = int(rows[k])
			}
			do(i, float64(v*f.Scale(int(j))))
		}
	}
}

// Lack returns the contribution of row i to the duality gap at aᵢ and the prediction m:
// Cᵢh(y − m) + ε|aᵢ| − aᵢ(y − m) ≥ 0. The sum over the rows is the duality gap for any b, provided
// that Σaᵢ = 0 if there is an intercept; it also bounds ‖w − ŵ‖².
func (f *Vectors) Lack(i int, a, m, c, epsilon float64) float64 {
	lower, upper := f.Interval(i, c)
	r := f.y[i] - m
	// The two sides of the tube, each with the part of a of its sign.
	above, below := max(a, 0), max(-a, 0)
	sum := sideGap(r-epsilon, above, upper)
	return sum + sideGap(-r-epsilon, below, -lower)
}

// sideGap returns bound·(over)₊ − share·over ≥ 0, the contribution of one side of the tube.
func sideGap(over, share, bound float64) float64 {
	if over > 0 {
		return float64((bound - share) * over)
	}
	return -float64(share * over)
}

// Hinge returns Cᵢh(y − m).
func (f *Vectors) Hinge(i int, m, c, epsilon float64) float64 {
	lower, upper := f.Interval(i, c)
	r := f.y[i] - m
	return float64(upper*max(0, r-epsilon)) - float64(lower*max(0, -r-epsilon))
}

// Null returns P₀, the objective at w = 0, or at the centre of the simplex, with the best b: the
// scale of relative gaps.
func (f *Vectors) Null(c, epsilon float64) float64 {
	m := make([]float64, len(f.y))
	f.NullPredictions(m)
	_, value := f.Intercept(m, c, epsilon)
	if f.simplex {
		_, p := f.x.Dims()
		value += 0.5 / float64(p)
	}
	return value
}

// NullPredictions sets m to the predictions of the null model without its intercept.
func (f *Vectors) NullPredictions(m []float64) {
	f.k.Clear(m)
	if f.simplex {
		_, p := f.x.Dims()
		f.Predict(slices.Repeat([]float64{1 / float64(p)}, p), 0, m)
	}
}

// Intercept returns the best b for the predictions m, which exclude it, and ΣCᵢh(yᵢ − mᵢ − b) at b.
// If an interval of intercepts is best, b is its midpoint. Without an intercept b = 0.
func (f *Vectors) Intercept(m []float64, c, epsilon float64) (b, value float64) {
	if f.intercept {
		b = f.bestIntercept(m, c, epsilon)
	}
	pace := f.k.Pace()
	for i := range f.y {
		if pace.Did(1); f.Weight(i) > 0 {
			value += f.Hinge(i, m[i]+b, c, epsilon)
		}
	}
	return b, value
}

// kink is a breakpoint of a convex, piecewise linear function, and the increase of the slope there.
type kink struct{ at, rise float64 }

// bestIntercept returns the point at which the slope of the piecewise linear objective changes sign.
func (f *Vectors) bestIntercept(m []float64, c, epsilon float64) float64 {
	sides := 2
	if f.isClassifier {
		sides = 1
	}
	kinks := make([]kink, 0, sides*len(f.y)) // full capacity: growing would copy without looking whether ctx has ended
	var slope float64                        // at b = −∞, where every row is above the tube
	pace := f.k.Pace()
	for i, t := range f.y {
		if pace.Did(1); f.Weight(i) == 0 {
			continue
		}
		lower, upper := f.Interval(i, c)
		slope -= upper
		if upper > 0 {
			kinks = append(kinks, kink{t - m[i] - epsilon, upper})
		}
		if lower < 0 {
			kinks = append(kinks, kink{t - m[i] + epsilon, -lower})
		}
	}
	return kinkMinimiser(kinks, slope, &pace)
}

// kinkMinimiser returns the minimiser of the function with these kinks and the given slope at −∞: the
// midpoint if an interval is minimal. Like quickselect, it partitions the kinks by a pivot and
// discards the side that cannot contain the minimum. The kinks are reordered.
func kinkMinimiser(kinks []kink, slope float64, pace *kernels.Pace) float64 {
	flat := float64(1e-12 * math.Abs(slope))
	beyond := math.Inf(1) // the first kink above those that remain
	for {
		pace.Did(len(kinks))
		p := median(kinks[0].at, kinks[len(kinks)/2].at, kinks[len(kinks)-1].at)
		before, at, behind := slope, 0.0, len(kinks)
		first := 0 // kinks below the pivot p come first, kinks above it last
		for k := 0; k < behind; {
			switch v := kinks[k]; {
			case v.at < p:
				before += v.rise
				kinks[k], kinks[first] = kinks[first], v
				first, k = first+1, k+1
			case v.at > p:
				behind--
				kinks[k], kinks[behind] = kinks[behind], v
			default:
				at += v.rise
				k++
			}
		}
		after := before + at
		switch {
		case first > 0 && before >= -flat:
			kinks, beyond = kinks[:first], p
			continue
		case after < -flat && behind < len(kinks):
			kinks, slope = kinks[behind:], after
			continue
		case after > flat:
			return p
		}
		for _, v := range kinks[behind:] {
			beyond = min(beyond, v.at)
		}
		if after < -flat || math.IsInf(beyond, 1) { // only by rounding
			return p
		}
		return 0.5 * (p + beyond)
	}
}

func median(a, b, c float64) float64 { return max(min(a, b), min(max(a, b), c)) }

// Face returns the columns that predictions depend on near w: the columns with entries, in storage
// order, or on the simplex the columns with wⱼ > 0.
func (f *Vectors) Face(w []float64) []int32 {
	if !f.simplex {
		return f.x.Order()
	}
	var face []int32
	for j, v := range w {
		if v > 0 {
			face = append(face, int32(j))
		}
	}
	return face
}

// Rows returns the scaled rows listed (ascending), one after the other, restricted to the columns of
// a face. On the simplex it subtracts the mean of each row, which has no effect along the simplex.
// The rows are written to x if that is large enough.
func (f *Vectors) Rows(list, face []int32, x []float64) []float64 {
	p := len(face)
	if x = slices.Grow(x[:0], len(list)*p)[:len(list)*p]; p == 0 {
		return x
	}
	clear(x)
	for at, j := range face {
		rows, values := f.x.Column(int(j))
		scale := f.Scale(int(j))
		if rows == nil {
			for k, i := range list {
				x[k*p+at] = scale * values[i]
			}
			continue
		}
		k := 0
		for e, i := range rows {
			for k < len(list) && list[k] < i {
				k++
			}
			if k == len(list) {
				break
			}
			if list[k] == i {
				x[k*p+at] = scale * values[e]
			}
		}
	}
	if f.simplex {
		for k := range list {
			subtractMean(x[k*p:][:p])
		}
	}
	return x
}
