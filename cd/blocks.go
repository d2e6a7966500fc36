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

// Blocks solves under penalties on blocks of coefficients, of one score a row or of several:
// group Lasso, sparse groups, softmax, and penalties that are not convex. Working sets of
// blocks follow what a pass over X finds; on each, a quadratic model of the loss is minimised
// by sweeps over its blocks (blocksweep.go), with Newton steps on it where it is written out (blocksettle.go), and once the support stays, by Newton steps on
// it (blocknewton.go). Two classes are one problem of the difference of their scores (pair.go). Under a [model.ConvexBlocks] the certificate is a duality gap; under
// another penalty it is that every block is stationary. Where that is not convex the result
// depends on where the solver starts: see [Descent]. It is not safe for concurrent use.
type Blocks struct {
	fit  model.Scores
	part *model.Partition
	view *sparse.View
	q    int

	beta  []float64 // by column and score
	point *model.ScorePoint
	z     []float64 // X_jᵀ(s⊙ρ)/N by column and score, of the last certificate
	fresh bool      // that is of beta, and so is point
	whole bool      // for all columns, not only those that drift cannot hold at 0
	drift *drift    // of a descent, else nil
	knot  bool      // the penalty is on the way to another one
	lack  []float64 // of every block, its norm
	scale float64   // max |z| of the null model
	least float64   // curvature in a column; 0 before it is asked for

	metric   model.Metric
	damping  damping // of models of one score
	majorant model.Metric
	hessian  *support.Hessian
	system   *support.BlockSystem
	held     []int32       // columns, ascending: coefficients of others are 0
	working  []int         // blocks
	at       []*localBlock // of each of them
	open     []int         // coefficients of them, by column and score, that may move
	leaving  []leaving
	left     []left
	local    map[int]*localBlock
	work     float64
	own      []float64 // of a block: scratch
	before   []float64 // the coefficients where a Newton step began: scratch
	shift    []float64 // the intercepts where a step began: scratch
	step     modelStep
	pair     *Solver // for the difference of two scores; nil before it is asked for
	out      BlockSolution
}

// BlockSolution is a solution with its certificate. Its slices belong to the solver and change
// with its next call.
type BlockSolution struct {
	Support   []int32   // columns with a coefficient that is not 0, ascending
	Coef      []float64 // theirs, one for each score
	Intercept []float64 // by score
	Objective float64   // Φ(B, b)
	// Certificate is recomputed from X. KKT is the largest distance of a block from
	// stationary; the gaps are NaN where the penalty is no [model.ConvexBlocks].
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
		fit: fit, part: part, view: fit.View(), q: q, beta: make([]float64, p*q), lack: make([]float64, part.Count()),
		hessian: support.NewHessian(fit.View(), q), own: make([]float64, 4*part.Largest()*q), local: map[int]*localBlock{},
	}
	s.system = support.NewBlockSystem(s.hessian)
	s.point, s.z = model.NullScores(fit)
	s.fresh, s.whole = true, true
	s.scale = s.view.Kernels().MaxAbs(s.z)
	return s
}

// Null returns the correlations of the null model by column and score, before the first
// solve.
func (s *Blocks) Null() (at *model.ScorePoint, z []float64) { return s.point, s.z }

// System returns what the solver makes its Newton steps with, for whoever differentiates its
// solutions, not at the same time.
func (s *Blocks) System() *support.BlockSystem { return s.system }

// Correlation returns X_jᵀ(s⊙ρ)/N of the last certificate by column and score. Read only.
func (s *Blocks) Correlation() []float64 { return s.z }

// Start makes the next Solve begin at these coefficients; j·q + k is that of column j for
// score k.
func (s *Blocks) Start(at []int32, coef []float64) {
	j, now := s.Coefficients()
	s.fresh = s.fresh && slices.Equal(j, at) && slices.Equal(now, coef)
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

// sortedOnce sorts columns, each of them once.
func sortedOnce(columns []int32) []int32 {
	slices.Sort(columns)
	return slices.Compact(columns)
}

// Coefficients returns those that are not 0, as [Blocks.Start] has them.
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
	growth       = 2    // of working sets
	blockShare   = 0.1  // of the lack found, for a working set
	sharpLack    = 1e-9 // Tol from which on a solution is polished
	stage        = 0.3  // of the strengths, from one to the next on the way down
	stageTol     = 1e-2 // on the way, times the share of αmax
)

// Solve minimises f + g from the last solution. Of the options it has Tol, MaxEpochs,
// MaxSupport and Polish, of two classes all; Tol is the relative gap, or, where there is none, the
// largest lack of a block as a share of that of the null model. The error is an
// [outcome.Error] about them or the penalty.
func (s *Blocks) Solve(ctx context.Context, g model.Blocks, opts Options) (*BlockSolution, error) {
	opts, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	if err := s.check(g); err != nil {
		return nil, err
	}
	s.out, s.work, s.step.row, s.damping = BlockSolution{Point: s.point, Beta: s.beta}, 0, 0, 0
	s.system.ClearWork()
	led, err := s.lead(ctx, g, opts)
	if err != nil {
		return nil, err
	}
	if !led {
		if err := s.descend(ctx, g, opts); err != nil {
			return nil, err
		}
	}
	return s.solve(ctx, g, opts, led)
}

