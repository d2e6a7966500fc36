package kernels_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

// The benchmarks are named operation/set/size. SetBytes counts the bytes that
// the operation must move: each operand once per read and once per write. "loop"
// is the plain Go loop that one would write without this package.

func eachSetB(b *testing.B, f func(b *testing.B, k *kernels.Set)) {
	b.Helper()
	for _, k := range append([]*kernels.Set{plainLoops}, kernels.Available()...) {
		b.Run("set="+k.Name, func(b *testing.B) { f(b, k) })
	}
}

// plainLoops is not a set: it adds in another order.
var plainLoops = &kernels.Set{
	Name: "loop",
	Dot: func(x, y []float64) float64 {
		var s float64
		for i, v := range x {
			s += v * y[i]
		}
		return s
	},
	Axpy: func(a float64, x, y []float64) {
		for i, v := range x {
			y[i] += a * v
		}
	},
	Scal: func(a float64, x []float64) {
		for i := range x {
			x[i] *= a
		}
	},
	Asum: func(x []float64) float64 {
		var s float64
		for _, v := range x {
			s += max(v, -v)
		}
		return s
	},
	MaxAbs: func(x []float64) float64 {
		var m float64
		for _, v := range x {
			m = max(m, max(v, -v))
		}
		return m
	},
	CountAnd: func(x, y []uint64) (count int) {
		for i, word := range x {
			count += bits.OnesCount64(word & y[i])
		}
		return count
	},
	DotIndexed: func(values []float64, rows []int32, y []float64) float64 {
		var s float64
		for k, v := range values {
			s += v * y[rows[k]]
		}
		return s
	},
	AxpyIndexed: func(a float64, values []float64, rows []int32, y []float64) {
		for k, v := range values {
			y[rows[k]] += a * v
		}
	},
	ScaleIndexed: func(values []float64, rows []int32, scale, out []float64) (sum, square float64) {
		for k, v := range values {
			r := scale[rows[k]]
			u := v * r
			out[k] = u
			sum += r * u
			square += u * u
		}
		return sum, square
	},
	DotColumns: func(colPtr []int64, rows []int32, values, y, out []float64) {
		for c := range out {
			var s float64
			for k := colPtr[c]; k < colPtr[c+1]; k++ {
				s += values[k] * y[rows[k]]
			}
			out[c] = s
		}
	},
}

func benchmarkDense(b *testing.B, bytesPerElement int, run func(k *kernels.Set, x, y []float64)) {
	eachSetB(b, func(b *testing.B, k *kernels.Set) {
		for _, n := range []int{8, 31, 128, 1024, 8192, 65536, 8 << 20} {
			b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
				x, y := make([]float64, n), make([]float64, n)
				for i := range x {
					x[i], y[i] = 1+float64(i&7), 2
				}
				b.SetBytes(int64(bytesPerElement * n))
				for b.Loop() {
					run(k, x, y)
				}
			})
		}
	})
}

func BenchmarkDot(b *testing.B) {
	benchmarkDense(b, 16, func(k *kernels.Set, x, y []float64) { sink = k.Dot(x, y) })
}

func BenchmarkAxpy(b *testing.B) {
	benchmarkDense(b, 24, func(k *kernels.Set, x, y []float64) { k.Axpy(1e-9, x, y) })
}

func BenchmarkScal(b *testing.B) {
	benchmarkDense(b, 16, func(k *kernels.Set, x, y []float64) { k.Scal(1, x) })
}

func BenchmarkAsum(b *testing.B) {
	benchmarkDense(b, 8, func(k *kernels.Set, x, y []float64) { sink = k.Asum(x) })
}

func BenchmarkMaxAbs(b *testing.B) {
	benchmarkDense(b, 8, func(k *kernels.Set, x, y []float64) { sink = k.MaxAbs(x) })
}

// columns are equally long columns over n rows, 200,000 entries in all.
type columns struct {
	colPtr      []int64
	rows        []int32
	values, out []float64
	y           []float64
}

func newColumns(n, length int) columns {
	rng := rand.New(rand.NewPCG(1, 2))
	count := 200_000 / length
	c := columns{y: make([]float64, n), out: make([]float64, count), colPtr: []int64{0}}
	for i := range c.y {
		c.y[i] = 1
	}
	for range count {
		seen := map[int32]bool{}
		for len(seen) < length {
			seen[rng.Int32N(int32(n))] = true
		}
		column := make([]int32, 0, length)
		for r := range seen {
			column = append(column, r)
		}
		slices.Sort(column)
		c.rows = append(c.rows, column...)
		c.colPtr = append(c.colPtr, int64(len(c.rows)))
	}
	c.values = make([]float64, len(c.rows))
	for k := range c.values {
		c.values[k] = 1.5
	}
	return c
}

// benchmarkIndexed reports nanoseconds per nonzero.
func benchmarkIndexed(b *testing.B, run func(k *kernels.Set, c columns)) {
	for _, n := range []int{2_000, 20_242, 72_309} {
		for _, length := range []int{1, 3, 12, 74, 1000} {
			b.Run(fmt.Sprintf("n=%d/nnz=%d", n, length), func(b *testing.B) {
				c := newColumns(n, length)
				eachSetB(b, func(b *testing.B, k *kernels.Set) {
					for b.Loop() {
						run(k, c)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(c.rows)), "ns/nnz")
				})
			})
		}
	}
}

