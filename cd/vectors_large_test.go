package cd_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// largeCase draws a problem of support vectors: classification or regression, with or without an intercept, weights,
// scales and copies of rows, dense or sparse, with more rows than columns or fewer.
func largeCase(t *testing.T, seed uint64) (q *oracle.Problem, o model.VectorsOptions, fit *model.Vectors, at []float64) {
	t.Helper()
	r := oracle.NewRandom(5000 + seed)
	q = r.Problem(oracle.Shape{N: 8 + r.Intn(60), P: 2 + r.Intn(60), Density: r.Pick(0.3, 1), Mean: r.Pick(0, 1), Weights: seed%3 == 0})
	o = model.VectorsOptions{Classes: seed%2 == 0, Intercept: seed%4 < 2, Standardise: seed%7 == 0}
	if o.Classes {
		q.Classes(r)
	}
	if seed%5 == 0 {
		for i := range len(q.X) / 2 {
			q.X[len(q.X)-1-i], q.Y[len(q.X)-1-i] = q.X[i], q.Y[i]
		}
	}
	o.Weights = q.Weights
	fit, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, seed%8 < 4), q.Y, o)
	if err != nil {
		return q, o, nil, nil // all labels are the same
	}
	return q, o, fit, []float64{math.Log(r.Pick(1e-3, 0.03, 0.3)), math.Log(r.Pick(0.03, 0.3))}[:fit.Hyperparameters()]
}

