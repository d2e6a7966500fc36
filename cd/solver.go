package cd

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

// Solution is a certified point of an inner problem. Its slices belong to the
// solver and change with the next call of Solve.
type Solution struct {
	// Support lists the columns where the penalty is differentiable, ascending: those
	// with non-zero coefficients, unpenalised ones, and all that have entries under a
	// ridge alone.
	Support   []int32
	Coef      []float64 // their coefficients
	Intercept float64   // 0 where the view is not centred

	// On all n rows, held-out ones included:
	Prediction []float64    // m = Xβ + b
	Residual   []float64    // −ℓ′(yᵢ, mᵢ): y − m for the squared loss
	State      *model.State // both, and what else a hypergradient starts from

	Objective float64 // Φ(β, b)
	outcome.Certificate

	outcome.Effort                // includes the effort of a solve on a sample of the rows, if the solve started from one
	Work           float64        // total cost by the cost model: nanoseconds on one core of a 2020s server, counted, not measured
	Shared         float64        // the part of Work that a team can share, whatever its number of threads; 0 for views without a team
	Status         outcome.Status // Converged, NotConverged or Cancelled
}

// Solver minimises one datafit under any [model.Penalty]. It starts each solve from the
// coefficients of the previous one; [Solver.Reset] makes the next solve start from β = 0. After the
// first calls it allocates only for a sample of the rows to start from. It holds O(n + p) numbers and
// compact copies of the columns it has worked on, and is not safe for concurrent use.
type Solver struct {
	fit  model.Datafit
	view *sparse.View
	k    *kernels.Set
	pen  model.Penalty
	null float64 // P₀, see RelativeTo

	curved      model.Curved   // fit where its curvature varies, else nil
	beta        []float64      // the current point, by place, see certificate
	active      []int32        // columns of the certified point
	coef        []float64      // their coefficients
	copies      *sparse.Copies // the duplicate columns found so far in working sets, each replaced by a representative; nil: none
	state       *model.State   // predictions and residual at the certified point
	fitted      []int32        // the support for which state was computed
	fittedCoef  []float64      // the coefficients for which state was computed
	prox        proxNewton
	subsampling subsampling
	cert        certificate
	set         workingSet
	in          inner
	unpenalised unpenalised
	ridge       ridge
	followed    followed
	estimates   estimates
	warm        bool    // this solve began at a non-empty support
	advanced    bool    // the last solution has been moved by a derivative
	tol         float64 // Options.Tol of this solve
	passCost    float64 // modelled cost of the last certificate
	sol         Solution
	certified   certified
	inStage     bool // the current penalty is a stronger one on the way to the penalty asked for
}

// New returns a solver for a datafit.
func New(fit model.Datafit) *Solver {
	s := newSolver(fit, model.NewState(fit))
	s.cert.corr = s.view.Floats(len(s.cert.order))
	return s
}

// NewFrom returns a solver for the datafit of a null model, which it keeps and modifies. Its solves
// from β = 0 begin with the correlations of the null model, whereas a solver made by [New] needs a
// pass over X for them.
func NewFrom(null *model.Null) *Solver {
	s := newSolver(null.Fit, null.State)
	s.cert.corr = null.Correlation
	s.cert.setResidual(null.State.Residual)
	return s
}

func newSolver(fit model.Datafit, state *model.State) *Solver {
	view := fit.View()
	s := &Solver{fit: fit, view: view, k: view.Kernels(), null: fit.Null(), state: state}
	s.cert.init(view)
	places := len(s.cert.order)
	s.beta = view.Floats(places)
	_, p := view.Dims()
	s.set.init(p, places)
	s.in.init(view)
	s.curved, _ = fit.(model.Curved)
	s.in.setCostModel(s.curved != nil)
	s.sol.State, s.sol.Prediction, s.sol.Residual = state, state.Prediction, state.Residual
	return s
}

// Reset forgets the last solution and everything kept with it: the next Solve returns the same bits
// as that of a new solver.
func (s *Solver) Reset() {
	for _, place := range s.set.places {
		s.beta[place] = 0
	}
	for _, j := range s.active {
		s.beta[s.cert.place(j)] = 0
	}
	s.active, s.coef = s.active[:0], s.coef[:0]
	s.sol.Support, s.sol.Coef = s.sol.Support[:0], s.sol.Coef[:0]
	s.sol.RelativeGap = 0
	s.state.Intercept = 0
	s.copies = s.set.restart(s)
	s.set.forget()
	s.cert.forget()
	s.in.forget()
	s.followed, s.subsampling.runsFailed = followed{}, false
}

