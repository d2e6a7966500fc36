package support_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/support"
)

// TestHessianWrittenOutIsTheOneOfColumns checks that the Hessian written out between some coefficients has the
// products that columns of X give, dense and sparse, over several tiles of rows, with rows of weight 0, with and
// without intercepts. Coefficients that are not written out must neither move nor have products.
func TestHessianWrittenOutIsTheOneOfColumns(t *testing.T) {
	for seed := range oracle.Cases(12) {
		r := oracle.NewRandom(7100 + seed)
		q := r.Problem(oracle.Shape{N: 20 + 300*int(seed%3), P: 1 + r.Intn(7), Density: r.Pick(0.3, 1), Weights: seed%2 == 1})
		q.Intercept = seed%4 > 1
		n, p := q.Dims()
		const scores = 3
		class := make([]int32, n)
		for i := range class {
			class[i] = int32(i % scores)
		}
		for _, dense := range []bool{false, true} {
			view := fixture.View(t, q, dense)
			fit, err := model.NewSoftmax(view, class, []float64{1, 2, 3})
			if err != nil {
				t.Fatal(err)
			}
			columns, b := view.Matrix().Order(), make([]float64, p*scores)
			for k := range b {
				b[k] = r.Normal()
			}
			at, metric := fit.NewPoint(), model.Metric{}
			fit.Fit(columns, b, at)
			fit.Metric(at, &metric)
			h := support.NewHessian(view, scores)
			h.Reset(&metric, columns, false)
			whole := make([]float64, p*scores*p*scores)
			h.Block(columns, whole)

			var some []int // places in the whole matrix, by column as listed
			written := map[int]bool{}
			var coefficients []int
			for k := range p * scores {
				if r.Intn(3) > 0 {
					some, written[k] = append(some, k), true
					coefficients = append(coefficients, int(columns[k/scores])*scores+k%scores)
				}
			}
			h.Write(coefficients)
			v, out := make([]float64, p*scores), make([]float64, scores)
			for k := range v {
				v[k] = r.Normal()
			}
			for c, j := range columns {
				h.Move(j, v[c*scores:][:scores])
			}
			for c, j := range columns {
				h.Product(j, out)
				for k, got := range out {
					want, scale := 0.0, 0.0
					if row := c*scores + k; written[row] {
						for _, l := range some {
							want = math.FMA(whole[row*p*scores+l], v[l], want)
							scale += math.Sqrt(whole[row*(p*scores+1)]*whole[l*(p*scores+1)]) * math.Abs(v[l])
						}
					}
					if !(math.Abs(got-want) <= 1e-12*scale) {
						t.Errorf("seed %d, dense %v, column %d, score %d: %g, want %g", seed, dense, j, k, got, want)
					}
				}
			}
		}
	}
}

// TestBlockSystemOfScoresIsTheHessian checks that products and diagonal by scores are those of the Hessian between
// the nonzero coefficients plus the curvature of the ridge.
func TestBlockSystemOfScoresIsTheHessian(t *testing.T) {
	const scores, ridge = 3, 0.25
	for seed := range oracle.Cases(12) {
		r := oracle.NewRandom(7200 + seed)
		q := r.Problem(oracle.Shape{N: 20 + 300*int(seed%3), P: 1 + r.Intn(7), Density: r.Pick(0.3, 1), Weights: seed%2 == 1})
		q.Intercept = seed%4 > 1
		n, p := q.Dims()
		class := make([]int32, n)
		for i := range class {
			class[i] = int32(i % scores)
		}
		g, err := model.ScoresNet(scores, 0, math.Log(ridge))
		if err != nil {
			t.Fatal(err)
		}
		for _, dense := range []bool{false, true} {
			view := fixture.View(t, q, dense)
			fit, err := model.NewSoftmax(view, class, []float64{1, 2, 3})
			if err != nil {
				t.Fatal(err)
			}
			columns, b := make([]int32, p), make([]float64, p*scores)
			for j := range columns {
				columns[j] = int32(j)
			}
			var live []int
			for k := range b {
				if r.Intn(3) > 0 {
					b[k] = r.Normal()
					live = append(live, k)
				}
			}
			at, metric := fit.NewPoint(), model.Metric{}
			fit.Fit(columns, b, at)
			fit.Metric(at, &metric)
			h := support.NewHessian(view, scores)
			h.Reset(&metric, columns, false)
			whole := make([]float64, p*scores*p*scores)
			h.Block(columns, whole)
			a := support.NewBlockSystem(h)
			a.Reset(g, model.Singletons(p), columns, b)
			v, got, diagonal := make([]float64, len(live)), make([]float64, len(live)), make([]float64, len(live))
			for k := range v {
				v[k] = r.Normal()
			}
			a.Apply(v, got)
			a.Diagonal(diagonal)
			for k, row := range live {
				want, scale := ridge*v[k], 1.0
				for l, column := range live {
					want = math.FMA(whole[row*p*scores+column], v[l], want)
					scale += math.Abs(whole[row*p*scores+column] * v[l])
				}
				if !(math.Abs(got[k]-want) <= 1e-12*scale) {
					t.Errorf("seed %d, dense %v, %d: a product of %g, want %g", seed, dense, row, got[k], want)
				}
				if want := whole[row*p*scores+row] + ridge; !(math.Abs(diagonal[k]-want) <= 1e-12*want) {
					t.Errorf("seed %d, dense %v, %d: a diagonal of %g, want %g", seed, dense, row, diagonal[k], want)
				}
			}
		}
	}
}

