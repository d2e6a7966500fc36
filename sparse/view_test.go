package sparse_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

func storages(t *testing.T, q *oracle.Problem) map[string]sparse.Matrix {
	t.Helper()
	return map[string]sparse.Matrix{"dense": fixture.Matrix(t, q, true), "sparse": fixture.Matrix(t, q, false)}
}

// TestViewAgainstDenseArithmetic compares means, centred norms and products of both storages
// with dense arithmetic, with and without weights and centring.
func TestViewAgainstDenseArithmetic(t *testing.T) {
	k := fixture.Kernels(t)
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{
			N: 1 + r.Intn(50), P: 1 + r.Intn(20), Density: r.Pick(0.05, 0.4, 1), Mean: r.Pick(0, 1, 1e4), Weights: seed%2 == 0,
		})
		q.Intercept = seed%4 < 2
		n, p := q.Dims()
		if seed%8 > 3 {
			for i, s := range q.Weights { // held-out rows, as in a fold
				q.Weights[i] = math.Ceil(min(s, 1))
			}
		}
		for name, x := range storages(t, q) {
			v, err := sparse.NewView(k, x, q.Weights, q.Intercept)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(v.Total()-q.Total()) > 1e-14*q.Total() || v.Centred() != q.Intercept {
				t.Errorf("seed %d, %s: N = %g, want %g", seed, name, v.Total(), q.Total())
			}
			var cols []int32
			var coef []float64
			u, want := make([]float64, n), make([]float64, n)
			for i := range u {
				u[i] = r.Normal()
				want[i] = u[i]
			}
			size := 1.0
			for j := range p {
				mean := 0.0
				if q.Intercept {
					mean = q.Mean(j)
				}
				if math.Abs(v.Mean(j)-mean) > 1e-14*math.Abs(mean)+1e-15 {
					t.Errorf("seed %d, %s: mean of column %d is %.17g, want %.17g", seed, name, j, v.Mean(j), mean)
				}
				// The mean is accurate to u·|x̄|, hence the norm to √N·u·|x̄| at worst.
				norm := math.Sqrt(q.Norm2(j))
				if math.Abs(v.Norm(j)-norm) > 1e-13*norm+1e-15*math.Sqrt(q.Total())*math.Abs(mean) {
					t.Errorf("seed %d, %s: norm of column %d is %.17g, want %.17g", seed, name, j, v.Norm(j), norm)
				}
				var dot, scale oracle.Sum
				for i := range u {
					dot.AddProduct(q.X[i][j], u[i])
					scale.Add(math.Abs(q.X[i][j] * u[i]))
				}
				if math.Abs(v.Dot(j, u)-dot.Value()) > 1e-14*scale.Value() {
					t.Errorf("seed %d, %s: X_%dᵀu = %.17g, want %.17g", seed, name, j, v.Dot(j, u), dot.Value())
				}
				if b := r.Pick(0, r.Normal()); r.Float64() < 0.7 {
					cols, coef = append(cols, int32(j)), append(coef, b)
					for i := range want {
						want[i] += b * (q.X[i][j] - mean)
						size = math.Max(size, math.Abs(b*q.X[i][j]))
					}
				}
			}
			var mean, square oracle.Sum
			largest := 0.0
			for i := range u {
				mean.AddProduct(q.Weight(i)/q.Total(), u[i])
				square.AddProduct(q.Weight(i)*u[i], u[i])
				largest = math.Max(largest, q.Weight(i)*u[i]*u[i])
			}
			if math.Abs(v.MeanOf(u)-mean.Value()) > 1e-14 {
				t.Errorf("seed %d, %s: mean of u %.17g, want %.17g", seed, name, v.MeanOf(u), mean.Value())
			}
			if got, top := v.SizeOf(slices.Clone(u)); math.Abs(got-square.Value()) > 1e-14*square.Value() || math.Abs(top-largest) > 1e-15*largest {
				t.Errorf("seed %d, %s: ‖u‖ₛ² = %.17g, its largest term %g, want %.17g, %g", seed, name, got, top, square.Value(), largest)
			}
			weighted := make([]float64, n)
			v.Weigh(u, weighted)
			for i := range u {
				if weighted[i] != q.Weight(i)*u[i] {
					t.Errorf("seed %d, %s: s⊙u is %g at row %d", seed, name, weighted[i], i)
				}
			}
			v.AddColumns(cols, coef, u)
			for i := range u {
				if math.Abs(u[i]-want[i]) > 1e-14*size*float64(2+len(cols)) {
					t.Errorf("seed %d, %s: row %d of u + X̃b is %.17g, want %.17g", seed, name, i, u[i], want[i])
				}
			}
		}
	}
}

