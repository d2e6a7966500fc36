package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

// prox is the proximal step of an epoch, stated once more.
func prox(c, old, square, inverse, threshold, ridge float64) (grad, b float64) {
	shrink := float64(ridge * old)
	z := math.FMA(square, old, c)
	if z > threshold {
		b = z - threshold
	} else if z < -threshold {
		b = z + threshold
	}
	return c - shrink, float64(b * inverse)
}

// newGramEpoch makes a problem on m rows, w of which are visited in random order, some
// possibly twice.
func newGramEpoch(rng *rand.Rand, m, w int) *kernels.GramEpoch {
	stride := m + rng.IntN(5)
	e := &kernels.GramEpoch{
		Gram: make([]float64, max(0, (m-1)*stride+m)), Stride: stride, Correlation: make([]float64, m),
		Slot: make([]int32, w), Coef: make([]float64, w), Square: make([]float64, w), Inverse: make([]float64, w),
		Threshold: make([]float64, w), Grad: make([]float64, w), Ridge: 0.25,
	}
	for i := range e.Gram {
		e.Gram[i] = rng.NormFloat64() / 4
	}
	for a := range e.Correlation {
		e.Correlation[a] = 2 * rng.NormFloat64()
		e.Gram[a*stride+a] = 1 + rng.Float64()
	}
	for k := range e.Slot {
		e.Slot[k] = int32(rng.IntN(m))
		e.Square[k] = e.Gram[int(e.Slot[k])*(stride+1)]
		e.Inverse[k] = 1 / (e.Square[k] + e.Ridge)
		e.Threshold[k] = rng.Float64()
	}
	return e
}

func cloneGram(e *kernels.GramEpoch) *kernels.GramEpoch {
	c := *e
	c.Correlation, c.Coef, c.Grad = slices.Clone(e.Correlation), slices.Clone(e.Coef), slices.Clone(e.Grad)
	return &c
}

func referenceGram(e *kernels.GramEpoch) (moved int) {
	for k, old := range e.Coef {
		row := int(e.Slot[k]) * e.Stride
		var b float64
		e.Grad[k], b = prox(e.Correlation[e.Slot[k]], old, e.Square[k], e.Inverse[k], e.Threshold[k], e.Ridge)
		if b != old {
			e.Coef[k] = b
			for i := range e.Correlation {
				e.Correlation[i] = math.FMA(old-b, e.Gram[row+i], e.Correlation[i])
			}
			moved++
		}
	}
	return moved
}

func compareGram(t *testing.T, got, want *kernels.GramEpoch) {
	t.Helper()
	compare(t, "correlation", got.Correlation, want.Correlation)
	compare(t, "coef", got.Coef, want.Coef)
	compare(t, "grad", got.Grad, want.Grad)
}

// damages put invalid or extreme numbers into the operands of an epoch.
var damages = []func(residual, coef, inverse, threshold []float64, ridge *float64){
	func(residual, _, _, _ []float64, _ *float64) { residual[3] = math.NaN() },
	func(residual, _, _, _ []float64, _ *float64) { residual[3] = math.Inf(1) },
	func(residual, _, _, _ []float64, _ *float64) { clear(residual) },
	func(_, _, _, threshold []float64, _ *float64) { threshold[2] = math.NaN() },
	func(_, _, _, threshold []float64, _ *float64) { threshold[2] = math.Inf(1) },
	func(_, _, _, threshold []float64, _ *float64) { clear(threshold) },
	func(_, _, _, threshold []float64, _ *float64) { threshold[2], threshold[1] = -100, math.Inf(-1) },
	func(_, coef, _, _ []float64, _ *float64) { coef[2] = math.NaN() },
	func(_, coef, _, _ []float64, _ *float64) { coef[2], coef[1] = math.Copysign(0, -1), 7 },
	func(_, _, inverse, _ []float64, _ *float64) { inverse[2] = math.Inf(1) },
	func(_, _, inverse, _ []float64, _ *float64) { inverse[2], inverse[1] = 0, math.NaN() },
	func(_, _, _, _ []float64, ridge *float64) { *ridge = 0x1p-1070 },
	func(_, _, _, _ []float64, ridge *float64) { *ridge = 0 },
}

func TestGramEpochReturnsTheDocumentedBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	var cases []*kernels.GramEpoch
	for m := 1; m < 80; m++ {
		cases = append(cases, newGramEpoch(rng, m, rng.IntN(m+3)))
	}
	cases = append(cases, newGramEpoch(rng, 700, 600), newGramEpoch(rng, 3, 9000))
	long := newGramEpoch(rng, 1, 3) // rows longer than a block: the same row three times
	long.Gram = make([]float64, kernels.Block+5)
	long.Correlation = make([]float64, kernels.Block+5)
	kinds[0].fill(rng, long.Gram)
	kinds[0].fill(rng, long.Correlation)
	cases = append(cases, long)
	for _, damage := range damages {
		e := newGramEpoch(rng, 35, 20)
		e.Slot[0], e.Slot[1], e.Slot[2] = 3, 3, 5
		damage(e.Correlation, e.Coef, e.Inverse, e.Threshold, &e.Ridge)
		cases = append(cases, e)
	}
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for _, c := range cases {
			got, want := cloneGram(c), cloneGram(c)
			for range 4 {
				if u, v := k.GramEpoch(got), referenceGram(want); u != v {
					t.Fatalf("m = %d: %d moved, want %d", len(c.Correlation), u, v)
				}
				compareGram(t, got, want)
			}
		}
	})
}

func TestMisuseOfGramEpochPanics(t *testing.T) {
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for name, damage := range map[string]func(e *kernels.GramEpoch){
			"short Grad":      func(e *kernels.GramEpoch) { e.Grad = e.Grad[:2] },
			"short Gram":      func(e *kernels.GramEpoch) { e.Slot[0], e.Gram = 9, e.Gram[:len(e.Gram)-1] },
			"slot":            func(e *kernels.GramEpoch) { e.Slot[2] = 10 },
			"negative slot":   func(e *kernels.GramEpoch) { e.Slot[2] = -1 },
			"negative stride": func(e *kernels.GramEpoch) { e.Stride = -1 },
			"overlap":         func(e *kernels.GramEpoch) { e.Correlation = e.Gram[:10] },
		} {
			e := newGramEpoch(rand.New(rand.NewPCG(1, 1)), 10, 5)
			damage(e)
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				k.GramEpoch(e)
			}()
		}
	})
}

func newDenseEpoch(rng *rand.Rand, n, w int) *kernels.DenseEpoch {
	e := &kernels.DenseEpoch{
		Residual: make([]float64, n),
		From:     make([]int64, w), Coef: make([]float64, w), Square: make([]float64, w), Inverse: make([]float64, w),
		Threshold: make([]float64, w), Grad: make([]float64, w), Ridge: 0.25,
	}
	kinds[0].fill(rng, e.Residual)
	for _, k := range rng.Perm(w) {
		for range rng.IntN(4) { // a gap
			e.Values = append(e.Values, math.NaN())
		}
		e.From[k] = int64(len(e.Values))
		for range n {
			v := rng.NormFloat64()
			e.Values = append(e.Values, v)
			e.Square[k] += v * v
		}
		e.Inverse[k] = 1 / (e.Square[k] + e.Ridge)
		e.Threshold[k] = math.Abs(rng.NormFloat64()) * math.Sqrt(e.Square[k])
	}
	return e
}

func cloneDense(e *kernels.DenseEpoch) *kernels.DenseEpoch {
	c := *e
	c.Residual, c.Coef, c.Grad = slices.Clone(e.Residual), slices.Clone(e.Coef), slices.Clone(e.Grad)
	return &c
}

func referenceDense(e *kernels.DenseEpoch) (moved int) {
	for k, old := range e.Coef {
		column := e.Values[e.From[k]:][:len(e.Residual)]
		var b float64
		e.Grad[k], b = prox(reference.Dot(column, e.Residual), old, e.Square[k], e.Inverse[k], e.Threshold[k], e.Ridge)
		if b != old {
			e.Coef[k] = b
			reference.Axpy(old-b, column, e.Residual)
			moved++
		}
	}
	return moved
}

func compareDense(t *testing.T, got, want *kernels.DenseEpoch) {
	t.Helper()
	compare(t, "residual", got.Residual, want.Residual)
	compare(t, "coef", got.Coef, want.Coef)
	compare(t, "grad", got.Grad, want.Grad)
}

// vanish makes all products of columns and residual underflow to −0, and
// coefficients +0, so that the sign of a correlation shows in the gradient.
func vanish(values, residual, coef []float64) {
	for i := range values {
		values[i] = 1e-200
	}
	for i := range residual {
		residual[i] = -1e-200
	}
	clear(coef)
}

func TestDenseEpochReturnsTheDocumentedBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	var cases []*kernels.DenseEpoch
	for n := range 140 {
		cases = append(cases, newDenseEpoch(rng, n, rng.IntN(12)))
	}
	cases = append(cases,
		newDenseEpoch(rng, 1, 9000), newDenseEpoch(rng, 3468, 5), newDenseEpoch(rng, 4097, 3),
		newDenseEpoch(rng, kernels.Block, 4), newDenseEpoch(rng, kernels.Block+1, 3))
	for _, damage := range damages {
		e := newDenseEpoch(rng, 45, 6)
		damage(e.Residual, e.Coef, e.Inverse, e.Threshold, &e.Ridge)
		cases = append(cases, e)
	}
	for n := range 70 { // all partial sums −0
		e := newDenseEpoch(rng, n, 3)
		vanish(e.Values, e.Residual, e.Coef)
		cases = append(cases, e)
	}
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for _, c := range cases {
			got, want := cloneDense(c), cloneDense(c)
			for range 4 {
				if u, v := k.DenseEpoch(got), referenceDense(want); u != v {
					t.Fatalf("n = %d: %d moved, want %d", len(c.Residual), u, v)
				}
				compareDense(t, got, want)
			}
		}
	})
}

