package loss_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
)

// written is a loss with its value and conjugate written out from their definitions.
type written struct {
	loss.Loss
	draw      func(r *oracle.Random) float64
	value     func(y, m float64) float64
	conjugate func(y, dual float64) float64 // ℓ*(y, −ρ)
	kinks     func(y float64) []float64     // predictions where ℓ″ jumps
}

const delta = 0.7

func losses() []written {
	label := func(r *oracle.Random) float64 { return math.Copysign(1, r.Normal()) }
	xlogx := func(x float64) float64 {
		if x == 0 {
			return 0
		}
		return x * math.Log(x)
	}
	positive := func(r *oracle.Random) float64 { return math.Exp(r.Normal()) }
	zeros := func(r *oracle.Random) float64 { return max(0, math.Exp(r.Normal())-0.7) }
	return []written{
		{
			Loss: loss.Squared{}, draw: (*oracle.Random).Normal,
			value:     func(y, m float64) float64 { return (y - m) * (y - m) / 2 },
			conjugate: func(y, d float64) float64 { return d*d/2 - y*d },
		},
		{
			Loss: loss.Logistic{}, draw: label,
			value:     func(y, m float64) float64 { return math.Log1p(math.Exp(-y * m)) },
			conjugate: func(y, d float64) float64 { return xlogx(y*d) + xlogx(1-y*d) },
		},
		{
			Loss: loss.Poisson{}, draw: func(r *oracle.Random) float64 { return float64(r.Intn(4)) },
			value:     func(y, m float64) float64 { return math.Exp(m) - y*m - y + xlogx(y) },
			conjugate: func(y, d float64) float64 { return xlogx(y-d) - (y - d) - (xlogx(y) - y) },
		},
		{
			Loss: loss.Gamma{}, draw: positive,
			value:     func(y, m float64) float64 { return y*math.Exp(-m) + m - 1 - math.Log(y) },
			conjugate: func(y, d float64) float64 { return xlogx(1+d) - (1+d)*math.Log(y) - (1 + d) + 1 + math.Log(y) },
		},
		tweedie(1.5, positive), tweedie(1.3, positive), tweedie(1.7, zeros), tweedie(1.5, zeros),
		{
			Loss: loss.SquaredHinge{}, draw: label,
			value:     func(y, m float64) float64 { return math.Pow(max(0, 1-y*m), 2) / 2 },
			conjugate: func(y, d float64) float64 { return d*d/2 - y*d },
			kinks:     func(y float64) []float64 { return []float64{y} },
		},
		{
			Loss: loss.Huber{Delta: delta}, draw: (*oracle.Random).Normal,
			value: func(y, m float64) float64 {
				if r := math.Abs(y - m); r > delta {
					return delta*r - delta*delta/2
				}
				return (y - m) * (y - m) / 2
			},
			conjugate: func(y, d float64) float64 { return d*d/2 - y*d },
			kinks:     func(y float64) []float64 { return []float64{y - delta, y + delta} },
		},
		{
			Loss: loss.SmoothedHinge{}, draw: label,
			value: func(y, m float64) float64 {
				switch t := y * m; {
				case t <= 0:
					return 0.5 - t
				case t < 1:
					return (1 - t) * (1 - t) / 2
				default:
					return 0
				}
			},
			conjugate: func(y, d float64) float64 { return d*d/2 - y*d },
			kinks:     func(y float64) []float64 { return []float64{0, y} },
		},
	}
}

// tweedie is the loss of a power. Its conjugate at a dual point is −(ρm + ℓ) at the m whose
// slope that is, found by bisection.
func tweedie(power float64, draw func(*oracle.Random) float64) written {
	a, q := 2-power, power-1
	value := func(y, m float64) float64 {
		return math.Exp(a*m)/a + y*math.Exp(-q*m)/q - math.Pow(y, a)/(a*q)
	}
	return written{
		Loss: loss.Tweedie{Power: power}, draw: draw, value: value,
		conjugate: func(y, d float64) float64 {
			if y == 0 {
				if d == 0 {
					return 0
				}
				return (-d*math.Log(-d) + d) / a
			}
			lower, upper := -100.0, 100.0
			for range 200 {
				if m := (lower + upper) / 2; y*math.Exp(-q*m)-math.Exp(a*m) > d {
					lower = m
				} else {
					upper = m
				}
			}
			return -d*lower - value(y, lower)
		},
	}
}

// one evaluates a method of a loss on a single row.
func one(k *kernels.Set, method func(*kernels.Set, []float64, []float64, []float64), y, m float64) float64 {
	out := []float64{0}
	method(k, []float64{y}, []float64{m}, out)
	return out[0]
}

