package support_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// text returns a view of a few long and many short columns, as in text data; the two
// longest are copies of each other.
func text(t testing.TB, r *oracle.Random, n, p int, centre bool) *sparse.View {
	t.Helper()
	pointers, rows, values := []int64{0}, []int32(nil), []float64(nil)
	for j := range p {
		share := 0.9 / (1 + 0.05*float64(j))
		if j == 1 {
			rows, values = append(rows, rows...), append(values, values...)
		}
		for i := range n {
			if j != 1 && r.Float64() < share {
				rows, values = append(rows, int32(i)), append(values, 0.5+r.Float64())
			}
		}
		pointers = append(pointers, int64(len(rows)))
	}
	x, err := sparse.NewCSC(n, p, pointers, rows, values)
	if err != nil {
		t.Fatal(err)
	}
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = float64(r.Intn(3))
	}
	view, err := sparse.NewView(fixture.Kernels(t), x, weights, centre)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// TestFactorisedSystem checks that a system whose longest columns are factorised, copies
// among them included, is solved in fewer iterations than with the diagonal, and that
// Norm is the norm in which residuals are reported.
func TestFactorisedSystem(t *testing.T) {
	for seed := range oracle.Draws(4) {
		r := oracle.NewRandom(seed)
		const p = 450
		view := text(t, r, 600, p, seed%2 == 0)
		columns := support.NewColumns(view)
		var list []int32
		for j := range int32(p) {
			list = append(list, j)
		}
		columns.Hold(list)
		gram := support.NewGram(columns)
		vector := func() []float64 {
			v := make([]float64, p)
			for i := range v {
				v[i] = r.Normal()
			}
			return v
		}
		var a support.System
		cg := support.CG{Kernels: view.Kernels()}
		b, product := make([]float64, p), make([]float64, p)
		a.Reset(columns, list, 1e-3)
		a.Apply(vector(), b)
		iterations := [2]int{}
		for exact := range iterations {
			a.Reset(columns, list, 1e-3)
			if exact == 1 {
				a.Factorise(gram, 1e6, 1)
			}
			if a.Factorised() != (exact == 1) {
				t.Fatalf("seed %d: factorised: %v", seed, a.Factorised())
			}
			x := make([]float64, p)
			report := a.Solve(context.Background(), &cg, b, x, 1e-8, 10*p)
			a.Apply(x, product)
			for i := range product {
				product[i] = b[i] - product[i]
			}
			if got := a.Norm(&cg, product) / a.Norm(&cg, b); !report.Converged || !(got <= 1.01e-8) {
				t.Errorf("seed %d, factorised %v: residual %.2e, %+v", seed, exact == 1, got, report)
			}
			iterations[exact] = report.Iterations
		}
		if iterations[1] >= iterations[0] {
			t.Errorf("seed %d: %d iterations, %d with the diagonal", seed, iterations[1], iterations[0])
		}
		// The norm belongs to an inner product in which A has the eigenvalues that
		// conjugate gradients have met.
		least, most := cg.Ritz()
		u, v := vector(), vector()
		plus, minus := make([]float64, p), make([]float64, p)
		for i := range u {
			plus[i], minus[i] = u[i]+v[i], u[i]-v[i]
		}
		norm := func(v []float64) float64 { return a.Norm(&cg, v) * a.Norm(&cg, v) }
		if got, want := norm(plus)+norm(minus), 2*norm(u)+2*norm(v); math.Abs(got-want) > 1e-9*want {
			t.Errorf("seed %d: ‖u + v‖² + ‖u − v‖² = %v, want %v", seed, got, want)
		}
		a.Apply(u, product)
		if share := norm(product) / view.Kernels().Dot(u, product); !(share >= 0.999*least && share <= 1.001*max(1, most)) {
			t.Errorf("seed %d: ‖Au‖²/uᵀAu = %v outside of the spectrum %v, %v", seed, share, least, most)
		}
	}
}

// BenchmarkSystem solves a system of short and long columns, with the diagonal and with
// the longest columns factorised.
func BenchmarkSystem(b *testing.B) {
	const p = 1200
	view := text(b, oracle.NewRandom(1), 4000, p, false)
	columns := support.NewColumns(view)
	var list []int32
	for j := range int32(p) {
		list = append(list, j)
	}
	columns.Hold(list)
	gram := support.NewGram(columns)
	var a support.System
	cg := support.CG{Kernels: view.Kernels()}
	right, x := make([]float64, p), make([]float64, p)
	for i := range right {
		right[i] = float64(i%7) - 3
	}
	for _, exact := range []bool{false, true} {
		b.Run(map[bool]string{false: "diagonal", true: "factorised"}[exact], func(b *testing.B) {
			iterations := 0
			for b.Loop() {
				a.Reset(columns, list, 1e-3)
				if exact {
					a.Factorise(gram, 1e6, 1)
				}
				clear(x)
				iterations = a.Solve(context.Background(), &cg, right, x, 1e-4, 10*p).Iterations
			}
			b.ReportMetric(float64(iterations), "cg")
		})
	}
}
