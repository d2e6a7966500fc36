package cd_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestSamplesSaveStepsAndChangeNothingElse checks that a cold start on many rows begins
// with a sample of them, takes no more passes, and ends with the same certificate as a
// start without a sample. After Reset the next start gives the same bits.
func TestSamplesSaveStepsAndChangeNothingElse(t *testing.T) {
	r := oracle.NewRandom(77)
	for k, c := range []struct {
		name                string
		dense, weights, one bool
	}{
		{name: "sparse"},
		{name: "dense", dense: true},
		{name: "weights and held-out rows", weights: true},
		{name: "the sample is of one class", one: true},
	} {
		if !oracle.Turn(k, 1) {
			continue
		}
		q := r.Problem(oracle.Shape{N: 6000, P: 12, Density: 0.4, Weights: c.weights}).Classes(r)
		q.Intercept = c.dense || c.weights
		if c.one {
			for i := range q.Y {
				q.Y[i] = -1
			}
			q.Y[1] = 1 // a row that the sample does not take
		}
		q.Uniform(0.01 * q.LogisticAlphaMax())
		fit := fixture.Logistic(t, q, c.dense)
		g, sampled := fixture.Penalty(t, q), 0
		watch := cd.Options{Tol: 1e-9, Watch: func(p cd.Progress) {
			if p.Stage == cd.Sampled {
				if sampled++; p.Epochs == 0 {
					t.Errorf("%s: a sample for nothing", c.name)
				}
			}
		}}
		solver := cd.New(fit)
		sol := solve(t, solver, g, watch)
		if want := !c.one; want != (sampled == 1) {
			t.Errorf("%s: %d samples", c.name, sampled)
		}
		if sol.Status != outcome.Converged {
			t.Errorf("%s: %s at %.1e", c.name, sol.Status, sol.RelativeGap)
		}
		beta := scatter(sol, 12)
		if gap := q.LogisticGap(beta, q.LogisticIntercept(beta)); math.Abs(gap-sol.Gap) > 1e-11 {
			t.Errorf("%s: gap %.6g reported, %.6g recomputed", c.name, sol.Gap, gap)
		}
		coef, gap := slices.Clone(sol.Coef), sol.Gap
		solver.Reset()
		if again := solve(t, solver, g, watch); again.Gap != gap || !slices.Equal(again.Coef, coef) {
			t.Errorf("%s: gap %g after Reset, %g before", c.name, again.Gap, gap)
		}
		solver.Reset()
		if short := solve(t, solver, g, cd.Options{Tol: 1e-9, MaxEpochs: 3}); short.Epochs != 3 || short.Status != outcome.NotConverged {
			t.Errorf("%s: %s after %d epochs of 3", c.name, short.Status, short.Epochs)
		}
		warm := cd.New(fit)
		warm.Start([]int32{0}, []float64{1e-9})
		sampled = 0
		plain := solve(t, warm, g, watch)
		if sampled != 0 {
			t.Errorf("%s: a sample for a warm start", c.name)
		}
		if d := math.Abs(plain.Objective - sol.Objective); d > plain.Gap+sol.Gap {
			t.Errorf("%s: objective %.15g, without a sample %.15g", c.name, sol.Objective, plain.Objective)
		}
		if !c.one && sol.Passes > plain.Passes {
			t.Errorf("%s: %d passes, without a sample %d", c.name, sol.Passes, plain.Passes)
		}
	}
}

// TestSamplesEndWithTheContext checks that a solve whose context ends while the sample is
// solved returns the last certified point.
func TestSamplesEndWithTheContext(t *testing.T) {
	r := oracle.NewRandom(78)
	q := r.Problem(oracle.Shape{N: 6000, P: 12, Density: 0.4}).Classes(r)
	q.Uniform(0.01 * q.LogisticAlphaMax())
	fit := fixture.Logistic(t, q, false)
	ctx, cancel := context.WithCancel(context.Background())
	sol, err := cd.New(fit).Solve(ctx, fixture.Penalty(t, q), cd.Options{Watch: func(p cd.Progress) {
		if p.Stage == cd.Sampled {
			cancel()
		}
	}})
	if err != nil || sol.Status != outcome.Cancelled || sol.Gap <= 0 {
		t.Errorf("%v, %+v", err, sol)
	}
}
