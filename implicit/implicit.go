// Package implicit differentiates the solution of an inner problem with respect
// to its log-hyperparameters λ, by the implicit function theorem on the support
// (Bertrand et al., JMLR 2022, algorithm 5 and appendix A).
//
// At a solution β with support S the Jacobian of β in λ vanishes off S and solves A·J_S = B on it,
// A = X̃_SᵀX̃_S/N + α₂I. The package takes β from any solver: unless the caller supplies it, the KKT residual
// of β is computed here.
//
// With one hyperparameter the forward system A·J = B is solved. With several, be it two or one per column,
// the adjoint system A·v = ∇_S C is solved instead, or, where J is wanted too, both to half of the digits
// (pair.go). Small supports are factorised, which also bounds the errors (direct.go). Other systems are left
// to conjugate gradients on packed columns of the support, some after a first solution on the Gram matrix of
// the columns.
//
// # Where the theorem's conditions fail
//
// Every such case has a status of its own. The cases marked Certify are found by [Solver.Certify] and
// [SVM.Certify], at the cost of one pass over X and one factorisation; the others by every gradient.
//
//	λ ≥ λmax; SVM: no sample at C      Flat: the gradient is 0
//	a column about to enter or leave   NotDifferentiable
//	the support may change within      SupportUncertified
//	  the error of β
//	rows may pass a jump of the        SupportUncertified, if it may change A by
//	  loss's curvature                   more than a tenth
//	SVM: a sample at its bound, on     NotDifferentiable
//	  the margin and about to leave
//	copies of a column, one λ          the gradient of the shared coefficient, the
//	  for all of them                    limit of the elastic net; certified
//	copies of a column, a λ each       Certify: NotUnique; NotDifferentiable or
//	                                     LinearSystemStalled if several are in
//	columns that depend on others      NotUnique, SupportUncertified if β is far off; not
//	  otherwise, s > n among them        looked for under AssumeFullRank or with a
//	                                     ridge; Certify: on the edge, too
//	SVM: copies of a sample, dependent the gradient, which does not depend on how
//	  free samples                       they share β; certified if none is free
//
// One-versus-rest and SURE consist of several problems each: the worst status counts.
package implicit

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// Point is where to differentiate: β on its generalised support.
type Point struct {
	// Support lists columns, ascending: those with non-zero coefficients, and all with
	// entries whose penalty is smooth at 0 (see [model.Penalty.Smooth]).
	Support []int32
	Coef    []float64 // their coefficients; with β ≥ 0 they must be positive
	// KKT is the KKT residual max ρⱼ of β where the caller has computed it from
	// X; a negative value asks for it to be computed here, at one pass over X.
	KKT float64
	// State is the datafit's state at these coefficients, where the caller has it; with nil it is computed
	// here.
	State *model.State
	// Correlation holds X_jᵀ(s⊙r) at State for the columns of Support, where the caller has them; with nil,
	// Solve computes them.
	Correlation []float64
	// Clearance is the minimum of (Nαⱼ − |X_jᵀ(s⊙r)|)/‖X̃_j‖ₛ over the columns off the support, +Inf where
	// there is none: how much the residual may change, in the norm ‖·‖ₛ, before one of these columns can
	// enter. 0 asks for it to be computed here, at one pass over X.
	Clearance float64

	held     []int32 // columns whose coefficient is at a bound, see box.go
	heldCoef []float64
}

// Outer is the criterion's dependence on the predictions m = Xβ + b, as
// [criterion.Criterion] leaves it: entries on validation rows, zeros elsewhere.
type Outer struct {
	Slope     []float64 // n: ∂C/∂mᵢ
	Curvature []float64 // n: ∂²C/∂mᵢ²
	// CurvatureWithin, where set, returns for each row the largest ∂²C/∂mᵢ² over predictions within reach of
	// the given ones: n entries, valid until its next call. nil says that the second derivatives are
	// constant.
	CurvatureWithin func(reach float64) []float64
	// Blind says that the second derivatives are unknown.
	Blind bool
}

