package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/support"
)

// ridge solves problems with a ridge alone. There is no support to find: it has all columns
// with entries, and the optimality conditions are one linear system,
//
//	A·d = ρ,  A = X̃ᵀX̃/N + α₂I,  ρ = z − α₂β,
//
// for the step d from any β. The system is solved by a Cholesky factor of A or of the
// matrix of the rows ([support.RowSystem]), whichever is cheaper, or by conjugate
// gradients where both are large. Every step starts from a certified point, so that steps
// refine one another. For a loss that is not quadratic it is a Newton step, with the
// curvature at the point in A; see ridgenewton.go.
type ridge struct {
	columns []int32
	places  []int32 // of the columns
	method  ridgeMethod
	planned bool

	rows           *support.RowSystem
	a              []float64 // A, then its factor
	rho, d         []float64
	system         support.System
	cg             support.CG
	price          float64     // of a step
	iterationPrice float64     // price of an iteration of conjugate gradients
	cheaperFactor  ridgeMethod // the cheaper factorisation
	factorPrice    float64     // price of a step by that factorisation
	tolFactor      float64     // factor on the tolerance of conjugate gradients, below 1 while steps gain little
	ascent         rowAscent

	factorised bool // there is a factor of the system, or of the system at an earlier point
}

// ridgeMethod is a method of solving the system.
type ridgeMethod int

const (
	columnFactor ridgeMethod = iota // by a Cholesky factor of A
	rowFactor                       // by one of the matrix of the rows
	iterative                       // by conjugate gradients
)

const (
	// iterationsOf is the number of iterations that the plan expects of conjugate gradients for a quadratic
	// loss, iterationsOfNewton the number for an inexact Newton step.
	iterationsOf, iterationsOfNewton = 100, 20

	ridgeStalled   = 3   // consecutive steps that gain little, after which the remaining gap is rounding
	stepPasses     = 2   // cost of a step and its certificate, relative to the certificate
	ridgeMargin    = 0.3 // residual asked of conjugate gradients, relative to what the tolerance allows
	leastRidgeTol  = 1e-12
	mostRidgeTol   = 0.1 // for a Newton step far from the solution
	tolFactorDecay = 0.1 // factor on tolFactor after a step that has not halved the gap
)

