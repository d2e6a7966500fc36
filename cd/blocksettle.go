package cd

import (
	"math"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/support"
)

// modelStep is a Newton step on a quadratic model that is written out.
type modelStep struct {
	entries      []modelEntry // coefficients that are not 0 on the model
	coefficients []int        // the same, by column and score
	slope        []float64    // how fast the model with its penalty falls in each
	step         []float64
	curve        []float64 // the second derivatives
	bending      []float64 // those of the penalty on a block
}

type modelEntry struct {
	at, k int // its block in the working set, and its place there
	from  float64
}

const settleHalves = 5 // of a step that is too long

// settle makes a Newton step on the model from where sweeps have come: between columns that are nearly dependent they take
// hundreds. Coefficients end at the kinks in their way, and a step that does not lower the model is shortened, at last to
// nothing.
func (s *Blocks) settle(g model.Blocks) {
	m := &s.step
	s.begin(g)
	size := len(m.entries)
	if size == 0 {
		return
	}
	m.curve = grow(m.curve, size*size)
	s.hessian.Between(m.coefficients, m.curve)
	s.bend(g)
	for k := range size { // where two scores share a column, what one takes the other can give
		m.curve[k*size+k] *= 1 + shift
	}
	s.work += support.CholeskyCost(size)
	if support.Cholesky(s.view.Kernels(), m.curve, size) != size {
		return
	}
	m.step = append(m.step[:0], m.slope...)
	support.CholeskySolve(s.view.Kernels(), m.curve, size, m.step)
	before, promised := s.modelValue(g), s.view.Kernels().Dot(m.slope, m.step)
	length := 1.0
	for range settleHalves {
		s.stepTo(g, length)
		if s.modelValue(g) <= before-float64(leastDecrease*length*promised) {
			return
		}
		length *= 0.5
	}
	s.stepTo(g, 0)
}

// begin notes the coefficients that are not 0, and the slopes there.
func (s *Blocks) begin(g model.Blocks) {
	m, size := &s.step, len(s.own)/4
	m.entries, m.coefficients, m.slope = m.entries[:0], m.coefficients[:0], m.slope[:0]
	for at, b := range s.working {
		l := s.at[at]
		if zero(l.beta) {
			continue
		}
		lack := s.own[size:][:len(l.z)]
		g.Lack(b, l.beta, s.modelSlope(l), lack)
		for k, v := range l.beta {
			if c := int(l.columns[k/s.q])*s.q + k%s.q; v != 0 && s.hessian.Writes(c) {
				m.entries = append(m.entries, modelEntry{at, k, v})
				m.coefficients = append(m.coefficients, c)
				m.slope = append(m.slope, lack[k])
			}
		}
	}
}

// bend adds ∇²g to the second derivatives.
func (s *Blocks) bend(g model.Blocks) {
	m := &s.step
	for from := 0; from < len(m.entries); {
		l, b, to := s.at[m.entries[from].at], s.working[m.entries[from].at], from
		for to < len(m.entries) && m.entries[to].at == m.entries[from].at {
			to++
		}
		d := len(l.beta)
		m.bending = grow(m.bending, d*d)
		clear(m.bending)
		g.Curvature(b, l.beta, m.bending)
		for row := from; row < to; row++ {
			for column := from; column < to; column++ {
				m.curve[row*len(m.entries)+column] += m.bending[m.entries[row].k*d+m.entries[column].k]
			}
		}
		from = to
	}
}

// stepTo moves the coefficients to a share of the step.
func (s *Blocks) stepTo(g model.Blocks, length float64) {
	m := &s.step
	for from := 0; from < len(m.entries); {
		at, to := m.entries[from].at, from
		l := s.at[at]
		moved := s.own[:len(l.beta)]
		clear(moved)
		for ; to < len(m.entries) && m.entries[to].at == at; to++ {
			e := m.entries[to]
			next := math.FMA(length, m.step[to], e.from)
			if (next < 0) != (e.from < 0) && s.kinked(g, m.coefficients[to]) {
				next = 0
			}
			moved[e.k], l.beta[e.k] = next-l.beta[e.k], next
		}
		s.follow(l, moved)
		from = to
	}
}

// modelValue returns what the model with its penalty is above the loss at the point.
func (s *Blocks) modelValue(g model.Blocks) (value float64) {
	for at, b := range s.working {
		l := s.at[at]
		value += g.Value(b, l.beta)
		for k, v := range s.modelSlope(l) {
			value = math.FMA(-0.5*(v+l.z[k]), l.beta[k]-l.start[k], value)
		}
	}
	return value
}
