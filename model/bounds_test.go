package model_test

import (
	"errors"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestBoundsAreWhereTheyWerePut checks that clipping returns the nearest point within the bounds, that a
// coefficient is held if it is at a bound other than 0, and that a step of DistanceToBound ends at the bound.
func TestBoundsAreWhereTheyWerePut(t *testing.T) {
	inf := math.Inf(1)
	lower, upper := []float64{-1, 0, -inf, -2}, []float64{0.5, 3, 0, inf}
	box, err := model.NewBox(lower, upper)
	if err != nil {
		t.Fatal(err)
	}
	free, err := model.Lasso(-1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := free.Within(box)
	if err != nil {
		t.Fatal(err)
	}
	if free.Bounded() || !g.Bounded() {
		t.Errorf("bounded without a box: %v, within one: %v", free.Bounded(), g.Bounded())
	}
	r := oracle.NewRandom(1)
	for range 200 {
		j := r.Intn(4)
		b := r.Pick(0, lower[j], upper[j], 3*r.Normal())
		if math.IsInf(b, 0) {
			continue
		}
		nearest := math.Max(lower[j], math.Min(upper[j], b))
		if g.Clip(j, b) != nearest || free.Clip(j, b) != b {
			t.Errorf("column %d: %g is clipped to %g, without bounds to %g", j, b, g.Clip(j, b), free.Clip(j, b))
		}
		at := b != 0 && (b == lower[j] || b == upper[j])
		if g.Held(j, b) != at || free.Held(j, b) {
			t.Errorf("column %d: %g is held: %v, without bounds %v", j, b, g.Held(j, b), free.Held(j, b))
		}
		for sense, bound := range map[float64]float64{-1: lower[j], 1: upper[j]} {
			if got := nearest + sense*g.DistanceToBound(j, nearest, sense); !(math.Abs(got-bound) <= 1e-15*math.Abs(nearest)) && got != bound {
				t.Errorf("column %d: from %g by the distance in the sense of %g: %g, the bound is %g", j, nearest, sense, got, bound)
			}
			if d := free.DistanceToBound(j, b, sense); !math.IsInf(d, 1) {
				t.Errorf("no bound is %g away", d)
			}
		}
	}
}

// TestNullModelWithinBounds checks that within bounds the null model considers only columns that can move in the
// direction of their correlation.
func TestNullModelWithinBounds(t *testing.T) {
	for seed := range uint64(30) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 12, P: 6, Density: 1})
		lower, upper := make([]float64, 6), make([]float64, 6)
		z, largest := q.Correlations(q.Y), 0.0
		for j := range z {
			lower[j], upper[j] = r.Pick(0, -1), r.Pick(0, 1)
			if z[j] > 0 && upper[j] > 0 || z[j] < 0 && lower[j] < 0 {
				largest = math.Max(largest, math.Abs(z[j]))
			}
		}
		box, err := model.NewBox(lower, upper)
		if err != nil {
			t.Fatal(err)
		}
		null := model.NewNull(fixture.Squared(t, q, seed%2 == 0))
		if got := null.Within(box).AlphaMax(); !(math.Abs(got-largest) <= 1e-13*largest) {
			t.Errorf("seed %d: αmax %g within bounds, want %g", seed, got, largest)
		}
		if null.Within(nil).AlphaMax() != null.AlphaMax() {
			t.Errorf("seed %d: no box has moved αmax", seed)
		}
	}
}

// TestStrengthsOfColumns checks that exactly the columns without a strength are smooth, that invalid strengths are
// refused, and that the error says which of several it was.
func TestStrengthsOfColumns(t *testing.T) {
	g, err := model.WeightedLasso([]float64{0, math.Inf(-1), -3, math.Inf(1)})
	if err != nil {
		t.Fatal(err)
	}
	for j, smooth := range []bool{false, true, false, false} {
		if g.Smooth(j) != smooth {
			t.Errorf("column %d is smooth: %v", j, !smooth)
		}
	}
	of := func(err error) *outcome.Error {
		e, ok := errors.AsType[*outcome.Error](err)
		if !ok || e.Kind != outcome.BadParameter {
			t.Fatalf("refused by %v", err)
		}
		return e
	}
	for _, wrong := range []float64{math.NaN(), 1000, -1000} {
		_, scad := model.NewSCAD(0, wrong)
		_, mcp := model.NewMCP(0, wrong)
		_, net := model.ElasticNet(0, wrong)
		_, each := model.WeightedLasso([]float64{0, wrong})
		for name, err := range map[string]error{"scad": scad, "mcp": mcp, "enet": net, "wlasso": each} {
			if e := of(err); !e.HasColumn || e.Column != 1 {
				t.Errorf("%s: the second λ is %g, the error says %+v", name, wrong, e)
			}
		}
		_, one := model.Lasso(wrong)
		_, first := model.NewSCAD(wrong, 1)
		for _, err := range []error{one, first} {
			if e := of(err); e.HasColumn {
				t.Errorf("the first λ is %g, the error says %+v", wrong, e)
			}
		}
	}
}

