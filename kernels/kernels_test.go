package kernels_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

// disturb leaves large sums in the vector registers, and masks of a length other than n
// in the mask registers, so that a kernel that fails to set them gives wrong results.
func disturb(k *kernels.Set, n int) {
	x := slices.Repeat([]float64{1e100}, 32+(n+7)%32)
	sink = k.Dot(x, x)
	k.Scal(1, x)
}

// TestEverySetReturnsTheDocumentedBits covers every length up to 257, every
// kind of data and several alignments, for every kernel and set.
func TestEverySetReturnsTheDocumentedBits(t *testing.T) {
	stride := 1
	if raceEnabled { // slow, and run for the annotations only
		stride = 17
	}
	sets := everySet(t)
	var theirs, own operands
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
					want := op.run(reference, o.in(&theirs, 0))
					for _, k := range sets {
						o := o.in(&own, offset)
						disturb(k, n)
						compare(t, k.Name+" "+op.name+", "+kind.name, op.run(k, o), want)
					}
				}
			}
		}
	}
}

// TestOperandsMayStartAnywhere tries all pairs of offsets of the operands, down to single
// bytes: Go never allocates at these, but a mapped file may have them.
func TestOperandsMayStartAnywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	o := newOperands(rng, kinds[0].fill, 77, 0)
	wants := make([][]float64, len(operations))
	for i, op := range operations {
		wants[i] = op.run(reference, o.clone())
	}
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for i := range 16 {
			for j := range 16 {
				p := o.clone()
				p.x, p.y = moved(o.x, i*8), moved(o.y, j*8)
				p.values, p.target = moved(o.values, i*8), moved(o.target, j*8)
				p.lanes = moved(o.lanes, j*8)
				p.single = moved(o.single, i*4)
				p.rows, p.out = moved(o.rows, (i+j)*4), moved(o.out, i*8)
				for at, op := range operations {
					compare(t, op.name, op.run(k, p), wants[at])
					p.y, p.target, p.lanes, p.out = moved(o.y, j*8), moved(o.target, j*8), moved(o.lanes, j*8), moved(o.out, i*8)
					p.values = moved(o.values, i*8)
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
			p.single = moved(o.single, offset)
			for at, op := range operations {
				compare(t, op.name, bytesApart(op.run(k, p)), wants[at])
				p.y, p.target, p.lanes, p.out = moved(o.y, 7-offset), moved(o.target, 7-offset), moved(o.lanes, 7-offset), slices.Clone(o.out)
				p.values = moved(o.values, offset)
			}
		}
	})
}

// TestLongOperands checks operands that are longer than a block.
func TestLongOperands(t *testing.T) {
	sizes := []int{1023, 1024, 1025, 8191, 8192, 8193, 16384, 16385, 40000}
	if *long {
		sizes = append(sizes, 1_000_000)
	}
	if raceEnabled {
		sizes = []int{8193, 16385}
	}
	sets := everySet(t)
	var theirs, own operands
	for _, n := range sizes {
		for _, kind := range kinds[:2] {
			o := newOperands(rand.New(rand.NewPCG(uint64(n), 1)), kind.fill, n, n%8)
			for _, op := range operations {
				want := op.run(reference, o.in(&theirs, 0))
				for _, k := range sets {
					compare(t, k.Name+" "+op.name+", "+kind.name, op.run(k, o.in(&own, n%8)), want)
				}
			}
		}
	}
}

// TestColumnsOfEqualLength checks the case for which DotColumns is optimised, at every
// short length, and with more columns than one call of the assembly takes.
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

