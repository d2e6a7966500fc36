package cd_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestCertificatesOfEveryLoss checks that the objective and the duality gap of a solution are those of the
// definitions, primal minus dual, for every loss, at loose and tight tolerances. By weak duality, a converged
// solution is then within its gap of the optimum.
func TestCertificatesOfEveryLoss(t *testing.T) {
	for _, l := range fixture.Losses() {
		for seed := range oracle.Cases(6) {
			r := oracle.NewRandom(seed)
			q := r.Problem(oracle.Shape{N: 30, P: 4, Density: 1, Weights: seed%3 == 1}).Draw(r, l.Defined)
			q.Intercept = seed%2 == 0
			view := fixture.View(t, q, seed%4 < 2)
			fit, err := model.NewDatafit(view, q.Y, l.Loss)
			if err != nil {
				t.Fatalf("%s, seed %d: %v", l.Name(), seed, err)
			}
			top := model.AlphaMax(fit)
			q.Uniform(top * r.Pick(0.5, 0.1, 0.03))
			if seed%3 == 2 {
				q.Ridge = 0.1 * top
			}
			g := fixture.Penalty(t, q)
			for _, tol := range []float64{0.1, 1e-4, 1e-10} {
				s, err := cd.New(fit).Solve(context.Background(), g, cd.Options{Tol: tol})
				if err != nil {
					t.Fatalf("%s, seed %d: %v", l.Name(), seed, err)
				}
				beta := make([]float64, len(q.Alpha))
				for k, j := range s.Support {
					beta[j] = s.Coef[k]
				}
				objective, gap := q.LossObjective(l.Defined, beta, s.Intercept), q.LossGap(l.Defined, beta, s.Intercept)
				if size := math.Max(objective, fit.Null()); math.Abs(s.Objective-objective) > 1e-13*size || math.Abs(s.Gap-gap) > 1e-12*size {
					t.Errorf("%s, seed %d, tol %g: objective %.15g and gap %g, by their definitions %.15g and %g", l.Name(), seed, tol, s.Objective, s.Gap, objective, gap)
				}
				if !s.Status.OK() || s.Gap > tol*fit.Null() {
					t.Errorf("%s, seed %d, tol %g: %s at a gap of %g", l.Name(), seed, tol, s.Status, s.Gap/fit.Null())
				}
			}
		}
	}
}

// TestFlatValleysAreWalkedFast checks problems in which the objective has no slope but that of a small penalty, as
// once all rows are on the right side of the margin. Rows whose curvature jumps must be found on the way down from
// stronger penalties: without these a solve takes 60,000 sweeps.
func TestFlatValleysAreWalkedFast(t *testing.T) {
	oracle.Once(t)
	for seed := range oracle.Cases(3) {
		for _, l := range []struct {
			defined oracle.Loss
			loss    loss.Loss
		}{{oracle.SquaredHingeLoss(), loss.SquaredHinge{}}, {oracle.SmoothedHingeLoss(), loss.SmoothedHinge{}}} {
			r := oracle.NewRandom(seed)
			q := r.Problem(oracle.Shape{N: 30, P: 200, Density: 1}).Draw(r, l.defined)
			q.Intercept, q.Ridge = true, 0
			fit, err := model.NewDatafit(fixture.View(t, q, true), q.Y, l.loss)
			if err != nil {
				t.Fatal(err)
			}
			q.Uniform(1e-6 * model.AlphaMax(fit))
			s, err := cd.New(fit).Solve(t.Context(), fixture.Penalty(t, q), cd.Options{Tol: 1e-10})
			if err != nil {
				t.Fatal(err)
			}
			if !s.Status.OK() || s.Epochs > 3_000 {
				t.Errorf("%s, seed %d: %s after %d sweeps", l.loss.Name(), seed, s.Status, s.Epochs)
			}
		}
	}
}

// TestStagesAreCancelledAtTheirPenalty checks that a solve that goes through stronger penalties ends, whenever its
// context does, at a point certified for the penalty asked for.
func TestStagesAreCancelledAtTheirPenalty(t *testing.T) {
	r, l := oracle.NewRandom(1), oracle.SquaredHingeLoss()
	q := r.Problem(oracle.Shape{N: 30, P: 200, Density: 1}).Draw(r, l)
	q.Intercept, q.Ridge = true, 0
	fit, err := model.NewDatafit(fixture.View(t, q, true), q.Y, loss.SquaredHinge{})
	if err != nil {
		t.Fatal(err)
	}
	q.Uniform(1e-6 * model.AlphaMax(fit))
	g := fixture.Penalty(t, q)
	stages := 0
	whole, err := cd.New(fit).Solve(t.Context(), g, cd.Options{Watch: func(cd.Progress) { stages++ }})
	if err != nil || !whole.Status.OK() {
		t.Fatalf("%+v, %v", whole, err)
	}
	for end := 1; end < stages; end += 1 + stages/20 {
		ctx, cancel := context.WithCancel(t.Context())
		left := end
		s, err := cd.New(fit).Solve(ctx, g, cd.Options{Watch: func(cd.Progress) {
			if left--; left == 0 {
				cancel()
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		beta := make([]float64, len(q.Alpha))
		for k, j := range s.Support {
			beta[j] = s.Coef[k]
		}
		over := s.Status == outcome.Cancelled || s.Status.OK() && s.RelativeGap <= whole.RelativeGap // it may converge before the context is checked again
		if want := q.LossObjective(l, beta, s.Intercept); !over || math.Abs(s.Objective-want) > 1e-12*fit.Null() || s.Epochs > whole.Epochs {
			t.Errorf("ended at stage %d of %d: %s, objective %g, by its definition %g, %d sweeps of %d", end, stages, s.Status, s.Objective, want, s.Epochs, whole.Epochs)
		}
	}
}