// solveRidge implements [Solver.Solve] for a ridge alone, from the last solution.
func (s *Solver) solveRidge(ctx context.Context, opts Options) (*Solution, error) {
	r, sol := &s.ridge, &s.sol
	s.enterRidge()
	r.ascent.start(s)
	r.factorised = false
	polished := !opts.Polish
	far := s.curved != nil && len(sol.Coef) > 0 && s.k.MaxAbs(sol.Coef) > 0 // possibly far from the solution
	for stalled := 0; ; {
		before := sol.RelativeGap
		s.certify()
		if s.prox.untried && !s.judgeStep(false) {
			stalled++
		}
		if err := s.checkSupport(opts); err != nil {
			return nil, err
		}
		if far && !(sol.Objective <= s.null) { // where exponentials are huge, steps are tiny or fail
			far = false
			s.backToZero()
			continue
		}
		far = false
		gains := !(sol.Passes > 1 && sol.RelativeGap > 0.5*before)
		if s.curved == nil && !gains {
			stalled++
		}
		if r.tolFactor *= tolFactorDecay; gains {
			r.tolFactor = 1
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

// advanceRidge computes a step and takes it; before is the relative gap at which the previous step began. gains is false
// if the step, with the curvature at the current point, gains nothing beyond rounding; done is false if ctx ended.
func (s *Solver) advanceRidge(ctx context.Context, before float64, opts Options) (gains, done bool) {
	r := &s.ridge
	lasts := r.factorised && s.factorLasts(before, opts.Tol)
	if s.curved != nil && (!lasts || s.prox.leastDamping == 0) { // where the curvature jumps, the line search uses slopes alone
		s.startAtCertified()
	}
	if s.curved != nil && !lasts {
		s.reweighRidge()
		r.factorised = false
	}
	s.residualRidge()
	if !r.factorised && r.method != iterative {
		r.factorised = s.factoriseRidge()
	}
	if !s.solveRidgeStep(ctx, opts) {
		return false, false
	}
	if s.curved == nil {
		s.stepRidge()
		return true, true
	}
	return s.moveRidge() || lasts, true
}

// stepRidge takes the full step.
func (s *Solver) stepRidge() {
	for k, place := range s.ridge.places {
		s.beta[place] += s.ridge.d[k]
	}
	s.sol.Steps++
}

// enterRidge makes all columns with entries the working set, at the last solution.
func (s *Solver) enterRidge() {
	r, sol := &s.ridge, &s.sol
	s.planRidge()
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

// backToZero makes β = 0, the null model, the current point.
func (s *Solver) backToZero() {
	for _, place := range s.ridge.places {
		s.beta[place] = 0
	}
}

// gatherRidge is [Solver.gather] for a ridge alone, whose support is all columns.
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

// planRidge lists the columns and chooses the method, once per view: under a quadratic loss all
// strengths share the matrices, otherwise each matrix serves one step.
func (s *Solver) planRidge() {
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
	if !store.Dense() { // dense columns have an entry in every row
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
	r.cheaperFactor, r.factorPrice = columnFactor, byColumns
	if byRows < byColumns {
		r.cheaperFactor, r.factorPrice = rowFactor, byRows
	}
	r.iterationPrice = 2 * (float64(price*values) + float64(denseValue*rows))
	if r.method, r.price = r.cheaperFactor, r.factorPrice; iterations*r.iterationPrice < r.factorPrice {
		r.method, r.price = iterative, iterations*r.iterationPrice
	}
	r.rho, r.d = make([]float64, len(r.columns)), make([]float64, len(r.columns))
}

// factoriseRidge computes the factor for the current strength. It returns false if the columns
// are dependent and the strength is negligible beside them to working precision.
func (s *Solver) factoriseRidge() bool {
	r, in := &s.ridge, &s.in
	if s.curved == nil || r.method != columnFactor || !in.store.Tall() {
		in.store.Hold(r.columns)
	}
	alpha := s.pen.Ridge()
	if r.method == columnFactor {
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

// factorLasts reports whether the factor of an earlier point is to serve another step. Each further step is
// expected to reduce the gap by the same factor as the last one; the steps needed to reach tol must
// cost less than a new factor and one step.
func (s *Solver) factorLasts(before, tol float64) bool {
	gap := s.sol.RelativeGap
	if !(gap > tol && gap < before) || s.prox.damping > 0 || s.in.store.Drawn() {
		return false
	}
	steps := math.Ceil(kernels.Log(tol/gap) / kernels.Log(gap/before))
	return (steps-1)*stepPasses*s.passCost < s.ridge.price
}

// solveRidgeStep sets d = A⁻¹ρ. It returns false if ctx ended.
func (s *Solver) solveRidgeStep(ctx context.Context, opts Options) bool {
	if !s.ridge.factorised {
		return s.iterateRidge(ctx, opts)
	}
	s.solveFactored()
	s.in.epochsLeft--
	return true
}

// solveFactored sets d = A⁻¹ρ by the current factor.
func (s *Solver) solveFactored() {
	r := &s.ridge
	if r.method == rowFactor {
		r.rows.Solve(r.rho, r.d)
		return
	}
	copy(r.d, r.rho)
	support.CholeskySolve(s.k, r.a, len(r.columns), r.d)
}

// iterateRidge sets d to an approximation of A⁻¹ρ by conjugate gradients. It returns false if
// ctx ended.
func (s *Solver) iterateRidge(ctx context.Context, opts Options) bool {
	r, in := &s.ridge, &s.in
	in.store.Hold(r.columns)
	// The gap is ‖ρ‖²/2α₂.
	tol := polishTol
	if s.sol.RelativeGap > opts.Tol {
		tol = max(leastRidgeTol, ridgeMargin*math.Sqrt(opts.Tol/s.sol.RelativeGap))
		if s.curved != nil {
			tol = max(tol, min(mostRidgeTol, math.Sqrt(s.sol.RelativeGap)))
		}
		tol = max(leastRidgeTol, r.tolFactor*tol)
	}
	clear(r.d)
	r.system.Reset(in.store, r.columns, s.pen.Ridge())
	r.system.Factorise(in.gram, iterationsOf, newtonsExpected)
	report := r.system.Solve(ctx, &r.cg, r.rho, r.d, tol, min(in.epochsLeft, 10*len(r.columns)+100))
	in.epochsLeft -= max(1, report.Iterations)
	in.epochsLeft = max(0, in.epochsLeft)
	s.sol.Epochs += report.Iterations
	if float64(report.Iterations)*r.iterationPrice > r.factorPrice {
		r.method, r.price = r.cheaperFactor, r.factorPrice
	}
	return ctx.Err() == nil
}
