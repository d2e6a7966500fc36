package iterdiff

import (
	"math"

	"github.com/seed-45b9a24c/pare/outcome"
)

// jacobian is ∂β/∂λ where every column has a λ of its own. Rows of coordinates at 0 are 0, and so are columns
// of coordinates that have always been 0. So it keeps a square matrix on the coordinates that have been
// different from 0: t of them, 8·t² bytes per matrix. Entries outside the current support stay, because the
// derivative of the k-th iterate is to be exact, and that iterate still depends on what once moved β.
type jacobian struct {
	slot    []int32 // coordinate → slot, −1: has always been 0
	members []int32 // slot → coordinate
	nonZero []bool  // row is not 0
	rows    [][]float64
	next    [][]float64 // PGD: the rows of the next iterate
	hessian [][]float64 // quadratic: ∇²f on the members
	h, acc  []float64   // a row of ∇²f, a row of J
	u       []float64   // over the rows of Z; zero between uses
	offset  float64
}

func (w *jacobian) reset(e *engine) {
	if w.slot == nil {
		w.slot, w.u = make([]int32, e.p), make([]float64, e.n)
	}
	for j := range w.slot {
		w.slot[j] = -1
	}
	w.members, w.nonZero, w.h, w.acc = w.members[:0], w.nonZero[:0], w.h[:0], w.acc[:0]
	w.rows, w.next, w.hessian = w.rows[:0], w.next[:0], w.hessian[:0]
}

// bytes returns the memory that the matrices take with one more slot.
func (w *jacobian) bytes(e *engine) int64 {
	t := int64(len(w.members) + 1)
	matrices := int64(1)
	if e.gradientStep {
		matrices++
	}
	if e.loss == nil {
		matrices++
	}
	return 8 * t * t * matrices
}

// addSlot gives coordinate j a slot.
func (w *jacobian) addSlot(e *engine, j int32) {
	if w.bytes(e) > e.opts.MemoryBudget {
		e.failure = outcome.At(outcome.Limit, "memory-budget",
			"the Jacobian of %d columns needs %d bytes; start nearer the solution, or differentiate backward", len(w.members)+1, w.bytes(e))
		return
	}
	w.slot[j] = int32(len(w.members))
	w.members = append(w.members, j)
	w.nonZero = append(w.nonZero, false)
	w.h, w.acc = append(w.h, 0), append(w.acc, 0)
	w.rows = extend(w.rows)
	if e.gradientStep {
		w.next = extend(w.next)
	}
	if e.loss != nil {
		return
	}
	w.hessian = extend(w.hessian)
	w.offset = 0
	e.addHessianColumn(&e.now, j, 1, w.u, &w.offset)
	last := len(w.members) - 1
	for l, other := range w.members {
		v := e.project(other, w.u, w.offset)
		w.hessian[l][last], w.hessian[last][l] = v, v
	}
	e.clearRows(j, w.u)
}

// extend adds a row and a column of zeros to a square matrix, in its old memory where there is some.
func extend(m [][]float64) [][]float64 {
	for i, row := range m {
		m[i] = append(row, 0)
	}
	t := len(m)
	if t < cap(m) {
		m = m[:t+1]
	} else {
		m = append(m, nil)
	}
	row := m[t][:0]
	for range t + 1 {
		row = append(row, 0)
	}
	m[t] = row
	return m
}

// computeRow computes the new row of coordinate j from the current rows, into out.
func (w *jacobian) computeRow(e *engine, j int32, r *response, step float64, out []float64) {
	s := w.slot[j]
	acc := w.acc
	copy(acc, w.rows[s])
	h := w.h
	if e.loss != nil {
		e.addHessianColumn(&e.now, j, 1, w.u, &w.offset)
		for l, other := range w.members {
			if w.nonZero[l] {
				h[l] = e.project(other, w.u, 0)
			}
		}
		e.clearRows(j, w.u)
	} else {
		h = w.hessian[s]
	}
	for l, live := range w.nonZero {
		if live {
			e.k.Axpy(-step*h[l], w.rows[l], acc)
			e.visited += int64(len(acc))
		}
	}
	e.k.Scal(r.dz, acc)
	acc[s] += r.dl[0]
	copy(out, acc)
}

// updateRow updates row j for a coordinate step, before the state moves.
func (w *jacobian) updateRow(e *engine, j int32, r *response, step float64) {
	s := w.slot[j]
	if !r.moves() {
		if s >= 0 && w.nonZero[s] {
			clear(w.rows[s])
			w.nonZero[s] = false
		}
		return
	}
	if s < 0 {
		if w.addSlot(e, j); e.failure != nil {
			return
		}
		s = w.slot[j]
	}
	w.computeRow(e, j, r, step, w.rows[s])
	w.nonZero[s] = true
}

// updateRows is updateRow for a step of all coordinates at once.
func (w *jacobian) updateRows(e *engine) {
	for k, j := range e.order {
		if e.responses[k].moves() && w.slot[j] < 0 {
			if w.addSlot(e, j); e.failure != nil {
				return
			}
		}
	}
	for k, j := range e.order {
		s := w.slot[j]
		switch r := &e.responses[k]; {
		case s < 0:
		case r.moves():
			w.computeRow(e, j, r, e.step, w.next[s])
		default:
			clear(w.next[s])
		}
	}
	for k, j := range e.order {
		if s := w.slot[j]; s >= 0 {
			w.nonZero[s] = e.responses[k].moves()
		}
	}
	w.rows, w.next = w.next, w.rows
}

// gradient sets out[slot] = Σⱼ ∂C/∂βⱼ·Jⱼ and returns ‖∇_S C‖·max|J|, which bounds it
// up to √s.
func (w *jacobian) gradient(e *engine, out []float64) (scale float64) {
	clear(out)
	var lead, largest float64
	for s, j := range w.members {
		if w.nonZero[s] {
			a := e.outerDerivative(j, e.outerSlope, e.outerSlopeSum)
			lead = max(lead, math.Abs(a))
			largest = max(largest, e.k.MaxAbs(w.rows[s]))
			e.k.Axpy(a, w.rows[s], out)
		}
	}
	return lead * largest
}
