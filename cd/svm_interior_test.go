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

// TestSVMSolvesBadlyScaledColumns: sweeps need a number of epochs without bound
// there; an interior-point method does not. The result is certified, the same on every
// kernel set, and nearly always at the bounds to the bit: where sweeps do not end after
// it either, the point inside the box is returned.
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
				// Rounding leaves a hundredth of the tolerance open.
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

// TestSVMGoesOnWhileEpochsAreLeft: at these the gap rises within the interior-point method
// before it falls. They are solved; and at a tolerance that rounding denies all epochs are used,
// and the gap is no worse for that.
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

// expiring is a context that ends when it has been asked so often.
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

// TestSVMInteriorStopsWithItsContext: wherever the context ends, the last certified
// point is returned.
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
