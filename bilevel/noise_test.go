package bilevel

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestNormalsAreDrawnByThePolarMethod checks that each pair (u, v) in the unit disc gives two normal numbers,
// u√(−2·ln r/r) and v√(−2·ln r/r), r = u² + v².
func TestNormalsAreDrawnByThePolarMethod(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 50} {
		stream := oracle.NewRandom(11)
		uniform := func() float64 { return float64(int64(stream.Uint64())>>10) / (1 << 53) }
		var want []float64
		for len(want) < n {
			u, v := uniform(), uniform()
			if r := u*u + v*v; 0 < r && r < 1 {
				scale := math.Sqrt(-2 * math.Log(r) / r)
				want = append(want, u*scale, v*scale)
			}
		}
		got := normals(n, 11)
		if len(got) != n {
			t.Fatalf("%d numbers, want %d", len(got), n)
		}
		for i := range got {
			if !(math.Abs(got[i]-want[i]) <= 1e-14*math.Abs(want[i])) {
				t.Errorf("number %d of %d: %.17g, want %.17g", i, n, got[i], want[i])
			}
		}
	}
}

// TestNoiseLevelsThatCannotBe checks that a noise level is refused if σ² or 4ε²n overflow, or if ε is lost in
// rounding beside the largest target, and that levels just inside these limits are accepted.
func TestNoiseLevelsThatCannotBe(t *testing.T) {
	k := fixture.Kernels(t)
	const n = 4
	step := 2 / math.Pow(n, 0.3) // ε for σ = 1
	q := oracle.NewRandom(1).Problem(oracle.Shape{N: n, P: 2})
	x := fixture.Matrix(t, q, true)
	const tiny = 0x1p-450
	overflow := math.Sqrt(math.MaxFloat64/(4*n)) / step
	for name, c := range map[string]struct {
		sigma, largest float64
		kind           outcome.Kind
	}{
		"one":           {1, 1, ""},
		"zero":          {0, 1, outcome.BadParameter},
		"negative":      {-1, 1, outcome.BadParameter},
		"not a number":  {math.NaN(), 1, outcome.BadParameter},
		"infinite":      {math.Inf(1), 1, outcome.BadParameter},
		"least":         {tiny, 0, ""},
		"too small":     {tiny * (1 - 1e-9), 0, outcome.BadParameter},
		"largest":       {overflow * (1 - 1e-3), 1, ""},
		"too large":     {overflow * (1 + 1e-3), 1, outcome.BadParameter},
		"beside 1":      {1, step * 0x1p40 * (1 - 1e-9), ""},
		"below a digit": {1, step * 0x1p40 * (1 + 1e-9), outcome.BadParameter},
	} {
		y := []float64{0, -c.largest, 0, c.largest / 2}
		risk := &Risk{Information: Information{Fit: 1}, Sigma: c.sigma}
		_, err := NewLanes(k, x, y, Spec{Risk: risk, Penalty: func(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) }})
		if outcome.KindOf(err) != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		spec Spec
		y    []float64
		kind outcome.Kind
	}{
		"weights": {Spec{Weights: []float64{1, 1, 1, 1}}, q.Y, outcome.Usage},
		"targets": {Spec{}, q.Y[:3], outcome.Shape},
	} {
		c.spec.Risk = &Risk{Sigma: 1}
		c.spec.Penalty = func(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) }
		if _, err := NewLanes(k, x, c.y, c.spec); outcome.KindOf(err) != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (&Spec{Risk: &Risk{}}).Check(k, n); outcome.KindOf(err) != outcome.Usage {
		t.Errorf("folds of a risk: %v", err)
	}
}

// TestLanesOfARisk checks that a risk has exactly two lanes: lane 0 for the targets, with the standard error
// σ²·√(2n) of the sum of squares of n normal numbers, and lane 1 for the targets moved by ε along δ.
func TestLanesOfARisk(t *testing.T) {
	k := fixture.Kernels(t)
	const n, sigma = 12, 0.5
	q := oracle.NewRandom(2).Problem(oracle.Shape{N: n, P: 3})
	information := Information{Fit: 3, Freedom: 5, Constant: 7}
	lanes, err := NewLanes(k, fixture.Matrix(t, q, true), q.Y, Spec{
		Risk: &Risk{Information: information, Sigma: sigma, Seed: 4}, Penalty: func(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) },
	})
	if err != nil {
		t.Fatal(err)
	}
	epsilon, delta := 2*sigma*math.Pow(n, -0.3), normals(n, 4)
	// The null model predicts 0, so the values are 3‖y‖² + 7 − 5δᵀ(0 − y)/ε and 5δᵀ(0 − y)/ε, with the same y in both.
	var square, along float64
	for i, y := range q.Y {
		square += y * y
		along -= delta[i] * y
	}
	for fold, want := range []float64{3*square + 7 - 5*along/epsilon, 5 * along / epsilon} {
		r, err := lanes.Run(t.Context(), []LaneRequest{{Lane: LaneID{Fold: fold}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		spread := 3 * sigma * sigma * math.Sqrt(2*n) * float64(1-fold)
		if !(math.Abs(r[0].Null-want) <= 1e-12*math.Abs(want)) || math.Abs(r[0].NullError-spread) > 1e-15 || !math.IsInf(r[0].Top, -1) {
			t.Errorf("lane %d: null model %.15g ± %g, want %.15g ± %g; top %g", fold, r[0].Null, r[0].NullError, want, spread, r[0].Top)
		}
	}
	for _, id := range []LaneID{{2, 0}, {0, 1}} {
		if _, err := lanes.Run(t.Context(), []LaneRequest{{Lane: id}}, nil); outcome.KindOf(err) != outcome.BadParameter {
			t.Errorf("lane %v: %v", id, err)
		}
	}
}
