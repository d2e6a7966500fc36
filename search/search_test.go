package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestSmoothMinima checks functions that resemble validation curves, from the middle and from both ends of the box.
func TestSmoothMinima(t *testing.T) {
	for seed := range uint64(100) {
		r := oracle.NewRandom(seed)
		centre, height, width := -9*r.Float64()-1, 1+10*r.Float64(), 0.5+2*r.Float64()
		curve := func(x float64) (float64, float64) { // a valley with flat shoulders
			z := (x - centre) / width
			e := math.Exp(-z * z / 8)
			return 1 + height*(1-e), height * e * z / (4 * width)
		}
		for _, m := range methods {
			for _, start := range []float64{-12, centre - width, centre + width, -0.01} {
				f, box := scalar(curve), cube(1, -12, 0)
				name := fmt.Sprintf("seed %d, %s from %g to %g", seed, m.name, start, centre)
				result, err := m.run(context.Background(), f, start, box, Options{})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				promises(t, name, f, box, 50, result)
				if !result.Status.OK() {
					t.Errorf("%s: %s", name, result.Status)
				}
				if math.Abs(start-centre) <= width*1.01 {
					// Starts close enough to see the valley must find its minimum.
					if x := result.Best.LogLambda[0]; math.Abs(x-centre) > 0.02*width || result.Status != outcome.Stationary {
						t.Errorf("%s: %s at %g after %d evaluations", name, result.Status, x, len(f.seen))
					}
					if m.name == "secant" && len(f.seen) > 9 {
						t.Errorf("%s: %d evaluations", name, len(f.seen))
					}
				}
			}
		}
	}
}

// TestKinks checks slopes that change sign without vanishing.
func TestKinks(t *testing.T) {
	for seed := range uint64(40) {
		r := oracle.NewRandom(seed)
		at, left, right := -3-5*r.Float64(), 0.2+r.Float64(), 0.2+r.Float64()
		kink := func(x float64) (float64, float64) {
			z := x - at
			if z < 0 {
				return 1 - left*z + 0.1*z*z, -left + 0.2*z
			}
			return 1 + right*z + 0.1*z*z, right + 0.2*z
		}
		for _, m := range methods {
			f, box := scalar(kink), cube(1, -12, 0)
			name := fmt.Sprintf("seed %d, %s", seed, m.name)
			result, err := m.run(context.Background(), f, -1, box, Options{Evaluations: 100})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			promises(t, name, f, box, 100, result)
			if result.Best.Value > 1.001 {
				t.Errorf("%s: %s at a value of %g after %d evaluations", name, result.Status, result.Best.Value, len(f.seen))
			}
			if result.Status != outcome.Kink {
				t.Errorf("%s: %s, not a kink, after %d evaluations", name, result.Status, len(f.seen))
			}
		}
	}
}

