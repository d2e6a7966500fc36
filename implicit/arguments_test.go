package implicit_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

func TestArgumentsAreChecked(t *testing.T) {
	r := oracle.NewRandom(1)
	q := r.Problem(oracle.Shape{N: 6, P: 4})
	q.Uniform(0.1)
	s, g := implicit.New(fixture.Squared(t, q, true)), scalar(t, q)
	outer := implicit.Outer{Slope: make([]float64, 6), Curvature: make([]float64, 6)}
	for _, c := range []struct {
		name  string
		at    implicit.Point
		outer implicit.Outer
		kind  outcome.Kind
	}{
		{"no slope", implicit.Point{}, implicit.Outer{}, outcome.Shape},
		{"short curvature", implicit.Point{}, implicit.Outer{Slope: outer.Slope, Curvature: outer.Curvature[:5]}, outcome.Shape},
		{"lengths", implicit.Point{Support: []int32{1, 2}, Coef: []float64{1}}, outer, outcome.Shape},
		{"correlations", implicit.Point{Support: []int32{1}, Coef: []float64{1}, Correlation: []float64{}}, outer, outcome.Shape},
		{"negative column", implicit.Point{Support: []int32{-1}, Coef: []float64{1}}, outer, outcome.Shape},
		{"column beyond p", implicit.Point{Support: []int32{4}, Coef: []float64{1}}, outer, outcome.Shape},
		{"not ascending", implicit.Point{Support: []int32{2, 1}, Coef: []float64{1, 1}}, outer, outcome.Shape},
		{"twice", implicit.Point{Support: []int32{1, 1}, Coef: []float64{1, 1}}, outer, outcome.Shape},
		{"zero", implicit.Point{Support: []int32{1}, Coef: []float64{0}}, outer, outcome.NonFinite},
		{"NaN", implicit.Point{Support: []int32{1}, Coef: []float64{math.NaN()}}, outer, outcome.NonFinite},
		{"Inf", implicit.Point{Support: []int32{1}, Coef: []float64{math.Inf(1)}}, outer, outcome.NonFinite},
	} {
		_, err := s.Solve(context.Background(), g, c.at, c.outer, implicit.Options{})
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != c.kind {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if w := weighted(t, &oracle.Problem{Alpha: []float64{1, 1, 1}}); true {
		_, err := s.Solve(context.Background(), w, implicit.Point{Support: []int32{3}, Coef: []float64{1}, KKT: -1}, outer, implicit.Options{})
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != outcome.Shape {
			t.Errorf("3 strengths for 4 columns: %v", err)
		}
	}
}

func TestGenericArgumentsAreChecked(t *testing.T) {
	k, f := fixture.Kernels(t), quadratic{q: [][]float64{{1, 0}, {0, 1}}, c: []float64{1, 1}}
	for name, c := range map[string]struct {
		beta, outer []float64
		step        float64
		kind        outcome.Kind
	}{
		"lengths":      {[]float64{0, 0}, []float64{1}, 1, outcome.Shape},
		"no step":      {[]float64{0, 0}, []float64{1, 1}, 0, outcome.BadParameter},
		"NaN step":     {[]float64{0, 0}, []float64{1, 1}, math.NaN(), outcome.BadParameter},
		"step of +Inf": {[]float64{0, 0}, []float64{1, 1}, math.Inf(1), outcome.BadParameter},
		"NaN":          {[]float64{0, math.NaN()}, []float64{1, 1}, 1, outcome.NonFinite},
		"Inf":          {[]float64{math.Inf(-1), 0}, []float64{1, 1}, 1, outcome.NonFinite},
	} {
		if h, err := implicit.Generic(t.Context(), k, f, l1{-1}, c.beta, c.outer, c.step, implicit.Options{}); h != nil || outcome.KindOf(err) != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEveryLengthIsChecked checks that a call refuses each of its vectors if that vector alone is too short.
func TestEveryLengthIsChecked(t *testing.T) {
	full := func(n int) []float64 { return make([]float64, n) }
	refused := func(name string, err error) {
		t.Helper()
		if outcome.KindOf(err) != outcome.Shape {
			t.Errorf("%s: %v", name, err)
		}
	}
	v := drawVectors(t, 2)
	n, p := v.fit.Dims()
	for k, name := range []string{"slope", "curvature", "dual variables", "predictions", "w"} {
		lengths := []int{n, n, n, n, p}
		lengths[k]--
		at := implicit.VectorsPoint{Dual: full(lengths[2]), Predictions: full(lengths[3]), W: full(lengths[4])}
		_, err := implicit.NewVectors(v.fit).Solve(t.Context(), v.at, at, implicit.Outer{Slope: full(lengths[0]), Curvature: full(lengths[1])}, implicit.Options{})
		refused("vectors, "+name, err)
	}
	q := oracle.NewRandom(1).Problem(oracle.Shape{N: 6, P: 4})
	q.Uniform(0.1)
	fit := fixture.Squared(t, q, true)
	s, g, each, at := implicit.New(fit), scalar(t, q), weighted(t, q), implicit.Point{Support: []int32{0, 2}, Coef: []float64{1, -1}, KKT: -1}
	b := drawBox(oracle.NewRandom(1), 9, 4, 1, false)
	part := model.Singletons(4)
	group, err := model.GroupLasso(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	scores := fixture.OneScore(t, fit)
	blocks := implicit.NewBlocks(scores, part, cd.NewBlocks(scores, part).System())
	for _, short := range []struct{ slope, curvature int }{{1, 0}, {0, 1}} {
		outer := func(n int) implicit.Outer {
			return implicit.Outer{Slope: full(n - short.slope), Curvature: full(n - short.curvature)}
		}
		_, err := s.Solve(t.Context(), g, at, outer(6), implicit.Options{})
		refused("gradient", err)
		_, _, err = s.HVP(t.Context(), g, at, outer(6), full(1), implicit.Options{})
		refused("product with second derivatives", err)
		_, err = implicit.NewSVM(b.fit(t, nil, true)).Solve(t.Context(), 0, implicit.SVMPoint{}, outer(9), implicit.Options{})
		refused("SVM", err)
		_, err = blocks.Solve(t.Context(), group, implicit.BlockPoint{}, outer(6).Slope, outer(6).Curvature, implicit.Options{})
		refused("blocks", err)
	}
	for _, c := range []struct {
		g    model.Penalty
		want int
	}{{g, 1}, {each, 2}} {
		for _, n := range []int{c.want - 1, c.want + 1} {
			_, _, err := s.JVP(t.Context(), c.g, at, full(n), implicit.Options{})
			refused("direction", err)
			_, _, err = s.HVP(t.Context(), c.g, at, implicit.Outer{Slope: full(6), Curvature: full(6)}, full(n), implicit.Options{})
			refused("direction of second derivatives", err)
		}
		for _, n := range []int{1, 3} {
			_, _, err := s.VJP(t.Context(), c.g, at, full(n), implicit.Options{})
			refused("vector over the support", err)
		}
	}
}

// TestGenericOfOneIteration checks a single step of preconditioned conjugate gradients: its gradient, its residual
// and its bound are written out.
func TestGenericOfOneIteration(t *testing.T) {
	f := quadratic{q: [][]float64{{2, 0.5, 0.1}, {0.5, 1, -0.2}, {0.1, -0.2, 3}}, c: []float64{3, 4, -5}}
	beta, outer := []float64{1, 2, -1}, []float64{0.3, -0.7, 1.1}
	const step = 0.2
	g := huber{-1}
	var a [3][3]float64
	var b, inverse [3]float64
	z := make([]float64, 3)
	f.Gradient(beta, z)
	kkt := 0.0
	for j := range z {
		z[j] = beta[j] - step*z[j]
		value, slope := g.Prox(j, z[j], step)
		kkt = math.Max(kkt, math.Abs(beta[j]-value)/step)
		inverse[j] = 1 / slope
		b[j] = g.Sensitivity(j, 0, z[j], step) / slope
	}
	for i := range a {
		for j := range a {
			a[i][j] = step * f.q[i][j]
		}
		a[i][i] += inverse[i] - 1
	}
	var top, bottom, left, size, gradient float64
	for i := range a {
		top += b[i] * b[i] / inverse[i]
		for j := range a {
			bottom += b[i] / inverse[i] * a[i][j] * b[j] / inverse[j]
		}
	}
	for i := range a {
		rest := b[i]
		for j := range a {
			rest -= top / bottom * a[i][j] * b[j] / inverse[j]
		}
		left += rest * rest / inverse[i]
		size += outer[i] * outer[i] / inverse[i]
		gradient += outer[i] * top / bottom * b[i] / inverse[i]
	}
	h, err := implicit.Generic(t.Context(), fixture.Kernels(t), f, g, beta, outer, step, implicit.Options{MaxIterations: 1})
	if err != nil || h.Status != outcome.LinearSystemStalled || h.Iterations != 1 || math.Abs(h.KKT-kkt) > 1e-12*kkt || math.Abs(h.Gradient[0]-gradient) > 1e-12*math.Abs(gradient) {
		t.Errorf("%v: %+v, want a gradient of %g and a residual of %g", err, h, gradient, kkt)
	}
	// The Ritz value after one step is that of its direction.
	if want := math.Sqrt(size*left) / (bottom / top); math.Abs(h.ErrorBound-want) > 1e-9*want || h.InjectivityMargin != 1 {
		t.Errorf("bound %g, want %g; margin %g", h.ErrorBound, want, h.InjectivityMargin)
	}
}