// Options bound the linear solve. The zero value is ready to use.
type Options struct {
	// Tol is the relative residual to reach in the linear system. 0 means 1e-5.
	Tol float64
	// MaxIterations of conjugate gradients per system. 0 means 10·s + 100.
	MaxIterations int
	// Prove asks for the factorisation, and so for a proved bound, of supports of up to 256 columns even
	// where conjugate gradients are cheaper.
	Prove bool
	// AssumeFullRank skips the check whether columns of the support depend on one another, which takes as
	// many iterations again where the system is not factorised and has no ridge. It is for the steps of a
	// search, which start from an inaccurate solution anyway.
	AssumeFullRank bool
	// Rough asks for a gradient without checks, for a search to step along: its error is not bounded, as the
	// bound may cost more than the gradient, and nothing is confirmed, so that the status is
	// SupportUncertified at best.
	Rough bool
	// Motion, where set, holds a vector of length n for each hyperparameter. Solve sets vector i to ∂m/∂λᵢ,
	// the derivative of the predictions on all rows, unless the support is empty. Not for weighted penalties.
	Motion [][]float64
}

// Hypergradient is ∇L(λ) = Jᵀ∇C with an error bound and a status. Its slices belong to the
// solver and change with its next call.
type Hypergradient struct {
	// Gradient has one entry per hyperparameter; for a weighted penalty one per
	// column of the support, in the order of Point.Support (it is 0 elsewhere).
	Gradient []float64
	// Jacobian is ∂β/∂λᵢ on the support, one hyperparameter after the other, where the solve yields it: with
	// one hyperparameter, and where Motion is asked for; else empty. With several hyperparameters it has half
	// of the digits.
	Jacobian []float64

	KKT float64 // max ρⱼ of the β given
	// ErrorBound bounds the largest error of an entry of Gradient, by the residual of the linear system, the
	// optimality residual of β on the support, and rounding; Bound says whether the bound is proved.
	ErrorBound float64
	Bound      Bound
	// InjectivityMargin is how far A, scaled to a diagonal of ones, is from singular: a proved lower bound of
	// its smallest eigenvalue where it was factorised, else the ratio of the extreme Ritz values, an estimate
	// from above. 1 where the support is empty.
	InjectivityMargin float64
	// MotionNorm is √(JᵀKJ), the size of the predictions' derivative in the metric K of the criterion's
	// second derivatives. ErrorNorm is an upper bound of √(δᵀKδ) for the error δ of β, with the rounding of
	// the predictions. Criteria that couple several problems need both. They are computed for one
	// hyperparameter of a loss that is not quadratic.
	MotionNorm, ErrorNorm float64
	Iterations            int // of conjugate gradients
	// Work is the cost of the linear systems by the cost model of package support, in nanoseconds on one core
	// of a 2020s server: counted, not measured. [Generic] does not count it.
	Work float64
	// Status is Converged; Flat: the support is empty, so ∇L = 0; or the reason not to trust the gradient:
	// NotDifferentiable (A is singular to working precision), LinearSystemStalled, SupportUncertified (within
	// the error of β, the solution may have another support, or be on other pieces of a loss whose curvature
	// jumps; ErrorBound assumes that it does not), or Cancelled.
	Status outcome.Status
}

// Bound says what an error bound rests on.
type Bound string

// The kinds of bounds.
const (
	// Proved: the system was factorised, which bounds its smallest eigenvalue from below,
	// the support is that of the exact solution, and rounding is counted.
	Proved Bound = "proved"
	// Estimated: the smallest eigenvalue is taken from the Ritz values of conjugate gradients, divided by a
	// safety factor of 10, or the second derivatives of the criterion are unknown.
	Estimated Bound = "estimated"
)

// singular is the injectivity margin below which A counts as singular.
const singular = 1e-13

