package implicit_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/subject"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// oracle.Cases reads it.
var _ = flag.Bool("long", false, "ten times as many random problems, and larger ones")

func fitOf(t *testing.T, q *oracle.Problem, dense bool) *model.Squared {
	t.Helper()
	fit, err := model.NewSquared(subject.View(t, q, dense), q.Y)
	if err != nil {
		t.Fatal(err)
	}
	return fit
}

// penalties of a problem's strengths: the Lasso or elastic net of its first
// strength, and the weighted Lasso of all.
func scalar(t *testing.T, q *oracle.Problem) model.Penalty {
	t.Helper()
	g, err := model.Lasso(math.Log(q.Alpha[0]))
	if q.Ridge > 0 {
		g, err = model.ElasticNet(math.Log(q.Alpha[0]), math.Log(q.Ridge))
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func weighted(t *testing.T, q *oracle.Problem) model.Penalty {
	t.Helper()
	logs := make([]float64, len(q.Alpha))
	for j, a := range q.Alpha {
		logs[j] = math.Log(a)
	}
	g, err := model.WeightedLasso(logs)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// holdOut draws validation rows and takes their weight away.
func holdOut(r *oracle.Random, q *oracle.Problem) (rows []int) {
	weights := make([]float64, len(q.Y))
	for i := range weights {
		weights[i] = q.Weight(i)
		if r.Intn(4) == 0 {
			weights[i] = 0
			rows = append(rows, i)
		}
	}
	q.Weights = weights
	if rows == nil {
		weights[0], rows = 0, []int{0}
	}
	return rows
}

// outerOf is the mean squared error's dependence on the predictions of β.
func outerOf(q *oracle.Problem, beta []float64, rows []int) implicit.Outer {
	s := &oracle.Solution{Beta: beta, Intercept: q.BestIntercept(beta)}
	_, slope := q.MeanSquaredError(q.Predictions(s), rows)
	curvature := make([]float64, len(slope))
	for _, i := range rows {
		curvature[i] = 2 / float64(len(rows))
	}
	return implicit.Outer{Slope: slope, Curvature: curvature}
}

// gradientAt differentiates the hold-out error at β.
func gradientAt(t *testing.T, s *implicit.Solver, g model.Penalty, q *oracle.Problem, beta []float64, rows []int, o implicit.Options) *implicit.Hypergradient {
	t.Helper()
	outer := outerOf(q, beta, rows)
	sol := oracle.Solution{Beta: beta}
	cols, coef := sol.Support()
	h, err := s.Solve(context.Background(), g, implicit.Point{Support: cols, Coef: coef, KKT: -1}, outer, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// valueAt is the hold-out error of the exact solution with all strengths and
// the ridge shifted.
func valueAt(q *oracle.Problem, start []float64, rows []int, each []float64, ridge float64) float64 {
	c := q.Clone()
	c.Ridge *= math.Exp(ridge)
	for j := range c.Alpha {
		c.Alpha[j] *= math.Exp(each[j])
	}
	value, _ := c.MeanSquaredError(c.Predictions(c.SolveFrom(start)), rows)
	return value
}

func constant(v float64, p int) []float64 {
	out := make([]float64, p)
	for j := range out {
		out[j] = v
	}
	return out
}

// smooth draws a problem whose support does not change within ±1e-2 in λ.
func smooth(r *oracle.Random) (q *oracle.Problem, best *oracle.Solution, rows []int) {
	for {
		q = r.Problem(oracle.Shape{
			N: 30 + r.Intn(30), P: 3 + r.Intn(20), Density: r.Pick(0.5, 1),
			Correlation: r.Pick(0, 0.5), Mean: r.Pick(0, 2), Weights: r.Intn(2) == 0,
		})
		q.Intercept = r.Intn(2) == 0
		rows = holdOut(r, q)
		q.Uniform(q.AlphaMax() * math.Exp(-1-3*r.Float64()))
		if r.Intn(2) == 0 {
			q.Ridge = math.Exp(-3 * r.Float64())
		}
		// Strengths as the library's e^λ has them.
		for j := range q.Alpha {
			q.Alpha[j] = kernels.Exp(math.Log(q.Alpha[j]))
		}
		best = q.Solve()
		out, in := q.Margins(best)
		if best.Exact && out > 0.05 && in > 0.05 {
			return q, best, rows
		}
	}
}

// TestAgainstDifferences: G1. The implicit gradient is the limit of central
// differences, which approach it with the square of their step.
func TestAgainstDifferences(t *testing.T) {
	for seed := range oracle.Cases(30) {
		r := oracle.NewRandom(seed)
		q, best, rows := smooth(r)
		_, p := q.Dims()
		g := scalar(t, q)
		h := gradientAt(t, implicit.New(fitOf(t, q, seed%2 == 0)), g, q, best.Beta, rows, implicit.Options{Tol: 1e-14})
		if h.Status != outcome.Converged && h.Status != outcome.LinearSystemStalled { // 1e-14 may be out of reach
			t.Errorf("seed %d: %s", seed, h.Status)
		}
		difference := func(i int, step float64) float64 {
			at := func(s float64) float64 {
				if i == 0 {
					return valueAt(q, best.Beta, rows, constant(s, p), 0)
				}
				return valueAt(q, best.Beta, rows, constant(0, p), s)
			}
			return (at(step) - at(-step)) / (2 * step)
		}
		for i, got := range h.Gradient {
			scale := math.Abs(difference(i, 1e-4))
			if scale < 1e-3*valueAt(q, best.Beta, rows, constant(0, p), 0) {
				continue // near a stationary point a relative error says little
			}
			if e := math.Abs(got-difference(i, 1e-4)) / scale; e > 1e-6 {
				t.Errorf("seed %d, λ%d: gradient %.12g, differences %.12g", seed, i+1, got, difference(i, 1e-4))
			}
			a, b := math.Abs(got-difference(i, 1e-2)), math.Abs(got-difference(i, 1e-3))
			if a > 1e-7*scale && (a/b < 50 || a/b > 200) {
				t.Errorf("seed %d, λ%d: errors %.2e and %.2e at steps 1e-2 and 1e-3", seed, i+1, a, b)
			}
		}
	}
}

// TestAgainstDenseSolves: the bordered system of the intercept, solved densely,
// gives the same numbers, in the forward and in the adjoint form; and with
// equal strengths the weighted gradient sums to the scalar one.
func TestAgainstDenseSolves(t *testing.T) {
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(1000 + seed)
		q, best, rows := smooth(r)
		fit := fitOf(t, q, seed%2 == 0)
		outer := outerOf(q, best.Beta, rows)
		common, ridge, each, ok := q.Hypergradient(best.Beta, outer.Slope)
		if !ok {
			t.Fatalf("seed %d: singular", seed)
		}
		size := math.Abs(common) + math.Abs(ridge)
		for _, e := range each {
			size = math.Max(size, math.Abs(e))
		}
		s := implicit.New(fit)
		h := gradientAt(t, s, scalar(t, q), q, best.Beta, rows, implicit.Options{Tol: 1e-12})
		if math.Abs(h.Gradient[0]-common) > 1e-9*size || (len(h.Gradient) > 1 && math.Abs(h.Gradient[1]-ridge) > 1e-9*size) {
			t.Errorf("seed %d: forward %v, dense %g and %g", seed, h.Gradient, common, ridge)
		}
		forward := h.Gradient[0]
		if q.Ridge > 0 {
			continue
		}
		h = gradientAt(t, s, weighted(t, q), q, best.Beta, rows, implicit.Options{Tol: 1e-12})
		var sum float64
		k := 0
		for j, b := range best.Beta {
			if b == 0 {
				continue
			}
			if math.Abs(h.Gradient[k]-each[j]) > 1e-9*size {
				t.Errorf("seed %d: ∂/∂λ_%d = %.12g, dense %.12g", seed, j, h.Gradient[k], each[j])
			}
			sum += h.Gradient[k]
			k++
		}
		if k != len(h.Gradient) {
			t.Errorf("seed %d: %d entries for a support of %d", seed, len(h.Gradient), k)
		}
		if math.Abs(sum-forward) > 1e-9*size {
			t.Errorf("seed %d: the weighted gradient sums to %.12g, the scalar one is %.12g", seed, sum, forward)
		}
	}
}

// TestWeightedAgainstDifferences: one λ per column, on and off the support.
func TestWeightedAgainstDifferences(t *testing.T) {
	for seed := range oracle.Cases(12) {
		r := oracle.NewRandom(2000 + seed)
		q, best, rows := smooth(r)
		q.Ridge = 0
		_, p := q.Dims()
		for j := range q.Alpha {
			q.Alpha[j] *= 0.8 + 0.4*r.Float64()
		}
		best = q.SolveFrom(best.Beta)
		if out, in := q.Margins(best); !best.Exact || out < 0.01 || in < 0.01 {
			continue
		}
		h := gradientAt(t, implicit.New(fitOf(t, q, true)), weighted(t, q), q, best.Beta, rows, implicit.Options{Tol: 1e-14})
		size := 0.0
		for _, v := range h.Gradient {
			size = math.Max(size, math.Abs(v))
		}
		k := 0
		for j, b := range best.Beta {
			at := func(step float64) float64 {
				each := make([]float64, p)
				each[j] = step
				return valueAt(q, best.Beta, rows, each, 0)
			}
			const step = 1e-4
			want, got := (at(step)-at(-step))/(2*step), 0.0
			if b != 0 {
				got = h.Gradient[k]
				k++
			}
			if math.Abs(got-want) > 1e-6*size {
				t.Errorf("seed %d: ∂/∂λ_%d = %.10g, differences %.10g (β = %g)", seed, j, got, want, b)
			}
		}
	}
}

// TestErrorBoundHolds: G3. Over inner tolerances from 1e-2 to 1e-12, with the
// right support, the estimate covers the true error in 99 of 100 cases, and
// the error shrinks at least like the distance to the solution.
func TestErrorBoundHolds(t *testing.T) {
	cases, missed, vague := 0, 0, 0
	var slope oracle.Sum
	slopes := 0
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(3000 + seed)
		q, best, rows := smooth(r)
		fit, g := fitOf(t, q, true), scalar(t, q)
		s := implicit.New(fit)
		outer := outerOf(q, best.Beta, rows)
		common, ridge, _, _ := q.Hypergradient(best.Beta, outer.Slope)
		truth := []float64{common, ridge}
		direction := make([]float64, len(best.Beta))
		largest := 0.0
		for j, b := range best.Beta {
			if b != 0 {
				direction[j] = r.Normal()
			}
			largest = math.Max(largest, math.Abs(b))
		}
		first, last, firstDistance, lastDistance := 0.0, 0.0, 0.0, 0.0
		for tol := 1e-2; tol > 1e-13; tol /= 10 {
			distance := math.Sqrt(tol) * 0.1 * largest
			beta := append([]float64(nil), best.Beta...)
			flipped := false
			for j, d := range direction {
				if best.Beta[j] != 0 {
					beta[j] += distance * d
					flipped = flipped || beta[j]*best.Beta[j] <= 0
				}
			}
			if flipped {
				continue // the support is not right
			}
			// The linear system as bilevel would solve it.
			h := gradientAt(t, s, g, q, beta, rows, implicit.Options{Tol: 0.01 * math.Sqrt(tol)})
			miss := 0.0
			for i, v := range h.Gradient {
				miss = math.Max(miss, math.Abs(v-truth[i]))
			}
			cases++
			if miss > h.ErrorBound+1e-13*(math.Abs(common)+math.Abs(ridge)) {
				missed++
				t.Logf("seed %d, tolerance %.0e: error %.2e, bound %.2e; ridge %g, %v against %v", seed, tol, miss, h.ErrorBound, q.Ridge, h.Gradient, truth)
			}
			if h.ErrorBound > 1e4*miss && miss > 0 {
				vague++
			}
			if first == 0 {
				first, firstDistance = miss, distance
			}
			last, lastDistance = miss, distance
		}
		if first > 0 && last > 0 && lastDistance < 1e-3*firstDistance {
			slope.Add(math.Log(first/last) / math.Log(firstDistance/lastDistance))
			slopes++
		}
	}
	if float64(missed) > 0.01*float64(cases) {
		t.Errorf("the bound is below the error in %d of %d cases", missed, cases)
	}
	if float64(vague) > 0.1*float64(cases) {
		t.Errorf("the bound is 10,000 times the error or more in %d of %d cases", vague, cases)
	}
	// distance ~ √gap: a slope of 0.45 in √gap asked for, one in distance expected.
	if mean := slope.Value() / float64(slopes); mean < 0.9 {
		t.Errorf("the error shrinks with exponent %.2f of the distance", mean)
	}
}

// TestErrorBoundOfWeightedGradients: the same for one λ per column, where the
// largest entry counts.
func TestErrorBoundOfWeightedGradients(t *testing.T) {
	cases, missed, vague := 0, 0, 0
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(6000 + seed)
		q, best, rows := smooth(r)
		if q.Ridge > 0 {
			continue
		}
		s, g := implicit.New(fitOf(t, q, true)), weighted(t, q)
		outer := outerOf(q, best.Beta, rows)
		_, _, each, _ := q.Hypergradient(best.Beta, outer.Slope)
		size := 0.0
		for _, v := range each {
			size = math.Max(size, math.Abs(v))
		}
		for tol := 1e-2; tol > 1e-13; tol /= 10 {
			beta := append([]float64(nil), best.Beta...)
			flipped := false
			for j, b := range best.Beta {
				beta[j] += b * 0.1 * math.Sqrt(tol) * r.Normal()
				flipped = flipped || beta[j]*b < 0
			}
			if flipped {
				continue
			}
			h := gradientAt(t, s, g, q, beta, rows, implicit.Options{Tol: 0.01 * math.Sqrt(tol)})
			miss, k := 0.0, 0
			for j, b := range best.Beta {
				if b != 0 {
					miss = math.Max(miss, math.Abs(h.Gradient[k]-each[j]))
					k++
				}
			}
			cases++
			if miss > h.ErrorBound+1e-13*size {
				missed++
				t.Logf("seed %d, tolerance %.0e: error %.2e, bound %.2e", seed, tol, miss, h.ErrorBound)
			}
			if h.ErrorBound > 1e4*miss && miss > 0 {
				vague++
			}
		}
	}
	if float64(missed) > 0.01*float64(cases) {
		t.Errorf("the bound is below the error in %d of %d cases", missed, cases)
	}
	if float64(vague) > 0.1*float64(cases) {
		t.Errorf("the bound is 10,000 times the error or more in %d of %d cases", vague, cases)
	}
}

// TestKKTOfForeignCoefficients: β may come from any solver; its residual is
// computed where the caller does not vouch for it, and taken where he does.
func TestKKTOfForeignCoefficients(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(4000 + seed)
		q, best, rows := smooth(r)
		s, g := implicit.New(fitOf(t, q, seed%2 == 0)), scalar(t, q)
		beta := append([]float64(nil), best.Beta...)
		for j := range beta {
			if beta[j] != 0 {
				beta[j] += 0.01 * r.Normal()
			} else if r.Intn(4) == 0 {
				beta[j] = 0.01
			}
		}
		rho, _ := q.KKT(beta, q.BestIntercept(beta))
		worst := 0.0
		for _, v := range rho {
			worst = math.Max(worst, v)
		}
		h := gradientAt(t, s, g, q, beta, rows, implicit.Options{})
		if math.Abs(h.KKT-worst) > 1e-12*(1+worst) {
			t.Errorf("seed %d: KKT residual %.12g, want %.12g", seed, h.KKT, worst)
		}
		outer := outerOf(q, beta, rows)
		sol := oracle.Solution{Beta: beta}
		cols, coef := sol.Support()
		h, err := s.Solve(context.Background(), g, implicit.Point{Support: cols, Coef: coef, KKT: 0.125}, outer, implicit.Options{})
		if err != nil || h.KKT != 0.125 {
			t.Errorf("seed %d: %v, %v", seed, h, err)
		}
	}
}

// TestFlatOnAnEmptySupport: nothing moves with λ.
func TestFlatOnAnEmptySupport(t *testing.T) {
	r := oracle.NewRandom(1)
	q := r.Problem(oracle.Shape{N: 20, P: 5})
	rows := holdOut(r, q)
	zero := make([]float64, 5)
	for _, ratio := range []float64{1, 1 + 0x1p-40, 2, 1e3} {
		q.Uniform(q.AlphaMax() * ratio)
		s := implicit.New(fitOf(t, q, true))
		h := gradientAt(t, s, scalar(t, q), q, zero, rows, implicit.Options{})
		if h.Status != outcome.Flat || len(h.Gradient) != 1 || h.Gradient[0] != 0 || h.ErrorBound != 0 {
			t.Errorf("Lasso at %g·αmax: %+v", ratio, h)
		}
		if h = gradientAt(t, s, weighted(t, q), q, zero, rows, implicit.Options{}); h.Status != outcome.Flat || len(h.Gradient) != 0 {
			t.Errorf("weighted Lasso at %g·αmax: %+v", ratio, h)
		}
		c := q.Clone()
		c.Ridge = 1
		if h = gradientAt(t, s, scalar(t, c), c, zero, rows, implicit.Options{}); h.Status != outcome.Flat || len(h.Gradient) != 2 || h.Gradient[1] != 0 {
			t.Errorf("elastic net at %g·αmax: %+v", ratio, h)
		}
	}
}

// TestSingularSystemsAreNotDifferentiable: with a column twice in the support
// and validation rows where the copies differ, the derivative with respect to
// each one's λ does not exist; that must be said. Forward, the system is
// consistent.
func TestSingularSystemsAreNotDifferentiable(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(5000 + seed)
		q := r.Problem(oracle.Shape{N: 40, P: 8})
		q.Intercept = seed%2 == 0
		rows := holdOut(r, q)
		for i := range q.X { // column 1 repeats column 0 on the training rows only
			if q.Weight(i) > 0 {
				q.X[i][1] = q.X[i][0]
			}
		}
		q.Uniform(0.05 * q.AlphaMax())
		best := q.Clone()
		best.Alpha[1] = math.Inf(1)
		beta := best.Solve().Beta
		if beta[0] == 0 {
			continue
		}
		beta[0], beta[1] = beta[0]/2, beta[0]/2
		s := implicit.New(fitOf(t, q, seed%3 == 0))
		h := gradientAt(t, s, weighted(t, q), q, beta, rows, implicit.Options{Tol: 1e-10})
		if h.Status == outcome.Converged || h.Status == outcome.Flat {
			t.Errorf("seed %d: adjoint on a singular system: %s, margin %g, gradient %v", seed, h.Status, h.InjectivityMargin, h.Gradient)
		}
		for _, v := range h.Gradient {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("seed %d: gradient %v", seed, h.Gradient)
			}
		}
		// From any start, the one just left included: the minimal solution of the
		// consistent system is the limit of the elastic net as its ridge vanishes.
		for name, s := range map[string]*implicit.Solver{"cold": implicit.New(fitOf(t, q, true)), "warm": s} {
			h = gradientAt(t, s, scalar(t, q), q, beta, rows, implicit.Options{Tol: 1e-10})
			if h.Status != outcome.Converged {
				continue
			}
			c := q.Clone()
			c.Ridge = 1e-7
			outer := outerOf(c, beta, rows)
			if want, _, _, ok := c.Hypergradient(beta, outer.Slope); ok && math.Abs(h.Gradient[0]-want) > 1e-4*math.Abs(want)+1e-6 {
				t.Errorf("seed %d, %s: %g, as limit of the elastic net %g", seed, name, h.Gradient[0], want)
			}
		}
	}
}

