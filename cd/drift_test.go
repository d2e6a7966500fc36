package cd_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
)

// TestDriftVisitsByItsBound checks that a column is visited if its coefficient is not 0, if it was forgotten, or if a
// bound on its correlation reaches the strength: the correlation at the last visit plus ‖X̃_j‖ₛ/N times the length of
// all moves since. The correlation of any other column must be below the strength.
func TestDriftVisitsByItsBound(t *testing.T) {
	const n, p = 25, 40
	visited, left := 0, 0
	for seed := range uint64(12) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: n, P: p, Density: r.Pick(0.3, 1), Mean: r.Pick(0, 2), Weights: seed%3 > 0})
		q.Intercept = seed%2 == 0
		if seed%3 == 1 {
			q.Weights[4] = 0 // held out
		}
		view := fixture.View(t, q, seed%4 < 2)
		const lambda = -1.1
		strength := math.Exp(lambda)
		g, err := model.NewMCP(lambda, math.Log(3))
		if err != nil {
			t.Fatal(err)
		}
		residual := make([]float64, n)
		// point moves the residual by about size, and returns the new point and its correlations by definition.
		point := func(size float64) (at *model.ScorePoint, z []float64) {
			for i := range residual {
				residual[i] += size * r.Normal() * float64(i%3) // some rows do not move
			}
			if q.Intercept {
				mean := view.MeanOf(residual)
				for i := range residual {
					residual[i] -= mean
				}
			}
			at = &model.ScorePoint{Weighted: make([]float64, n)}
			for i, v := range residual {
				at.Weighted[i] = q.Weight(i) * v
			}
			return at, q.Correlations(residual)
		}
		at, now := point(0.3)
		z, beta, since, before := slices.Clone(now), make([]float64, p), make([]float64, p), slices.Clone(residual)
		beta[3] = -0.5
		d := cd.NewDrift(view, at, g)
		for k, size := range []float64{0, 0.02, 0.02, 0.05, 0.02, 0.3, 0.01, 0.02, 0.02} {
			if at, now = point(size); k == 6 {
				d.Restart(at)
				copy(z, now)
				clear(since)
			}
			if k == 4 {
				d.Forget([]int32{5, 9})
				since[5], since[9] = math.Inf(1), math.Inf(1)
			}
			square := 0.0
			for i, v := range residual {
				square += q.Weight(i) * (v - before[i]) * (v - before[i])
			}
			copy(before, residual)
			var want []int32
			for j := range since {
				if since[j] += math.Sqrt(square); k == 6 {
					since[j] = 0
				}
				bound := math.Abs(z[j]) + math.Sqrt(q.Norm2(j))/q.Total()*since[j]
				if math.Abs(now[j]) > bound*(1+1e-12) {
					t.Fatalf("seed %d, move %d: a correlation of %g, at most %g", seed, k, now[j], bound)
				}
				if !(bound < strength) || beta[j] != 0 {
					want, since[j] = append(want, int32(j)), 0
				}
			}
			got := d.To(at, beta, z)
			for _, j := range want {
				z[j] = now[j]
			}
			if !slices.Equal(got, want) {
				t.Errorf("seed %d, move %d: columns %v are visited, not %v", seed, k, got, want)
			}
			visited, left = visited+len(got), left+p-len(got)
		}
	}
	if visited < 500 || left < 500 {
		t.Errorf("%d visits, %d left out", visited, left)
	}
}

// TestDriftLeavesRoomForRounding checks that a column is visited if the bound on its correlation is within 1e-9 of
// the strength.
func TestDriftLeavesRoomForRounding(t *testing.T) {
	q := oracle.NewRandom(1).Problem(oracle.Shape{N: 10, P: 3})
	g, err := model.NewMCP(math.Log(0.3), math.Log(3))
	if err != nil {
		t.Fatal(err)
	}
	at := &model.ScorePoint{Weighted: make([]float64, 10)}
	d := cd.NewDrift(fixture.View(t, q, true), at, g)
	strength := g.Strength()
	if got := d.To(at, make([]float64, 3), []float64{strength * (1 - 1.5e-9), strength * (1 - 0.5e-9), -strength}); !slices.Equal(got, []int32{1, 2}) {
		t.Errorf("columns %v are visited", got)
	}
}
