package kernels

import "math"

// DenseEpoch is one epoch of cyclic coordinate descent for
//
//	½‖r‖² + Σ_k Threshold[k]·|β_k| + ½·Ridge·Σ_k β_k²
//
// over w packed dense columns x_k of n = len(Residual) entries. For k = 0 … w−1:
//
//	c = x_kᵀr, as Dot
//	Grad[k] = c − Ridge·β_k
//	b = ST(Square[k]·β_k + c, Threshold[k])·Inverse[k]
//
// and if b differs from β_k: r ← r + (β_k − b)·x_k, then β_k ← b. ST and fused
// operations are those of [Epoch].
//
// Slices From to Grad have length w, or are longer; w = len(Coef).
type DenseEpoch struct {
	Values   []float64
	Residual []float64 // r, updated

	From      []int64   // column k has the entries Values[From[k]:From[k]+n]
	Coef      []float64 // β, updated
	Square    []float64 // ‖x_k‖²
	Inverse   []float64 // 1/(Square[k] + Ridge)
	Threshold []float64
	Grad      []float64 // written

	Ridge float64
}

//go:noinline
func newDenseEpoch(loop func(e *DenseEpoch, from, to int) (moved int), s *Set) func(e *DenseEpoch) (moved int) {
	return func(e *DenseEpoch) (moved int) {
		w, n := len(e.Coef), len(e.Residual)
		if min(len(e.From), len(e.Square), len(e.Inverse), len(e.Threshold), len(e.Grad)) < w {
			panic("kernels: DenseEpoch: a slice is shorter than Coef")
		}
		if overlap(e.Values, e.Residual) {
			panic("kernels: DenseEpoch: Values and Residual overlap")
		}
		for _, from := range e.From[:w] {
			if from < 0 || from > int64(len(e.Values)-n) {
				panic("kernels: DenseEpoch: a column leaves Values")
			}
			raceRead(e.Values[from:][:n])
		}
		raceWrite(e.Residual)
		if loop == nil || n == 0 || n > Block {
			for k := range w {
				moved += e.coordinate(s, k)
			}
			return moved
		}
		step := max(1, Block/(2*n)) // each column may be used twice
		for k := 0; k < w; k += step {
			moved += loop(e, k, min(w, k+step))
			s.between(w - k - step)
		}
		return moved
	}
}

// coordinate does one step of the epoch; it is the reference for the assembly.
func (e *DenseEpoch) coordinate(s *Set, k int) (moved int) {
	column := e.Values[e.From[k]:][:len(e.Residual)]
	c, old := s.Dot(column, e.Residual), e.Coef[k]
	e.Grad[k] = c - float64(e.Ridge*old)
	b := float64(softThreshold(math.FMA(e.Square[k], old, c), e.Threshold[k]) * e.Inverse[k])
	if b == old {
		return 0
	}
	e.Coef[k] = b
	s.Axpy(old-b, column, e.Residual)
	return 1
}