// TestStalledSystemsSaySo: too few iterations for the tolerance.
func TestStalledSystemsSaySo(t *testing.T) {
	r := oracle.NewRandom(3)
	q := r.Problem(oracle.Shape{N: 60, P: 30, Correlation: 0.9})
	rows := holdOut(r, q)
	q.Uniform(1e-3 * q.AlphaMax())
	best := q.Solve()
	s := implicit.New(fitOf(t, q, true))
	for _, g := range []model.Penalty{scalar(t, q), weighted(t, q)} {
		if h := gradientAt(t, s, g, q, best.Beta, rows, implicit.Options{Tol: 1e-12, MaxIterations: 2}); h.Status != outcome.LinearSystemStalled {
			t.Errorf("%s after %d iterations", h.Status, h.Iterations)
		}
	}
}

func TestCancelled(t *testing.T) {
	r := oracle.NewRandom(3)
	q, best, rows := smooth(r)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	outer := outerOf(q, best.Beta, rows)
	cols, coef := best.Support()
	h, err := implicit.New(fitOf(t, q, true)).Solve(ctx, scalar(t, q), implicit.Point{Support: cols, Coef: coef}, outer, implicit.Options{})
	if err != nil || h.Status != outcome.Cancelled {
		t.Errorf("%v, %+v", err, h)
	}
}