// Restart is [Solver.Reset] for a solver made by [NewFrom]: the next Solve returns the same bits as
// that of a new solver made from null, which is copied.
func (s *Solver) Restart(null *model.Null) {
	s.Reset()
	s.state.Assign(null.State)
	copy(s.cert.corr, null.Correlation)
	s.cert.setResidual(null.State.Residual)
	s.fitted, s.fittedCoef = s.fitted[:0], s.fittedCoef[:0]
	s.unpenalised.known = s.unpenalised.known[:0]
}

// Use resets the solver and makes it ready for another datafit on the same view,
// without allocating.
func (s *Solver) Use(fit model.Datafit) {
	s.Reset()
	s.fit, s.null = fit, fit.Null()
	s.curved, _ = fit.(model.Curved)
	s.in.setCostModel(s.curved != nil)
}

// RelativeTo sets P₀, to which tolerances and relative gaps are relative, to the objective of a null
// model with unpenalised columns, see [NewReleased].
func (s *Solver) RelativeTo(null float64) { s.null = null }

// Null returns P₀.
func (s *Solver) Null() float64 { return s.null }

// Cache returns the columns that the solver has packed and their Gram matrix, for
// the caller to use between solves.
func (s *Solver) Cache() *support.Gram { return s.in.gram }

// Start resets the solver and makes the next Solve begin at the coefficients coef of the
// columns cols, which must be ascending.
func (s *Solver) Start(cols []int32, coef []float64) {
	s.Reset()
	s.sol.Support = append(s.sol.Support, cols...)
	s.sol.Coef = append(s.sol.Coef, coef...)
	s.layOut()
}

// MoveTo makes the next Solve begin at the coefficients coef of the ascending columns cols, and
// keeps what earlier solves computed: packed columns, their Gram matrix, the last pass.
func (s *Solver) MoveTo(cols []int32, coef []float64) {
	s.sol.Support = append(s.sol.Support[:0], cols...)
	s.sol.Coef = append(s.sol.Coef[:0], coef...)
	s.layOut()
}

// Advance moves the last solution, where the next Solve begins, by step times direction, which has
// one entry for each column of its support. Coefficients that would change sign become 0.
func (s *Solver) Advance(step float64, direction []float64) {
	s.sol.Support, s.sol.Coef = Advance(s.sol.Support, s.sol.Coef, step, direction)
	s.layOut()
	s.advanced = true
}

// Advance moves the coefficients of some columns by step times direction, in place. It drops
// coefficients that would change sign or become 0, and returns the columns kept with their coefficients.
func Advance(columns []int32, coef []float64, step float64, direction []float64) ([]int32, []float64) {
	kept := 0
	for k, b := range coef {
		moved := math.FMA(step, direction[k], b)
		if moved == 0 || math.Signbit(moved) != math.Signbit(b) {
			continue
		}
		columns[kept], coef[kept] = columns[k], moved
		kept++
	}
	return columns[:kept], coef[:kept]
}

// layOut makes the last solution the current point: β, its active columns and the
// working set. It merges duplicate columns where the penalty treats them alike: with one
// strength for all columns and no ridge, under which their coefficients are unique anyway.
func (s *Solver) layOut() {
	for _, j := range s.active {
		s.beta[s.cert.place(j)] = 0
	}
	s.active, s.coef = s.active[:0], s.coef[:0]
	for k, j := range s.sol.Support {
		rep := s.copies.Representative(j)
		place := s.cert.place(rep.Column)
		if place < 0 || s.cert.norm[place] == 0 {
			continue // the column is constant on the rows of the view: its coefficient is 0
		}
		if s.beta[place] == 0 {
			s.active = append(s.active, rep.Column)
		}
		s.beta[place] = math.FMA(rep.Sign, s.sol.Coef[k], s.beta[place])
	}
	slices.Sort(s.active)
	kept := s.active[:0]
	for _, j := range slices.Compact(s.active) {
		b := &s.beta[s.cert.place(j)]
		if math.IsInf(s.pen.Alpha(int(j)), 1) {
			*b = 0 // excluded by the penalty
		}
		*b = s.pen.Clip(int(j), *b)
		if *b != 0 {
			kept = append(kept, j)
		}
	}
	kept = append(kept, s.unpenalised.columns...)
	s.active = kept
	slices.Sort(s.active)
	s.active = slices.Compact(s.active)
	s.set.keepSupport(s)
}

