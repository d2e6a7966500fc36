package bilevel_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/search"
)

// TestManyRareClasses checks problems with many classes, whose cold solves start from one another's solutions. The
// first evaluation has the values and slopes of a problem that has been evaluated elsewhere before, with the same
// bits for any number of threads, and the slopes of three classes agree with differences.
func TestManyRareClasses(t *testing.T) {
	const q, each = 30, 12
	r := oracle.NewRandom(31)
	p := r.Problem(oracle.Shape{N: q * each, P: 12, Density: 0.7})
	for i, row := range p.X {
		p.Y[i] = float64(i % q)
		row[i%q%12] += 1 + float64(i%q)/q
		row[i%q/3]++
	}
	ids := make([]int, q*each)
	for i := range ids {
		ids[i] = -(i / q % 2)
	}
	lambda := slices.Repeat([]float64{-6}, q)
	evaluate := func(threads int, path ...[]float64) (report bilevel.Report) {
		m := newMulticlass(t, p, false, bilevel.Spec{Folds: ids, Threads: threads, Solver: cd.Options{Tol: 1e-12}})
		for _, at := range path {
			var err error
			if report, err = m.Evaluate(t.Context(), search.Request{LogLambda: at}); err != nil {
				t.Fatal(err)
			}
		}
		return report
	}
	before := slices.Repeat([]float64{-5}, q)
	cold, elsewhere := evaluate(1, lambda), evaluate(1, before, lambda)
	if two := evaluate(2, lambda); two.Value != cold.Value || !slices.Equal(two.Gradient, cold.Gradient) {
		t.Errorf("one thread %.17g, two %.17g", cold.Value, two.Value)
	}
	if two := evaluate(2, before, lambda); two.Value != elsewhere.Value || !slices.Equal(two.Gradient, elsewhere.Gradient) {
		t.Errorf("from elsewhere one thread %.17g, two %.17g", elsewhere.Value, two.Value)
	}
	if !(math.Abs(cold.Value-elsewhere.Value) <= 1e-9*cold.Value) {
		t.Errorf("%.12g at once, %.12g from elsewhere", cold.Value, elsewhere.Value)
	}
	for k, g := range cold.Gradient {
		if !(math.Abs(g-elsewhere.Gradient[k]) <= 1e-7) {
			t.Errorf("class %d: slope %g at once, %g from elsewhere", k, g, elsewhere.Gradient[k])
		}
	}
	for _, k := range []int{0, 14, 29} {
		const h = 1e-5
		up, down := slices.Clone(lambda), slices.Clone(lambda)
		up[k] += h
		down[k] -= h
		want := (evaluate(1, up).Value - evaluate(1, down).Value) / (2 * h)
		if !(math.Abs(cold.Gradient[k]-want) <= 1e-6) {
			t.Errorf("class %d: slope %g, by differences %g", k, cold.Gradient[k], want)
		}
	}
}