// Solver computes hypergradients of one datafit. Every call solves its linear systems from 0, so that on
// dependent columns it finds the solution of least norm, the limit of the elastic net's solution as its ridge
// vanishes. It holds O(n) numbers and is not safe for concurrent use.
type Solver struct {
	fit    model.Datafit
	curved model.Curved // fit where its curvature varies, else nil
	state  *model.State // the state at the point
	own    *model.State // a state computed here
	d      []float64    // n: the curvature at the point
	view   *sparse.View
	k      *kernels.Set
	gram   *support.Gram
	ended  func() error     // Err of the context of the call
	store  *support.Columns // packed columns of the supports differentiated on
	system support.System
	dense  support.GramSystem
	onGram bool // dense is set up and solved first
	rows   rowSystem
	direct direct
	// iterative leaves all systems to conjugate gradients.
	iterative bool
	cg        support.CG
	pair      adjointPair

	rhs, x, h, q, rho, res, diag []float64  // on the support
	memory                       []float64  // the memory of these vectors
	ritz                         [2]float64 // the extreme Ritz values of the last solve
	support                      []int32    // the support
	ridge                        float64    // α₂/max D, a lower bound of the smallest eigenvalue of D^-½AD^-½
	u                            []float64  // n
	size                         struct {
		residual, level float64
		known           bool
	}
	out Hypergradient
}

// New returns a solver for a datafit.
func New(fit model.Datafit) *Solver {
	return NewSharing(fit, support.NewGram(support.NewColumns(fit.View())))
}

// NewSharing is like [New], but the solver shares packed columns and their Gram matrix with another solver on
// the same view, which must not be used at the same time. Columns that are already there save work; they may
// change results within their error bounds.
func NewSharing(fit model.Datafit, cache *support.Gram) *Solver {
	view := fit.View()
	n, _ := view.Dims()
	s := &Solver{
		fit: fit, view: view, k: view.Kernels(), cg: support.CG{Kernels: view.Kernels()},
		u: view.Floats(n), gram: cache, store: cache.Columns(),
		ended: func() error { return nil },
	}
	if s.curved, _ = fit.(model.Curved); s.curved != nil {
		s.d = view.Floats(n)
	}
	return s
}

// Solve returns the hypergradient at a point. The error is an [outcome.Error] about the arguments; the
// result's status says whether the numbers can be trusted.
func (s *Solver) Solve(ctx context.Context, g model.Penalty, at Point, outer Outer, opts Options) (*Hypergradient, error) {
	s.store.ClearWork()
	s.ended = ctx.Err
	defer func() {
		s.out.Work = s.store.Work()
		if ctx.Err() != nil { // even if every system was solved in time
			s.out.Status = outcome.Cancelled
		}
	}()
	n, _ := s.view.Dims()
	if len(outer.Slope) != n || len(outer.Curvature) != n {
		return nil, outcome.Errorf(outcome.Shape, "slope and curvature must have one entry for each of the %d rows", n)
	}
	at = at.withoutBound(g)
	weighted := s.weighted(g)
	if err := s.setUp(g, at, &opts); err != nil {
		return nil, err
	}
	out := &s.out
	if len(at.Support) == 0 {
		out.Status = outcome.Flat
		entries := len(at.held)
		if !weighted {
			entries = g.Hyperparameters()
		}
		out.Gradient = append(out.Gradient, make([]float64, entries)...)
		out.Bound = Proved // at β = 0 the residual is that of the null model
		if least, _ := s.clearance(g, at); !(least >= 0) {
			out.Status = outcome.SupportUncertified
		}
		return out, nil
	}
	s.project(at.Support, outer.Slope, s.h)
	switch {
	case opts.Rough:
		s.roughGradient(ctx, g, at, opts)
	case weighted, s.usesAdjoint(g, opts) && !s.direct.ready:
		s.adjoint(ctx, g, at, outer, opts)
	default:
		if g.Hyperparameters() > 1 {
			s.solveAdjoint(ctx, opts)
		}
		for i := range g.Hyperparameters() {
			s.forward(ctx, g, i, at, outer, opts)
		}
	}
	if !opts.Rough {
		s.confirm(ctx, g, at, outer, opts)
	}
	out.Jacobian = at.withZeros(out.Jacobian)
	if weighted {
		out.Gradient = at.withZeros(out.Gradient)
	}
	return out, nil
}

