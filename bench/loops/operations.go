package loops

import (
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/kernels"
)

// operation is one row of the table: an operation at one size.
type operation struct {
	name, size string
	n, length  int // of the vectors; of the columns, 0 if there are none
	elements   int
	bytes      int  // moved by one call
	flops      int  // of one call
	footprint  int  // bytes of the operands, which determine the memory level
	writes     bool // the traffic is that of a triad, not of a read
	// prepare allocates the operands and returns the implementations.
	prepare func() []implementation
}

type implementation struct {
	Result
	time func(each time.Duration) float64 // nanoseconds per call, over calls that take at least each
}

func named(set string, run func()) implementation {
	return implementation{Result{Set: set}, func(each time.Duration) float64 { return once(run, each) }}
}

// bestSet returns the name of the fastest set on this machine.
func bestSet() string {
	all := kernels.Available()
	return all[len(all)-1].Name
}

// each returns an implementation for every set.
func each(f func(k *kernels.Set) func()) []implementation {
	sets := kernels.Available()
	all := make([]implementation, 0, len(sets))
	for _, k := range sets {
		all = append(all, named(k.Name, f(k)))
	}
	return all
}

// beyond is a vector length too large for any cache.
const beyond = 8 << 20

// operations lists all operations.
func operations(large bool) []operation {
	sizes := []int{128, 1024, 8192, 65536}
	if large {
		sizes = append(sizes, beyond)
	}
	groups := make([][]operation, 0, len(sizes)+9)
	for _, n := range sizes {
		groups = append(groups, dense(n))
	}
	for _, n := range []int{2_000, 20_242, 72_309} {
		for _, length := range []int{3, 12, 74} {
			groups = append(groups, indexed(n, length))
		}
	}
	return slices.Concat(groups...)
}

// scalar stores results, so that the compiler does not remove their computation.
type scalar struct{ v float64 }

// vectors are the operands of dense operations. Loops capture them by value: captured by reference, each
// operand costs two more loads per call.
type vectors struct {
	x, y []float64
}

func newVectors(n int) vectors {
	v := vectors{make([]float64, n), make([]float64, n)}
	for i := range n {
		v.x[i], v.y[i] = 1+float64(i&7)/8, 2
	}
	return v
}

func dense(n int) []operation {
	size := fmt.Sprintf("n=%d", n)
	s := new(scalar)
	vec := func(v []float64) blas64.Vector { return blas64.Vector{N: n, Inc: 1, Data: v} }
	op := func(
		name string, bytes, flops int, writes bool,
		others func(v vectors) []implementation, ours func(k *kernels.Set, v vectors) func(),
	) operation {
		return operation{
			name: name, size: size, n: n, elements: n, bytes: bytes * n, flops: flops * n, footprint: 16 * n, writes: writes,
			prepare: func() []implementation {
				v := newVectors(n)
				sets := each(func(k *kernels.Set) func() { return ours(k, v) })
				if others == nil {
					return sets
				}
				return append(others(v), sets...)
			},
		}
	}
	return []operation{
		op("Dot", 16, 2, false, func(v vectors) []implementation {
			return []implementation{
				named("loop", func() { s.v = loopDot(v.x, v.y) }),
				named("gonum", func() { s.v = blas64.Dot(vec(v.x), vec(v.y)) }),
			}
		}, func(k *kernels.Set, v vectors) func() { return func() { s.v = k.Dot(v.x, v.y) } }),
		op("Axpy", 24, 2, true, func(v vectors) []implementation {
			return []implementation{
				named("loop", func() { loopAxpy(1e-9, v.x, v.y) }),
				named("gonum", func() { blas64.Axpy(1e-9, vec(v.x), vec(v.y)) }),
			}
		}, func(k *kernels.Set, v vectors) func() { return func() { k.Axpy(1e-9, v.x, v.y) } }),
		op("Scal", 16, 1, true, func(v vectors) []implementation {
			return []implementation{named("gonum", func() { blas64.Scal(1.0000001, vec(v.x)) })}
		}, func(k *kernels.Set, v vectors) func() { return func() { k.Scal(1.0000001, v.x) } }),
		op("Nrm2", 8, 2, false, func(v vectors) []implementation {
			return []implementation{named("gonum", func() { s.v = blas64.Nrm2(vec(v.x)) })}
		}, func(k *kernels.Set, v vectors) func() { return func() { s.v = k.Nrm2(v.x) } }),
		op("Asum", 8, 1, false, func(v vectors) []implementation {
			return []implementation{named("gonum", func() { s.v = blas64.Asum(vec(v.x)) })}
		}, func(k *kernels.Set, v vectors) func() { return func() { s.v = k.Asum(v.x) } }),
		op("MaxAbs", 8, 0, false, nil, func(k *kernels.Set, v vectors) func() { return func() { s.v = k.MaxAbs(v.x) } }),
		op("Exp", 16, 0, true, func(v vectors) []implementation {
			return []implementation{named("loop", func() { loopExp(v.y, v.x) })}
		}, func(k *kernels.Set, v vectors) func() { return func() { k.Exp(v.y, v.x) } }),
		op("Log1pExp", 16, 0, true, func(v vectors) []implementation {
			return []implementation{named("loop", func() { loopLog1pExp(v.y, v.x) })}
		}, func(k *kernels.Set, v vectors) func() { return func() { k.Log1pExp(v.y, v.x) } }),
		op("Sigmoid", 16, 0, true, func(v vectors) []implementation {
			return []implementation{named("loop", func() { loopSigmoid(v.y, v.x) })}
		}, func(k *kernels.Set, v vectors) func() { return func() { k.Sigmoid(v.y, v.x) } }),
	}
}

