package kernels_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

// tileCase holds the operands of the operations on panels and tiles.
type tileCase struct {
	m, stride  int
	vector     []float64 // m
	x, y, l, t []float64 // 8 × m, m × 8, 8 × 8, 8 × 8, rows a stride apart
	vectors    *[8][]float64
}

func newTileCase(rng *rand.Rand, fill func(*rand.Rand, []float64), m, stride, offset int) tileCase {
	matrix := func(rows, width int) []float64 {
		v := make([]float64, max(0, (rows-1)*stride+width)+offset)[offset:]
		fill(rng, v)
		return v
	}
	return tileCase{
		m: m, stride: stride, vector: matrix(1, m),
		x: matrix(8, m), y: matrix(m, 8), l: matrix(8, 8), t: matrix(8, 8),
		vectors: new([8][]float64),
	}
}

func (c tileCase) clone() tileCase {
	c.t = slices.Clone(c.t)
	return c
}

// rows returns the rows of x.
func (c tileCase) rows() *[8][]float64 {
	for row := range c.vectors {
		c.vectors[row] = c.x[row*c.stride:][:c.m]
	}
	return c.vectors
}

// tileOperations lists the operations with their definitions. The result of each is in t.
var tileOperations = []struct {
	name           string
	run, reference func(k *kernels.Set, c tileCase)
}{
	{
		"subpanel",
		func(k *kernels.Set, c tileCase) { k.SubPanel(c.vector, c.y, c.stride, c.t[:8]) },
		func(_ *kernels.Set, c tileCase) {
			for l := range 8 {
				for from := 0; from < c.m; from += 1024 {
					sums := [4]float64{}
					for k := from; k < min(c.m, from+1024); k++ {
						sums[k%4] = math.FMA(c.vector[k], c.y[k*c.stride+l], sums[k%4])
					}
					c.t[l] -= (sums[0] + sums[2]) + (sums[1] + sums[3])
				}
			}
		},
	},
	{
		"subtile",
		func(k *kernels.Set, c tileCase) { k.SubTile(c.x, c.y, c.stride, c.m, c.t) },
		func(_ *kernels.Set, c tileCase) {
			for k := range c.m {
				for row := range 8 {
					for l := range 8 {
						at := &c.t[row*c.stride+l]
						*at = math.FMA(-c.x[row*c.stride+k], c.y[k*c.stride+l], *at)
					}
				}
			}
		},
	},
	{
		"addtile",
		func(k *kernels.Set, c tileCase) { k.AddTile(c.rows(), c.y[:8*c.m], c.stride, c.t) },
		func(_ *kernels.Set, c tileCase) {
			for k := range c.m {
				for row := range 8 {
					for l := range 8 {
						at := &c.t[row*c.stride+l]
						*at = math.FMA(c.x[row*c.stride+k], c.y[8*k+l], *at)
					}
				}
			}
		},
	},
	{
		"solvetile",
		func(k *kernels.Set, c tileCase) { k.SolveTile(c.l, c.stride, c.t) },
		func(_ *kernels.Set, c tileCase) { // by columns of T, backwards: the same operations on each element
			for side := 7; side >= 0; side-- {
				for row := range 8 {
					v := c.t[row*c.stride+side]
					for before := range row {
						v = math.FMA(-c.l[row*c.stride+before], c.t[before*c.stride+side], v)
					}
					c.t[row*c.stride+side] = float64(v * (1 / c.l[row*c.stride+row]))
				}
			}
		},
	},
}

func TestTilesReturnTheDocumentedBits(t *testing.T) {
	sizes := []int{100, 257, 1023, 1024, 1025, 2050}
	for m := range 40 {
		sizes = append(sizes, m)
	}
	if raceEnabled {
		sizes = []int{0, 1, 7, 1025}
	}
	sets := everySet(t)
	for _, kind := range kinds {
		for _, m := range sizes {
			rng := rand.New(rand.NewPCG(uint64(m), 41))
			c := newTileCase(rng, kind.fill, m, 8+rng.IntN(2*m+20), rng.IntN(8))
			for _, op := range tileOperations {
				want := c.clone()
				op.reference(nil, want)
				for _, k := range sets {
					got := c.clone()
					op.run(k, got)
					compare(t, k.Name+" "+op.name+", "+kind.name, got.t, want.t)
				}
			}
		}
	}
}

