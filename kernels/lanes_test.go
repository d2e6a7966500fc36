package kernels_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

// TestLanesAreIndependentProblems checks that every lane of DotLanes has the bits of
// DotIndexed on that lane alone.
func TestLanesAreIndependentProblems(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	reference := kernels.Available()[0]
	const n = 20_000
	y := make([]float64, kernels.Lanes*n)
	for i := range y {
		y[i] = math.Ldexp(rng.NormFloat64(), rng.IntN(40)-20)
		if rng.IntN(50) == 0 {
			y[i] = math.Copysign(0, -1)
		}
	}
	lane := make([]float64, n)
	lengths := []int{255, 256, 257, kernels.Block - 1, kernels.Block, kernels.Block + 1, 2*kernels.Block + 3}
	for length := range 70 {
		lengths = append(lengths, length)
	}
	for _, length := range lengths {
		rows, first := make([]int32, length), rng.IntN(n-length+1)
		for k, r := range rng.Perm(n - first)[:length] {
			rows[k] = int32(first + r)
		}
		values := make([]float64, length)
		for k := range values {
			values[k] = rng.NormFloat64()
		}
		for _, k := range kernels.Available() {
			got := [kernels.Lanes]float64{1, 2, 3}
			k.DotLanes(values, rows, y[kernels.Lanes*first:], first, &got)
			for l := range got {
				for i := range lane {
					lane[i] = y[kernels.Lanes*i+l]
				}
				want := reference.DotIndexed(values, rows, lane)
				if math.Float64bits(got[l]) != math.Float64bits(want) {
					t.Fatalf("%s, %d entries, lane %d: %v, DotIndexed gives %v", k.Name, length, l, got[l], want)
				}
			}
		}
	}
}

func BenchmarkDotLanes(b *testing.B) {
	rng := rand.New(rand.NewPCG(8, 8))
	const n, length = 20_000, 74
	y := make([]float64, kernels.Lanes*n)
	values, rows := make([]float64, length), make([]int32, length)
	var out [kernels.Lanes]float64
	for _, k := range kernels.Available() {
		b.Run("set="+k.Name, func(b *testing.B) {
			for k, r := range rng.Perm(n)[:length] {
				values[k], rows[k] = 1, int32(r)
			}
			b.SetBytes(length * (8 + 4 + 64))
			for b.Loop() {
				k.DotLanes(values, rows, y, 0, &out)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/length/kernels.Lanes, "ns/nnz/lane")
		})
	}
}
