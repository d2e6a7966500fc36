package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/support"
)

// ridge solves problems with a ridge alone. There is no support to find: all columns
// with entries are in it, and the optimality conditions are one linear system,
//
//	A·d = ρ,  A = X̃ᵀX̃/N + α₂I,  ρ = z − α₂β,
//
// for the step d from any β. It is solved by Cholesky's method on A, or on the
// matrix of the rows by A⁻¹ = (I − X̃ᵀ(I + X̃X̃ᵀ/Nα₂)⁻¹X̃/Nα₂)/α₂, whichever is cheaper, or by
// conjugate gradients where both are large. Every step is from a certified point, so
// that steps refine one another.
type ridge struct {
	columns []int32
	way     ridgeWay
	planned bool

	rows   []float64 // X̃X̃ᵀ, lower triangle
	a      []float64 // the system, then its factor
	rho, d []float64
	t      []float64 // over the compact rows
	system support.System
	cg     support.CG
}

type ridgeWay int

const (
	columnFactor ridgeWay = iota
	rowFactor
	iterative
)

const (
	iterationsOf   = 100 // expected of conjugate gradients, for the plan
	ridgeStalled   = 3   // steps in a row that gain little, after which rounding has the rest
	ridgeMargin    = 0.3 // of the residual allowed, asked of conjugate gradients
	leastRidgeTol  = 1e-12
	pairsOfColumns = 0.5 // each pair of rows or columns meets once
)

// solveRidge is [Solver.Solve] for a ridge alone, from the last solution.
func (s *Solver) solveRidge(ctx context.Context, opts Options) (*Solution, error) {
	if s.curved != nil {
		return nil, outcome.At(outcome.BadParameter, "log_lambda", "a ridge alone needs the squared loss")
	}
	r, sol := &s.ridge, &s.sol
	s.plan()
	for _, j := range s.active {
		s.beta[j] = 0
	}
	for k, j := range sol.Support {
		if s.view.Norm(int(j)) > 0 {
			s.beta[j] = sol.Coef[k]
		}
	}
	s.copies, s.loose.columns = nil, s.loose.columns[:0]
	s.active = append(s.active[:0], r.columns...)
	s.set.keep(s)
	s.cert.aim(s.pen, s.view.Total(), nil)
	factorised := false
	for stalled := 0; ; {
		before := sol.RelativeGap
		s.certify()
		if err := s.within(opts); err != nil {
			return nil, err
		}
		if sol.Passes > 1 && sol.RelativeGap > 0.5*before {
			stalled++
		}
		switch {
		case sol.RelativeGap <= opts.Tol && (!opts.Polish || sol.Steps > 0 || ctx.Err() != nil):
			sol.Status = outcome.Converged
			return sol, nil
		case stalled >= ridgeStalled || s.in.exhausted():
			sol.Status = outcome.NotConverged
			return sol, nil
		case ctx.Err() != nil:
			sol.Status = outcome.Cancelled
			return sol, nil
		}
		for k, j := range r.columns {
			z := s.cert.corr[s.cert.place[j]] / s.view.Total()
			r.rho[k] = math.FMA(-s.pen.Ridge(), s.beta[j], z)
		}
		if !factorised && r.way != iterative {
			factorised = s.factorise()
		}
		if factorised {
			s.solveFactored()
			s.in.left--
		} else if !s.iterate(ctx, opts) {
			sol.Status = outcome.Cancelled
			return sol, nil
		}
		for k, j := range r.columns {
			s.beta[j] += r.d[k]
		}
		sol.Steps++
	}
}

// plan lists the columns and chooses the way, once for a view: the matrices are
// shared by all strengths.
func (s *Solver) plan() {
	r, store := &s.ridge, s.in.store
	if r.planned {
		return
	}
	r.planned = true
	r.cg = support.CG{Kernels: s.k, Regular: true}
	_, p := s.view.Dims()
	for j := range p {
		if s.view.Norm(j) > 0 {
			r.columns = append(r.columns, int32(j))
		}
	}
	store.Hold(r.columns)
	var values, squares float64
	for _, j := range r.columns {
		length := float64(store.Length(j))
		values += length
		squares = math.FMA(length, length, squares)
	}
	price, pair := sparseValue, support.LanesValue
	if store.Dense() {
		price, pair = denseValue, denseValue
	}
	size, rows := float64(len(r.columns)), float64(store.Rows())
	factor := func(size, build float64) float64 {
		if !s.in.gram.Fits(int(size)) {
			return math.Inf(1)
		}
		return pairsOfColumns*build/newtonsExpected + float64(factorValue*size*size*size/6) + float64(factorDot*size*size/2)
	}
	byColumns, byRows := factor(size, float64(pair*values*size)), factor(rows, float64(price*squares))
	byIteration := 2 * iterationsOf * (float64(price*values) + float64(denseValue*rows))
	switch best := min(byColumns, byRows, byIteration); best {
	case byColumns:
		r.way = columnFactor
	case byRows:
		r.way = rowFactor
	default:
		r.way = iterative
	}
	r.rho, r.d = make([]float64, len(r.columns)), make([]float64, len(r.columns))
	r.t = make([]float64, store.Rows())
}