func TestMisuseOfDenseEpochPanics(t *testing.T) {
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for name, damage := range map[string]func(e *kernels.DenseEpoch){
			"short Grad":   func(e *kernels.DenseEpoch) { e.Grad = e.Grad[:2] },
			"short Values": func(e *kernels.DenseEpoch) { e.Values = e.Values[:len(e.Values)-1] },
			"From":         func(e *kernels.DenseEpoch) { e.From[2] = -1 },
			"overlap":      func(e *kernels.DenseEpoch) { e.Residual = e.Values[:10] },
		} {
			e := newDenseEpoch(rand.New(rand.NewPCG(1, 1)), 10, 5)
			damage(e)
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				k.DenseEpoch(e)
			}()
		}
	})
}

func TestEpochsDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	sparse, gram, dense := newEpoch(rng, 30, []int{3, 4, 5}), newGramEpoch(rng, 30, 20), newDenseEpoch(rng, 30, 20)
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for name, f := range map[string]func(){
			"epoch": func() { k.Epoch(sparse) }, "gram": func() { k.GramEpoch(gram) }, "dense": func() { k.DenseEpoch(dense) },
		} {
			if n := testing.AllocsPerRun(10, f); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
	})
}

// BenchmarkGramEpoch and BenchmarkDenseEpoch compare every kernel with a loop that calls
// Axpy, and Dot, for one coordinate after another, where one coefficient in eight moves
// and where all move.
func BenchmarkGramEpoch(b *testing.B) {
	for _, m := range []int{20, 100, 500, 2000} {
		for _, share := range []int{8, 1} {
			rng := rand.New(rand.NewPCG(1, 2))
			e := newGramEpoch(rng, m, m)
			start := cloneGram(e)
			for k := range e.Threshold {
				if e.Threshold[k] = 0; k%share != 0 {
					e.Threshold[k] = 1e9
				}
				for i := range e.Gram {
					e.Gram[i] *= 1e-3
				}
			}
			for _, k := range kernels.Available()[1:] {
				for name, run := range map[string]func(){
					"kernel": func() { k.GramEpoch(e) },
					"loop": func() {
						for i, a := range e.Slot {
							c, old := e.Correlation[a], e.Coef[i]
							var v float64
							e.Grad[i], v = prox(c, old, e.Square[i], e.Inverse[i], e.Threshold[i], e.Ridge)
							if v != old {
								e.Coef[i] = v
								k.Axpy(old-v, e.Gram[int(a)*e.Stride:][:m], e.Correlation)
							}
						}
					},
				} {
					b.Run(fmt.Sprintf("%s/set=%s/m=%d/every=%d", name, k.Name, m, share), func(b *testing.B) {
						for b.Loop() {
							copy(e.Correlation, start.Correlation)
							clear(e.Coef)
							run()
						}
					})
				}
			}
		}
	}
}

func BenchmarkDenseEpoch(b *testing.B) {
	for _, n := range []int{16, 72, 300, 3468} {
		for _, share := range []int{8, 1} {
			rng := rand.New(rand.NewPCG(1, 2))
			const w = 64
			e := newDenseEpoch(rng, n, w)
			start := cloneDense(e)
			for k := range e.Threshold {
				if e.Threshold[k] = 0; k%share != 0 {
					e.Threshold[k] = 1e9
				}
			}
			for _, k := range kernels.Available()[1:] {
				for name, run := range map[string]func(){
					"kernel": func() { k.DenseEpoch(e) },
					"loop": func() {
						for i, from := range e.From {
							column, old := e.Values[from:][:n], e.Coef[i]
							var v float64
							e.Grad[i], v = prox(k.Dot(column, e.Residual), old, e.Square[i], e.Inverse[i], e.Threshold[i], e.Ridge)
							if v != old {
								e.Coef[i] = v
								k.Axpy(old-v, column, e.Residual)
							}
						}
					},
				} {
					b.Run(fmt.Sprintf("%s/set=%s/n=%d/every=%d", name, k.Name, n, share), func(b *testing.B) {
						for b.Loop() {
							copy(e.Residual, start.Residual)
							clear(e.Coef)
							run()
						}
					})
				}
			}
		}
	}
}