func solveVectors(t *testing.T, fit *model.Vectors, open func(*model.Vectors) (*cd.Vectors, error), at []float64, o cd.Options) *cd.VectorsSolution {
	t.Helper()
	solver, err := open(fit)
	if err != nil {
		t.Fatal(err)
	}
	s, err := solver.Solve(t.Context(), at, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// onlySolution reports whether a solution is known to be the only one, also in its dual variables: the rows on the
// edges of their tubes, each extended by a 1 if there is an intercept, are independent and inside their intervals,
// and with an intercept there is at least one. Otherwise another solution may have other free rows: between two best
// intercepts no row is free.
func onlySolution(q *oracle.Problem, fit *model.Vectors, s *cd.VectorsSolution) bool {
	const near = 1e-9
	dot := fit.Kernels().Dot
	var basis [][]float64
	for i := range q.Y {
		if q.Weight(i) == 0 || !onEdge(fit, s, i, near) {
			continue
		}
		lower, upper := fit.Interval(i, s.C)
		a := s.Dual[i]
		if edge := near * (upper - lower); a < lower+edge || a > upper-edge || math.Abs(a) < edge {
			return false
		}
		row := []float64{0}
		if fit.Centred() {
			row[0] = 1
		}
		for j, x := range q.X[i] {
			row = append(row, x*fit.Scale(j))
		}
		size := dot(row, row)
		for _, b := range basis {
			along := dot(row, b)
			for j := range row {
				row[j] -= along * b[j]
			}
		}
		left := dot(row, row)
		if left <= near*size {
			return false
		}
		for j := range row {
			row[j] /= math.Sqrt(left)
		}
		basis = append(basis, row)
	}
	return len(basis) > 0 || !fit.Centred()
}

// onEdge reports whether the prediction of a row is on an edge of its tube, or at the kink of its hinge.
func onEdge(fit *model.Vectors, s *cd.VectorsSolution, i int, near float64) bool {
	return math.Abs(math.Abs(fit.Target()[i]-s.Predictions[i])-s.Epsilon) <= near
}

// TestLargeVectors checks problems of which no matrix is factorised. Sweeps must reach the gap asked for, and steps
// by conjugate gradients after them the objective of the exact solution, with free rows on the edges of their tubes.
// If there is no other solution, the free rows must be those of the exact one.
func TestLargeVectors(t *testing.T) {
	compared := 0
	for _, seed := range oracle.Seeds(120, 393, 457, 697, 716, 857, 1132) {
		q, o, fit, at := largeCase(t, seed)
		if fit == nil {
			continue
		}
		swept := solveVectors(t, fit, cd.NewLargeVectors, at, cd.Options{Tol: 1e-6})
		if swept.Status != outcome.Converged || swept.Steps > 0 {
			t.Errorf("seed %d, %+v: %s at %g, %d steps", seed, o, swept.Status, swept.RelativeGap, swept.Steps)
		}
		got := solveVectors(t, fit, cd.NewLargeVectors, at, cd.Options{Tol: 1e-11})
		want := solveVectors(t, fit, cd.NewVectors, at, cd.Options{Tol: 1e-12, Polish: true})
		if got.Status != outcome.Converged || math.Abs(got.Primal-want.Primal) > 2e-11*(1+want.Primal) {
			t.Errorf("seed %d, %+v: %s at %g, objective %.15g, exactly %.15g", seed, o, got.Status, got.RelativeGap, got.Primal, want.Primal)
		}
		if !o.Standardise {
			if primal, dual, _ := vectorObjectives(q, o, got, got.C, got.Epsilon); math.Abs(primal-dual-got.Gap) > 1e-11*(1+primal) {
				t.Errorf("seed %d, %+v: gap %g, the objectives are %g and %g", seed, o, got.Gap, primal, dual)
			}
		}
		for _, s := range []*cd.VectorsSolution{got, want} {
			for _, i := range s.Free {
				if !onEdge(fit, s, int(i), 1e-5) {
					t.Errorf("seed %d, %+v: row %d is free and off its edge, predicted %g", seed, o, i, s.Predictions[i])
				}
			}
		}
		if !onlySolution(q, fit, want) {
			continue
		}
		compared++
		if !slices.Equal(got.Free, want.Free) || !slices.Equal(got.Bound, want.Bound) {
			t.Errorf("seed %d, %+v: free %d, at their ends %d, exactly %d and %d", seed, o, got.Free, got.Bound, want.Free, want.Bound)
		}
	}
	if oracle.Cases(120) >= 120 && compared < int(oracle.Cases(120))/2 {
		t.Errorf("%d only solutions", compared)
	}
}

// TestLargeVectorsSayWhatTheyMissed checks the status of solves whose sweeps are cut short by the number of epochs or
// by the context.
func TestLargeVectorsSayWhatTheyMissed(t *testing.T) {
	_, _, fit, at := largeCase(t, 1)
	for _, polish := range []bool{false, true} {
		s := solveVectors(t, fit, cd.NewLargeVectors, at, cd.Options{Tol: 1e-9, MaxEpochs: 1, Polish: polish})
		if s.Status != outcome.NotConverged || !(s.RelativeGap > 1e-9) {
			t.Errorf("polished %t: %s at %g after %d epochs", polish, s.Status, s.RelativeGap, s.Epochs)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	solver, err := cd.NewLargeVectors(fit)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := solver.Solve(ctx, at, cd.Options{}); err != nil || s.Status != outcome.Cancelled {
		t.Errorf("cancelled: %v, %v", s, err)
	}
}

// TestLargeVectorsOnTheSimplexAreRefused checks that problems on the simplex are refused if no matrix may be
// factorised.
func TestLargeVectorsOnTheSimplexAreRefused(t *testing.T) {
	q := oracle.NewRandom(1).Problem(oracle.Shape{N: 4, P: 3, Density: 1})
	fit, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, model.VectorsOptions{Simplex: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cd.NewLargeVectors(fit); outcome.KindOf(err) != outcome.Limit {
		t.Errorf("%v", err)
	}
}

// TestWideVectors checks that exact solutions after sweeps are those without sweeps, also where the sweeps do not
// converge, as with columns in very different units.
func TestWideVectors(t *testing.T) {
	bySweeps, inside := 0, 0
	for _, seed := range oracle.Seeds(60, 201, 213, 237, 561) {
		r := oracle.NewRandom(5500 + seed)
		q := r.Problem(oracle.Shape{N: 40, P: 6, Density: 1, Mean: r.Pick(0, 1)})
		o := model.VectorsOptions{Classes: seed%2 == 0, Intercept: seed%4 < 2}
		if o.Classes {
			q.Classes(r)
		}
		if seed%3 == 0 {
			for _, row := range q.X {
				for j := range row {
					row[j] *= math.Pow(10, float64(j-3))
				}
			}
		}
		fit, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, o)
		if err != nil {
			continue
		}
		at := []float64{r.Pick(-3, 0, 3), -2}[:fit.Hyperparameters()]
		exact := cd.Options{Tol: 1e-10, Polish: true}
		got, want := solveVectors(t, fit, cd.NewWideVectors, at, exact), solveVectors(t, fit, cd.NewVectors, at, exact)
		if got.Status != outcome.Converged || !slices.Equal(got.Free, want.Free) || !slices.Equal(got.Bound, want.Bound) {
			t.Errorf("seed %d, %+v, λ %g: %s, free %d, at their ends %d, without sweeps %d and %d", seed, o, at, got.Status, got.Free, got.Bound, want.Free, want.Bound)
		}
		if want.Work > got.Work {
			bySweeps++
		} else {
			inside++
		}
	}
	if oracle.Cases(60) == 60 && (bySweeps < 3 || inside < 3) {
		t.Errorf("%d with less work than without sweeps, %d with more", bySweeps, inside)
	}
}
