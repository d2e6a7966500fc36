package implicit_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// tiedNet is a user's own penalty, an elastic net with one λ: α(|b| + b²/2), α = e^λ. It does not provide a
// duality gap.
type tiedNet float64

func (g tiedNet) alpha() float64                 { return math.Exp(float64(g)) }
func (tiedNet) Hyperparameters() int             { return 1 }
func (g tiedNet) Value(_ int, b float64) float64 { return g.alpha() * (math.Abs(b) + b*b/2) }
func (g tiedNet) Strength() float64              { return g.alpha() }
func (tiedNet) LargestStep() float64             { return math.Inf(1) }

func (g tiedNet) Slope(_ int, b float64) float64 { return math.Copysign(g.alpha(), b) + g.alpha()*b }

func (g tiedNet) Shift(j, _ int, b float64) float64 { return -g.Slope(j, b) }

func (g tiedNet) Curvature(_ int, b float64) float64 {
	if b == 0 {
		return 0
	}
	return g.alpha()
}

func (g tiedNet) Prox(_ int, z, step float64) (value, slope float64) {
	if b := model.SoftThreshold(z, step*g.alpha()); b != 0 {
		slope = 1 / (1 + step*g.alpha())
		return b * slope, slope
	}
	return 0, 0
}

// TestSeparablePenaltyOfAUser checks that a penalty unknown to the library is solved and differentiated like the
// elastic net that it is, with the status Stationary, since it has no gap.
func TestSeparablePenaltyOfAUser(t *testing.T) {
	for _, l := range []loss.Loss{loss.Squared{}, loss.Logistic{}} {
		fit, y, rows := heldOut(t, l)
		_, p := fit.View().Dims()
		g := tiedNet(math.Log(0.2 * model.AlphaMax(fit)))
		blocks, part := fixture.OneScore(t, fit), model.Singletons(p)
		solver := cd.NewBlocks(blocks, part)
		s, err := solver.Solve(context.Background(), model.Elementwise{Of: g}, cd.Options{Tol: 1e-12})
		if err != nil || s.Status != outcome.Stationary || !math.IsNaN(s.Gap) {
			t.Fatalf("%s: %v, gap %g: %v", l.Name(), s.Status, s.Gap, err)
		}
		net, err := model.ElasticNet(float64(g), float64(g))
		if err != nil {
			t.Fatal(err)
		}
		want, err := cd.New(fit).Solve(context.Background(), net, cd.Options{Tol: 1e-14})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(s.Objective/want.Objective-1) > 1e-13 || len(s.Support) != len(want.Support) {
			t.Fatalf("%s: objective %.15g on %d columns, of the elastic net %.15g on %d", l.Name(), s.Objective, len(s.Support), want.Objective, len(want.Support))
		}
		slope, curvature := make([]float64, len(y)), make([]float64, len(y))
		state := model.NewState(fit)
		fit.Fit(s.Support, s.Coef, state)
		criterion.Of(l).Eval(rows, y, state.Prediction, slope, curvature)
		outer := implicit.Outer{Slope: slope, Curvature: curvature}
		both, err := implicit.New(fit).Solve(context.Background(), net, implicit.Point{Support: want.Support, Coef: want.Coef, KKT: -1}, outer, implicit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		at := implicit.BlockPoint{Support: s.Support, Beta: s.Beta, Correlation: solver.Correlation(), Point: s.Point, KKT: s.KKT, Margin: s.Margin}
		got, err := implicit.NewBlocks(blocks, part, solver.System()).Solve(context.Background(), model.Elementwise{Of: g}, at, slope, curvature, implicit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sum := both.Gradient[0] + both.Gradient[1]
		if got.Status != outcome.Converged || math.Abs(got.Gradient[0]-sum) > 1e-9*math.Abs(sum) {
			t.Errorf("%s: %s, %.12g, but the two derivatives of the elastic net sum to %.12g", l.Name(), got.Status, got.Gradient[0], sum)
		}
	}
}
