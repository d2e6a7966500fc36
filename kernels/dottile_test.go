package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

const tileProducts = kernels.TileColumns * kernels.TileColumns

func newDotTile(rng *rand.Rand, fill func(*rand.Rand, []float64), n int) (x, y [kernels.TileColumns][]float64) {
	for _, side := range []*[kernels.TileColumns][]float64{&x, &y} {
		for a := range side {
			offset := rng.IntN(8)
			side[a] = make([]float64, n+offset)[offset:]
			fill(rng, side[a])
		}
	}
	return x, y
}

// TestDotTileHasTheBitsOfDot, at every length, across blocks, and where vectors
// meet themselves.
func TestDotTileHasTheBitsOfDot(t *testing.T) {
	sizes := []int{1000, 3468, 8191, 8192, 8193, 17000}
	for n := range 140 {
		sizes = append(sizes, n)
	}
	if raceEnabled {
		sizes = []int{0, 1, 45, 8193}
	}
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		var out, want [tileProducts]float64
		for _, kind := range kinds {
			for _, n := range sizes {
				if n > 1000 && kind.name != "normal" {
					continue
				}
				x, y := newDotTile(rand.New(rand.NewPCG(uint64(n), 71)), kind.fill, n)
				y[2] = x[1]
				for a := range x {
					for b := range y {
						want[kernels.TileColumns*a+b] = reference.Dot(x[a], y[b])
					}
				}
				k.DotTile(&x, &y, &out)
				compare(t, fmt.Sprintf("%s, n = %d", kind.name, n), out[:], want[:])
			}
		}
	})
}

func TestMisuseOfDotTilePanics(t *testing.T) {
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for i := range 2 * kernels.TileColumns {
			x, y := newDotTile(rand.New(rand.NewPCG(1, 1)), kinds[0].fill, 9)
			if a := i / 2; i%2 == 0 {
				x[a] = x[a][:8]
			} else {
				y[a] = y[a][:8]
			}
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("vector %d is shorter: no panic", i)
					}
				}()
				k.DotTile(&x, &y, new([tileProducts]float64))
			}()
		}
	})
}

// BenchmarkDotTile is per product, beside sixteen calls of Dot.
func BenchmarkDotTile(b *testing.B) {
	for _, n := range []int{16, 72, 300, 3468, 20000} {
		x, y := newDotTile(rand.New(rand.NewPCG(1, 1)), kinds[0].fill, n)
		var out [tileProducts]float64
		for _, k := range kernels.Available()[1:] {
			for name, run := range map[string]func(){
				"tile": func() { k.DotTile(&x, &y, &out) },
				"dots": func() {
					for a := range x {
						for c := range y {
							out[kernels.TileColumns*a+c] = k.Dot(x[a], y[c])
						}
					}
				},
			} {
				b.Run(fmt.Sprintf("%s/%s/n=%d", name, k.Name, n), func(b *testing.B) {
					for b.Loop() {
						run()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(tileProducts*n), "ns/madd")
				})
			}
		}
	}
}