// descend goes from 0 down to a penalty by way of stronger ones, where it is convex and far below the
// null model: on the way the working sets stay small.
func (s *Blocks) descend(ctx context.Context, g model.Blocks, opts Options) error {
	convex, ok := g.(model.ConvexBlocks)
	if !ok || len(s.columns()) > 0 {
		return nil
	}
	s.pass()
	reach := 1.0 // of αmax, in the strengths of g
	for b := range s.part.Count() {
		reach = min(reach, convex.Reach(b, model.Entries(s.part, b, s.q, s.z, s.own)))
	}
	least := opts.Tol
	for times := stage / reach; times > 1/stage && ctx.Err() == nil; times *= stage {
		opts.Tol, opts.Polish = max(least, min(stageTol, stageTol*times*reach)), false
		if on, err := s.solve(ctx, convex.Stronger(times), opts, false); err != nil {
			return err
		} else if on.Status == outcome.NotConverged { // weaker ones would not, and hundreds may follow
			break
		}
	}
	return nil
}

// solve is [Blocks.Solve] from the point at hand, which may be polished already.
func (s *Blocks) solve(ctx context.Context, g model.Blocks, opts Options, polished bool) (*BlockSolution, error) {
	if each, ok := g.(model.Elementwise); ok && s.drift != nil {
		s.drift.under(each.Of)
	}
	sharp := opts.Polish || opts.Tol <= sharpLack
	polish := sharp && !polished
	s.working = s.working[:0]
	allowed := s.out.Passes + mostRounds
	var before []int32
	for {
		s.certify(g)
		if opts.MaxSupport > 0 && len(s.out.Support) > opts.MaxSupport {
			return nil, outcome.At(outcome.Limit, "max-support", "%d columns in the support, the limit is %d", len(s.out.Support), opts.MaxSupport)
		}
		good := s.good(g, opts.Tol)
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
			s.choose()
			swept := s.improve(ctx, g, opts.MaxEpochs)
			polish = sharp
			switch now := s.columns(); {
			case g.Concavity() > 0 && s.quick(now):
				polish = false
				s.polish(ctx, g, 0)
			case !swept || slices.Equal(now, before):
				s.polish(ctx, g, polishShare*s.out.KKT)
			default:
				before = now
			}
			continue
		}
		if !s.whole && !s.knot {
			s.visitAll()
			s.certify(g)
		}
		s.margin(g)
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
	if s.least == 0 {
		if !s.fit.Majorant(nil, &s.metric) {
			return outcome.At(outcome.Usage, "penalty", "a penalty that is not convex takes steps of 1/L, and the curvature of the loss has no bound L")
		}
		s.least = s.leastCurvature()
	}
	if !(s.least > concavity) {
		return outcome.At(outcome.BadParameter, "penalty", "the loss has a curvature of %.3g in a column, less than the %.3g by which the penalty is concave: standardise the columns, or make gamma or a larger", s.least, concavity)
	}
	return nil
}

// leastCurvature returns the least bound of the curvature in a column that is not 0, from one of
// the curvature in a row.
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

// quick reports that a Newton step on columns takes less than a pass over X does.
func (s *Blocks) quick(columns []int32) bool {
	size := float64(len(columns) * s.q)
	return size*(s.entries(columns)+float64(size*size/3)) <= float64(s.view.Matrix().NNZ())
}

// columns returns those with a coefficient that is not 0.
func (s *Blocks) columns() (columns []int32) {
	for _, j := range s.held {
		if !zero(s.beta[int(j)*s.q:][:s.q]) {
			columns = append(columns, j)
		}
	}
	return columns
}

// refit moves the point to the coefficients.
func (s *Blocks) refit() {
	s.list()
	s.fit.Fit(s.out.Support, s.out.Coef, s.point)
	s.fresh = false
}

// refitFrom is refit from the intercepts where a step began, after others: from far out, where there is no curvature, there may
// be no way back.
func (s *Blocks) refitFrom(shift []float64) {
	copy(s.point.Intercept, shift)
	s.refit()
}

// list lists the coefficients that are not 0.
func (s *Blocks) list() {
	s.out.Support, s.out.Coef = s.columns(), s.out.Coef[:0]
	for _, j := range s.out.Support {
		s.out.Coef = append(s.out.Coef, s.beta[int(j)*s.q:][:s.q]...)
	}
}

