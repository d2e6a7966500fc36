package support_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/support"
)

// system returns the system of some columns of a problem.
func system(t *testing.T, q *oracle.Problem, cols []int32, dense bool) *support.System {
	t.Helper()
	view := fixture.View(t, q, dense)
	a := new(support.System)
	columns := support.NewColumns(view)
	columns.Hold(cols)
	a.Reset(columns, cols, q.Ridge)
	return a
}

// matrix is a dense operator.
type matrix [][]float64

func (m matrix) Apply(v, out []float64) {
	for i, row := range m {
		var sum oracle.Sum
		for j, a := range row {
			sum.AddProduct(a, v[j])
		}
		out[i] = sum.Value()
	}
}

func (m matrix) Diagonal(out []float64) {
	for i := range m {
		out[i] = m[i][i]
	}
}

// scaled returns D^-½AD^-½.
func (m matrix) scaled() [][]float64 {
	out := make([][]float64, len(m))
	for i := range m {
		out[i] = make([]float64, len(m))
		for j := range m {
			out[i][j] = m[i][j] / math.Sqrt(m[i][i]*m[j][j])
		}
	}
	return out
}

func extremes(values []float64) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		least, most = math.Min(least, v), math.Max(most, v)
	}
	return least, most
}

// pick returns each column with probability ½, but at least one.
func pick(r *oracle.Random, p int) []int32 {
	var cols []int32
	for j := range p {
		if r.Float64() < 0.5 {
			cols = append(cols, int32(j))
		}
	}
	if cols == nil {
		cols = []int32{int32(r.Intn(p))}
	}
	return cols
}

// TestSystemIsTheDenseMatrix compares products and diagonal with those of a dense matrix, for one list of columns
// after another.
func TestSystemIsTheDenseMatrix(t *testing.T) {
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 2 + r.Intn(30), P: 1 + r.Intn(20), Density: r.Pick(0.3, 1), Mean: r.Pick(0, 2), Weights: seed%2 == 0})
		q.Intercept, q.Ridge = seed%4 < 2, r.Pick(0, 0.3)
		_, p := q.Dims()
		columns, a := support.NewColumns(fixture.View(t, q, seed%3 == 0)), new(support.System)
		for list := range 4 {
			cols := pick(r, p)
			columns.Hold(cols)
			a.Reset(columns, cols, q.Ridge)
			want := matrix(q.System(cols))
			v, got, dense := make([]float64, len(cols)), make([]float64, len(cols)), make([]float64, len(cols))
			size := 1e-300
			for i := range want {
				for j := range want {
					size = math.Max(size, math.Abs(want[i][j]))
				}
			}
			for product := range 3 {
				for k := range v {
					v[k] = r.Normal()
				}
				a.Apply(v, got)
				want.Apply(v, dense)
				for k := range got {
					if !(math.Abs(got[k]-dense[k]) <= 1e-12*size*float64(len(cols))) {
						t.Fatalf("seed %d, list %d, product %d: (Av)_%d = %.16g, want %.16g", seed, list, product, k, got[k], dense[k])
					}
				}
			}
			a.Diagonal(got)
			want.Diagonal(dense)
			for k := range got {
				if math.Abs(got[k]-dense[k]) > 1e-13*size {
					t.Errorf("seed %d: A_%d%d = %.16g, want %.16g", seed, k, k, got[k], dense[k])
				}
			}
			if seed%5 == 0 && list == 2 {
				columns.Clear()
			}
		}
	}
}

// TestCGSolvesWhatEliminationSolves compares solutions, from cold and warm starts, with those of elimination, and
// reported residuals with the true ones.
func TestCGSolvesWhatEliminationSolves(t *testing.T) {
	cg := support.CG{Kernels: fixture.Kernels(t)} // one workspace for all sizes
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 40, P: 1 + r.Intn(30), Correlation: r.Pick(0, 0.9), Mean: r.Pick(0, 1), Weights: seed%2 == 0})
		q.Intercept, q.Ridge = seed%4 < 2, r.Pick(0, 0.01)
		_, p := q.Dims()
		cols := pick(r, p)
		a, dense := system(t, q, cols, true), matrix(q.System(cols))
		b, x := make([]float64, len(cols)), make([]float64, len(cols))
		for k := range b {
			b[k] = r.Normal()
			if seed%3 == 0 {
				x[k] = r.Normal()
			}
		}
		kept := append([]float64(nil), b...)
		tol := r.Pick(1e-2, 1e-6, 1e-10)
		report := cg.Solve(context.Background(), a, b, x, tol, 1000)
		if !report.Converged || report.Relative > tol {
			t.Fatalf("seed %d: %+v", seed, report)
		}
		want, ok := oracle.SolveDense(dense, b)
		if !ok {
			t.Fatalf("seed %d: singular", seed)
		}
		// In the Jacobi scaling, ‖x − x*‖ is at most the norm of the residual divided by the least eigenvalue.
		least, most := extremes(oracle.Eigenvalues(dense.scaled()))
		var distance, residual, right float64
		product := make([]float64, len(b))
		dense.Apply(x, product)
		for k, d := range dense {
			distance += d[k] * (x[k] - want[k]) * (x[k] - want[k])
			residual += (b[k] - product[k]) * (b[k] - product[k]) / d[k]
			right += b[k] * b[k] / d[k]
			if b[k] != kept[k] {
				t.Fatalf("seed %d: the right-hand side was changed", seed)
			}
		}
		if math.Sqrt(residual) > (tol*1.01+1e-13*most/least)*math.Sqrt(right) {
			t.Errorf("seed %d: true relative residual %.2e, tolerance %.0e", seed, math.Sqrt(residual/right), tol)
		}
		if math.Sqrt(distance) > 1.01*report.Residual/least+1e-12*math.Sqrt(right)/least {
			t.Errorf("seed %d: distance %.2e, bound %.2e", seed, math.Sqrt(distance), report.Residual/least)
		}
	}
}

