package sparse

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// WideScales is the ratio of standard deviations above which columns count as differing widely in scale: one
// strength for all columns then penalises some of them a thousand times as much as others for the same effect.
const WideScales = 1000

// Scales is the range of the standard deviations of the columns, constant columns left out. All fields are 0
// where no column varies.
type Scales struct {
	Least, Most             float64 // standard deviations over all rows
	LeastColumn, MostColumn int     // the first columns that have them
}

// ScalesOf returns the range of the standard deviations of the columns of x, over all rows with equal weight.
// It takes one pass over x, or none where a centred [View] of all rows has been made before. The error is that
// of [NewView].
func ScalesOf(k *kernels.Set, x Matrix) (Scales, error) {
	n, p := x.Dims()
	if n == 0 || p == 0 {
		return Scales{}, nil
	}
	v, err := NewView(k, x, nil, true)
	if err != nil {
		return Scales{}, err
	}
	var s Scales
	root, m, rounding := math.Sqrt(float64(n)), v.columnMoments(), v.rounding()
	for j, norm := range m.norms {
		if norm <= float64(rounding*math.Abs(m.means[j])) {
			continue
		}
		d := norm / root
		if s.Most == 0 || d < s.Least {
			s.Least, s.LeastColumn = d, j
		}
		if d > s.Most {
			s.Most, s.MostColumn = d, j
		}
	}
	return s, nil
}

// Ratio returns the largest standard deviation divided by the smallest; 1 where no column varies.
func (s Scales) Ratio() float64 {
	if s.Most == 0 {
		return 1
	}
	return s.Most / s.Least
}

// Wide reports whether columns differ by more than [WideScales].
func (s Scales) Wide() bool { return s.Ratio() > WideScales }
