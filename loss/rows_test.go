package loss_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
)

// TestManyRowsAreEachByItself checks for every method that the result for a row does not depend, to the bit, on
// the other rows or on the previous contents of out. Rows are evaluated in blocks, of which 2,500 rows need
// several; predictions are extreme, moderate, or close to the targets.
func TestManyRowsAreEachByItself(t *testing.T) {
	k := kernels.Available()[0]
	for _, w := range fixture.Losses() {
		r := oracle.NewRandom(11)
		for _, n := range []int{0, 1, 2, 3, 5, 8, 41, 2500} {
			for _, spread := range []float64{0.05, 1, 300} {
				y, m := make([]float64, n), make([]float64, n)
				for i := range y {
					y[i], m[i] = w.Defined.Draw(r), spread*r.Normal()
					if spread < 1 && w.Link() == loss.Log && y[i] > 0 {
						m[i] += math.Log(y[i])
					}
				}
				at := loss.Dual{Slope: make([]float64, n), Scale: 0.7, Balance: [2]float64{0.9, 0.6}}
				if spread < 1 {
					at.Scale, at.Balance = 0.999, [2]float64{0.99, 1}
				}
				w.Slope(k, y, m, at.Slope)
				for i, rho := range at.Slope {
					at.Slope[i] = rho * at.Balance[loss.Side(rho)]
				}
				for name, method := range map[string]func(y, m []float64, first int, out []float64){
					"value":     func(y, m []float64, _ int, out []float64) { w.Value(k, y, m, out) },
					"slope":     func(y, m []float64, _ int, out []float64) { w.Slope(k, y, m, out) },
					"curvature": func(y, m []float64, _ int, out []float64) { w.Curvature(k, y, m, out) },
					"third":     func(y, m []float64, _ int, out []float64) { w.Third(k, y, m, out) },
					"divergence": func(y, m []float64, first int, out []float64) {
						part := at
						part.Slope = at.Slope[first:][:len(y)]
						w.Divergence(k, y, m, part, out)
					},
				} {
					all, alone := make([]float64, n), []float64{0}
					for i := range all {
						all[i] = math.NaN()
					}
					method(y, m, 0, all)
					for i := range all {
						alone[0] = math.NaN()
						method(y[i:][:1], m[i:][:1], i, alone)
						if all[i] != alone[0] {
							t.Fatalf("%s: the %s at (%g, %g) is %.17g among %d rows, %.17g alone", w.Name(), name, y[i], m[i], all[i], n, alone[0])
						}
					}
				}
			}
		}
	}
}

// TestDivergenceWhereMeansVanish checks the divergence against Fenchel's equality where e^m or e^−m underflows to
// 0 in a float64 and both sides of the equality are finite.
func TestDivergenceWhereMeansVanish(t *testing.T) {
	k, out, seen := kernels.Available()[0], []float64{0}, map[string]bool{}
	for _, w := range fixture.Losses() {
		if w.Link() != loss.Log || w.Name() == "tweedie" {
			continue
		}
		r := oracle.NewRandom(12)
		for range 100 {
			y, m, c := 0.1+r.Float64(), r.Pick(-760, 760)*(1+r.Float64()), 0.05+0.9*r.Float64()
			value := w.Defined.Value(y, m)
			if math.IsInf(value, 0) {
				continue
			}
			seen[w.Name()] = true
			rho := one(k, w.Slope, y, m)
			w.Divergence(k, []float64{y}, []float64{m}, loss.Dual{Slope: []float64{rho}, Scale: c, Balance: [2]float64{1, 1}}, out)
			want := value + w.Defined.Conjugate(y, c*rho) + c*rho*m
			if !(math.Abs(out[0]-want) <= 1e-12*(value+math.Abs(c*rho*m))) {
				t.Errorf("%s at (%g, %g), c %g: %.15g, want %.15g", w.Name(), y, m, c, out[0], want)
			}
		}
	}
	if len(seen) != 2 {
		t.Errorf("means vanish for %v", seen)
	}
}

// TestTweedieFarOut checks predictions for which ye^−qm is negligible beside e^am: the dual point c(W − U) is that
// of cU alone, whose divergence is U(c ln c + 1 − c)/a.
func TestTweedieFarOut(t *testing.T) {
	k, out := kernels.Available()[0], []float64{0}
	for _, power := range []float64{1.2, 1.5, 1.8} {
		l, a := loss.Tweedie{Power: power}, 2-power
		for _, m := range []float64{60, 90, 150} {
			for _, c := range []float64{0.1, 0.5, 0.9} {
				for _, y := range []float64{0.5, 1, 3} {
					rho := []float64{one(k, l.Slope, y, m)}
					l.Divergence(k, []float64{y}, []float64{m}, loss.Dual{Slope: rho, Scale: c, Balance: [2]float64{1, 1}}, out)
					if want := math.Exp(a*m) * (c*math.Log(c) + 1 - c) / a; !(math.Abs(out[0]-want) <= 1e-6*want) {
						t.Errorf("power %g at (%g, %g), c %g: %.15g, want %.15g", power, y, m, c, out[0], want)
					}
				}
			}
		}
	}
}

// TestLinks checks which links are known, which have classes, and their means.
func TestLinks(t *testing.T) {
	for link, want := range map[loss.Link]struct {
		classes bool
		mean    float64 // mean at the prediction 1
	}{
		loss.Identity: {false, 1},
		loss.Log:      {false, math.E},
		loss.Logit:    {true, 1 / (1 + 1/math.E)},
		loss.Margin:   {true, 1},
	} {
		if !link.Known() || link.Classes() != want.classes || math.Abs(link.Mean(1)-want.mean) > 1e-15*want.mean {
			t.Errorf("%s: known %t, classes %t, mean %g", link, link.Known(), link.Classes(), link.Mean(1))
		}
	}
	if loss.Link("probit").Known() || loss.Link("probit").Classes() {
		t.Error("a link that there is not")
	}
}

// TestLogisticCurvatureFarOut checks that σ(m)σ(−m) = e^−|m| keeps its digits on either side, where 1 − σ has none
// left.
func TestLogisticCurvatureFarOut(t *testing.T) {
	k := kernels.Available()[0]
	for _, m := range []float64{40, -40, 300, -300, 700, -700} {
		if got, want := one(k, loss.Logistic{}.Curvature, 1, m), math.Exp(-math.Abs(m)); math.Abs(got-want) > 1e-14*want {
			t.Errorf("at %g: %g, want %g", m, got, want)
		}
	}
}
