package loss_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
)

// one evaluates a method of a loss on a single row.
func one(k *kernels.Set, method func(*kernels.Set, []float64, []float64, []float64), y, m float64) float64 {
	out := []float64{0}
	method(k, []float64{y}, []float64{m}, out)
	return out[0]
}

// TestEveryLossHasADefinition checks that every loss has an independent definition to be tested against.
func TestEveryLossHasADefinition(t *testing.T) {
	defined := map[string]bool{}
	for _, w := range fixture.Losses() {
		defined[w.Name()] = true
	}
	for _, l := range loss.All() {
		if !defined[l.Name()] {
			t.Errorf("fixture.Losses lacks %s", l.Name())
		}
	}
}

// TestLossesAgainstTheirDefinitions checks values and slopes against formulas, and slopes, curvatures and third
// derivatives against central differences of the next lower derivative, away from kinks.
func TestLossesAgainstTheirDefinitions(t *testing.T) {
	for _, w := range fixture.Losses() {
		r := oracle.NewRandom(1)
		for _, k := range kernels.Available() {
			for range 200 {
				y, m := w.Defined.Draw(r), 2*r.Normal()
				if near(w, y, m) {
					continue
				}
				if got, want := one(k, w.Value, y, m), w.Defined.Value(y, m); math.Abs(got-want) > 4e-15*(1+want) {
					t.Fatalf("%s at (%g, %g): %.17g, want %.17g", w.Name(), y, m, got, want)
				}
				if got, want := one(k, w.Slope, y, m), w.Defined.Slope(y, m); math.Abs(got-want) > 4e-15*(1+math.Abs(want)+math.Abs(m)) {
					t.Fatalf("%s at (%g, %g): slope %.17g, want %.17g", w.Name(), y, m, got, want)
				}
				const h = 1e-4
				change := func(f func(*kernels.Set, []float64, []float64, []float64)) float64 {
					return (one(k, f, y, m+h) - one(k, f, y, m-h)) / (2 * h)
				}
				for name, c := range map[string][2]float64{
					"slope":     {one(k, w.Slope, y, m), -change(w.Value)},
					"curvature": {one(k, w.Curvature, y, m), -change(w.Slope)},
					"third":     {one(k, w.Third, y, m), change(w.Curvature)},
				} {
					if math.Abs(c[0]-c[1]) > 1e-7*(1+math.Abs(c[1])) {
						t.Errorf("%s at (%g, %g): %s %g, differences %g", w.Name(), y, m, name, c[0], c[1])
					}
				}
			}
		}
	}
}

// TestOneRowIsAsAll checks that the methods for a single row agree with those for many rows.
func TestOneRowIsAsAll(t *testing.T) {
	for _, w := range fixture.Losses() {
		at := func(y, m float64) (slope, curvature float64) { return math.NaN(), math.NaN() }
		switch l := w.Loss.(type) {
		case loss.Squared:
			continue
		case loss.Pointwise:
			at = l.At
		case loss.Clipped:
			at = func(y, m float64) (slope, curvature float64) {
				lower, upper := l.Interval(y)
				if y-m > lower && y-m < upper {
					curvature = 1
				}
				return max(lower, min(y-m, upper)), curvature
			}
		}
		r := oracle.NewRandom(2)
		for round := range 200 {
			y, m := w.Defined.Draw(r), 4*r.Normal()
			if w.Defined.Kinks != nil && round < 40 { // at the kink itself
				m = r.Pick(w.Defined.Kinks(y)...)
			}
			slope, curvature := at(y, m)
			k := kernels.Available()[0]
			if want := one(k, w.Slope, y, m); math.Abs(slope-want) > 4e-16*math.Abs(want) {
				t.Errorf("%s at (%g, %g): slope %.17g, want %.17g", w.Name(), y, m, slope, want)
			}
			if want := one(k, w.Curvature, y, m); math.Abs(curvature-want) > 1e-15*(1+want) {
				t.Errorf("%s at (%g, %g): curvature %.17g, want %.17g", w.Name(), y, m, curvature, want)
			}
		}
	}
}

func near(w fixture.Loss, y, m float64) bool {
	if w.Defined.Kinks == nil {
		return false
	}
	for _, at := range w.Defined.Kinks(y) {
		if math.Abs(m-at) < 1e-3 {
			return true
		}
	}
	return false
}

