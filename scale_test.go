package pare_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestPowersOfTwo checks that the fit and the gradient of X·2^a and y·2^b, with λ in the corresponding units, are those
// of X and y in other units, provided that the squares of the data and of the coefficients (2^(b−a) times as large) are
// representable. Package cd has the same test for all bits, which the logarithm of a strength prevents here.
func TestPowersOfTwo(t *testing.T) {
	ctx := context.Background()
	q := oracle.NewRandom(12).Problem(oracle.Shape{N: 30, P: 8, Mean: 1, Active: 4})
	for m, model := range []pare.Model{pare.Lasso, pare.ElasticNet, pare.Ridge, pare.WeightedLasso, pare.Huber, pare.Logistic} {
		linear := model != pare.Logistic
		for k, e := range [][2]int{{0, 500}, {0, -480}, {0, -300}, {500, 0}, {-500, 0}, {250, -250}, {-250, 250}, {480, 480}, {-480, -480}, {20, 470}, {1, -1}} {
			if !oracle.Turn(m+k, 3) {
				continue
			}
			a, b := e[0], e[1]
			if !linear {
				b = 0
			}
			c := pare.Config{Model: model, Tol: 1e-12}
			find := func(a, b int, lambda []float64) (*pare.Fitted, *pare.Hypergradient, []float64) {
				name := fmt.Sprintf("%s, X·2^%d, y·2^%d", model, a, b)
				x, y := matrixOf(t, every(q.X, by(a)), 8, true), scaled(q.Y, b)
				if !linear {
					y = signs(y)
				}
				if lambda == nil {
					lambda = somewhere(t, x, y, c)
				}
				f, err := pare.Fit(ctx, x, y, lambda, c)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return nil, nil, nil
				}
				h, err := pare.Gradient(ctx, x, y, lambda, pare.Validation{InOrder: true, Folds: 3}, c)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return nil, nil, nil
				}
				return f, h, lambda
			}
			f, h, lambda := find(0, 0, nil)
			if f == nil {
				t.FailNow()
			}
			moved := make([]float64, len(lambda))
			for i, l := range lambda {
				unit := float64(a + b)
				if i == 1 && model == pare.ElasticNet || model == pare.Ridge {
					unit = float64(2 * a)
				}
				moved[i] = l + unit*math.Ln2
			}
			g, u, _ := find(a, b, moved)
			if g == nil {
				continue
			}
			near := func(what string, got, want, size float64) {
				if !(math.Abs(got-want) <= 1e-7*(math.Abs(want)+size)) {
					t.Errorf("%s, X·2^%d, y·2^%d: %s %g, want %g", model, a, b, what, got, want)
				}
			}
			if g.Status != f.Status || !slices.Equal(g.Support, f.Support) {
				t.Errorf("%s, X·2^%d, y·2^%d: %s with support %v, want %s with %v", model, a, b, g.Status, g.Support, f.Status, f.Support)
				continue
			}
			for i, want := range f.Coef {
				near("coefficient", math.Ldexp(g.Coef[i], a-b), want, 1e-3)
			}
			near("intercept", math.Ldexp(g.Intercept, -b), f.Intercept, 1e-3)
			near("value", math.Ldexp(u.Value, -2*b), h.Value, 0)
			for i, want := range h.Gradient {
				near("slope", math.Ldexp(u.Gradient[i], -2*b), want, 1e-3*h.Value)
			}
		}
	}
}

// TestSelectWaitsForASmallColumn checks that a search finds a column that explains the target even if its scale is so
// small that all other columns enter first and make the criterion much worse.
func TestSelectWaitsForASmallColumn(t *testing.T) {
	ctx := context.Background()
	const small = 1e-4
	r := oracle.NewRandom(3)
	rows, y := make([][]float64, 200), make([]float64, 200)
	for i := range rows {
		rows[i] = make([]float64, 90)
		for j := range rows[i] {
			rows[i][j] = r.Normal()
		}
		y[i] = float64(2*rows[i][89]) + float64(0.3*r.Normal())
		rows[i][89] *= small
	}
	s, err := pare.Select(ctx, matrixOf(t, rows, 90, true), y, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Value > 0.2*s.NullValue || !slices.Contains(s.Final.Support, 89) {
		t.Errorf("value %g, of the null model %g, λ %g below αmax: %s", s.Value, s.NullValue, s.LogLambdaMax[0]-s.LogLambda[0], s.Status)
	}
}