// TestWarmStartsChangeNothing: a solver that has been elsewhere, on another
// support and another penalty, returns the same to its tolerance.
func TestWarmStartsChangeNothing(t *testing.T) {
	r := oracle.NewRandom(12)
	q, _, rows := smooth(r)
	q.Ridge = 0
	top := q.AlphaMax()
	warm := implicit.New(fitOf(t, q, true))
	for step := range 12 {
		c := q.Clone().Uniform(top * math.Exp(-4*r.Float64()))
		best := c.Solve()
		for _, g := range []model.Penalty{scalar(t, c), weighted(t, c)} {
			a := gradientAt(t, warm, g, c, best.Beta, rows, implicit.Options{Tol: 1e-12})
			b := gradientAt(t, implicit.New(fitOf(t, c, true)), g, c, best.Beta, rows, implicit.Options{Tol: 1e-12})
			for k := range b.Gradient {
				if math.Abs(a.Gradient[k]-b.Gradient[k]) > 1e-9*(1e-3+math.Abs(b.Gradient[k])) {
					t.Errorf("step %d: %g warm, %g cold", step, a.Gradient[k], b.Gradient[k])
				}
			}
		}
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	r := oracle.NewRandom(1)
	q := r.Problem(oracle.Shape{N: 6, P: 4})
	q.Uniform(0.1)
	s, g := implicit.New(fitOf(t, q, true)), scalar(t, q)
	outer := implicit.Outer{Slope: make([]float64, 6), Curvature: make([]float64, 6)}
	for _, c := range []struct {
		name  string
		at    implicit.Point
		outer implicit.Outer
		kind  outcome.Kind
	}{
		{"no slope", implicit.Point{}, implicit.Outer{}, outcome.Shape},
		{"short curvature", implicit.Point{}, implicit.Outer{Slope: outer.Slope, Curvature: outer.Curvature[:5]}, outcome.Shape},
		{"lengths", implicit.Point{Support: []int32{1, 2}, Coef: []float64{1}}, outer, outcome.Shape},
		{"negative column", implicit.Point{Support: []int32{-1}, Coef: []float64{1}}, outer, outcome.Shape},
		{"column beyond p", implicit.Point{Support: []int32{4}, Coef: []float64{1}}, outer, outcome.Shape},
		{"not ascending", implicit.Point{Support: []int32{2, 1}, Coef: []float64{1, 1}}, outer, outcome.Shape},
		{"twice", implicit.Point{Support: []int32{1, 1}, Coef: []float64{1, 1}}, outer, outcome.Shape},
		{"zero", implicit.Point{Support: []int32{1}, Coef: []float64{0}}, outer, outcome.NonFinite},
		{"NaN", implicit.Point{Support: []int32{1}, Coef: []float64{math.NaN()}}, outer, outcome.NonFinite},
		{"Inf", implicit.Point{Support: []int32{1}, Coef: []float64{math.Inf(1)}}, outer, outcome.NonFinite},
	} {
		_, err := s.Solve(context.Background(), g, c.at, c.outer, implicit.Options{})
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != c.kind {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if w := weighted(t, &oracle.Problem{Alpha: []float64{1, 1, 1}}); true {
		_, err := s.Solve(context.Background(), w, implicit.Point{Support: []int32{3}, Coef: []float64{1}, KKT: -1}, outer, implicit.Options{})
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != outcome.Shape {
			t.Errorf("3 strengths for 4 columns: %v", err)
		}
	}
}

// printed evaluates a formula of the paper as printed and as corrected, on the
// same problem, beside central differences.
type printed struct {
	q    *oracle.Problem
	best *oracle.Solution
	cols []int32
	rows []int
}

// draw makes a plain problem: no weights, no intercept, as in the paper. The
// validation rows are a problem's own, so that nothing else is in the way.
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

// TestErratumScaleOfTheLasso: appendix A writes the Lasso with (1/n)‖y − Xβ‖²,
// but A = X_SᵀX_S/n and B = −e^λ sign β belong to 1/2n; for the objective as
// printed A is twice that.
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
	// The problem as printed, (1/n)‖y − Xβ‖² + e^λ‖β‖₁, is ours at half the strength.
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

// TestErratumElasticNetBox: A must contain the ridge, on its diagonal.
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
		h := gradientAt(t, implicit.New(fitOf(t, d.q, true)), scalar(t, d.q), d.q, d.best.Beta, d.rows, implicit.Options{Tol: 1e-13})
		if !near(h.Gradient[i], want) {
			t.Errorf("λ%d: solver %.10g, differences %.10g", i+1, h.Gradient[i], want)
		}
	}
}

// TestErratumWeightedLassoScatters: vᵀB lives on the support; in R^p its k-th
// entry belongs to the k-th column of the support, not to column k.
func TestErratumWeightedLassoScatters(t *testing.T) {
	d := drawPrinted(3, 0)
	if int(d.cols[len(d.cols)-1]) == len(d.cols)-1 {
		t.Fatal("the support is the first columns: nothing to tell apart")
	}
	h := gradientAt(t, implicit.New(fitOf(t, d.q, true)), weighted(t, d.q), d.q, d.best.Beta, d.rows, implicit.Options{Tol: 1e-13})
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

// TestErratumDivideByValidationRows: the criterion divides by n_val, and n in
// 1/2n is the fold's n_train. The text's sum is n_val times as much.
func TestErratumDivideByValidationRows(t *testing.T) {
	d := drawPrinted(4, 0)
	h := gradientAt(t, implicit.New(fitOf(t, d.q, true)), scalar(t, d.q), d.q, d.best.Beta, d.rows, implicit.Options{Tol: 1e-13})
	want := d.difference(1, 0)
	if !near(h.Gradient[0], want) {
		t.Errorf("%.10g, differences of the mean %.10g", h.Gradient[0], want)
	}
	if near(float64(len(d.rows))*h.Gradient[0], want) {
		t.Error("the sum agrees with the mean")
	}
	// n of all rows in place of n_train is another problem.
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
