package implicit_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
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
