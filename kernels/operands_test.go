package kernels_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/seed-45b9a24c/pare/kernels"
)

// operands holds the operands for one call of any kernel.
type operands struct {
	a      float64
	x, y   []float64 // dense, of the same length
	values []float64 // entries of a column, or of several
	rows   []int32   // distinct within a column
	target []float64 // indexed by rows
	colPtr []int64
	out    []float64

	single []float32 // as long as x

	lanes []float64 // 8 targets, interleaved
	mask  []uint8
}

func (o operands) clone() operands {
	o.x, o.y = slices.Clone(o.x), slices.Clone(o.y)
	o.values, o.rows = slices.Clone(o.values), slices.Clone(o.rows)
	o.target, o.colPtr, o.out = slices.Clone(o.target), slices.Clone(o.colPtr), slices.Clone(o.out)
	o.lanes = slices.Clone(o.lanes)
	o.single = slices.Clone(o.single)
	return o
}

// in copies the operands that kernels may write to an offset in the memory of an earlier copy.
func (o operands) in(buffer *operands, offset int) operands {
	at := func(buffer *[]float64, v []float64) []float64 {
		*buffer = slices.Grow((*buffer)[:0], offset+len(v))[:offset]
		return append(*buffer, v...)[offset:]
	}
	o.x, o.y, o.values = at(&buffer.x, o.x), at(&buffer.y, o.y), at(&buffer.values, o.values)
	o.target, o.out, o.lanes = at(&buffer.target, o.target), at(&buffer.out, o.out), at(&buffer.lanes, o.lanes)
	return o
}

// spans returns the columns in reverse order, without the first if there are more, and an output for each.
func (o operands) spans() (from, to []int64, out []float64) {
	w := len(o.out)
	if w < 2 {
		return o.colPtr[:w], o.colPtr[1:], o.out
	}
	from, to = slices.Clone(o.colPtr[1:w]), slices.Clone(o.colPtr[2:])
	slices.Reverse(from)
	slices.Reverse(to)
	return from, to, o.out[1:]
}

// denseColumns runs an operation on a few long columns, on some that end with the values, on many short ones, and
// on columns that consist of all operands.
func (o operands) denseColumns(run func(values, y, out []float64)) []float64 {
	third, eleventh, short := min(len(o.values)/3, len(o.y)), min(len(o.values)/11, len(o.y)), min(len(o.values), len(o.x), 7)
	few, some, many := o.lanes[:min(3, len(o.lanes))], make([]float64, 11), make([]float64, len(o.values)/max(1, short))
	run(o.values[:len(few)*third], o.y[:third], few)
	run(o.values[len(o.values)-len(some)*eleventh:], o.y[len(o.y)-eleventh:], some)
	run(o.values[:short*len(many)], o.x[:short], many)
	all := slices.Concat(o.x, o.y, o.target)
	whole := make([]float64, len(all)/max(1, len(o.y)))
	run(all[:len(whole)*len(o.y)], o.y, whole)
	return slices.Concat(few, some, many, whole)
}

// narrowed returns values in 32 bits.
func narrowed(values []float64) []float32 {
	v := make([]float32, len(values))
	for i := range v {
		v[i] = float32(values[i])
	}
	return v
}

// denseSpans runs an operation on a few and on many columns, of several lengths, which begin anywhere in the
// values.
func (o operands) denseSpans(run func(from []int64, y []float64)) {
	for _, n := range [...]int{len(o.y), len(o.y) / 2, len(o.y) / 3, 0} {
		room := len(o.values) - n
		for _, columns := range [...]int{1, 3, 4, 7, 8, 30} {
			from := make([]int64, min(columns, len(o.lanes)))
			for c := range from {
				from[c] = int64((room*c + c) % (room + 1))
			}
			if len(from) > 0 {
				from[0] = int64(room)
			}
			run(from, o.y[len(o.y)-n:])
		}
	}
}

// reach runs an operation on several lengths, with bounds below, at and above the values that are compared.
func (o operands) reach(run func(a float64, x, y []float64, least float64, out []uint64)) (bits []float64) {
	for _, n := range [...]int{len(o.x), len(o.x) / 3} {
		bounds := []float64{o.a, 0}
		if n > 0 {
			bounds = append(bounds, o.x[n/2], math.FMA(o.a, o.y[n-1], math.Abs(o.x[n-1])))
		}
		for _, least := range bounds {
			out := slices.Repeat([]uint64{0xbadbadbadbad}, (n+63)/64)
			run(o.a, o.x[:n], o.y[:n], least, out)
			for _, word := range out {
				bits = append(bits, float64(uint32(word)), float64(word>>32))
			}
		}
	}
	return bits
}

