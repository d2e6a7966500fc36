package implicit_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// printed evaluates a formula of the paper, as printed and as corrected, on the same problem, to be compared with
// central differences.
type printed struct {
	q    *oracle.Problem
	best *oracle.Solution
	cols []int32
	rows []int
}

// drawPrinted returns a random problem without weights and intercept, as in the paper. Validation rows are drawn
// as part of the problem.
func drawPrinted(seed uint64, ridge float64) printed {
	for {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 40, P: 10})
		rows := holdOut(r, q)
		q.Uniform(0.15 * q.AlphaMax())
		q.Ridge = ridge
		best := q.Solve()
		out, in := q.Margins(best)
		cols, _ := best.Support()
		if best.Exact && out > 0.05 && in > 0.05 && len(cols) > 3 {
			return printed{q, best, cols, rows}
		}
		seed++
	}
}

// solved returns Bᵀ A⁻¹ ∇_S C.
func (d printed) solved(t *testing.T, a [][]float64, b []float64) float64 {
	t.Helper()
	outer := outerOf(d.q, d.best.Beta, d.rows)
	rhs := make([]float64, len(d.cols))
	for k, j := range d.cols {
		for i, v := range outer.Slope {
			rhs[k] += v * d.q.X[i][j]
		}
	}
	v, ok := oracle.SolveDense(a, rhs)
	if !ok {
		t.Fatal("singular")
	}
	var sum float64
	for k := range v {
		sum += v[k] * b[k]
	}
	return sum
}

func (d printed) difference(each, ridge float64) float64 {
	const h = 1e-4
	_, p := d.q.Dims()
	at := func(s float64) float64 {
		return valueAt(d.q, d.best.Beta, d.rows, constant(s*each, p), s*ridge)
	}
	return (at(h) - at(-h)) / (2 * h)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b) }

// TestErratumScaleOfTheLasso checks the scale of A. Appendix A writes the Lasso with (1/n)‖y − Xβ‖², but A =
// X_SᵀX_S/n and B = −e^λ sign β belong to 1/2n; for the objective as printed A is twice as large.
func TestErratumScaleOfTheLasso(t *testing.T) {
	d := drawPrinted(1, 0)
	a, b := d.q.Gram(d.cols), make([]float64, len(d.cols))
	for k, j := range d.cols {
		b[k] = -math.Copysign(d.q.Alpha[j], d.best.Beta[j])
	}
	want := d.difference(1, 0)
	if got := d.solved(t, a, b); !near(got, want) {
		t.Errorf("with 1/2n: %.10g, differences %.10g", got, want)
	}
	// The problem as printed, (1/n)‖y − Xβ‖² + e^λ‖β‖₁, is ours with half the strength.
	half := d
	half.q = d.q.Clone().Uniform(d.q.Alpha[0] / 2)
	half.best = half.q.Solve()
	half.cols, _ = half.best.Support()
	a, b = half.q.Gram(half.cols), make([]float64, len(half.cols))
	for k, j := range half.cols {
		b[k] = -math.Copysign(d.q.Alpha[0], half.best.Beta[j])
	}
	want = half.difference(1, 0)
	if got := half.solved(t, a, b); near(got, want) {
		t.Errorf("the printed pair agrees: %.10g, differences %.10g", got, want)
	}
	for k := range a {
		for l := range a[k] {
			a[k][l] *= 2
		}
	}
	if got := half.solved(t, a, b); !near(got, want) {
		t.Errorf("with A = 2X'X/n: %.10g, differences %.10g", got, want)
	}
}

