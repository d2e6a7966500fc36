package cd_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestCandidatesByDefinition checks that the best candidates outside the support, by the
// distance of their correlations to the boundary of the dual feasible set, are found in whatever
// place they are, among columns of one length or several, with one strength or many.
func TestCandidatesByDefinition(t *testing.T) {
	for seed := range uint64(12) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 30, P: 700, Density: r.Pick(0.1, 1), Mean: r.Pick(0, 1)})
		q.Intercept = seed%2 == 0
		for _, row := range q.X[:15] {
			clear(row[:seed*40]) // shorter columns
		}
		fit := fixture.Squared(t, q, seed%3 == 0)
		passes := cd.NewPasses(fit, nil)
		residual := make([]float64, 30)
		for i := range residual {
			residual[i] = r.Normal()
		}
		if mean := fit.View().MeanOf(residual); q.Intercept {
			for i := range residual {
				residual[i] -= mean
			}
		}
		z, largest := q.Correlations(residual), 0.0
		for _, v := range z {
			largest = max(largest, math.Abs(v))
		}
		q.Uniform(r.Pick(0.1, 0.5) * largest)
		if seed%4 == 3 {
			for j := range q.Alpha {
				q.Alpha[j] *= 0.9 + 0.2*r.Float64()
			}
		}
		_, _, scale, _ := passes.To(residual, fixture.Penalty(t, q))
		type column struct {
			distance float64
			place    int32
		}
		var all []column
		for place, j := range fit.View().Matrix().Order() {
			if norm := math.Sqrt(q.Norm2(int(j))); norm > 1e-6 {
				all = append(all, column{(q.Alpha[j] - scale*math.Abs(z[j])) * q.Total() / norm, int32(place)})
			}
		}
		slices.SortFunc(all, func(a, b column) int { return cmp.Compare(a.distance, b.distance) })
		for _, most := range []int{1, 7, 40, 100, 400} {
			most = min(most, len(all))
			want := make([]int32, most)
			for k, c := range all[:most] {
				want[k] = c.place
			}
			slices.Sort(want)
			if got := passes.Best(most); !slices.Equal(got, want) {
				t.Errorf("seed %d: best %d of %d columns %v, not %v", seed, most, len(all), got, want)
			}
		}
	}
}
