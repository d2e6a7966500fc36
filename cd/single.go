package cd

import (
	"math/bits"

	"github.com/seed-45b9a24c/pare/sparse"
)

// estimates bound correlations by a copy of a large dense matrix in 32 bits, which a pass reads first: it then
// computes only the columns that may bind the dual scaling according to these bounds.
type estimates struct {
	of    sparse.Single
	found bool // of has been asked for
	on    bool
	bound []float64 // by place, for the columns that the pass asks for
	norm  float64   // ‖s⊙r‖₂
}

// mostMet is the largest share of the estimated columns that may have to be computed nevertheless; above it, the
// later passes of the solve skip the estimates.
const mostMet = 0.5

// start turns estimates on for a solve if they are wanted and the copy exists.
func (e *estimates) start(s *Solver, wanted bool) {
	if wanted && !e.found {
		e.of, e.found = s.view.Single(), true
	}
	if e.on = wanted && e.of.Exists(); e.on && e.bound == nil {
		e.bound = s.view.Floats(len(s.cert.order))
	}
}

// estimate bounds the correlations of the columns asked for. Columns that the bounds prove inactive keep the bound as
// their correlation and are no longer asked for.
func (s *Solver) estimate() {
	c, e := &s.cert, &s.estimates
	e.norm = c.k.Nrm2(s.state.Weighted)
	s.meet((*estimation)(s))
	least := 1.0
	if s.alike() { // columns that violate less than another one change neither the scale nor the largest ρⱼ
		for _, p := range c.pieces {
			least = max(least, (c.k.MaxAbs(e.bound[p.from:p.to])-float64(2*e.of.Missed(e.norm)))/c.level)
		}
	}
	c.reaching(c.k.ReachAbs, 0, len(c.order), e.bound, 0, lazy*least, c.near)
	for _, j := range s.active {
		c.near.set(int(c.place(j)))
	}
	asked := c.asked.count()
	for w, word := range c.asked {
		c.asked[w] &= c.near[w]
		if word &^= c.near[w]; word == 0 {
			continue
		}
		c.known[w] &^= word
		if word == all {
			copy(c.corr[64*w:64*w+64], e.bound[64*w:])
			continue
		}
		for ; word != 0; word &= word - 1 {
			k := 64*w + bits.TrailingZeros64(word)
			c.corr[k] = e.bound[k]
		}
	}
	e.on = float64(c.asked.count()) <= mostMet*float64(asked)
}

// meetSet computes the correlations of the working set that have only been estimated.
func (s *Solver) meetSet() {
	c := &s.cert
	clear(c.asked)
	for _, k := range s.set.places {
		if !c.known.has(int(k)) {
			c.asked.set(int(k))
			c.known.set(int(k))
		}
	}
	paid := s.in.work
	s.meet((*correlation)(s))
	s.in.work = paid // estimates have the price of products, see pass
}

// alike reports whether the penalty is one strength for all columns, without a ridge or constraints.
func (s *Solver) alike() bool {
	return len(s.cert.levels) == 0 && s.pen.Ridge() == 0 && !s.pen.Positive() && !s.pen.Bounded()
}

// estimation is the task that bounds the correlations of the listed pieces.
type estimation Solver

// Part implements [team.Task].
func (s *estimation) Part(k, of int) {
	size := len(s.cert.pieces)
	for _, p := range s.cert.pieces[size*k/of : size*(k+1)/of] {
		s.estimates.of.Bound(int(p.from), int(p.to), s.state.Weighted, s.estimates.norm, s.estimates.bound[p.from:p.to])
	}
}
