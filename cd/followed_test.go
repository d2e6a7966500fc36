package cd_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
)

// TestFollowedPointsEndAtX checks that a solve that updates its predictions from sweeps ends with the predictions of
// β, on held-out rows too, and with the objective and gap of β up to rounding, and that it continues from there at
// another penalty.
func TestFollowedPointsEndAtX(t *testing.T) {
	followed := map[string]int{}
	for seed := range oracle.Cases(40) {
		for _, l := range fixture.Losses()[1:3] { // logistic, Poisson
			r := oracle.NewRandom(seed)
			q := r.Problem(oracle.Shape{N: 40 + r.Intn(60), P: 100 + r.Intn(200), Density: r.Pick(0.05, 1), Mean: r.Pick(0, 1), Weights: seed%3 == 0})
			q = q.Draw(r, l.Defined)
			q.Intercept = seed%2 == 0
			fit, err := model.NewDatafit(fixture.View(t, q, seed%4 == 1), q.Y, l.Loss)
			if err != nil {
				t.Fatal(err)
			}
			s, top := cd.New(fit), model.AlphaMax(fit)
			for _, share := range []float64{0.3, 0.1, 0.05} {
				sol := solve(t, s, fixture.Penalty(t, q.Uniform(share*top)), cd.Options{})
				if cd.Followed(s) {
					followed[l.Name()]++
				}
				beta := scatter(sol, len(q.Alpha))
				objective, gap := q.LossObjective(l.Defined, beta, sol.Intercept), q.LossGap(l.Defined, beta, sol.Intercept)
				if size := math.Max(objective, fit.Null()); math.Abs(sol.Objective-objective) > 1e-13*size || math.Abs(sol.Gap-gap) > 1e-12*size {
					t.Errorf("%s, seed %d, %g: objective %.15g and gap %g, by their definitions %.15g and %g", l.Name(), seed, share, sol.Objective, sol.Gap, objective, gap)
				}
				for i, row := range q.X {
					var m oracle.Sum
					m.Add(sol.Intercept)
					for j, b := range beta {
						m.AddProduct(row[j], b)
					}
					if off := math.Abs(sol.Prediction[i] - m.Value()); off > 1e-12*(1+math.Abs(m.Value())) {
						t.Fatalf("%s, seed %d, %g: row %d of weight %g has prediction %g, want %g", l.Name(), seed, share, i, q.Weight(i), sol.Prediction[i], m.Value())
					}
				}
			}
		}
	}
	for _, name := range []string{"logistic", "poisson"} {
		if followed[name] == 0 {
			t.Errorf("%s: nothing was followed", name)
		}
	}
}

// TestRoundingEndsFollowing checks columns with a mean of 2^30 and a deviation of 1, for which the updates from
// sweeps are inaccurate. The last point of a solve, which is computed from X, reveals this, and then this point and
// all later ones are certified from X.
func TestRoundingEndsFollowing(t *testing.T) {
	r := oracle.NewRandom(3)
	q := r.Problem(oracle.Shape{N: 80, P: 200, Density: 1, Noise: 1}).Classes(r)
	q.Intercept = true
	top := q.LogisticAlphaMax()
	for _, row := range q.X {
		for j := range row {
			row[j] += 1 << 30
		}
	}
	s := cd.New(fixture.Logistic(t, q, true))
	for _, share := range []float64{0.3, 0.2} {
		sol := solve(t, s, fixture.Penalty(t, q.Uniform(share*top)), cd.Options{Tol: 1e-4})
		if !cd.Strayed(s) || cd.Followed(s) {
			t.Errorf("%g: points were followed to the end", share)
		}
		objective, gap := q.LossObjective(oracle.LogisticLoss(), scatter(sol, len(q.Alpha)), sol.Intercept), 1e-4*math.Ln2
		if !sol.Status.OK() || math.Abs(sol.Objective-objective) > gap {
			t.Errorf("%g: %s, objective %g, by its definition %g", share, sol.Status, sol.Objective, objective)
		}
	}
}

// TestUndoneStepsAreCertifiedAnew checks the case that the line search along a step that was undone takes the same
// full step again, to the bit: the point must have its own predictions and correlations.
func TestUndoneStepsAreCertifiedAnew(t *testing.T) {
	undone := 0
	for seed := range uint64(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 40, P: 10, Density: 1}).Classes(r)
		fit := fixture.Logistic(t, q, false)
		s := cd.New(fit)
		doubted := false
		solve(t, s, fixture.Penalty(t, q.Uniform(0.1*model.AlphaMax(fit))), cd.Options{Watch: func(p cd.Progress) {
			switch {
			case p.Stage == cd.Improved && !doubted:
				doubted = cd.Doubt(s)
			case p.Stage == cd.Certified && doubted:
				undone++
				if m, c := cd.Off(s); m > 1e-11 || c > 1e-11 {
					t.Errorf("seed %d: predictions are off by %g, correlations by %g", seed, m, c)
				}
			}
		}})
	}
	if undone == 0 {
		t.Error("no step was undone")
	}
}
