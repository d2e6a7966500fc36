package iterdiff_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/kernels"
)

// bits collects the results that must not depend on how they were computed.
func bits(r *iterdiff.Result) []float64 {
	out := slices.Concat(r.Coef, r.Gradient, []float64{r.Value, r.Intercept, r.Gap, r.KKT, r.Change, float64(r.Epochs), float64(r.Identified)})
	for _, j := range r.Support {
		out = append(out, float64(j))
	}
	return out
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// TestCheckpointsChangeNoBit checks that the reverse sweep uses the same steps whether they are recomputed from
// checkpoints or read from the tape.
func TestCheckpointsChangeNoBit(t *testing.T) {
	for _, m := range allModels {
		for _, method := range []iterdiff.Method{iterdiff.BackwardPCD, iterdiff.BackwardPGD} {
			for seed := range uint64(3) {
				q := draw(t, oracle.NewRandom(seed), fixture.Kernels(t), m.loss, m.penalty, method)
				for _, epochs := range []int{0, 1, 2, 3, 50, 101} {
					o := iterdiff.Options{Epochs: epochs, MaxEpochs: 2000}
					kept := q.solve(t, o)
					want := bits(kept)
					if kept.Recomputed != 0 {
						t.Errorf("%d epochs recomputed with room for the tape", kept.Recomputed)
					}
					for _, budget := range []int64{1, 2000} {
						o.MemoryBudget = budget
						got := q.solve(t, o)
						if !sameBits(bits(got), want) {
							t.Errorf("%v %s %s, seed %d, %d epochs, budget %d: other bits", m.loss, m.penalty, method, seed, epochs, budget)
						}
						if budget == 1 && len(got.Support) > 0 && got.Recomputed == 0 {
							t.Error("no epoch recomputed, without room for a tape")
						}
						if got.Recomputed > 4*got.Epochs {
							t.Errorf("%d epochs recomputed for %d", got.Recomputed, got.Epochs)
						}
					}
				}
			}
		}
	}
}

func TestSameBitsOnEveryKernelSet(t *testing.T) {
	for _, m := range allModels {
		for _, method := range allMethods {
			var want []float64
			for _, k := range kernels.Available() {
				q := draw(t, oracle.NewRandom(11), k, m.loss, m.penalty, method)
				got := bits(q.solve(t, iterdiff.Options{Tol: 1e-6, MaxEpochs: 300}))
				if want == nil {
					want = got
				}
				if !sameBits(got, want) {
					t.Errorf("%v %s %s: %s has other bits than pure Go", m.loss, m.penalty, method, k.Name)
				}
			}
		}
	}
}

// TestSolverHasNoMemory checks that a result does not depend on previous calls of the solver.
func TestSolverHasNoMemory(t *testing.T) {
	for _, m := range allModels {
		q := draw(t, oracle.NewRandom(17), fixture.Kernels(t), m.loss, m.penalty, 0)
		want := map[iterdiff.Method][]float64{}
		for range 2 {
			for _, q.method = range allMethods {
				got := bits(q.solve(t, iterdiff.Options{MaxEpochs: 500}))
				if before, ok := want[q.method]; ok && !sameBits(got, before) {
					t.Errorf("%v %s %s: other bits the second time", m.loss, m.penalty, q.method)
				}
				want[q.method] = got
				q.solve(t, iterdiff.Options{Epochs: 3, MemoryBudget: 4096})
			}
		}
	}
}
