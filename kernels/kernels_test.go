package kernels_test

import (
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

var (
	long = flag.Bool("kernels.long", false, "run the long versions: 10⁶ cases per kernel, large operands")
	only = flag.String("kernels.set", "", "test this set alone")
)

// testedSets are the available sets, or the one that -kernels.set names.
func testedSets() []*kernels.Set {
	return slices.DeleteFunc(kernels.Available(), func(k *kernels.Set) bool { return *only != "" && *only != k.Name })
}

// eachSet runs f once per available set. A set that PARE_CI_SETS or -kernels.set
// names must be available.
func eachSet(t *testing.T, f func(t *testing.T, k *kernels.Set)) {
	t.Helper()
	if want := os.Getenv("PARE_CI_SETS"); want != "" {
		for name := range strings.SplitSeq(want, ",") {
			if _, err := kernels.Named(name); err != nil {
				t.Errorf("PARE_CI_SETS: %v", err)
			}
		}
	}
	if len(testedSets()) == 0 {
		t.Errorf("there is no set %q", *only)
	}
	for _, k := range testedSets() {
		t.Run(k.Name, func(t *testing.T) { f(t, k) })
	}
}

// operands are what one call of any kernel needs.
type operands struct {
	a      float64
	x, y   []float64 // dense, of the same length
	values []float64 // entries of a column, or of several
	rows   []int32   // distinct within a column
	target []float64 // what rows point into
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

// in copies what kernels may write, at an offset into the memory of the copy before.
func (o operands) in(buffer *operands, offset int) operands {
	at := func(buffer *[]float64, v []float64) []float64 {
		*buffer = slices.Grow((*buffer)[:0], offset+len(v))[:offset]
		return append(*buffer, v...)[offset:]
	}
	o.x, o.y, o.values = at(&buffer.x, o.x), at(&buffer.y, o.y), at(&buffer.values, o.values)
	o.target, o.out, o.lanes = at(&buffer.target, o.target), at(&buffer.out, o.out), at(&buffer.lanes, o.lanes)
	return o
}

// operations drives every kernel in the same way: run returns everything that
// the kernel returned or wrote.
var operations = []struct {
	name string
	run  func(k *kernels.Set, o operands) []float64
}{
	{"dot", func(k *kernels.Set, o operands) []float64 { return []float64{k.Dot(o.x, o.y)} }},
	{"axpy", func(k *kernels.Set, o operands) []float64 { k.Axpy(o.a, o.x, o.y); return o.y }},
	{"scal", func(k *kernels.Set, o operands) []float64 { k.Scal(o.a, o.y); return o.y }},
	{"nrm2", func(k *kernels.Set, o operands) []float64 { return []float64{k.Nrm2(o.x)} }},
	{"asum", func(k *kernels.Set, o operands) []float64 { return []float64{k.Asum(o.x)} }},
	{"maxabs", func(k *kernels.Set, o operands) []float64 { return []float64{k.MaxAbs(o.x)} }},
	{"dotindexed", func(k *kernels.Set, o operands) []float64 {
		return []float64{k.DotIndexed(o.values, o.rows, o.target)}
	}},
	{"axpyindexed", func(k *kernels.Set, o operands) []float64 {
		k.AxpyIndexed(o.a, o.values, o.rows, o.target)
		return o.target
	}},
	{"dotlanes", func(k *kernels.Set, o operands) []float64 {
		var out [kernels.Lanes]float64
		k.DotLanes(o.values, o.rows, o.lanes, &out)
		return out[:]
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
	{"dotsingle", func(k *kernels.Set, o operands) []float64 { return []float64{k.DotSingle(o.single, o.y)} }},
	{"axpysingle", func(k *kernels.Set, o operands) []float64 { k.AxpySingle(o.a, o.single, o.y); return o.y }},
	{"exp", func(k *kernels.Set, o operands) []float64 { k.Exp(o.y, o.x); return o.y }},
	{"log1pexp", func(k *kernels.Set, o operands) []float64 { k.Log1pExp(o.y, o.x); return o.y }},
	{"sigmoid", func(k *kernels.Set, o operands) []float64 { k.Sigmoid(o.y, o.x); return o.y }},
	{"dotspans", func(k *kernels.Set, o operands) []float64 {
		w := len(o.out)
		from, to := o.colPtr[:w], o.colPtr[1:]
		if w > 1 { // backwards, without the first
			from, to = slices.Clone(from[1:]), slices.Clone(to[1:])
			slices.Reverse(from)
			slices.Reverse(to)
			o.out = o.out[1:]
		}
		k.DotSpans(from, to, o.rows, o.values, o.target, o.out)
		return o.out
	}},
	{"dotcolumns", func(k *kernels.Set, o operands) []float64 {
		k.DotColumns(o.colPtr, o.rows, o.values, o.target, o.out)
		return o.out
	}},
}

// A kind of data. Every kind fills all operands of a case.
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
	for i := range o.lanes { // the target again, another place in each lane
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

// sameBits compares as the contract says: bit for bit, all NaN being one.
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

// The order of operations, stated once more and as plainly as can be: slow, in
// no way shared with the code under test.
type oracle struct{}

func (oracle) reduce(n, width int, term func(i int, sum float64) float64) float64 {
	total := 0.0
	for from := 0; from < n; from += 8192 {
		sums := make([]float64, width)
		for i := from; i < min(n, from+8192); i++ {
			sums[(i-from)%width] = term(i, sums[(i-from)%width])
		}
		for len(sums) > 1 {
			half := len(sums) / 2
			for k := range half {
				sums[k] += sums[half+k]
			}
			sums = sums[:half]
		}
		total += sums[0]
	}
	return total
}

func (r oracle) set() *kernels.Set {
	s := &kernels.Set{Name: "oracle"}
	s.Dot = func(x, y []float64) float64 {
		return r.reduce(len(x), 32, func(i int, sum float64) float64 { return math.FMA(x[i], y[i], sum) })
	}
	s.Asum = func(x []float64) float64 {
		return r.reduce(len(x), 32, func(i int, sum float64) float64 { return sum + math.Abs(x[i]) })
	}
	s.MaxAbs = func(x []float64) float64 {
		m := 0.0
		for _, v := range x {
			if v = math.Abs(v); v > m || v != v {
				m = v
			}
			if m != m {
				return m
			}
		}
		return m
	}
	s.Nrm2 = func(x []float64) float64 {
		if sum := s.Dot(x, x); 0x1p-900 <= sum && sum <= math.MaxFloat64 {
			return math.Sqrt(sum)
		}
		m := s.MaxAbs(x)
		if m == 0 || m != m || math.IsInf(m, 1) {
			return m
		}
		e := 0
		for math.Ldexp(m, -e) >= 1 {
			e++
		}
		for math.Ldexp(m, -e) < 0.5 {
			e--
		}
		z := make([]float64, len(x))
		for i := range x {
			z[i] = math.Ldexp(x[i], -e)
		}
		return math.Ldexp(math.Sqrt(s.Dot(z, z)), e)
	}
	s.Axpy = func(a float64, x, y []float64) {
		for i := range x {
			y[i] = math.FMA(a, x[i], y[i])
		}
	}
	s.Scal = func(a float64, x []float64) {
		for i := range x {
			x[i] *= a
		}
	}
	elementwise := func(f func(float64) float64) func(dst, x []float64) {
		return func(dst, x []float64) {
			for i := range x {
				dst[i] = f(x[i])
			}
		}
	}
	s.Exp, s.Log1pExp, s.Sigmoid = elementwise(kernels.Exp), elementwise(kernels.Log1pExp), elementwise(kernels.Sigmoid)
	s.DotIndexed = func(values []float64, rows []int32, y []float64) float64 {
		return r.reduce(len(rows), 4, func(k int, sum float64) float64 { return math.FMA(values[k], y[rows[k]], sum) })
	}
	lane := func(y []float64, l int) []float64 {
		v := make([]float64, 0, len(y)/kernels.Lanes+1)
		for i := l; i < len(y); i += kernels.Lanes {
			v = append(v, y[i])
		}
		return v
	}
	s.DotLanes = func(values []float64, rows []int32, y []float64, out *[kernels.Lanes]float64) {
		for l := range out {
			out[l] = s.DotIndexed(values, rows, lane(y, l))
		}
	}
	s.DotLanesMasked = func(values []float64, rows []int32, mask []uint8, y []float64, out *[kernels.Lanes]float64) {
		for l := range out {
			v := lane(y, l)
			out[l] = r.reduce(len(rows), 4, func(k int, sum float64) float64 {
				if mask[rows[k]]&(1<<l) == 0 {
					return sum
				}
				return math.FMA(values[k], v[rows[k]], sum)
			})
		}
	}
	s.AxpyLanes = func(a *[kernels.Lanes]float64, values []float64, rows []int32, y []float64) {
		for k, row := range rows {
			for l := range a {
				i := kernels.Lanes*int(row) + l
				y[i] = math.FMA(a[l], values[k], y[i])
			}
		}
	}
	widened := func(x []float32) []float64 {
		v := make([]float64, len(x))
		for i := range x {
			v[i] = float64(x[i])
		}
		return v
	}
	s.DotSingle = func(x []float32, y []float64) float64 { return s.Dot(widened(x), y) }
	s.AxpySingle = func(a float64, x []float32, y []float64) { s.Axpy(a, widened(x), y) }
	s.AxpyIndexed = func(a float64, values []float64, rows []int32, y []float64) {
		for k, row := range rows {
			y[row] = math.FMA(a, values[k], y[row])
		}
	}
	s.DotSpans = func(from, to []int64, rows []int32, values, y, out []float64) {
		for c := range out {
			out[c] = s.DotIndexed(values[from[c]:to[c]], rows[from[c]:to[c]], y)
		}
	}
	s.DotColumns = func(colPtr []int64, rows []int32, values, y, out []float64) {
		for c := range out {
			out[c] = s.DotIndexed(values[colPtr[c]:colPtr[c+1]], rows[colPtr[c]:colPtr[c+1]], y)
		}
	}
	return s
}

var reference = oracle{}.set()

// disturb leaves large sums in the vector registers and masks of another length
// than n in the mask registers: what a kernel forgets to set is then wrong.
func disturb(k *kernels.Set, n int) {
	x := slices.Repeat([]float64{1e100}, 32+(n+7)%32)
	sink = k.Dot(x, x)
	k.Scal(1, x)
}

// TestEverySetReturnsTheDocumentedBits covers every length up to 257, every
// kind of data and several alignments, for every kernel and set.
func TestEverySetReturnsTheDocumentedBits(t *testing.T) {
	stride := 1
	if raceEnabled { // slow, and there for its annotations
		stride = 17
	}
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for _, kind := range kinds {
			for n := 0; n < 258; n += stride {
				rng := rand.New(rand.NewPCG(uint64(n), 17))
				offsets := []int{n * 7 % 16}
				if *long {
					offsets = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
				}
				for _, offset := range offsets {
					o := newOperands(rng, kind.fill, n, offset)
					if n%5 == 0 {
						o.a = specials[n/5%len(specials)]
					}
					for _, op := range operations {
						want, own := op.run(reference, o.clone()), o.clone()
						disturb(k, n)
						compare(t, op.name+", "+kind.name, op.run(k, own), want)
					}
				}
			}
		}
	})
}

// TestOperandsMayStartAnywhere crosses the offsets of the operands, down to
// single bytes, which Go never makes but a mapped file may.
func TestOperandsMayStartAnywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	o := newOperands(rng, kinds[0].fill, 77, 0)
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for i := range 16 {
			for j := range 16 {
				p := o.clone()
				p.x, p.y = moved(o.x, i*8), moved(o.y, j*8)
				p.values, p.target = moved(o.values, i*8), moved(o.target, j*8)
				p.lanes = moved(o.lanes, j*8)
				p.single = movedTo(o.single, i*4)
				p.rows, p.out = movedRows(o.rows, (i+j)*4), moved(o.out, i*8)
				for _, op := range operations {
					compare(t, op.name, op.run(k, p), op.run(reference, o.clone()))
					p.y, p.target, p.lanes = moved(o.y, j*8), moved(o.target, j*8), moved(o.lanes, j*8)
				}
			}
		}
		if k.Name == "purego" || raceEnabled || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
			return // compiled Go may be checked for alignment; assembly is not
		}
		for offset := range 8 {
			p := o.clone()
			p.x, p.y = moved(o.x, offset), moved(o.y, 7-offset)
			p.values, p.target = moved(o.values, offset), moved(o.target, 7-offset)
			p.lanes = moved(o.lanes, 7-offset)
			p.single = movedTo(o.single, offset)
			for _, op := range operations {
				compare(t, op.name, bytesApart(op.run(k, p)), op.run(reference, o.clone()))
				p.y, p.target, p.lanes = moved(o.y, 7-offset), moved(o.target, 7-offset), moved(o.lanes, 7-offset)
			}
		}
	})
}