// prepare makes g the penalty of the solver and updates what depends on it.
func (s *Solver) prepare(g model.Penalty) error {
	changed := g.Positive() != s.pen.Positive() || g.Bounded() != s.pen.Bounded() || (g.Ridge() == 0) != (s.pen.Ridge() == 0) || g.Quadratic() != s.pen.Quadratic() || g.Columns() >= 0 || s.pen.Columns() >= 0
	s.pen = g
	if changed {
		s.copies = s.set.restart(s)
	}
	if err := s.unpenalised.find(s); err != nil {
		return err
	}
	if changed {
		s.layOut()
	}
	s.cert.setPenalty(g, s.view.Total(), s.copies)
	return nil
}

// Solve minimises Φ(β, b) = f(β, b) + g(β). The result carries the duality
// gap of the returned β. A result that missed the tolerance is returned with the status
// NotConverged; when ctx ends, the last certified point is returned with the status Cancelled.
// The error is an [outcome.Error]: BadParameter for invalid options, Shape for a penalty with
// strengths for another number of columns, Limit for a support larger than MaxSupport.
func (s *Solver) Solve(ctx context.Context, g model.Penalty, opts Options) (sol *Solution, err error) {
	s.certified.known = false
	var ended error
	defer func() {
		if ended != nil {
			sol, err = s.fallBack(ended)
		}
	}()
	defer kernels.Caught(&ended)
	return s.solve(ctx, g, opts)
}

// certified is the last point that a solve has certified.
type certified struct {
	known   bool
	sol     Solution
	support []int32
	coef    []float64
}

// remember copies the point that has just been certified.
func (c *certified) remember(sol *Solution) {
	c.known, c.sol = true, *sol
	c.support, c.coef = append(c.support[:0], sol.Support...), append(c.coef[:0], sol.Coef...)
}

// fallBack returns the last certified point, if there is one, of a solve whose context ended in the
// middle of a pass. Predictions and residuals are lost, and so is the start of the next solve.
func (s *Solver) fallBack(ended error) (*Solution, error) {
	c := &s.certified
	if !c.known {
		return nil, ended
	}
	effort := s.sol.Effort
	s.sol = c.sol
	s.sol.Support, s.sol.Coef = append(s.sol.Support[:0], c.support...), append(s.sol.Coef[:0], c.coef...)
	s.sol.Effort, s.sol.Status = effort, outcome.Cancelled
	if s.sol.RelativeGap <= s.tol && !s.inStage {
		s.sol.Status = outcome.Converged
	}
	return &s.sol, nil
}

