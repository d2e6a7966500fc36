package implicit_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestLargeSupportsOfDependentColumnsAreNotUnique checks supports too large for a factorisation in which a column
// depends on others on the training rows alone, so that the criterion depends on how they share the coefficients.
// A solver may leave such a column in the support if its correlation has reached its strength.
func TestLargeSupportsOfDependentColumnsAreNotUnique(t *testing.T) {
	const train, all, p = 500, 600, 300
	for seed := range oracle.Draws(6) {
		rng := rand.New(rand.NewPCG(seed, 1))
		values := make([]float64, all*(p+1))
		y, weights := make([]float64, all), make([]float64, all)
		for i := range all {
			for j := range p {
				if rng.Float64() < 0.1 {
					values[j*all+i] = rng.NormFloat64()
					y[i] += (1 + rng.Float64()) * values[j*all+i]
				}
			}
			if i < train {
				weights[i] = 1
			}
		}
		// On the training rows the last column is the mean of several columns, a copy of one, or independent.
		last := func(of int) outcome.Status {
			for i := range all {
				v := rng.NormFloat64()
				if i < train && of > 0 {
					v = 0
					for j := range of {
						v += values[j*all+i] / float64(of)
					}
				}
				values[p*all+i] = v
			}
			return differentiateSharing(t, all, p, of, values, y, weights)
		}
		if status := last(4); status != outcome.NotUnique {
			t.Errorf("seed %d: the mean of four columns: %s", seed, status)
		}
		if status := last(2); status != outcome.NotUnique {
			t.Errorf("seed %d: the mean of two columns: %s", seed, status)
		}
		if status := last(1); status != outcome.Converged {
			t.Errorf("seed %d: a copy: %s", seed, status)
		}
		if status := last(0); status != outcome.Converged {
			t.Errorf("seed %d: columns in general position: %s", seed, status)
		}
	}
}

// differentiateSharing solves without the last column, transfers to it part of the coefficients of the first
// columns, whose mean it is, and differentiates there.
func differentiateSharing(t *testing.T, n, p, of int, values, y, weights []float64) outcome.Status {
	t.Helper()
	ctx := context.Background()
	var rows []int32
	var entries []float64
	pointers := []int64{0}
	for at, v := range values {
		if v != 0 {
			rows, entries = append(rows, int32(at%n)), append(entries, v)
		}
		if at%n == n-1 {
			pointers = append(pointers, int64(len(rows)))
		}
	}
	x, err := sparse.NewCSC(n, p+1, pointers, rows, entries)
	if err != nil {
		t.Fatal(err)
	}
	view, err := sparse.NewView(fixture.Kernels(t), x, weights, false)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := model.NewSquared(view, y)
	if err != nil {
		t.Fatal(err)
	}
	strengths := make([]float64, p+1)
	for j := range strengths {
		strengths[j] = 1e-4
	}
	if of > 0 {
		strengths[p] = 1
	}
	weighted, err := model.WeightedLasso(logs(strengths))
	if err != nil {
		t.Fatal(err)
	}
	s, err := cd.New(fit).Solve(ctx, weighted, cd.Options{Tol: 1e-14})
	if err != nil || len(s.Support) < p {
		t.Fatalf("%v, support %d", err, len(s.Support))
	}
	at := implicit.Point{Support: s.Support, Coef: append([]float64(nil), s.Coef...), KKT: -1}
	if of > 0 {
		at.Support = append(append([]int32(nil), s.Support...), int32(p))
		share := 0.1
		for j := range of {
			at.Coef[j] -= share / float64(of)
		}
		at.Coef = append(at.Coef, share)
	}
	lasso, err := model.Lasso(math.Log(1e-4))
	if err != nil {
		t.Fatal(err)
	}
	outer := implicit.Outer{Slope: make([]float64, n), Curvature: make([]float64, n)}
	for i, w := range weights {
		if w == 0 {
			outer.Slope[i], outer.Curvature[i] = 0.01*y[i], 0.01
		}
	}
	h, err := implicit.New(fit).Solve(ctx, lasso, at, outer, implicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return h.Status
}

func logs(of []float64) []float64 {
	out := make([]float64, len(of))
	for j, v := range of {
		out[j] = math.Log(v)
	}
	return out
}

// TestPairsThatDependAreNotUnique checks two columns of which one is a multiple of the other, without a factor.
func TestPairsThatDependAreNotUnique(t *testing.T) {
	for _, third := range []float64{0, 1} {
		q := &oracle.Problem{
			X: [][]float64{{1, 2}, {-1, -2}, {0.5, 1 + third}, {2, 4}}, Y: []float64{3, 1, -2, 9}, Weights: []float64{1, 1, 1, 0}, Alpha: []float64{1e-3, 2e-3},
		}
		fit, g := fixture.Squared(t, q, true), weighted(t, q)
		sol, err := cd.New(fit).Solve(t.Context(), g, cd.Options{Tol: 1e-14})
		if err != nil || len(sol.Support) == 0 {
			t.Fatal(err)
		}
		beta := make([]float64, 2)
		for k, j := range sol.Support {
			beta[j] = sol.Coef[k]
		}
		if third == 0 { // the coefficient that either column would have alone is shared by both
			all := beta[0] + 2*beta[1]
			beta = []float64{0.4 * all, 0.3 * all}
		}
		want := outcome.Converged
		if third == 0 {
			want = outcome.NotUnique
		}
		h, err := implicit.NewIterative(fit).Solve(t.Context(), g, implicit.Point{Support: []int32{0, 1}, Coef: beta, KKT: -1}, outerOf(q, beta, []int{3}), implicit.Options{Tol: 1e-12})
		if err != nil || h.Status != want {
			t.Errorf("off a multiple by %g: %v, %s, want %s", third, err, h.Status, want)
		}
	}
}