// setUp checks the arguments and prepares the system of a point.
func (s *Solver) setUp(g model.Penalty, at Point, opts *Options) error {
	_, p := s.view.Dims()
	if c := g.Columns(); c >= 0 && c != p {
		return outcome.Errorf(outcome.Shape, "%d strengths for %d columns", c, p)
	}
	if err := check(g, at, p); err != nil {
		return err
	}
	if opts.Tol == 0 {
		opts.Tol = 1e-5
	}
	if opts.MaxIterations == 0 {
		opts.MaxIterations = 10*len(at.Support) + 100
	}
	s.out = Hypergradient{Gradient: s.out.Gradient[:0], Jacobian: s.out.Jacobian[:0], InjectivityMargin: 1, Status: outcome.Converged}
	s.optimality(g, at)
	if s.curved != nil {
		s.store.Reweigh(s.d)
	}
	s.support = at.Support
	if opts.Rough && s.curved != nil && s.store.Tall() && len(at.Support) <= largestDirect && s.gram.FitsWith(at.Support) {
		s.gram.Hold(at.Support)
	} else {
		s.store.Hold(at.Support)
	}
	s.system.Reset(s.store, at.Support, g.Ridge())
	s.system.Diagonal(s.diag)
	s.onGram, s.rows.ready, s.direct.ready, s.direct.dependent = false, false, false, false
	s.pair.solved = false
	s.cg.Regular = g.Ridge() > 0
	if s.ridge = 0; len(s.diag) > 0 {
		s.ridge = g.Ridge() / slices.Max(s.diag)
	}
	products := s.products(g, opts.Tol)
	factor := s.factorPays(at.Support, products, opts.Prove)
	switch {
	case factor && opts.Rough:
		s.gram.Hold(at.Support)
		s.direct.ready = s.factoriseRough(at.Support, g.Ridge())
	case factor:
		s.gram.Hold(at.Support)
		s.factoriseDirect(at.Support, g)
	}
	switch {
	case s.direct.ready:
	case factor, s.gram.Pays(at.Support, products):
		s.gram.Hold(at.Support)
		s.dense.Reset(s.gram, at.Support, g.Ridge(), float64(products))
		s.onGram = true
	case g.Quadratic() && s.rows.prepare(s, at.Support, g.Ridge()):
	default:
		s.system.Factorise(s.gram, float64(products-productsBesides), 1)
	}
	return nil
}

const (
	productsExpected = 40  // products with the system in a call
	productsBesides  = 10  // the cost of an elimination apart from its products, as a number of products
	systemsExpected  = 1.5 // systems in a call: the second is not solved to full accuracy
	gramShare        = 0.5 // share of the tolerance that a solution on the Gram matrix is solved to
)

// products returns the expected number of products with the system: fewer than usual where the ridge bounds
// its condition number.
func (s *Solver) products(g model.Penalty, tol float64) int {
	if g.Ridge() == 0 || len(s.diag) == 0 {
		return productsExpected
	}
	each := support.IterationsExpected(g.Ridge()/slices.Max(s.diag), tol)
	return int(min(productsExpected, systemsExpected*each))
}

// resize returns v with length n, its contents undefined.
func resize(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n+n/4)[:n]
	}
	return v[:n]
}

func check(g model.Penalty, at Point, p int) error {
	if len(at.Support) != len(at.Coef) {
		return outcome.Errorf(outcome.Shape, "the support has %d columns, but there are %d coefficients", len(at.Support), len(at.Coef))
	}
	if at.Correlation != nil && len(at.Correlation) != len(at.Support) {
		return outcome.Errorf(outcome.Shape, "the support has %d columns, but there are %d correlations", len(at.Support), len(at.Correlation))
	}
	for k, j := range at.Support {
		switch {
		case j < 0 || int(j) >= p:
			return &outcome.Error{Kind: outcome.Shape, HasColumn: true, Column: int(j), Message: "there is no such column"}
		case k > 0 && j <= at.Support[k-1]:
			return &outcome.Error{Kind: outcome.Shape, HasColumn: true, Column: int(j), Message: "the support must be ascending"}
		case at.Coef[k] == 0 && !g.Smooth(int(j)) || math.IsNaN(at.Coef[k]) || math.IsInf(at.Coef[k], 0):
			return &outcome.Error{Kind: outcome.NonFinite, HasColumn: true, Column: int(j), Message: "coefficients on the support must be finite and not 0"}
		case g.Clip(int(j), at.Coef[k]) != at.Coef[k] && g.Bounded():
			return &outcome.Error{Kind: outcome.BadParameter, HasColumn: true, Column: int(j), Message: "the coefficient is beyond its bounds"}
		case at.Coef[k] < 0 && g.Positive():
			return &outcome.Error{Kind: outcome.BadParameter, HasColumn: true, Column: int(j), Message: "the coefficient is negative under the constraint β ≥ 0"}
		}
	}
	return nil
}

