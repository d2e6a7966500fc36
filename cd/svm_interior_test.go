package cd_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// badlyScaled draws correlated columns in units that differ by factors of 10.
func badlyScaled(seed uint64, weights bool) *svmProblem {
	r := oracle.NewRandom(seed)
	q := svmShape(r, oracle.Shape{N: 150, P: 7, Density: r.Pick(0.4, 1), Correlation: 0.9, Mean: 1, Weights: weights})
	for _, row := range q.X {
		for j := range row {
			row[j] *= math.Pow(10, float64(j-3))
		}
	}
	return q
}

// TestSVMSolvesBadlyScaledColumns checks samples for which the number of sweeps has no bound,
// whereas the interior-point method converges. The solution must be certified, have the same
// bits on every kernel set, and nearly always have samples exactly at their bounds. Only where
// sweeps after the method do not converge either is a point inside the box returned.
func TestSVMSolvesBadlyScaledColumns(t *testing.T) {
	t.Parallel()
	inside, all := 0, 0
	for seed := range oracle.Cases(16) {
		q := badlyScaled(seed, seed%3 == 1)
		n, _ := q.Dims()
		for _, c := range []float64{-2, 0, 3} {
			var first []float64
			for _, k := range kernels.Available() {
				fit := q.fit(t, k, seed%2 == 0)
				sol, err := cd.NewSVM(fit).Solve(t.Context(), c, cd.Options{Tol: 1e-6, MaxEpochs: 200_000})
				if err != nil {
					t.Fatal(err)
				}
				if sol.Status != outcome.Converged || sol.Epochs > 50_000 {
					t.Errorf("seed %d, C = e^%g, %s: %s, gap %g, %d epochs", seed, c, k.Name, sol.Status, sol.RelativeGap, sol.Epochs)
				}
				beta := spread(n, sol, fit)
				// The gap is subject to rounding of a hundredth of the tolerance.
				if gap := q.gap(sol.C, beta); math.Abs(gap-sol.Gap) > 1e-8*fit.Null(sol.C) {
					t.Errorf("seed %d, C = e^%g: gap %g, recomputed %g", seed, c, sol.Gap, gap)
				}
				if first == nil {
					if all++; len(sol.Free) > 40 {
						inside++
					}
					first = slices.Clone(beta)
				} else if !slices.Equal(first, beta) {
					t.Errorf("seed %d, C = e^%g: %s differs from purego", seed, c, k.Name)
				}
			}
		}
	}
	if inside > all/10 {
		t.Errorf("%d of %d solutions have next to no sample at a bound", inside, all)
	}
}

// TestSVMGoesOnWhileEpochsAreLeft checks problems whose gap rises in the interior-point method
// before it falls: they must be solved. At a tolerance that rounding prevents, all epochs must
// be used, and the gap must be no worse for that.
func TestSVMGoesOnWhileEpochsAreLeft(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{7, 30, 34, 44, 54} {
		fit := badlyScaled(seed, seed%3 == 1).fit(t, nil, seed%2 == 0)
		sol, err := cd.NewSVM(fit).Solve(t.Context(), 6, cd.Options{Tol: 1e-6, MaxEpochs: 20_000})
		if err != nil {
			t.Fatal(err)
		}
		if sol.Status != outcome.Converged {
			t.Errorf("seed %d: %s, gap %g, %d epochs", seed, sol.Status, sol.RelativeGap, sol.Epochs)
		}
	}
	const epochs = 500
	for _, seed := range []uint64{7, 16, 35, 44} {
		fit := badlyScaled(seed, seed%3 == 1).fit(t, nil, seed%2 == 0)
		sol, err := cd.NewSVM(fit).Solve(t.Context(), 6, cd.Options{Tol: 1e-9, MaxEpochs: epochs})
		if err != nil {
			t.Fatal(err)
		}
		if sol.Status != outcome.NotConverged || sol.Epochs < epochs || !(sol.RelativeGap < 1e-6) {
			t.Errorf("seed %d, next to rounding: %s, gap %g, %d epochs", seed, sol.Status, sol.RelativeGap, sol.Epochs)
		}
	}
}

// expiring is a context that ends after a number of calls of Err.
type expiring struct {
	context.Context
	left int
}

func (c *expiring) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestSVMInteriorStopsWithItsContext checks that the last certified point is returned wherever
// the context ends.
func TestSVMInteriorStopsWithItsContext(t *testing.T) {
	t.Parallel()
	q := badlyScaled(3, false)
	fit := q.fit(t, nil, true)
	n, _ := q.Dims()
	for left := 1; left < 3_000_000; left = left*5/4 + 1 {
		sol, err := cd.NewSVM(fit).Solve(&expiring{t.Context(), left}, 0, cd.Options{Tol: 1e-8})
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if gap := q.gap(sol.C, spread(n, sol, fit)); math.Abs(gap-sol.Gap) > 1e-8*fit.Null(sol.C) {
			t.Errorf("after %d looks: %s, gap %g, recomputed %g", left, sol.Status, sol.Gap, gap)
		}
		if sol.Status == outcome.Converged {
			return
		}
	}
	t.Error("never converged")
}
