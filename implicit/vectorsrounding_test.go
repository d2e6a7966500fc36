package implicit_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestVectorsBoundHoldsTheRoundingOfSumsThatCancel checks rows at a bound that are far from 0, by hand: a free row
// (x₁, x₂) of two columns determines w = (t, 1−t) on the simplex whatever C is, and dt/d ln ε = ∓ε/(x₁ − x₂).
func TestVectorsBoundHoldsTheRoundingOfSumsThatCancel(t *testing.T) {
	const n, epsilon = 600, 0.1
	checked := 0
	for seed := range uint64(40) {
		r := oracle.NewRandom(seed)
		q := &oracle.Problem{Alpha: make([]float64, 2)}
		mean, ends := r.Pick(1e2, 1e4), make([]float64, n)
		for i := range n {
			x := []float64{mean + r.Normal(), mean + r.Normal()}
			q.X, q.Y = append(q.X, x), append(q.Y, float64(0.6*x[0])+float64(0.4*x[1])+r.Normal())
			ends[i] = r.Normal()
		}
		fit, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, model.VectorsOptions{Simplex: true})
		if err != nil {
			t.Fatal(err)
		}
		solver, err := cd.NewVectors(fit)
		if err != nil {
			t.Fatal(err)
		}
		lambda := []float64{0, math.Log(epsilon)}
		at, err := solver.Solve(t.Context(), lambda, cd.Options{Tol: 1e-12, Polish: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(at.Free) != 1 || len(at.Bound) == 0 {
			continue
		}
		got, err := implicit.NewVectors(fit).Solve(t.Context(), lambda, vectorsPoint(at), implicit.Outer{Slope: ends, Curvature: make([]float64, n)}, implicit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Status != outcome.Converged {
			continue
		}
		checked++
		free := int(at.Free[0])
		speed := -math.Copysign(epsilon, at.Dual[free]) / (q.X[free][0] - q.X[free][1])
		want, size := 0.0, 0.0
		for i, x := range q.X {
			want += ends[i] * (x[0] - x[1]) * speed
			size += math.Abs(ends[i] * (x[0] - x[1]) * speed)
		}
		for k, want := range []float64{0, want} {
			if off := math.Abs(got.Gradient[k] - want); !(off <= got.ErrorBound) {
				t.Errorf("seed %d, means of %g: slope %d is off by %.2g with a bound of %.2g", seed, mean, k, off, got.ErrorBound)
			}
		}
		if limit := 1e-6 * mean; !(got.ErrorBound <= limit) {
			t.Errorf("seed %d, means of %g: a bound of %g, more than %g", seed, mean, got.ErrorBound, limit)
		}
	}
	if checked < 20 {
		t.Fatalf("%d problems were checked", checked)
	}
}
