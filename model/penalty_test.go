package model_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestProxMinimises checks that prox(z) minimises ½(x − z)² + γ·g(x), which is convex, so that it suffices that no
// neighbour is lower, and that the prox is non-expansive and odd.
func TestProxMinimises(t *testing.T) {
	r := oracle.NewRandom(1)
	for range 2000 {
		alpha, ridge, step := math.Exp(2*r.Normal()), math.Exp(2*r.Normal()), math.Exp(2*r.Normal())
		g, err := model.ElasticNet(math.Log(alpha), math.Log(ridge))
		if err != nil {
			t.Fatal(err)
		}
		z := 4 * r.Normal() * step * alpha
		f := func(x float64) float64 {
			return (x-z)*(x-z)/2 + step*(alpha*math.Abs(x)+ridge*x*x/2)
		}
		x := g.Prox(0, z, step)
		for _, h := range []float64{1e-3, 1e-2, 1} {
			if d := h * math.Max(math.Abs(x), 1); f(x) > f(x+d) || f(x) > f(x-d) {
				t.Fatalf("prox(%g) = %g is no minimum (α %g, ridge %g, step %g)", z, x, alpha, ridge, step)
			}
		}
		if g.Prox(0, -z, step) != -x {
			t.Fatalf("prox is not odd at %g", z)
		}
		w := z + r.Normal()
		if math.Abs(g.Prox(0, w, step)-x) > math.Abs(w-z)*(1+1e-15) {
			t.Fatalf("prox is not nonexpansive at %g, %g", z, w)
		}
	}
}

func TestSoftThreshold(t *testing.T) {
	for _, c := range []struct{ z, t, want float64 }{
		{3, 1, 2},
		{-3, 1, -2},
		{1, 1, 0},
		{-1, 1, 0},
		{0.5, 1, 0},
		{0, 0, 0},
		{2, 0, 2},
		{5, math.Inf(1), 0},
		{-5, math.Inf(1), 0},
	} {
		if got := model.SoftThreshold(c.z, c.t); got != c.want {
			t.Errorf("ST(%g, %g) = %g, want %g", c.z, c.t, got, c.want)
		}
	}
}

func TestPenaltyRefusesWhatIsNoStrength(t *testing.T) {
	bad := &outcome.Error{Kind: outcome.BadParameter}
	for _, lambda := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 800, -800} {
		if _, err := model.Lasso(lambda); outcome.KindOf(err) != bad.Kind {
			t.Errorf("Lasso(%g): %v", lambda, err)
		}
		none := math.IsInf(lambda, -1) // an elastic net with one strength 0
		if _, err := model.ElasticNet(0, lambda); (err == nil) != none || !none && outcome.KindOf(err) != bad.Kind {
			t.Errorf("ElasticNet(0, %g): %v", lambda, err)
		}
		if _, err := model.ElasticNet(lambda, 0); (err == nil) != none || !none && outcome.KindOf(err) != bad.Kind {
			t.Errorf("ElasticNet(%g, 0): %v", lambda, err)
		}
		if _, err := model.ElasticNet(lambda, lambda); outcome.KindOf(err) != bad.Kind {
			t.Errorf("ElasticNet(%g, %g): %v", lambda, lambda, err)
		}
		_, err := model.WeightedLasso([]float64{0, lambda, 0})
		if means := math.IsInf(lambda, 0); means != (err == nil) || !means && outcome.KindOf(err) != bad.Kind {
			t.Errorf("WeightedLasso(%g): %v", lambda, err)
		}
	}
	g, err := model.WeightedLasso([]float64{0, math.Inf(1), math.Inf(-1)})
	if err != nil || !math.IsInf(g.Alpha(1), 1) || g.Alpha(2) != 0 || g.Columns() != 3 || g.Hyperparameters() != 3 {
		t.Errorf("an excluded column: %v, %v", g, err)
	}
}

