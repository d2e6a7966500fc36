package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

// newBoxEpoch makes a problem of p features and samples of the given lengths,
// with gaps between them and in no particular order. Most are visited, with some
// at each bound. Every other problem has a diagonal.
func newBoxEpoch(rng *rand.Rand, p int, lengths []int) *kernels.BoxEpoch {
	n := len(lengths)
	e := &kernels.BoxEpoch{
		From: make([]int64, n), To: make([]int64, n), W: make([]float64, p), At: make([]kernels.BoxVariable, n),
		Diagonal: float64(rng.IntN(2)) * rng.ExpFloat64(), AsideOver: rng.Float64(), AsideUnder: -rng.Float64(),
	}
	for _, i := range rng.Perm(n) {
		e.From[i] = int64(len(e.Features))
		square := 0.0
		for _, j := range rng.Perm(p)[:lengths[i]] {
			v := rng.NormFloat64()
			e.Features = append(e.Features, int32(j))
			e.Values = append(e.Values, v)
			square += v * v
		}
		e.To[i] = int64(len(e.Features))
		for range rng.IntN(3) {
			e.Features = append(e.Features, -1)
			e.Values = append(e.Values, math.NaN())
		}
		v := &e.At[i]
		v.Sign, v.Inverse, v.Bound = float64(2*rng.IntN(2)-1), 1/(max(square, 0.1)+e.Diagonal), 0.1+rng.Float64()
		v.Value = v.Bound * float64(rng.IntN(3)) / 2
		v.Margin = rng.NormFloat64()
		if rng.IntN(8) > 0 {
			e.Live = append(e.Live, int32(i))
		}
	}
	for i, v := range e.At { // w = Σ a·y·x
		reference.AxpyIndexed(v.Value*v.Sign, e.Values[e.From[i]:e.To[i]], e.Features[e.From[i]:e.To[i]], e.W)
	}
	return e
}

func cloneBox(e *kernels.BoxEpoch) *kernels.BoxEpoch {
	c := *e
	c.W, c.At, c.Live = slices.Clone(e.W), slices.Clone(e.At), slices.Clone(e.Live)
	return &c
}

// referenceBox states the definition once more, case by case.
func referenceBox(e *kernels.BoxEpoch) (kept []int32) {
	for _, i := range e.Live {
		features, values, v := e.Features[e.From[i]:e.To[i]], e.Values[e.From[i]:e.To[i]], &e.At[i]
		g := math.FMA(v.Sign, reference.DotIndexed(values, features, e.W), math.FMA(e.Diagonal, v.Value, -v.Margin))
		e.Visited += len(features)
		// The value to which the current w would lead the sample.
		target := v.Value
		switch {
		case e.Diagonal > 0:
			target = max(0, min(v.Bound, math.FMA(-g, 1/e.Diagonal, v.Value)))
		case g > 0:
			target = 0
		case g < 0:
			target = v.Bound
		}
		if math.IsNaN(g) {
			target = math.NaN()
		}
		if target == v.Value {
			e.Gap = math.FMA(0, g, e.Gap)
			if aside := g > e.AsideOver || g < e.AsideUnder; !aside {
				kept = append(kept, i)
			}
		} else {
			kept = append(kept, i)
			d := v.Value - target
			e.Gap = math.FMA(d, math.FMA(-e.Diagonal/2, d, g), e.Gap)
			if !math.IsNaN(g) {
				e.MostOver, e.MostUnder = max(e.MostOver, g), min(e.MostUnder, g)
			}
		}
		next := 0.0
		if step := math.FMA(-g, v.Inverse, v.Value); step >= v.Bound {
			next = v.Bound
		} else if step > 0 {
			next = step
		}
		if 0 < next && next < v.Bound {
			e.Free++
			e.FreeEntries += len(features)
		}
		if next != v.Value {
			reference.AxpyIndexed((next-v.Value)*v.Sign, values, features, e.W)
			v.Value = next
			e.Moved += len(features)
		}
	}
	return kept
}

func compareBoxes(t *testing.T, got, want *kernels.BoxEpoch) {
	t.Helper()
	compare(t, "w", got.W, want.W)
	for i := range want.At {
		g, w := got.At[i], want.At[i]
		compare(t, "at", []float64{g.Sign, g.Inverse, g.Bound, g.Value, g.Margin}, []float64{w.Sign, w.Inverse, w.Bound, w.Value, w.Margin})
	}
	tally := func(e *kernels.BoxEpoch) []float64 {
		return []float64{
			e.Gap, e.MostOver, e.MostUnder,
			float64(e.Visited), float64(e.Moved), float64(e.Free), float64(e.FreeEntries),
		}
	}
	compare(t, "tally", tally(got), tally(want))
}

func TestBoxEpochReturnsTheDocumentedBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	var cases []*kernels.BoxEpoch
	for size := range 60 {
		lengths := make([]int, size)
		for i := range lengths {
			lengths[i] = rng.IntN(size + 1)
		}
		cases = append(cases, newBoxEpoch(rng, 2*size+1, lengths))
	}
	cases = append(cases,
		newBoxEpoch(rng, 20000, []int{3, 4096, 4097, 1, 8192, 8193, 20000, 4095, 2}), // across blocks
		newBoxEpoch(rng, 40, make([]int, 20000)))                                     // empty samples, more than a block
	for _, damage := range []func(e *kernels.BoxEpoch){
		func(e *kernels.BoxEpoch) { e.W[3] = math.NaN() },
		func(e *kernels.BoxEpoch) { e.W[3] = math.Inf(1) },
		func(e *kernels.BoxEpoch) { e.W[3] = math.Inf(-1) },
		func(e *kernels.BoxEpoch) { e.At[2].Inverse = math.Inf(1) },
		func(e *kernels.BoxEpoch) { e.At[2].Inverse = 0 },
		func(e *kernels.BoxEpoch) { e.At[2].Bound = math.Inf(1) },
		func(e *kernels.BoxEpoch) { e.At[2].Bound, e.At[2].Value = 0, 0 },
		func(e *kernels.BoxEpoch) { e.At[2].Sign, e.Diagonal = -0.3, 0.7 },
		func(e *kernels.BoxEpoch) { e.At[2].Bound, e.Diagonal = math.Inf(1), 1e-3 },
		func(e *kernels.BoxEpoch) { e.Diagonal = math.NaN() },
		func(e *kernels.BoxEpoch) { e.AsideOver, e.AsideUnder = 0, 0 },
		func(e *kernels.BoxEpoch) { e.AsideOver, e.AsideUnder = math.Inf(1), math.Inf(-1) },
		func(e *kernels.BoxEpoch) { e.MostOver, e.MostUnder, e.Gap = 1, -1, 7 },
	} {
		e := newBoxEpoch(rng, 12, []int{3, 12, 5, 4, 6, 7, 8, 9, 2, 1})
		damage(e)
		cases = append(cases, e)
	}
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for _, c := range cases {
			got, want := cloneBox(c), cloneBox(c)
			for range 4 {
				kept, expected := k.BoxEpoch(got), referenceBox(want)
				if got.Live, want.Live = got.Live[:kept], expected; !slices.Equal(got.Live, want.Live) {
					t.Fatalf("%v remain live, want %v", got.Live, want.Live)
				}
				compareBoxes(t, got, want)
			}
		}
	})
}

// TestBoxEpochsSolveTheDual checks that after many epochs every sample satisfies its
// optimality condition, with w recomputed from the samples.
func TestBoxEpochsSolveTheDual(t *testing.T) {
	for seed, diagonal := range []float64{0, 0.4} {
		boxEpochsSolveTheDual(t, rand.New(rand.NewPCG(43, uint64(44+seed))), diagonal)
	}
}

func boxEpochsSolveTheDual(t *testing.T, rng *rand.Rand, diagonal float64) {
	t.Helper()
	lengths := make([]int, 30)
	for i := range lengths {
		lengths[i] = 5 + rng.IntN(10)
	}
	e := newBoxEpoch(rng, 50, lengths)
	for i := range e.At {
		e.At[i].Inverse = 1 / (1/e.At[i].Inverse - e.Diagonal + diagonal)
	}
	e.Diagonal, e.AsideOver, e.AsideUnder = diagonal, math.Inf(1), math.Inf(-1)
	e.Live = e.Live[:0]
	for i := range e.At {
		e.Live = append(e.Live, int32(i))
	}
	k, err := kernels.Active()
	if err != nil {
		t.Fatal(err)
	}
	for range 5000 {
		e.Gap = 0
		if kept := k.BoxEpoch(e); kept != len(e.Live) {
			t.Fatalf("%d of %d samples kept, though none may be set aside", kept, len(e.Live))
		}
	}
	if e.Gap > 1e-12 {
		t.Errorf("the gap is %g still", e.Gap)
	}
	w := make([]float64, len(e.W))
	for i, v := range e.At {
		for k := e.From[i]; k < e.To[i]; k++ {
			w[e.Features[k]] += v.Value * v.Sign * e.Values[k]
		}
	}
	for i, v := range e.At {
		g := diagonal*v.Value - v.Margin
		for k := e.From[i]; k < e.To[i]; k++ {
			g += v.Sign * e.Values[k] * w[e.Features[k]]
		}
		if g > 1e-10 && v.Value > 0 || g < -1e-10 && v.Value < v.Bound {
			t.Errorf("sample %d: gradient %g at %g of [0, %g]", i, g, v.Value, v.Bound)
		}
	}
}

