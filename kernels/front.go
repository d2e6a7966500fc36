package kernels

import (
	"math"
	"unsafe"
)

// primitives are the loops of one implementation: at most Block elements (and
// columns) per call, lengths already checked, never empty.
type primitives struct {
	dot            func(x, y []float64) float64
	dotDense       func(values, y, out []float64)                       // at most Block elements in all
	squaresDense   func(values, y, out []float64)                       // likewise
	dotDenseSpans  func(from []int64, values, y, out []float64)         // at most shortColumn rows, at least fourColumns columns; nil: column by column
	axpyDenseSpans func(a []float64, from []int64, values, y []float64) // at most shortColumn rows, at least one column; likewise
	axpy           func(a float64, x, y []float64)
	scal           func(a float64, x []float64)
	product        func(dst, x, y []float64)
	divergence     func(dst, y, m, t []float64, scale float64, rest, whole [2]float64)
	asum           func(x []float64) float64
	maxAbs         func(x []float64) float64
	reach          func(mask uint64, a float64, x, y []float64, least float64, out []uint64) // mask: signed or sizes
	margin         func(dst []float64, a float64, x, y []float64, limit float64, which []uint64)
	countAnd       func(x, y []uint64) int
	pick           func(number, rows []int32, values []float64, index []int32, out []float64) int // at most Block rows
	dotIndexed     func(values []float64, rows []int32, y []float64) float64
	axpyIndexed    func(a float64, values []float64, rows []int32, y []float64)
	scaleIndexed   func(values []float64, rows []int32, scale, out []float64) (sum, square float64)
	dotSpans       func(from, to []int64, rows []int32, values, y, out []float64) (done int)                   // stops before more than Block entries, or before a column that is not within rows
	axpySpans      func(a []float64, from, to []int64, rows []int32, values, y []float64) (done int)           // likewise
	moments        func(colPtr []int64, rows []int32, values, pairs, squares, sums, dots []float64) (done int) // likewise
	columnMoments  func(rows []int32, values, pairs []float64) (square, sum, dot float64)                      // of one column
	dotLanes       func(values []float64, rows []int32, y []float64, first int, out *[Lanes]float64)
	addLanes       func(from, to []int64, rows []int32, values, y []float64, first int, out []float64) (done int) // stops as dotSpans does; nil: column by column
	dotLanesMasked func(values []float64, rows []int32, mask []uint8, y []float64, out *[Lanes]float64)
	axpyLanes      func(a *[Lanes]float64, values []float64, rows []int32, y []float64)
	dotDenseSingle func(values []float32, y, out []float64) // as dotDense
	subPanel       func(x, y []float64, stride int, t []float64)
	subTile        func(x, y []float64, stride, m int, t []float64)
	solveTile      func(l []float64, stride int, t []float64)
	addTile        func(x *[Lanes][]float64, y []float64, at, m, stride int, t []float64) // at most panelBlock rows, at least one
	marks          func(text []byte, a, b, c byte, base int, at []int32) (n int)          // a multiple of 64 bytes, at most markedBlock; may write beyond the first n
	numbers        func(text []byte, ends []int32, out []float64) (done, unread int)      // an even number of cells, at most Block/8, that end at byte 16 or later; stops before one that ends outside the text
	exp            func(dst, x []float64)
	log            func(dst, x []float64)
	log1pExp       func(dst, x []float64)
	sigmoid        func(dst, x []float64)
	bell           func(dst, x []float64)
	epoch          func(e *Epoch, from, to int) (updated int)                // nil: column by column
	gramEpoch      func(e *GramEpoch, from, to, moves int) (next, moved int) // likewise; at most Block elements of Correlation
	denseEpoch     func(e *DenseEpoch, from, to int) (moved int)             // likewise; at most Block rows
	boxEpoch       func(e *BoxEpoch, from, to, kept int) int                 // likewise; at most Block visits and Block/2 entries
}