// columns are columns of equal length over n rows, with 200,000 entries in total.
type columns struct {
	n, length int
	ptr       []int64
	rows      []int32
	values    []float64
	y, out    []float64 // y interleaves 8 problems if its length is 8·n
	mask      []uint8
}

func newColumns(n, length, lanes int) *columns {
	c := &columns{n: n, length: length, ptr: []int64{0}, y: make([]float64, n*lanes), mask: make([]uint8, n)}
	for i := range c.y {
		c.y[i] = 1
	}
	for i := range c.mask {
		c.mask[i] = uint8(i * 37)
	}
	draw := random.SplitMix64(n + length)
	for range 200_000 / length {
		// One row in each of length strips: sorted and distinct.
		for k := range length {
			from, to := k*n/length, (k+1)*n/length
			c.rows = append(c.rows, int32(from+draw.Below(to-from)))
			c.values = append(c.values, 1.5)
		}
		c.ptr = append(c.ptr, int64(len(c.rows)))
	}
	c.out = make([]float64, len(c.ptr)-1)
	return c
}

// over calls f with every column.
func (c *columns) over(f func(j int, values []float64, rows []int32)) func() {
	return func() {
		for j := range c.out {
			from, to := c.ptr[j], c.ptr[j+1]
			f(j, c.values[from:to], c.rows[from:to])
		}
	}
}

