package implicit_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestAgainstDifferences checks that central differences converge to the implicit gradient with the square of
// their step (G1).
func TestAgainstDifferences(t *testing.T) {
	for seed := range oracle.Cases(30) {
		r := oracle.NewRandom(seed)
		q, best, rows := smooth(r)
		_, p := q.Dims()
		g := scalar(t, q)
		h := gradientAt(t, implicit.New(fixture.Squared(t, q, seed%2 == 0)), g, q, best.Beta, rows, implicit.Options{Tol: 1e-14})
		if h.Status != outcome.Converged && h.Status != outcome.LinearSystemStalled { // 1e-14 may be unattainable
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
				continue // near a stationary point relative errors are meaningless
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

// TestAgainstDenseSolves checks the forward and the adjoint form against dense solves of the bordered system of
// the intercept, and that with equal strengths the entries of the weighted gradient sum to the scalar gradient.
func TestAgainstDenseSolves(t *testing.T) {
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(1000 + seed)
		q, best, rows := smooth(r)
		fit := fixture.Squared(t, q, seed%2 == 0)
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

// TestWeightedAgainstDifferences checks one λ per column, inside and outside the support.
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
		h := gradientAt(t, implicit.New(fixture.Squared(t, q, true)), weighted(t, q), q, best.Beta, rows, implicit.Options{Tol: 1e-14})
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