// factorise prepares the factor for the strength at hand. It returns false where
// that is zero to working precision beside the columns, and those are dependent.
func (s *Solver) factorise() bool {
	r, in := &s.ridge, &s.in
	in.store.Hold(r.columns)
	alpha := s.pen.Ridge()
	if r.way == columnFactor {
		size := len(r.columns)
		in.gram.Hold(r.columns)
		r.a = grow(r.a, size*size)
		in.gram.Submatrix(r.columns, alpha, r.a)
		return support.Cholesky(s.k, r.a, size) == size
	}
	size := in.store.Rows()
	if r.rows == nil {
		s.multiplyRows()
	}
	r.a = grow(r.a, size*size)
	for i := range size {
		row := r.a[i*size:][:size]
		for k, v := range r.rows[i*size:][:i+1] {
			row[k] = v / float64(in.total*alpha)
		}
		row[i]++
	}
	return support.Cholesky(s.k, r.a, size) == size
}

// multiplyRows computes X̃X̃ᵀ. Sparse columns are not centred in the store: there
// X̃ = X̂ − u·x̄ᵀ, u = √w, and X̃X̃ᵀ = X̂X̂ᵀ − h·uᵀ − u·hᵀ + ‖x̄‖²u·uᵀ, h = X̂x̄.
func (s *Solver) multiplyRows() {
	r, store := &s.ridge, s.in.store
	size := store.Rows()
	r.rows = make([]float64, size*size)
	h := make([]float64, size)
	var square float64
	for _, j := range r.columns {
		index, values := store.Column(j)
		if index == nil {
			for i, v := range values {
				s.k.Axpy(v, values[:i+1], r.rows[i*size:][:i+1])
			}
			continue
		}
		for i, v := range values {
			s.k.AxpyIndexed(v, values[:i+1], index[:i+1], r.rows[int(index[i])*size:][:size])
		}
		if mean := store.Mean(j); mean != 0 {
			s.k.AxpyIndexed(mean, values, index, h)
			square = math.FMA(mean, mean, square)
		}
	}
	if square == 0 {
		return
	}
	for i := range size {
		u, row := store.Root(i), r.rows[i*size:][:i+1]
		for k := range row {
			v := store.Root(k)
			row[k] = math.FMA(square*u, v, math.FMA(-h[i], v, math.FMA(-u, h[k], row[k])))
		}
	}
}

// solveFactored sets d = A⁻¹ρ by the factor at hand.
func (s *Solver) solveFactored() {
	r, store := &s.ridge, s.in.store
	if r.way == columnFactor {
		copy(r.d, r.rho)
		support.CholeskySolve(s.k, r.a, len(r.columns), r.d)
		return
	}
	// Of ρ in units of its largest entry, so that no product leaves the range.
	_, exponent := math.Frexp(s.k.MaxAbs(r.rho))
	for k, v := range r.rho {
		r.d[k] = math.Ldexp(v, -exponent)
	}
	clear(r.t)
	var shift float64
	for k, j := range r.columns {
		index, values := store.Column(j)
		if index == nil {
			s.k.Axpy(r.d[k], values, r.t)
			continue
		}
		s.k.AxpyIndexed(r.d[k], values, index, r.t)
		shift = math.FMA(r.d[k], store.Mean(j), shift)
	}
	if shift != 0 {
		for i := range r.t {
			r.t[i] = math.FMA(-shift, store.Root(i), r.t[i])
		}
	}
	alpha := s.pen.Ridge()
	for i := range r.t {
		r.t[i] /= float64(s.in.total * alpha)
	}
	support.CholeskySolve(s.k, r.a, store.Rows(), r.t)
	var sum float64
	for i, t := range r.t {
		sum = math.FMA(store.Root(i), t, sum)
	}
	for k, j := range r.columns {
		index, values := store.Column(j)
		var product float64
		if index == nil {
			product = s.k.Dot(values, r.t)
		} else {
			product = math.FMA(-store.Mean(j), sum, s.k.DotIndexed(values, index, r.t))
		}
		r.d[k] = math.Ldexp((r.d[k]-product)/alpha, exponent)
	}
}

// iterate sets d to A⁻¹ρ, or near it, by conjugate gradients. It returns false where
// ctx ended.
func (s *Solver) iterate(ctx context.Context, opts Options) bool {
	r, in := &s.ridge, &s.in
	in.store.Hold(r.columns)
	// The gap is ‖ρ‖²/2α₂.
	tol := polishTol
	if s.sol.RelativeGap > opts.Tol {
		tol = max(leastRidgeTol, ridgeMargin*math.Sqrt(opts.Tol/s.sol.RelativeGap))
	}
	clear(r.d)
	r.system.Reset(in.store, r.columns, s.pen.Ridge())
	report := r.cg.Solve(ctx, &r.system, r.rho, r.d, tol, min(in.left, 10*len(r.columns)+100))
	in.left -= max(1, report.Iterations)
	in.left = max(0, in.left)
	s.sol.Epochs += report.Iterations
	return ctx.Err() == nil
}
