package kernels

import "math"

// GramEpoch is one epoch of cyclic coordinate descent for the quadratic
//
//	½βᵀGβ − qᵀβ + Σ_k Threshold[k]·|β_k| + ½·Ridge·Σ_k β_k²
//
// that keeps C = q − Gβ up to date. Position k stands for row and column
// Slot[k] of G. For k = 0 … w−1:
//
//	c = C[Slot[k]]
//	Grad[k] = c − Ridge·β_k
//	b = ST(Square[k]·β_k + c, Threshold[k])·Inverse[k]
//
// and if b differs from β_k: C ← C + (β_k − b)·G[Slot[k]], then β_k ← b. ST and
// fused operations are those of [Epoch].
//
// Slices Slot to Grad have length w, or are longer; w = len(Coef).
type GramEpoch struct {
	Gram        []float64 // row a of G begins at a·Stride
	Stride      int
	Correlation []float64 // C, one entry for each column of G: updated

	Slot      []int32
	Coef      []float64 // β, updated
	Square    []float64
	Inverse   []float64 // 1/(Square[k] + Ridge): steps wait for one another, and a division would take most of the time
	Threshold []float64
	Grad      []float64 // written

	Ridge float64
}

//go:noinline
func newGramEpoch(
	loop func(e *GramEpoch, from, to, moves int) (next, moved int), s *Set,
) func(e *GramEpoch) (moved int) {
	return func(e *GramEpoch) (moved int) {
		w, m := len(e.Coef), len(e.Correlation)
		if min(len(e.Slot), len(e.Square), len(e.Inverse), len(e.Threshold), len(e.Grad)) < w {
			panic("kernels: GramEpoch: a slice is shorter than Coef")
		}
		if overlap(e.Gram, e.Correlation) {
			panic("kernels: GramEpoch: Gram and Correlation overlap")
		}
		for _, a := range e.Slot[:w] {
			if a < 0 || int(a) >= m || e.Stride < 0 || int(a)*e.Stride+m > len(e.Gram) {
				panic("kernels: GramEpoch: a slot leaves Gram or Correlation")
			}
			raceRead(e.Gram[int(a)*e.Stride:][:m])
		}
		raceWrite(e.Correlation)
		if loop == nil || m > Block {
			for k := range w {
				moved += e.coordinate(s, k)
			}
			return moved
		}
		for k := 0; k < w; {
			next, n := loop(e, k, min(w, k+Block), max(1, Block/m))
			moved += n
			k = next
			s.between(w - k)
		}
		return moved
	}
}

// coordinate does one step of the epoch; it is the reference for the assembly.
func (e *GramEpoch) coordinate(s *Set, k int) (moved int) {
	a := int(e.Slot[k])
	c, old := e.Correlation[a], e.Coef[k]
	e.Grad[k] = c - float64(e.Ridge*old)
	b := float64(softThreshold(math.FMA(e.Square[k], old, c), e.Threshold[k]) * e.Inverse[k])
	if b == old {
		return 0
	}
	e.Coef[k] = b
	s.Axpy(old-b, e.Gram[a*e.Stride:][:len(e.Correlation)], e.Correlation)
	return 1
}
