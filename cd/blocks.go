package cd

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// Blocks solves problems with penalties on blocks of coefficients, for one or several scores a row: group
// Lasso, sparse groups, softmax, and penalties that are not convex. Passes over X choose working sets of
// blocks. On each, a quadratic model of the loss is minimised by sweeps over its blocks (blocksweep.go), with
// Newton steps on the model where its Hessian is written out (blockmodelsteps.go), and, once the support stays the
// same, by Newton steps on the problem itself (blocknewton.go). Two classes are solved as one problem for the
// difference of their scores (pair.go). The certificate is a duality gap under a [model.ConvexBlocks], and
// under other penalties that every block is stationary. Where the penalty is not convex, the result depends on
// where the solver starts: see [Descent]. It is not safe for concurrent use.
type Blocks struct {
	fit  model.Scores
	part *model.Partition
	view *sparse.View
	q    int

	beta          []float64 // by column and score
	point         *model.ScorePoint
	z             []float64 // X_jᵀ(s⊙ρ)/N by column and score, of the last certificate
	current       bool      // z and point are those of beta
	allCorrelated bool      // z is that of beta for all columns, not only for those that drift cannot hold at 0
	drift         *drift    // of a descent, else nil
	atKnot        bool      // the penalty is that of a knot of a descent
	violation     []float64 // violation of every block: the norm of its [model.Blocks].Lack
	scale         float64   // max |z| of the null model
	minCurvature  float64   // see leastCurvature; 0: not yet computed

	metric    model.Metric
	damping   damping // of models of one score
	majorant  model.Metric
	hessian   *support.Hessian
	system    *support.BlockSystem
	held      []int32       // columns, ascending; coefficients of all other columns are 0
	working   []int         // blocks
	locals    []*localBlock // the local block of each working block
	movable   []int         // coefficients of working blocks that may move, by column and score
	leaving   []leaving
	postponed []postponed
	local     map[int]*localBlock
	work      float64
	scratch   []float64 // numbers of a block
	before    []float64 // scratch: the coefficients where a Newton step began
	shift     []float64 // scratch: the intercepts where a step began
	step      modelStep
	pair      *Solver // for the difference of two scores; nil until needed
	out       BlockSolution
}

// BlockSolution is a solution with its certificate. Its slices belong to the solver and change
// with its next call.
type BlockSolution struct {
	Support   []int32   // columns with a coefficient that is not 0, ascending
	Coef      []float64 // their coefficients, one for each score
	Intercept []float64 // by score
	Objective float64   // Φ(B, b)
	// Certificate is recomputed from X. KKT is the largest violation of a block; the gaps are NaN where the
	// penalty is no [model.ConvexBlocks].
	outcome.Certificate
	outcome.Effort
	// Margin is the least [model.Blocks].Clearance.
	Margin float64
	Work   float64 // counted, in nanoseconds of the cost model
	// Status is Converged, Stationary where there is no gap, NotConverged or
	// Cancelled.
	Status outcome.Status
	Point  *model.ScorePoint
	Beta   []float64 // all coefficients
}

// NewBlocks returns a solver at β = 0.
func NewBlocks(fit model.Scores, part *model.Partition) *Blocks {
	_, p := fit.View().Dims()
	q := fit.Count()
	s := &Blocks{
		fit: fit, part: part, view: fit.View(), q: q, beta: make([]float64, p*q), violation: make([]float64, part.Count()),
		hessian: support.NewHessian(fit.View(), q), scratch: make([]float64, 4*part.Largest()*q), local: map[int]*localBlock{},
	}
	s.system = support.NewBlockSystem(s.hessian)
	s.point, s.z = model.NullScores(fit)
	s.current, s.allCorrelated = true, true
	s.scale = s.view.Kernels().MaxAbs(s.z)
	return s
}

// Null returns the correlations of the null model by column and score, before the first
// solve.
func (s *Blocks) Null() (at *model.ScorePoint, z []float64) { return s.point, s.z }

