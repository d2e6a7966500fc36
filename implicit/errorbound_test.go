package implicit_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
)

// TestErrorBoundHolds checks that, for inner tolerances from 1e-2 to 1e-12 and the right support, the bound covers
// the true error in 99 of 100 cases, and that the error shrinks at least in proportion to the distance from the
// solution (G3).
func TestErrorBoundHolds(t *testing.T) {
	cases, missed, vague := 0, 0, 0
	var slope oracle.Sum
	slopes := 0
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(3000 + seed)
		q, best, rows := smooth(r)
		fit, g := fixture.Squared(t, q, true), scalar(t, q)
		s := implicit.New(fit)
		outer := outerOf(q, best.Beta, rows)
		common, ridge, _, _ := q.Hypergradient(best.Beta, outer.Slope)
		truth := []float64{common, ridge}
		direction := make([]float64, len(best.Beta))
		largest := 0.0
		for j, b := range best.Beta {
			if b != 0 {
				direction[j] = r.Normal()
			}
			largest = math.Max(largest, math.Abs(b))
		}
		first, last, firstDistance, lastDistance := 0.0, 0.0, 0.0, 0.0
		for tol := 1e-2; tol > 1e-13; tol /= 10 {
			distance := math.Sqrt(tol) * 0.1 * largest
			beta := append([]float64(nil), best.Beta...)
			flipped := false
			for j, d := range direction {
				if best.Beta[j] != 0 {
					beta[j] += distance * d
					flipped = flipped || beta[j]*best.Beta[j] <= 0
				}
			}
			if flipped {
				continue // the support is wrong
			}
			// The linear system is solved to the tolerance that bilevel would use.
			h := gradientAt(t, s, g, q, beta, rows, implicit.Options{Tol: 0.01 * math.Sqrt(tol)})
			miss := 0.0
			for i, v := range h.Gradient {
				miss = math.Max(miss, math.Abs(v-truth[i]))
			}
			cases++
			if miss > h.ErrorBound+1e-13*(math.Abs(common)+math.Abs(ridge)) {
				missed++
				t.Logf("seed %d, tolerance %.0e: error %.2e, bound %.2e; ridge %g, %v against %v", seed, tol, miss, h.ErrorBound, q.Ridge, h.Gradient, truth)
			}
			if h.ErrorBound > 1e4*miss && miss > 0 {
				vague++
			}
			if first == 0 {
				first, firstDistance = miss, distance
			}
			last, lastDistance = miss, distance
		}
		if first > 0 && last > 0 && lastDistance < 1e-3*firstDistance {
			slope.Add(math.Log(first/last) / math.Log(firstDistance/lastDistance))
			slopes++
		}
	}
	if float64(missed) > 0.01*float64(cases) {
		t.Errorf("the bound is below the error in %d of %d cases", missed, cases)
	}
	if float64(vague) > 0.1*float64(cases) {
		t.Errorf("the bound is 10,000 times the error or more in %d of %d cases", vague, cases)
	}
	// The distance is proportional to √gap: an exponent of 0.45 in √gap is required, and 1 in the distance expected.
	if mean := slope.Value() / float64(slopes); mean < 0.9 {
		t.Errorf("the error shrinks with exponent %.2f of the distance", mean)
	}
}

// TestErrorBoundOfWeightedGradients checks the same for one λ per column, with the error of the largest entry.
func TestErrorBoundOfWeightedGradients(t *testing.T) {
	cases, missed, vague := 0, 0, 0
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(6000 + seed)
		q, best, rows := smooth(r)
		if q.Ridge > 0 {
			continue
		}
		s, g := implicit.New(fixture.Squared(t, q, true)), weighted(t, q)
		outer := outerOf(q, best.Beta, rows)
		_, _, each, _ := q.Hypergradient(best.Beta, outer.Slope)
		size := 0.0
		for _, v := range each {
			size = math.Max(size, math.Abs(v))
		}
		for tol := 1e-2; tol > 1e-13; tol /= 10 {
			beta := append([]float64(nil), best.Beta...)
			flipped := false
			for j, b := range best.Beta {
				beta[j] += b * 0.1 * math.Sqrt(tol) * r.Normal()
				flipped = flipped || beta[j]*b < 0
			}
			if flipped {
				continue
			}
			h := gradientAt(t, s, g, q, beta, rows, implicit.Options{Tol: 0.01 * math.Sqrt(tol)})
			miss, k := 0.0, 0
			for j, b := range best.Beta {
				if b != 0 {
					miss = math.Max(miss, math.Abs(h.Gradient[k]-each[j]))
					k++
				}
			}
			cases++
			if miss > h.ErrorBound+1e-13*size {
				missed++
				t.Logf("seed %d, tolerance %.0e: error %.2e, bound %.2e", seed, tol, miss, h.ErrorBound)
			}
			if h.ErrorBound > 1e4*miss && miss > 0 {
				vague++
			}
		}
	}
	if float64(missed) > 0.01*float64(cases) {
		t.Errorf("the bound is below the error in %d of %d cases", missed, cases)
	}
	if float64(vague) > 0.1*float64(cases) {
		t.Errorf("the bound is 10,000 times the error or more in %d of %d cases", vague, cases)
	}
}

