package model_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestVectorsAreWhatTheirFormulasSay checks products, squares, rows, losses, gaps, the best intercept and the null
// model of support vector machines against their definitions on dense rows.
func TestVectorsAreWhatTheirFormulasSay(t *testing.T) {
	for seed := range oracle.Cases(80) {
		r := oracle.NewRandom(seed)
		n, p := 4+r.Intn(12), 1+r.Intn(6)
		q := r.Problem(oracle.Shape{N: n, P: p, Density: r.Pick(0.4, 1), Mean: r.Pick(0, 1), Weights: seed%3 == 0})
		o := model.VectorsOptions{Weights: q.Weights, Classes: r.Intn(2) == 0, Intercept: r.Intn(2) == 0, Standardise: r.Intn(2) == 0}
		if o.Classes {
			for i := range q.Y {
				q.Y[i] = 2*float64(i%2) - 1
			}
			if q.Weights != nil {
				q.Weights[0], q.Weights[1] = 1, 0.5
			}
		}
		q.Intercept = o.Intercept
		f, err := model.NewVectors(kernels.Available()[0], fixture.Matrix(t, q, seed%2 == 0), q.Y, o)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		m := &machine{q: q, scale: scales(q, o)}
		near := func(name string, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-11*(1+math.Abs(want))) {
				t.Errorf("seed %d, %+v: %s is %.15g, want %.15g", seed, o, name, got, want)
			}
		}
		c, epsilon := math.Exp(r.Normal()), 0.3*r.Float64()
		if o.Classes {
			epsilon = 0
		}
		a, w, wants, predictions := make([]float64, n), make([]float64, p), make([]float64, p), make([]float64, n)
		var primal, dual float64
		for i := range a {
			lower, upper := f.Interval(i, c)
			near("lower end", lower, map[bool]float64{true: -c * q.Weight(i), false: 0}[!o.Classes || q.Y[i] < 0])
			near("upper end", upper, map[bool]float64{true: c * q.Weight(i), false: 0}[!o.Classes || q.Y[i] > 0])
			a[i] = lower + r.Pick(0, 1, r.Float64())*(upper-lower)
			for j := range wants {
				wants[j] += a[i] * m.at(i, j)
			}
		}
		f.SetPrimal(a, w)
		f.Predict(w, 0, predictions)
		squares := f.Squares()
		for j := range w {
			near("w", w[j], wants[j])
			near("scale", f.Scale(j), m.scale[j])
			primal += wants[j] * wants[j] / 2
			dual -= wants[j] * wants[j] / 2
		}
		var lack float64
		for i := range a {
			var square, prediction float64
			for j := range w {
				square += m.at(i, j) * m.at(i, j)
				prediction += m.at(i, j) * wants[j]
			}
			near("‖x‖²", squares[i], square)
			near("prediction", predictions[i], prediction)
			over := math.Max(0, math.Abs(q.Y[i]-prediction)-epsilon)
			if o.Classes {
				over = math.Max(0, 1-q.Y[i]*prediction)
			}
			near("loss", f.Hinge(i, predictions[i], c, epsilon), c*q.Weight(i)*over)
			primal += c * q.Weight(i) * over
			dual += a[i]*q.Y[i] - epsilon*math.Abs(a[i])
			lack += f.Lack(i, a[i], predictions[i], c, epsilon)
		}
		near("gap", lack, primal-dual)
		m.intercept(f, predictions, c, epsilon, near)
		list := []int32{0, int32(n / 2), int32(n - 1)}
		face := f.Face(w)
		rows := f.Rows(list, face, nil)
		for k, i := range list {
			for at, j := range face {
				near("row", rows[k*len(face)+at], m.at(int(i), int(j)))
			}
		}
		m.refuses(t, f, o)
	}
}

// machine gives access to the scaled rows of a problem.
type machine struct {
	q     *oracle.Problem
	scale []float64
}

func (m *machine) at(i, j int) float64 { return m.scale[j] * m.q.X[i][j] }

