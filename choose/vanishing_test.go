package choose_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/choose"
	"github.com/seed-45b9a24c/pare/search"
)

// shrunk is the criterion (α + α₂)², which decreases with the first strength α.
type shrunk struct{}

func (shrunk) Eval(_ context.Context, r search.Request) (search.Evaluation, error) {
	a, b := math.Exp(r.LogLambda[0]), math.Exp(r.LogLambda[1])
	slope := 2 * (a + b)
	return search.Evaluation{
		LogLambda: r.LogLambda, Value: (a + b) * (a + b),
		Gradient: []float64{slope * a, slope * b}, Curvature: []float64{2 * a * a, 2 * a * b, 2 * a * b, 2 * b * b},
	}, nil
}

// TestVanishing checks that slopes and curvature are with respect to α in units of its floor below the floor, with
// respect to λ above it, and that both agree at the floor. lift returns an evaluation with respect to λ.
func TestVanishing(t *testing.T) {
	const floor = -2
	f, at, lift := choose.Vanishing(shrunk{}, floor)
	for _, lambda := range []float64{-20, -5, -2.1, floor, -1} {
		in := []float64{lambda, -1.5}
		x := at(in)
		unit := min(1, math.Exp(lambda-floor)) // dt/dλ, t the first coordinate
		if want := floor - 1 + math.Exp(lambda-floor); lambda < floor && math.Abs(x[0]-want) > 1e-15 || lambda >= floor && x[0] != lambda || x[1] != in[1] {
			t.Errorf("λ = %g is at %g", lambda, x)
		}
		e, err := f.Eval(context.Background(), search.Request{LogLambda: x})
		if err != nil {
			t.Fatal(err)
		}
		plain, _ := shrunk{}.Eval(context.Background(), search.Request{LogLambda: in})
		if e.LogLambda[0] != x[0] || !near(e.Value, plain.Value) {
			t.Errorf("λ = %g: %g at %g, want %g", lambda, e.Value, e.LogLambda, plain.Value)
		}
		if g, h := e.Gradient, e.Curvature; !near(g[0]*unit, plain.Gradient[0]) || !near(g[1], plain.Gradient[1]) ||
			!near(h[0]*unit*unit, plain.Curvature[0]) || !near(h[1]*unit, plain.Curvature[1]) || !near(h[2]*unit, plain.Curvature[2]) || !near(h[3], plain.Curvature[3]) {
			t.Errorf("λ = %g: slopes %g, curvature %g; in λ %g and %g", lambda, g, h, plain.Gradient, plain.Curvature)
		}
		back := lift(e)
		if math.Abs(back.LogLambda[0]-lambda) > 1e-6 || !near(back.Gradient[0], plain.Gradient[0]) || back.Gradient[1] != e.Gradient[1] {
			t.Errorf("λ = %g: lifted %g with slopes %g, want %g", lambda, back.LogLambda, back.Gradient, plain.Gradient)
		}
	}
	// A step of almost 1 down from the floor, where α is almost 0.
	if e, _ := f.Eval(context.Background(), search.Request{LogLambda: []float64{floor - 0.999, -1.5}}); e.Gradient[0] < 0.5*math.Exp(-1.5-2) {
		t.Errorf("slope %g where next to nothing of the strength is left", e.Gradient[0])
	}
}

// near allows for the rounding of α, which near 0 is a difference of numbers close to 1.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-7*math.Abs(b) }