func TestMisuseOfBoxEpochPanics(t *testing.T) {
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for name, damage := range map[string]func(e *kernels.BoxEpoch){
			"short Values":  func(e *kernels.BoxEpoch) { e.Values = e.Values[:4] },
			"overlap":       func(e *kernels.BoxEpoch) { e.W = e.Values[:1] },
			"short At":      func(e *kernels.BoxEpoch) { e.At = e.At[:2] },
			"short From":    func(e *kernels.BoxEpoch) { e.From = e.From[:2] },
			"short To":      func(e *kernels.BoxEpoch) { e.To = e.To[:2] },
			"negative Live": func(e *kernels.BoxEpoch) { e.Live[0] = -1 },
			"From":          func(e *kernels.BoxEpoch) { e.From[2] = -1 },
			"To":            func(e *kernels.BoxEpoch) { e.To[2] = int64(len(e.Features)) + 1 },
			"order":         func(e *kernels.BoxEpoch) { e.To[2] = e.From[2] - 1 },
		} {
			e := newBoxEpoch(rand.New(rand.NewPCG(1, 1)), 10, []int{3, 4, 5})
			e.Live = []int32{0, 1, 2}
			damage(e)
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				k.BoxEpoch(e)
			}()
		}
	})
}

// BenchmarkBoxEpoch sweeps the samples of a synthetic classification problem, in which
// some features are frequent, in random order, from the point that five sweeps reach.
func BenchmarkBoxEpoch(b *testing.B) {
	for _, size := range []struct{ features, length, samples int }{{20_000, 12, 4_000}, {20_000, 74, 4_000}} {
		e := classification(size.features, size.length, size.samples)
		start := cloneBox(e)
		for _, k := range append([]*kernels.Set{boxByCalls}, kernels.Available()...) {
			b.Run(fmt.Sprintf("set=%s/p=%d/nnz=%d/n=%d", k.Name, size.features, size.length, size.samples), func(b *testing.B) {
				for b.Loop() {
					copy(e.W, start.W)
					copy(e.At, start.At)
					k.BoxEpoch(e)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(e.Live)), "ns/visit")
			})
		}
	}
}

func classification(features, length, samples int) *kernels.BoxEpoch {
	rng := rand.New(rand.NewPCG(5, 5))
	e := &kernels.BoxEpoch{
		From: make([]int64, samples), To: make([]int64, samples),
		W: make([]float64, features), At: make([]kernels.BoxVariable, samples),
		AsideOver: math.Inf(1), AsideUnder: math.Inf(-1),
	}
	truth := make([]float64, features)
	kinds[0].fill(rng, truth)
	for i := range e.At {
		e.From[i] = int64(len(e.Features))
		e.Live = append(e.Live, int32(i))
		count := max(1, int(float64(length)*rng.ExpFloat64()))
		margin, square, seen := 0.5*rng.NormFloat64(), 0.0, map[int32]bool{}
		for len(seen) < count {
			j := int32(float64(features) * math.Pow(rng.Float64(), 3))
			if seen[j] {
				continue
			}
			seen[j] = true
			v := (0.5 + rng.Float64()) / math.Sqrt(float64(count))
			e.Features, e.Values = append(e.Features, j), append(e.Values, v)
			margin += v * truth[j]
			square += v * v
		}
		e.To[i] = int64(len(e.Features))
		e.At[i] = kernels.BoxVariable{Sign: math.Copysign(1, margin), Inverse: 1 / square, Bound: 1, Margin: 1}
	}
	rng.Shuffle(samples, func(i, j int) { e.Live[i], e.Live[j] = e.Live[j], e.Live[i] })
	for range 5 {
		kernels.Available()[0].BoxEpoch(e)
	}
	return e
}

// boxByCalls makes one call for each product and each update.
var boxByCalls = &kernels.Set{Name: "calls", BoxEpoch: func(e *kernels.BoxEpoch) int {
	all := kernels.Available()
	k := all[len(all)-1]
	for _, i := range e.Live {
		from, to, v := e.From[i], e.To[i], &e.At[i]
		g := float64(v.Sign*k.DotIndexed(e.Values[from:to], e.Features[from:to], e.W)) - v.Margin
		if g > 0 {
			if v.Value == 0 {
				continue
			}
			e.Gap = math.FMA(v.Value, g, e.Gap)
			e.MostOver = max(e.MostOver, g)
		} else {
			if v.Value == v.Bound {
				continue
			}
			e.MostUnder = min(e.MostUnder, g)
			e.Gap = math.FMA(v.Value-v.Bound, g, e.Gap)
		}
		next := v.Value - float64(g*v.Inverse)
		switch {
		case next >= v.Bound:
			next = v.Bound
		case next > 0:
			e.Free++
		default:
			next = 0
		}
		if d := next - v.Value; d != 0 {
			v.Value = next
			e.Moved += int(to - from)
			k.AxpyIndexed(d*v.Sign, e.Values[from:to], e.Features[from:to], e.W)
		}
	}
	return len(e.Live)
}}
