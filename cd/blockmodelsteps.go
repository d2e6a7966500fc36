package cd

import (
	"iter"
	"math"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/support"
)

// modelStep is a Newton step on a quadratic model whose Hessian is written out.
type modelStep struct {
	entries        []modelEntry // coefficients that are not 0 in the model
	coefficients   []int        // their indices by column and score
	slope          []float64    // rate at which the model with its penalty falls in each of them
	step           []float64
	kink           []float64 // share of the step at which each of them is set to 0; +Inf: never
	hessian        []float64 // second derivatives of the model with its penalty
	penaltyHessian []float64 // second derivatives of the penalty on a block
	normDamping    damping   // share of a norm's curvature across a block that is added along it
	nextSteps      int       // number of steps that the next model begins with, set where all steps of the last ended at kinks
}

// modelEntry is a coefficient that a [modelStep] moves.
type modelEntry struct {
	at, k int // index of its block in the working set, and its index in the block
	from  float64
}

const (
	modelHalvings  = 5 // halvings of a step that is too long
	fewStepsInRow  = 4 // steps in a row at first, doubled each time
	mostStepsInRow = 32
	nearZero       = 0.1 // of the norm of a block: what may be left of it where it passes 0
)

// newtonStepsOnModel takes up to most Newton steps on the model after sweeps, and returns their number: between nearly
// dependent columns sweeps would take hundreds. Coefficients stop at the kinks in their way. If a full step
// with such stops does not lower the model, one that ends at the first kink does, and the next step goes on
// without that coefficient. If there is no kink in the way, the norm of a block bends more along the step than
// the model assumed.
func (s *Blocks) newtonStepsOnModel(g model.Blocks, most int) (made int) {
	kinks := 0
	defer func() {
		if kinks == most {
			s.step.nextSteps = min(2*most, mostStepsInRow)
		}
	}()
	for made < most {
		if !s.newtonOnModel(g) {
			return made
		}
		made++
		first, straight := s.firstKink(g), s.step.normDamping == 0
		length := s.shortenOnModel(g, first)
		switch {
		case length == 1 && straight:
			return made
		case length == first && first > 0:
			kinks++
		case !s.step.normDamping.adapt(length):
			return made
		}
	}
	return made
}

// newtonOnModel finds the step to the minimum of the model in the coefficients that are not 0. It returns false
// if there is none.
func (s *Blocks) newtonOnModel(g model.Blocks) bool {
	m := &s.step
	s.collectEntries(g)
	size := len(m.entries)
	if size == 0 {
		return false
	}
	m.hessian = grow(m.hessian, size*size)
	s.hessian.Between(m.coefficients, m.hessian)
	s.addPenaltyHessian(g)
	for k := range size { // a common shift of the scores of a column leaves the loss as it is, which may make the matrix singular
		m.hessian[k*size+k] *= 1 + diagonalShift
	}
	s.work += support.CholeskyCost(size)
	if support.Cholesky(s.view.Kernels(), m.hessian, size) != size {
		return false
	}
	m.step = append(m.step[:0], m.slope...)
	support.CholeskySolve(s.view.Kernels(), m.hessian, size, m.step)
	return true
}

// shortenOnModel takes the full step, or halves it until that lowers the model, but not to less than the first
// kink. It returns the length, or 0 if no length lowers the model.
func (s *Blocks) shortenOnModel(g model.Blocks, first float64) float64 {
	m := &s.step
	before, predicted := s.modelValue(g), s.view.Kernels().Dot(m.slope, m.step)
	length := 1.0
	for tries := 1; ; tries++ {
		s.stepTo(length)
		if length == 0 || s.modelValue(g) <= before-float64(leastDecrease*length*predicted) {
			return length
		}
		switch {
		case length == first:
			length = 0
		case tries == modelHalvings:
			length = first
		default:
			length = max(first, 0.5*length)
		}
	}
}

// firstKink returns the share of the step at which a coefficient first meets a kink, or 0 if none does on the
// way. A norm has its kink where the block passes 0.
func (s *Blocks) firstKink(g model.Blocks) float64 {
	m, first := &s.step, 1.0
	m.kink = m.kink[:0]
	for from, to := range m.blocks() {
		block := m.nearestToZero(from, to)
		for k := from; k < to; k++ {
			at := block
			if s.kinked(g, m.coefficients[k]) {
				at = m.nearestToZero(k, k+1)
			}
			m.kink, first = append(m.kink, at), min(first, at)
		}
	}
	if first == 1 {
		return 0
	}
	return first
}

