package cd_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestVectors checks regression and classification, with and without intercept, weights and copies of rows, on few
// rows and many. The point must be feasible, and its gap within the tolerance and equal to that of the two objectives
// by their definitions. Errors are relative to the objective of the null model, as the gap asked for is: with a large
// C the terms of the objectives are that large, however small their sums are.
func TestVectors(t *testing.T) {
	for _, seed := range oracle.Seeds(120, 249, 393, 641, 693, 703) {
		r := oracle.NewRandom(4000 + seed)
		q := r.Problem(oracle.Shape{N: 4 + r.Intn(40), P: 1 + r.Intn(30), Density: r.Pick(0.4, 1), Mean: r.Pick(0, 1), Weights: seed%3 == 0})
		o := model.VectorsOptions{Classes: seed%2 == 0, Intercept: seed%4 < 2}
		if o.Classes {
			q.Classes(r)
		}
		if seed%5 == 0 { // copies of rows
			for i := range len(q.X) / 2 {
				q.X[len(q.X)-1-i], q.Y[len(q.X)-1-i] = q.X[i], q.Y[i]
				if q.Weights != nil {
					q.Weights[len(q.X)-1-i] = q.Weights[i]
				}
			}
		}
		o.Weights = q.Weights
		fit, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, seed%2 == 0), q.Y, o)
		if err != nil {
			continue // all labels are the same
		}
		solver, err := cd.NewVectors(fit)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			c, epsilon := r.Pick(1e-3, 0.1, 10, 1e3), r.Pick(1e-3, 0.3, 1)
			at := []float64{math.Log(c), math.Log(epsilon)}[:fit.Hyperparameters()]
			if o.Classes {
				epsilon = 0
			}
			name := fmt.Sprintf("seed %d, %+v, C %g, ε %g", seed, o, c, epsilon)
			tol := []float64{1e-10, 1e-4, 1e-6}[seed%3]
			s, err := solver.Solve(context.Background(), at, cd.Options{Tol: tol})
			if err != nil {
				t.Fatal(err)
			}
			if s.Status != outcome.Converged || s.RelativeGap > tol {
				t.Errorf("%s: %s at %g", name, s.Status, s.RelativeGap)
			}
			primal, dual, sum := vectorObjectives(q, o, s, s.C, s.Epsilon)
			within := 1e-11 * fit.Null(s.C, s.Epsilon)
			if d := primal - dual; !(math.Abs(d-s.Gap) <= within) || d < -within {
				t.Errorf("%s: gap %g, the objectives are %g and %g", name, s.Gap, primal, dual)
			}
			if o.Intercept && math.Abs(sum) > 1e-11*c*float64(len(q.Y)) {
				t.Errorf("%s: Σa = %g", name, sum)
			}
			for i, a := range s.Dual {
				if lower, upper := fit.Interval(i, s.C); a < lower || a > upper {
					t.Errorf("%s: a_%d = %g is not within %g and %g", name, i, a, lower, upper)
				}
			}
		}
	}
}

// TestVectorsBeginAnew checks that after Reset a solver takes the steps of a new one, to the last bit.
func TestVectorsBeginAnew(t *testing.T) {
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(7000 + seed)
		q := r.Problem(oracle.Shape{N: 6 + r.Intn(30), P: 1 + r.Intn(20), Density: r.Pick(0.4, 1), Weights: seed%3 == 0})
		fit, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, model.VectorsOptions{Intercept: seed%2 == 0, Weights: q.Weights})
		if err != nil {
			t.Fatal(err)
		}
		solve := func(s *cd.Vectors, c, epsilon float64) string {
			solution, err := s.Solve(context.Background(), []float64{math.Log(c), math.Log(epsilon)}, cd.Options{Tol: 1e-10})
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%+v", *solution)
		}
		used, err := cd.NewVectors(fit)
		if err != nil {
			t.Fatal(err)
		}
		solve(used, r.Pick(0.1, 10), r.Pick(1e-3, 0.3))
		used.Reset()
		fresh, err := cd.NewVectors(fit)
		if err != nil {
			t.Fatal(err)
		}
		c, epsilon := r.Pick(1e-3, 0.1, 10), r.Pick(1e-3, 0.3)
		if got, want := solve(used, c, epsilon), solve(fresh, c, epsilon); got != want {
			t.Errorf("seed %d, C %g, ε %g: after Reset\n%s\na new solver\n%s", seed, c, epsilon, got, want)
		}
	}
}

