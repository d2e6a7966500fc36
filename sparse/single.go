package sparse

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// singles is a copy of a dense matrix in float32, once it has been requested.
type singles struct {
	once   once
	values []float32
	errors []float64 // ‖x_j − x̂_j‖₂ of each column x_j and its copy x̂_j
}

const (
	// leastSingle is the least number of values of a matrix that is worth a copy: passes over fewer are not
	// limited by memory bandwidth.
	leastSingle = 1 << 18
	// mostRelativeError bounds ‖x_j − x̂_j‖₂/‖x_j‖₂: it is twice what rounding causes where nothing overflows or
	// underflows.
	mostRelativeError = 0x1p-23
)

// SingleBytes returns the number of bytes of the float32 copy of a matrix, 0 for a matrix that has none; see
// [View.Single].
func SingleBytes(m Matrix) int64 {
	x, ok := m.(*Dense)
	if !ok || len(x.values) < leastSingle {
		return 0
	}
	return 4*int64(len(x.values)) + 8*int64(x.p)
}

// Single bounds the products of columns with vectors by means of a float32 copy of a large dense matrix, which
// halves the memory traffic.
type Single struct {
	v            *View
	singles      *singles
	largestError float64 // the largest error ‖x_j − x̂_j‖₂ of the view's columns
}

// Single returns the float32 copy of X, which is made at the first call and stays with X. It does not exist
// unless X is dense and large, nor where values are too large or too small for it.
func (v *View) Single() Single {
	if SingleBytes(v.x) == 0 {
		return Single{}
	}
	x := v.x.(*Dense)
	x.singles.once.Do(func() { x.singles.make(v.k, x) })
	s := Single{v: v, singles: &x.singles}
	for j, missed := range x.singles.errors {
		if v.scale != nil {
			missed *= math.Abs(v.scale[j])
		}
		s.largestError = max(s.largestError, missed)
	}
	return s
}

// Exists reports whether there is a copy.
func (s Single) Exists() bool { return s.singles != nil && s.singles.errors != nil }

// Missed returns the most that [Single.Bound] adds for a vector of this norm.
func (s Single) Missed(norm float64) float64 { return float64(s.largestError * norm) }

// Bound sets out[k] to an upper bound of |X_jᵀu|, with the sign of the copy's product, for the columns j of
// [View.Correlate] and a vector u of this norm: |x̂_jᵀu| + ‖x_j − x̂_j‖₂‖u‖₂.
func (s Single) Bound(from, to int, u []float64, norm float64, out []float64) {
	x, out := s.v.x.(*Dense), out[:to-from]
	s.v.k.DotDenseSingle(s.singles.values[from*x.n:to*x.n], u, out)
	for k, missed := range s.singles.errors[from:to] {
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
		if missed[j] = math.Sqrt(left); !(missed[j] <= mostRelativeError*math.Sqrt(square)) {
			return
		}
	}
	s.values, s.errors = values, missed
}