// TestTilesSolveSystems checks that SolveTile inverts the product with L.
func TestTilesSolveSystems(t *testing.T) {
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		rng := rand.New(rand.NewPCG(43, 44))
		l, x := make([]float64, 64), make([]float64, 64)
		kinds[0].fill(rng, x)
		for i := range 8 {
			for j := range i {
				l[8*i+j] = rng.NormFloat64()
			}
			l[8*i+i] = 2 + rng.Float64()
		}
		b := make([]float64, 64)
		for i := range 8 {
			for side := range 8 {
				for j := range i + 1 {
					b[8*i+side] += float64(l[8*i+j] * x[8*j+side])
				}
			}
		}
		k.SolveTile(l, 8, b)
		for i := range b {
			if !(math.Abs(b[i]-x[i]) < 1e-12) {
				t.Fatalf("element %d: %v, want %v", i, b[i], x[i])
			}
		}
	})
}

// TestTilesOfOneMatrix checks operands that are parts of the same matrix, as in a
// factorisation: nothing but the tile may be written.
func TestTilesOfOneMatrix(t *testing.T) {
	const s = 30
	rng := rand.New(rand.NewPCG(45, 46))
	a := make([]float64, s*s)
	kinds[0].fill(rng, a)
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for _, op := range tileOperations {
			got := slices.Clone(a)
			view := func(v []float64) tileCase {
				return tileCase{m: 8, stride: s, vector: v[9*s:][:8], x: v[8*s:], y: v[8:], l: v[8*s+8:], t: v[20*s+16:], vectors: new([8][]float64)}
			}
			op.run(k, view(got))
			want := slices.Clone(a)
			op.reference(nil, view(want))
			compare(t, op.name, got, want)
		}
	})
}

func TestMisuseOfTilesPanics(t *testing.T) {
	v := make([]float64, 200)
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for name, f := range map[string]func(){
			"subpanel stride":  func() { k.SubPanel(v[:2], v, 7, v[:8]) },
			"subpanel t":       func() { k.SubPanel(v[:2], v, 8, v[:7]) },
			"subpanel y":       func() { k.SubPanel(v[:2], v[:19], 12, v[:8]) },
			"subtile stride":   func() { k.SubTile(v, v, 7, 1, v) },
			"subtile m":        func() { k.SubTile(v, v, 8, -1, v) },
			"subtile x":        func() { k.SubTile(v[:73], v, 10, 4, v) },
			"subtile y":        func() { k.SubTile(v, v[:37], 10, 4, v) },
			"subtile t":        func() { k.SubTile(v, v, 10, 4, v[:77]) },
			"addtile x":        func() { k.AddTile(&[8][]float64{7: v[:1]}, nil, 8, v) },
			"addtile y":        func() { k.AddTile(&[8][]float64{}, v[:8], 8, v) },
			"addtile stride":   func() { k.AddTile(&[8][]float64{}, nil, 7, v) },
			"addtile t":        func() { k.AddTile(&[8][]float64{}, nil, 10, v[:77]) },
			"solvetile stride": func() { k.SolveTile(v, 7, v) },
			"solvetile l":      func() { k.SolveTile(v[:77], 10, v) },
			"solvetile t":      func() { k.SolveTile(v, 10, v[:77]) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				f()
			}()
		}
	})
}

func TestTilesDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	c := newTileCase(rand.New(rand.NewPCG(1, 2)), kinds[0].fill, 50, 60, 0)
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for _, op := range tileOperations {
			if n := testing.AllocsPerRun(10, func() { op.run(k, c) }); n != 0 {
				t.Errorf("%s: %v allocations", op.name, n)
			}
		}
	})
}

func BenchmarkTiles(b *testing.B) {
	for _, k := range kernels.Available() {
		for _, m := range []int{8, 64, 512} {
			c := newTileCase(rand.New(rand.NewPCG(1, 2)), kinds[0].fill, m, m+8, 0)
			for _, op := range tileOperations {
				b.Run(op.name+"/set="+k.Name, func(b *testing.B) {
					for b.Loop() {
						op.run(k, c)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(64*m), "ns/madd")
				})
			}
		}
	}
}