// TestDivergenceIsWhatFenchelsEqualityLacks checks the divergence against ℓ + ℓ* + ρ̃m, for factors from 0 to 1
// that depend on the sign of the residual. For factors near 1, where this sum cancels, the divergence is (1 −
// c)²ρ²/(2ℓ″) to first order.
func TestDivergenceIsWhatFenchelsEqualityLacks(t *testing.T) {
	k := kernels.Available()[0]
	for _, w := range fixture.Losses() {
		r := oracle.NewRandom(2)
		for range 300 {
			y, m := w.Defined.Draw(r), 2*r.Normal()
			rho := one(k, w.Slope, y, m)
			at := loss.Dual{Scale: r.Float64(), Balance: [2]float64{1, 1}}
			at.Balance[r.Intn(2)] = r.Float64()
			balanced := at.Balance[loss.Side(rho)] * rho
			at.Slope = []float64{balanced}
			out := []float64{0}
			w.Divergence(k, []float64{y}, []float64{m}, at, out)
			dual := at.Scale * balanced
			want := w.Defined.Value(y, m) + w.Defined.Conjugate(y, dual) + dual*m
			if size := math.Abs(w.Defined.Value(y, m)) + math.Abs(dual*m) + 1; math.Abs(out[0]-want) > 1e-14*size || out[0] < 0 {
				t.Errorf("%s at (%g, %g), c %g: %g, want %g", w.Name(), y, m, at.Scale*at.Balance[loss.Side(rho)], out[0], want)
			}
			bend := one(k, w.Curvature, y, m)
			if bend < 1e-3 || near(w, y, m) {
				continue
			}
			const rest = 0x1p-20
			w.Divergence(k, []float64{y}, []float64{m}, loss.Dual{Slope: []float64{rho}, Scale: 1 - rest, Balance: [2]float64{1, 1}}, out)
			if want := rest * rest * rho * rho / (2 * bend); math.Abs(out[0]-want) > 1e-3*want {
				t.Errorf("%s at (%g, %g): %g next to the optimum, want %g", w.Name(), y, m, out[0], want)
			}
		}
	}
}

// TestBoundsOfLosses checks for losses that declare them that ℓ″ ≤ L and |ℓ‴| ≤ M·ℓ″, and that the majorant lies
// above the loss.
func TestBoundsOfLosses(t *testing.T) {
	k := kernels.Available()[0]
	for _, w := range fixture.Losses() {
		r := oracle.NewRandom(3)
		bound, smooth := w.Smoothness()
		concordance, ok := w.Concordance()
		for range 300 {
			y, m := w.Defined.Draw(r), 4*r.Normal()
			bend, third := one(k, w.Curvature, y, m), one(k, w.Third, y, m)
			if bend < 0 || smooth && bend > bound {
				t.Errorf("%s at (%g, %g): curvature %g, bound %g", w.Name(), y, m, bend, bound)
			}
			if ok && math.Abs(third) > concordance*bend {
				t.Errorf("%s at (%g, %g): third derivative %g, curvature %g", w.Name(), y, m, third, bend)
			}
			majorised, ok := w.Loss.(loss.Majorised)
			if !ok {
				continue
			}
			above, step := one(k, majorised.Majorant, y, m), 3*r.Normal()
			parabola := w.Defined.Value(y, m) - one(k, w.Slope, y, m)*step + above*step*step/2
			if value := w.Defined.Value(y, m+step); value > parabola+1e-12 {
				t.Errorf("%s: %g above the majorant of (%g, %g) at a step of %g", w.Name(), value-parabola, y, m, step)
			}
		}
	}
}

// TestJumpsWithinReach checks that CurvatureWithin returns the largest curvature over the predictions within a
// reach, against a thousand of these.
func TestJumpsWithinReach(t *testing.T) {
	k, out, jumping := kernels.Available()[0], make([]float64, 1), 0
	for _, w := range fixture.Losses() {
		l, ok := w.Loss.(loss.Jumping)
		if !ok {
			continue
		}
		jumping++
		if _, concordant := l.Concordance(); concordant {
			t.Errorf("%s: a curvature that jumps is not self-concordant", w.Name())
		}
		r := oracle.NewRandom(5)
		for range 300 {
			y, m, reach := w.Defined.Draw(r), 3*r.Normal(), math.Abs(r.Normal())
			most := 0.0
			for i := range 1001 {
				most = max(most, one(k, w.Curvature, y, m+reach*float64(i-500)/500))
			}
			if l.CurvatureWithin(reach, []float64{y}, []float64{m}, out); out[0] != most {
				t.Errorf("%s at (%g, %g), reach %g: %g, want %g", w.Name(), y, m, reach, out[0], most)
			}
		}
	}
	if jumping != 3 {
		t.Errorf("%d losses whose curvature jumps", jumping)
	}
}

