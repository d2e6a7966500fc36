package implicit

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// direct solves the system of a small support by its Cholesky factor, A + E = L·Lᵀ, and proves a bound of the
// error. With m rows, s columns, D = diag A and wⱼ² = Aⱼⱼ, taken before a mean is subtracted, rounding leaves
//
//	|Eᵢⱼ| ≤ (m + 2s + 8)u·wᵢwⱼ
//
// (Higham, Accuracy and Stability of Numerical Algorithms, 2002, theorem 10.3), so that
// ‖D^-½ED^-½‖ ≤ ε = (m + 2s + 8)u·Σwⱼ²/Aⱼⱼ. The smallest eigenvalue of D^-½LLᵀD^-½ is
// at least 1/τ, τ the trace of the inverse; hence (1 − ετ)·LLᵀ ≼ A.
//
// Copies of a column share its coefficient. Let E be their signs, s × r for r columns that are no copies of
// one another: then A = E·A_r·Eᵀ, and the solution of least norm is A⁺b = E·K⁻¹A_r⁻¹K⁻¹Eᵀb, where K = EᵀE
// holds the numbers of copies.
type direct struct {
	ready, dependent bool
	kernels          *kernels.Set
	size             int // r
	l                []float64
	inverse          []float64 // diagonal of (LLᵀ)⁻¹
	x, y             []float64 // scratch on all columns
	inverseTrace     float64   // 1/τ
	keptShare        float64   // 1 − ετ
	leverage         float64   // see [Solver.leverage]; 0 until it is computed

	representatives []int32   // r columns
	position        []int32   // for each column, the position among representatives of the column it copies; nil: no copies
	sign            []float64 // the sign of each copy
	count           []float64 // K, the numbers of copies
	z               []float64 // scratch on representatives
}

const (
	largestDirect     = 256
	unitRoundoff      = 0x1p-53
	extraRoundings    = 8    // roundings in a term, besides those whose number grows with the problem
	mostRoundingShare = 0.5  // the largest share of A that rounding may take
	traceSlack        = 1.01 // for the rounding of τ itself
	refinements       = 3
	leastCosine       = 0.99 // the least cosine of columns that are compared as copies
)

// factorPays reports whether the factor of the columns is asked for, or cheaper than the given number of
// products.
func (s *Solver) factorPays(columns []int32, products int, asked bool) bool {
	size := float64(len(columns))
	missing := s.gram.Missing(columns)
	if s.iterative || len(columns) > largestDirect || !s.gram.Fits(missing.Columns()) {
		return false
	}
	cost := s.gram.BuildCost(missing) + float64(support.FactorValue*size*size*size/3)
	return asked || cost < float64(float64(products)*s.store.ProductCost(columns))
}

// sumRoundings bounds the number of roundings of a term in a sum over n rows: kernels have four partial sums or
// more, block by block.
func sumRoundings(n int) float64 { return float64(n/4 + n/kernels.Block + 2 + extraRoundings) }

// factoriseDirect factorises the system of the columns, which are in the Gram matrix. It does not set ready,
// but depends, where the columns depend on one another, other than as copies, or may do so within rounding.
func (s *Solver) factoriseDirect(columns []int32, g model.Penalty) {
	f := &s.direct
	f.kernels, f.representatives, f.position, f.size = s.k, columns, nil, len(columns)
	for _, v := range []*[]float64{&f.x, &f.y, &f.z, &f.inverse} {
		*v = resize(*v, len(columns))
	}
	f.leverage = 0
	f.ready = s.factoriseRepresentatives(g.Ridge())
	if equal, opposite := g.Indifferent(); !f.ready && equal {
		if near := s.parallel(columns); len(near) > 0 && f.setRepresentatives(s.view.NewCopies(opposite), columns, near) {
			f.ready = s.factoriseRepresentatives(g.Ridge())
		}
	}
	f.dependent = !f.ready
	var growth float64
	for k, j := range columns {
		growth += s.uncentredSquare(k, j) / s.diag[k]
	}
	lost := float64(float64(s.store.Rows()+2*f.size+extraRoundings) * unitRoundoff * growth / f.inverseTrace)
	if f.keptShare = 1 - lost; !(f.keptShare > mostRoundingShare) {
		f.ready, f.dependent = false, true
	}
}

// factoriseRough factorises the system of the columns, which are in the Gram matrix, without a bound of
// the error, and reports success.
func (s *Solver) factoriseRough(columns []int32, ridge float64) bool {
	f := &s.direct
	f.kernels, f.representatives, f.position, f.size = s.k, columns, nil, len(columns)
	f.l, f.z = resize(f.l, f.size*f.size), resize(f.z, f.size)
	s.gram.Submatrix(columns, ridge, f.l)
	return support.Cholesky(s.k, f.l, f.size) == f.size
}

