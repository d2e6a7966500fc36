package cd_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestClearanceIsTheLeastRoomOfAColumn compares the clearance with the least room of all columns by
// definition, with and without bounds and a ridge. It must never be larger, and must be equal where the
// pass knows every correlation.
func TestClearanceIsTheLeastRoomOfAColumn(t *testing.T) {
	byBound, exact, all := 0, 0, 0
	for seed := range uint64(200) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 10 + r.Intn(20), P: 2 + r.Intn(10), Density: 1, Mean: r.Pick(0, 1), Weights: seed%3 == 0})
		q.Intercept = seed%2 == 0
		q.Uniform(r.Pick(0.6, 0.2, 0.05) * q.AlphaMax())
		if seed%5 > 2 {
			q.Ridge = r.Pick(0.05, 0.5)
		}
		if seed%5 == 1 { // a different strength for every column
			for j := range q.Alpha {
				q.Alpha[j] *= 0.5 + r.Float64()
			}
		}
		p := len(q.Alpha)
		g := fixture.Penalty(t, q)
		lower, upper := make([]float64, p), make([]float64, p)
		for j := range p {
			lower[j], upper[j] = r.Pick(0, -0.1, math.Inf(-1)), r.Pick(0.05, 0.2, math.Inf(1))
		}
		bounded := seed%4 > 0
		if bounded {
			box, err := model.NewBox(lower, upper)
			if err != nil {
				t.Fatal(err)
			}
			if g, err = g.Within(box); err != nil {
				t.Fatal(err)
			}
		}
		s := cd.New(fixture.Squared(t, q, seed%2 == 0))
		sol := solve(t, s, g, cd.Options{Tol: 1e-12, Polish: true})
		if sol.Status != outcome.Converged {
			t.Fatalf("seed %d: %s", seed, sol.Status)
		}
		beta, want, bound := scatter(sol, p), math.Inf(1), false
		for j, z := range q.Correlations(q.Residual(beta, sol.Intercept)) {
			b := beta[j]
			room := q.Alpha[j] - math.Abs(z)
			held := bounded && b != 0 && (b == lower[j] || b == upper[j])
			switch {
			case held:
				room = math.Copysign(1, b)*z - q.Alpha[j] - q.Ridge*math.Abs(b)
			case b != 0:
				continue
			case bounded && (z < 0 && lower[j] == 0 || z > 0 && upper[j] == 0):
				room = q.Alpha[j]
			}
			if room *= q.Total() / math.Sqrt(q.Norm2(j)); room < want {
				want, bound = room, held
			}
		}
		got := s.Clearance()
		if got > want*(1+1e-7)+1e-7 {
			t.Errorf("seed %d: clearance %g, a column has room for %g", seed, got, want)
		}
		all++
		if got >= want*(1-1e-6)-1e-7 {
			if exact++; bound {
				byBound++
			}
		}
	}
	if byBound < 20 || exact < all*2/3 {
		t.Errorf("%d of %d exact, %d by a column at its bound", exact, all, byBound)
	}
}