// System returns the system of the solver's Newton steps, for differentiating its solutions. It must not be
// used while the solver runs.
func (s *Blocks) System() *support.BlockSystem { return s.system }

// Correlation returns X_jᵀ(s⊙ρ)/N of the last certificate by column and score. Read only.
func (s *Blocks) Correlation() []float64 { return s.z }

// Start makes the next Solve begin at the coefficients given; index j·q + k is column j and score k.
func (s *Blocks) Start(at []int32, coef []float64) {
	j, now := s.Coefficients()
	s.current = s.current && slices.Equal(j, at) && slices.Equal(now, coef)
	s.working = s.working[:0]
	for _, j := range s.held {
		clear(s.beta[int(j)*s.q:][:s.q])
	}
	s.held = s.held[:0]
	for k, j := range at {
		s.beta[j] = coef[k]
		s.held = append(s.held, j/int32(s.q))
	}
	s.held = sortedOnce(s.held)
}

// sortedOnce sorts columns and removes duplicates.
func sortedOnce(columns []int32) []int32 {
	slices.Sort(columns)
	return slices.Compact(columns)
}

// Coefficients returns the coefficients that are not 0, indexed as in [Blocks.Start].
func (s *Blocks) Coefficients() (at []int32, coef []float64) {
	for _, j := range s.held {
		for k, v := range s.beta[int(j)*s.q:][:s.q] {
			if v != 0 {
				at, coef = append(at, int32(int(j)*s.q+k)), append(coef, v)
			}
		}
	}
	return at, coef
}

const (
	mostRounds   = 300  // passes over X
	leastWorking = 10   // blocks
	growth       = 2    // of working sets, relative to the support
	blockShare   = 0.1  // of the largest violation: what may be left on a working set
	sharpLack    = 1e-9 // Tol up to which a solution is polished
	stage        = 0.3  // factor between successive strengths on the way down
	stageTol     = 1e-2 // Tol on the way down, times the strength as a share of αmax
)

// Solve minimises f + g from the last solution. Of the options it uses Tol, MaxEpochs, MaxSupport and Polish,
// and for two classes all. Tol is the relative gap or, where there is none, the largest violation of a block
// relative to the largest correlation of the null model. The error is an [outcome.Error] about the options or
// the penalty.
func (s *Blocks) Solve(ctx context.Context, g model.Blocks, opts Options) (*BlockSolution, error) {
	opts, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	if err := s.check(g); err != nil {
		return nil, err
	}
	s.out, s.work, s.step.nextSteps, s.damping = BlockSolution{Point: s.point, Beta: s.beta}, 0, 0, 0
	s.system.ClearWork()
	led, err := s.solvePair(ctx, g, opts)
	if err != nil {
		return nil, err
	}
	if !led {
		if err := s.solveStages(ctx, g, opts); err != nil {
			return nil, err
		}
	}
	return s.solve(ctx, g, opts, led)
}

// solveStages solves for stronger penalties first, from 0 down to g, if g is convex and far below αmax: working
// sets stay small on the way.
func (s *Blocks) solveStages(ctx context.Context, g model.Blocks, opts Options) error {
	convex, ok := g.(model.ConvexBlocks)
	if !ok || len(s.columns()) > 0 {
		return nil
	}
	s.pass()
	reach := 1.0 // the strength of g as a share of αmax
	for b := range s.part.Count() {
		reach = min(reach, convex.Reach(b, model.Entries(s.part, b, s.q, s.z, s.scratch)))
	}
	least := opts.Tol
	for times := stage / reach; times > 1/stage && ctx.Err() == nil; times *= stage {
		opts.Tol, opts.Polish = max(least, min(stageTol, stageTol*times*reach)), false
		if on, err := s.solve(ctx, convex.Stronger(times), opts, false); err != nil {
			return err
		} else if on.Status == outcome.NotConverged { // weaker penalties would not converge either, and hundreds may follow
			break
		}
	}
	return nil
}

