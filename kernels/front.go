package kernels

import (
	"math"
	"sort"
	"unsafe"
)

// primitives are the loops of one implementation: at most Block elements (and
// columns) per call, lengths already checked, never empty. Everything that all
// sets share is done once, in newSet: checks, blocks, race annotations.
type primitives struct {
	dot            func(x, y []float64) float64
	axpy           func(a float64, x, y []float64)
	scal           func(a float64, x []float64)
	asum           func(x []float64) float64
	maxAbs         func(x []float64) float64
	dotIndexed     func(values []float64, rows []int32, y []float64) float64
	axpyIndexed    func(a float64, values []float64, rows []int32, y []float64)
	dotColumns     func(colPtr []int64, rows []int32, values, y, out []float64)
	dotLanes       func(values []float64, rows []int32, y []float64, out *[Lanes]float64)
	dotLanesMasked func(values []float64, rows []int32, mask []uint8, y []float64, out *[Lanes]float64)
	axpyLanes      func(a *[Lanes]float64, values []float64, rows []int32, y []float64)
	dotSingle      func(x []float32, y []float64) float64
	axpySingle     func(a float64, x []float32, y []float64)
	dotSingleLanes func(values []float64, rows []int32, y []float32, out *[SingleLanes]float64)
	exp            func(dst, x []float64)
	log1pExp       func(dst, x []float64)
	sigmoid        func(dst, x []float64)
	epoch          func(e *Epoch, from, to int) (updated int) // nil: column by column
}

func newSet(name string, p primitives) *Set {
	return &Set{
		Name:           name,
		Dot:            p.Dot,
		Axpy:           p.Axpy,
		Scal:           p.Scal,
		Nrm2:           p.Nrm2,
		Asum:           p.Asum,
		MaxAbs:         p.MaxAbs,
		DotIndexed:     p.DotIndexed,
		AxpyIndexed:    p.AxpyIndexed,
		DotColumns:     p.DotColumns,
		DotLanes:       p.DotLanes,
		DotLanesMasked: p.DotLanesMasked,
		AxpyLanes:      p.AxpyLanes,
		DotSingle:      p.DotSingle,
		AxpySingle:     p.AxpySingle,
		DotSingleLanes: p.DotSingleLanes,
		Exp:            p.Exp,
		Log1pExp:       p.Log1pExp,
		Sigmoid:        p.Sigmoid,
		Epoch:          p.Epoch,
	}
}

func (p *primitives) Dot(x, y []float64) float64 {
	if len(x) != len(y) {
		panic("kernels: Dot: lengths of x and y differ")
	}
	raceRead(x)
	raceRead(y)
	var sum float64
	for len(x) > Block {
		sum += p.dot(x[:Block], y[:Block])
		x, y = x[Block:], y[Block:]
	}
	if len(x) > 0 {
		sum += p.dot(x, y)
	}
	return sum
}

func (p *primitives) Axpy(a float64, x, y []float64) {
	if len(x) != len(y) {
		panic("kernels: Axpy: lengths of x and y differ")
	}
	if overlap(x, y) && &x[0] != &y[0] {
		panic("kernels: Axpy: x and y overlap")
	}
	raceRead(x)
	raceWrite(y)
	for len(x) > Block {
		p.axpy(a, x[:Block], y[:Block])
		x, y = x[Block:], y[Block:]
	}
	if len(x) > 0 {
		p.axpy(a, x, y)
	}
}

func (p *primitives) Scal(a float64, x []float64) {
	raceWrite(x)
	for len(x) > Block {
		p.scal(a, x[:Block])
		x = x[Block:]
	}
	if len(x) > 0 {
		p.scal(a, x)
	}
}

func (p *primitives) Asum(x []float64) float64 {
	raceRead(x)
	var sum float64
	for len(x) > Block {
		sum += p.asum(x[:Block])
		x = x[Block:]
	}
	if len(x) > 0 {
		sum += p.asum(x)
	}
	return sum
}

func (p *primitives) MaxAbs(x []float64) float64 {
	raceRead(x)
	var m float64
	for len(x) > Block {
		m = max(m, p.maxAbs(x[:Block])) // the builtin max keeps NaN
		x = x[Block:]
	}
	if len(x) > 0 {
		m = max(m, p.maxAbs(x))
	}
	return m
}