// TestHeldOutRowsAreAbsent checks that the values in rows of weight 0 do not influence a view.
func TestHeldOutRowsAreAbsent(t *testing.T) {
	k := fixture.Kernels(t)
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 30, P: 10, Density: r.Pick(0.3, 1), Mean: 2, Weights: true})
		rest := &oracle.Problem{Alpha: q.Alpha, Intercept: true}
		for i, s := range q.Weights {
			if s > 0 {
				rest.X, rest.Y, rest.Weights = append(rest.X, q.X[i]), append(rest.Y, q.Y[i]), append(rest.Weights, s)
				continue
			}
			for j := range q.X[i] {
				q.X[i][j] *= 1e6
			}
		}
		full, less := storages(t, q), storages(t, rest)
		for name := range full {
			a, err := sparse.NewView(k, full[name], q.Weights, true)
			if err != nil {
				t.Fatal(err)
			}
			b, err := sparse.NewView(k, less[name], rest.Weights, true)
			if err != nil {
				t.Fatal(err)
			}
			if a.Total() != b.Total() {
				t.Errorf("seed %d, %s: N %g and %g", seed, name, a.Total(), b.Total())
			}
			for j := range q.Alpha {
				if math.Abs(a.Mean(j)-b.Mean(j)) > 1e-14*math.Abs(b.Mean(j)) || math.Abs(a.Norm(j)-b.Norm(j)) > 1e-13*b.Norm(j) {
					t.Errorf("seed %d, %s, column %d: mean %.16g and %.16g, norm %.16g and %.16g",
						seed, name, j, a.Mean(j), b.Mean(j), a.Norm(j), b.Norm(j))
				}
			}
		}
	}
}

// TestConstantColumnsHaveNoNorm checks that a column which is constant on the training rows has
// norm 0 beside an intercept, whatever its size. Rounding error in its place would become a
// divisor.
func TestConstantColumnsHaveNoNorm(t *testing.T) {
	k := fixture.Kernels(t)
	for _, value := range []float64{1, 0.1, 3e7, 1e-9} {
		const n = 7
		column := make([]float64, n)
		weights := []float64{1, 2, 0, 1, 0.5, 1, 1}
		for i := range column {
			column[i] = value
		}
		column[2] = 99 // held out
		x, err := sparse.NewDense(n, 1, column)
		if err != nil {
			t.Fatal(err)
		}
		v, err := sparse.NewView(k, x, weights, true)
		if err != nil {
			t.Fatal(err)
		}
		if v.Norm(0) > 1e-15*value {
			t.Errorf("a constant column of %g has norm %g", value, v.Norm(0))
		}
	}
}