// TestLossesAgainstTheirDefinitions: values against the formula, slopes, curvatures and
// third derivatives against central differences of the derivative before, away from kinks.
func TestLossesAgainstTheirDefinitions(t *testing.T) {
	for _, w := range losses() {
		r := oracle.NewRandom(1)
		for _, k := range kernels.Available() {
			for range 200 {
				y, m := w.draw(r), 2*r.Normal()
				if near(w, y, m) {
					continue
				}
				if got, want := one(k, w.Value, y, m), w.value(y, m); math.Abs(got-want) > 4e-15*(1+want) {
					t.Fatalf("%s at (%g, %g): %.17g, want %.17g", w.Name(), y, m, got, want)
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

func near(w written, y, m float64) bool {
	if w.kinks == nil {
		return false
	}
	for _, at := range w.kinks(y) {
		if math.Abs(m-at) < 1e-3 {
			return true
		}
	}
	return false
}

// TestDivergenceIsWhatFenchelsEqualityLacks: against ℓ + ℓ* + ρ̃m, for factors from 0 to 1
// that differ by the sign of the residual; and near 1, where that sum cancels, it is
// ℓ″⁻¹(1 − c)²ρ²/2 to first order.
func TestDivergenceIsWhatFenchelsEqualityLacks(t *testing.T) {
	k := kernels.Available()[0]
	for _, w := range losses() {
		r := oracle.NewRandom(2)
		for range 300 {
			y, m := w.draw(r), 2*r.Normal()
			rho := one(k, w.Slope, y, m)
			at := loss.Dual{Scale: r.Float64(), Balance: [2]float64{1, 1}}
			at.Balance[r.Intn(2)] = r.Float64()
			balanced := at.Balance[loss.Side(rho)] * rho
			at.Slope = []float64{balanced}
			out := []float64{0}
			w.Divergence(k, []float64{y}, []float64{m}, at, out)
			dual := at.Scale * balanced
			want := w.value(y, m) + w.conjugate(y, dual) + dual*m
			if size := math.Abs(w.value(y, m)) + math.Abs(dual*m) + 1; math.Abs(out[0]-want) > 1e-14*size || out[0] < 0 {
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

// TestBoundsOfLosses: ℓ″ ≤ L, |ℓ‴| ≤ M·ℓ″ and the majorant lies above, where a loss says so.
func TestBoundsOfLosses(t *testing.T) {
	k := kernels.Available()[0]
	for _, w := range losses() {
		r := oracle.NewRandom(3)
		bound, smooth := w.Smoothness()
		concordance, ok := w.Concordance()
		for range 300 {
			y, m := w.draw(r), 4*r.Normal()
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
			parabola := w.value(y, m) - one(k, w.Slope, y, m)*step + above*step*step/2
			if value := w.value(y, m+step); value > parabola+1e-12 {
				t.Errorf("%s: %g above the majorant of (%g, %g) at a step of %g", w.Name(), value-parabola, y, m, step)
			}
		}
	}
}

// TestBoundsOfCurvatureAreMet: a bound of ℓ″ is its least: twice as large, it would pass all
// that only asks for a bound.
func TestBoundsOfCurvatureAreMet(t *testing.T) {
	k := kernels.Available()[0]
	for _, w := range losses() {
		bound, smooth := w.Smoothness()
		if !smooth {
			continue
		}
		r, most := oracle.NewRandom(4), 0.0
		for range 3000 {
			y, m := w.draw(r), r.Normal()
			most = max(most, one(k, w.Curvature, y, m), one(k, w.Curvature, y, y+0.01*m))
		}
		if most < 0.99*bound {
			t.Errorf("%s: curvature up to %g, bound %g", w.Name(), most, bound)
		}
	}
}

// TestPoissonNearItsMean: the value y(e^h − 1 − h), of h = m − ln y, keeps its digits where
// it cancels, by its series in 60 digits.
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

// TestExtremePredictions: derivatives are finite and values neither NaN nor negative, far
// beyond where an exponential overflows.
func TestExtremePredictions(t *testing.T) {
	for _, k := range kernels.Available() {
		for _, w := range losses() {
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

// TestHuberTakesItsScaleFromTheTrainingRows: numpy's median, by weight.
func TestHuberTakesItsScaleFromTheTrainingRows(t *testing.T) {
	y := []float64{1, 2, 4, 7, 100, -50}
	for _, c := range []struct {
		loss    loss.Huber
		weights []float64
		want    float64
	}{
		{loss.Huber{Delta: 3}, nil, 3},
		{loss.Huber{Deviations: 1}, nil, 3},                             // median 3, of |y − 3| = 2 1 1 4 97 53
		{loss.Huber{Deviations: 2}, []float64{1, 1, 1, 1, 1, 0}, 6},     // 4; 3 2 0 3 96
		{loss.Huber{}, []float64{1, 1, 1, 1, 1, 0}, 3 * 1.345 * 1.4826}, // likewise
		{loss.Huber{Deviations: 1}, []float64{2, 0, 2, 0, 0, 0}, 1.5},   // 1 1 4 4: 2.5
		{loss.Huber{Deviations: 1}, []float64{1, 3, 0, 0, 1, 0}, 0},     // half of them are 2: refused
		{loss.Huber{Delta: -1}, nil, 0},
		{loss.Huber{Deviations: -1}, nil, 0},
		{loss.Huber{Delta: math.Inf(1)}, nil, 0},
	} {
		bound, err := c.loss.Bind(y, c.weights, true)
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
