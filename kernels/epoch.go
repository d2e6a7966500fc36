package kernels

import "math"

// Epoch is one epoch of cyclic coordinate descent for
//
//	½‖r‖² + Σ_k Threshold[k]·|β_k| + ½·Ridge·Σ_k β_k²,
//
// over w packed sparse columns x_k that are centred implicitly: x_k stands for
// x_k − Mean[k]·1, and the residual r is Residual + Offset·1. For k = 0 … w−1:
//
//	c = Σ values·Residual[rows] + Offset·Total·Mean[k]     correlation with the residual
//	Grad[k] = c − Ridge·β_k
//	b = ST(Square[k]·β_k + c, Threshold[k]) / (Square[k] + Ridge)
//
// and if b differs from β_k, with d = b − β_k:
//
//	β_k ← b,  Residual[rows] ← Residual[rows] − d·values,  Offset ← Offset + d·Mean[k]
//
// where ST(z, t) = sign(z)·max(|z| − t, 0). Products that are added are fused,
// save for Ridge·β_k and Offset·Total, which round first.
//
// Slices From to Grad have length w, or are longer; w = len(Coef).
type Epoch struct {
	From, To []int64   // column k has the entries From[k] ≤ i < To[k] of Rows and Values
	Rows     []int32   // in [0, len(Residual)), distinct within a column
	Values   []float64 // as many as Rows

	Residual  []float64 // updated
	Coef      []float64 // β, updated
	Square    []float64 // ‖x_k − Mean[k]·1‖²
	Threshold []float64
	Mean      []float64
	Grad      []float64 // written

	Total, Ridge float64 // sum of the row weights (n where there are none), and see above
	Offset       float64 // updated
}

//go:noinline
func newEpoch(loop func(e *Epoch, from, to int) (updated int), s *Set) func(e *Epoch) (updated int) {
	return func(e *Epoch) (updated int) {
		w := len(e.Coef)
		if min(len(e.From), len(e.To), len(e.Square), len(e.Threshold), len(e.Mean), len(e.Grad)) < w {
			panic("kernels: Epoch: a slice is shorter than Coef")
		}
		if len(e.Values) != len(e.Rows) {
			panic("kernels: Epoch: lengths of Values and Rows differ")
		}
		if overlap(e.Values, e.Residual) {
			panic("kernels: Epoch: Values and Residual overlap")
		}
		for k := 0; k < w; {
			if loop != nil {
				if n := e.run(k); n > 0 {
					updated += loop(e, k, k+n)
					k += n
					s.between(w - k)
					continue
				}
			}
			updated += e.coordinate(s, k)
			k++
		}
		return updated
	}
}

// run returns the number of columns from k on that one call of the assembly
// does: at most half a block of entries, since each may be used twice. It is 0
// if the first column alone has more.
func (e *Epoch) run(k int) int {
	entries := 0
	for last := k; last < len(e.Coef); last++ {
		from, to := e.From[last], e.To[last]
		if from < 0 || to < from || to > int64(len(e.Rows)) {
			panic("kernels: Epoch: a column leaves Rows")
		}
		if entries += int(to - from); entries > Block/2 || last == k+Block {
			return last - k
		}
		raceRead(e.Values[from:to])
		raceRead(e.Rows[from:to])
		raceScatter(e.Rows[from:to], e.Residual)
	}
	return len(e.Coef) - k
}

// coordinate does one step of the epoch; it is the reference for the assembly.
func (e *Epoch) coordinate(s *Set, k int) (updated int) {
	from, to := e.From[k], e.To[k]
	values, rows := e.Values[from:to], e.Rows[from:to]
	c := math.FMA(float64(e.Offset*e.Total), e.Mean[k], s.DotIndexed(values, rows, e.Residual))
	old := e.Coef[k]
	e.Grad[k] = c - float64(e.Ridge*old)
	b := softThreshold(math.FMA(e.Square[k], old, c), e.Threshold[k]) / (e.Square[k] + e.Ridge)
	if b == old {
		return 0
	}
	e.Coef[k] = b
	d := b - old
	s.AxpyIndexed(-d, values, rows, e.Residual)
	e.Offset = math.FMA(d, e.Mean[k], e.Offset)
	return len(values)
}

func softThreshold(z, t float64) float64 {
	switch {
	case z > t:
		return z - t
	case z < -t:
		return z + t
	default:
		return 0
	}
}
