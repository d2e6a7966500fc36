package support

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
)

// BlockSystem is A = ∇²f_SS + ∇²g_SS on the coefficients S that are not 0, for a penalty on
// blocks of them. It is factorised where it is small, else left to conjugate gradients. It is
// not safe for concurrent use.
type BlockSystem struct {
	h             *Hessian
	gram          *Gram // of one score
	k             *kernels.Set
	q             int
	Columns       []int32 // include all columns of S; ascending
	Blocks        []LiveBlock
	entries       []int     // position in S → position of the column in Columns, times q, plus the score
	system        System    // of one score: ∇²f_SS
	systemColumns []int32   // the columns of system
	work          float64   // see [BlockSystem.Work]; without that of packed columns
	diag          []float64 // of A, computed when it is first needed
	scores        []scoreEntries

	l          []float64 // the factor
	factorised bool
	cg         CG
	full       []float64
}

// LiveBlock is a block with coefficients in S.
type LiveBlock struct {
	Block          int
	At             []int     // positions in S of its coefficients that are not 0
	Of             []int     // positions in the block of the same coefficients
	Beta           []float64 // all coefficients of the block
	penaltyHessian []float64 // ∇²g, len(At) × len(At)
}

// NewBlockSystem returns a system on a Hessian, to be set by [BlockSystem.Reset].
func NewBlockSystem(h *Hessian) *BlockSystem {
	a := &BlockSystem{h: h, k: h.view.Kernels(), cg: CG{Kernels: h.view.Kernels()}}
	a.gram = h.gram
	return a
}

// Hessian returns the Hessian of the loss.
func (a *BlockSystem) Hessian() *Hessian { return a.h }

// Size returns the number of coefficients in S.
func (a *BlockSystem) Size() int { return len(a.entries) }

// Reset makes a the system for the penalty g at the coefficients beta, where j·q + k stands for
// column j and score k. The Hessian must hold the columns listed, ascending, and these must include
// every column with a coefficient other than 0.
func (a *BlockSystem) Reset(g model.Blocks, part *model.Partition, columns []int32, beta []float64) {
	q := a.h.metric.Count
	a.q, a.Columns, a.Blocks, a.entries, a.factorised = q, columns, a.Blocks[:0], a.entries[:0], false
	a.cg.Near = nil
	place := map[int]int{} // coefficient → position in S
	var order []int
	seen := map[int]bool{}
	for c, j := range columns {
		for k := range q {
			if beta[int(j)*q+k] != 0 {
				place[int(j)*q+k] = len(a.entries)
				a.entries = append(a.entries, c*q+k)
			}
		}
		if b := part.Of(j); !seen[b] {
			seen[b] = true
			order = append(order, b)
		}
	}
	for _, b := range order {
		a.add(g, part, b, beta, place)
	}
	a.full, a.diag = resize(a.full, len(columns)*q), a.diag[:0]
	if a.gram == nil {
		a.entriesByScore()
		return
	}
	a.systemColumns = a.systemColumns[:0]
	for _, e := range a.entries {
		a.systemColumns = append(a.systemColumns, columns[e])
	}
	a.system.Reset(a.h.packed, a.systemColumns, 0)
}

// add appends a block, unless all its coefficients are 0. place has the positions in S.
func (a *BlockSystem) add(g model.Blocks, part *model.Partition, block int, beta []float64, place map[int]int) {
	own := part.Columns(block)
	d := len(own) * a.q
	one := LiveBlock{Block: block, Beta: make([]float64, d)}
	model.Gather(part, block, a.q, beta, one.Beta)
	for c, j := range own {
		for k := range a.q {
			if at, ok := place[int(j)*a.q+k]; ok {
				one.At, one.Of = append(one.At, at), append(one.Of, c*a.q+k)
			}
		}
	}
	if len(one.At) == 0 {
		return
	}
	h := make([]float64, d*d)
	g.Curvature(block, one.Beta, h)
	for _, r := range one.Of {
		for _, c := range one.Of {
			one.penaltyHessian = append(one.penaltyHessian, h[r*d+c])
		}
	}
	a.Blocks = append(a.Blocks, one)
}

// diagonal returns the diagonal of A.
func (a *BlockSystem) diagonal() []float64 {
	if len(a.diag) == len(a.entries) {
		return a.diag
	}
	a.diag = resize(a.diag, len(a.entries))
	if a.gram == nil {
		a.h.diagonal(a.scores, a.diag)
	} else {
		for at, c := range a.entries {
			a.diag[at] = a.h.packed.Square(a.Columns[c]) / a.h.total
		}
	}
	for _, b := range a.Blocks {
		for k, at := range b.At {
			a.diag[at] += b.penaltyHessian[k*len(b.At)+k]
		}
	}
	return a.diag
}

