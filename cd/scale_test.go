package cd_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestPowersOfTwoChangeExponentsOnly checks that factors 2^a on X and 2^b on y, with
// strengths scaled to match, change only exponents in a solution and its hypergradient.
func TestPowersOfTwoChangeExponentsOnly(t *testing.T) {
	exponents := []int{0, 20, -20, 100, -100, 400, -400}
	if oracle.Few() {
		exponents = []int{0, -20, 400, -400}
	}
	for kind, name := range []string{"lasso", "enet", "wlasso", "unpenalised", "positive", "ridge", "logistic"} {
		r := oracle.NewRandom(uint64(6 + kind))
		q := r.Problem(oracle.Shape{N: 40, P: 60, Density: 0.5, Mean: 1, Weights: kind%2 == 0})
		q.Intercept = kind%3 == 0
		dense := kind%2 == 1
		top := q.AlphaMax()
		q.Uniform(0.05 * top)
		switch name {
		case "enet":
			q.Ridge = 0.3
		case "wlasso", "unpenalised":
			for j := range q.Alpha {
				q.Alpha[j] *= 0.8 + 0.4*r.Float64()
			}
			if name == "unpenalised" {
				q.Alpha[3], q.Alpha[5], q.Alpha[7] = 0, 0, math.Inf(1)
			}
		case "positive":
			q.Positive = true
		case "ridge":
			q.Uniform(0).Ridge = 0.3
		case "logistic":
			q.Classes(r)
			q.Uniform(0.05 * q.LogisticAlphaMax())
		}
		g := fixture.Penalty(t, q)
		fit := func(q *oracle.Problem) model.Datafit {
			if name == "logistic" {
				return fixture.Logistic(t, q, dense)
			}
			return fixture.Squared(t, q, dense)
		}
		type found struct {
			support        []int32
			coef, gradient []float64
			epochs, steps  int
			gap, bound     float64
		}
		find := func(a, b int) found {
			scaled := q.Clone()
			scaled.X, scaled.Y = make([][]float64, len(q.Y)), make([]float64, len(q.Y))
			for i := range q.X {
				scaled.Y[i] = math.Ldexp(q.Y[i], b)
				for _, v := range q.X[i] {
					scaled.X[i] = append(scaled.X[i], math.Ldexp(v, a))
				}
			}
			pen := g.Scaled(math.Ldexp(1, a+b), math.Ldexp(1, 2*a))
			f := fit(scaled)
			sol := solve(t, cd.New(f), pen, cd.Options{Tol: 1e-10, Polish: true})
			outer := implicit.Outer{Slope: make([]float64, len(q.Y)), Curvature: make([]float64, len(q.Y))}
			for i := range outer.Slope {
				outer.Slope[i], outer.Curvature[i] = math.Ldexp(float64(i%7)-3, b), 1
			}
			h, err := implicit.New(f).Solve(t.Context(), pen, implicit.Point{Support: sol.Support, Coef: sol.Coef, KKT: sol.KKT}, outer, implicit.Options{})
			if err != nil {
				t.Fatalf("%s: X·2^%d, y·2^%d: %v, %v", name, a, b, err, sol.Coef)
			}
			out := found{support: slices.Clone(sol.Support), epochs: sol.Epochs, steps: sol.Steps, gap: sol.RelativeGap, bound: math.Ldexp(h.ErrorBound, -2*b)}
			for _, c := range sol.Coef {
				out.coef = append(out.coef, math.Ldexp(c, a-b))
			}
			for _, v := range h.Gradient {
				out.gradient = append(out.gradient, math.Ldexp(v, -2*b))
			}
			return out
		}
		want := find(0, 0)
		if !(want.gap <= 1e-10) {
			t.Fatalf("%s: gap %g", name, want.gap)
		}
		for _, a := range exponents {
			for _, b := range exponents {
				if name == "logistic" && b != 0 {
					continue
				}
				got := find(a, b)
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("%s: X·2^%d, y·2^%d:\n%+v\nwant\n%+v", name, a, b, got, want)
				}
			}
		}
	}
}

// TestTheOriginOfTheTargetDoesNotMatter checks that, with an intercept, a number added to
// y without rounding changes the intercept and no bit of anything else.
func TestTheOriginOfTheTargetDoesNotMatter(t *testing.T) {
	r := oracle.NewRandom(4)
	q := r.Problem(oracle.Shape{N: 60, P: 80, Density: 0.5, Mean: 1, Weights: true})
	q.Intercept = true
	for i, v := range q.Y {
		q.Y[i] = math.Round(4*v) / 4
	}
	q.Uniform(0.05 * q.AlphaMax())
	var want *cd.Solution
	for _, origin := range []float64{0, 1 << 20, -1 << 40, 1 << 50} {
		moved := q.Clone()
		moved.Y = make([]float64, len(q.Y))
		for i, v := range q.Y {
			moved.Y[i] = v + origin
		}
		got := solve(t, cd.New(fixture.Squared(t, moved, false)), fixture.Penalty(t, q), cd.Options{Tol: 1e-12})
		if want == nil {
			want = got
		}
		if got.Status != outcome.Converged || got.Gap != want.Gap || got.Epochs != want.Epochs || !slices.Equal(got.Coef, want.Coef) || !slices.Equal(got.Residual, want.Residual) {
			t.Errorf("y + %g: %s, gap %g after %d sweeps; without %g after %d", origin, got.Status, got.Gap, got.Epochs, want.Gap, want.Epochs)
		}
		if math.Abs(got.Intercept-origin-want.Intercept) > 1e-15*math.Abs(origin) {
			t.Errorf("y + %g: intercept %g, without %g", origin, got.Intercept, want.Intercept)
		}
	}
}

// TestRoundingEndsASolve checks columns with a mean of 2^40 and a deviation of 1, where
// rounding prevents a tolerance of 1e-9: a solve must end soon, as not converged, with
// the gap that it has reached.
func TestRoundingEndsASolve(t *testing.T) {
	r := oracle.NewRandom(5)
	q := r.Problem(oracle.Shape{N: 100, P: 20, Noise: 1})
	q.Intercept = true
	q.Uniform(0.01 * q.AlphaMax())
	for _, row := range q.X {
		for j := range row {
			row[j] += 1 << 40
		}
	}
	sol := solve(t, cd.New(fixture.Squared(t, q, true)), fixture.Penalty(t, q), cd.Options{Tol: 1e-9})
	if sol.Status != outcome.NotConverged || sol.Epochs > 2000 || !(sol.RelativeGap > 1e-9 && sol.RelativeGap < 0.1) {
		t.Errorf("%s after %d sweeps at a gap of %.1e", sol.Status, sol.Epochs, sol.RelativeGap)
	}
}