// TestSawTooth checks a slope that jumps at every knot, under a value that looks smooth, as with real data.
func TestSawTooth(t *testing.T) {
	for seed := range uint64(60) {
		r := oracle.NewRandom(seed)
		centre, teeth, size := -7*r.Float64()-2, 3+30*r.Float64(), r.Pick(0.02, 0.1, 0.5)
		saw := func(x float64) (float64, float64) {
			z := x - centre
			k := z * teeth
			frac := k - math.Floor(k)
			return 1 + 0.1*z*z - size/teeth*(frac*frac-frac)/2, 0.2*z - size*(frac-0.5)
		}
		least := math.Inf(1)
		for x := -12.0; x <= 0; x += 1e-3 {
			value, _ := saw(x)
			least = min(least, value)
		}
		for _, m := range methods {
			f, box := scalar(saw), cube(1, -12, 0)
			name := fmt.Sprintf("seed %d, %s, teeth %.0f of %g", seed, m.name, teeth, size)
			result, err := m.run(context.Background(), f, -5, box, Options{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			promises(t, name, f, box, 50, result)
			if size < 0.1 && result.Best.Value > least+0.01 {
				t.Errorf("%s: %s at %g, the least is %g", name, result.Status, result.Best.Value, least)
			}
		}
	}
}

// TestBorders checks that a slope that leads out of the box ends at its border.
func TestBorders(t *testing.T) {
	for _, m := range methods {
		for _, c := range []struct{ start, slope, end float64 }{{-5, 1, -12}, {-5, -1, 0}, {-12, 1, -12}, {0, -1, 0}, {-30, 1, -12}, {7, -1, 0}} {
			f, box := scalar(func(x float64) (float64, float64) { return 20 + c.slope*x, c.slope }), cube(1, -12, 0)
			name := fmt.Sprintf("%s from %g, slope %g", m.name, c.start, c.slope)
			result, err := m.run(context.Background(), f, c.start, box, Options{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			promises(t, name, f, box, 50, result)
			if result.Status != outcome.Box || result.Best.LogLambda[0] != c.end {
				t.Errorf("%s: %s at %v", name, result.Status, result.Best.LogLambda)
			}
		}
	}
	// A box that is a single point.
	for _, m := range methods {
		f, box := scalar(func(x float64) (float64, float64) { return x * x, 2 * x }), cube(1, -3, -3)
		result, err := m.run(context.Background(), f, 1, box, Options{})
		if err != nil || result.Status != outcome.Box || len(f.seen) > 2 {
			t.Errorf("%s in a box of one point: %v, %v", m.name, result, err)
		}
	}
}

// TestFlatZones checks that where the gradient is exactly 0 nothing is divided by it, and that the search ends as
// Flat, or at a minimum found after starting again inside.
func TestFlatZones(t *testing.T) {
	valley := func(edge, centre float64) *analytic {
		f := scalar(func(x float64) (float64, float64) {
			if x >= edge {
				return 1 + (edge-centre)*(edge-centre), 0
			}
			return 1 + (x-centre)*(x-centre), 2 * (x - centre)
		})
		f.at = func(k int, e *Evaluation) error {
			e.Flat = f.seen[k].LogLambda[0] >= edge
			return nil
		}
		return f
	}
	for _, m := range methods {
		f, box := valley(-100, 0), cube(1, -12, 0)
		result, err := m.run(context.Background(), f, -1, box, Options{})
		if err != nil || result.Status != outcome.Flat {
			t.Fatalf("%s: flat everywhere: %v, %v", m.name, result, err)
		}
		promises(t, m.name, f, box, 50, result)
	}
	// The secant method starts again inside the box.
	for _, c := range []struct{ edge, centre float64 }{{0, -3}, {-0.5, -3}, {0, -1}, {-0.5, -1.2}, {0, -0.4}} {
		f, box := valley(c.edge, c.centre), cube(1, -12, 0)
		result, err := Secant(context.Background(), f, 0, box, Options{})
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("edge %g, minimum at %g", c.edge, c.centre)
		promises(t, name, f, box, 50, result)
		if result.Status != outcome.Stationary || math.Abs(result.Best.LogLambda[0]-c.centre) > 0.01 {
			t.Errorf("%s: %s at %v", name, result.Status, result.Best.LogLambda)
		}
	}
	// A zero slope that is not reported as flat is a stationary point.
	for _, m := range methods {
		for _, slope := range []float64{0, 1e-310} {
			f := scalar(func(float64) (float64, float64) { return 1, slope })
			result, err := m.run(context.Background(), f, -1, cube(1, -12, 0), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if result.Status != outcome.Stationary && result.Status != outcome.Box {
				t.Errorf("%s: slope %g: %s", m.name, slope, result.Status)
			}
			promises(t, m.name, f, cube(1, -12, 0), 50, result)
		}
	}
}

func pick(c bool, a, b float64) float64 {
	if c {
		return a
	}
	return b
}

// TestNotANumber checks that values or slopes that are NaN somewhere never become the result, and never lead out
// of the box.
func TestNotANumber(t *testing.T) {
	nan := math.NaN()
	for _, m := range methods {
		for name, f := range map[string]func(x float64) (float64, float64){
			"value below −6":           func(x float64) (float64, float64) { return pick(x < -6, nan, x*x/10+x), x/5 + 1 },
			"value and slope below −6": func(x float64) (float64, float64) { return pick(x < -6, nan, x*x/10+x), pick(x < -6, nan, x/5+1) },
			"slope below −4":           func(x float64) (float64, float64) { return x*x/10 + x, pick(x < -4, nan, x/5+1) },
			"value above −2":           func(x float64) (float64, float64) { return pick(x > -2, nan, x*x/10+x), x/5 + 1 },
			"infinite below −6":        func(x float64) (float64, float64) { return pick(x < -6, math.Inf(1), x*x/10+x), x/5 + 1 },
		} {
			f, box := scalar(f), cube(1, -12, 0)
			name = m.name + ", " + name
			result, err := m.run(context.Background(), f, -1, box, Options{Evaluations: 30})
			if err != nil && outcome.KindOf(err) != outcome.NonFinite {
				t.Fatalf("%s: %v", name, err)
			}
			if result.Best.LogLambda == nil && err != nil {
				continue
			}
			promises(t, name, f, box, 30, result)
			if math.IsNaN(result.Best.Value) {
				t.Errorf("%s: the result is NaN", name)
			}
		}
		f := scalar(func(float64) (float64, float64) { return nan, nan })
		if _, err := m.run(context.Background(), f, -1, cube(1, -12, 0), Options{Evaluations: 10}); outcome.KindOf(err) != outcome.NonFinite {
			t.Errorf("%s: NaN everywhere: %v", m.name, err)
		}
	}
}

// TestErrorsEndTheSearch checks that an error of the objective is returned, with the evaluations made before it.
func TestErrorsEndTheSearch(t *testing.T) {
	broken := errors.New("broken")
	for _, m := range methods {
		f := scalar(parabola)
		f.at = func(k int, _ *Evaluation) error {
			if k == 2 {
				return broken
			}
			return nil
		}
		result, err := m.run(context.Background(), f, -1, cube(1, -12, 0), Options{})
		if !errors.Is(err, broken) || len(result.Evaluations) != 2 {
			t.Errorf("%s: %v, %d evaluations", m.name, err, len(result.Evaluations))
		}
	}
}

// TestCancelledSearchesReturnTheBestSoFar checks that a cancelled search returns the best point so far, and no
// error.
func TestCancelledSearchesReturnTheBestSoFar(t *testing.T) {
	for _, m := range methods {
		for after := range 4 {
			ctx, cancel := context.WithCancel(context.Background())
			f, count := scalar(parabola), 0
			if after == 0 {
				cancel()
			}
			result, err := m.run(ctx, f, -1, cube(1, -12, 0), Options{Progress: func(Evaluation) {
				if count++; count == after {
					cancel()
				}
			}})
			cancel()
			if err != nil || result.Status != outcome.Cancelled || len(result.Evaluations) != after {
				t.Fatalf("%s after %d: %v, %+v", m.name, after, err, result)
			}
			if after > 0 {
				promises(t, m.name, f, cube(1, -12, 0), 50, result)
			}
		}
	}
}

func TestBudgets(t *testing.T) {
	for _, m := range methods {
		for budget := 1; budget < 4; budget++ {
			f, called := scalar(parabola), 0
			result, err := m.run(context.Background(), f, -1, cube(1, -12, 0), Options{
				Evaluations: budget, Progress: func(Evaluation) { called++ },
			})
			if err != nil {
				t.Fatal(err)
			}
			promises(t, m.name, f, cube(1, -12, 0), budget, result)
			if result.Status != outcome.Budget || len(f.seen) != budget || called != budget {
				t.Errorf("%s, budget %d: %s, %d evaluations, %d calls of Progress", m.name, budget, result.Status, len(f.seen), called)
			}
		}
	}
}

// TestArguments checks that invalid arguments are refused before the objective is evaluated.
func TestArguments(t *testing.T) {
	nan := math.NaN()
	for _, m := range methods {
		for _, c := range []struct {
			start float64
			box   Box
			o     Options
			kind  outcome.Kind
		}{
			{nan, cube(1, -1, 0), Options{}, outcome.BadParameter},
			{0, cube(1, 1, 0), Options{}, outcome.BadParameter},
			{0, cube(1, nan, 0), Options{}, outcome.BadParameter},
			{0, Box{}, Options{}, outcome.Shape},
			{0, Box{Lower: []float64{0, 0}, Upper: []float64{1, 1}}, Options{}, outcome.Shape},
			{0, cube(1, -1, 0), Options{Evaluations: -1}, outcome.BadParameter},
			{0, cube(1, -1, 0), Options{Stop: -1}, outcome.BadParameter},
			{0, cube(1, -1, 0), Options{Stop: nan}, outcome.BadParameter},
		} {
			f := scalar(parabola)
			if _, err := m.run(context.Background(), f, c.start, c.box, c.o); outcome.KindOf(err) != c.kind || len(f.seen) != 0 {
				t.Errorf("%s from %g in %v, %+v: %v after %d evaluations", m.name, c.start, c.box, c.o, err, len(f.seen))
			}
		}
	}
	if _, err := Gradient(context.Background(), scalar(parabola), nil, Box{}, Options{}); outcome.KindOf(err) != outcome.Shape {
		t.Errorf("no coordinates: %v", err)
	}
}

// TestGradientInSeveralDimensions checks quadratics of moderate condition, with the minimum inside and outside the
// box.
func TestGradientInSeveralDimensions(t *testing.T) {
	for seed := range uint64(60) {
		r := oracle.NewRandom(seed)
		dim := 2 + r.Intn(3)
		centre, curvature := make([]float64, dim), make([]float64, dim)
		box := Box{Lower: make([]float64, dim), Upper: make([]float64, dim)}
		start, best := make([]float64, dim), 1.0
		outside := seed%3 == 0
		for i := range dim {
			centre[i], curvature[i] = -8*r.Float64()-0.5, math.Exp(2*r.Float64()-2)
			if outside && i == 0 {
				centre[i] = 1 + r.Float64()
				best += curvature[i] * centre[i] * centre[i] / 2
			}
			box.Lower[i], start[i] = -9, -9*r.Float64()
		}
		f := &analytic{f: bowl(centre, curvature)}
		result, err := Gradient(context.Background(), f, start, box, Options{Evaluations: 200})
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("seed %d, %d dimensions", seed, dim)
		promises(t, name, f, box, 200, result)
		if result.Best.Value > best*(1+1e-4) {
			t.Errorf("%s: %s at %.8g, the least is %.8g, after %d evaluations", name, result.Status, result.Best.Value, best, len(f.seen))
		}
		want := outcome.Stationary
		if outside {
			want = outcome.Box
		}
		if result.Status != want {
			t.Errorf("%s: %s, want %s", name, result.Status, want)
		}
	}
}

func TestGrid(t *testing.T) {
	points := Geometric(0, -12, 25)
	f := scalar(parabola)
	result, err := Grid(context.Background(), f, points, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.seen) != 25 || f.seen[0].LogLambda[0] != 0 || f.seen[24].LogLambda[0] != -12 {
		t.Errorf("the grid was %v", f.seen)
	}
	if result.Status != outcome.Exhausted || result.Best.LogLambda[0] != -6 || result.Best.Gradient != nil {
		t.Errorf("%s at %+v", result.Status, result.Best)
	}
	// A best point on the edge of the grid may not be the minimum.
	for _, span := range []float64{-5, -6} {
		f = scalar(parabola)
		if result, err = Grid(context.Background(), f, Geometric(0, span, 6), Options{}); err != nil || result.Status != outcome.Box {
			t.Errorf("down to %g: %v, %v", span, result, err)
		}
	}
	f = scalar(parabola)
	if result, err = Grid(context.Background(), f, points, Options{Evaluations: 7}); err != nil || result.Status != outcome.Budget || len(f.seen) != 7 {
		t.Errorf("a budget of 7: %v, %v", result, err)
	}
	if _, err = Grid(context.Background(), scalar(parabola), nil, Options{}); outcome.KindOf(err) != outcome.BadParameter {
		t.Errorf("no points: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if result, err = Grid(ctx, scalar(parabola), points, Options{}); err != nil || result.Status != outcome.Cancelled {
		t.Errorf("cancelled: %v, %v", result, err)
	}
	if one := Geometric(3, -1, 1); len(one) != 1 || one[0][0] != 3 {
		t.Errorf("a grid of one point: %v", one)
	}
	if result, err = Grid(context.Background(), scalar(parabola), Geometric(3, -1, 1), Options{}); err != nil || result.Status != outcome.Exhausted {
		t.Errorf("a grid of one point: %v, %v", result, err)
	}
}

// TestSearchesRepeat checks that the same objective leads to the same evaluations, bit for bit.
func TestSearchesRepeat(t *testing.T) {
	for _, m := range methods {
		var first []Request
		for range 3 {
			f := scalar(parabola)
			if _, err := m.run(context.Background(), f, -1.25, cube(1, -12, 0), Options{}); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = f.seen
			}
			if !slices.EqualFunc(first, f.seen, func(a, b Request) bool { return slices.Equal(a.LogLambda, b.LogLambda) }) {
				t.Errorf("%s: %v, then %v", m.name, first, f.seen)
			}
		}
	}
}