// newSet makes the operations of a set from its loops. What all sets share is in
// the functions that it calls: checks, blocks, race annotations. These return
// closures, since the receiver of a method would push the last of three slices out
// of the registers. They must not be inlined into newSet, because the compiler then
// no longer inlines the calls inside their closures.
func newSet(name string, p *primitives) *Set {
	s := &Set{Name: name, loops: p}
	s.Dot = newDot(p.dot, s)
	s.DotDense = newDenseColumns("DotDense", p.dotDense, s)
	s.DotDenseSingle = newDenseColumns("DotDenseSingle", p.dotDenseSingle, s)
	s.SquaresDense = newDenseColumns("SquaresDense", p.squaresDense, s)
	s.DotDenseSpans = newDotDenseSpans(p.dotDenseSpans, s)
	s.AxpyDenseSpans = newAxpyDenseSpans(p.axpyDenseSpans, s)
	s.Axpy = newAxpy(p.axpy, s)
	s.Scal = newScal(p.scal, s)
	s.Product = newProduct(p.product, s)
	s.Divergence = newDivergence(p.divergence, s)
	s.Asum = newAsum(p.asum, s)
	s.MaxAbs = newMaxAbs(p.maxAbs, s)
	s.Reach = newReach(p.reach, signed, s)
	s.ReachAbs = newReach(p.reach, sizes, s)
	s.Margin = newMargin(p.margin, s)
	s.CountAnd = newCountAnd(p.countAnd, s)
	s.Pick = newPick(p.pick, s)
	s.DotIndexed = newDotIndexed(p.dotIndexed, s)
	s.AxpyIndexed = newAxpyIndexed(p.axpyIndexed, s)
	s.ScaleIndexed = newScaleIndexed(p.scaleIndexed, s)
	s.DotLanes = newDotLanes(p.dotLanes, s)
	s.AddLanes = newAddLanes(p.addLanes, s)
	s.DotLanesMasked = newDotLanesMasked(p.dotLanesMasked, s)
	s.AxpyLanes = newAxpyLanes(p.axpyLanes, s)
	s.SubPanel = newSubPanel(p.subPanel, s)
	s.SubTile = newSubTile(p.subTile, s)
	s.SolveTile = newSolveTile(p.solveTile)
	s.AddTile = newAddTile(p.addTile, s)
	s.Marks = newMarks(p.marks, s)
	s.Numbers = newNumbers(p.numbers, s)
	s.Exp = newElementwise(p.exp, s)
	s.Log = newElementwise(p.log, s)
	s.Log1pExp = newElementwise(p.log1pExp, s)
	s.Sigmoid = newElementwise(p.sigmoid, s)
	s.Bell = newElementwise(p.bell, s)
	s.Nrm2 = newNrm2(s)
	s.DotColumns = newDotColumns(p.dotSpans, s)
	s.DotSpans = newDotSpans(p.dotSpans, s)
	s.AxpySpans = newAxpySpans(p.axpySpans, s)
	s.Moments = newMoments(p.moments, p.columnMoments, s)
	s.Epoch = newEpoch(p.epoch, s)
	s.GramEpoch = newGramEpoch(p.gramEpoch, s)
	s.DenseEpoch = newDenseEpoch(p.denseEpoch, s)
	s.BoxEpoch = newBoxEpoch(p.boxEpoch, s)
	return s
}

//go:noinline
func newDot(loop func(x, y []float64) float64, s *Set) func(x, y []float64) float64 {
	return func(x, y []float64) float64 {
		if len(x) != len(y) {
			panic("kernels: Dot: lengths of x and y differ")
		}
		raceRead(x)
		raceRead(y)
		if n := len(x); 0 < n && n <= Block { // the usual case, which should be fast
			return loop(x, y) + 0
		}
		var sum float64
		for len(x) > 0 {
			n := min(len(x), Block)
			sum += loop(x[:n], y[:n])
			x, y = x[n:], y[n:]
			s.between(len(x))
		}
		return sum
	}
}

//go:noinline
func newAxpy(loop func(a float64, x, y []float64), s *Set) func(a float64, x, y []float64) {
	return func(a float64, x, y []float64) {
		if len(x) != len(y) {
			panic("kernels: Axpy: lengths of x and y differ")
		}
		if overlap(x, y) && &x[0] != &y[0] {
			panic("kernels: Axpy: x and y overlap")
		}
		raceRead(x)
		raceWrite(y)
		if n := len(x); 0 < n && n <= Block {
			loop(a, x, y)
			return
		}
		for len(x) > 0 {
			n := min(len(x), Block)
			loop(a, x[:n], y[:n])
			x, y = x[n:], y[n:]
			s.between(len(x))
		}
	}
}

//go:noinline
func newScal(loop func(a float64, x []float64), s *Set) func(a float64, x []float64) {
	return func(a float64, x []float64) {
		raceWrite(x)
		for len(x) > 0 {
			n := min(len(x), Block)
			loop(a, x[:n])
			x = x[n:]
			s.between(len(x))
		}
	}
}