// attempt solves from the current point with the full budget of MaxEpochs. If patience is below endless, it ends with
// the status laborious after that many sweeps, or when it makes no more progress.
func (s *Solver) attempt(ctx context.Context, g model.Penalty, opts Options, patience int) (*Solution, error) { //nolint:funlen // the loop of the engine, in the order in which it happens
	_, p := s.view.Dims()
	if c := g.Columns(); c >= 0 && c != p {
		return nil, outcome.Errorf(outcome.Shape, "%d strengths for %d columns", c, p)
	}
	shared := s.view.Team().Shared()
	defer func() { s.sol.Work, s.sol.Shared = s.work(), s.view.Team().Shared()-shared }()
	advanced := s.start(opts)
	if g.Quadratic() {
		s.pen = g
		return s.solveRidge(ctx, opts)
	}
	if err := s.prepare(g); err != nil {
		return nil, err
	}
	s.estimates.start(s, opts.Estimate && !s.fewColumns()) // with few columns the set has all of them, and all are computed
	polishes := s.polishes(opts)
	s.solveOnSupport(ctx)
	var reached record
	for stalled, first := 0, true; ; first = false {
		before := s.sol.RelativeGap
		s.certify()
		if first && advanced && s.worseThanZero() {
			s.certifyZero()
		}
		if s.prox.untried {
			s.judgeStep(stalled > 0)
		}
		if (s.sol.RelativeGap <= opts.Tol || s.in.exhausted() || stalled >= maxStalled) && !s.refitFollowed() {
			stalled = 0
		}
		if err := s.checkSupport(opts); err != nil {
			return nil, err
		}
		s.report(opts, Certified)
		switch {
		case s.sol.RelativeGap <= opts.Tol && (polishes == 0 || ctx.Err() != nil):
			return s.endAs(outcome.Converged)
		case s.sol.RelativeGap <= opts.Tol:
			polishes--
			s.polish(ctx)
			continue
		case s.in.exhausted() || stalled >= maxStalled && patience == endless:
			return s.endAs(outcome.NotConverged)
		case ctx.Err() != nil:
			return s.endAs(outcome.Cancelled)
		case s.sol.Epochs >= patience || stalled >= maxStalled:
			return s.endAs(laborious)
		case first && s.startFromSample(ctx, opts):
			s.report(opts, Sampled)
			continue
		}
		grown := s.set.next(s)
		if first || grown || s.sol.RelativeGap <= 0.5*before {
			s.in.relax()
		} else {
			s.in.tighten()
		}
		if stalled++; first || reached.advance(len(s.set.columns), s.sol.RelativeGap, s.sol.Objective, max(float64(progress*opts.Tol*s.null), float64(hopeless*s.sol.Gap))) {
			stalled = 0
		}
		s.report(opts, Chosen)
		if !s.improve(ctx) {
			// Cancelled between certificates: the last certified point stands.
			s.restore()
			return s.endAs(outcome.Cancelled)
		}
		s.report(opts, Improved)
	}
}

// start prepares a solve, and reports whether the current point is the last solution moved by a derivative.
func (s *Solver) start(opts Options) (advanced bool) {
	s.sol.Effort = outcome.Effort{}
	advanced = s.advanced
	s.warm, s.advanced, s.tol = len(s.sol.Support) > 0, false, opts.Tol
	s.prox.untried, s.followed.part = false, noPart
	s.subsampling.start()
	s.in.start(opts.MaxEpochs, s.warm, opts.Tol)
	s.prox.start(s.curved)
	s.in.gram.Limit(opts.MaxGram)
	s.in.store.Bound(opts.MaxPacked)
	s.in.homotopy.sweepFew = opts.SweepFew
	return advanced
}

// solveOnSupport moves from a start whose correlations are unknown, such as a solution for other rows, to the solution on its
// support, where the homotopy can follow it. The first pass then finds the columns that this solution lacks, not those
// that an arbitrary start lacks.
func (s *Solver) solveOnSupport(ctx context.Context) {
	h := &s.in.homotopy
	if s.curved != nil || !h.wide(len(s.cert.order)) || len(s.set.columns) == 0 || len(s.unpenalised.columns) > 0 {
		return
	}
	s.gather()
	if s.isCurrent() {
		return
	}
	s.updateState()
	s.in.load(s, s.state.Weighted)
	if h.suits() {
		s.sol.Steps += h.follow(ctx)
	}
	s.in.unload(s)
}

// endAs ends a solve at the certified point.
func (s *Solver) endAs(status outcome.Status) (*Solution, error) {
	s.sol.Status = status
	return &s.sol, nil
}

// checkSupport returns an error if the support of the certified point exceeds MaxSupport.
func (s *Solver) checkSupport(o Options) error {
	if size := len(s.sol.Support); o.MaxSupport > 0 && size > o.MaxSupport {
		return outcome.At(outcome.Limit, "max-support", "the support has %d columns, but the limit is %d", size, o.MaxSupport)
	}
	return nil
}

// improve solves the problem on the working set until its gap is a fraction of the certified
// gap. It returns false if ctx ended.
func (s *Solver) improve(ctx context.Context) bool {
	if s.curved != nil {
		return s.proxNewton(ctx)
	}
	return s.sweep(ctx)
}

// restore makes β the last certified point again.
func (s *Solver) restore() {
	for _, place := range s.set.places {
		s.beta[place] = 0
	}
	for k, j := range s.active {
		s.beta[s.cert.place(j)] = s.coef[k]
	}
}
