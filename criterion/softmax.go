package criterion

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// Softmax is the mean cross-entropy of the scores of q classes, [CrossEntropy] as a
// [Criterion]: y holds classes 0 … q−1, and m, slope and curvature have the q entries of a row
// side by side. The curvature, which couples the scores of a row, is replaced by a diagonal
// upper bound, P/W.
type Softmax struct {
	Classes int
	Weights []float64 // of all rows, as in [Weighted]; nil: all 1
}

// Name returns "cross-entropy".
func (Softmax) Name() string { return "cross-entropy" }

// Eval implements [Criterion].
func (c Softmax) Eval(rows []int32, y, m, slope, curvature []float64) float64 {
	return c.eval(nil, rows, y, m, slope, curvature)
}

func (c Softmax) eval(k *kernels.Set, rows []int32, y, m, slope, curvature []float64) float64 {
	total, pace := sum(k, c.Weights, rows), k.Pace()
	share := make([]float64, c.Classes)
	var value float64
	for _, i := range rows {
		pace.Did(c.Classes)
		s, at, own := 1.0, int(i)*c.Classes, int(y[i])
		if c.Weights != nil {
			s = c.Weights[i]
		}
		s /= total
		value = math.FMA(s, shares(m[at:][:c.Classes], own, share), value)
		if slope == nil {
			continue
		}
		for k, p := range share {
			curvature[at+k] = s * p
			if k == own {
				p--
			}
			slope[at+k] = s * p
		}
	}
	return value
}

// shares sets p to the softmax of the scores m of a row, and returns the loss of the row if own is its class.
func shares(m []float64, own int, p []float64) float64 {
	top := math.Inf(-1)
	for _, v := range m {
		top = max(top, v)
	}
	var total float64
	for k, v := range m {
		p[k] = kernels.Exp(v - top)
		total += p[k]
	}
	for k := range p {
		p[k] /= total
	}
	return kernels.Log(total) - (m[own] - top)
}