// Diagonal implements [Operator].
func (a *BlockSystem) Diagonal(out []float64) { copy(out, a.diagonal()) }

// Apply implements [Operator].
func (a *BlockSystem) Apply(v, out []float64) {
	if a.gram == nil {
		a.work += float64(a.h.VisitCost(a.Columns))
		a.h.apply(a.scores, v, out)
	} else {
		a.system.Apply(v, out)
	}
	a.addPenalty(v, out)
}

// Work returns the modelled cost, in nanoseconds, of all that has been done with systems and, for one score, with
// the packed columns since [BlockSystem.ClearWork]; see [Columns.Work].
func (a *BlockSystem) Work() float64 {
	if a.h.packed == nil {
		return a.work
	}
	return a.work + a.h.packed.Work()
}

// ClearWork sets the count of [BlockSystem.Work] to 0.
func (a *BlockSystem) ClearWork() {
	if a.work = 0; a.h.packed != nil {
		a.h.packed.ClearWork()
	}
}

// addPenalty adds ∇²g·v to out.
func (a *BlockSystem) addPenalty(v, out []float64) {
	for _, b := range a.Blocks {
		d := len(b.At)
		a.work += float64(DenseValue * float64(d*d))
		for k, at := range b.At {
			for l, from := range b.At {
				out[at] = math.FMA(b.penaltyHessian[k*d+l], v[from], out[at])
			}
		}
	}
}

// Spread returns v, a vector on S, as coefficients of Columns, q for each; 0 off S. The result is
// valid until the next call.
func (a *BlockSystem) Spread(v []float64) []float64 {
	clear(a.full)
	for at, e := range a.entries {
		a.full[e] = v[at]
	}
	return a.full
}

// Collect returns the entries on S of a vector with q entries for each of Columns.
func (a *BlockSystem) Collect(full []float64) []float64 {
	out := make([]float64, len(a.entries))
	for at, e := range a.entries {
		out[at] = full[e]
	}
	return out
}

// The largest systems that are factorised: largestBlock for one score, from the Gram matrix;
// unitProducts for several scores, from products with unit vectors. Where it is cheaper to write
// ∇²f out, largestJoint is the limit instead.
const (
	largestBlock = 1024
	unitProducts = 256
)

// paysToWrite reports whether ∇²f of several scores should be written out to be factorised.
func (a *BlockSystem) paysToWrite() bool {
	size := len(a.entries)
	return size <= largestJoint && a.h.writeCost(size) <= float64(min(size, unitProducts))*a.h.VisitCost(a.Columns)
}

// Factorises reports whether [BlockSystem.Factorise] can be tried.
func (a *BlockSystem) Factorises() bool {
	if a.gram != nil {
		return len(a.entries) <= largestBlock && a.gram.FitsWith(a.Columns)
	}
	return len(a.entries) <= unitProducts || a.paysToWrite()
}

// FactorPays reports whether a factor is cheaper than that many products with A. For several scores,
// which have no Gram matrix, it is false.
func (a *BlockSystem) FactorPays(products int) bool {
	if a.gram == nil || !a.Factorises() {
		return false
	}
	cost := a.gram.BuildCost(a.gram.Missing(a.Columns)) + CholeskyCost(len(a.entries))
	return cost < float64(float64(products)*a.h.packed.ProductCost(a.Columns))
}

// Factorise factorises A and reports whether it is positive definite.
func (a *BlockSystem) Factorise() bool { return a.factorise(0) }

// FactoriseShifted factorises A with share times the mean of its diagonal added to the diagonal, and
// reports whether the sum is positive definite.
func (a *BlockSystem) FactoriseShifted(share float64) bool {
	var sum float64
	for _, v := range a.diagonal() {
		sum += v
	}
	return a.factorise(share * sum / float64(len(a.entries)))
}

// Precondition makes conjugate gradients use, for several scores, a factor of A in which ∇²f is what was last written out, at a
// point near by. It does nothing where ∇²f was not written out for S, or the factor costs more than that many products with A.
func (a *BlockSystem) Precondition(products int) {
	s := len(a.entries)
	if a.gram != nil || CholeskyCost(s) > float64(products)*a.h.VisitCost(a.Columns) {
		return
	}
	a.l = resize(a.l, s*s)
	if !a.h.copyLastWritten(a.Coefficients(), a.l) {
		return
	}
	a.addPenaltyToFactor()
	a.diag = resize(a.diag, s)
	for k := range s {
		a.diag[k] = a.l[k*s+k]
		a.l[k*s+k] *= 1 + diagonalLift
	}
	a.work += CholeskyCost(s)
	if Cholesky(a.k, a.l, s) == s {
		a.cg.Near = a.solveFactored
		return
	}
	a.diag = a.diag[:0]
}