// TestErratumElasticNetBox checks that A must contain the ridge on its diagonal.
func TestErratumElasticNetBox(t *testing.T) {
	d := drawPrinted(2, 0.5)
	for i, each := range []float64{1, 0} {
		b := make([]float64, len(d.cols))
		for k, j := range d.cols {
			b[k] = -math.Copysign(d.q.Alpha[j], d.best.Beta[j])
			if i == 1 {
				b[k] = -d.q.Ridge * d.best.Beta[j]
			}
		}
		want := d.difference(each, 1-each)
		if got := d.solved(t, d.q.Gram(d.cols), b); near(got, want) {
			t.Errorf("λ%d: without the ridge in A it agrees: %.10g", i+1, got)
		}
		if got := d.solved(t, d.q.System(d.cols), b); !near(got, want) {
			t.Errorf("λ%d: %.10g, differences %.10g", i+1, got, want)
		}
		h := gradientAt(t, implicit.New(fixture.Squared(t, d.q, true)), scalar(t, d.q), d.q, d.best.Beta, d.rows, implicit.Options{Tol: 1e-13})
		if !near(h.Gradient[i], want) {
			t.Errorf("λ%d: solver %.10g, differences %.10g", i+1, h.Gradient[i], want)
		}
	}
}

// TestErratumWeightedLassoScatters checks that vᵀB is indexed by the support: its k-th entry belongs to the k-th
// column of the support, not to column k.
func TestErratumWeightedLassoScatters(t *testing.T) {
	d := drawPrinted(3, 0)
	if int(d.cols[len(d.cols)-1]) == len(d.cols)-1 {
		t.Fatal("the support is the first columns, so the indexings cannot be distinguished")
	}
	h := gradientAt(t, implicit.New(fixture.Squared(t, d.q, true)), weighted(t, d.q), d.q, d.best.Beta, d.rows, implicit.Options{Tol: 1e-13})
	_, p := d.q.Dims()
	wrong := 0
	for k, j := range d.cols {
		derivative := func(column int) float64 {
			const step = 1e-4
			each := make([]float64, p)
			each[column] = step
			up := valueAt(d.q, d.best.Beta, d.rows, each, 0)
			each[column] = -step
			return (up - valueAt(d.q, d.best.Beta, d.rows, each, 0)) / (2 * step)
		}
		if !near(h.Gradient[k], derivative(int(j))) {
			t.Errorf("entry %d, column %d: %.10g, differences %.10g", k, j, h.Gradient[k], derivative(int(j)))
		}
		if !near(h.Gradient[k], derivative(k)) {
			wrong++
		}
	}
	if wrong == 0 {
		t.Error("unscattered entries agree as well")
	}
}

// TestErratumDivideByValidationRows checks that the criterion divides by n_val, and that n in 1/2n is the fold's
// n_train. The sum in the text is n_val times too large.
func TestErratumDivideByValidationRows(t *testing.T) {
	d := drawPrinted(4, 0)
	h := gradientAt(t, implicit.New(fixture.Squared(t, d.q, true)), scalar(t, d.q), d.q, d.best.Beta, d.rows, implicit.Options{Tol: 1e-13})
	want := d.difference(1, 0)
	if !near(h.Gradient[0], want) {
		t.Errorf("%.10g, differences of the mean %.10g", h.Gradient[0], want)
	}
	if near(float64(len(d.rows))*h.Gradient[0], want) {
		t.Error("the sum agrees with the mean")
	}
	// With n the number of all rows instead of n_train this is another problem.
	train := 0.0
	for i := range d.q.Y {
		train += d.q.Weight(i)
	}
	if n := float64(len(d.q.Y)); d.q.Total() != train || train == n {
		t.Fatalf("N = %g of %g rows", d.q.Total(), n)
	}
	a, b := d.q.Gram(d.cols), make([]float64, len(d.cols))
	for k, j := range d.cols {
		b[k] = -math.Copysign(d.q.Alpha[j], d.best.Beta[j])
		for l := range a[k] {
			a[k][l] *= train / float64(len(d.q.Y))
		}
	}
	if got := d.solved(t, a, b); near(got, want) {
		t.Errorf("with the n of all rows it agrees: %s", fmt.Sprint(got))
	}
}