// TestRitzValuesApproachTheEigenvalues checks that Ritz values lie within the spectrum, and are its ends once
// conjugate gradients have taken all steps.
func TestRitzValuesApproachTheEigenvalues(t *testing.T) {
	cg := support.CG{Kernels: fixture.Kernels(t)}
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 60, P: 2 + r.Intn(10), Correlation: r.Pick(0, 0.6)})
		_, p := q.Dims()
		cols := make([]int32, p)
		for j := range cols {
			cols[j] = int32(j)
		}
		dense := matrix(q.System(cols))
		least, most := extremes(oracle.Eigenvalues(dense.scaled()))
		b := make([]float64, p)
		for k := range b {
			b[k] = r.Normal()
		}
		for limit := 1; limit <= p; limit++ {
			cg.Solve(context.Background(), dense, b, make([]float64, p), 1e-15, limit)
			smallest, largest := cg.Ritz()
			if smallest < least*(1-1e-9) || largest > most*(1+1e-9) || smallest > largest {
				t.Errorf("seed %d, %d steps: Ritz values %g to %g outside the spectrum %g to %g", seed, limit, smallest, largest, least, most)
			}
			if limit == p && (smallest > least*(1+1e-6) || largest < most*(1-1e-6)) {
				t.Errorf("seed %d: Ritz values %g to %g after all %d steps, spectrum %g to %g", seed, smallest, largest, p, least, most)
			}
		}
	}
}

// TestCGOnSingularSystems checks that singular systems with a solution are solved. For a right-hand side outside the
// range the iteration must stop, report that, and leave finite numbers.
func TestCGOnSingularSystems(t *testing.T) {
	cg := support.CG{Kernels: fixture.Kernels(t)}
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 30, P: 10})
		for i := range q.X { // columns 8 and 9 repeat 0 and, negated, 1
			q.X[i][8], q.X[i][9] = q.X[i][0], -q.X[i][1]
		}
		cols := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
		a, dense := system(t, q, cols, true), matrix(q.System(cols))
		x, b := make([]float64, 10), make([]float64, 10)
		for k := range x {
			x[k] = r.Normal()
		}
		dense.Apply(x, b)
		clear(x)
		report := cg.Solve(context.Background(), a, b, x, 1e-9, 500)
		if !report.Converged {
			t.Errorf("seed %d, in the range: %+v", seed, report)
		}
		if math.Abs(x[0]-x[8]) > 1e-7 || math.Abs(x[1]+x[9]) > 1e-7 {
			t.Errorf("seed %d: copies got %g and %g, %g and %g", seed, x[0], x[8], x[1], x[9])
		}
		b[0]++ // out of the range: b₀ = b₈ there
		clear(x)
		report = cg.Solve(context.Background(), a, b, x, 1e-9, 500)
		if report.Converged || report.Iterations >= 500 {
			t.Errorf("seed %d, outside the range: %+v", seed, report)
		}
		for k, v := range x {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("seed %d: x[%d] = %g", seed, k, v)
			}
		}
	}
}

func TestCGWithNothingToDo(t *testing.T) {
	cg := support.CG{Kernels: fixture.Kernels(t)}
	a := matrix{{2, 0}, {0, 3}}
	x := []float64{5, 5}
	if report := cg.Solve(context.Background(), a, []float64{0, 0}, x, 1e-6, 10); !report.Converged || x[0] != 0 || x[1] != 0 {
		t.Errorf("b = 0: %+v, x = %v", report, x)
	}
	x = []float64{1, 2}
	if report := cg.Solve(context.Background(), a, []float64{2, 6}, x, 1e-6, 10); !report.Converged || report.Iterations != 0 {
		t.Errorf("started at the solution: %+v, x = %v", report, x)
	}
	if report := cg.Solve(context.Background(), matrix{}, nil, nil, 1e-6, 10); !report.Converged {
		t.Errorf("no unknowns: %+v", report)
	}
	x = []float64{0, 0}
	if report := cg.Solve(context.Background(), a, []float64{2, 6}, x, 1e-6, 0); report.Converged || x[0] != 0 {
		t.Errorf("no iterations: %+v", report)
	}
}