func TestNewViewRefusesWeights(t *testing.T) {
	k := fixture.Kernels(t)
	x, err := sparse.NewDense(3, 1, []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		weights []float64
		kind    outcome.Kind
		row     int // −1: no row
	}{
		{[]float64{1, 1}, outcome.Shape, -1},
		{[]float64{}, outcome.Shape, -1},
		{[]float64{1, 1, 1, 1}, outcome.Shape, -1},
		{[]float64{1, -1, 1}, outcome.BadParameter, 1},
		{[]float64{1, 1, math.NaN()}, outcome.BadParameter, 2},
		{[]float64{math.Inf(1), 1, 1}, outcome.BadParameter, 0},
		{[]float64{1e308, 1e308, 1e308}, outcome.BadParameter, -1},
		{[]float64{0, 0, 0}, outcome.Shape, -1},
	} {
		_, err := sparse.NewView(k, x, c.weights, true)
		e, ok := errors.AsType[*outcome.Error](err)
		if !ok || e.Kind != c.kind || (c.row >= 0) != e.HasRow || (c.row >= 0 && e.Row != c.row) {
			t.Errorf("weights %v: %v", c.weights, err)
		}
	}
	empty, err := sparse.NewDense(0, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sparse.NewView(k, empty, nil, false); outcome.KindOf(err) != outcome.Shape {
		t.Errorf("no rows: %v", err)
	}
}

// TestViewKeepsItsOwnWeights checks that later changes of the slice of weights do not affect
// the view.
func TestViewKeepsItsOwnWeights(t *testing.T) {
	x, err := sparse.NewDense(3, 1, []float64{1, 2, 4})
	if err != nil {
		t.Fatal(err)
	}
	weights := []float64{1, 1, 0}
	v, err := sparse.NewView(fixture.Kernels(t), x, weights, true)
	if err != nil {
		t.Fatal(err)
	}
	clear(weights)
	if v.Weights()[0] != 1 || v.Mean(0) != 1.5 {
		t.Error("the view follows the caller's slice")
	}
}

// TestStandardisedViews checks that products with the columns of a standardised view are those
// with columns divided by hand, that norms are √N, and that constant columns become 0.
func TestStandardisedViews(t *testing.T) {
	k := fixture.Kernels(t)
	dense := []float64{1, 2, 3, 4 /**/, 0, 0, 5, 1 /**/, 7, 7, 7, 7 /**/, 0, 0, 0, 0}
	x, err := sparse.NewDense(4, 4, dense)
	if err != nil {
		t.Fatal(err)
	}
	csc, err := sparse.NewCSC(4, 4, []int64{0, 4, 6, 10, 10}, []int32{0, 1, 2, 3, 2, 3, 0, 1, 2, 3}, []float64{1, 2, 3, 4, 5, 1, 7, 7, 7, 7})
	if err != nil {
		t.Fatal(err)
	}
	weights := []float64{1, 0.5, 2, 0}
	for _, m := range []sparse.Matrix{x, csc} {
		for _, centre := range []bool{false, true} {
			plain, err := sparse.NewView(k, m, weights, centre)
			if err != nil {
				t.Fatal(err)
			}
			v := plain.Standardised()
			for j := range 4 {
				column := dense[4*j:][:4]
				want := v.Norm(j) > 0
				if constant := j == 3 || j == 2 && centre; constant == want || want && v.Norm(j) != math.Sqrt(3.5) {
					t.Errorf("centre %v: column %d has norm %g", centre, j, v.Norm(j))
				}
				deviation := plain.Norm(j) / math.Sqrt(3.5)
				if want && math.Abs(v.Scale(j)*deviation-1) > 1e-15 {
					t.Errorf("centre %v: column %d is multiplied by %g, its deviation is %g", centre, j, v.Scale(j), deviation)
				}
				u := []float64{0.3, -1, 0.25, 0}
				var dot float64
				for i := range u {
					dot += u[i] * column[i] * v.Scale(j)
				}
				if math.Abs(v.Dot(j, u)-dot) > 1e-14 {
					t.Errorf("centre %v: column %d has a product of %g, want %g", centre, j, v.Dot(j, u), dot)
				}
				sum := make([]float64, 4)
				v.AddColumns([]int32{int32(j)}, []float64{2}, sum)
				for i := range sum {
					if want := 2 * (column[i] - plain.Mean(j)) * v.Scale(j); math.Abs(sum[i]-want) > 1e-14 {
						t.Errorf("centre %v: row %d of column %d is %g, want %g", centre, i, j, sum[i], want)
					}
				}
			}
			out := make([]float64, len(m.Order()))
			u := []float64{0.3, -1, 0.25, 0.5}
			v.Correlate(0, len(out), u, out)
			for at, j := range m.Order() {
				if out[at] != v.Dot(int(j), u) {
					t.Errorf("centre %v: column %d correlates by %g and %g", centre, j, out[at], v.Dot(int(j), u))
				}
			}
		}
	}
}

// TestConstantColumnsHaveNoSpread checks that a column which is constant on the rows of
// positive weight has a norm of exactly 0, even if computing its mean rounds.
func TestConstantColumnsHaveNoSpread(t *testing.T) {
	k := fixture.Kernels(t)
	n := 1001
	values, rows := make([]float64, n), make([]int32, n)
	for i := range values {
		values[i], rows[i] = 0.1, int32(i)
	}
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = 0.3 + float64(i%3)
	}
	weights[5], weights[n-1] = 0, 0
	for name, c := range map[string]struct {
		weights  []float64
		change   int // the row with another value; −1 for none
		constant bool
	}{
		"constant": {nil, -1, true}, "constant, weighted": {weights, -1, true}, "but on a row left out": {weights, 5, true},
		"but on one row": {nil, 7, false}, "but on one row, weighted": {weights, 7, false},
	} {
		own := append([]float64(nil), values...)
		if c.change >= 0 {
			own[c.change] = 0.2
		}
		dense, err := sparse.NewDense(n, 1, own)
		if err != nil {
			t.Fatal(err)
		}
		csc, err := sparse.NewCSC(n, 1, []int64{0, int64(n)}, rows, own)
		if err != nil {
			t.Fatal(err)
		}
		holes, err := sparse.NewCSC(n, 1, []int64{0, int64(n - 1)}, rows[1:], own[1:])
		if err != nil {
			t.Fatal(err)
		}
		for at, x := range []sparse.Matrix{dense, csc, holes} {
			v, err := sparse.NewView(k, x, c.weights, true)
			if err != nil {
				t.Fatal(err)
			}
			if got := v.Norm(0) == 0; got != (c.constant && at < 2) {
				t.Errorf("%s, matrix %d: norm %g, mean %g", name, at, v.Norm(0), v.Mean(0))
			}
			if c.constant && at < 2 && v.Mean(0) != 0.1 {
				t.Errorf("%s, matrix %d: mean %g", name, at, v.Mean(0))
			}
		}
	}
}