// scales returns, if standardisation is asked for, one over the standard deviation of each column over the
// weighted rows, or over its root mean square without an intercept. Columns of zeros are not scaled.
func scales(q *oracle.Problem, o model.VectorsOptions) []float64 {
	_, p := q.Dims()
	out := make([]float64, p)
	for j := range out {
		out[j] = 1
		if square := q.Norm2(j) / q.Total(); o.Standardise && square > 0 {
			out[j] = 1 / math.Sqrt(square)
		}
	}
	return out
}

// intercept checks that no kink of the objective has a lower value than the intercept that f returns.
func (m *machine) intercept(f *model.Vectors, predictions []float64, c, epsilon float64, near func(string, float64, float64)) {
	value := func(b float64) (sum float64) {
		for i, at := range predictions {
			sum += f.Hinge(i, at+b, c, epsilon)
		}
		return sum
	}
	b, least := f.Intercept(predictions, c, epsilon)
	near("loss at the intercept", least, value(b))
	if !m.q.Intercept {
		near("no intercept", b, 0)
		return
	}
	for i, at := range predictions {
		for _, other := range []float64{m.q.Y[i] - at - epsilon, m.q.Y[i] - at + epsilon} {
			if v := value(other); v < least-1e-11*(1+least) {
				near("least loss over intercepts", least, v)
			}
		}
	}
	nothing := make([]float64, len(predictions))
	_, null := f.Intercept(nothing, c, epsilon)
	near("P₀", f.Null(c, epsilon), null)
}

// refuses checks which numbers of strengths f accepts, and its properties.
func (m *machine) refuses(t *testing.T, f *model.Vectors, o model.VectorsOptions) {
	t.Helper()
	own := 2
	if o.Classes {
		own = 1
	}
	if f.Hyperparameters() != own || f.Classes() != o.Classes || f.Simplex() {
		t.Errorf("%+v: %d strengths, classes %t, simplex %t", o, f.Hyperparameters(), f.Classes(), f.Simplex())
	}
	for count := range 4 {
		logLambda := []float64{0.5, -1, 2}[:count]
		c, epsilon, err := f.Strengths(logLambda)
		if (err == nil) != (count == own) {
			t.Errorf("%+v: %d λ's: %v", o, count, err)
		}
		if err == nil && (math.Abs(c-math.Exp(0.5)) > 1e-15 || !o.Classes && math.Abs(epsilon-math.Exp(-1)) > 1e-15) {
			t.Errorf("%+v: C = %g, ε = %g", o, c, epsilon)
		}
	}
	if _, _, err := f.Strengths([]float64{709, 0}[:own]); err == nil {
		t.Errorf("%+v: C = e^709 times weights of %g is taken", o, m.q.Total())
	}
}

// TestSimplexThresholdIsThatOfTheProjection checks that the parts of the entries above the threshold sum to 1, for
// entries of any size, and that SetMotion gives the derivative of the projection along the face.
func TestSimplexThresholdIsThatOfTheProjection(t *testing.T) {
	for seed := range oracle.Cases(80) {
		r := oracle.NewRandom(seed)
		n, p := 5, 1+r.Intn(8)
		q := r.Problem(oracle.Shape{N: n, P: p})
		f, err := model.NewVectors(kernels.Available()[0], fixture.Matrix(t, q, true), q.Y, model.VectorsOptions{Simplex: true})
		if err != nil {
			t.Fatal(err)
		}
		a, step, v, w := make([]float64, n), make([]float64, n), make([]float64, p), make([]float64, p)
		for i := range a {
			a[i], step[i] = r.Normal(), 1e-6*r.Normal()
		}
		f.SetCombination(a, v)
		f.SetPrimal(a, w)
		tau, sum := model.SimplexThreshold(v), 0.0
		face := f.Face(w)
		rows := f.Rows([]int32{1, 3}, face, nil)
		for k, i := range []int{1, 3} {
			var mean float64
			for _, j := range face {
				mean += q.X[i][j] / float64(len(face))
			}
			for at, j := range face {
				if got, want := rows[k*len(face)+at], q.X[i][j]-mean; math.Abs(got-want) > 1e-14*(1+math.Abs(want)) {
					t.Errorf("seed %d: row %d moves by %g along column %d, want %g", seed, i, got, j, want)
				}
			}
		}
		edge := false // whether an entry is so close to the threshold that the step may carry it across
		for j := range v {
			if want := math.Max(0, v[j]-tau); math.Abs(w[j]-want) > 1e-14*(1+math.Abs(v[j])) {
				t.Errorf("seed %d: w[%d] = %g, want %g", seed, j, w[j], want)
			}
			if on := slices.Contains(f.Face(w), int32(j)); on != (w[j] > 0) {
				t.Errorf("seed %d: w[%d] = %g is on the face: %t", seed, j, w[j], on)
			}
			sum += w[j]
			edge = edge || math.Abs(v[j]-tau) < 1e-4
		}
		if math.Abs(sum-1) > 1e-13 {
			t.Errorf("seed %d: the sum is %.15g", seed, sum)
		}
		if edge {
			continue
		}
		moved, motion := make([]float64, p), make([]float64, p)
		f.SetMotion(step, w, motion)
		for i := range a {
			a[i] += step[i]
		}
		f.SetPrimal(a, moved)
		for j := range w {
			if math.Abs(moved[j]-w[j]-motion[j]) > 1e-13 {
				t.Errorf("seed %d: w[%d] moves by %g, differences %g", seed, j, motion[j], moved[j]-w[j])
			}
		}
	}
}

