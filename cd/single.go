package cd

import (
	"math/bits"

	"github.com/seed-45b9a24c/pare/sparse"
)

// estimates are bounds of correlations by a copy of a large dense matrix in 32 bits, which a pass meets first: it
// computes those columns only that may bind the dual scaling by these.
type estimates struct {
	of    sparse.Single
	found bool // that has been looked for
	on    bool
	bound []float64 // by place, of the columns asked for
	norm  float64   // ‖s⊙r‖₂
}

// mostMet is the share of the columns estimated that may have to be computed nevertheless, else the next passes
// of the solve compute them at once.
const mostMet = 0.5

// start turns estimates on for a solve, where there is a copy.
func (e *estimates) start(s *Solver, wanted bool) {
	if wanted && !e.found {
		e.of, e.found = s.view.Single(), true
	}
	if e.on = wanted && e.of.Exists(); e.on && e.bound == nil {
		e.bound = s.view.Floats(len(s.cert.order))
	}
}

// estimate takes the bounds of the columns asked for that they prove inactive, and leaves the others.
func (s *Solver) estimate() {
	c, e := &s.cert, &s.estimates
	e.norm = c.k.Nrm2(s.state.Weighted)
	s.meet((*estimation)(s))
	least := 1.0
	if s.alike() { // what violates less than another changes neither the scale nor the largest ρⱼ
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

// meetSet computes the correlations of the working set that estimates have taken the place of.
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
	s.in.work = paid // as after estimates
}

// alike reports whether all columns have one strength, and nothing else.
func (s *Solver) alike() bool {
	return len(s.cert.levels) == 0 && s.pen.Ridge() == 0 && !s.pen.Positive() && !s.pen.Bounded()
}

// estimation bounds the correlations of the pieces listed.
type estimation Solver

// Part implements [team.Task].
func (s *estimation) Part(k, of int) {
	size := len(s.cert.pieces)
	for _, p := range s.cert.pieces[size*k/of : size*(k+1)/of] {
		s.estimates.of.Bound(int(p.from), int(p.to), s.state.Weighted, s.estimates.norm, s.estimates.bound[p.from:p.to])
	}
}