// TestLongOperands crosses the block boundaries.
func TestLongOperands(t *testing.T) {
	sizes := []int{1023, 1024, 1025, 8191, 8192, 8193, 16384, 16385, 40000}
	if *long {
		sizes = append(sizes, 1_000_000)
	}
	if raceEnabled {
		sizes = []int{8193, 16385}
	}
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for _, n := range sizes {
			for _, kind := range kinds[:2] {
				o := newOperands(rand.New(rand.NewPCG(uint64(n), 1)), kind.fill, n, n%8)
				for _, op := range operations {
					compare(t, op.name+", "+kind.name, op.run(k, o.clone()), op.run(reference, o.clone()))
				}
			}
		}
	})
}

// TestColumnsOfEqualLength is the case that DotColumns is made for, over every
// short length, and with more columns than one call into assembly takes.
func TestColumnsOfEqualLength(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for length := range 40 {
			columns := 700
			if length < 4 && !raceEnabled {
				columns = 9000
			}
			o := operands{values: make([]float64, columns*length), rows: make([]int32, columns*length), target: make([]float64, 50)}
			kinds[0].fill(rng, o.values)
			kinds[0].fill(rng, o.target)
			o.out = make([]float64, columns)
			o.colPtr = make([]int64, columns+1)
			for c := range columns {
				o.colPtr[c+1] = int64((c + 1) * length)
				for i, row := range rng.Perm(50)[:length] {
					o.rows[c*length+i] = int32(row)
				}
			}
			k.DotColumns(o.colPtr, o.rows, o.values, o.target, o.out)
			want := make([]float64, columns)
			reference.DotColumns(o.colPtr, o.rows, o.values, o.target, want)
			compare(t, "dotcolumns", o.out, want)
		}
	})
}