// factoriseRepresentatives factorises the system of the representatives and reports success.
func (s *Solver) factoriseRepresentatives(ridge float64) bool {
	f := &s.direct
	f.l = resize(f.l, f.size*f.size)
	s.gram.Submatrix(f.representatives, ridge, f.l)
	if support.Cholesky(s.k, f.l, f.size) < f.size {
		return false
	}
	support.InverseDiagonal(s.k, f.l, f.size, f.inverse, f.x[:f.size])
	var trace float64
	for k, d := range s.diag {
		at := k
		if f.position != nil {
			at = int(f.position[k])
		}
		trace = math.FMA(d, f.inverse[at], trace)
	}
	f.inverseTrace = 1 / (traceSlack * trace)
	return true
}

// parallel returns the columns that, by the Gram matrix, are parallel to another or nearly so, as copies are:
// comparing the columns themselves is more expensive.
func (s *Solver) parallel(columns []int32) (near []int32) {
	f, size := &s.direct, len(columns)
	f.l = resize(f.l, size*size)
	s.gram.Submatrix(columns, 0, f.l)
	for a, j := range columns {
		for b := range columns {
			if a != b && math.Abs(f.l[a*size+b]) >= leastCosine*math.Sqrt(f.l[a*size+a])*math.Sqrt(f.l[b*size+b]) {
				near = append(near, j)
				break
			}
		}
	}
	return near
}

// setRepresentatives finds the columns that copy others, among those of near, and sets the representatives. It returns
// false where there is no copy.
func (f *direct) setRepresentatives(copies *sparse.Copies, columns, near []int32) bool {
	if len(copies.Find(near)) == 0 {
		return false
	}
	f.representatives, f.sign, f.count = nil, resize(f.sign, len(columns)), f.count[:0]
	f.position = make([]int32, len(columns))
	number := map[int32]int32{}
	for k, j := range columns {
		rep := copies.Representative(j)
		at, met := number[rep.Column]
		if !met {
			at = int32(len(f.representatives))
			number[rep.Column] = at
			f.representatives, f.count = append(f.representatives, rep.Column), append(f.count, 0)
		}
		f.position[k], f.sign[k] = at, rep.Sign
		f.count[at]++
	}
	f.size = len(f.representatives)
	return true
}

// toRepresentatives sets z to K⁻¹Eᵀb, and returns it.
func (f *direct) toRepresentatives(b []float64) []float64 {
	z := f.z[:f.size]
	if f.position == nil {
		copy(z, b)
		return z
	}
	clear(z)
	for k, v := range b {
		z[f.position[k]] += f.sign[k] * v / f.count[f.position[k]]
	}
	return z
}

// solve sets x to A⁺b. b may be x.
func (f *direct) solve(b, x []float64) {
	z := f.toRepresentatives(b)
	support.CholeskySolve(f.kernels, f.l, f.size, z)
	if f.position == nil {
		copy(x, z)
		return
	}
	for k, at := range f.position {
		x[k] = f.sign[k] * z[at] / f.count[at]
	}
}

// inverseAt returns (LLᵀ)⁺ₖₖ.
func (f *direct) inverseAt(k int) float64 {
	if f.position == nil {
		return f.inverse[k]
	}
	count := f.count[f.position[k]]
	return f.inverse[f.position[k]] / (count * count)
}

// norm returns ‖v‖ in the norm of the last solve: √(vᵀ(LLᵀ)⁺v) where the factor is ready.
func (s *Solver) norm(v []float64) float64 {
	f := &s.direct
	if !f.ready {
		return s.system.Norm(&s.cg, v)
	}
	z := f.toRepresentatives(v)
	y := f.y[:f.size]
	copy(y, z)
	support.CholeskySolve(s.k, f.l, f.size, y)
	return math.Sqrt(max(0, s.k.Dot(z, y)))
}

// refine adds the factor's solution for b to x, which is 0, and improves it by iterative refinement on X.
func (s *Solver) refine(b, x []float64, tol float64) support.Report {
	f, norm := &s.direct, s.norm(b)
	if norm == 0 {
		return support.Report{Converged: true}
	}
	remaining := math.Inf(1)
	copy(f.x, b)
	for range refinements {
		f.solve(f.x, f.x)
		s.k.Axpy(1, f.x, x)
		copy(s.res, f.x)
		s.system.Apply(x, f.x)
		for i, v := range b {
			f.x[i] = v - f.x[i]
		}
		now := s.norm(f.x)
		if !(now < remaining) {
			s.k.Axpy(-1, s.res, x) // undo a step that was rounding only
			break
		}
		if remaining = now; remaining <= tol*norm {
			break
		}
	}
	rounding := s.residualRounding(s.support, b, x)
	return support.Report{Residual: remaining + rounding, Relative: (remaining + rounding) / norm, Converged: remaining <= max(tol*norm, rounding)}
}
