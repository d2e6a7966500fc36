package pare_test

import (
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/embedded"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Solved counts the inner problems of every evaluation, up to the number of folds and
// classes; along a path, those of all its points. Evaluations keep their folds' values.
func TestSolvedCountsInnerProblems(t *testing.T) {
	x, y, err := embedded.Diabetes(t.Context(), sparse.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	three := make([]float64, len(y))
	for i := range three {
		three[i] = float64(i % 3)
	}
	for _, test := range []struct {
		model  pare.Model
		y      []float64
		solves int
	}{{pare.Lasso, y, 5}, {pare.Multiclass, three, 15}} {
		var told []int
		c := pare.Config{Model: test.model, Solved: func(done, of int, _ []float64) {
			if told = append(told, done); of != test.solves {
				t.Errorf("%s: %d inner problems, want %d", test.model, of, test.solves)
			}
		}}
		s, err := pare.Select(t.Context(), x, test.y, pare.SelectOptions{}, c)
		if err != nil {
			t.Fatal(err)
		}
		if want := test.solves * len(s.Evaluations); len(told) != want || slices.Max(told) != test.solves {
			t.Errorf("%s: told %d times up to %d, want %d up to %d", test.model, len(told), slices.Max(told), want, test.solves)
		}
		for _, e := range s.Evaluations {
			var sum float64
			for _, v := range e.FoldValues {
				sum += v
			}
			if len(e.FoldValues) != 5 || sum/5 < e.Value*(1-1e-12) || sum/5 > e.Value*(1+1e-12) {
				t.Errorf("%s: folds %v, value %g", test.model, e.FoldValues, e.Value)
			}
		}
		told = nil
		top, err := pare.LogLambdaMax(x, y, pare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		c = pare.Config{Solved: func(done, of int, _ []float64) { told = append(told, done, of) }}
		for _, err := range pare.Validate(t.Context(), x, y, [][]float64{{top[0] - 1}, {top[0] - 2}}, pare.Validation{InOrder: true}, c) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(told) != 20 || told[18] != 10 || told[19] != 10 {
			t.Errorf("along a path: %v", told)
		}
	}
}
