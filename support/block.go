package support

import (
	"context"
	"math"
	"slices"
)

// block eliminates the longest columns L of a system, exactly. Conjugate gradients then
// solve for the other columns, R, with the Schur complement
//
//	A_RR − A_RL·A_LL⁻¹·A_LR
//
// A product with it forms u = X̃_R·v, then the projection u − X̃_L·A_LL⁻¹·X̃_Lᵀu/N, then
// the products of the columns R with that. It costs as much as a product with A. On text,
// long columns overlap most, and the elimination halves the number of iterations.
//
// Norms include the part of the right-hand side that the elimination solves:
//
//	‖ρ‖² = ρᵀM⁻¹ρ = ρ_LᵀA_LL⁻¹ρ_L + Σ_R ρ̃ₖ²/Aₖₖ,  ρ̃ = ρ_R − A_RL·A_LL⁻¹ρ_L
type block struct {
	columns     []int32   // L; none: nothing is eliminated
	rest        []int32   // R
	place, home []int32   // positions of L and of R in the list of the system
	long, short *System   // of L and of R
	l           []float64 // factor of A_LL
	y           []float64 // a vector on L

	b, x, null []float64
	count      []int32 // length → number of columns
}

const (
	blockSize  = 192
	blockSaves = 0.5 // share of the iterations that the elimination saves
	mostDrops  = 16  // attempts to factorise, after each of which a column of L that depends on others is dropped
)

// longest sets L to the longest columns of the system; among equally long columns it takes
// the first ones.
func (e *block) longest(a *System) {
	longest := 0
	for _, j := range a.list {
		longest = max(longest, a.columns.Length(j))
	}
	e.count = resize(e.count, longest+1)
	clear(e.count)
	for _, j := range a.list {
		e.count[a.columns.Length(j)]++
	}
	least, longer := longest, 0
	for least > 0 && longer+int(e.count[least]) < blockSize {
		longer += int(e.count[least])
		least--
	}
	ties := blockSize - longer
	e.columns, e.place = e.columns[:0], e.place[:0]
	for i, j := range a.list {
		length := a.columns.Length(j)
		if length == least && ties > 0 {
			ties--
		} else if length <= least {
			continue
		}
		e.columns, e.place = append(e.columns, j), append(e.place, int32(i))
	}
}

// Factorise eliminates the longest columns where that pays for itself in the given number
// of products with the system. The cost of the rows that the Gram matrix lacks is spread
// over the given number of systems.
func (a *System) Factorise(gram *Gram, products, systems float64) {
	e := &a.block
	if a.columns.dense || len(a.list) < 2*blockSize {
		return
	}
	e.longest(a)
	const size = float64(blockSize)
	missing := gram.Missing(e.columns)
	cost := gram.BuildCost(missing)/systems + float64(FactorValue*size*size*size/6) + float64(2*products*DenseValue*size*size)
	if !gram.Fits(missing.Columns()) || cost > float64(blockSaves*products*a.columns.ProductCost(a.list)) || !e.factorise(a, gram) {
		e.columns = e.columns[:0]
		return
	}
	e.split(a)
}

// factorise factorises A_LL. It drops columns of L that depend on other columns of L, and
// returns false where there are too many.
func (e *block) factorise(a *System, gram *Gram) bool {
	gram.Hold(e.columns)
	e.l = resize(e.l, blockSize*blockSize)
	for range mostDrops {
		size := len(e.columns)
		gram.Submatrix(e.columns, a.ridge, e.l)
		a.columns.work += CholeskyCost(size)
		rows := Cholesky(a.k, e.l, size)
		if rows == size {
			return true
		}
		e.columns, e.place = slices.Delete(e.columns, rows, rows+1), slices.Delete(e.place, rows, rows+1)
	}
	return false
}

// split sets R and makes the systems of L and of R.
func (e *block) split(a *System) {
	e.rest, e.home = e.rest[:0], e.home[:0]
	k := 0
	for i, j := range a.list {
		if k < len(e.place) && int(e.place[k]) == i {
			k++
			continue
		}
		e.rest, e.home = append(e.rest, j), append(e.home, int32(i))
	}
	e.y, e.b, e.x = resize(e.y, len(e.columns)), resize(e.b, len(e.rest)), resize(e.x, len(e.rest))
	if e.long == nil {
		e.long, e.short = new(System), new(System)
	}
	e.long.reset(a.columns, &a.columns.longBands, &a.columns.scratch[1], e.columns, 0)
	e.short.reset(a.columns, &a.columns.bands, &a.columns.scratch[0], e.rest, a.ridge)
}