// TestBoundsOfCurvatureAreMet checks that the bound of ℓ″ is attained: twice the bound would pass all tests that
// ask only for a bound.
func TestBoundsOfCurvatureAreMet(t *testing.T) {
	k := kernels.Available()[0]
	for _, w := range fixture.Losses() {
		bound, smooth := w.Smoothness()
		if !smooth {
			continue
		}
		r, most := oracle.NewRandom(4), 0.0
		for range 3000 {
			y, m := w.Defined.Draw(r), r.Normal()
			most = max(most, one(k, w.Curvature, y, m), one(k, w.Curvature, y, y+0.01*m))
		}
		if most < 0.99*bound {
			t.Errorf("%s: curvature up to %g, bound %g", w.Name(), most, bound)
		}
	}
}

// TestPoissonNearItsMean checks that the value y(e^h − 1 − h) for h = m − ln y keeps its digits where it cancels,
// against its series computed with 60 digits.
func TestPoissonNearItsMean(t *testing.T) {
	k := kernels.Available()[0]
	for _, h := range []float64{1e-12, -1e-9, 1e-6, -1e-4, 1e-3, -0.01, 0.05, -0.3, 0.9, -1, 2} {
		sum, term := new(big.Float).SetPrec(200), new(big.Float).SetPrec(200).SetInt64(1)
		for i := range 80 {
			if i >= 2 {
				sum.Add(sum, term)
			}
			term.Mul(term, big.NewFloat(h))
			term.Quo(term, big.NewFloat(float64(i+1)))
		}
		want, _ := sum.Float64()
		if got := one(k, loss.Poisson{}.Value, 1, h); math.Abs(got-want) > 1e-13*want {
			t.Errorf("at %g: %g, want %g", h, got, want)
		}
	}
}

// TestExtremePredictions checks that derivatives are finite and values neither NaN nor negative, even where
// exponentials overflow.
func TestExtremePredictions(t *testing.T) {
	for _, k := range kernels.Available() {
		for _, w := range fixture.Losses() {
			for _, y := range []float64{1, -1, 0, 3} {
				if w.Check(y) != nil {
					continue
				}
				for _, m := range []float64{0, 40, -40, 750, -750, 1e300, -1e300} {
					if v := one(k, w.Value, y, m); !(v >= 0) {
						t.Errorf("%s: ℓ(%g, %g) = %g", w.Name(), y, m, v)
					}
					for name, v := range map[string]float64{"slope": one(k, w.Slope, y, m), "curvature": one(k, w.Curvature, y, m), "third": one(k, w.Third, y, m)} {
						if math.IsNaN(v) || math.IsInf(v, 0) {
							t.Errorf("%s: the %s at (%g, %g) is %g", w.Name(), name, y, m, v)
						}
					}
				}
			}
		}
	}
}

