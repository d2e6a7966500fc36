package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/support"
)

// ridge solves problems with a ridge alone. There is no support to find: all columns
// with entries are in it, and the optimality conditions are one linear system,
//
//	A·d = ρ,  A = X̃ᵀX̃/N + α₂I,  ρ = z − α₂β,
//
// for the step d from any β. It is solved by Cholesky's method on A, or on the
// matrix of the rows ([support.RowSystem]), whichever is cheaper, or by
// conjugate gradients where both are large. Every step is from a certified point, so
// that steps refine one another. Of a loss that is not quadratic it is a step of Newton's
// method, with the curvature at the point in A; see ridgenewton.go.
type ridge struct {
	columns []int32
	places  []int32 // theirs
	way     ridgeWay
	planned bool

	rows   *support.RowSystem
	a      []float64 // the system of the columns, then its factor
	rho, d []float64
	system support.System
	cg     support.CG
	price  float64  // of a step
	each   float64  // of an iteration of conjugate gradients
	factor ridgeWay // the cheaper one
	whole  float64  // its price
	closer float64  // times the residual asked of conjugate gradients, as long as steps gain little
	ascent rowAscent

	factorised bool // there is a factor of the system, or of one near by
}

type ridgeWay int

const (
	columnFactor ridgeWay = iota
	rowFactor
	iterative
)

const (
	// expected of conjugate gradients, for the plan; and where steps are solved no better than
	// they bring the solution closer.
	iterationsOf, iterationsOfNewton = 100, 20

	ridgeStalled  = 3   // steps in a row that gain little, after which rounding has the rest
	stepPasses    = 2   // of a certificate, what it and the step before it cost
	ridgeMargin   = 0.3 // of the residual allowed, asked of conjugate gradients
	leastRidgeTol = 1e-12
	mostRidgeTol  = 0.1 // of a Newton step far from the solution
	evenCloser    = 0.1 // after a step that has not halved the gap
)

// solveRidge is [Solver.Solve] for a ridge alone, from the last solution.
func (s *Solver) solveRidge(ctx context.Context, opts Options) (*Solution, error) {
	r, sol := &s.ridge, &s.sol
	s.enterRidge()
	r.ascent.start(s)
	r.factorised = false
	polished := !opts.Polish
	far := s.curved != nil && len(sol.Coef) > 0 && s.k.MaxAbs(sol.Coef) > 0 // perhaps
	for stalled := 0; ; {
		before := sol.RelativeGap
		s.certify()
		if s.prox.untried && !s.judgeStep(false) {
			stalled++
		}
		if err := s.within(opts); err != nil {
			return nil, err
		}
		if far && !(sol.Objective <= s.null) { // from where exponentials are huge steps are small, if there are any
			far = false
			s.backToZero()
			continue
		}
		far = false
		gains := !(sol.Passes > 1 && sol.RelativeGap > 0.5*before)
		if s.curved == nil && !gains {
			stalled++
		}
		if r.closer *= evenCloser; gains {
			r.closer = 1
		}
		switch {
		case r.ascent.failed(s):
			continue
		case sol.RelativeGap <= opts.Tol && (polished || s.curved == nil && sol.Steps > 0 || ctx.Err() != nil):
			return s.endAs(outcome.Converged)
		case stalled >= ridgeStalled || s.in.exhausted():
			return s.endAs(outcome.NotConverged)
		case ctx.Err() != nil:
			return s.endAs(outcome.Cancelled)
		case sol.RelativeGap <= opts.Tol:
			polished = true
		case r.ascent.pays(s, opts.Tol):
			if !s.sweepRows(ctx) {
				return s.endAs(outcome.Cancelled)
			}
			continue
		}
		switch gains, done := s.advanceRidge(ctx, before, opts); {
		case !done:
			return s.endAs(outcome.Cancelled)
		case !gains:
			stalled++
		}
	}
}

// advanceRidge solves for a step and takes it, after one that began at a gap before. It returns false where the step, by
// the curvature at the point, gains nothing, which is rounding, and where ctx ended.
func (s *Solver) advanceRidge(ctx context.Context, before float64, opts Options) (gains, done bool) {
	r := &s.ridge
	lasts := r.factorised && s.lasts(before, opts.Tol)
	if s.curved != nil && (!lasts || s.prox.least == 0) { // a line along which the curvature jumps is judged by slopes alone
		s.enter()
	}
	if s.curved != nil && !lasts {
		s.reweighRidge()
		r.factorised = false
	}
	s.residualRidge()
	if !r.factorised && r.way != iterative {
		r.factorised = s.factorise()
	}
	if !s.solveStep(ctx, opts) {
		return false, false
	}
	if s.curved == nil {
		s.stepRidge()
		return true, true
	}
	return s.moveRidge() || lasts, true
}

// stepRidge goes the whole way of a step.
func (s *Solver) stepRidge() {
	for k, place := range s.ridge.places {
		s.beta[place] += s.ridge.d[k]
	}
	s.sol.Steps++
}

// enterRidge makes all columns with entries the working set, at the last solution.
func (s *Solver) enterRidge() {
	r, sol := &s.ridge, &s.sol
	s.plan()
	for _, j := range s.active {
		s.beta[s.cert.place(j)] = 0
	}
	for k, j := range sol.Support {
		if s.view.Norm(int(j)) > 0 {
			s.beta[s.cert.place(j)] = sol.Coef[k]
		}
	}
	s.copies, s.unpenalised.columns = nil, s.unpenalised.columns[:0]
	s.set.keepAll(s, r.columns)
	s.cert.setPenalty(s.pen, s.view.Total(), nil)
}