// TestVectorsSolveBadlyScaledColumns checks problems whose gap rises in the first steps of the interior-point method
// before it falls. Exact steps that start with the rows which the method finds at the ends of their intervals reach
// the exact solution, with at most as many free rows as columns and an intercept, in 13 of 28 cases; if they start
// with a coordinate step along each row, in 9.
func TestVectorsSolveBadlyScaledColumns(t *testing.T) {
	exactly, seeds := 0, []uint64{9, 20, 24, 28, 32, 49, 53}[:oracle.Draws(7)]
	for _, seed := range seeds {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 150, P: 7, Density: r.Pick(0.4, 1), Correlation: 0.9, Mean: 1, Weights: seed%3 == 1})
		o := model.VectorsOptions{Classes: seed%2 == 0, Intercept: true, Weights: q.Weights}
		if o.Classes {
			q.Classes(r)
		}
		for _, row := range q.X {
			for j := range row {
				row[j] *= math.Pow(10, float64(j-3))
			}
		}
		fit, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, o)
		if err != nil {
			t.Fatal(err)
		}
		solver, err := cd.NewVectors(fit)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []float64{-2, 0, 3, 6} {
			s, err := solver.Solve(t.Context(), []float64{c, -2}[:fit.Hyperparameters()], cd.Options{Tol: 1e-6})
			if err != nil {
				t.Fatal(err)
			}
			if !(s.RelativeGap <= 1e-4) {
				t.Errorf("seed %d, C = e^%g: %s, gap %g, %d epochs", seed, c, s.Status, s.RelativeGap, s.Epochs)
			}
			exact := solveVectors(t, fit, cd.NewVectors, []float64{c, -2}[:fit.Hyperparameters()], cd.Options{Tol: 1e-9, Polish: true})
			if len(exact.Free) <= 8 {
				exactly++
			}
		}
	}
	if exactly < 12*len(seeds)/7 {
		t.Errorf("%d solutions are exact", exactly)
	}
}

// vectorObjectives returns the primal and dual objectives, by their definitions, and Σa.
func vectorObjectives(q *oracle.Problem, o model.VectorsOptions, s *cd.VectorsSolution, c, epsilon float64) (primal, dual, sum float64) {
	_, p := q.Dims()
	w := make([]float64, p)
	for i, row := range q.X {
		a := s.Dual[i]
		sum += a
		dual += q.Y[i]*a - epsilon*math.Abs(a)
		for j, x := range row {
			w[j] += a * x
		}
	}
	for _, v := range w {
		primal += v * v / 2
		dual -= v * v / 2
	}
	for i, row := range q.X {
		m := s.Intercept
		for j, x := range row {
			m += x * w[j]
		}
		loss := max(0, math.Abs(q.Y[i]-m)-epsilon)
		if o.Classes {
			loss = max(0, 1-q.Y[i]*m)
		}
		primal += c * q.Weight(i) * loss
	}
	return primal, dual, sum
}