// cancelling is an operator that ends the context at a given product.
type cancelling struct {
	matrix
	left   int
	cancel context.CancelFunc
}

func (c *cancelling) Apply(v, out []float64) {
	if c.left--; c.left == 0 {
		c.cancel()
	}
	c.matrix.Apply(v, out)
}

// TestCGStopsWhenIterationsGainLittle checks that a solve that may stop early takes at most a fifth of the iterations
// and gains, whatever the residual is, two thirds of what there is to gain on average, and a third in each case.
// Conjugate gradients find the directions of long columns first, and then again, so that it depends on rounding where
// iterations gain little.
func TestCGStopsWhenIterationsGainLittle(t *testing.T) {
	const problems = 14
	var shares float64
	for seed := range uint64(problems) {
		r := oracle.NewRandom(seed)
		const p = 300
		view := text(t, r, 400, p, false)
		columns, list := support.NewColumns(view), make([]int32, p)
		for j := range list {
			list[j] = int32(j)
		}
		columns.Hold(list)
		var a support.System
		a.Reset(columns, list, 1e-4)
		b := make([]float64, p)
		for i := range b {
			b[i] = r.Normal()
		}
		gain := func(cg support.CG) (gain float64, report support.Report) {
			x, product := make([]float64, p), make([]float64, p)
			report = a.Solve(context.Background(), &cg, b, x, 1e-10, 10*p)
			a.Apply(x, product)
			for i, v := range x {
				gain += v * (b[i] - product[i]/2)
			}
			return gain, report
		}
		all, full := gain(support.CG{Kernels: view.Kernels()})
		most, short := gain(support.CG{Kernels: view.Kernels(), Enough: 0.1})
		if !full.Converged || !short.Converged || 5*short.Iterations > full.Iterations || !(most >= all/3) {
			t.Errorf("seed %d: %.3g of %.3g gained in %d of %d iterations", seed, most, all, short.Iterations, full.Iterations)
		}
		shares += most / all
	}
	if mean := shares / problems; !(mean >= 2.0/3) {
		t.Errorf("%.3g gained on average", mean)
	}
}

// TestCGKeepsTheLastIterate checks a solve of one iteration, in which the residual grows: the iterate with the least
// residual is x = 0, and the last iterate is the minimum of the quadratic along b.
func TestCGKeepsTheLastIterate(t *testing.T) {
	a, b := matrix{{1, 0.99}, {0.99, 1}}, []float64{1.05, -0.95}
	for _, last := range []bool{false, true} {
		x := make([]float64, 2)
		cg := support.CG{Kernels: fixture.Kernels(t), KeepLast: last}
		report := cg.Solve(context.Background(), a, b, x, 1e-6, 1)
		length := 0.0
		if last {
			length = 2.005 / 0.02995 // bᵀb / bᵀAb
		}
		if report.Converged || report.Iterations != 1 || math.Abs(x[0]-1.05*length) > 1e-10*length || math.Abs(x[1]+0.95*length) > 1e-10*length {
			t.Errorf("last %v: %v, %+v", last, x, report)
		}
	}
}

func TestCGStopsWithItsContextAtTheBestIterate(t *testing.T) {
	r := oracle.NewRandom(1)
	q := r.Problem(oracle.Shape{N: 60, P: 30, Correlation: 0.9})
	cols := make([]int32, 30)
	for j := range cols {
		cols[j] = int32(j)
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &cancelling{matrix: q.System(cols), left: 3, cancel: cancel}
	b, x := make([]float64, 30), make([]float64, 30)
	for k := range b {
		b[k] = r.Normal()
	}
	cg := support.CG{Kernels: fixture.Kernels(t)}
	report := cg.Solve(ctx, a, b, x, 1e-12, 1000)
	if report.Iterations != 3 || report.Converged {
		t.Errorf("%+v", report)
	}
	product := make([]float64, 30)
	a.matrix.Apply(x, product)
	var residual float64
	for k := range b {
		residual += (b[k] - product[k]) * (b[k] - product[k]) / a.matrix[k][k]
	}
	if math.Abs(math.Sqrt(residual)-report.Residual) > 1e-10*report.Residual {
		t.Errorf("reported residual %g, that of x is %g", report.Residual, math.Sqrt(residual))
	}
}

func TestCGAllocatesNothingWhenWarm(t *testing.T) {
	r := oracle.NewRandom(1)
	q := r.Problem(oracle.Shape{N: 60, P: 30})
	cols := pick(r, 30)
	a := system(t, q, cols, true)
	cg := support.CG{Kernels: fixture.Kernels(t)}
	b, x := make([]float64, len(cols)), make([]float64, len(cols))
	b[0] = 1
	solve := func() {
		clear(x)
		cg.Solve(context.Background(), a, b, x, 1e-10, 100)
	}
	solve()
	if n := testing.AllocsPerRun(20, solve); n != 0 {
		t.Errorf("%g allocations a solve", n)
	}
}