// TestGapOfAnUnpenalisedColumnIsExact checks that the gap of a single unpenalised column is its exact
// suboptimality, because the loss is quadratic in its coefficient.
func TestGapOfAnUnpenalisedColumnIsExact(t *testing.T) {
	for seed := range uint64(30) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 8, P: 1, Density: 1, Weights: seed%3 == 1})
		q.Uniform(0)
		g, err := model.WeightedLasso([]float64{math.Inf(-1)})
		if err != nil {
			t.Fatal(err)
		}
		fit := fixture.Squared(t, q, seed%2 == 0)
		var xx, xy float64
		for i, row := range q.X {
			xx += q.Weight(i) * row[0] * row[0]
			xy += q.Weight(i) * row[0] * q.Y[i]
		}
		beta := r.Normal()
		d, s, _ := dual(fit, g, []float64{beta})
		lacks := xx * (beta - xy/xx) * (beta - xy/xx) / (2 * q.Total())
		if got := fit.Gap(d, s); !(math.Abs(got-lacks) <= 1e-12*(lacks+s.Loss)) {
			t.Errorf("seed %d: gap %g, the objective lacks %g", seed, got, lacks)
		}
	}
}

// TestBoxesOfOneSide checks that an omitted side does not bind, and that a column without entries has no KKT
// residual.
func TestBoxesOfOneSide(t *testing.T) {
	inf := math.Inf(1)
	lasso, err := model.Lasso(0)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ lower, upper, want []float64 }{
		"upper": {nil, []float64{1, 0}, []float64{-9, 1, -9, 0}}, "lower": {[]float64{-1, 0}, nil, []float64{-1, 9, 0, 9}},
		"both": {[]float64{-2, -inf}, []float64{0, 3}, []float64{-2, 0, -9, 3}},
	} {
		box, err := model.NewBox(c.lower, c.upper)
		if err != nil {
			t.Fatal(err)
		}
		g, err := lasso.Within(box)
		if err != nil {
			t.Fatal(err)
		}
		for j := range 2 {
			if low, high := g.Clip(j, -9), g.Clip(j, 9); low != c.want[2*j] || high != c.want[2*j+1] {
				t.Errorf("%s: column %d is within %g and %g", name, j, low, high)
			}
		}
		d := model.Dual{Penalty: g, Total: 4}
		d.Add(0, 0, -0.5, 0)
		if d.KKT() != 0 || d.Value() != 0.5 {
			t.Errorf("%s: residual %g of a column without entries, penalty %g", name, d.KKT(), d.Value())
		}
	}
	for name, c := range map[string]struct{ lower, upper []float64 }{
		"positive lower": {[]float64{0, 1}, nil}, "negative upper": {nil, []float64{0, -1}}, "NaN": {[]float64{0, math.NaN()}, nil}, "+Inf below": {[]float64{0, inf}, nil}, "−Inf above": {nil, []float64{0, -inf}},
	} {
		_, err := model.NewBox(c.lower, c.upper)
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != outcome.BadParameter || !e.HasColumn || e.Column != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBoxesInScaledColumns checks that bounds are divided by the scale of a column if the column is, and that
// columns of zeros have no bounds.
func TestBoxesInScaledColumns(t *testing.T) {
	x, err := sparse.NewDense(4, 3, []float64{1, -1, 1, -1, 0, 0, 0, 0, 2, 2, -2, -2})
	if err != nil {
		t.Fatal(err)
	}
	view, err := sparse.NewView(fixture.Kernels(t), x, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	box, err := model.NewBox([]float64{-6, -6, -6}, []float64{8, 8, 8})
	if err != nil {
		t.Fatal(err)
	}
	lasso, _ := model.Lasso(0)
	scaled := view.Standardised()
	g, err := lasso.Within(box.In(scaled))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := lasso.Within(box.In(view))
	if err != nil {
		t.Fatal(err)
	}
	for j, scale := range []float64{1, 0, 0.5} {
		low, high := math.Inf(-1), math.Inf(1)
		if scale > 0 {
			low, high = -6/scale, 8/scale
		}
		if scale > 0 && scaled.Scale(j) != scale || g.Clip(j, math.Inf(-1)) != low || g.Clip(j, math.Inf(1)) != high {
			t.Errorf("column %d of scale %g is within %g and %g", j, scaled.Scale(j), g.Clip(j, math.Inf(-1)), g.Clip(j, math.Inf(1)))
		}
		if plain.Clip(j, -99) != -6 || plain.Clip(j, 99) != 8 {
			t.Errorf("column %d without a scale is within %g and %g", j, plain.Clip(j, -99), plain.Clip(j, 99))
		}
	}
	if none := (*model.Box)(nil); none.In(scaled) != nil {
		t.Error("no box became one")
	}
}

// TestBoundsOfAColumnOfZeros checks that bounds do not act on a column of zeros in a standardised view, where it
// has no scale.
func TestBoundsOfAColumnOfZeros(t *testing.T) {
	q := &oracle.Problem{X: [][]float64{{1, 3}, {2, 3}, {4, 3}}, Y: []float64{1, 2, 3}, Alpha: make([]float64, 2), Intercept: true}
	view := fixture.View(t, q, true).Standardised()
	box, err := model.NewBox([]float64{0, 0}, []float64{2, 2})
	if err != nil {
		t.Fatal(err)
	}
	g, err := model.Lasso(0)
	if err != nil {
		t.Fatal(err)
	}
	if g, err = g.Within(box.In(view)); err != nil {
		t.Fatal(err)
	}
	for _, b := range []float64{-7, 0, 7} {
		if got := g.Clip(1, b); got != b {
			t.Errorf("%g becomes %g", b, got)
		}
		if got, want := g.Clip(0, b), math.Min(math.Max(b, 0), 2/view.Scale(0)); got != want {
			t.Errorf("a column with a scale: %g becomes %g, want %g", b, got, want)
		}
	}
}
