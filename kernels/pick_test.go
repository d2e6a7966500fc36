package kernels_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

// pickCase returns a column with n entries, and numbers of which a share are not negative.
func pickCase(rng *rand.Rand, n int, share float64) (number, rows []int32, values []float64) {
	number = make([]int32, 2*n+3)
	next := int32(0)
	for i := range number {
		number[i] = -1 - int32(rng.IntN(2))*0x7ffffff0
		if rng.Float64() < share {
			number[i] = next
			next++
		}
	}
	rows, values = make([]int32, n), make([]float64, n)
	for k := range rows {
		rows[k], values[k] = int32(2*k+rng.IntN(2)), rng.NormFloat64()
	}
	return number, rows, values
}

// wantPicked is the definition of Pick.
func wantPicked(number, rows []int32, values []float64) (index []int32, out []float64) {
	for k, i := range rows {
		if number[i] >= 0 {
			index, out = append(index, number[i]), append(out, values[k])
		}
	}
	return index, out
}

// TestPick checks columns of every length, with a number for none, some and all of the rows, and that
// nothing is written behind the room for all entries.
func TestPick(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 15))
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		lengths := []int{1000, kernels.Block, kernels.Block + 37, 2*kernels.Block + 1}
		for n := range 70 {
			lengths = append(lengths, n)
		}
		for _, n := range lengths {
			for _, share := range []float64{0, 0.1, 0.5, 0.9, 1} {
				number, rows, values := pickCase(rng, n, share)
				index, out := make([]int32, n+9), make([]float64, n+9)
				for i := range index {
					index[i], out[i] = -7, -7
				}
				wantIndex, want := wantPicked(number, rows, values)
				kept := k.Pick(number, rows, values, index, out)
				if kept != len(want) || !slices.Equal(index[:kept], wantIndex) || !slices.Equal(out[:kept], want) {
					t.Fatalf("n = %d, share %v: %d picked, want %d:\n%v\n%v", n, share, kept, len(want), index[:kept], wantIndex)
				}
				for i := range 9 {
					if index[n+i] != -7 || out[n+i] != -7 {
						t.Fatalf("n = %d: written behind the room for all", n)
					}
				}
			}
		}
	})
}

// BenchmarkPick picks an eighth and a third of the rows of 300 columns with 2,000 entries on average.
func BenchmarkPick(b *testing.B) {
	const n, columns = 50_000, 300
	rng := rand.New(rand.NewPCG(1, 1))
	number := make([]int32, n)
	rows, values := make([][]int32, columns), make([][]float64, columns)
	entries := 0
	for j := range rows {
		density := 0.08 * rng.Float64()
		for i := range int32(n) {
			if rng.Float64() < density {
				rows[j], values[j] = append(rows[j], i), append(values[j], 1)
			}
		}
		entries += len(rows[j])
	}
	index, out := make([]int32, n), make([]float64, n)
	for share, name := range map[int]string{8: "eighth", 3: "third"} {
		for i := range number {
			number[i] = -1
			if rng.IntN(share) == 0 {
				number[i] = int32(i / share)
			}
		}
		for _, k := range kernels.Available() {
			b.Run("set="+k.Name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					for j := range rows {
						k.Pick(number, rows[j], values[j], index, out)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(entries), "ns/entry")
			})
		}
	}
}