// TestStrengthsOfEveryKernelSet checks that each strength is e^λ to the bit with every kernel set, and that an
// invalid λ is refused at any place.
func TestStrengthsOfEveryKernelSet(t *testing.T) {
	l := make([]float64, 300)
	for j := range l {
		l[j] = 0.1 * float64(j-150)
	}
	l[5], l[290] = math.Inf(1), math.Inf(-1)
	for _, k := range kernels.Available() {
		g, err := model.WeightedLassoBy(k, l)
		if err != nil || !g.Unpenalised() {
			t.Fatalf("%s: %v, unpenalised columns %t", k.Name, err, g.Unpenalised())
		}
		for j := range l {
			if want := kernels.Exp(l[j]); g.Alpha(j) != want {
				t.Errorf("%s: strength %d is %g, not %g", k.Name, j, g.Alpha(j), want)
			}
		}
		for _, none := range []float64{math.NaN(), 710, -709} {
			for _, at := range []int{0, 6, 299} {
				wrong := slices.Clone(l)
				wrong[at] = none
				var e *outcome.Error
				if _, err := model.WeightedLassoBy(k, wrong); !errors.As(err, &e) || e.Kind != outcome.BadParameter || e.HasColumn && e.Column != at {
					t.Errorf("%s: λ = %g in column %d: %v", k.Name, none, at, err)
				}
			}
		}
		l[290] = 0
		if g, err := model.WeightedLassoBy(k, l); err != nil || g.Unpenalised() {
			t.Errorf("%s: %v, no column is unpenalised", k.Name, err)
		}
		l[290] = math.Inf(-1)
	}
}

// TestSensitivityIsTheDerivativeOfThePenalty checks B = −∂(∇g)/∂λ on the support.
func TestSensitivityIsTheDerivativeOfThePenalty(t *testing.T) {
	cols, b := []int32{0, 3, 4}, []float64{1.5, -0.25, 2}
	l1, l2 := -1.3, 0.4
	gradient := func(l1, l2 float64, k int) float64 {
		return math.Exp(l1)*math.Copysign(1, b[k]) + math.Exp(l2)*b[k]
	}
	g, err := model.ElasticNet(l1, l2)
	if err != nil {
		t.Fatal(err)
	}
	const h = 1e-5
	out := make([]float64, 3)
	for i := range 2 {
		g.Sensitivity(i, cols, b, out)
		for k := range b {
			d := []float64{0, 0}
			d[i] = h
			want := -(gradient(l1+d[0], l2+d[1], k) - gradient(l1-d[0], l2-d[1], k)) / (2 * h)
			if math.Abs(out[k]-want) > 1e-9 {
				t.Errorf("B[%d][%d] = %g, want %g", k, i, out[k], want)
			}
		}
	}
	if want := math.Exp(l1)*3.75 + math.Exp(l2)/2*(1.5*1.5+0.0625+4); math.Abs(g.Value(cols, b)-want) > 1e-14 {
		t.Errorf("g(β) = %g, want %g", g.Value(cols, b), want)
	}
}

// TestStrengthsAreRefusedByTheirNumber checks that the error names the second λ by its number, and the first
// without one.
func TestStrengthsAreRefusedByTheirNumber(t *testing.T) {
	for column, lambda := range [][2]float64{{math.NaN(), 0}, {0, math.NaN()}} {
		_, err := model.ElasticNet(lambda[0], lambda[1])
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Column != column || e.HasColumn != (column > 0) || e.Flag != "log-lambda" || !strings.Contains(e.Message, "NaN") {
			t.Errorf("%v: %v", lambda, err)
		}
	}
}

// TestProxUnderAConstraintOfSignIsTheNearestPoint checks that under β ≥ 0 the prox of a positive z is unchanged,
// that of a negative z is 0, and clipping takes the positive part, for z of any size.
func TestProxUnderAConstraintOfSignIsTheNearestPoint(t *testing.T) {
	free, err := model.ElasticNet(math.Log(0.25), math.Log(2))
	if err != nil {
		t.Fatal(err)
	}
	g, err := free.NonNegative()
	if err != nil {
		t.Fatal(err)
	}
	for _, z := range []float64{-3, -0.1, 0, 0.05, 0.125, 0.2, 0.9, 1, 4, math.Inf(1)} {
		want := math.Max(0, z-0.5*0.25) / 2
		if got := g.Prox(0, z, 0.5); math.Abs(got-want) > 1e-15*want {
			t.Errorf("prox of %g is %g, want %g", z, got, want)
		}
		if g.Clip(0, z) != math.Max(0, z) || free.Clip(0, z) != z || g.Pull(0, z) != math.Max(0, z) || free.Pull(0, z) != math.Abs(z) {
			t.Errorf("%g is clipped to %g, without the constraint to %g; it pulls by %g and %g", z, g.Clip(0, z), free.Clip(0, z), g.Pull(0, z), free.Pull(0, z))
		}
	}
	if !g.Positive() || free.Positive() {
		t.Errorf("positive: %t, %t", g.Positive(), free.Positive())
	}
}
