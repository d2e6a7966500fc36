package support

import (
	"context"
	"math"
	"slices"
)

// elimination eliminates the longest columns L of a system, exactly. Conjugate gradients then
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
type elimination struct {
	columnsL               []int32   // L; none: nothing is eliminated
	columnsR               []int32   // R
	positionsL, positionsR []int32   // positions of L and of R in the list of the system
	systemL, systemR       *System   // of L and of R
	factorL                []float64 // factor of A_LL
	vectorL                []float64 // a vector on L

	b, x, null []float64
	count      []int32 // length → number of columns
}

const (
	eliminationSize  = 192
	eliminationSaves = 0.5 // share of the iterations that the elimination saves
	mostDrops        = 16  // attempts to factorise, after each of which a column of L that depends on others is dropped
)

// chooseL sets L to the longest columns of the system; among equally long columns it takes
// the first ones.
func (e *elimination) chooseL(a *System) {
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
	for least > 0 && longer+int(e.count[least]) < eliminationSize {
		longer += int(e.count[least])
		least--
	}
	ties := eliminationSize - longer
	e.columnsL, e.positionsL = e.columnsL[:0], e.positionsL[:0]
	for i, j := range a.list {
		length := a.columns.Length(j)
		if length == least && ties > 0 {
			ties--
		} else if length <= least {
			continue
		}
		e.columnsL, e.positionsL = append(e.columnsL, j), append(e.positionsL, int32(i))
	}
}

// Factorise eliminates the longest columns where that pays for itself in the given number
// of products with the system. The cost of the rows that the Gram matrix lacks is spread
// over the given number of systems.
func (a *System) Factorise(gram *Gram, products, systems float64) {
	e := &a.elimination
	if a.columns.dense || len(a.list) < 2*eliminationSize {
		return
	}
	e.chooseL(a)
	const size = float64(eliminationSize)
	missing := gram.Missing(e.columnsL)
	cost := gram.BuildCost(missing)/systems + float64(FactorValue*size*size*size/6) + float64(2*products*DenseValue*size*size)
	if !gram.Fits(missing.Columns()) || cost > float64(eliminationSaves*products*a.columns.ProductCost(a.list)) || !e.factorise(a, gram) {
		e.columnsL = e.columnsL[:0]
		return
	}
	e.separate(a)
}

// factorise factorises A_LL. It drops columns of L that depend on other columns of L, and
// returns false where there are too many.
func (e *elimination) factorise(a *System, gram *Gram) bool {
	gram.Hold(e.columnsL)
	e.factorL = resize(e.factorL, eliminationSize*eliminationSize)
	for range mostDrops {
		size := len(e.columnsL)
		gram.Submatrix(e.columnsL, a.ridge, e.factorL)
		a.columns.work += CholeskyCost(size)
		rows := Cholesky(a.k, e.factorL, size)
		if rows == size {
			return true
		}
		e.columnsL, e.positionsL = slices.Delete(e.columnsL, rows, rows+1), slices.Delete(e.positionsL, rows, rows+1)
	}
	return false
}

// separate sets R and makes the systems of L and of R.
func (e *elimination) separate(a *System) {
	e.columnsR, e.positionsR = e.columnsR[:0], e.positionsR[:0]
	k := 0
	for i, j := range a.list {
		if k < len(e.positionsL) && int(e.positionsL[k]) == i {
			k++
			continue
		}
		e.columnsR, e.positionsR = append(e.columnsR, j), append(e.positionsR, int32(i))
	}
	e.vectorL, e.b, e.x = resize(e.vectorL, len(e.columnsL)), resize(e.b, len(e.columnsR)), resize(e.x, len(e.columnsR))
	if e.systemL == nil {
		e.systemL, e.systemR = new(System), new(System)
	}
	e.systemL.reset(a.columns, &a.columns.longBands, &a.columns.scratch[1], e.columnsL, 0)
	e.systemR.reset(a.columns, &a.columns.bands, &a.columns.scratch[0], e.columnsR, a.ridge)
}

// Factorised reports whether columns have been eliminated.
func (a *System) Factorised() bool { return len(a.elimination.columnsL) > 0 }

