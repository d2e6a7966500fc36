package sparse_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestSingleBoundsProducts checks the upper bound on |X_jᵀu| from the copy in 32 bits: it is not too small, and exceeds
// |X_jᵀu| by no more than the stated excess, for columns of any scale, standardised and not.
func TestSingleBoundsProducts(t *testing.T) {
	const n, p = 90, 3000
	r := oracle.NewRandom(5)
	values := make([]float64, n*p)
	for k := range values {
		values[k] = (r.Pick(0, 100) + r.Normal()) * math.Exp(float64(k/n%7)-3)
		if k/n%5 == 0 {
			values[k] = math.Round(values[k]) // exactly representable in 32 bits
		}
	}
	x, err := sparse.NewDense(n, p, values)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := sparse.NewView(fixture.Kernels(t), x, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]*sparse.View{"plain": plain, "standardised": plain.Standardised()} {
		s := v.Single()
		if !s.Exists() {
			t.Fatal("there is no copy")
		}
		u, exact, bound := make([]float64, n), make([]float64, p), make([]float64, p)
		for i := range u {
			u[i] = r.Normal()
		}
		norm := v.Kernels().Nrm2(u)
		const from = 11
		v.Correlate(from, p, u, exact[from:])
		s.Bound(from, p, u, norm, bound[from:])
		for j := from; j < p; j++ {
			column, rounding := 0.0, 0.0
			for i := range n {
				column = math.Hypot(column, values[j*n+i])
				rounding = math.Hypot(rounding, values[j*n+i]-float64(float32(values[j*n+i])))
			}
			scale := 1.0
			if name == "standardised" {
				scale = math.Abs(exact[j]) / math.Abs(dot(values[j*n:][:n], u))
			}
			missed := scale * (rounding*norm + 1e-14*column*norm)
			if more := math.Abs(bound[j]) - math.Abs(exact[j]); more < -1e-14*scale*column*norm || more > 2*missed || missed > 1.001*(s.Missed(norm)+1e-14*scale*column*norm) {
				t.Fatalf("%s, column %d: at most %g, exactly %g; %g are missed", name, j, bound[j], exact[j], missed)
			}
		}
	}
}

func dot(x, y []float64) (sum float64) {
	for i := range x {
		sum = math.FMA(x[i], y[i], sum)
	}
	return sum
}

// TestSingleExistsWhereItServes checks that there is no copy of a small or sparse matrix, or of values outside the
// range of 32 bits.
func TestSingleExistsWhereItServes(t *testing.T) {
	const n, p = 100, 3000
	for name, c := range map[string]struct {
		p    int
		one  float64
		want bool
	}{
		"large": {p, 1, true}, "small": {p / 3, 1, false}, "too large": {p, 1e39, false}, "too small": {p, 1e-42, false}, "zeros": {p, 0, true},
	} {
		values := make([]float64, n*c.p)
		for k := range values {
			values[k] = math.Sin(float64(k))
		}
		for i := range n {
			values[7*n+i] = c.one
		}
		x, err := sparse.NewDense(n, c.p, values)
		if err != nil {
			t.Fatal(err)
		}
		v, err := sparse.NewView(fixture.Kernels(t), x, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Single().Exists(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
		bytes := sparse.SingleBytes(x)
		if want := int64(4*n*c.p + 8*c.p); c.p == p && bytes != want || c.p < p && bytes != 0 {
			t.Errorf("%s: %d bytes", name, bytes)
		}
	}
	q := oracle.NewRandom(1).Problem(oracle.Shape{N: n, P: p})
	if fixture.View(t, q, false).Single().Exists() || sparse.SingleBytes(fixture.Matrix(t, q, false)) != 0 {
		t.Error("there is a copy of a sparse matrix")
	}
}