// nearestToZero returns the share of the step at which a range of coefficients is nearest to 0, if little is left of
// them there, and +Inf otherwise.
func (m *modelStep) nearestToZero(from, to int) float64 {
	var square, along, size float64
	for k, e := range m.entries[from:to] {
		d := m.step[from+k]
		square, along, size = math.FMA(d, d, square), math.FMA(-d, e.from, along), math.FMA(e.from, e.from, size)
	}
	if at := along / square; at > 0 && size-float64(at*along) <= float64(nearZero*nearZero*size) {
		return at
	}
	return math.Inf(1)
}

// blocks yields the range of the entries of each block.
func (m *modelStep) blocks() iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for from := 0; from < len(m.entries); {
			to := from
			for to < len(m.entries) && m.entries[to].at == m.entries[from].at {
				to++
			}
			if !yield(from, to) {
				return
			}
			from = to
		}
	}
}

// collectEntries collects the coefficients that are not 0, and the slopes there.
func (s *Blocks) collectEntries(g model.Blocks) {
	m, size := &s.step, len(s.scratch)/4
	m.entries, m.coefficients, m.slope = m.entries[:0], m.coefficients[:0], m.slope[:0]
	for at, b := range s.working {
		l := s.locals[at]
		if allZero(l.beta) {
			continue
		}
		lack := s.scratch[size:][:len(l.z)]
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

// addPenaltyHessian adds ∇²g to the second derivatives. A norm has no curvature along the block, but it is straight only as
// far as 0. With the same curvature along the block as across it, its quadratic approximation would lie nowhere
// below the norm, and steps would always lower the model with its penalty.
func (s *Blocks) addPenaltyHessian(g model.Blocks) {
	m := &s.step
	for from := 0; from < len(m.entries); {
		l, b, to := s.locals[m.entries[from].at], s.working[m.entries[from].at], from
		for to < len(m.entries) && m.entries[to].at == m.entries[from].at {
			to++
		}
		d := len(l.beta)
		m.penaltyHessian = grow(m.penaltyHessian, d*d)
		clear(m.penaltyHessian)
		g.Curvature(b, l.beta, m.penaltyHessian)
		for row := from; row < to; row++ {
			for column := from; column < to; column++ {
				m.hessian[row*len(m.entries)+column] += m.penaltyHessian[m.entries[row].k*d+m.entries[column].k]
			}
		}
		if m.normDamping > 0 && to > from+1 {
			m.addNormDamping(l.beta, from, to)
		}
		from = to
	}
}

// addNormDamping adds a share of the curvature across a block, given by its range of entries, along the block.
func (m *modelStep) addNormDamping(beta []float64, from, to int) {
	var across, square float64
	for _, e := range m.entries[from:to] {
		across += m.penaltyHessian[e.k*len(beta)+e.k]
		square = math.FMA(beta[e.k], beta[e.k], square)
	}
	along := float64(m.normDamping) * across / float64(to-from-1) / square
	for row := from; row < to; row++ {
		for column := from; column < to; column++ {
			m.hessian[row*len(m.entries)+column] += float64(along * beta[m.entries[row].k] * beta[m.entries[column].k])
		}
	}
}

// stepTo moves the coefficients to a share of the step.
func (s *Blocks) stepTo(length float64) {
	m := &s.step
	for from := 0; from < len(m.entries); {
		at, to := m.entries[from].at, from
		l := s.locals[at]
		moved := s.scratch[:len(l.beta)]
		clear(moved)
		for ; to < len(m.entries) && m.entries[to].at == at; to++ {
			e := m.entries[to]
			next := math.FMA(length, m.step[to], e.from)
			if length >= m.kink[to] {
				next = 0
			}
			moved[e.k], l.beta[e.k] = next-l.beta[e.k], next
		}
		s.moveHessian(l, moved)
		from = to
	}
}

// modelValue returns the model with its penalty, less the loss at the point.
func (s *Blocks) modelValue(g model.Blocks) (value float64) {
	for at, b := range s.working {
		l := s.locals[at]
		value += g.Value(b, l.beta)
		for k, v := range s.modelSlope(l) {
			value = math.FMA(-0.5*(v+l.z[k]), l.beta[k]-l.start[k], value)
		}
	}
	return value
}