//go:noinline
func newAsum(loop func(x []float64) float64, s *Set) func(x []float64) float64 {
	return func(x []float64) float64 {
		raceRead(x)
		var sum float64
		for len(x) > 0 {
			n := min(len(x), Block)
			sum += loop(x[:n])
			x = x[n:]
			s.between(len(x))
		}
		return sum
	}
}

//go:noinline
func newMaxAbs(loop func(x []float64) float64, s *Set) func(x []float64) float64 {
	return func(x []float64) float64 {
		raceRead(x)
		var m float64
		for len(x) > 0 {
			n := min(len(x), Block)
			m = max(m, loop(x[:n])) // the builtin max keeps NaN
			x = x[n:]
			s.between(len(x))
		}
		return m
	}
}

// newNrm2 makes Nrm2: √Dot(x, x), unless that sum is outside the range in which squares are safe.
//
//go:noinline
func newNrm2(s *Set) func(x []float64) float64 {
	return func(x []float64) float64 {
		sum := s.Dot(x, x)
		if 0x1p-900 <= sum && sum <= math.MaxFloat64 {
			return math.Sqrt(sum)
		}
		largest := s.MaxAbs(x)
		if largest == 0 || math.IsInf(largest, 1) || math.IsNaN(largest) {
			return largest
		}
		return s.nrm2Scaled(x, largest)
	}
}

// nrm2Scaled computes the norm with x scaled by a power of two, so that max |x_i| is
// in [1/2, 1). All sets share it, since it is rarely called; it is a function of its
// own because of its large frame.
//
//go:noinline
func (s *Set) nrm2Scaled(x []float64, largest float64) float64 {
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
		s.between(len(x))
	}
	return math.Ldexp(math.Sqrt(sum), exponent)
}

//go:noinline
func newDotIndexed(
	loop func(values []float64, rows []int32, y []float64) float64, s *Set,
) func(values []float64, rows []int32, y []float64) float64 {
	return func(values []float64, rows []int32, y []float64) float64 {
		if len(values) != len(rows) {
			panic("kernels: DotIndexed: lengths of values and rows differ")
		}
		raceRead(values)
		raceRead(rows)
		raceGather(rows, y)
		if n := len(rows); 0 < n && n <= Block {
			return loop(values, rows, y)
		}
		var sum float64
		for len(rows) > 0 {
			n := min(len(rows), Block)
			sum += loop(values[:n], rows[:n], y)
			values, rows = values[n:], rows[n:]
			s.between(len(rows))
		}
		return sum
	}
}

//go:noinline
func newAxpyIndexed(
	loop func(a float64, values []float64, rows []int32, y []float64), s *Set,
) func(a float64, values []float64, rows []int32, y []float64) {
	return func(a float64, values []float64, rows []int32, y []float64) {
		if len(values) != len(rows) {
			panic("kernels: AxpyIndexed: lengths of values and rows differ")
		}
		if overlap(values, y) {
			panic("kernels: AxpyIndexed: values and y overlap")
		}
		raceRead(values)
		raceRead(rows)
		raceScatter(rows, y)
		if n := len(rows); 0 < n && n <= Block {
			loop(a, values, rows, y)
			return
		}
		for len(rows) > 0 {
			n := min(len(rows), Block)
			loop(a, values[:n], rows[:n], y)
			values, rows = values[n:], rows[n:]
			s.between(len(rows))
		}
	}
}

//go:noinline
func newScaleIndexed(
	loop func(values []float64, rows []int32, scale, out []float64) (sum, square float64), s *Set,
) func(values []float64, rows []int32, scale, out []float64) (sum, square float64) {
	return func(values []float64, rows []int32, scale, out []float64) (sum, square float64) {
		if len(values) != len(rows) || len(values) != len(out) {
			panic("kernels: ScaleIndexed: lengths of values, rows and out differ")
		}
		if overlap(values, out) && &values[0] != &out[0] || overlap(scale, out) {
			panic("kernels: ScaleIndexed: out overlaps an operand")
		}
		raceRead(values)
		raceRead(rows)
		raceGather(rows, scale)
		raceWrite(out)
		for len(rows) > 0 {
			n := min(len(rows), Block)
			a, b := loop(values[:n], rows[:n], scale, out[:n])
			sum, square = sum+a, square+b
			values, rows, out = values[n:], rows[n:], out[n:]
			s.between(len(rows))
		}
		return sum, square
	}
}

