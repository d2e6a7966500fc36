package sparse

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// singles are the columns of a dense matrix in 32 bits, once they have been asked for.
type singles struct {
	once   once
	values []float32
	missed []float64 // by column, the norm of what that leaves out
}

const (
	// leastSingle is how many values a matrix has at least that is worth a copy: passes over fewer do not wait for
	// memory.
	leastSingle = 1 << 18
	// mostMissed is the share of a column's norm that the copy may leave out: twice what rounding does where nothing
	// overflows or vanishes.
	mostMissed = 0x1p-23
)

// SingleBytes returns how many bytes the copy of a matrix in 32 bits takes, 0 of one that has none; see [View.Single].
func SingleBytes(m Matrix) int64 {
	x, ok := m.(*Dense)
	if !ok || len(x.values) < leastSingle {
		return 0
	}
	return 4*int64(len(x.values)) + 8*int64(x.p)
}

// Single bounds the products of columns with vectors by a copy of a large dense matrix in 32 bits, half of what they
// meet in memory otherwise.
type Single struct {
	v       *View
	singles *singles
	most    float64 // of the norms that the columns of the view miss
}

// Single returns the copy of X, made at the first call, which stays with X. It does not exist unless X is dense
// and large, or where numbers are too large or too small.
func (v *View) Single() Single {
	if SingleBytes(v.x) == 0 {
		return Single{}
	}
	x := v.x.(*Dense)
	x.singles.once.Do(func() { x.singles.make(v.k, x) })
	s := Single{v: v, singles: &x.singles}
	for j, missed := range x.singles.missed {
		if v.scale != nil {
			missed *= math.Abs(v.scale[j])
		}
		s.most = max(s.most, missed)
	}
	return s
}

// Exists reports whether there is a copy.
func (s Single) Exists() bool { return s.singles != nil && s.singles.missed != nil }

// Missed is the most that [Single.Bound] adds for a vector of this norm.
func (s Single) Missed(norm float64) float64 { return float64(s.most * norm) }

// Bound sets out[k] to what |X_jᵀu| is at most, with the sign of the copy's product, for the columns j of
// [View.Correlate] and a vector u of this norm: |x̂_jᵀu| + ‖x_j − x̂_j‖₂‖u‖₂.
func (s Single) Bound(from, to int, u []float64, norm float64, out []float64) {
	x, out := s.v.x.(*Dense), out[:to-from]
	s.v.k.DotDenseSingle(s.singles.values[from*x.n:to*x.n], u, out)
	for k, missed := range s.singles.missed[from:to] {
		out[k] += math.Copysign(float64(missed*norm), out[k])
	}
	if scale := s.v.scale; scale != nil {
		for k, by := range scale[from:to] { // columns are stored in order
			out[k] *= by
		}
	}
}

func (s *singles) make(k *kernels.Set, x *Dense) {
	values, missed := make([]float32, len(x.values)), make([]float64, x.p)
	pace := k.Pace()
	for j := range missed {
		pace.Did(x.n)
		column, copied := x.values[j*x.n:][:x.n], values[j*x.n:][:x.n]
		var square, left float64
		for i, t := range column {
			copied[i] = float32(t)
			rest := t - float64(copied[i])
			square, left = math.FMA(t, t, square), math.FMA(rest, rest, left)
		}
		if missed[j] = math.Sqrt(left); !(missed[j] <= mostMissed*math.Sqrt(square)) {
			return
		}
	}
	s.values, s.missed = values, missed
}
