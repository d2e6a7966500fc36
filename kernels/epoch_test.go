package kernels_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

// newEpoch makes a problem of n rows and the given column lengths, with gaps
// between the packed columns and in no particular order.
func newEpoch(rng *rand.Rand, n int, lengths []int) *kernels.Epoch {
	w := len(lengths)
	e := &kernels.Epoch{
		From: make([]int64, w), To: make([]int64, w), Residual: make([]float64, n),
		Coef: make([]float64, w), Square: make([]float64, w), Threshold: make([]float64, w),
		Mean: make([]float64, w), Grad: make([]float64, w), Total: float64(n), Ridge: 0.25,
	}
	for i := range e.Residual {
		e.Residual[i] = rng.NormFloat64()
	}
	for _, k := range rng.Perm(w) {
		e.From[k] = int64(len(e.Rows))
		sum, square := 0.0, 0.0
		for _, row := range rng.Perm(n)[:lengths[k]] {
			v := rng.NormFloat64()
			e.Rows = append(e.Rows, int32(row))
			e.Values = append(e.Values, v)
			sum += v
			square += v * v
		}
		e.To[k] = int64(len(e.Rows))
		for range rng.IntN(3) {
			e.Rows = append(e.Rows, -1)
			e.Values = append(e.Values, math.NaN())
		}
		e.Mean[k] = sum / float64(n)
		e.Square[k] = square - float64(n)*e.Mean[k]*e.Mean[k]
		e.Threshold[k] = math.Abs(rng.NormFloat64()) * math.Sqrt(square)
	}
	return e
}

func cloneEpoch(e *kernels.Epoch) *kernels.Epoch {
	c := *e
	c.Residual, c.Coef, c.Grad = slices.Clone(e.Residual), slices.Clone(e.Coef), slices.Clone(e.Grad)
	return &c
}

// referenceEpoch states the definition once more.
func referenceEpoch(e *kernels.Epoch) (updated int) {
	for k, old := range e.Coef {
		rows, values := e.Rows[e.From[k]:e.To[k]], e.Values[e.From[k]:e.To[k]]
		shift := e.Offset * e.Total
		c := math.FMA(shift, e.Mean[k], reference.DotIndexed(values, rows, e.Residual))
		ridge := e.Ridge * old
		e.Grad[k] = c - ridge
		z := math.FMA(e.Square[k], old, c)
		b := 0.0
		if z > e.Threshold[k] {
			b = z - e.Threshold[k]
		} else if z < -e.Threshold[k] {
			b = z + e.Threshold[k]
		}
		b /= e.Square[k] + e.Ridge
		if b != old {
			e.Coef[k] = b
			reference.AxpyIndexed(-(b - old), values, rows, e.Residual)
			e.Offset = math.FMA(b-old, e.Mean[k], e.Offset)
			updated += len(rows)
		}
	}
	return updated
}

func compareEpochs(t *testing.T, got, want *kernels.Epoch) {
	t.Helper()
	compare(t, "residual", got.Residual, want.Residual)
	compare(t, "coef", got.Coef, want.Coef)
	compare(t, "grad", got.Grad, want.Grad)
	compare(t, "offset", []float64{got.Offset}, []float64{want.Offset})
}

func TestEpochReturnsTheDocumentedBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	var cases []*kernels.Epoch
	for size := range 60 {
		lengths := make([]int, size)
		for k := range lengths {
			lengths[k] = rng.IntN(size + 1)
		}
		cases = append(cases, newEpoch(rng, 2*size+1, lengths))
	}
	cases = append(cases,
		newEpoch(rng, 20000, []int{3, 4096, 4097, 1, 8192, 8193, 20000, 4095, 2}), // across blocks
		newEpoch(rng, 40, make([]int, 9000)))                                      // empty columns, more than a block
	for _, damage := range []func(e *kernels.Epoch){
		func(e *kernels.Epoch) { e.Residual[3] = math.NaN() },
		func(e *kernels.Epoch) { e.Residual[3] = math.Inf(1) },
		func(e *kernels.Epoch) { e.Threshold[2] = math.NaN() },
		func(e *kernels.Epoch) { e.Threshold[2] = math.Inf(1) },
		func(e *kernels.Epoch) { e.Threshold[2] = 0 },
		func(e *kernels.Epoch) { e.Coef[2] = math.NaN() },
		func(e *kernels.Epoch) { e.Coef[2] = math.Copysign(0, -1) },
		func(e *kernels.Epoch) { e.Square[2], e.Ridge = 0, 0 },
		func(e *kernels.Epoch) { e.Ridge = 0x1p-1070 },
		func(e *kernels.Epoch) { e.Offset = -3 },
	} {
		e := newEpoch(rng, 12, []int{3, 12, 5, 4, 6, 7})
		damage(e)
		cases = append(cases, e)
	}
	e := newEpoch(rng, 12, []int{3, 12, 5, 4, 6, 7}) // all partial sums −0
	vanish(e.Values, e.Residual, e.Coef)
	clear(e.Mean)
	e.Offset = -1 // whose product with a mean is −0 too
	cases = append(cases, e)
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for _, c := range cases {
			got, want := cloneEpoch(c), cloneEpoch(c)
			for range 4 {
				if u, v := k.Epoch(got), referenceEpoch(want); u != v {
					t.Fatalf("%d entries updated, want %d", u, v)
				}
				compareEpochs(t, got, want)
			}
		}
	})
}

// TestEpochsSolveTheCentredProblem checks that at the fixed point the optimality
// conditions hold for explicitly centred columns and residual.
func TestEpochsSolveTheCentredProblem(t *testing.T) {
	const n = 60
	rng := rand.New(rand.NewPCG(31, 32))
	lengths := make([]int, 20)
	for k := range lengths {
		lengths[k] = 5 + rng.IntN(20)
	}
	e := newEpoch(rng, n, lengths)
	for k := range e.Threshold {
		e.Threshold[k] *= 0.3
	}
	mean := 0.0
	for _, v := range e.Residual {
		mean += v / n
	}
	for i := range e.Residual {
		e.Residual[i] -= mean
	}
	k, err := kernels.Active()
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		if k.Epoch(e) == 0 {
			break
		}
	}
	for j, b := range e.Coef {
		x := make([]float64, n)
		for i := e.From[j]; i < e.To[j]; i++ {
			x[e.Rows[i]] = e.Values[i]
		}
		c := 0.0
		for i := range x {
			c += (x[i] - e.Mean[j]) * (e.Residual[i] + e.Offset)
		}
		violation := math.Abs(c) - e.Threshold[j]
		if b != 0 {
			violation = math.Abs(c - e.Ridge*b - math.Copysign(e.Threshold[j], b))
		}
		if violation > 1e-10 {
			t.Errorf("column %d: the optimality condition is violated by %g", j, violation)
		}
	}
}

func TestMisuseOfEpochPanics(t *testing.T) {
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for name, damage := range map[string]func(e *kernels.Epoch){
			"short Grad":   func(e *kernels.Epoch) { e.Grad = e.Grad[:2] },
			"short Values": func(e *kernels.Epoch) { e.Values = e.Values[:4] },
			"overlap":      func(e *kernels.Epoch) { e.Residual = e.Values[:1] },
			"From":         func(e *kernels.Epoch) { e.From[2] = -1 },
			"To":           func(e *kernels.Epoch) { e.To[2] = int64(len(e.Rows)) + 1 },
			"order":        func(e *kernels.Epoch) { e.To[2] = e.From[2] - 1 },
		} {
			e := newEpoch(rand.New(rand.NewPCG(1, 1)), 10, []int{3, 4, 5})
			damage(e)
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				k.Epoch(e)
			}()
		}
	})
}
