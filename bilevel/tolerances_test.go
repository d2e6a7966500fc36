package bilevel

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
)

// TestTolerancesOfSystems checks the tolerances of linear systems. A system is solved to a tenth of the root of
// the gap, at most 1e-3; for a rough slope, to three times that. For gaps up to 1e-9 it is a hundredth of the
// root, and solutions are polished. A gap of 0 stands for 1e-6; gaps above 1e-6 count as loose.
func TestTolerancesOfSystems(t *testing.T) {
	for _, c := range []struct {
		gap, want       float64
		polished, loose bool
	}{
		{0, 1e-4, false, false},
		{1e-12, 1e-8, true, false},
		{1e-9, math.Sqrt(1e-13), true, false},
		{1.5e-9, math.Sqrt(1.5e-11), false, false},
		{4e-8, 2e-5, false, false},
		{1e-6, 1e-4, false, false},
		{1.5e-6, math.Sqrt(1.5e-8), false, true},
		{0.9e-4, math.Sqrt(0.9e-6), false, true},
		{1.5e-4, 1e-3, false, true},
		{0.5, 1e-3, false, true},
	} {
		for _, rough := range []bool{false, true} {
			want := c.want
			if rough && !c.polished {
				want *= 3
			}
			if got := systemTol(c.gap, rough); !(math.Abs(got-want) <= 1e-15*want) {
				t.Errorf("gap %g, rough %t: tolerance %g, want %g", c.gap, rough, got, want)
			}
		}
		if got := withPolish(cd.Options{Tol: c.gap}); got.Polish != c.polished || got.Tol != c.gap {
			t.Errorf("gap %g: polished %t, want %t", c.gap, got.Polish, c.polished)
		}
		if !withPolish(cd.Options{Tol: c.gap, Polish: true}).Polish {
			t.Errorf("gap %g: a polish that was asked for is not there", c.gap)
		}
		if isLoose(c.gap) != c.loose {
			t.Errorf("gap %g: loose %t, want %t", c.gap, !c.loose, c.loose)
		}
	}
}

// TestPredictionsAreSolvedTo checks that predictions are solved to the tolerance of the spec, at least 1e-6, and
// start from the solution kept at their λ.
func TestPredictionsAreSolvedTo(t *testing.T) {
	kept := points{{1}, {2, 3}}
	for tol, want := range map[float64]float64{0: 1e-6, 1e-9: 1e-6, 1e-3: 1e-3} {
		spec := Spec{Solver: cd.Options{Tol: tol}}
		r := spec.predictionRequest(kept, []float64{2, 3}, true)
		if r.Ask != AskSolve || r.Tol != want || !r.ValueOnly || !r.Tell || !r.Anew || r.From != 2 || r.Keep != 0 || len(r.LogLambda) != 2 {
			t.Errorf("tolerance %g: %+v", tol, r)
		}
		if r := spec.predictionRequest(kept, []float64{2}, false); r.From != 0 || r.Anew {
			t.Errorf("of a λ that was not kept: %+v", r)
		}
	}
}

// TestPointsAreNumbered checks that points are numbered from 1 in the order in which they are first added.
func TestPointsAreNumbered(t *testing.T) {
	var p points
	for i, at := range [][]float64{{1}, {2}, {1, 2}, {2}, {1}} {
		number := []int{1, 2, 3, 2, 1}[i]
		if got := p.nextNumber(at); got != number {
			t.Errorf("point %d: next %d, want %d", i, got, number)
		}
		if known := p.number(at); (known > 0) != (i > 2) {
			t.Errorf("point %d: number %d before it was added", i, known)
		}
		p.add(at)
		if got := p.number(at); got != number {
			t.Errorf("point %d: number %d, want %d", i, got, number)
		}
	}
	if len(p) != 3 {
		t.Errorf("%d points", len(p))
	}
}
