package iterdiff

import (
	"context"
	"math"
	"slices"
)

// reverseMode holds what a descent records for the reverse sweep, and the state of that sweep.
type reverseMode struct {
	taping, checkpointing bool
	tape                  tape
	checkpoints           checkpoints
	final                 checkpoint
	reverseState          state
	a, u                  []float64 // v = a − Zᵀu
	uOffset               float64
	contributed           float64 // Σ|vⱼ·∂_λ prox|
	remainder             float64 // estimate, from the epochs on the last support, of what epochs before the first would have added
	stableFrom            int     // the epoch before the first one on the last support
	reversed              int64
	recomputed            int
}

// entry is a coordinate step as the reverse sweep needs it, for a coefficient that was not 0 before the step
// or is not after. All other steps have derivative 0.
type entry struct {
	z    float64 // the prox was taken here
	from float64 // βⱼ before
	j    int32
}

const entryBytes = 24

// tape holds the steps of consecutive epochs: epoch k of the tape ends at entry ends[k].
type tape struct {
	entries []entry
	ends    []int
}

func (t *tape) clear() { t.entries, t.ends = t.entries[:0], t.ends[:0] }

// epoch returns the steps of one epoch of the tape.
func (t *tape) epoch(k int) []entry {
	from := 0
	if k > 0 {
		from = t.ends[k-1]
	}
	return t.entries[from:t.ends[k]]
}

// checkpoint is a state after some epoch, in O(n + s) numbers.
type checkpoint struct {
	epoch  int
	rows   []float64 // e, m where the loss is not quadratic
	offset float64
	j      []int32
	b      []float64
}

// checkpoints are kept about √k epochs apart, so that there are about √k of them.
type checkpoints struct {
	every int
	list  []checkpoint // the memory of dropped ones lies beyond its length
}

func (c *checkpoints) clear() { c.every, c.list = 1, c.list[:0] }

// next appends a checkpoint, which the caller fills.
func (c *checkpoints) next() *checkpoint {
	if len(c.list) < cap(c.list) {
		c.list = c.list[:len(c.list)+1]
	} else {
		c.list = append(c.list, checkpoint{})
	}
	return &c.list[len(c.list)-1]
}

// thin drops every other checkpoint where there are more than two per epoch
// between them.
func (c *checkpoints) thin() {
	if len(c.list) <= 2*c.every {
		return
	}
	kept := 0
	for i := range c.list {
		if c.list[i].epoch%(2*c.every) == 0 {
			c.list[kept], c.list[i] = c.list[i], c.list[kept]
			kept++
		}
	}
	c.list = c.list[:kept]
	c.every *= 2
}

func (e *engine) save(c *checkpoint) {
	s := &e.now
	rows := s.e
	if e.loss != nil {
		rows = s.m
	}
	c.epoch, c.offset = e.epoch, s.offset
	c.rows = append(c.rows[:0], rows...)
	c.j, c.b = c.j[:0], c.b[:0]
	for _, j := range e.order {
		if s.beta[j] != 0 {
			c.j, c.b = append(c.j, j), append(c.b, s.beta[j])
		}
	}
}

func (e *engine) restore(c *checkpoint) {
	s := &e.now
	e.epoch, s.offset = c.epoch, c.offset
	for _, j := range e.order {
		s.beta[j] = 0
	}
	clear(e.class)
	for i, j := range c.j {
		s.beta[j] = c.b[i]
		e.class[j] = e.classAt(j, c.b[i])
	}
	if e.loss != nil {
		copy(s.m, c.rows)
		e.finish(s)
		return
	}
	copy(s.e, c.rows)
}

// record ends an epoch of the tape. Where the tape outgrows its budget, record restarts the descent with
// checkpoints instead: the epoch is then 0.
func (e *engine) record() {
	if e.forward {
		return
	}
	if e.checkpointing {
		if e.epoch%e.checkpoints.every == 0 {
			e.save(e.checkpoints.next())
			e.checkpoints.thin()
		}
		return
	}
	e.tape.ends = append(e.tape.ends, len(e.tape.entries))
	if int64(len(e.tape.entries))*entryBytes <= e.opts.MemoryBudget {
		return
	}
	e.recomputed += e.epoch
	e.checkpointing, e.taping = true, false
	e.begin()
	e.checkpoints.clear()
	e.save(e.checkpoints.next())
}

// reverse computes h = Jᵀ∇C for all epochs of the descent (the second halves of algorithms 2 and 4). It
// returns false where the context ended. It leaves the state as it was.
func (e *engine) reverse(ctx context.Context) bool {
	before := e.visited
	defer func() { e.reversed += e.visited - before }()
	e.evalOuter()
	clear(e.h)
	e.k.Clear(e.u)
	e.uOffset, e.contributed, e.remainder, e.stableFrom = 0, 0, math.Inf(1), e.identified
	e.gradientChanges = convergence{}
	for _, j := range e.order {
		e.a[j] = 0
		if e.class[j] != fixed || j == e.unpenalised {
			e.a[j] = e.outerDerivative(j, e.outerSlope, e.outerSlopeSum)
		}
	}
	copy(e.reverseState.m, e.now.m)
	copy(e.reverseState.e, e.now.e)
	copy(e.reverseState.c, e.now.c)
	if !e.checkpointing {
		return e.reverseTape(ctx, e.epoch)
	}
	return e.reverseSegments(ctx)
}