// TestVectorsWithoutInterceptAreTheSVM checks that a classification without intercept has the objective that the
// coordinate descent of [cd.SVM] finds, up to the gaps of both, and the same w.
func TestVectorsWithoutInterceptAreTheSVM(t *testing.T) {
	for _, seed := range oracle.Seeds(30, 33, 248, 277) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 10 + r.Intn(40), P: 2 + r.Intn(20), Density: r.Pick(0.4, 1), Weights: seed%3 == 0}).Classes(r)
		fit, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, model.VectorsOptions{Weights: q.Weights, Classes: true})
		if err != nil {
			t.Fatal(err)
		}
		solver, err := cd.NewVectors(fit)
		if err != nil {
			t.Fatal(err)
		}
		at := math.Log(r.Pick(0.01, 1, 10))
		got, err := solver.Solve(context.Background(), []float64{at}, cd.Options{Tol: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		want, err := cd.NewSVM(fixture.SVM(t, nil, q, true)).Solve(context.Background(), at, cd.Options{Tol: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		within := got.Gap + want.Gap + 1e-13*want.Primal
		if got.Status != outcome.Converged || want.Status != outcome.Converged || !(math.Abs(got.Primal-want.Primal) <= within) {
			t.Errorf("seed %d: objective %.15g, by coordinate descent %.15g", seed, got.Primal, want.Primal)
		}
		for j, w := range want.W {
			if !(math.Abs(got.W[j]-w) <= 1e-14+2*math.Sqrt(2*within)) { // each w is within half of this bound of the solution

				t.Errorf("seed %d: w_%d = %g, by coordinate descent %g", seed, j, got.W[j], w)
			}
		}
	}
}

// TestSimplexVectors checks coefficients on the simplex: the gap must be within the tolerance and equal to that of
// the two objectives by their definitions, and no other point of the simplex may be better. There are weights and
// copies of rows, more columns than rows and fewer, dense and sparse.
func TestSimplexVectors(t *testing.T) {
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(900 + seed)
		q := r.Problem(oracle.Shape{N: 3 + r.Intn(40), P: 1 + r.Intn(30), Density: r.Pick(0.4, 1), Mean: r.Pick(0, 1), Weights: seed%3 == 0})
		if seed%5 == 0 {
			for i := range len(q.X) / 2 {
				q.X[len(q.X)-1-i], q.Y[len(q.X)-1-i] = q.X[i], q.Y[i]
			}
		}
		fit, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, seed%2 == 0), q.Y, model.VectorsOptions{Weights: q.Weights, Simplex: true})
		if err != nil {
			t.Fatal(err)
		}
		solver, err := cd.NewVectors(fit)
		if err != nil {
			t.Fatal(err)
		}
		_, p := q.Dims()
		for range 3 {
			c, epsilon := r.Pick(1e-3, 0.03, 1, 30), r.Pick(1e-3, 0.1, 1)
			s, err := solver.Solve(t.Context(), []float64{math.Log(c), math.Log(epsilon)}, cd.Options{Tol: 1e-10})
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("seed %d, C %g, ε %g", seed, c, epsilon)
			if s.Status != outcome.Converged {
				t.Errorf("%s: %s at %g after %d epochs", name, s.Status, s.RelativeGap, s.Epochs)
			}
			sum := 0.0
			for _, w := range s.W {
				if sum += w; w < 0 {
					t.Errorf("%s: w = %g", name, w)
				}
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("%s: Σw = %.15g", name, sum)
			}
			primal := simplexObjective(q, s.W, c, epsilon)
			if dual := simplexDual(q, s.Dual, epsilon); math.Abs(primal-dual-s.Gap) > 1e-11*(1+primal) || math.Abs(primal-s.Primal) > 1e-12*(1+primal) {
				t.Errorf("%s: gap %g, the objectives are %.15g and %.15g", name, s.Gap, primal, dual)
			}
			for range 20 {
				other, total := make([]float64, p), 0.0
				for j, w := range s.W {
					other[j] = w + r.Pick(1e-4, 1e-2, 1)*math.Abs(r.Normal())*float64(r.Intn(2))
					total += other[j]
				}
				for j := range other {
					other[j] /= total
				}
				if better := simplexObjective(q, other, c, epsilon); better < primal-s.Gap-1e-11*(1+primal) {
					t.Errorf("%s: %g, and %g elsewhere", name, primal, better)
				}
			}
		}
	}
}

func simplexObjective(q *oracle.Problem, w []float64, c, epsilon float64) (value float64) {
	for _, v := range w {
		value += v * v / 2
	}
	for i, row := range q.X {
		m := 0.0
		for j, x := range row {
			m += x * w[j]
		}
		value += c * q.Weight(i) * max(0, math.Abs(q.Y[i]-m)-epsilon)
	}
	return value
}

// simplexDual is y'a − ε‖a‖₁ − max over w on the simplex of v'w − ½‖w‖², v = Xᵀa, where w is found
// by bisection of its threshold, below the largest of v.
func simplexDual(q *oracle.Problem, a []float64, epsilon float64) (value float64) {
	_, p := q.Dims()
	v := make([]float64, p)
	for i, row := range q.X {
		value += q.Y[i]*a[i] - epsilon*math.Abs(a[i])
		for j, x := range row {
			v[j] += a[i] * x
		}
	}
	top := slices.Max(v)
	low, high := -1.0, 0.0
	for range 200 {
		middle, sum := (low+high)/2, 0.0
		for _, x := range v {
			sum += max(0, x-top-middle)
		}
		if sum > 1 {
			low = middle
		} else {
			high = middle
		}
	}
	value -= top
	for _, x := range v {
		w := max(0, x-top-high)
		value -= (x-top)*w - w*w/2
	}
	return value
}