// solve is [Blocks.Solve] from the current point; polished says whether the point is polished already.
func (s *Blocks) solve(ctx context.Context, g model.Blocks, opts Options, polished bool) (*BlockSolution, error) {
	if each, ok := g.(model.Elementwise); ok && s.drift != nil {
		s.drift.setPenalty(each.Of)
	}
	sharp := opts.Polish || opts.Tol <= sharpLack
	polish := sharp && !polished
	s.working = s.working[:0]
	allowed := s.out.Passes + mostRounds
	var before []int32
	for {
		s.certify(g)
		if opts.MaxSupport > 0 && len(s.out.Support) > opts.MaxSupport {
			return nil, outcome.At(outcome.Limit, "max-support", "the support has %d columns, but the limit is %d", len(s.out.Support), opts.MaxSupport)
		}
		good := s.withinTol(g, opts.Tol)
		switch {
		case ctx.Err() != nil:
			s.out.Status = outcome.Cancelled
		case good && !polish:
			s.out.Status = outcome.Converged
			if _, gap := g.(model.ConvexBlocks); !gap {
				s.out.Status = outcome.Stationary
			}
		case s.out.Passes >= allowed || s.out.Epochs >= opts.MaxEpochs:
			s.out.Status = outcome.NotConverged
		case good:
			polish = false
			s.polish(ctx, g, 0)
			continue
		default:
			s.chooseWorkingSet()
			swept := s.improve(ctx, g, opts.MaxEpochs)
			polish = sharp
			switch now := s.columns(); {
			case g.Concavity() > 0 && s.newtonIsCheap(now):
				polish = false
				s.polish(ctx, g, 0)
			case !swept || slices.Equal(now, before):
				s.polish(ctx, g, polishShare*s.out.KKT)
			default:
				before = now
			}
			continue
		}
		if !s.allCorrelated && !s.atKnot {
			s.correlateAll()
			s.certify(g)
		}
		s.setMargin(g)
		s.out.Work = s.work + s.system.Work()
		return &s.out, nil
	}
}

// check refuses a penalty that is too concave for the loss.
func (s *Blocks) check(g model.Blocks) error {
	concavity := g.Concavity()
	if concavity == 0 {
		return nil
	}
	if s.minCurvature == 0 {
		if !s.fit.Majorant(nil, &s.metric) {
			return outcome.At(outcome.Usage, "penalty", "a penalty that is not convex needs a loss of bounded curvature, for steps of 1/L")
		}
		s.minCurvature = s.leastCurvature()
	}
	if !(s.minCurvature > concavity) {
		return outcome.At(outcome.BadParameter, "penalty", "the curvature of the loss in a column, %.3g, is not above the concavity of the penalty, %.3g: standardise the columns, or increase gamma or a", s.minCurvature, concavity)
	}
	return nil
}

// leastCurvature returns the smallest bound of the curvature in a column, among columns that are not 0, given
// the bound of the curvature in a row.
func (s *Blocks) leastCurvature() float64 {
	bound := s.metric.Weight[0]
	for _, w := range s.metric.Weight {
		bound = max(bound, w)
	}
	if weights := s.view.Weights(); weights != nil {
		bound /= s.view.Kernels().MaxAbs(weights)
	}
	least := math.Inf(1)
	for _, j := range s.view.Matrix().Order() {
		if norm := s.view.Norm(int(j)); norm > 0 {
			least = min(least, bound*norm*norm/s.view.Total())
		}
	}
	return least
}

// newtonIsCheap reports whether a Newton step on columns costs less than a pass over X.
func (s *Blocks) newtonIsCheap(columns []int32) bool {
	size := float64(len(columns) * s.q)
	return size*(s.entries(columns)+float64(size*size/3)) <= float64(s.view.Matrix().NNZ())
}

// columns returns the columns with a coefficient that is not 0.
func (s *Blocks) columns() (columns []int32) {
	for _, j := range s.held {
		if !allZero(s.beta[int(j)*s.q:][:s.q]) {
			columns = append(columns, j)
		}
	}
	return columns
}

// refit moves the point to the coefficients.
func (s *Blocks) refit() {
	s.listSupport()
	s.fit.Fit(s.out.Support, s.out.Coef, s.point)
	s.current = false
}