// reverseSegments recomputes the descent from each checkpoint to the next, the last
// one first, and reverses it.
func (e *engine) reverseSegments(ctx context.Context) bool {
	e.save(&e.final)
	identified := e.identified
	defer func() {
		e.restore(&e.final)
		e.taping, e.identified = false, identified
	}()
	end := e.epoch
	for i := len(e.checkpoints.list) - 1; i >= 0; i-- {
		c := &e.checkpoints.list[i]
		if c.epoch == end {
			continue
		}
		e.restore(c)
		e.tape.clear()
		e.taping = true
		for e.epoch < end {
			if !e.sweep(ctx) {
				return false
			}
			e.epoch++
			e.recomputed++
			e.tape.ends = append(e.tape.ends, len(e.tape.entries))
		}
		if !e.reverseTape(ctx, end) {
			return false
		}
		end = c.epoch
	}
	return true
}

// reverseTape reverses the epochs on the tape, the last of which is number last.
func (e *engine) reverseTape(ctx context.Context, last int) bool {
	for k := range slices.Backward(e.tape.ends) {
		credited := e.contributed
		steps := e.tape.epoch(k)
		back := e.reverseCoordinates
		if e.gradientStep {
			back = e.reverseGradient
		}
		if !back(ctx, steps) {
			return false
		}
		if rest := e.gradientChanges.remaining(e.contributed-credited, e.contributed); last > e.stableFrom { // in earlier epochs, contributions may end at a coordinate that did not move
			e.remainder = min(e.remainder, rest)
		}
		if e.opts.Watch != nil {
			e.watch(last, true)
		}
		last--
	}
	return true
}

// reverseCoordinates reverses an epoch of algorithm 4. v = a − Zᵀu is computed coordinate by coordinate.
// Entries of coordinates that the previous epoch left at 0 are not updated, as the next step to be reversed
// has no derivative.
func (e *engine) reverseCoordinates(ctx context.Context, steps []entry) bool {
	s := &e.reverseState
	for i := len(steps) - 1; i >= 0; i-- {
		if e.ended(ctx) {
			return false
		}
		t := &steps[i]
		j := t.j
		step := e.steps[j]
		r := e.respond(j, t.z, step)
		product := e.project(j, e.u, e.uOffset)
		var v float64
		if r.moves() {
			v = e.a[j] - product
			e.addContribution(j, v, &r)
			v = float64(v * r.dz)
		}
		if e.loss != nil && r.b != t.from {
			e.move(s, j, t.from-r.b) // the Hessian is that before the step
		}
		e.a[j] = v + product
		if v != 0 {
			e.addHessianColumn(s, j, step*v, e.u, &e.uOffset)
		}
	}
	return true
}

// reverseGradient reverses an iteration of algorithm 2; a holds v itself.
func (e *engine) reverseGradient(ctx context.Context, steps []entry) bool {
	s, v := &e.reverseState, e.a
	e.k.Clear(e.u)
	e.uOffset = 0
	for i := range steps {
		if e.ended(ctx) {
			return false
		}
		j := steps[i].j
		r := e.respond(j, steps[i].z, e.step)
		if r.moves() {
			e.addContribution(j, v[j], &r)
		}
		if r.dz == 0 {
			v[j] = 0
			continue
		}
		v[j] *= r.dz
		e.addColumn(j, v[j], e.u, &e.uOffset)
	}
	if e.loss != nil { // return to the previous iterate, whose β is on the tape
		e.reset(s)
		for i := range steps {
			if steps[i].from != 0 {
				e.add(s, steps[i].j, steps[i].from)
			}
		}
		e.finish(s)
	}
	for i := range steps {
		if e.ended(ctx) {
			return false
		}
		if j := steps[i].j; steps[i].from != 0 || j == e.unpenalised {
			v[j] = math.FMA(-e.step, e.hessianDot(s, j, e.u, e.uOffset), v[j])
		}
	}
	return true
}

// addContribution does h += vⱼ·∂_λ prox.
func (e *engine) addContribution(j int32, v float64, r *response) {
	if e.perColumn {
		if j != e.unpenalised {
			e.h[j] = math.FMA(v, r.dl[0], e.h[j])
			e.contributed += math.Abs(v * r.dl[0])
		}
		return
	}
	for i := range e.h {
		e.h[i] = math.FMA(v, r.dl[i], e.h[i])
		e.contributed += math.Abs(v * r.dl[i])
	}
}
