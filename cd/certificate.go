package cd

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// certificate is what the full passes over X leave behind, by place in the storage
// order of the columns, so that a pass reads everything from front to back.
//
// A pass is lazy and exact. For every column it keeps the last computed
// correlation c_j = X_jᵀ(s⊙r) and the length of the path that the residual has
// walked since. By the Cauchy–Schwarz inequality the correlation cannot have
// changed by more than ‖X̃_j‖ₛ·path; where even that leaves it below 0.9·Nαⱼ
// for a zero coefficient, the column can neither bind the dual scaling nor
// enter the working set, and the pass skips it without changing the gap.
type certificate struct {
	order     []int32   // place → column
	place     []int32   // column → place, -1 without entries
	norm      []float64 // ‖X̃_j‖ₛ
	threshold []float64 // Nαⱼ; +Inf for columns left out: excluded, or copies
	corr      []float64 // c_j when last computed, +Inf before
	when      []float64 // path length when c_j was computed
	fresh     []bool    // computed in the last pass
	live      []bool    // βⱼ ≠ 0

	path     float64   // Σ ‖r_t − r_{t−1}‖ₛ
	previous []float64 // n: residual of the last pass
	scratch  []float64 // n
	run      []float64 // correlations of a run of columns
	first    bool      // no pass has been made
	scale    float64   // c of the last gap
	dual     model.Dual
	shares   []share
}

const (
	// lazy is the share of the threshold below which a bound lets a pass skip a
	// column. It must be below 1 for the certificate to be unchanged.
	lazy = 0.9
	// longestRun is the number of columns whose correlations are taken in one call.
	longestRun = 512
)

func (c *certificate) init(view *sparse.View) {
	n, p := view.Dims()
	c.order = view.Matrix().Order()
	c.place = make([]int32, p)
	for j := range c.place {
		c.place[j] = -1
	}
	m := len(c.order)
	c.norm, c.threshold = make([]float64, m), make([]float64, m)
	c.corr, c.when = make([]float64, m), make([]float64, m)
	c.fresh, c.live = make([]bool, m), make([]bool, m)
	for k, j := range c.order {
		c.place[j] = int32(k)
		c.norm[k] = view.Norm(int(j))
	}
	c.previous, c.scratch, c.run = make([]float64, n), make([]float64, n), make([]float64, longestRun)
	c.forget()
}

// forget makes the next pass compute every column.
func (c *certificate) forget() {
	c.first, c.path = true, 0
	for k := range c.corr {
		c.corr[k], c.when[k] = math.Inf(1), 0
	}
}

// aim takes a penalty over.
func (c *certificate) aim(g model.Penalty, total float64, copies *sparse.Copies) {
	for k, j := range c.order {
		c.threshold[k] = total * g.Alpha(int(j))
		if c.norm[k] == 0 || (copies != nil && copies.Redundant(j)) {
			c.threshold[k] = math.Inf(1)
		}
	}
}

// certify gathers the support, rebuilds the residual from X, passes over the
// columns and fills the solution's certificate.
func (s *Solver) certify() {
	s.gather()
	sol, c := &s.sol, &s.cert
	s.fit.Fit(sol.Support, sol.Coef, s.state)
	sol.Intercept = s.state.UncentredIntercept(s.view, sol.Support, sol.Coef)
	if !c.first {
		copy(c.scratch, sol.Residual)
		s.k.Axpy(-1, c.previous, c.scratch)
		c.path += math.Sqrt(s.view.SquaredNormOf(c.scratch, c.previous))
	}
	copy(c.previous, sol.Residual)
	c.dual = model.Dual{Penalty: s.pen, Total: s.view.Total(), Smoothness: s.fit.Smoothness()}
	s.pass()
	c.first = false
	c.scale = c.dual.Scale()
	sol.Passes++
	sol.Objective = s.state.Loss + c.dual.Value()
	sol.Gap = s.fit.Gap(&c.dual, s.state)
	sol.KKT = c.dual.KKT()
	sol.RelativeGap = sol.Gap
	if sol.Gap != 0 { // P₀ is 0 too where the target is constant
		sol.RelativeGap = sol.Gap / s.fit.Null()
	}
}

// pass computes the correlations of the columns that no bound proves inactive,
// in runs of neighbours, and gathers the dual point.
func (s *Solver) pass() {
	c := &s.cert
	for _, j := range s.active {
		c.live[c.place[j]] = true
	}
	from := 0 // start of the run being collected
	for k := range c.order {
		bound := math.Abs(c.corr[k]) + float64(c.norm[k]*(c.path-c.when[k]))
		needed := c.live[k] || !(bound < lazy*c.threshold[k] || math.IsInf(c.threshold[k], 1))
		c.fresh[k] = needed
		if !needed || k-from == longestRun {
			s.correlate(from, k)
			from = k
		}
		if !needed {
			from = k + 1
		}
	}
	s.correlate(from, len(c.order))
	for _, j := range s.active {
		c.live[c.place[j]] = false
	}
}

// correlate takes in the columns of a run of places.
func (s *Solver) correlate(from, to int) {
	if from >= to {
		return
	}
	c, total := &s.cert, s.view.Total()
	out := c.run[:to-from]
	s.view.Correlate(from, to, s.state.Weighted, out)
	for i, corr := range out {
		k := from + i
		c.corr[k], c.when[k] = corr, c.path
		j := int(c.order[k])
		var b float64
		if c.live[k] {
			b = s.beta[j]
		}
		c.dual.Add(j, corr/total, b, c.norm[k])
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
		for _, twin := range group {
			s.cert.shares = append(s.cert.shares, share{twin.Column, twin.Sign * s.coef[k] / float64(len(group))})
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