// TestColumnsNeedNotStartAtZero checks a block of columns of a larger matrix.
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
			"dotdense":             func() { k.DotDense(v[:5], v[:3], make([]float64, 2)) },
			"dotdensesingle":       func() { k.DotDenseSingle(make([]float32, 5), v[:3], make([]float64, 2)) },
			"dotdense overlap":     func() { k.DotDense(v[:4], v[4:6], v[3:5]) },
			"dotdense overlap, y":  func() { k.DotDense(make([]float64, 4), v[4:6], v[5:7]) },
			"dotdensespans":        func() { k.DotDenseSpans(make([]int64, 1), v[:5], v[:3], make([]float64, 2)) },
			"dotdensespans end":    func() { k.DotDenseSpans([]int64{2, 3}, v[:5], v[:3], make([]float64, 2)) },
			"dotdensespans begin":  func() { k.DotDenseSpans([]int64{-1}, v[:5], v[:3], make([]float64, 1)) },
			"dotdensespans out":    func() { k.DotDenseSpans([]int64{0}, v[:5], v[5:], v[4:5]) },
			"axpydensespans":       func() { k.AxpyDenseSpans(make([]float64, 1), make([]int64, 2), v[:5], v[5:]) },
			"axpydensespans end":   func() { k.AxpyDenseSpans(make([]float64, 1), []int64{2}, v[:5], v[5:]) },
			"axpydensespans y":     func() { k.AxpyDenseSpans(make([]float64, 1), []int64{0}, v[:5], v[4:]) },
			"axpydensespans a":     func() { k.AxpyDenseSpans(v[5:6], []int64{0}, make([]float64, 5), v[5:]) },
			"squaresdense":         func() { k.SquaresDense(v[:5], v[:3], make([]float64, 2)) },
			"squaresdense overlap": func() { k.SquaresDense(v[:4], v[4:6], v[3:5]) },
			"reach":                func() { k.Reach(1, v[:3], v[:4], 0, make([]uint64, 1)) },
			"reach, bits":          func() { k.ReachAbs(1, v[:3], v[:3], 0, make([]uint64, 2)) },
			"countand":             func() { k.CountAnd(make([]uint64, 2), make([]uint64, 3)) },
			"pick":                 func() { k.Pick(rows, rows, v[:4], make([]int32, 5), make([]float64, 5)) },
			"pick, room":           func() { k.Pick(rows, rows, v[:5], make([]int32, 5), make([]float64, 4)) },
			"pick, room for rows":  func() { k.Pick(rows, rows, v[:5], make([]int32, 4), make([]float64, 5)) },
			"pick overlap":         func() { k.Pick(rows, rows[:4], v[:4], make([]int32, 5), v[3:]) },
			"dotindexed":           func() { k.DotIndexed(v[:4], rows, v) },
			"axpyindexed":          func() { k.AxpyIndexed(1, v[:4], rows, v) },
			"axpyindexed overlap":  func() { k.AxpyIndexed(1, v[4:], rows, v[:5]) },
			"scaleindexed":         func() { k.ScaleIndexed(v[:3], rows, v[5:], v[:2]) },
			"scaleindexed overlap": func() { k.ScaleIndexed(v[:5], rows, make([]float64, 1), v[1:6]) },
			"scaleindexed, scale":  func() { k.ScaleIndexed(make([]float64, 5), rows, v[:5], v[4:]) },
			"margin":               func() { k.Margin(v[:3], 1, v[:3], v[:4], 1, make([]uint64, 1)) },
			"margin, dst":          func() { k.Margin(v[:4], 1, v[:3], v[:3], 1, make([]uint64, 1)) },
			"margin, bits":         func() { k.Margin(v[:3], 1, v[:3], v[:3], 1, make([]uint64, 2)) },
			"margin overlapping":   func() { k.Margin(v[1:4], 1, v[:3], make([]float64, 3), 1, make([]uint64, 1)) },
			"margin overlap, y":    func() { k.Margin(v[1:4], 1, make([]float64, 3), v[:3], 1, make([]uint64, 1)) },
			"product":              func() { k.Product(v[:3], v[:3], v[:4]) },
			"product, dst":         func() { k.Product(v[:4], v[:3], v[:3]) },
			"product overlapping":  func() { k.Product(v[1:4], v[:3], make([]float64, 3)) },
			"product overlap, y":   func() { k.Product(v[1:4], make([]float64, 3), v[:3]) },
			"divergence, y":        func() { k.Divergence(v[:3], v[:4], v[:3], v[:3], 1, [2]float64{}, [2]float64{}) },
			"divergence, m":        func() { k.Divergence(v[:3], v[:3], v[:4], v[:3], 1, [2]float64{}, [2]float64{}) },
			"divergence, t":        func() { k.Divergence(v[:3], v[:3], v[:3], v[:2], 1, [2]float64{}, [2]float64{}) },
			"divergence, over y":   func() { k.Divergence(v[:3], v[1:4], v[:3], v[:3], 1, [2]float64{}, [2]float64{}) },
			"divergence, over m":   func() { k.Divergence(v[:3], v[:3], v[1:4], v[:3], 1, [2]float64{}, [2]float64{}) },
			"divergence, over t":   func() { k.Divergence(v[:3], v[:3], v[:3], v[1:4], 1, [2]float64{}, [2]float64{}) },
			"exp":                  func() { k.Exp(v[:3], v[:4]) },
			"exp overlapping":      func() { k.Exp(v[:3], v[1:4]) },
			"dotlanes":             func() { k.DotLanes(v[:4], rows, v, 0, new([kernels.Lanes]float64)) },
			"addlanes to":          func() { k.AddLanes(make([]int64, 1), make([]int64, 2), rows, v[:5], v, 0, make([]float64, 8)) },
			"addlanes out":         func() { k.AddLanes(make([]int64, 1), make([]int64, 1), rows, v[:5], v, 0, make([]float64, 7)) },
			"addlanes values":      func() { k.AddLanes(nil, nil, rows, v[:4], v, 0, nil) },
			"addlanes end":         func() { k.AddLanes([]int64{0}, []int64{6}, rows, v[:5], v, 0, make([]float64, 8)) },
			"addlanes falling":     func() { k.AddLanes([]int64{3}, []int64{2}, rows, v[:5], v, 0, make([]float64, 8)) },
			"addlanes overlap":     func() { k.AddLanes([]int64{0}, []int64{0}, rows, v[:5], v, 0, v[:8]) },
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
			"axpyspans from":       func() { k.AxpySpans(make([]float64, 2), make([]int64, 1), make([]int64, 2), rows, v[:5], v[5:]) },
			"axpyspans to":         func() { k.AxpySpans(make([]float64, 2), make([]int64, 2), make([]int64, 1), rows, v[:5], v[5:]) },
			"axpyspans values":     func() { k.AxpySpans(nil, nil, nil, rows, v[:4], v[5:]) },
			"axpyspans end":        func() { k.AxpySpans([]float64{1}, []int64{0}, []int64{6}, rows, v[:5], v[5:]) },
			"axpyspans falling":    func() { k.AxpySpans([]float64{1}, []int64{3}, []int64{2}, rows, v[:5], v[5:]) },
			"axpyspans overlap":    func() { k.AxpySpans([]float64{1}, []int64{0}, []int64{5}, rows, v[:5], v[4:]) },
			"axpyspans overlap, a": func() { k.AxpySpans(v[5:6], []int64{0}, []int64{5}, rows, make([]float64, 5), v[5:]) },
			"dotspans overlap":     func() { k.DotSpans([]int64{0}, []int64{5}, rows, v[:5], v, v[:1]) },
			"dotcolumns overlap":   func() { k.DotColumns([]int64{0, 5}, rows, v[:5], v, v[:1]) },
			"moments colPtr":       func() { k.Moments(nil, rows, v[:5], v, nil, nil, nil) },
			"moments squares":      func() { k.Moments([]int64{0, 5}, rows, v[:5], v, nil, make([]float64, 1), make([]float64, 1)) },
			"moments sums":         func() { k.Moments([]int64{0, 5}, rows, v[:5], v, make([]float64, 1), nil, make([]float64, 1)) },
			"moments values":       func() { k.Moments([]int64{0}, rows, v[:4], v, nil, nil, nil) },
			"moments end": func() {
				k.Moments([]int64{0, 6}, rows, v[:5], v, make([]float64, 1), make([]float64, 1), make([]float64, 1))
			},
			"moments beginning": func() {
				k.Moments([]int64{-1, 5}, rows, v[:5], v, make([]float64, 1), make([]float64, 1), make([]float64, 1))
			},
			"moments falling": func() {
				k.Moments([]int64{3, 2}, rows, v[:5], v, make([]float64, 1), make([]float64, 1), make([]float64, 1))
			},
			"moments overlap": func() { k.Moments([]int64{0, 5}, rows, v[:5], v, make([]float64, 1), v[8:], make([]float64, 1)) },
			"moments outputs": func() {
				one := make([]float64, 1)
				k.Moments([]int64{0, 5}, rows, v[:5], v, make([]float64, 1), one, one)
			},
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

func TestKernelsDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	o := newOperands(rand.New(rand.NewPCG(1, 1)), kinds[0].fill, 20000, 0)
	bits := make([]uint64, (len(o.x)+63)/64)
	picked, index := make([]int32, len(o.values)), make([]int32, len(o.values))
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for name, f := range map[string]func(){
			"dot":            func() { sink = k.Dot(o.x, o.y) },
			"dotdense":       func() { k.DotDense(o.values, o.x[:100], o.target[:200]) },
			"dotdensespans":  func() { k.DotDenseSpans(o.colPtr[:9], o.values, o.x[:len(o.x)-int(o.colPtr[8])], o.target[:9]) },
			"axpydensespans": func() { k.AxpyDenseSpans(o.target[:9], o.colPtr[:9], o.values, o.x[:len(o.x)-int(o.colPtr[8])]) },
			"dotdensesingle": func() { k.DotDenseSingle(o.single[:20000], o.x[:100], o.target[:200]) },
			"squaresdense":   func() { k.SquaresDense(o.values, o.x[:100], o.target[:200]) },
			"axpy":           func() { k.Axpy(0.5, o.x, o.y) },
			"scal":           func() { k.Scal(1, o.y) },
			"nrm2":           func() { sink = k.Nrm2(o.x) },
			"asum":           func() { sink = k.Asum(o.x) },
			"reach":          func() { k.Reach(2, o.x, o.y, 1, bits) },
			"countand":       func() { sink = float64(k.CountAnd(bits, bits)) },
			"pick":           func() { sink = float64(k.Pick(o.rows, picked, o.values, index, o.x)) },
			"margin":         func() { k.Margin(o.y, 2, o.x, o.y, 1, bits) },
			"product":        func() { k.Product(o.y, o.x, o.y) },
			"maxabs":         func() { sink = k.MaxAbs(o.x) },
			"exp":            func() { k.Exp(o.y, o.x) },
			"log":            func() { k.Log(o.y, o.x) },
			"log1pexp":       func() { k.Log1pExp(o.y, o.x) },
			"sigmoid":        func() { k.Sigmoid(o.y, o.x) },
			"bell":           func() { k.Bell(o.y, o.x) },
			"divergence":     func() { k.Divergence(o.y, o.x, o.y, o.x, 0.5, [2]float64{}, [2]float64{}) },
			"dotindexed":     func() { sink = k.DotIndexed(o.values, o.rows, o.target) },
			"axpyindexed":    func() { k.AxpyIndexed(0.5, o.values, o.rows, o.target) },
			"scaleindexed":   func() { sink, _ = k.ScaleIndexed(o.values, o.rows, o.target, o.values) },
			"axpyspans": func() {
				k.AxpySpans(o.out, o.colPtr[:len(o.out)], o.colPtr[1:], o.rows, o.values, o.target)
			},
			"dotcolumns": func() { k.DotColumns(o.colPtr, o.rows, o.values, o.target, o.out) },
			"moments":    func() { k.Moments(o.colPtr, o.rows, o.values, o.lanes, o.out, o.x[:len(o.out)], o.y[:len(o.out)]) },
		} {
			if n := testing.AllocsPerRun(10, f); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
	})
}