// TestVectorsScaleColumnsInSweeps checks that a solve with standardised columns gives the solution of a matrix that
// is already standardised, sparse and dense, by sweeps alone.
func TestVectorsScaleColumnsInSweeps(t *testing.T) {
	for seed := range oracle.Cases(12) {
		r := oracle.NewRandom(600 + seed)
		q := r.Problem(oracle.Shape{N: 60, P: 4, Density: r.Pick(0.5, 1)})
		for i := range 5 {
			clear(q.X[i]) // rows without entries
		}
		k, at, o := fixture.Kernels(t), []float64{-3, -2}, cd.Options{Tol: 1e-6}
		var solutions [2]*cd.VectorsSolution
		for pass := range solutions {
			fit, err := model.NewVectors(k, fixture.Matrix(t, q, seed%2 == 0), q.Y, model.VectorsOptions{Standardise: pass == 0})
			if err != nil {
				t.Fatal(err)
			}
			solver, err := cd.NewVectors(fit)
			if err != nil {
				t.Fatal(err)
			}
			if solutions[pass], err = solver.Solve(t.Context(), at, o); err != nil {
				t.Fatal(err)
			}
			for _, row := range q.X {
				for j := range row {
					row[j] *= fit.Scale(j)
				}
			}
		}
		scaled, plain := solutions[0], solutions[1]
		if scaled.Status != outcome.Converged || scaled.Steps != 0 {
			t.Fatalf("seed %d: %s after %d exact steps", seed, scaled.Status, scaled.Steps)
		}
		if d := math.Abs(scaled.Primal - plain.Primal); d > 2e-6*plain.Primal {
			t.Errorf("seed %d: objectives %g and %g", seed, scaled.Primal, plain.Primal)
		}
		if primal, dual, _ := vectorObjectives(q, model.VectorsOptions{}, scaled, scaled.C, scaled.Epsilon); math.Abs(primal-dual-scaled.Gap) > 1e-10*primal {
			t.Errorf("seed %d: gap %g, from the objectives %g", seed, scaled.Gap, primal-dual)
		}
	}
}

// TestSweepsFindTheIntercept checks that sweeps alone reach the objective and the w of the exact solution, as closely
// as the gap says, on dense and sparse rows, weighted and standardised, some without entries and some of weight 0. If
// the tolerance is below rounding, sweeps must end all the same.
func TestSweepsFindTheIntercept(t *testing.T) {
	const tol = 1e-6
	for _, seed := range oracle.Seeds(24, 30, 75, 225) {
		r := oracle.NewRandom(900 + seed)
		q := r.Problem(oracle.Shape{N: 50, P: 10, Density: r.Pick(0.5, 1), Mean: r.Pick(0, 1), Weights: seed%3 == 0})
		for i := range 4 {
			clear(q.X[i])
		}
		if q.Weights != nil {
			q.Weights[3], q.Weights[4] = 0, 0
		}
		o := model.VectorsOptions{Classes: seed%2 == 0, Intercept: true, Standardise: seed%4 < 2, Weights: q.Weights}
		if o.Classes {
			q.Classes(r)
		}
		fit, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, seed%8 < 4), q.Y, o)
		if err != nil {
			t.Fatal(err)
		}
		var solvers [2]*cd.Vectors
		for k := range solvers {
			if solvers[k], err = cd.NewVectors(fit); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []float64{1e-9, 0.01, 0.1} {
			at := []float64{math.Log(c), -2}[:fit.Hyperparameters()]
			exact, err := solvers[0].Solve(t.Context(), at, cd.Options{Tol: 1e-12, Polish: true})
			if err != nil || exact.Status != outcome.Converged {
				t.Fatalf("seed %d, C %g: exactly %v, %v", seed, c, exact, err)
			}
			swept, reached, err := cd.SweepVectors(t.Context(), solvers[1], at, cd.Options{Tol: tol, MaxEpochs: 1 << 20}, true)
			if err != nil || !reached || swept.Steps != 0 {
				t.Errorf("seed %d, C %g: reached %t, gap %g, %v", seed, c, reached, swept.RelativeGap, err)
			}
			within := swept.Gap + exact.Gap + 1e-13*exact.Primal
			if d := swept.Primal - exact.Primal; math.Abs(d) > within {
				t.Errorf("seed %d, C %g: objectives %g and %g, gap %g", seed, c, swept.Primal, exact.Primal, swept.Gap)
			}
			squares := fit.Squares()
			for i, m := range swept.Predictions {
				d := m - swept.Intercept - (exact.Predictions[i] - exact.Intercept)
				if least := 1e-12 * (1 + math.Abs(m)); math.Abs(d) > least+math.Sqrt(2*within*squares[i]) {
					t.Errorf("seed %d, C %g, row %d: predictions %g apart, gap %g", seed, c, i, d, swept.Gap)
				}
			}
			if _, reached, err := cd.SweepVectors(t.Context(), solvers[1], at, cd.Options{Tol: 1e-30, MaxEpochs: 1 << 30}, false); err != nil || reached && swept.Gap != 0 {
				t.Errorf("seed %d, C %g: a gap of 1e-30 reached: %t, %v", seed, c, reached, err)
			}
		}
	}
}