// TestOneSystemServesBothStrengths checks that the adjoint gives the gradient that one system for each strength
// gives, within both bounds, in fewer iterations.
func TestOneSystemServesBothStrengths(t *testing.T) {
	apart, together := 0, 0
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(9000 + seed)
		q, best, rows := smooth(r)
		if q.Ridge == 0 {
			continue
		}
		n, _ := q.Dims()
		s, g := implicit.New(fixture.Squared(t, q, true)), scalar(t, q)
		for _, off := range []float64{0, 1e-6, 1e-3} {
			beta := append([]float64(nil), best.Beta...)
			for j := range beta {
				beta[j] *= 1 + off*r.Normal()
			}
			o := implicit.Options{Tol: 1e-4}
			h := *gradientAt(t, s, g, q, beta, rows, o)
			got := append([]float64(nil), h.Gradient...)
			o.Motion = [][]float64{make([]float64, n), make([]float64, n)}
			want := gradientAt(t, s, g, q, beta, rows, o)
			for i, v := range got {
				if both := h.ErrorBound + want.ErrorBound; math.Abs(v-want.Gradient[i]) > both+1e-13*math.Abs(v) {
					t.Errorf("seed %d, off by %g: entry %d is %g, and %g by a system of its own; bounds add up to %g", seed, off, i, v, want.Gradient[i], both)
				}
			}
			if h.ErrorBound > 100*want.ErrorBound+1e-13 {
				t.Errorf("seed %d, off by %g: bound %g, and %g with a system for each", seed, off, h.ErrorBound, want.ErrorBound)
			}
			together, apart = together+h.Iterations, apart+want.Iterations
		}
	}
	if together > apart {
		t.Errorf("%d iterations, %d with a system for each", together, apart)
	}
}

// TestBoundsCountWhatMovesTogether checks a point near 0 at which the criterion is flat: slope and right-hand side
// of a ridge are both almost 0, and the gradient at the solution is the product of their errors, with one
// hyperparameter and with two.
func TestBoundsCountWhatMovesTogether(t *testing.T) {
	const beta = 1e-9
	q := &oracle.Problem{X: [][]float64{{1}, {1}}, Y: []float64{3, 3}, Alpha: []float64{0}}
	fit := fixture.Squared(t, q, true)
	ridge, err := model.Ridge(0)
	if err != nil {
		t.Fatal(err)
	}
	both, err := model.ElasticNet(-20, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]model.Penalty{"ridge": ridge, "elastic net": both} {
		for _, s := range []*implicit.Solver{implicit.New(fit), implicit.NewIterative(fit)} {
			solve := func(beta, slope float64) (gradient, bound float64) {
				h, err := s.Solve(t.Context(), g, implicit.Point{Support: []int32{0}, Coef: []float64{beta}, KKT: -1},
					implicit.Outer{Slope: []float64{slope, slope}, Curvature: []float64{1, 1}}, implicit.Options{Tol: 1e-12})
				if err != nil {
					t.Fatal(err)
				}
				return h.Gradient[len(h.Gradient)-1], h.ErrorBound
			}
			best := (3 - g.Alpha(0)) / 2 // from (1 + α₂)β = 3 − α
			got, bound := solve(beta, 0)
			want, _ := solve(best, best-beta)
			if off := math.Abs(got - want); !(off <= bound) || !(off > 1) {
				t.Errorf("%s: off by %g, bound %g", name, off, bound)
			}
		}
	}
}