// setState sets s.state to the state of a point, and computes it if the point has none.
func (s *Solver) setState(at Point) {
	s.size.known = false
	if s.state = at.State; s.state != nil {
		return
	}
	s.fitOwn(at.withBound())
}

// fitOwn sets s.state to a state of the solver's own, fitted at the coefficients.
func (s *Solver) fitOwn(columns []int32, coef []float64) {
	if s.own == nil {
		s.own = model.NewState(s.fit)
	}
	s.state = s.own
	s.state.Intercept = 0 // results must not depend on the previous point
	s.fit.Fit(columns, coef, s.state)
}

// optimality sets rho = z_S − α sign(β_S) − α₂β_S, the residual of the optimality conditions on the support,
// and the KKT residual over all columns where the caller has not given it.
func (s *Solver) optimality(g model.Penalty, at Point) {
	size := len(at.Support)
	vectors := []*[]float64{&s.rhs, &s.x, &s.h, &s.q, &s.rho, &s.res, &s.diag}
	s.memory = resize(s.memory, len(vectors)*size)
	for k, v := range vectors {
		*v = s.memory[k*size:][:size:size]
	}
	s.setState(at)
	if s.curved != nil {
		s.curved.Curvature(s.state, s.d)
	}
	total := s.view.Total()
	correlation := at.Correlation
	if correlation == nil {
		correlation = s.rho
		s.view.Dots(at.Support, s.state.Weighted, correlation)
	}
	for k, j := range at.Support {
		z := correlation[k] / total
		s.rho[k] = z - math.Copysign(g.Alpha(int(j)), at.Coef[k]) - float64(g.Ridge()*at.Coef[k])
	}
	s.out.KKT = at.KKT
	if at.KKT >= 0 {
		return
	}
	dual := model.NewDual(s.fit, g, s.state)
	next := map[int32]float64{}
	columns, coef := at.withBound()
	for k, j := range columns {
		next[j] = coef[k]
	}
	for _, j := range s.view.Matrix().Order() {
		dual.Add(int(j), s.view.Dot(int(j), s.state.Weighted)/total, next[j], s.view.Norm(int(j)))
	}
	s.out.KKT = dual.KKT()
}

// project sets out = X̃_Sᵀg for a vector g over the rows whose entries need not sum to 0, X̃ centred on the
// means of the system.
func (s *Solver) project(cols []int32, g, out []float64) {
	var sum float64
	for from, to := range s.k.Pieces(len(g)) {
		for _, v := range g[from:to] {
			sum += v
		}
	}
	s.view.Dots(cols, g, out)
	for k, j := range cols {
		out[k] = math.FMA(-s.store.Centre(j), sum, out[k])
	}
}

// predict adds X̃_S·v to u over all n rows, held-out ones included, X̃ centred on
// the means of the system.
func (s *Solver) predict(columns *support.Columns, cols []int32, v, u []float64) {
	s.view.AddColumns(cols, v, u)
	// The view's own centring differs by a constant where the loss is curved.
	var shift float64
	for k, j := range cols {
		shift = math.FMA(v[k], columns.Centre(j)-s.view.Mean(int(j)), shift)
	}
	if shift != 0 {
		for from, to := range s.k.Pieces(len(u)) {
			for i := range u[from:to] {
				u[from+i] -= shift
			}
		}
	}
}
