package support

import (
	"math"

	"github.com/seed-45b9a24c/pare/model"
)

// scoreEntries are the entries of S that belong to one score.
type scoreEntries struct {
	columns []int32
	at      []int // their positions in S
	values  []float64
}

// entriesByScore lists the entries of S score by score.
func (a *BlockSystem) entriesByScore() {
	for len(a.scores) < a.q {
		a.scores = append(a.scores, scoreEntries{})
	}
	a.scores = a.scores[:a.q]
	for k := range a.scores {
		a.scores[k].columns, a.scores[k].at = a.scores[k].columns[:0], a.scores[k].at[:0]
	}
	for at, e := range a.entries {
		s := &a.scores[e%a.q]
		s.columns, s.at = append(s.columns, a.Columns[e/a.q]), append(s.at, at)
	}
	for k := range a.scores {
		a.scores[k].values = resize(a.scores[k].values, len(a.scores[k].at))
	}
}

// shares sets joint.shares to the probabilities at the point, score by score.
func (h *Hessian) shares() []float64 {
	if h.sharesCurrent {
		return h.joint.shares
	}
	h.joint.shares = resize(h.joint.shares, len(h.metric.Share))
	h.sharesByScore(h.joint.shares)
	h.sharesCurrent = true
	return h.joint.shares
}

// apply sets out = ∇²f·v on the entries of several scores: it forms X̃v, multiplies by D and takes
// products with columns, all score by score, so that kernels can do it. It overwrites the running vector.
func (h *Hessian) apply(scores []scoreEntries, v, out []float64) {
	n, q, k := len(h.metric.Weight), h.metric.Count, h.view.Kernels()
	p, u, mean := h.shares(), h.w, h.pairCurvature
	for s, e := range scores {
		for l, at := range e.at {
			e.values[l] = v[at]
		}
		k.Clear(u[s*n:][:n])
		h.view.AddColumns(e.columns, e.values, u[s*n:][:n])
	}
	h.mean(p, u, mean)
	shift := h.scratch[:q]
	if h.view.Centred() {
		for s := range q {
			one := u[s*n:][:n]
			k.Product(h.weightedShare, h.metric.Weight, p[s*n:][:n])
			shift[s] = k.Dot(h.weightedShare, one) - k.Dot(h.weightedShare, mean)
		}
		model.SolveFactored(h.interceptFactor, shift)
		for s := range q {
			k.Axpy(-shift[s], p[s*n:][:n], mean)
		}
	}
	for s, e := range scores {
		one := u[s*n:][:n]
		if h.view.Centred() {
			k.Subtract(shift[s], one)
		}
		k.Axpy(-1, mean, one)
		k.Product(h.weightedShare, h.metric.Weight, p[s*n:][:n])
		k.Product(one, one, h.weightedShare)
		h.view.Dots(e.columns, one, e.values)
		for l, at := range e.at {
			out[at] = e.values[l] / h.total
		}
	}
	k.Clear(u)
}

// mean sets out to Σ pᵢₖuᵢₖ of each row.
func (h *Hessian) mean(p, u, out []float64) {
	n, k := len(out), h.view.Kernels()
	k.Clear(out)
	for s := range h.metric.Count {
		k.Product(h.weightedShare, p[s*n:][:n], u[s*n:][:n])
		k.Axpy(1, h.weightedShare, out)
	}
}

// diagonal sets out to the diagonal of ∇²f on the entries of several scores.
func (h *Hessian) diagonal(scores []scoreEntries, out []float64) {
	h.computeMoments()
	n, q, k := len(h.metric.Weight), h.metric.Count, h.view.Kernels()
	p, moved := h.shares(), h.scratch[:q]
	for s, e := range scores {
		k.Product(h.weightedShare, h.metric.Weight, p[s*n:][:n])
		h.complement(p[s*n:][:n])
		for l, j := range e.columns {
			rows, values, mean, scale := h.column(j)
			h.dots = resize(h.dots, len(values))
			var sum float64
			if rows == nil {
				k.Copy(h.dots, values)
				k.Subtract(mean, h.dots)
				k.Product(h.dots, h.dots, h.dots)
				sum = k.Dot(h.dots, h.pairCurvature)
			} else {
				k.Product(h.dots, values, values)
				sum = k.DotIndexed(h.dots, rows, h.pairCurvature)
			}
			sum *= float64(scale * scale)
			if h.view.Centred() {
				copy(moved, h.moments[j][s*q:])
				model.HalfSolveFactored(h.interceptFactor, moved)
				for _, m := range moved {
					sum = math.FMA(-m, m, sum)
				}
			}
			out[e.at[l]] = sum / h.total
		}
	}
}
