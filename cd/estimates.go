package cd

import (
	"math/bits"

	"github.com/seed-45b9a24c/pare/sparse"
)

// estimates bound correlations by a copy of a large dense matrix in 32 bits, which a pass reads first: it then
// computes only the columns that may bind the dual scaling according to these bounds.
type estimates struct {
	single  sparse.Single
	queried bool // single has been asked for
	on      bool
	bound   []float64 // by place, for the columns that the pass asks for
	norm    float64   // ‖s⊙r‖₂
}

// mostComputed is the largest share of the estimated columns that may have to be computed nevertheless; above it, the
// later passes of the solve skip the estimates.
const mostComputed = 0.5

// start turns estimates on for a solve if they are wanted and the copy exists.
func (e *estimates) start(s *Solver, wanted bool) {
	if wanted && !e.queried {
		e.single, e.queried = s.view.Single(), true
	}
	if e.on = wanted && e.single.Exists(); e.on && e.bound == nil {
		e.bound = s.view.Floats(len(s.cert.order))
	}
}

// estimate bounds the correlations of the columns asked for. Columns that the bounds prove inactive keep the bound as
// their correlation and are no longer asked for.
func (s *Solver) estimate() {
	c, e := &s.cert, &s.estimates
	e.norm = c.k.Nrm2(s.state.Weighted)
	s.runOnRequested((*estimationTask)(s))
	least := 1.0
	if s.uniformPenalty() { // columns that violate less than another one change neither the scale nor the largest ρⱼ
		for _, p := range c.pieces {
			least = max(least, (c.k.MaxAbs(e.bound[p.from:p.to])-float64(2*e.single.Missed(e.norm)))/c.level)
		}
	}
	c.selectAtLeast(c.k.ReachAbs, 0, len(c.order), e.bound, 0, lazy*least, c.selected)
	for _, j := range s.active {
		c.selected.set(int(c.place(j)))
	}
	asked := c.requested.count()
	for w, word := range c.requested {
		c.requested[w] &= c.selected[w]
		if word &^= c.selected[w]; word == 0 {
			continue
		}
		c.current[w] &^= word
		if word == allBits {
			copy(c.corr[64*w:64*w+64], e.bound[64*w:])
			continue
		}
		for ; word != 0; word &= word - 1 {
			k := 64*w + bits.TrailingZeros64(word)
			c.corr[k] = e.bound[k]
		}
	}
	e.on = float64(c.requested.count()) <= mostComputed*float64(asked)
}

// correlateWorkingSet computes the correlations of the working set that have only been estimated.
func (s *Solver) correlateWorkingSet() {
	c := &s.cert
	clear(c.requested)
	for _, k := range s.set.places {
		if !c.current.has(int(k)) {
			c.requested.set(int(k))
			c.current.set(int(k))
		}
	}
	paid := s.in.work
	s.runOnRequested((*correlationTask)(s))
	s.in.work = paid // estimates have the price of products, see pass
}

// uniformPenalty reports whether the penalty is one strength for all columns, without a ridge or constraints.
func (s *Solver) uniformPenalty() bool {
	return len(s.cert.levels) == 0 && s.pen.Ridge() == 0 && !s.pen.Positive() && !s.pen.Bounded()
}

// estimationTask is the task that bounds the correlations of the listed pieces.
type estimationTask Solver

// Part implements [team.Task].
func (s *estimationTask) Part(k, of int) {
	size := len(s.cert.pieces)
	for _, p := range s.cert.pieces[size*k/of : size*(k+1)/of] {
		s.estimates.single.Bound(int(p.from), int(p.to), s.state.Weighted, s.estimates.norm, s.estimates.bound[p.from:p.to])
	}
}
