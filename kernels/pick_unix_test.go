//go:build linux || darwin

package kernels_test

import (
	"math/rand/v2"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/guard"
	"github.com/seed-45b9a24c/pare/kernels"
)

// TestPickReadsAndWritesItsOperandsAlone puts every operand against a page that faults.
func TestPickReadsAndWritesItsOperandsAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for _, edge := range []guard.Edge{guard.Start, guard.End} {
		regions := [3][]int32{}
		for i := range regions {
			regions[i] = guard.Slice[int32](t, 512, edge)
		}
		floats := [2][]float64{guard.Slice[float64](t, 512, edge), guard.Slice[float64](t, 512, edge)}
		eachSet(t, func(t *testing.T, k *kernels.Set) {
			for n := range 70 {
				number, rows, values := pickCase(rng, n, 0.7)
				for i := range rows { // the last number is read, too
					if number[len(number)-1] = 5; rng.IntN(4) == 0 {
						rows[i] = int32(len(number) - 1)
					}
				}
				number, rows = flush(edge, regions[0], number), flush(edge, regions[1], rows)
				values = flush(edge, floats[0], values)
				index, out := flush(edge, regions[2], make([]int32, n)), flush(edge, floats[1], make([]float64, n))
				if guard.Faults(func() { k.Pick(number, rows, values, index, out) }) {
					t.Fatalf("n = %d: access outside of the operands", n)
				}
			}
		})
	}
}
