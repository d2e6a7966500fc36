package cd_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/support"
)

// TestPassesByDefinition checks which columns a pass takes in: those whose last correlation, plus a bound on its
// change since, reaches 0.9 of the strength. The pass must compute those of them that are not current, in runs with
// short gaps, and be charged for these, and the dual point must be that of all columns.
func TestPassesByDefinition(t *testing.T) {
	const n, p = 40, 800
	const reset = -1
	took, left, known := 0, 0, 0
	seeds := 3 * oracle.Draws(8)
	for seed := range seeds {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: n, P: p, Density: r.Pick(0.1, 0.3, 1), Mean: r.Pick(0, 1), Weights: seed%3 == 0})
		q.Intercept = seed%2 == 0
		for i, row := range q.X {
			row[5] = 0
			if i%2 > 0 { // shorter columns
				clear(row[60:])
			}
			row[0] = 6 * row[0] // columns 0 and 2 have nearly the same correlation, the largest
			if row[2] = row[0] * (1 + 0x1p-42); seed%4 < 2 {
				row[2] = row[0] * (1 - 0x1p-42)
			}
		}
		dense := seed%5 == 0
		fit := fixture.Squared(t, q, dense)
		view := fit.View()
		order := view.Matrix().Order()
		entries := func(place int) float64 {
			rows, values := view.Matrix().Column(int(order[place]))
			return float64(max(len(rows), len(values)))
		}
		q.Positive = seed%6 == 1
		residual := make([]float64, n)
		move := func(size float64) {
			for i := range residual {
				residual[i] += size * r.Normal()
			}
			if mean := view.MeanOf(residual); q.Intercept {
				for i := range residual {
					residual[i] -= mean
				}
			}
		}
		var null *model.Null
		if move(1); seed%3 == 1 {
			null = model.NewNull(fit)
			copy(residual, null.State.Residual)
		}
		largest := func() (z float64) {
			for _, v := range q.Correlations(residual) {
				z = max(z, math.Abs(v))
			}
			return z
		}
		passes := cd.NewPasses(fit, null)
		last, way, current := q.Correlations(residual), make([]float64, p), make([]bool, p) // by column: the last correlation computed, the bound on its change since, and whether it is current
		before := slices.Clone(residual)
		for j := range way {
			current[j], way[j] = null != nil, 1e300 // the first pass takes in all columns that are not excluded
		}
		for k, size := range []float64{0, 0, 1e-3, 1e-2, 0, 0.05, 0.02, 0.5, 0.01, 1e20, reset, 1e-3, 0.01} {
			switch {
			case size == reset: // the next residual is far from the last one
				passes.Reset()
				clear(residual)
				move(1)
			case size > 0:
				move(size)
			}
			change := make([]float64, n)
			for i, v := range residual {
				change[i] = v - before[i]
			}
			copy(before, residual)
			for j, reach := range cd.Reach(view, change) {
				way[j] += reach
				if current[j] = current[j] && size == 0; size == reset {
					way[j] = 1e300
				}
			}
			q.Uniform(r.Pick(0.05, 0.3, 0.6, 1.2) * largest())
			if seed%4 == 3 {
				for j := range q.Alpha {
					q.Alpha[j] *= 0.5 + r.Float64()
				}
				q.Alpha[7] = math.Inf(1)
			}
			g := fixture.Penalty(t, q)
			z := q.Correlations(residual)
			scale, kkt := 1.0, 0.0
			for j, v := range z {
				if q.Positive {
					v = max(0, v)
				}
				if v = math.Abs(v); v > q.Alpha[j] {
					scale, kkt = min(scale, q.Alpha[j]/v), max(kkt, v-q.Alpha[j])
				}
			}
			var want []int32
			wanted := make([]bool, len(order))
			for place, j := range order {
				if math.Abs(last[j])*q.Total()+way[j] >= 0.9*q.Total()*q.Alpha[j] && q.Norm2(int(j)) > 1e-12 {
					want, wanted[place] = append(want, int32(place)), true
				} else if q.Alpha[j] < math.Abs(z[j]) {
					t.Fatalf("seed %d, pass %d: column %d violates its constraint and would be left out", seed, k, j)
				}
			}
			cost := cd.VisitColumn * float64(len(order))
			for from := 0; from < len(order); { // ranges of columns with similar numbers of entries
				end := from + 1
				for end < len(order) && entries(end) <= 1.25*entries(from) {
					end++
				}
				call := 64 // the cost of a call, in entries
				if dense {
					call = 300
				}
				gap := call / (int(entries(end-1)) + 5)
				for place := from; place < end; place++ {
					if !wanted[place] || current[order[place]] {
						continue
					}
					last, met := place, 0.0 // the end of the run that begins here, and its entries
					for next := place; next < end && next <= last+1+gap; next++ {
						if wanted[next] && !current[order[next]] {
							last = next
						}
					}
					for ; place <= last; place++ {
						met, cost = met+entries(place), cost+3
					}
					if dense {
						cost += support.DenseCost(int(met))
					} else {
						cost += support.SparseValue * met
					}
				}
				from = end
			}
			for _, place := range want {
				j := order[place]
				if current[j] {
					known++
				}
				last[j], way[j], current[j] = z[j], 0, true
			}
			got, paid, dual, lack := passes.To(residual, g)
			if !slices.Equal(got, want) {
				t.Errorf("seed %d, pass %d: %d places, not %d: %v, not %v", seed, k, len(got), len(want), got, want)
			}
			if math.Abs(paid-cost) > 1e-9*cost {
				t.Errorf("seed %d, pass %d: cost %g, not %g", seed, k, paid, cost)
			}
			if math.Abs(dual-scale) > 1e-13*scale || math.Abs(lack-kkt) > 1e-13*largest() {
				t.Errorf("seed %d, pass %d: scale %.16g, not %.16g; KKT residual %.16g, not %.16g", seed, k, dual, scale, lack, kkt)
			}
			took, left = took+len(got), left+len(order)-len(got)
		}
	}
	if least := 2000 * int(seeds) / 24; took < least || left < least || known < least/2 {
		t.Errorf("%d columns were taken in, %d of them known, %d left out", took, known, left)
	}
}
