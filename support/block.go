package support

import (
	"context"
	"math"
	"slices"
)

// block eliminates the longest columns L of a system, exactly; conjugate gradients are
// left with the others, R, and the Schur complement
//
//	A_RR − A_RL·A_LL⁻¹·A_LR
//
// A product is one with R around a projection: u = X̃_R·v, u − X̃_L·A_LL⁻¹·X̃_Lᵀu/N, and
// products of R with that. It costs what one with A does. On text long columns have most
// in common, and it takes half of the iterations.
//
// Vectors of the iteration have an entry for each column of R and, last, one in which the
// operator is 1: what the elimination solves at once. So norms are
//
//	‖ρ‖² = ρᵀM⁻¹ρ = ρ_LᵀA_LL⁻¹ρ_L + Σ_R ρ̃ₖ²/Aₖₖ,  ρ̃ = ρ_R − A_RL·A_LL⁻¹ρ_L
type block struct {
	columns  []int32 // L; none: nothing is eliminated
	position []int32 // of each in the list of the system
	l        []float64
	from, to []int64   // of each in the store
	means    []float64 // of each, to carry
	y        []float64 // a vector on L

	rest  *System // of R
	list  []int32 // R
	place []int32 // of each in the list of the system

	b, x, null []float64
	count      []int32 // length → columns
}

const (
	blockSize  = 192
	blockSaves = 0.5 // of the iterations
	mostDrops  = 16  // columns of L that may depend on others
)

// longest takes in the longest columns of the system, the first ones of those that
// are of the same length.
func (e *block) longest(a *System) {
	e.count = resize(e.count, a.columns.m+1)
	clear(e.count)
	for i := range a.list {
		e.count[a.to[i]-a.from[i]]++
	}
	least, longer := a.columns.m, 0
	for least > 0 && longer+int(e.count[least]) < blockSize {
		longer += int(e.count[least])
		least--
	}
	ties := blockSize - longer
	e.columns, e.position = e.columns[:0], e.position[:0]
	for i, j := range a.list {
		length := int(a.to[i] - a.from[i])
		if length == least && ties > 0 {
			ties--
		} else if length <= least {
			continue
		}
		e.columns, e.position = append(e.columns, j), append(e.position, int32(i))
	}
}

// Factorise eliminates the longest columns where that pays for itself in so many
// products with the system; so many systems share what the Gram matrix lacks.
func (a *System) Factorise(gram *Gram, products, systems float64) {
	e := &a.block
	if a.columns.dense || len(a.list) < 2*blockSize {
		return
	}
	e.longest(a)
	const size = float64(blockSize)
	missing, _ := gram.Missing(e.columns)
	cost := gram.BuildCost(e.columns)/systems + float64(FactorValue*size*size*size/6) + float64(2*products*DenseValue*size*size)
	if !gram.Fits(missing) || cost > float64(blockSaves*products*a.columns.ProductCost(a.list)) || !e.factorise(a, gram) {
		e.columns = e.columns[:0]
		return
	}
	e.split(a)
}

// factorise factorises A_LL. Columns that depend on others of L leave it.
func (e *block) factorise(a *System, gram *Gram) bool {
	gram.Hold(e.columns)
	e.l = resize(e.l, blockSize*blockSize)
	for range mostDrops {
		size := len(e.columns)
		gram.Submatrix(e.columns, a.ridge, e.l)
		rows := Cholesky(a.k, e.l, size)
		if rows == size {
			return true
		}
		e.columns, e.position = slices.Delete(e.columns, rows, rows+1), slices.Delete(e.position, rows, rows+1)
	}
	return false
}

// split makes the system of R.
func (e *block) split(a *System) {
	size := len(e.columns)
	e.from, e.to, e.means, e.y = resize(e.from, size), resize(e.to, size), resize(e.means, size), resize(e.y, size)
	e.list, e.place = e.list[:0], e.place[:0]
	k := 0
	for i, j := range a.list {
		if k < size && int(e.position[k]) == i {
			e.from[k], e.to[k], e.means[k] = a.from[i], a.to[i], a.means[i]
			k++
			continue
		}
		e.list, e.place = append(e.list, j), append(e.place, int32(i))
	}
	e.b, e.x = resize(e.b, len(e.list)+1), resize(e.x, len(e.list)+1)
	if e.rest == nil {
		e.rest = new(System)
	}
	e.rest.Reset(a.columns, e.list, a.ridge)
}