// TestHuberTakesItsScaleFromTheTrainingRows checks δ against the weighted median absolute deviation, where the
// median is defined as in NumPy.
func TestHuberTakesItsScaleFromTheTrainingRows(t *testing.T) {
	y := []float64{1, 2, 4, 7, 100, -50}
	for _, c := range []struct {
		loss    loss.Huber
		weights []float64
		want    float64
	}{
		{loss.Huber{Delta: 3}, nil, 3},
		{loss.Huber{Deviations: 1}, nil, 3},                             // median 3, |y − 3| = 2, 1, 1, 4, 97, 53
		{loss.Huber{Deviations: 2}, []float64{1, 1, 1, 1, 1, 0}, 6},     // median 4, |y − 4| = 3, 2, 0, 3, 96
		{loss.Huber{}, []float64{1, 1, 1, 1, 1, 0}, 3 * 1.345 * 1.4826}, // the same median and deviations
		{loss.Huber{Deviations: 1}, []float64{2, 0, 2, 0, 0, 0}, 1.5},   // y = 1, 1, 4, 4: median 2.5
		{loss.Huber{Deviations: 1}, []float64{1, 3, 0, 0, 1, 0}, 0},     // at least half of the weight is on y = 2, so the deviation is 0: refused
		{loss.Huber{Delta: -1}, nil, 0},
		{loss.Huber{Deviations: -1}, nil, 0},
		{loss.Huber{Delta: math.Inf(1)}, nil, 0},
		{loss.Huber{Deviations: math.Inf(1)}, nil, 0},
		{loss.Huber{Deviations: math.NaN()}, nil, 0},
	} {
		bound, err := c.loss.Bind(nil, y, c.weights, true)
		if c.want == 0 {
			if err == nil {
				t.Errorf("%+v with weights %v: δ = %v", c.loss, c.weights, bound)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := bound.(loss.Huber).Delta; math.Abs(got-c.want) > 1e-15*c.want {
			t.Errorf("%+v with weights %v: δ = %g, want %g", c.loss, c.weights, got, c.want)
		}
	}
}

// TestTargetsAreRefusedByTheRow checks that the error names the first row with a target that the loss does not
// allow, and that allowed targets are accepted.
func TestTargetsAreRefusedByTheRow(t *testing.T) {
	if err := loss.CheckTarget(nil, loss.Poisson{}, []float64{0, 2, 1}); err != nil {
		t.Error(err)
	}
	for row := range 3 {
		y := []float64{1, 1, 1}
		y[row], y[2] = -1, -1
		err := loss.CheckTarget(nil, loss.Poisson{}, y)
		if e, ok := errors.AsType[*outcome.Error](err); !ok || !e.HasRow || e.Row != row || e.Kind != outcome.BadParameter || e.Message == "" {
			t.Errorf("row %d: %v", row, err)
		}
	}
}

// TestTargetsThatALossHas checks which targets each loss accepts and refuses.
func TestTargetsThatALossHas(t *testing.T) {
	tweedie := loss.Tweedie{Power: 1.5}
	for _, l := range []struct {
		loss     loss.Loss
		has, not []float64
	}{
		{loss.Squared{}, []float64{0, -1, 1e100}, []float64{math.Inf(1), math.NaN()}},
		{loss.Huber{Delta: 1}, []float64{0, -1, 2.5}, []float64{math.Inf(-1), math.NaN()}},
		{loss.Logistic{}, []float64{-1, 1}, []float64{0, 2, 0.5, math.NaN()}},
		{loss.SquaredHinge{}, []float64{-1, 1}, []float64{0, 2, math.NaN()}},
		{loss.SmoothedHinge{}, []float64{-1, 1}, []float64{0, 2, math.NaN()}},
		{loss.Poisson{}, []float64{0, 1, 2.5}, []float64{-1, -1e-300, math.Inf(1), math.NaN()}},
		{loss.Gamma{}, []float64{1, 1e-3, 2.5}, []float64{0, -1, math.Inf(1), math.NaN()}},
		{tweedie, []float64{0, 1, 2.5}, []float64{-1, math.Inf(1), math.NaN()}},
	} {
		for _, y := range l.has {
			if err := l.loss.Check(y); err != nil {
				t.Errorf("%s: %g is refused: %v", l.loss.Name(), y, err)
			}
		}
		for _, y := range l.not {
			if l.loss.Check(y) == nil {
				t.Errorf("%s: %g is taken", l.loss.Name(), y)
			}
		}
	}
}

// TestHubersDeltaIsAMultipleOfTheMedianDeviation checks this for targets of any size, with weights that count as
// repeated rows.
func TestHubersDeltaIsAMultipleOfTheMedianDeviation(t *testing.T) {
	for _, scale := range []float64{1e-6, 1, 1e6} {
		y := []float64{0, scale, 2 * scale, 4 * scale, 9 * scale} // |y − median| = 2, 1, 0, 2 and 7
		bound, err := loss.Huber{Deviations: 3}.Bind(nil, y, nil, true)
		if h, ok := bound.(loss.Huber); err != nil || !ok || math.Abs(h.Delta-6*scale) > 1e-12*scale {
			t.Errorf("at %g: %+v, %v", scale, bound, err)
		}
		bound, err = loss.Huber{Deviations: 3}.Bind(nil, y, []float64{1, 1, 4, 1, 4}, true) // |y − median| = 2, 1, 0 four times, 2, and 7 four times
		if h, ok := bound.(loss.Huber); err != nil || !ok || math.Abs(h.Delta-6*scale) > 1e-12*scale {
			t.Errorf("weighted, at %g: %+v, %v", scale, bound, err)
		}
	}
	if bound, err := (loss.Huber{}).Bind(nil, []float64{1, 1, 1, 2}, nil, true); err == nil {
		t.Errorf("%+v of equal targets", bound)
	}
}