// TestNullModelOnTheSimplexIsItsMiddle checks the objective at w = 1/p against its definition.
func TestNullModelOnTheSimplexIsItsMiddle(t *testing.T) {
	q := oracle.NewRandom(3).Problem(oracle.Shape{N: 7, P: 4, Density: 1})
	f, err := model.NewVectors(kernels.Available()[0], fixture.Matrix(t, q, true), q.Y, model.VectorsOptions{Simplex: true})
	if err != nil {
		t.Fatal(err)
	}
	const c, epsilon = 1.5, 0.1
	want, m := 0.5/4, make([]float64, 7)
	f.NullPredictions(m)
	for i, y := range q.Y {
		mean := (q.X[i][0] + q.X[i][1] + q.X[i][2] + q.X[i][3]) / 4
		if math.Abs(m[i]-mean) > 1e-14 {
			t.Errorf("row %d: prediction %g, want %g", i, m[i], mean)
		}
		want += c * math.Max(0, math.Abs(y-mean)-epsilon)
	}
	if got := f.Null(c, epsilon); math.Abs(got-want) > 1e-13*want {
		t.Errorf("null model %g, want %g", got, want)
	}
}

// TestMachinesOfOneClassAreRefused checks that a single class is refused, also if the rows of the other class have
// no weight.
func TestMachinesOfOneClassAreRefused(t *testing.T) {
	q := &oracle.Problem{X: [][]float64{{1}, {2}, {3}}, Y: make([]float64, 3), Alpha: []float64{1}}
	x := fixture.Matrix(t, q, true)
	for name, c := range map[string]struct {
		y, weights []float64
		ok         bool
	}{
		"both": {[]float64{1, -1, 1}, nil, true}, "positive": {[]float64{1, 1, 1}, nil, false}, "negative": {[]float64{-1, -1, -1}, nil, false},
		"positive left": {[]float64{1, -1, 1}, []float64{1, 0, 1}, false}, "both left": {[]float64{1, -1, 1}, []float64{0, 1, 1}, true},
	} {
		_, err := model.NewVectors(kernels.Available()[0], x, c.y, model.VectorsOptions{Classes: true, Weights: c.weights})
		if (err == nil) != c.ok || !c.ok && outcome.KindOf(err) != outcome.SingleClass {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSpreadsAreAboutTheMeansOfRows checks against a computation by hand, with unscaled columns, that spreads are
// about the mean of a row, including the entries that a sparse matrix omits.
func TestSpreadsAreAboutTheMeansOfRows(t *testing.T) {
	q := &oracle.Problem{Alpha: make([]float64, 3), X: [][]float64{{1e6 + 1, 1e6, 1e6 - 1}, {3, 0, 0}, {0, 0, 0}}, Y: []float64{1, 2, 3}}
	for _, dense := range []bool{true, false} {
		f, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, dense), q.Y, model.VectorsOptions{Simplex: true})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{2, 6, 0} {
			if got := f.Spreads()[i]; math.Abs(got-want) > 1e-8 {
				t.Errorf("dense %t, row %d: %g, want %g", dense, i, got, want)
			}
		}
	}
}
