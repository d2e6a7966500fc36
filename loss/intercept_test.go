package loss_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
)

// rows is a problem whose only coefficient is the intercept.
type rows struct {
	y, weights, margin []float64
	loss               loss.Loss // bound to these targets and weights
}

func drawRows(t *testing.T, w fixture.Loss, r *oracle.Random, n int, spread float64) (p rows) {
	t.Helper()
	for i := range n {
		y := w.Defined.Draw(r)
		if w.Check(-1) == nil && i < 2 { // so that both classes occur
			y = float64(2*i - 1)
		}
		p.y = append(p.y, y)
		p.margin = append(p.margin, spread*r.Normal())
		p.weights = append(p.weights, 0.25*float64(1+r.Intn(8)))
	}
	if r.Intn(2) == 0 {
		p.weights = nil
	}
	var err error
	if p.loss, err = loss.Bind(nil, w.Loss, p.y, p.weights, true); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p rows) weight(i int) float64 {
	if p.weights == nil {
		return 1
	}
	return p.weights[i]
}

// residuals returns, for an intercept, ρ and s⊙ρ, and the sum and the absolute sum of s⊙ρ.
func (p rows) residuals(b float64) (rho, weighted []float64, sum, size float64) {
	m := make([]float64, len(p.y))
	for i := range m {
		m[i] = p.margin[i] + b
	}
	rho, weighted = make([]float64, len(m)), make([]float64, len(m))
	p.loss.Slope(kernels.Available()[0], p.y, m, rho)
	for i, v := range rho {
		weighted[i] = p.weight(i) * v
		sum += weighted[i]
		size += math.Abs(weighted[i])
	}
	return rho, weighted, sum, size
}

// TestStepsGoToTheBestIntercept checks that steps towards the best intercept have the right sign, reach it in a
// single step if all rows are alike (for the gamma loss always), and otherwise converge to rounding in a few
// steps, also from far away.
func TestStepsGoToTheBestIntercept(t *testing.T) {
	steppers := 0
	for _, w := range fixture.Losses() {
		r := oracle.NewRandom(6)
		for range 40 {
			alike := r.Intn(2) == 0
			spread := 3.0
			if alike {
				spread = 0
			}
			p := drawRows(t, w, r, 12, spread)
			l, ok := p.loss.(loss.Stepper)
			if !ok {
				break
			}
			steppers++
			b := 4 * r.Normal()
			steps := 0
			for ; ; steps++ {
				rho, weighted, sum, size := p.residuals(b)
				step := l.Step(kernels.Available()[0], p.y, rho, weighted)
				if step == 0 {
					if math.Abs(sum) > 1e-13*(size+float64(len(p.y))) {
						t.Errorf("%s: settled at a slope of %g", w.Name(), sum)
					}
					break
				}
				if math.Signbit(step) != math.Signbit(sum) || steps > 12 {
					t.Errorf("%s: step %d is %g at a slope of %g", w.Name(), steps, step, sum)
					break
				}
				b += step
				_, _, left, size := p.residuals(b)
				if (alike || w.Name() == "gamma") && math.Abs(left) > 1e-9*(size+float64(len(p.y))) {
					t.Errorf("%s: a slope of %g after the first step, of %g", w.Name(), left, step)
				}
			}
		}
	}
	if steppers < 2*40 {
		t.Errorf("%d problems", steppers)
	}
}