// refitFrom is refit with the intercepts reset to those where a step began: a fit that starts far out, where
// there is no curvature, may not find its way back.
func (s *Blocks) refitFrom(shift []float64) {
	copy(s.point.Intercept, shift)
	s.refit()
}

// listSupport lists the coefficients that are not 0.
func (s *Blocks) listSupport() {
	s.out.Support, s.out.Coef = s.columns(), s.out.Coef[:0]
	for _, j := range s.out.Support {
		s.out.Coef = append(s.out.Coef, s.beta[int(j)*s.q:][:s.q]...)
	}
}

// pass moves the point to the coefficients and sets the correlations there, unless the coefficients have not
// moved. On a descent it computes only the correlations of columns that may violate optimality.
func (s *Blocks) pass() {
	moved := !s.current
	if moved {
		s.refit()
		s.current = true
	} else {
		s.listSupport()
	}
	switch {
	case s.drift == nil && moved:
		s.correlateAll()
	case s.drift != nil && (moved || !s.allCorrelated):
		s.drift.move(s.view, s.point)
		s.correlate(s.drift.columnsToVisit(s.beta, s.z))
		if s.allCorrelated = false; moved {
			s.out.Passes++
		}
	}
}

// correlateAll sets the correlations of all columns at the point.
func (s *Blocks) correlateAll() {
	model.Correlate(s.view, nil, s.point.Weighted, s.z)
	s.out.Passes++
	s.chargeEntries(float64(s.view.Matrix().NNZ()))
	if s.allCorrelated = true; s.drift != nil {
		s.drift.restart(s.view, s.point)
	}
}

// certify computes the certificate of the coefficients.
func (s *Blocks) certify(g model.Blocks) {
	s.pass()
	s.computeViolations(g)
	s.out.Objective = s.value(g)
	s.out.Intercept = append(s.out.Intercept[:0], s.point.Intercept...)
	if s.view.Centred() {
		for c, j := range s.out.Support {
			for k := range s.q {
				s.out.Intercept[k] = math.FMA(-s.out.Coef[c*s.q+k], s.view.Mean(int(j)), s.out.Intercept[k])
			}
		}
	}
	s.out.Gap, s.out.RelativeGap = math.NaN(), math.NaN()
	if convex, ok := g.(model.ConvexBlocks); ok {
		s.out.Gap = s.gap(convex)
		if s.out.RelativeGap = s.out.Gap / s.fit.Null(); s.out.Gap == 0 {
			s.out.RelativeGap = 0
		}
	}
}

// computeViolations computes the violations of the blocks.
func (s *Blocks) computeViolations(g model.Blocks) {
	if each, ok := g.(model.Elementwise); ok {
		columns := s.part.All()
		if !s.allCorrelated {
			clear(s.violation)
			columns = s.drift.visited
		}
		s.out.KKT, s.out.Margin = each.Judge(columns, s.beta, s.z, s.violation)
		return
	}
	s.out.KKT = 0
	for b := range s.part.Count() {
		beta, z, lack := s.block(b)
		g.Lack(b, beta, z, lack)
		s.violation[b] = s.norm(lack)
		s.out.KKT = max(s.out.KKT, s.violation[b])
	}
}

// block returns the coefficients and correlations of a block, both read only, and scratch of the same length.
// They are valid until the next call.
func (s *Blocks) block(b int) (beta, z, room []float64) {
	size := len(s.scratch) / 4
	beta = model.Entries(s.part, b, s.q, s.beta, s.scratch[:size])
	z = model.Entries(s.part, b, s.q, s.z, s.scratch[size:])
	return beta, z, s.scratch[2*size:][:len(z)]
}

// setMargin sets the least clearance of a block, unless computeViolations has set it.
func (s *Blocks) setMargin(g model.Blocks) {
	if _, ok := g.(model.Elementwise); ok {
		return
	}
	s.out.Margin = 1
	for b := range s.part.Count() {
		beta, z, _ := s.block(b)
		s.out.Margin = min(s.out.Margin, g.Clearance(b, beta, z))
	}
}

