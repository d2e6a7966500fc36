package implicit_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/exact"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestBoundsCountThatTheSystemBends checks a criterion that is linear in the predictions and a system solved to
// convergence, so that at inexact coefficients the only error is that of the curvature. The bound must include
// this error, for the forward and the adjoint system, with and without a factor. With a factor it must not be far
// above the error. Without one, norms under D instead of A and the safety factor of Ritz values may make it wider
// by 10/margin, if the point is close enough to be confirmed.
func TestBoundsCountThatTheSystemBends(t *testing.T) {
	confirmed, open := 0, 0
	for _, seed := range oracle.Seeds(24, 34, 79, 116, 203) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 24, P: 1 + r.Intn(3), Density: 1})
		q.Classes(r)
		q.Intercept = seed%2 == 0
		q.Uniform(1e-3)
		g := map[string]model.Penalty{"forward": fixture.Penalty(t, q)}
		right, err := (&exact.Problem{Problem: q, Logistic: true}).Solve(make([]float64, len(q.Alpha)), 0)
		if err != nil || len(right.Support()) < len(q.Alpha) {
			continue
		}
		each := make([]float64, len(q.Alpha))
		for j := range each {
			each[j] = math.Log(q.Alpha[j])
		}
		if g["adjoint"], err = model.WeightedLasso(each); err != nil {
			t.Fatal(err)
		}
		outer := implicit.Outer{Slope: make([]float64, len(q.Y)), Curvature: make([]float64, len(q.Y))}
		slope := make(exact.Slope, len(q.Y))
		for i := range slope {
			outer.Slope[i] = r.Normal()
			slope[i] = new(exact.Number).SetFloat64(outer.Slope[i])
		}
		common, _, own := right.Gradient(slope)
		want := map[string][]float64{"forward": {common}, "adjoint": own}
		at := implicit.Point{KKT: -1}
		for j, b := range right.Beta() {
			at.Support, at.Coef = append(at.Support, int32(j)), append(at.Coef, b*(1+1e-4*r.Normal()))
		}
		fit := fixture.Logistic(t, q, true)
		for name, penalty := range g {
			var factorised float64
			for _, how := range []string{"factorised", "iterated"} {
				s := implicit.New(fit)
				if how == "iterated" {
					s = implicit.NewIterative(fit)
				}
				h, err := s.Solve(context.Background(), penalty, at, outer, implicit.Options{Tol: 1e-14})
				if err != nil {
					t.Fatal(err)
				}
				var off float64
				for k, v := range want[name] {
					off = max(off, math.Abs(h.Gradient[k]-v))
				}
				most := math.Inf(1)
				switch {
				case how == "factorised":
					if factorised = h.ErrorBound; off > 1e-9 {
						most = 1e4 * off
					}
				case h.Status == outcome.Converged:
					most = 10 / h.InjectivityMargin * 1.4 * (factorised + 1e-9)
					confirmed++
				default:
					open++
				}
				if !(off <= h.ErrorBound) || h.ErrorBound > most {
					t.Errorf("seed %d, %s, %s: off by %g, bound %g of at most %g, %s", seed, how, name, off, h.ErrorBound, most, h.Status)
				}
			}
		}
	}
	if oracle.Cases(24) >= 24 && open > confirmed/12+1 { // the allowed share, if there are enough cases for one
		t.Errorf("%d confirmed without the factor, %d not", confirmed, open)
	}
}

// TestPointsTooFarForABoundHaveASlope checks a loose point whose distance to the solution is so large that the
// curvature of the criterion has no useful bound. The system is solved nevertheless, and the status says that
// nothing is certified, so that a search can use the slope for a step, and not that the system stalled.
func TestPointsTooFarForABoundHaveASlope(t *testing.T) {
	r := oracle.NewRandom(3)
	q := r.Problem(oracle.Shape{N: 24, P: 2, Density: 1})
	q.Classes(r)
	q.Uniform(1e-3)
	outer := implicit.Outer{Slope: make([]float64, 24), Curvature: make([]float64, 24), CurvatureWithin: func(reach float64) []float64 {
		return slices.Repeat([]float64{math.Exp(1e6 * reach)}, 24)
	}}
	for i := range outer.Slope {
		outer.Slope[i], outer.Curvature[i] = r.Normal(), 1
	}
	fit := fixture.Logistic(t, q, true)
	at := implicit.Point{Support: []int32{0, 1}, Coef: []float64{0.7, -0.4}, KKT: -1}
	for how, s := range map[string]*implicit.Solver{"factorised": implicit.New(fit), "iterated": implicit.NewIterative(fit)} {
		h, err := s.Solve(context.Background(), fixture.Penalty(t, q), at, outer, implicit.Options{})
		if err != nil || h.Status != outcome.SupportUncertified || !math.IsInf(h.ErrorBound, 1) || !(math.Abs(h.Gradient[0]) < 1e3) {
			t.Errorf("%s: %v, %s, gradient %g, bound %g", how, err, h.Status, h.Gradient, h.ErrorBound)
		}
	}
}

// TestNearlySingularSystemsSaySo checks two columns at an angle of 4.5e-7, whose system has eigenvalues 1 and
// 5e-14: conjugate gradients may converge in one step to a result without correct digits.
func TestNearlySingularSystemsSaySo(t *testing.T) {
	const angle = 4.5e-7
	q := &oracle.Problem{
		X: [][]float64{{1, 1}, {0, angle}, {1, -1}},
		Y: []float64{1, 2, 0}, Weights: []float64{1, 1, 0}, Alpha: []float64{1e-9, 1e-9},
	}
	g := fixture.Penalty(t, q)
	outer := implicit.Outer{Slope: []float64{0, 0, 1}, Curvature: make([]float64, 3)}
	at := implicit.Point{Support: []int32{0, 1}, Coef: []float64{1, -1}, KKT: -1}
	h, err := implicit.NewIterative(fixture.Squared(t, q, true)).Solve(context.Background(), g, at, outer, implicit.Options{Tol: 1e-3})
	if err != nil || h.Status != outcome.NotDifferentiable {
		t.Errorf("%v, %s, margin %g", err, h.Status, h.InjectivityMargin)
	}
}