// TestNullIsTheObjectiveOfTheBestIntercept checks that Null returns the mean loss at the best intercept, or at 0
// without an intercept.
func TestNullIsTheObjectiveOfTheBestIntercept(t *testing.T) {
	k, anchored := kernels.Available()[0], 0
	for _, w := range fixture.Losses() {
		r := oracle.NewRandom(7)
		for range 10 {
			p := drawRows(t, w, r, 9, 0)
			l, ok := p.loss.(loss.Anchored)
			if !ok {
				break
			}
			anchored++
			mean := func(b float64) float64 {
				var sum, total float64
				for i, y := range p.y {
					sum += p.weight(i) * one(k, w.Value, y, b)
					total += p.weight(i)
				}
				return sum / total
			}
			if got, want := l.Null(false), mean(0); math.Abs(got-want) > 1e-14*want {
				t.Errorf("%s without intercept: %g, want %g", w.Name(), got, want)
			}
			lo, hi := -9.0, 9.0
			for range 200 { // ternary search for the minimum of a convex function
				if a, b := lo+(hi-lo)/3, hi-(hi-lo)/3; mean(a) < mean(b) {
					hi = b
				} else {
					lo = a
				}
			}
			if got, want := l.Null(true), mean(lo); math.Abs(got-want) > 1e-12*want {
				t.Errorf("%s: %g, want %g", w.Name(), got, want)
			}
		}
	}
	if anchored == 0 {
		t.Error("no loss knows the objective of its null model")
	}
}

// TestTweedieHasADefaultPower checks that the default power is 1.5.
func TestTweedieHasADefaultPower(t *testing.T) {
	k := kernels.Available()[0]
	for _, m := range []float64{-1, 0.3, 2} {
		usual, named := loss.Tweedie{}, loss.Tweedie{Power: 1.5}
		a, _ := usual.Concordance()
		b, _ := named.Concordance()
		if one(k, usual.Value, 2, m) != one(k, named.Value, 2, m) || one(k, usual.Curvature, 2, m) != one(k, named.Curvature, 2, m) || a != b {
			t.Errorf("at %g the default is another power", m)
		}
	}
}

// TestMajorantsAreTight checks that the majorant's curvature equals the bound where the curvature of the loss is
// largest. A parabola twice as steep would be a majorant as well, but would make steps half as long.
func TestMajorantsAreTight(t *testing.T) {
	k := kernels.Available()[0]
	for _, l := range []loss.Majorised{loss.Logistic{}, loss.Huber{Delta: 1}} {
		bound, _ := l.Smoothness()
		for _, m := range []float64{1, 1 + 1e-9, 1 - 1e-4} { // for y = 1, where Huber's residual is 0
			if _, logistic := l.(loss.Logistic); logistic {
				m--
			}
			if got := one(k, l.Majorant, 1, m); !(math.Abs(got-bound) <= 1e-6*bound) {
				t.Errorf("%s: %g at %g, want %g", l.Name(), got, m, bound)
			}
		}
	}
}

// TestConcordanceIsMet checks that the bound of |ℓ‴|/ℓ″ is attained. A larger number would pass all tests that ask
// only for a bound, but would make steps too short.
func TestConcordanceIsMet(t *testing.T) {
	k := kernels.Available()[0]
	for _, w := range fixture.Losses() {
		bound, ok := w.Concordance()
		if !ok {
			continue
		}
		r, most := oracle.NewRandom(8), 0.0
		for range 3000 {
			y, m := w.Defined.Draw(r), 8*r.Normal()
			if bend := one(k, w.Curvature, y, m); bend > 0 {
				most = max(most, math.Abs(one(k, w.Third, y, m))/bend)
			}
		}
		if most < 0.99*bound {
			t.Errorf("%s: third derivatives up to %g of curvatures, bound %g", w.Name(), most, bound)
		}
	}
}

// TestTargetsThatAreRefused checks that the error distinguishes targets that are not finite from numbers that the
// loss does not allow.
func TestTargetsThatAreRefused(t *testing.T) {
	for _, w := range fixture.Losses() {
		for _, y := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0.5, -2, 0, 1, 2, -1} {
			err := w.Check(y)
			switch finite := !math.IsNaN(y) && !math.IsInf(y, 0); {
			case !finite && err == nil, finite && y != 1 && err != nil && outcome.KindOf(err) != outcome.BadParameter, y == 1 && err != nil:
				t.Errorf("%s, y = %g: %v", w.Name(), y, err)
			case !finite && !math.IsInf(y, -1) && outcome.KindOf(err) != outcome.NonFinite: // −∞ may be refused for its sign
				t.Errorf("%s, y = %g: %v", w.Name(), y, err)
			}
		}
	}
}