// diagonalLift is the share by which the diagonal is raised before the factorisation for a preconditioner, which need only be near A.
const diagonalLift = 1e-8

// solveFactored replaces b by the solution of the system that was factorised.
func (a *BlockSystem) solveFactored(b []float64) { CholeskySolve(a.k, a.l, len(b), b) }

func (a *BlockSystem) factorise(shift float64) bool {
	s := len(a.entries)
	a.l = resize(a.l, s*s)
	switch {
	case a.gram != nil:
		a.gram.Hold(a.Columns)
		a.gram.Submatrix(a.Columns, 0, a.l)
		a.addPenaltyToFactor()
	case a.paysToWrite():
		a.work += float64(a.h.writeCost(s))
		a.h.Write(a.Coefficients())
		a.h.copyWritten(a.l)
		a.h.unwrite()
		a.addPenaltyToFactor()
	default:
		unit := make([]float64, s)
		for at := range s {
			unit[at] = 1
			a.Apply(unit, a.l[at*s:][:s])
			unit[at] = 0
		}
	}
	for k := range s {
		a.l[k*s+k] += shift
	}
	a.work += float64(CholeskyCost(s))
	a.factorised = Cholesky(a.k, a.l, s) == s
	return a.factorised
}

// addPenaltyToFactor adds ∇²g to the matrix that is to be factorised.
func (a *BlockSystem) addPenaltyToFactor() {
	s := len(a.entries)
	for _, b := range a.Blocks {
		for k, row := range b.At {
			for l, col := range b.At {
				a.l[row*s+col] += b.penaltyHessian[k*len(b.At)+l]
			}
		}
	}
}

// Coefficients lists S; j·q + k stands for column j and score k.
func (a *BlockSystem) Coefficients() []int {
	list := make([]int, len(a.entries))
	for at, e := range a.entries {
		list[at] = int(a.Columns[e/a.q])*a.q + e%a.q
	}
	return list
}

// Margin returns, where A was factorised, a lower bound, up to rounding, of the smallest eigenvalue
// of A scaled to a diagonal of ones; else the ratio of the extreme Ritz values of the last solve.
func (a *BlockSystem) Margin() float64 {
	s := len(a.entries)
	if !a.factorised {
		smallest, largest := a.cg.Ritz()
		return smallest / largest
	}
	inverse, scratch := make([]float64, s), make([]float64, s)
	InverseDiagonal(a.k, a.l, s, inverse, scratch)
	var trace float64
	for k, v := range a.diagonal() {
		trace = math.FMA(inverse[k], v, trace)
	}
	return 1 / trace
}

// SolveStep sets x to about A⁻¹b, for a step that is followed by others. It uses the factor where there is one, else
// conjugate gradients, which end at a relative residual of tol, or earlier by [CG].Enough.
func (a *BlockSystem) SolveStep(ctx context.Context, b, x []float64, tol, enough float64) Report {
	if a.factorised {
		copy(x, b)
		a.solveFactored(x)
		return Report{Converged: true}
	}
	clear(x)
	a.cg.Enough = enough
	defer func() { a.cg.Enough = 0 }()
	return a.cg.Solve(ctx, a, b, x, tol, 10*len(b)+100)
}

// Solve sets x to A⁻¹b: by the factor where there is one, else by conjugate gradients from 0 to
// a relative residual of tol.
func (a *BlockSystem) Solve(ctx context.Context, b, x []float64, tol float64) Report {
	if !a.factorised {
		clear(x)
		return a.cg.Solve(ctx, a, b, x, tol, 10*len(b)+100)
	}
	copy(x, b)
	CholeskySolve(a.k, a.l, len(b), x)
	residual := make([]float64, len(b))
	for range 2 { // steps of refinement; the report has the residual before the second
		a.Apply(x, residual)
		for k, v := range b {
			residual[k] = v - residual[k]
		}
		copy(a.scratch(), residual)
		CholeskySolve(a.k, a.l, len(b), a.cg.q)
		a.k.Axpy(1, a.cg.q, x)
	}
	var norm, size float64
	for k, d := range a.diagonal() {
		norm = math.FMA(residual[k]/d, residual[k], norm)
		size = math.FMA(b[k]/d, b[k], size)
	}
	report := Report{Residual: math.Sqrt(norm), Converged: true}
	if size > 0 {
		report.Relative = report.Residual / math.Sqrt(size)
	}
	return report
}

// scratch returns a vector on S.
func (a *BlockSystem) scratch() []float64 {
	a.cg.q = resize(a.cg.q, len(a.entries))
	return a.cg.q
}