// Factorised reports whether columns have been eliminated.
func (a *System) Factorised() bool { return len(a.block.columns) > 0 }

// Solve improves x as [CG.Solve] does, after an elimination from what x is on the other
// columns.
func (a *System) Solve(ctx context.Context, cg *CG, b, x []float64, tol float64, maxIterations int) Report {
	e := &a.block
	if !a.Factorised() {
		return cg.Solve(ctx, a, b, x, tol, maxIterations)
	}
	e.reduce(b, e.b)
	for k, i := range e.place {
		e.x[k] = x[i]
	}
	e.x[len(e.place)] = e.b[len(e.place)]
	report := cg.Solve(ctx, e, e.b, e.x, tol, maxIterations)
	e.restore(e.x, b, x)
	if report.Null != nil {
		e.null = resize(e.null, len(x))
		e.restore(report.Null, nil, e.null)
		report.Null = e.null
	}
	return report
}

// Norm returns ‖v‖ as reports on the last solve have it.
func (a *System) Norm(cg *CG, v []float64) float64 {
	if !a.Factorised() {
		return cg.Norm(v)
	}
	a.block.reduce(v, a.block.b)
	return cg.Norm(a.block.b)
}

// Apply implements [Operator].
func (e *block) Apply(v, out []float64) {
	last := len(e.list)
	e.rest.spread(v[:last])
	e.meet()
	e.solve()
	e.leave()
	e.rest.collect(out[:last])
	e.rest.k.Axpy(e.rest.ridge, v[:last], out[:last])
	out[last] = v[last]
}

// Diagonal implements [Operator].
func (e *block) Diagonal(out []float64) {
	last := len(e.list)
	e.rest.Diagonal(out[:last])
	out[last] = 1
}

// reduce sets out to a right-hand side of the iteration.
func (e *block) reduce(v, out []float64) {
	last := len(e.list)
	for k, i := range e.position {
		e.y[k] = v[i]
	}
	e.solve()
	out[last] = 0
	for k, i := range e.position {
		out[last] = math.FMA(v[i], e.y[k], out[last])
	}
	out[last] = math.Sqrt(max(0, out[last]))
	clear(e.rest.u)
	e.leave()
	e.rest.collect(out[:last])
	for k, i := range e.place {
		out[k] += v[i]
	}
}

// restore sets x to what a vector of the iteration stands for, A_LL·x_L + A_LR·x_R = b_L;
// nil: 0.
func (e *block) restore(v, b, x []float64) {
	e.rest.spread(v[:len(e.list)])
	e.meet()
	for k, i := range e.position {
		e.y[k] = -e.y[k]
		if b != nil {
			e.y[k] += b[i]
		}
	}
	e.solve()
	for k, i := range e.position {
		x[i] = e.y[k]
	}
	for k, i := range e.place {
		x[i] = v[k]
	}
}

// meet sets y = X̃_Lᵀu/N.
func (e *block) meet() {
	c := e.rest.columns
	e.rest.k.DotSpans(e.from, e.to, c.index, c.values, e.rest.u, e.y)
	for k := range e.y {
		e.y[k] /= c.view.Total()
	}
}

// solve sets y to A_LL⁻¹y.
func (e *block) solve() { CholeskySolve(e.rest.k, e.l, len(e.y), e.y) }

// leave takes X̃_L·y from u.
func (e *block) leave() {
	c, u := e.rest.columns, e.rest.u
	for k, v := range e.y {
		e.rest.k.AxpyIndexed(-v, c.values[e.from[k]:e.to[k]], c.index[e.from[k]:e.to[k]], u)
	}
	if shift := e.rest.k.Dot(e.means, e.y); shift != 0 {
		c.lower(u, -shift)
	}
}
