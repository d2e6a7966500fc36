package iterdiff

import "math"

// forwardMode holds what is updated along with a descent: the Jacobian, or its columns.
type forwardMode struct {
	tangents       []tangent
	columns        [][]float64 // of the Jacobian, for Watch
	jacobian       jacobian
	gradientBySlot []float64 // the gradient by slot
	last           []float64 // the gradient of the epoch before
}

// tangent is the derivative of a state in one shared hyperparameter, updated along a descent: a column of the
// Jacobian J and its image ZJ = û + offset·1.
type tangent struct {
	j      []float64
	u      []float64
	offset float64
}

func (e *engine) clearTangents(count int) {
	for len(e.tangents) < count {
		e.tangents = append(e.tangents, tangent{j: make([]float64, e.p), u: make([]float64, e.n)})
	}
	e.tangents = e.tangents[:count]
	for i := range e.tangents {
		t := &e.tangents[i]
		clear(t.j)
		clear(t.u)
		t.offset = 0
	}
}

// updateTangents updates row j of the Jacobian for a coordinate step, before the state
// moves: Jⱼ ← ∂_z prox·(Jⱼ − γ∇²ⱼ:f·J) + ∂_λ prox.
func (e *engine) updateTangents(j int32, r *response, step float64) {
	for i := range e.tangents {
		e.updateTangentRow(&e.tangents[i], j, i, r, step)
	}
}

func (e *engine) updateTangentRow(t *tangent, j int32, i int, r *response, step float64) {
	next := e.derivative(t, j, i, r, step)
	if d := next - t.j[j]; d != 0 {
		t.j[j] = next
		e.addColumn(j, d, t.u, &t.offset)
	}
}

// updateTangent updates column i of the Jacobian for a step of all coordinates at once, from their responses.
func (e *engine) updateTangent(t *tangent, i int) {
	for k, j := range e.order {
		t.j[j] = e.derivative(t, j, i, &e.responses[k], e.step)
	}
	clear(t.u)
	t.offset = 0
	for _, j := range e.order {
		if t.j[j] != 0 {
			e.addColumn(j, t.j[j], t.u, &t.offset)
		}
	}
}

// derivative returns the new Jⱼ in hyperparameter i.
func (e *engine) derivative(t *tangent, j int32, i int, r *response, step float64) float64 {
	next := r.dl[i]
	if r.dz != 0 {
		dz := math.FMA(-step, e.hessianDot(&e.now, j, t.u, t.offset), t.j[j])
		next = math.FMA(r.dz, dz, next)
	}
	return next
}