// pass moves the point to the coefficients and sets the correlations there, unless they have not moved
// since: on a descent only of columns that may lack anything.
func (s *Blocks) pass() {
	moved := !s.fresh
	if moved {
		s.refit()
		s.fresh = true
	} else {
		s.list()
	}
	switch {
	case s.drift == nil && moved:
		s.visitAll()
	case s.drift != nil && (moved || !s.whole):
		s.drift.move(s.view, s.point)
		s.correlate(s.drift.visit(s.beta, s.z))
		if s.whole = false; moved {
			s.out.Passes++
		}
	}
}

// visitAll sets the correlations of all columns at the point.
func (s *Blocks) visitAll() {
	model.Correlate(s.view, nil, s.point.Weighted, s.z)
	s.out.Passes++
	s.spend(float64(s.view.Matrix().NNZ()))
	if s.whole = true; s.drift != nil {
		s.drift.restart(s.view, s.point)
	}
}

// certify finds out what the coefficients are worth.
func (s *Blocks) certify(g model.Blocks) {
	s.pass()
	s.judge(g)
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

// judge finds out what the blocks lack.
func (s *Blocks) judge(g model.Blocks) {
	if each, ok := g.(model.Elementwise); ok {
		columns := s.part.All()
		if !s.whole {
			clear(s.lack)
			columns = s.drift.near
		}
		s.out.KKT, s.out.Margin = each.Judge(columns, s.beta, s.z, s.lack)
		return
	}
	s.out.KKT = 0
	for b := range s.part.Count() {
		beta, z, lack := s.block(b)
		g.Lack(b, beta, z, lack)
		s.lack[b] = s.length(lack)
		s.out.KKT = max(s.out.KKT, s.lack[b])
	}
}

// block returns the coefficients and correlations of a block, read only, and as much room beside them. They are good
// until the next call.
func (s *Blocks) block(b int) (beta, z, room []float64) {
	size := len(s.own) / 4
	beta = model.Entries(s.part, b, s.q, s.beta, s.own[:size])
	z = model.Entries(s.part, b, s.q, s.z, s.own[size:])
	return beta, z, s.own[2*size:][:len(z)]
}

// margin sets the least clearance of a block, unless the lacks came with it.
func (s *Blocks) margin(g model.Blocks) {
	if _, ok := g.(model.Elementwise); ok {
		return
	}
	s.out.Margin = 1
	for b := range s.part.Count() {
		beta, z, _ := s.block(b)
		s.out.Margin = min(s.out.Margin, g.Clearance(b, beta, z))
	}
}

// gap returns the duality gap: the scaled one, or with a ridge the unscaled one where that is
// smaller. Blocks at 0 that lack nothing are in the domain of the conjugate and add nothing.
func (s *Blocks) gap(g model.ConvexBlocks) float64 {
	c, ridge := 1.0, g.Ridge()
	live := s.live()
	each := func(do func(b int, beta, z, a []float64)) {
		live := live
		for b, lack := range s.lack {
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
		if ridge == 0 && zero(beta) {
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

// length returns the norm of the entries of a block.
func (s *Blocks) length(v []float64) float64 {
	switch {
	case len(v) == 1:
		return math.Abs(v[0])
	case zero(v):
		return 0
	}
	return s.view.Kernels().Nrm2(v)
}

// zero reports that coefficients are all 0.
func zero(beta []float64) bool {
	for _, v := range beta {
		if v != 0 {
			return false
		}
	}
	return true
}

// good reports whether the point meets a tolerance.
func (s *Blocks) good(g model.Blocks, tol float64) bool {
	if _, gap := g.(model.ConvexBlocks); !gap {
		return s.out.KKT <= tol*s.scale
	}
	return s.out.Gap <= tol*s.fit.Null()
}

// choose makes a working set of the blocks that are not 0 and of those that violate their
// optimality conditions most.
func (s *Blocks) choose() {
	live := map[int]bool{}
	for _, j := range s.out.Support {
		live[s.part.Of(j)] = true
	}
	var violators []int
	look := func(b int) {
		if s.lack[b] > 0 && !live[b] {
			violators = append(violators, b)
		}
	}
	if s.whole {
		for b := range s.lack {
			look(b)
		}
	} else { // of single columns; others lack nothing
		for _, j := range s.drift.near {
			look(int(j))
		}
	}
	slices.SortFunc(violators, func(a, b int) int { return cmp.Or(cmp.Compare(s.lack[b], s.lack[a]), cmp.Compare(a, b)) })
	room := max(leastWorking, growth*len(live), len(s.working)) - len(live)
	s.working = s.working[:0]
	for b := range live {
		s.working = append(s.working, b)
	}
	s.working = append(s.working, violators[:min(room, len(violators))]...)
	slices.Sort(s.working)
	s.held = sortedOnce(append(s.held[:0], s.workingColumns()...))
}

// spend counts the work of entries of X that are visited.
func (s *Blocks) spend(entries float64) {
	price := 0.6
	if _, dense := s.view.Matrix().(*sparse.Dense); dense {
		price = 0.1
	}
	s.work += float64(price * entries * float64(s.q*s.q))
}