//go:noinline
func newDotColumns(
	loop func(from, to []int64, rows []int32, values, y, out []float64) (done int), s *Set,
) func(colPtr []int64, rows []int32, values, y, out []float64) {
	return func(colPtr []int64, rows []int32, values, y, out []float64) {
		if len(colPtr) != len(out)+1 {
			panic("kernels: DotColumns: colPtr must have one entry more than out")
		}
		if len(values) != len(rows) {
			panic("kernels: DotColumns: lengths of values and rows differ")
		}
		if overlap(out, y) || overlap(out, values) {
			panic("kernels: DotColumns: out overlaps an operand")
		}
		dotSpans(loop, s, colPtr[:len(out)], colPtr[1:], rows, values, y, out)
	}
}

//go:noinline
func newDotSpans(
	loop func(from, to []int64, rows []int32, values, y, out []float64) (done int), s *Set,
) func(from, to []int64, rows []int32, values, y, out []float64) {
	return func(from, to []int64, rows []int32, values, y, out []float64) {
		if len(from) != len(out) || len(to) != len(out) {
			panic("kernels: DotSpans: lengths of from, to and out differ")
		}
		if len(values) != len(rows) {
			panic("kernels: DotSpans: lengths of values and rows differ")
		}
		if overlap(out, y) || overlap(out, values) {
			panic("kernels: DotSpans: out overlaps an operand")
		}
		dotSpans(loop, s, from, to, rows, values, y, out)
	}
}

// dotSpans cuts a list of columns into runs of at most a block of entries, and
// of columns. The loop of the set finds where a run ends: to go over the columns
// here would cost as much as short columns do.
func dotSpans(
	loop func(from, to []int64, rows []int32, values, y, out []float64) (done int), s *Set,
	from, to []int64, rows []int32, values, y, out []float64,
) {
	raceSpans(from, to, rows, values, y, out)
	for len(out) > 0 {
		n := min(len(out), Block)
		done := loop(from[:n], to[:n], rows, values, y, out[:n])
		if i, j, long := beyond(from[:n], to[:n], done, rows); long {
			out[done] = s.DotIndexed(values[i:j], rows[i:j], y)
			done++
		}
		from, to, out = from[done:], to[done:], out[done:]
		s.between(len(out))
	}
}

//go:noinline
func newAxpySpans(
	loop func(a []float64, from, to []int64, rows []int32, values, y []float64) (done int), s *Set,
) func(a []float64, from, to []int64, rows []int32, values, y []float64) {
	return func(a []float64, from, to []int64, rows []int32, values, y []float64) {
		if len(from) != len(a) || len(to) != len(a) {
			panic("kernels: AxpySpans: lengths of a, from and to differ")
		}
		if len(values) != len(rows) {
			panic("kernels: AxpySpans: lengths of values and rows differ")
		}
		if overlap(a, y) || overlap(values, y) {
			panic("kernels: AxpySpans: y overlaps an operand")
		}
		raceScatterSpans(a, from, to, rows, values, y)
		for len(a) > 0 {
			n := min(len(a), Block)
			done := loop(a[:n], from[:n], to[:n], rows, values, y)
			if i, j, long := beyond(from[:n], to[:n], done, rows); long {
				s.AxpyIndexed(a[done], values[i:j], rows[i:j], y)
				done++
			}
			a, from, to = a[done:], from[done:], to[done:]
			s.between(len(a))
		}
	}
}

// beyond examines the column before which a loop over columns has stopped, if it has. It
// panics if the column is not within rows, and reports whether it has more than a block of
// entries i ≤ k < j, which the caller then has to handle.
func beyond(from, to []int64, done int, rows []int32) (i, j int64, long bool) {
	if done == len(from) {
		return 0, 0, false
	}
	i, j = from[done], to[done]
	if i < 0 || j < i || j > int64(len(rows)) {
		panic("kernels: a column leaves rows")
	}
	return i, j, j-i > Block
}

// overlap reports whether x and y share memory.
func overlap[T, U stored](x []T, y []U) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	return uintptr(unsafe.Pointer(&x[0])) <= uintptr(unsafe.Pointer(&y[len(y)-1])) &&
		uintptr(unsafe.Pointer(&y[0])) <= uintptr(unsafe.Pointer(&x[len(x)-1]))
}