// TestRowsWithoutEntriesTellTheIntercept checks rows whose prediction is the intercept alone: one of them may be
// free, and is among the free rows of the exact solution.
func TestRowsWithoutEntriesTellTheIntercept(t *testing.T) {
	weights := []float64{1, 1, 1, 1, 1, 1, 1.5}
	q := &oracle.Problem{X: [][]float64{{1}, {-1}, {0.5}, {0}, {0}, {0}, {0}}, Y: []float64{2, -2, 1.2, -3, -1, 0.7, 4}}
	fit, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, false), q.Y, model.VectorsOptions{Intercept: true, Weights: weights})
	if err != nil {
		t.Fatal(err)
	}
	solver, err := cd.NewVectors(fit)
	if err != nil {
		t.Fatal(err)
	}
	for _, tol := range []float64{1e-4, 1e-12} {
		solver.Reset()
		s, err := solver.Solve(t.Context(), []float64{0, -3}, cd.Options{Tol: tol})
		if err != nil {
			t.Fatal(err)
		}
		if s.Status != outcome.Converged || len(s.Free) > 2 {
			t.Errorf("tolerance %g: %s, free rows %v, at their ends %v", tol, s.Status, s.Free, s.Bound)
		}
		if tol < 1e-4 && !slices.ContainsFunc(s.Free, func(i int32) bool { return i >= 3 }) {
			t.Errorf("free rows %v have entries all", s.Free)
		}
	}
}

// TestStepsOnTheSimplexAreAsLongAsItsFaceAllows checks that the step length follows the columns on the face of the
// solution: of a thousand columns it has few, and the norm of all columns would make steps far too short.
func TestStepsOnTheSimplexAreAsLongAsItsFaceAllows(t *testing.T) {
	r := oracle.NewRandom(3)
	q := r.Problem(oracle.Shape{N: 20, P: 1000, Density: 1})
	fit, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, model.VectorsOptions{Simplex: true})
	if err != nil {
		t.Fatal(err)
	}
	solver, err := cd.NewVectors(fit)
	if err != nil {
		t.Fatal(err)
	}
	s, err := solver.Solve(t.Context(), []float64{2, -3}, cd.Options{Tol: 1e-10})
	if err != nil {
		t.Fatal(err)
	}
	if s.Status != outcome.Converged || s.Epochs > 500 {
		t.Errorf("%s after %d steps, gap %g", s.Status, s.Epochs, s.RelativeGap)
	}
}

// TestStepsInsideTheSimplexDoNotDependOnC checks problems on the simplex for which the number of accelerated steps
// grows with C, so that the interior-point method has to solve them: of more rows than columns and fewer, dense and
// sparse, with weights and a column without entries. The gap must be that of the objectives; for the smaller C it
// must be at the level of rounding, with fewer free rows than nonzero coefficients.
func TestStepsInsideTheSimplexDoNotDependOnC(t *testing.T) {
	for _, seed := range oracle.Seeds(12, 17, 19, 36, 58, 72) {
		r := oracle.NewRandom(300 + seed)
		shape := oracle.Shape{N: 120, P: 60, Density: r.Pick(0.3, 1), Mean: 1, Weights: seed%3 == 0}
		if seed%2 == 1 {
			shape.N, shape.P = 60, 120
		}
		q := r.Problem(shape)
		for _, row := range q.X {
			row[3] = 0
		}
		fit, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, seed%4 < 2), q.Y, model.VectorsOptions{Weights: q.Weights, Simplex: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []float64{1, 100, 1e4, 1e6} {
			tol := 1e-8
			if c <= 100 {
				tol = 1e-14
			}
			s := solveVectors(t, fit, cd.NewVectors, []float64{math.Log(c), math.Log(0.1)}, cd.Options{Tol: tol})
			sum, inside := 0.0, 0
			for _, w := range s.W {
				if sum += w; w > 0 {
					inside++
				}
			}
			if s.Status != outcome.Converged || s.Epochs > 1500 || !(math.Abs(sum-1) <= 1e-13) || tol < 1e-8 && len(s.Free) >= inside {
				t.Errorf("seed %d, C %g: %s after %d steps, gap %g, Σw − 1 = %g, %d rows free and %d columns", seed, c, s.Status, s.Epochs, s.RelativeGap, sum-1, len(s.Free), inside)
			}
			primal := simplexObjective(q, s.W, s.C, s.Epsilon)
			if dual := simplexDual(q, s.Dual, s.Epsilon); !(math.Abs(primal-dual-s.Gap) <= 1e-12*primal) {
				t.Errorf("seed %d, C %g: gap %g, the objectives are %.15g and %.15g", seed, c, s.Gap, primal, dual)
			}
		}
	}
}