// Factorised reports whether columns have been eliminated.
func (a *System) Factorised() bool { return len(a.block.columns) > 0 }

// Solve improves x as [CG.Solve] does. Where columns are eliminated, it starts from x on the
// other columns only.
func (a *System) Solve(ctx context.Context, cg *CG, b, x []float64, tol float64, maxIterations int) Report {
	e := &a.block
	if !a.Factorised() {
		return cg.Solve(ctx, a, b, x, tol, maxIterations)
	}
	known := e.reduce(b)
	for k, i := range e.home {
		e.x[k] = x[i]
	}
	if cg.follower != nil {
		cg.follower.begin(e)
	}
	report := cg.solve(ctx, e, e.b, e.x, known, tol, maxIterations)
	if cg.follower != nil && cg.last {
		cg.follower.restore(e, e.x, x)
	} else {
		e.restore(e.x, b, x)
	}
	if report.Null != nil {
		e.null = resize(e.null, len(x))
		e.restore(report.Null, nil, e.null)
		report.Null = e.null
	}
	return report
}

// Remainder sets out = b − A·x for the x that [System.Solve] has found for b; it is 0 on the
// columns eliminated.
func (a *System) Remainder(b, x, out []float64) {
	e := &a.block
	if !a.Factorised() {
		a.Apply(x, out)
		for i, v := range b {
			out[i] = v - out[i]
		}
		return
	}
	e.reduce(b)
	e.null = resize(e.null, len(x))
	rest := e.null[:len(e.rest)]
	for k, i := range e.home {
		e.x[k] = x[i]
	}
	e.Apply(e.x, rest)
	for _, i := range e.place {
		out[i] = 0
	}
	for k, i := range e.home {
		out[i] = e.b[k] - rest[k]
	}
}

// Norm returns ‖v‖ in the norm that the report on the last solve has.
func (a *System) Norm(cg *CG, v []float64) float64 {
	if !a.Factorised() {
		return cg.Norm(v)
	}
	known := a.block.reduce(v)
	return cg.norm(a.block.b, known)
}

// Apply implements [Operator].
func (e *block) Apply(v, out []float64) {
	e.short.spread(v)
	e.long.collect(e.short.u, e.y)
	e.solve()
	e.long.spread(e.y)
	e.short.k.Axpy(-1, e.long.u, e.short.u)
	e.short.collect(e.short.u, out)
	e.short.k.Axpy(e.short.ridge, v, out)
}

// Diagonal implements [Operator].
func (e *block) Diagonal(out []float64) { e.short.Diagonal(out) }

// reduce sets b to ρ̃ for a vector ρ, and returns ρ_LᵀA_LL⁻¹ρ_L.
func (e *block) reduce(rho []float64) (known float64) {
	for k, i := range e.place {
		e.y[k] = rho[i]
	}
	e.solve()
	for k, i := range e.place {
		known = math.FMA(rho[i], e.y[k], known)
	}
	e.long.spread(e.y)
	e.short.collect(e.long.u, e.b)
	for k, i := range e.home {
		e.b[k] = rho[i] - e.b[k]
	}
	return max(0, known)
}

// restore sets x to v on R and, on L, to the solution of A_LL·x_L + A_LR·v = b_L;
// b nil: 0.
func (e *block) restore(v, b, x []float64) {
	e.short.spread(v)
	e.long.collect(e.short.u, e.y)
	for k, i := range e.place {
		e.y[k] = -e.y[k]
		if b != nil {
			e.y[k] += b[i]
		}
	}
	e.solve()
	for k, i := range e.place {
		x[i] = e.y[k]
	}
	for k, i := range e.home {
		x[i] = v[k]
	}
}

// solve sets y to A_LL⁻¹y.
func (e *block) solve() {
	size := float64(len(e.y))
	e.long.columns.work += float64(2 * DenseValue * size * size)
	CholeskySolve(e.long.k, e.l, len(e.y), e.y)
}
