package bilevel

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/search"
)

// TestAnewIsWithoutWhatWasLearnt checks that an evaluation of a problem that remembers has the bits of an
// evaluation of a new problem from the same coefficients, whichever columns its solvers have used before.
func TestAnewIsWithoutWhatWasLearnt(t *testing.T) {
	for seed := range uint64(6) {
		q := oracle.NewRandom(950 + seed).Problem(oracle.Shape{N: 60, P: 90, Correlation: 0.7})
		top := math.Log(q.AlphaMax())
		open := func(left ...search.Memory) *Problem {
			p, err := New(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, Spec{Folds: slices.Repeat(Folds{0, 1}, 30), Penalty: lassoOf, Solver: cd.Options{Tol: 1e-3}})
			if err == nil {
				err = p.Remember(t.Context(), 1, left)
			}
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		p := open()
		var last []search.Memory
		for _, below := range []float64{3, 0.5, 2, 1, 4, 1.5, 2.5} {
			r := search.Request{LogLambda: []float64{top - below}}
			got, err := p.Eval(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			want, err := open(last...).Eval(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if got.Value != want.Value || !slices.Equal(got.Gradient, want.Gradient) || !slices.Equal(got.Memory.Last, want.Memory.Last) {
				t.Errorf("seed %d, %g below: %.17g %v, of a new problem %.17g %v", seed, below, got.Value, got.Gradient, want.Value, want.Gradient)
			}
			last = []search.Memory{got.Memory}
		}
	}
}