// TestColumnsNeedNotStartAtZero: a block of columns of a larger matrix.
func TestColumnsNeedNotStartAtZero(t *testing.T) {
	o := newOperands(rand.New(rand.NewPCG(10, 11)), kinds[0].fill, 200, 0)
	want := make([]float64, len(o.out))
	reference.DotColumns(o.colPtr, o.rows, o.values, o.target, want)
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for from := range want {
			got := make([]float64, len(want)-from)
			k.DotColumns(o.colPtr[from:], o.rows, o.values, o.target, got)
			compare(t, "dotcolumns", got, want[from:])
		}
	})
}

func TestTheSameSliceTwice(t *testing.T) {
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for n := range 130 {
			o := newOperands(rand.New(rand.NewPCG(uint64(n), 3)), kinds[0].fill, n, 0)
			want := slices.Clone(o.x)
			reference.Axpy(o.a, want, want)
			if got, d := k.Dot(o.x, o.x), reference.Dot(o.x, o.x); !sameBits(got, d) {
				t.Fatalf("n = %d: Dot(x, x) = %v, want %v", n, got, d)
			}
			k.Axpy(o.a, o.x, o.x)
			compare(t, "axpy", o.x, want)
		}
	})
}

func TestMisuseOfLengthsPanics(t *testing.T) {
	v, rows := make([]float64, 9), make([]int32, 5)
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for name, f := range map[string]func(){
			"dot":                  func() { k.Dot(v[:3], v[:4]) },
			"axpy":                 func() { k.Axpy(1, v[:3], v[:4]) },
			"axpy overlapping":     func() { k.Axpy(1, v[:5], v[4:]) },
			"axpy overlapping up":  func() { k.Axpy(1, v[4:], v[:5]) },
			"dotindexed":           func() { k.DotIndexed(v[:4], rows, v) },
			"axpyindexed":          func() { k.AxpyIndexed(1, v[:4], rows, v) },
			"axpyindexed overlap":  func() { k.AxpyIndexed(1, v[4:], rows, v[:5]) },
			"exp":                  func() { k.Exp(v[:3], v[:4]) },
			"exp overlapping":      func() { k.Exp(v[:3], v[1:4]) },
			"dotsingle":            func() { k.DotSingle(make([]float32, 3), v[:4]) },
			"axpysingle":           func() { k.AxpySingle(1, make([]float32, 3), v[:4]) },
			"dotlanes":             func() { k.DotLanes(v[:4], rows, v, new([kernels.Lanes]float64)) },
			"dotlanesmasked":       func() { k.DotLanesMasked(v[:4], rows, nil, v, new([kernels.Lanes]float64)) },
			"dotlanesmasked mask":  func() { k.DotLanesMasked(nil, nil, make([]uint8, 1), v, new([kernels.Lanes]float64)) },
			"axpylanes":            func() { k.AxpyLanes(new([kernels.Lanes]float64), v[:4], rows, v) },
			"axpylanes overlap":    func() { k.AxpyLanes((*[kernels.Lanes]float64)(v), nil, nil, v) },
			"dotcolumns colPtr":    func() { k.DotColumns(nil, rows, v[:5], v, nil) },
			"dotcolumns values":    func() { k.DotColumns([]int64{0}, rows, v[:4], v, nil) },
			"dotcolumns end":       func() { k.DotColumns([]int64{0, 6}, rows, v[:5], v, make([]float64, 1)) },
			"dotcolumns beginning": func() { k.DotColumns([]int64{-1, 5}, rows, v[:5], v, make([]float64, 1)) },
			"dotcolumns falling":   func() { k.DotColumns([]int64{3, 2}, rows, v[:5], v, make([]float64, 1)) },
			"dotspans from":        func() { k.DotSpans(make([]int64, 1), make([]int64, 2), rows, v[:5], v, make([]float64, 2)) },
			"dotspans values":      func() { k.DotSpans(nil, nil, rows, v[:4], v, nil) },
			"dotspans end":         func() { k.DotSpans([]int64{0}, []int64{6}, rows, v[:5], v, make([]float64, 1)) },
			"dotspans falling":     func() { k.DotSpans([]int64{3}, []int64{2}, rows, v[:5], v, make([]float64, 1)) },
			"dotspans overlap":     func() { k.DotSpans([]int64{0}, []int64{5}, rows, v[:5], v, v[:1]) },
			"dotcolumns overlap":   func() { k.DotColumns([]int64{0, 5}, rows, v[:5], v, v[:1]) },
		} {
			func() {
				defer func() {
					if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "kernels: ") {
						t.Errorf("%s: no panic with a message of this package", name)
					}
				}()
				f()
			}()
		}
	})
}