// indexed operations take a block of columns in each call. The traffic is 12 bytes per nonzero for its value
// and row, plus the vector entries that it reads.
func indexed(n, length int) []operation { //nolint:funlen // a table
	size := fmt.Sprintf("n=%d,nnz=%d", n, length)
	op := func(name string, lanes, bytes int, writes bool, f func(c *columns) []implementation) operation {
		entries := 200_000 / length * length
		return operation{
			name: name, size: size, n: n, length: length, elements: entries * lanes, bytes: (12 + bytes*lanes) * entries, flops: 2 * entries * lanes,
			footprint: 12*entries + 8*n*lanes, writes: writes,
			prepare: func() []implementation { return f(newColumns(n, length, lanes)) },
		}
	}
	ours := func(f func(k *kernels.Set, c *columns) func()) func(c *columns) []implementation {
		return func(c *columns) []implementation {
			return each(func(k *kernels.Set) func() { return f(k, c) })
		}
	}
	beside := func(loop func(c *columns) func(), sets func(c *columns) []implementation) func(c *columns) []implementation {
		return func(c *columns) []implementation {
			return append([]implementation{named("loop", loop(c))}, sets(c)...)
		}
	}
	loopDots := func(c *columns) func() {
		return c.over(func(j int, values []float64, rows []int32) { c.out[j] = loopDotIndexed(values, rows, c.y) })
	}
	single := []operation{
		op("DotIndexed", 1, 8, false, beside(loopDots, ours(func(k *kernels.Set, c *columns) func() {
			return c.over(func(j int, values []float64, rows []int32) { c.out[j] = k.DotIndexed(values, rows, c.y) })
		}))),
		op("DotColumns", 1, 8, false, beside(loopDots, ours(func(k *kernels.Set, c *columns) func() {
			return func() { k.DotColumns(c.ptr, c.rows, c.values, c.y, c.out) }
		}))),
		op("DotSpans", 1, 8, false, ours(func(k *kernels.Set, c *columns) func() {
			return func() { k.DotSpans(c.ptr[:len(c.out)], c.ptr[1:], c.rows, c.values, c.y, c.out) }
		})),
		op("AxpyIndexed", 1, 16, true, beside(func(c *columns) func() {
			return c.over(func(_ int, values []float64, rows []int32) { loopAxpyIndexed(1e-9, values, rows, c.y) })
		}, ours(func(k *kernels.Set, c *columns) func() {
			return c.over(func(_ int, values []float64, rows []int32) { k.AxpyIndexed(1e-9, values, rows, c.y) })
		}))),
		op("AxpySpans", 1, 16, true, ours(func(k *kernels.Set, c *columns) func() {
			a := slices.Repeat([]float64{1e-9}, len(c.out))
			return func() { k.AxpySpans(a, c.ptr[:len(a)], c.ptr[1:], c.rows, c.values, c.y) }
		})),
		op("Epoch", 1, 24, true, ours(epoch)),
	}
	if length < 74 {
		return single
	}
	a := &[kernels.Lanes]float64{1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9}
	out := new([kernels.Lanes]float64)
	return slices.Concat(single, []operation{
		op("DotLanes", kernels.Lanes, 8, false, ours(func(k *kernels.Set, c *columns) func() {
			return c.over(func(_ int, values []float64, rows []int32) { k.DotLanes(values, rows, c.y, 0, out) })
		})),
		op("AddLanes", kernels.Lanes, 8, false, ours(func(k *kernels.Set, c *columns) func() {
			sums := make([]float64, kernels.Lanes*len(c.out))
			return func() { k.AddLanes(c.ptr[:len(c.out)], c.ptr[1:], c.rows, c.values, c.y, 0, sums) }
		})),
		op("DotLanesMasked", kernels.Lanes, 8, false, ours(func(k *kernels.Set, c *columns) func() {
			return c.over(func(_ int, values []float64, rows []int32) { k.DotLanesMasked(values, rows, c.mask, c.y, out) })
		})),
		op("AxpyLanes", kernels.Lanes, 16, true, ours(func(k *kernels.Set, c *columns) func() {
			return c.over(func(_ int, values []float64, rows []int32) { k.AxpyLanes(a, values, rows, c.y) })
		})),
	})
}

// epoch sweeps the columns, and all coefficients move: squares and coefficients are restored before every call,
// since the residual would shrink otherwise.
func epoch(k *kernels.Set, c *columns) func() {
	w := len(c.out)
	e := &kernels.Epoch{
		From: c.ptr[:w], To: c.ptr[1:], Rows: c.rows, Values: c.values, Residual: make([]float64, c.n),
		Coef: make([]float64, w), Square: make([]float64, w), Threshold: make([]float64, w),
		Mean: make([]float64, w), Grad: make([]float64, w), Total: float64(c.n),
	}
	for j := range e.Square {
		e.Square[j] = 2.25 * float64(c.length)
	}
	return func() {
		copy(e.Residual, c.y)
		clear(e.Coef)
		k.Epoch(e)
	}
}