// BenchmarkCountAnd counts the rows that two columns of 50,000 rows have in common, with
// one bit per row.
func BenchmarkCountAnd(b *testing.B) {
	eachSetB(b, func(b *testing.B, k *kernels.Set) {
		x, y := make([]uint64, 782), make([]uint64, 782)
		for i := range x {
			x[i], y[i] = uint64(i)*0x9e3779b97f4a7c15, uint64(i)*0xd1342543de82ef95
		}
		b.SetBytes(int64(16 * len(x)))
		for b.Loop() {
			sink = float64(k.CountAnd(x, y))
		}
	})
}

func BenchmarkDotIndexed(b *testing.B) {
	benchmarkIndexed(b, func(k *kernels.Set, c columns) {
		for j := range c.out {
			from, to := c.colPtr[j], c.colPtr[j+1]
			c.out[j] = k.DotIndexed(c.values[from:to], c.rows[from:to], c.y)
		}
	})
}

func BenchmarkScaleIndexed(b *testing.B) {
	benchmarkIndexed(b, func(k *kernels.Set, c columns) {
		for j := range c.out {
			from, to := c.colPtr[j], c.colPtr[j+1]
			c.out[j], _ = k.ScaleIndexed(c.values[from:to], c.rows[from:to], c.y, c.values[from:to])
		}
	})
}

func BenchmarkAxpyIndexed(b *testing.B) {
	benchmarkIndexed(b, func(k *kernels.Set, c columns) {
		for j := range c.out {
			from, to := c.colPtr[j], c.colPtr[j+1]
			k.AxpyIndexed(1e-9, c.values[from:to], c.rows[from:to], c.y)
		}
	})
}

func BenchmarkDotDense(b *testing.B) {
	for _, n := range []int{62, 72, 455} {
		values, y, out := make([]float64, 2000*n), make([]float64, n), make([]float64, 2000)
		for _, k := range kernels.Available() {
			b.Run(fmt.Sprintf("set=%s/n=%d", k.Name, n), func(b *testing.B) {
				for b.Loop() {
					k.DotDense(values, y, out)
				}
			})
			b.Run(fmt.Sprintf("set=%s/n=%d/of=float32", k.Name, n), func(b *testing.B) {
				single := make([]float32, len(values))
				for b.Loop() {
					k.DotDenseSingle(single, y, out)
				}
			})
			b.Run(fmt.Sprintf("set=%s/n=%d/by=Dot", k.Name, n), func(b *testing.B) {
				for b.Loop() {
					for c := range out {
						out[c] = k.Dot(values[c*n:][:n], y)
					}
				}
			})
		}
	}
}

func BenchmarkDotColumns(b *testing.B) {
	benchmarkIndexed(b, func(k *kernels.Set, c columns) {
		k.DotColumns(c.colPtr, c.rows, c.values, c.y, c.out)
	})
}

// BenchmarkEpoch sweeps columns whose coefficients all move, every time.
func BenchmarkEpoch(b *testing.B) {
	for _, n := range []int{2_000, 20_242} {
		for _, length := range []int{3, 12, 74} {
			b.Run(fmt.Sprintf("n=%d/nnz=%d", n, length), func(b *testing.B) {
				c := newColumns(n, length)
				w := len(c.out) / 20
				e := &kernels.Epoch{
					From: c.colPtr[:w], To: c.colPtr[1 : w+1], Rows: c.rows, Values: c.values, Residual: c.y,
					Coef: make([]float64, w), Square: make([]float64, w), Threshold: make([]float64, w),
					Mean: make([]float64, w), Grad: make([]float64, w), Total: float64(n),
				}
				for k := range e.Square {
					e.Square[k] = 2.25 * float64(length)
				}
				residual := slices.Clone(e.Residual)
				for _, k := range kernels.Available() {
					b.Run("set="+k.Name, func(b *testing.B) {
						for b.Loop() {
							copy(e.Residual, residual) // otherwise the residual shrinks to subnormal numbers
							clear(e.Coef)
							k.Epoch(e)
						}
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(w*length), "ns/nnz")
					})
				}
			})
		}
	}
}

// BenchmarkLanes reports nanoseconds per nonzero and lane.
func BenchmarkLanes(b *testing.B) {
	for _, n := range []int{2_000, 20_242} {
		c := newColumns(n, 74)
		wide, mask := make([]float64, kernels.Lanes*n), make([]uint8, n)
		for i := range mask {
			mask[i] = uint8(i * 37)
		}
		var out [kernels.Lanes]float64
		a := [kernels.Lanes]float64{1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9}
		for _, op := range []struct {
			name string
			run  func(k *kernels.Set, values []float64, rows []int32)
		}{
			{"dotlanes", func(k *kernels.Set, values []float64, rows []int32) { k.DotLanes(values, rows, wide, 0, &out) }},
			{"dotlanesmasked", func(k *kernels.Set, values []float64, rows []int32) {
				k.DotLanesMasked(values, rows, mask, wide, &out)
			}},
			{"axpylanes", func(k *kernels.Set, values []float64, rows []int32) { k.AxpyLanes(&a, values, rows, wide) }},
		} {
			for _, k := range kernels.Available() {
				b.Run(fmt.Sprintf("%s/set=%s/n=%d", op.name, k.Name, n), func(b *testing.B) {
					for b.Loop() {
						for j := range c.out {
							from, to := c.colPtr[j], c.colPtr[j+1]
							op.run(k, c.values[from:to], c.rows[from:to])
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(c.rows)*kernels.Lanes), "ns/nnz/lane")
				})
			}
		}
	}
}