// TestRowsWithoutABestIntercept checks that problems without a best intercept are refused, and that rows of weight
// 0 are ignored when this is decided.
func TestRowsWithoutABestIntercept(t *testing.T) {
	for _, test := range []struct {
		loss       loss.Loss
		y, weights []float64
		intercept  bool
		want       outcome.Kind
	}{
		{loss.Logistic{}, []float64{1, 1}, nil, true, outcome.SingleClass},
		{loss.Logistic{}, []float64{-1, -1}, nil, false, outcome.SingleClass},
		{loss.Logistic{}, []float64{-1, 1, 1}, []float64{1, 0, 0}, true, outcome.SingleClass},
		{loss.Logistic{}, []float64{-1, 1, 1}, []float64{1, 0, 1}, true, ""},
		{loss.Poisson{}, []float64{0, 0}, nil, true, outcome.BadParameter},
		{loss.Poisson{}, []float64{0, 0}, nil, false, ""},
		{loss.Poisson{}, []float64{0, 3}, []float64{1, 0}, true, outcome.BadParameter},
		{loss.Tweedie{}, []float64{0, 0}, nil, true, outcome.BadParameter},
		{loss.Tweedie{}, []float64{0, 0}, nil, false, ""},
		{loss.Tweedie{}, []float64{0, 3}, []float64{1, 0}, true, outcome.BadParameter},
		{loss.Tweedie{}, []float64{0, 3}, []float64{0, 1}, true, ""},
		{loss.Tweedie{Power: 1}, []float64{1, 3}, nil, true, outcome.BadParameter},
		{loss.Tweedie{Power: 2}, []float64{1, 3}, nil, true, outcome.BadParameter},
		{loss.Tweedie{Power: 1.999}, []float64{1, 3}, nil, true, ""},
	} {
		_, err := loss.Bind(nil, test.loss, test.y, test.weights, test.intercept)
		if test.want == "" && err != nil || test.want != "" && outcome.KindOf(err) != test.want {
			t.Errorf("%s of %v with weights %v, intercept %v: %v", test.loss.Name(), test.y, test.weights, test.intercept, err)
		}
	}
}

// TestDivergenceAtTheEndsOfTheSegment checks the divergence at both ends of the segment of dual points: it is 0 at
// the residual itself, and the loss at 0, whose conjugate is −inf ℓ = 0. Predictions may be extreme, and dual
// points very close to either end.
func TestDivergenceAtTheEndsOfTheSegment(t *testing.T) {
	k, out := kernels.Available()[0], []float64{0}
	for _, w := range fixture.Losses() {
		r := oracle.NewRandom(9)
		for range 200 {
			y, m := w.Defined.Draw(r), r.Pick(1, 30)*r.Normal()
			rho := []float64{one(k, w.Slope, y, m)}
			for _, c := range []float64{0, 1e-300, 1e-30, 1} {
				w.Divergence(k, []float64{y}, []float64{m}, loss.Dual{Slope: rho, Scale: c, Balance: [2]float64{1, 1}}, out)
				want := (1 - c) * one(k, w.Value, y, m)
				if !(math.Abs(out[0]-want) <= 1e-10*math.Abs(want)) {
					t.Errorf("%s at (%g, %g), c %g: %g, want %g", w.Name(), y, m, c, out[0], want)
				}
			}
			const rest = 0x1p-45 // very close to the residual, where exponential losses use a series
			bend := one(k, w.Curvature, y, m)
			if bend < 1e-3 || w.Link() != loss.Log {
				continue
			}
			w.Divergence(k, []float64{y}, []float64{m}, loss.Dual{Slope: rho, Scale: 1 - rest, Balance: [2]float64{1, 1}}, out)
			if want := rest * rest * rho[0] * rho[0] / (2 * bend); !(math.Abs(out[0]-want) <= 1e-3*want) {
				t.Errorf("%s at (%g, %g): %g next to the residual, want %g", w.Name(), y, m, out[0], want)
			}
		}
	}
}