// Solve improves x as [CG.Solve] does. Where columns are eliminated, it starts from x on the
// other columns only.
func (a *System) Solve(ctx context.Context, cg *CG, b, x []float64, tol float64, maxIterations int) Report {
	e := &a.elimination
	if !a.Factorised() {
		return cg.Solve(ctx, a, b, x, tol, maxIterations)
	}
	known := e.reduce(b)
	for k, i := range e.positionsR {
		e.x[k] = x[i]
	}
	if cg.follower != nil {
		cg.follower.begin(e)
	}
	report := cg.solve(ctx, e, e.b, e.x, known, tol, maxIterations)
	if cg.follower != nil && cg.last {
		cg.follower.restore(e, e.x, x)
	} else {
		e.backSubstitute(e.x, b, x)
	}
	if report.Null != nil {
		e.null = resize(e.null, len(x))
		e.backSubstitute(report.Null, nil, e.null)
		report.Null = e.null
	}
	return report
}

// Remainder sets out = b − A·x for the x that [System.Solve] has found for b; it is 0 on the
// columns eliminated.
func (a *System) Remainder(b, x, out []float64) {
	e := &a.elimination
	if !a.Factorised() {
		a.Apply(x, out)
		for i, v := range b {
			out[i] = v - out[i]
		}
		return
	}
	e.reduce(b)
	e.null = resize(e.null, len(x))
	rest := e.null[:len(e.columnsR)]
	for k, i := range e.positionsR {
		e.x[k] = x[i]
	}
	e.Apply(e.x, rest)
	for _, i := range e.positionsL {
		out[i] = 0
	}
	for k, i := range e.positionsR {
		out[i] = e.b[k] - rest[k]
	}
}

// Norm returns ‖v‖ in the norm that the report on the last solve has.
func (a *System) Norm(cg *CG, v []float64) float64 {
	if !a.Factorised() {
		return cg.Norm(v)
	}
	known := a.elimination.reduce(v)
	return cg.norm(a.elimination.b, known)
}

// Apply implements [Operator].
func (e *elimination) Apply(v, out []float64) {
	e.systemR.predict(v)
	e.systemL.correlate(e.systemR.u, e.vectorL)
	e.solve()
	e.systemL.predict(e.vectorL)
	e.systemR.k.Axpy(-1, e.systemL.u, e.systemR.u)
	e.systemR.correlate(e.systemR.u, out)
	e.systemR.k.Axpy(e.systemR.ridge, v, out)
}

// Diagonal implements [Operator].
func (e *elimination) Diagonal(out []float64) { e.systemR.Diagonal(out) }

// reduce sets b to ρ̃ for a vector ρ, and returns ρ_LᵀA_LL⁻¹ρ_L.
func (e *elimination) reduce(rho []float64) (known float64) {
	for k, i := range e.positionsL {
		e.vectorL[k] = rho[i]
	}
	e.solve()
	for k, i := range e.positionsL {
		known = math.FMA(rho[i], e.vectorL[k], known)
	}
	e.systemL.predict(e.vectorL)
	e.systemR.correlate(e.systemL.u, e.b)
	for k, i := range e.positionsR {
		e.b[k] = rho[i] - e.b[k]
	}
	return max(0, known)
}

// backSubstitute sets x to v on R and, on L, to the solution of A_LL·x_L + A_LR·v = b_L;
// b nil: 0.
func (e *elimination) backSubstitute(v, b, x []float64) {
	e.systemR.predict(v)
	e.systemL.correlate(e.systemR.u, e.vectorL)
	for k, i := range e.positionsL {
		e.vectorL[k] = -e.vectorL[k]
		if b != nil {
			e.vectorL[k] += b[i]
		}
	}
	e.solve()
	for k, i := range e.positionsL {
		x[i] = e.vectorL[k]
	}
	for k, i := range e.positionsR {
		x[i] = v[k]
	}
}

// solve sets y to A_LL⁻¹y.
func (e *elimination) solve() {
	size := float64(len(e.vectorL))
	e.systemL.columns.work += float64(2 * DenseValue * size * size)
	CholeskySolve(e.systemL.k, e.factorL, len(e.vectorL), e.vectorL)
}
