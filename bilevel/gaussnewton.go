package bilevel

import (
	"math"

	"golang.org/x/sync/errgroup"
)

// The curvature of the cross-entropy in the λ's of the classes, by Gauss and Newton:
// that of the softmax between scores that move as they do here, knots aside,
//
//	H_kl = Σᵢ (sᵢ/S)·(P_ik·1{k = l} − P_ik·P_il)·J_ik·J_il,  J_ik = ∂m_ik/∂λ_k,
//
// which is positive semidefinite. The hypergradients have J at hand.

// prepareCurvature makes room.
func (m *Multiclass) prepareCurvature() {
	for _, f := range m.folds {
		if f.motion != nil {
			continue
		}
		f.own, f.motion = make([]float64, len(m.classes)), make([][]float64, len(m.classes))
		for k := range f.motion {
			f.motion[k] = make([]float64, len(f.rows))
		}
	}
}

// weigh turns the movements of a class's scores into P·J·√(s/S), and keeps the sum of
// their squares over P.
func (f *multiclassFold) weigh(k int) {
	motion := f.motion[k]
	total := f.criterion().Total(len(f.rows))
	var own float64
	for at, j := range motion {
		share, weight := f.scores[k][at], f.weight(at)/total
		own = math.FMA(weight*share*j, j, own)
		motion[at] = math.Sqrt(weight) * share * j
	}
	f.own[k] = own
}

// curvature returns the mean of H over the folds, row by row.
func (m *Multiclass) curvature() []float64 {
	q := len(m.classes)
	h := make([]float64, q*q)
	share := 1 / float64(len(m.folds))
	var group errgroup.Group
	group.SetLimit(m.spec.Threads)
	for k := range q {
		group.Go(func() error {
			row := h[k*q : (k+1)*q]
			for _, f := range m.folds {
				dot := f.view.Kernels().Dot
				row[k] = math.FMA(share, f.own[k], row[k])
				for l := range row {
					a, b := min(k, l), max(k, l) // the same bits on both sides
					row[l] = math.FMA(-share, dot(f.motion[a], f.motion[b]), row[l])
				}
			}
			return nil
		})
	}
	_ = group.Wait() // no task fails
	return h
}