// gap returns the duality gap at the scaled dual point or, with a ridge, at the unscaled one if that is
// smaller. Blocks at 0 without a violation are in the domain of the conjugate and add nothing.
func (s *Blocks) gap(g model.ConvexBlocks) float64 {
	c, ridge := 1.0, g.Ridge()
	live := s.live()
	each := func(do func(b int, beta, z, a []float64)) {
		live := live
		for b, lack := range s.violation {
			if len(live) > 0 && live[0] == b {
				live = live[1:]
			} else if lack == 0 {
				continue
			}
			beta, z, a := s.block(b)
			for k, v := range z {
				a[k] = v - float64(ridge*beta[k])
			}
			do(b, beta, z, a)
		}
	}
	each(func(b int, _, _, a []float64) { c = min(c, g.Reach(b, a)) })
	var scaled, unscaled float64
	each(func(b int, beta, z, a []float64) {
		if ridge == 0 && allZero(beta) {
			return
		}
		var product, square, whole float64
		for k, v := range beta {
			product = math.FMA(a[k], v, product)
			square = math.FMA(v, v, square)
			whole = math.FMA(z[k], v, whole)
		}
		value := g.Value(b, beta)
		half := float64(0.5 * ridge * square)
		scaled += max(0, value-half-float64(c*product)) + float64((1-c)*(1-c)*half)
		if ridge > 0 {
			unscaled += max(0, value-whole+g.Excess(b, z))
		}
	})
	gap := s.fit.Divergence(s.point, c) + scaled
	if ridge > 0 {
		gap = min(gap, s.fit.Divergence(s.point, 1)+unscaled)
	}
	return gap
}

// norm returns the Euclidean norm of the entries of a block.
func (s *Blocks) norm(v []float64) float64 {
	switch {
	case len(v) == 1:
		return math.Abs(v[0])
	case allZero(v):
		return 0
	}
	return s.view.Kernels().Nrm2(v)
}

// allZero reports whether all coefficients are 0.
func allZero(beta []float64) bool {
	for _, v := range beta {
		if v != 0 {
			return false
		}
	}
	return true
}

// withinTol reports whether the point meets a tolerance.
func (s *Blocks) withinTol(g model.Blocks, tol float64) bool {
	if _, gap := g.(model.ConvexBlocks); !gap {
		return s.out.KKT <= tol*s.scale
	}
	return s.out.Gap <= tol*s.fit.Null()
}

// chooseWorkingSet makes a working set of the blocks that are not 0 and the blocks with the largest violations.
func (s *Blocks) chooseWorkingSet() {
	live := map[int]bool{}
	for _, j := range s.out.Support {
		live[s.part.Of(j)] = true
	}
	var violators []int
	look := func(b int) {
		if s.violation[b] > 0 && !live[b] {
			violators = append(violators, b)
		}
	}
	if s.allCorrelated {
		for b := range s.violation {
			look(b)
		}
	} else { // blocks are single columns, and columns that were not visited violate nothing
		for _, j := range s.drift.visited {
			look(int(j))
		}
	}
	slices.SortFunc(violators, func(a, b int) int { return cmp.Or(cmp.Compare(s.violation[b], s.violation[a]), cmp.Compare(a, b)) })
	room := max(leastWorking, growth*len(live), len(s.working)) - len(live)
	s.working = s.working[:0]
	for b := range live {
		s.working = append(s.working, b)
	}
	s.working = append(s.working, violators[:min(room, len(violators))]...)
	slices.Sort(s.working)
	s.held = sortedOnce(append(s.held[:0], s.workingColumns()...))
}

// chargeEntries charges the work of visiting entries of X.
func (s *Blocks) chargeEntries(entries float64) {
	price := 0.6
	if _, dense := s.view.Matrix().(*sparse.Dense); dense {
		price = 0.1
	}
	s.work += float64(price * entries * float64(s.q*s.q))
}
