package cd

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/model"
)

// certificate is what the full passes over X leave behind.
//
// A pass is lazy and exact. For every column it keeps the last computed
// correlation c_j = X_jᵀ(s⊙r) and the length of the path that the residual has
// walked since. By the Cauchy–Schwarz inequality the correlation cannot have
// changed by more than ‖X̃_j‖ₛ·path; where even that leaves it below 0.9·Nαⱼ
// for a zero coefficient, the column can neither bind the dual scaling nor
// enter the working set, and the pass skips it without changing the gap.
type certificate struct {
	corr     []float64 // p: c_j when last computed
	when     []float64 // p: path length when c_j was computed
	fresh    []bool    // p: computed in the last pass
	path     float64   // Σ ‖r_t − r_{t−1}‖ₛ
	passes   int       // made in this solver's life
	previous []float64 // n: residual of the last pass
	scratch  []float64 // n
	scale    float64   // c of the last gap
	dual     model.Dual
	shares   []share
}

// lazy is the share of the threshold below which a bound lets a pass skip a
// column. It must be below 1 for the certificate to be unchanged.
const lazy = 0.9

func (c *certificate) init(n, p int) {
	c.corr, c.when, c.fresh = make([]float64, p), make([]float64, p), make([]bool, p)
	c.previous, c.scratch = make([]float64, n), make([]float64, n)
}

// forget makes the next pass compute every column.
func (c *certificate) forget() { c.passes, c.path = 0, 0 }

// certify gathers the support, rebuilds the residual from X, passes over the
// columns and fills the solution's certificate.
func (s *Solver) certify() {
	s.gather()
	sol, c := &s.sol, &s.cert
	s.fit.Fit(sol.Support, sol.Coef, s.state)
	sol.Intercept = s.state.UncentredIntercept(s.view, sol.Support, sol.Coef)
	if c.passes > 0 {
		copy(c.scratch, sol.Residual)
		s.k.Axpy(-1, c.previous, c.scratch)
		c.path += math.Sqrt(s.view.SquaredNormOf(c.scratch, c.previous))
	}
	copy(c.previous, sol.Residual)

	dual := &c.dual
	*dual = model.Dual{Penalty: s.pen, Total: s.view.Total(), Smoothness: s.fit.Smoothness()}
	total := s.view.Total()
	for _, column := range s.view.Matrix().Order() {
		if s.copies != nil && s.copies.Redundant(column) {
			continue // its correlation is that of the column it copies
		}
		j := int(column)
		b := s.beta[j]
		norm := s.view.Norm(j)
		if b == 0 && c.passes > 0 &&
			math.Abs(c.corr[j])+float64(norm*(c.path-c.when[j])) < lazy*total*s.pen.Alpha(j) {
			c.fresh[j] = false
			continue
		}
		c.corr[j] = s.view.Dot(j, s.state.Weighted)
		c.when[j] = c.path
		c.fresh[j] = true
		dual.Add(j, c.corr[j]/total, b, norm)
	}
	c.passes++
	c.scale = dual.Scale()
	sol.Passes++
	sol.Objective = s.state.Loss + dual.Value()
	sol.Gap = s.fit.Gap(dual, s.state)
	sol.KKT = dual.KKT()
	switch null := s.fit.Null(); {
	case sol.Gap == 0:
		sol.RelativeGap = 0
	default:
		sol.RelativeGap = sol.Gap / null
	}
}

// gather lists the active columns of β, which lie in the working set, and the
// support that they stand for: every copy of a column gets an equal share.
func (s *Solver) gather() {
	s.active, s.coef = s.active[:0], s.coef[:0]
	shared := false
	for _, j := range s.set.sorted() {
		if b := s.beta[j]; b != 0 {
			s.active, s.coef = append(s.active, j), append(s.coef, b)
			shared = shared || (s.copies != nil && s.copies.Of(j) != nil)
		}
	}
	sol := &s.sol
	sol.Support, sol.Coef = append(sol.Support[:0], s.active...), append(sol.Coef[:0], s.coef...)
	if !shared {
		return
	}
	s.cert.shares = s.cert.shares[:0]
	for k, j := range s.active {
		group := s.copies.Of(j)
		if group == nil {
			s.cert.shares = append(s.cert.shares, share{j, s.coef[k]})
			continue
		}
		for _, copy := range group {
			s.cert.shares = append(s.cert.shares, share{copy.Column, copy.Sign * s.coef[k] / float64(len(group))})
		}
	}
	slices.SortFunc(s.cert.shares, func(a, b share) int { return int(a.column - b.column) })
	sol.Support, sol.Coef = sol.Support[:0], sol.Coef[:0]
	for _, c := range s.cert.shares {
		sol.Support, sol.Coef = append(sol.Support, c.column), append(sol.Coef, c.coef)
	}
}

// share is a column with its coefficient.
type share struct {
	column int32
	coef   float64
}
