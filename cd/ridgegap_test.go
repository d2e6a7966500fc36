package cd_test

import (
	"fmt"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestVanishingStrengthIsNoWork: where the ℓ1 strength is next to nothing beside the ridge, a
// loose solve ends well before the last digit, and still at a hundredth of what was asked, or near it, since
// sweeps meet each column before the others have moved on: a margin for the predictions.
func TestVanishingStrengthIsNoWork(t *testing.T) {
	near, all := 0, 0
	for seed := range oracle.Cases(10) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 200, P: 600, Density: 0.1, Mean: r.Pick(0, 1)})
		top := q.AlphaMax()
		q.Uniform(1e-8 * top)
		q.Ridge = 0.05 * top
		got := solve(t, cd.New(fixture.Squared(t, q, false)), fixture.Penalty(t, q), cd.Options{Tol: 1e-4})
		certified(t, fmt.Sprint("seed ", seed), q, got, 1e-4)
		if got.Epochs > 25 || got.RelativeGap > 3e-6 {
			t.Errorf("seed %d: %d epochs to %g", seed, got.Epochs, got.RelativeGap)
		}
		if all++; got.RelativeGap > 1e-6 {
			near++
		}
	}
	if near > all/4 {
		t.Errorf("%d of %d end above a hundredth of what was asked", near, all)
	}
}

// TestExactFromZero: a solve from β = 0 that is to be exact keeps less of a margin than a loose one, which
// others may go on from.
func TestExactFromZero(t *testing.T) {
	oracle.Once(t)
	epochs := 0
	for seed := range uint64(10) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 400, P: 3000, Density: 0.05, Mean: 0})
		top := q.AlphaMax()
		q.Uniform(0.03 * top)
		q.Ridge = 0.03 * top
		got := solve(t, cd.New(fixture.Squared(t, q, false)), fixture.Penalty(t, q), cd.Options{Tol: 1e-6})
		certified(t, fmt.Sprint("seed ", seed), q, got, 1e-6)
		epochs += got.Epochs
	}
	if epochs > 254 { // 245; with the margin of a loose one 264
		t.Errorf("%d epochs", epochs)
	}
}