// TestStepsEndWhereIterationsGainLittle checks that a step by conjugate gradients takes a fraction of the iterations
// of an exact one, and lowers the quadratic nearly as much.
func TestStepsEndWhereIterationsGainLittle(t *testing.T) {
	r := oracle.NewRandom(7300)
	q := r.Problem(oracle.Shape{N: 60, P: 120, Density: 0.2})
	view := fixture.View(t, q, false)
	fit := fixture.OneScore(t, fixture.Squared(t, q, false))
	columns, b, rhs := make([]int32, 120), make([]float64, 120), make([]float64, 120)
	group := make([]int, 120)
	for j := range columns {
		columns[j], b[j], rhs[j], group[j] = int32(j), r.Normal(), r.Normal(), j/4
	}
	part, err := model.NewPartition(group)
	if err != nil {
		t.Fatal(err)
	}
	g, err := model.GroupLasso(nil, math.Log(1e-4))
	if err != nil {
		t.Fatal(err)
	}
	at, metric := fit.NewPoint(), model.Metric{}
	fit.Fit(columns, b, at)
	fit.Metric(at, &metric)
	h := support.NewHessian(view, 1)
	h.Reset(&metric, columns, true)
	a := support.NewBlockSystem(h)
	a.Reset(g, part, columns, b)
	x, v, product := make([]float64, 120), make([]float64, 120), make([]float64, 120)
	a.Apply(rhs, v) // in the range of A, where its quadratic has a minimum
	copy(rhs, v)
	fall := func() (sum float64) {
		a.Apply(x, product)
		for k, v := range rhs {
			sum = math.FMA(x[k], v-float64(0.5*product[k]), sum)
		}
		return sum
	}
	a.ClearWork()
	exact := a.Solve(t.Context(), rhs, x, 1e-3)
	dear, far := a.Work(), fall()
	a.ClearWork()
	step := a.SolveStep(t.Context(), rhs, x, 0.05, 0.5)
	cheap, near := a.Work(), fall()
	if !(step.Iterations <= exact.Iterations/3 && cheap < dear/2 && near > 0.9*far) {
		t.Errorf("%d and %d iterations, %g and %g counted, to %g and %g", step.Iterations, exact.Iterations, cheap, dear, near, far)
	}
}

// TestAFactorOfAPointNearbySavesIterations checks that conjugate gradients preconditioned with the Hessian written
// out at a nearby point reach the solution of the current system in a fraction of the iterations. If a coefficient
// was not written out, they must do without that preconditioner.
func TestAFactorOfAPointNearbySavesIterations(t *testing.T) {
	const scores, size, tol = 3, 20, 1e-9
	r := oracle.NewRandom(7400)
	q := r.Problem(oracle.Shape{N: 300, P: size, Density: 1})
	q.Intercept = true
	class := make([]int32, len(q.Y))
	for i := range class {
		class[i] = int32(r.Intn(scores))
	}
	view := fixture.View(t, q, true)
	fit, err := model.NewSoftmax(view, class, []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	g, err := model.ScoresNet(scores, 0, math.Log(1e-3))
	if err != nil {
		t.Fatal(err)
	}
	columns, part := make([]int32, size), model.Singletons(size)
	here, there := make([]float64, size*scores), make([]float64, size*scores)
	all := make([]int, size*scores)
	for j := range columns {
		columns[j] = int32(j)
	}
	for k := range all {
		all[k], there[k] = k, r.Normal()
		here[k] = there[k] + float64(0.03*r.Normal())
	}
	h, at, metric := support.NewHessian(view, scores), fit.NewPoint(), model.Metric{}
	reset := func(b []float64) {
		fit.Fit(columns, b, at)
		fit.Metric(at, &metric)
		h.Reset(&metric, columns, false)
	}
	system := func(written []int) *support.BlockSystem {
		reset(there)
		h.Write(written)
		reset(here)
		a := support.NewBlockSystem(h)
		a.Reset(g, part, columns, here)
		return a
	}
	rhs := make([]float64, len(all))
	for k := range rhs {
		rhs[k] = r.Normal()
	}
	solve := func(a *support.BlockSystem) (iterations int) {
		x, product := make([]float64, len(rhs)), make([]float64, len(rhs))
		report := a.Solve(t.Context(), rhs, x, tol)
		a.Apply(x, product)
		for k, v := range rhs {
			if !report.Converged || !(math.Abs(product[k]-v) <= 1e-6) {
				t.Fatalf("converged %t: a product of %g, want %g", report.Converged, product[k], v)
			}
		}
		return report.Iterations
	}
	near := system(all)
	near.Precondition(1000)
	few := solve(near)
	lacking := system(all[1:])
	lacking.Precondition(1000)
	partly := solve(lacking)
	if many := solve(system(all)); few > many/3 || partly < many-many/10 {
		t.Errorf("%d iterations with the factor, %d without, %d where it lacks a coefficient", few, many, partly)
	}
}