func TestSetsAreFoundByName(t *testing.T) {
	all := kernels.Available()
	if all[0].Name != "purego" {
		t.Errorf("the first set is %q", all[0].Name)
	}
	for _, s := range all {
		if got, err := kernels.Named(s.Name); got != s || err != nil {
			t.Errorf("Named(%q) = %v, %v", s.Name, got, err)
		}
		t.Setenv(kernels.EnvVar, s.Name)
		if got, err := kernels.Active(); got != s || err != nil {
			t.Errorf("%s=%s: Active() = %v, %v", kernels.EnvVar, s.Name, got, err)
		}
	}
	t.Setenv(kernels.EnvVar, "")
	if got, err := kernels.Active(); got != all[len(all)-1] || err != nil {
		t.Errorf("Active() = %v, %v", got, err)
	}
	t.Setenv(kernels.EnvVar, "mmx")
	_, err := kernels.Active()
	var unknown *kernels.UnknownSetError
	if !errors.As(err, &unknown) || unknown.Name != "mmx" || !slices.Contains(unknown.Available, "purego") {
		t.Errorf("unknown set: %v", err)
	}
	all[0] = nil
	if kernels.Available()[0] == nil {
		t.Error("Available shares its slice")
	}
}

func TestKernelsDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	o := newOperands(rand.New(rand.NewPCG(1, 1)), kinds[0].fill, 20000, 0)
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for name, f := range map[string]func(){
			"dot":         func() { sink = k.Dot(o.x, o.y) },
			"axpy":        func() { k.Axpy(0.5, o.x, o.y) },
			"scal":        func() { k.Scal(1, o.y) },
			"nrm2":        func() { sink = k.Nrm2(o.x) },
			"asum":        func() { sink = k.Asum(o.x) },
			"maxabs":      func() { sink = k.MaxAbs(o.x) },
			"exp":         func() { k.Exp(o.y, o.x) },
			"log1pexp":    func() { k.Log1pExp(o.y, o.x) },
			"sigmoid":     func() { k.Sigmoid(o.y, o.x) },
			"dotindexed":  func() { sink = k.DotIndexed(o.values, o.rows, o.target) },
			"axpyindexed": func() { k.AxpyIndexed(0.5, o.values, o.rows, o.target) },
			"dotcolumns":  func() { k.DotColumns(o.colPtr, o.rows, o.values, o.target, o.out) },
		} {
			if n := testing.AllocsPerRun(10, f); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
	})
}

// TestTheBestSet is for machines, and emulators, of which one knows what they have.
func TestTheBestSet(t *testing.T) {
	want := os.Getenv("PARE_CI_BEST")
	if want == "" {
		t.Skip("PARE_CI_BEST does not name the set that this CPU should pick")
	}
	all := kernels.Available()
	if got := all[len(all)-1].Name; got != want {
		t.Errorf("the best set is %q, want %q", got, want)
	}
}