// Nrm2 is √Dot(x, x) unless that sum left the range in which squares are safe;
// then x is brought to max |x_i| in [1/2, 1), by a power of two, on the way.
func (p *primitives) Nrm2(x []float64) float64 {
	sum := p.Dot(x, x)
	if 0x1p-900 <= sum && sum <= math.MaxFloat64 {
		return math.Sqrt(sum)
	}
	largest := p.MaxAbs(x)
	if largest == 0 || math.IsInf(largest, 1) || math.IsNaN(largest) {
		return largest
	}
	return nrm2Scaled(x, largest)
}

// nrm2Scaled is rare, so that all sets share it. It is apart from Nrm2 because
// of its stack frame.
//
//go:noinline
func nrm2Scaled(x []float64, largest float64) float64 {
	_, exponent := math.Frexp(largest)
	var scaled [Block]float64
	var sum float64
	for len(x) > 0 {
		n := min(len(x), Block)
		for i, v := range x[:n] {
			scaled[i] = math.Ldexp(v, -exponent)
		}
		sum += dotGo(scaled[:n], scaled[:n])
		x = x[n:]
	}
	return math.Ldexp(math.Sqrt(sum), exponent)
}

func (p *primitives) DotIndexed(values []float64, rows []int32, y []float64) float64 {
	if len(values) != len(rows) {
		panic("kernels: DotIndexed: lengths of values and rows differ")
	}
	raceRead(values)
	raceRead(rows)
	raceGather(rows, y)
	var sum float64
	for len(rows) > Block {
		sum += p.dotIndexed(values[:Block], rows[:Block], y)
		values, rows = values[Block:], rows[Block:]
	}
	if len(rows) > 0 {
		sum += p.dotIndexed(values, rows, y)
	}
	return sum
}

func (p *primitives) AxpyIndexed(a float64, values []float64, rows []int32, y []float64) {
	if len(values) != len(rows) {
		panic("kernels: AxpyIndexed: lengths of values and rows differ")
	}
	if overlap(values, y) {
		panic("kernels: AxpyIndexed: values and y overlap")
	}
	raceRead(values)
	raceRead(rows)
	raceScatter(rows, y)
	for len(rows) > Block {
		p.axpyIndexed(a, values[:Block], rows[:Block], y)
		values, rows = values[Block:], rows[Block:]
	}
	if len(rows) > 0 {
		p.axpyIndexed(a, values, rows, y)
	}
}

func (p *primitives) DotColumns(colPtr []int64, rows []int32, values, y, out []float64) {
	if len(colPtr) != len(out)+1 {
		panic("kernels: DotColumns: colPtr must have one entry more than out")
	}
	if len(values) != len(rows) {
		panic("kernels: DotColumns: lengths of values and rows differ")
	}
	if first, last := colPtr[0], colPtr[len(out)]; first < 0 || last < first || last > int64(len(rows)) {
		panic("kernels: DotColumns: colPtr leaves rows")
	}
	if overlap(out, y) || overlap(out, values) {
		panic("kernels: DotColumns: out overlaps an operand")
	}
	raceRead(colPtr)
	raceWrite(out)
	for len(out) > 0 {
		// The columns that together have at most Block entries: a binary search,
		// since colPtr never decreases.
		n := min(len(out), Block)
		if colPtr[n]-colPtr[0] > Block {
			n = sort.Search(n, func(c int) bool { return colPtr[c+1]-colPtr[0] > Block })
		}
		if n == 0 {
			from, to := colPtr[0], colPtr[1]
			out[0] = p.DotIndexed(values[from:to], rows[from:to], y)
			n = 1
		} else {
			from, to := colPtr[0], colPtr[n]
			raceRead(values[from:to])
			raceRead(rows[from:to])
			raceGather(rows[from:to], y)
			p.dotColumns(colPtr[:n+1], rows, values, y, out[:n])
		}
		colPtr, out = colPtr[n:], out[n:]
	}
}

// overlap reports whether x and y share memory.
func overlap(x, y []float64) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	return uintptr(unsafe.Pointer(&x[0])) <= uintptr(unsafe.Pointer(&y[len(y)-1])) &&
		uintptr(unsafe.Pointer(&y[0])) <= uintptr(unsafe.Pointer(&x[len(x)-1]))
}
