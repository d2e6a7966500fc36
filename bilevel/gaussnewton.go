package bilevel

import (
	"context"
	"math"
)

// The curvature of a criterion in the λ's of one penalty is the Gauss–Newton matrix
//
//	H_kl = Σᵢ C″ᵢ·J_ik·J_il,  J_ik = ∂mᵢ/∂λ_k,
//
// with C″ of the criterion. It takes J as constant, and so disregards knots. It is the mean over the folds, or
// the sum for a [Risk].

// prepareMotion returns J, cleared; nil if it is not asked for or if each column has its own λ.
func (l *penalisedLane) prepareMotion(r *LaneRequest) [][]float64 {
	l.Curvature = nil
	if !r.Curvature || l.lastPenalty.PerColumn() {
		return nil
	}
	if l.motion == nil {
		for range r.LogLambda {
			l.motion = append(l.motion, make([]float64, len(l.y)))
		}
	}
	for _, m := range l.motion {
		clear(m)
	}
	return l.motion
}

// weighMotion computes H of the lane from J.
func (l *penalisedLane) weighMotion() {
	r, curvature := len(l.motion), l.outer().Curvature
	l.Curvature = make([]float64, r*r)
	for _, i := range l.rows {
		c := max(0, curvature[i]) // the caller's loss may be concave here
		for a, ma := range l.motion {
			for b, mb := range l.motion {
				l.Curvature[a*r+b] = math.FMA(c*ma[i], mb[i], l.Curvature[a*r+b])
			}
		}
	}
}

// curvature returns H of all lanes together; nil if a lane has none, or if its diagonal has no positive entry,
// as for criteria without second derivatives.
func (p *Problem) curvature(r int, results []LaneResult) []float64 {
	h := make([]float64, r*r)
	for _, l := range results {
		if l.Curvature == nil {
			return nil
		}
		for i, v := range l.Curvature {
			h[i] = math.FMA(p.laneWeight, v, h[i])
		}
	}
	for i := range r {
		if h[i*r+i] > 0 {
			return h
		}
	}
	return nil
}

// The curvature of the cross-entropy in the λ's of the classes is the Gauss–Newton matrix
//
//	H_kl = Σᵢ (sᵢ/S)·(P_ik·1{k = l} − P_ik·P_il)·J_ik·J_il,  J_ik = ∂m_ik/∂λ_k,
//
// with the Hessian of the softmax. It takes J as constant, and so disregards knots, and is positive
// semidefinite. J is a by-product of the hypergradients.

// weighMotion turns J of a class into P·J·√(s/S), and sets MotionSquare to the sum of J²·P·s/S.
func (l *classLane) weighMotion(probability []float64) {
	k := l.fold.view.Kernels()
	total, pace := l.fold.criterion().Total(k, len(l.fold.rows)), k.Pace()
	l.MotionSquare = 0
	for at, j := range l.Motion {
		pace.Did(1)
		share, weight := probability[at], l.fold.weight(at)/total
		l.MotionSquare = math.FMA(weight*share*j, j, l.MotionSquare)
		l.Motion[at] = math.Sqrt(weight) * share * j
	}
}

// curvature returns the mean of H over the folds. The rows of H are computed in parallel.
func (m *Multiclass) curvature(ctx context.Context, results []LaneResult) ([]float64, error) {
	q := len(m.classes)
	h := make([]float64, q*q)
	inner, stop := context.WithCancel(ctx)
	defer stop()
	rows := make([]func() error, q)
	for k := range rows {
		rows[k] = func() error {
			return m.spec.onThread(inner, func() error {
				m.addCurvatureRow(h[k*q:(k+1)*q], k, results)
				return nil
			})
		}
	}
	if err := runTasks(rows, min(m.spec.Threads, q), stop); err != nil {
		return nil, err
	}
	for k := range q {
		for l := range k {
			h[k*q+l] = h[l*q+k]
		}
	}
	return h, nil
}

// addCurvatureRow adds row k of H, from the diagonal on, to row, which must be 0.
func (m *Multiclass) addCurvatureRow(row []float64, k int, results []LaneResult) {
	q, weight := len(m.classes), 1/float64(len(m.folds))
	for fold := range m.folds {
		classes := results[fold*q : (fold+1)*q]
		row[k] = math.FMA(weight, classes[k].MotionSquare, row[k])
		for l := k; l < q; l++ {
			row[l] = math.FMA(-weight, m.k.Dot(classes[k].Motion, classes[l].Motion), row[l])
		}
	}
}