// backToZero makes β = 0 the point, which is the null model.
func (s *Solver) backToZero() {
	for _, place := range s.ridge.places {
		s.beta[place] = 0
	}
}

// gatherRidge is [Solver.gather] of a ridge alone: all columns are the support.
func (s *Solver) gatherRidge() {
	r, sol := &s.ridge, &s.sol
	s.active, s.coef = append(s.active, r.columns...), grow(s.coef, len(r.places))
	for k, place := range r.places {
		s.coef[k] = s.beta[place]
	}
	sol.Support, sol.Coef = append(sol.Support[:0], s.active...), append(sol.Coef[:0], s.coef...)
}

// residualRidge sets ρ at the certified point.
func (s *Solver) residualRidge() {
	r := &s.ridge
	for k, place := range r.places {
		z := s.cert.corr[place] / s.view.Total()
		r.rho[k] = math.FMA(-s.pen.Ridge(), s.beta[place], z)
	}
}

// plan lists the columns and chooses the way, once for a view: the matrices are
// shared by all strengths, but of a loss that is not quadratic each is of one step.
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
			r.columns, r.places = append(r.columns, int32(j)), append(r.places, s.cert.place(int32(j)))
		}
	}
	if !store.Dense() { // all rows are in dense ones
		store.Hold(r.columns)
	}
	var values float64
	for _, j := range r.columns {
		values += float64(store.Length(j))
	}
	price, pair := sparseValue, support.LanesValue
	if store.Dense() {
		price, pair = denseValue, denseValue
	}
	size, rows := float64(len(r.columns)), float64(store.Rows())
	reuses, iterations := float64(newtonsExpected), float64(iterationsOf)
	if s.curved != nil {
		reuses, iterations = 1, iterationsOfNewton
	}
	factor := func(size, build float64) float64 {
		if !s.in.gram.Fits(int(size)) {
			return math.Inf(1)
		}
		return build/reuses + float64(factorValue*size*size*size/6) + float64(factorDot*size*size/2)
	}
	byColumns, byRows := factor(size, float64(0.5*pair*values*size)), factor(rows, store.RowSystemCost(r.columns))
	r.factor, r.whole = columnFactor, byColumns
	if byRows < byColumns {
		r.factor, r.whole = rowFactor, byRows
	}
	r.each = 2 * (float64(price*values) + float64(denseValue*rows))
	if r.way, r.price = r.factor, r.whole; iterations*r.each < r.whole {
		r.way, r.price = iterative, iterations*r.each
	}
	r.rho, r.d = make([]float64, len(r.columns)), make([]float64, len(r.columns))
}

// factorise prepares the factor for the strength at hand. It returns false where
// that is zero to working precision beside the columns, and those are dependent.
func (s *Solver) factorise() bool {
	r, in := &s.ridge, &s.in
	if s.curved == nil || r.way != columnFactor || !in.store.Tall() {
		in.store.Hold(r.columns)
	}
	alpha := s.pen.Ridge()
	if r.way == columnFactor {
		size := len(r.columns)
		in.gram.Hold(r.columns)
		r.a = grow(r.a, size*size)
		in.gram.Submatrix(r.columns, alpha, r.a)
		in.work += support.CholeskyCost(size)
		return support.Cholesky(s.k, r.a, size) == size
	}
	switch {
	case r.rows == nil:
		r.rows = support.NewRowSystem(in.store, r.columns)
	case s.curved != nil:
		r.rows.Update()
	}
	return r.rows.Factorise(alpha)
}

// lasts reports that the factor of an earlier point may serve another step: one is expected to gain
// what the last has gained, and as many as that makes until the gap is good to cost less than a
// new factor and one step.
func (s *Solver) lasts(before, tol float64) bool {
	gap := s.sol.RelativeGap
	if !(gap > tol && gap < before) || s.prox.damping > 0 || s.in.store.Drawn() {
		return false
	}
	steps := math.Ceil(kernels.Log(tol/gap) / kernels.Log(gap/before))
	return (steps-1)*stepPasses*s.passed < s.ridge.price
}

// solveStep sets d = A⁻¹ρ. It returns false where ctx ended.
func (s *Solver) solveStep(ctx context.Context, opts Options) bool {
	if !s.ridge.factorised {
		return s.iterate(ctx, opts)
	}
	s.solveFactored()
	s.in.left--
	return true
}

// solveFactored sets d = A⁻¹ρ by the factor at hand.
func (s *Solver) solveFactored() {
	r := &s.ridge
	if r.way == rowFactor {
		r.rows.Solve(r.rho, r.d)
		return
	}
	copy(r.d, r.rho)
	support.CholeskySolve(s.k, r.a, len(r.columns), r.d)
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
		if s.curved != nil {
			tol = max(tol, min(mostRidgeTol, math.Sqrt(s.sol.RelativeGap)))
		}
		tol = max(leastRidgeTol, r.closer*tol)
	}
	clear(r.d)
	r.system.Reset(in.store, r.columns, s.pen.Ridge())
	r.system.Factorise(in.gram, iterationsOf, newtonsExpected)
	report := r.system.Solve(ctx, &r.cg, r.rho, r.d, tol, min(in.left, 10*len(r.columns)+100))
	in.left -= max(1, report.Iterations)
	in.left = max(0, in.left)
	s.sol.Epochs += report.Iterations
	if float64(report.Iterations)*r.each > r.whole {
		r.way, r.price = r.factor, r.whole
	}
	return ctx.Err() == nil
}