// countAnd counts the common bits of x and y, of parts of them, and of x with itself.
func (o operands) countAnd(run func(x, y []uint64) int) []float64 {
	x, y := words(o.x), words(o.y)
	return []float64{float64(run(x, y)), float64(run(x[len(x)/3:], y[:len(y)-len(y)/3])), float64(run(x, x))}
}

// words returns the elements of x as they are in memory.
func words(x []float64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// operations runs every kernel in the same way: run returns everything that the kernel returned or wrote.
var operations = []struct {
	name string
	run  func(k *kernels.Set, o operands) []float64
}{
	{"dot", func(k *kernels.Set, o operands) []float64 { return []float64{k.Dot(o.x, o.y)} }},
	{"dotdense", func(k *kernels.Set, o operands) []float64 { return o.denseColumns(k.DotDense) }},
	{"dotdensesingle", func(k *kernels.Set, o operands) []float64 {
		three, n := make([]float64, 3), len(o.single)/3
		k.DotDenseSingle(o.single[len(o.single)-3*n:], o.y[:n], three)
		return append(three, o.denseColumns(func(values, y, out []float64) { k.DotDenseSingle(narrowed(values), y, out) })...)
	}},
	{"dotdensespans", func(k *kernels.Set, o operands) (all []float64) {
		o.denseSpans(func(from []int64, y []float64) {
			out := make([]float64, len(from))
			k.DotDenseSpans(from, o.values, y, out)
			all = append(all, out...)
		})
		return all
	}},
	{"axpydensespans", func(k *kernels.Set, o operands) []float64 {
		o.denseSpans(func(from []int64, y []float64) { k.AxpyDenseSpans(o.lanes[:len(from)], from, o.values, y) })
		return o.y
	}},
	{"squaresdense", func(k *kernels.Set, o operands) []float64 { return o.denseColumns(k.SquaresDense) }},
	{"axpy", func(k *kernels.Set, o operands) []float64 { k.Axpy(o.a, o.x, o.y); return o.y }},
	{"product", func(k *kernels.Set, o operands) []float64 {
		dst, both := make([]float64, len(o.x)), slices.Clone(o.x)
		k.Product(dst, o.x, o.y)
		k.Product(both, both, o.y)
		k.Product(o.y, o.x, o.y)
		return slices.Concat(dst, both, o.y)
	}},
	{"scal", func(k *kernels.Set, o operands) []float64 { k.Scal(o.a, o.y); return o.y }},
	{"nrm2", func(k *kernels.Set, o operands) []float64 { return []float64{k.Nrm2(o.x)} }},
	{"asum", func(k *kernels.Set, o operands) []float64 { return []float64{k.Asum(o.x)} }},
	{"maxabs", func(k *kernels.Set, o operands) []float64 { return []float64{k.MaxAbs(o.x)} }},
	{"reach", func(k *kernels.Set, o operands) []float64 { return o.reach(k.Reach) }},
	{"reachabs", func(k *kernels.Set, o operands) []float64 { return o.reach(k.ReachAbs) }},
	{"margin", func(k *kernels.Set, o operands) (all []float64) {
		dst, both := make([]float64, len(o.x)), slices.Clone(o.x)
		some, every := slices.Repeat([]uint64{0x9ab40000fffff00d}, (len(o.x)+63)/64), slices.Repeat([]uint64{^uint64(0)}, (len(o.x)+63)/64)
		k.Margin(dst, o.a, o.x, o.y, math.MaxFloat64/4, some)
		all = append(all, dst...)
		k.Margin(dst, math.MaxFloat64, o.x, o.y, math.Abs(o.a), every)
		k.Margin(both, o.a, both, o.y, 0, every)
		k.Margin(o.y, o.a, o.x, o.y, math.Abs(o.a), some)
		return slices.Concat(all, dst, both, o.y)
	}},
	{"countand", func(k *kernels.Set, o operands) []float64 { return o.countAnd(k.CountAnd) }},
	{"dotindexed", func(k *kernels.Set, o operands) []float64 {
		return []float64{k.DotIndexed(o.values, o.rows, o.target)}
	}},
	{"axpyindexed", func(k *kernels.Set, o operands) []float64 {
		k.AxpyIndexed(o.a, o.values, o.rows, o.target)
		return o.target
	}},
	{"scaleindexed", func(k *kernels.Set, o operands) []float64 {
		sum, square := k.ScaleIndexed(o.values, o.rows, o.target, o.values)
		return append(o.values, sum, square)
	}},
	{"dotlanes", func(k *kernels.Set, o operands) []float64 {
		var out [kernels.Lanes]float64
		first := 0
		if len(o.rows) > 0 {
			first = int(slices.Min(o.rows))
		}
		k.DotLanes(o.values, o.rows, o.lanes[kernels.Lanes*first:], first, &out)
		return out[:]
	}},
	{"addlanes", func(k *kernels.Set, o operands) []float64 {
		from, to, out := o.spans()
		first := 0
		if len(o.rows) > 0 {
			first = int(slices.Min(o.rows))
		}
		out = slices.Repeat(out, kernels.Lanes)
		for l := range out {
			out[l] = float64(l%5) - 1
		}
		k.AddLanes(from, to, o.rows, o.values, o.lanes[kernels.Lanes*first:], first, out)
		return out
	}},
	{"dotlanesmasked", func(k *kernels.Set, o operands) []float64 {
		var out [kernels.Lanes]float64
		k.DotLanesMasked(o.values, o.rows, o.mask, o.lanes, &out)
		return out[:]
	}},
	{"axpylanes", func(k *kernels.Set, o operands) []float64 {
		k.AxpyLanes(&[kernels.Lanes]float64{o.a, 1, -2, 0, 0.5, -o.a, 3, 1e-300}, o.values, o.rows, o.lanes)
		return o.lanes
	}},
	{"exp", func(k *kernels.Set, o operands) []float64 { k.Exp(o.y, o.x); return o.y }},
	{"log", func(k *kernels.Set, o operands) []float64 { k.Log(o.y, o.x); return o.y }},
	{"log1pexp", func(k *kernels.Set, o operands) []float64 { k.Log1pExp(o.y, o.x); return o.y }},
	{"sigmoid", func(k *kernels.Set, o operands) []float64 { k.Sigmoid(o.y, o.x); return o.y }},
	{"bell", func(k *kernels.Set, o operands) []float64 { k.Bell(o.y, o.x); return o.y }},
	{"divergence", func(k *kernels.Set, o operands) []float64 {
		rest, whole := [2]float64{-0.25, o.a}, [2]float64{-1, -1e-3}
		apart, classes := make([]float64, len(o.x)), slices.Clone(o.x)
		for i, v := range classes {
			classes[i] = math.Copysign(1, v)
		}
		k.Divergence(apart, classes, o.y, o.x, o.a, rest, whole)
		slope := slices.Clone(o.x)
		k.Divergence(slope, o.x, o.y, slope, 0.5, rest, whole)
		k.Divergence(classes, classes, o.x, o.y, 0.5, whole, rest)
		k.Divergence(o.y, o.x, o.y, o.x, 0.5, rest, whole)
		return slices.Concat(apart, slope, classes, o.y)
	}},
	{"dotspans", func(k *kernels.Set, o operands) []float64 {
		from, to, out := o.spans()
		k.DotSpans(from, to, o.rows, o.values, o.target, out)
		return out
	}},
	{"axpyspans", func(k *kernels.Set, o operands) []float64 {
		w := len(o.out)
		k.AxpySpans(o.out, o.colPtr[:w], o.colPtr[1:], o.rows, o.values, o.target)
		from, to, a := o.spans() // each column twice, so that rows occur again
		k.AxpySpans(slices.Repeat(a, 2), slices.Repeat(from, 2), slices.Repeat(to, 2), o.rows, o.values, o.target)
		return o.target
	}},
	{"moments", func(k *kernels.Set, o operands) []float64 {
		squares, sums := slices.Clone(o.out), slices.Clone(o.out)
		k.Moments(o.colPtr, o.rows, o.values, o.lanes, squares, sums, o.out)
		return slices.Concat(squares, sums, o.out)
	}},
	{"dotcolumns", func(k *kernels.Set, o operands) []float64 {
		k.DotColumns(o.colPtr, o.rows, o.values, o.target, o.out)
		return o.out
	}},
}

// kinds are kinds of data. Each fills all operands of a case.
var kinds = []struct {
	name string
	fill func(rng *rand.Rand, v []float64)
}{
	{"normal", func(rng *rand.Rand, v []float64) {
		for i := range v {
			v[i] = rng.NormFloat64()
		}
	}},
	{"cancelling", func(rng *rand.Rand, v []float64) {
		for i := range v {
			if v[i] = rng.NormFloat64(); i%2 == 1 {
				v[i] = -v[i-1]
			}
		}
	}},
	{"mixed magnitudes", func(rng *rand.Rand, v []float64) {
		for i := range v {
			v[i] = math.Ldexp(rng.NormFloat64(), rng.IntN(1001)-500)
		}
	}},
	{"subnormal", func(rng *rand.Rand, v []float64) {
		for i := range v {
			v[i] = math.Ldexp(rng.NormFloat64(), -1022-rng.IntN(53))
			if rng.IntN(3) == 0 {
				v[i] = rng.NormFloat64()
			}
		}
	}},
	{"special", func(rng *rand.Rand, v []float64) {
		for i := range v {
			if v[i] = rng.NormFloat64(); rng.IntN(8) == 0 {
				v[i] = specials[rng.IntN(len(specials))]
			}
		}
	}},
	{"vanishing", func(rng *rand.Rand, v []float64) { // products that underflow, in half of the cases all to −0
		sign := float64(2*rng.IntN(2) - 1)
		for i := range v {
			v[i] = sign * 1e-200
		}
	}},
	{"zeros", func(rng *rand.Rand, v []float64) {
		for i := range v {
			v[i] = math.Copysign(0, rng.NormFloat64())
			if rng.IntN(16) == 0 {
				v[i] = math.Copysign(1e-200, rng.NormFloat64()) // products underflow to ±0
			}
		}
	}},
}

var specials = []float64{
	0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(),
	math.Float64frombits(0x7FF0000000000001), // a signalling NaN
	math.Float64frombits(0xFFF8000000000123), // a negative NaN with a payload
	math.SmallestNonzeroFloat64, 0x1p-1022, math.MaxFloat64, -math.MaxFloat64, 0x1p-1, 0x1p511, 0x1p-537,
}

// newOperands makes a case of n elements and n entries. Slices start at the
// given offset within their allocation, so that alignment varies.
func newOperands(rng *rand.Rand, fill func(*rand.Rand, []float64), n, offset int) operands {
	vector := func(n int) []float64 {
		v := make([]float64, n+offset)[offset:]
		fill(rng, v)
		return v
	}
	o := operands{
		a: rng.NormFloat64(), x: vector(n), y: vector(n), values: vector(n), target: vector(2*n + 1),
		rows: make([]int32, n+offset)[offset:], mask: make([]uint8, 2*n+1),
		lanes: make([]float64, kernels.Lanes*(2*n+1)+offset)[offset:],
	}
	for i := range o.mask {
		o.mask[i] = uint8(rng.Uint32())
	}
	o.single = make([]float32, n+offset)[offset:]
	for i, v := range o.x {
		o.single[i] = float32(v)
	}
	for i := range o.lanes { // the target again, shifted differently in each lane
		o.lanes[i] = o.target[(i/kernels.Lanes+i%kernels.Lanes*5)%len(o.target)]
	}
	for k, row := range rng.Perm(len(o.target))[:n] {
		o.rows[k] = int32(row)
	}
	// Columns: many short ones, some empty, some long.
	o.colPtr = append(o.colPtr, 0)
	for at := 0; at < n; {
		length := 0
		switch rng.IntN(4) {
		case 0:
			length = rng.IntN(3)
		case 1:
			length = rng.IntN(12)
		case 2:
			length = rng.IntN(n - at + 1)
		}
		at += min(length, n-at)
		o.colPtr = append(o.colPtr, int64(at))
	}
	o.out = vector(len(o.colPtr) - 1)
	return o
}

// sameBits compares bit for bit, with all NaN equal, as the documentation of the kernels requires.
func sameBits(u, v float64) bool {
	return math.Float64bits(u) == math.Float64bits(v) || math.IsNaN(u) && math.IsNaN(v)
}

func compare(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if !sameBits(got[i], want[i]) {
			t.Fatalf("%s, element %d of %d: got %x (%v), want %x (%v)", what, i, len(want), got[i], got[i], want[i], want[i])
		}
	}
}

// moved copies v to an address that is the given number of bytes past a multiple of 128.
func moved[T float64 | float32 | int32](v []T, bytes int) []T {
	if len(v) == 0 {
		return v
	}
	size := len(v) * int(unsafe.Sizeof(v[0]))
	room := make([]byte, size+256)
	start := -uintptr(unsafe.Pointer(&room[0]))%128 + uintptr(bytes)
	at := room[start : int(start)+size]
	copy(at, unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), size))
	return unsafe.Slice((*T)(unsafe.Pointer(&at[0])), len(v))
}

// bytesApart copies v, byte by byte, to an address that is aligned for float64.
func bytesApart(v []float64) []float64 {
	if len(v) == 0 {
		return v
	}
	w := make([]float64, len(v))
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), 8*len(w)), unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), 8*len(v)))
	return w
}
