package implicit

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/support"
)

// Blocks differentiates solutions under penalties on blocks of coefficients. On the coefficients that are not
// 0, A·J = B with A = ∇²f + ∇²g, which depends on β (Vaiter et al., The degrees of freedom of partly smooth
// regularizers, 2017). It is not safe for concurrent use.
type Blocks struct {
	fit    model.Scores
	part   *model.Partition
	k      *kernels.Set
	metric model.Metric
	system *support.BlockSystem
	u      []float64 // n × q: the movement of the scores over a Newton step
	out    Hypergradient
}

// NewBlocks returns a solver that shares its system with the solver of the inner problem; the two must not be
// used at the same time.
func NewBlocks(fit model.Scores, part *model.Partition, system *support.BlockSystem) *Blocks {
	return &Blocks{fit: fit, part: part, k: fit.View().Kernels(), system: system}
}

// BlockPoint is where to differentiate.
type BlockPoint struct {
	Support     []int32   // columns with a coefficient that is not 0, ascending
	Beta        []float64 // all coefficients, by column and score
	Correlation []float64 // X_jᵀ(s⊙ρ)/N, by column and score
	Point       *model.ScorePoint
	KKT         float64
	Margin      float64 // the minimum of [model.Blocks].Clearance over the blocks
	// CurvatureWithin is as in [Outer]; nil says that the second derivatives of the criterion are constant.
	CurvatureWithin func(reach float64) []float64
}

const (
	blockEdge         = 1e-10 // a margin up to which an entry counts as about to leave 0
	blockMarginFactor = 10    // the multiple of the KKT residual up to which a margin, times the largest correlation, leaves doubt
	blockSafety       = 10    // safety factor of the error bounds
	blockTol          = 1e-11 // tolerance of conjugate gradients
	slopeTol          = 1e-5  // their tolerance for a rough gradient
)

// Solve returns the hypergradient at a point, one entry for each λ of the penalty. slope and curvature are
// the derivatives of the criterion in the scores, n × q; for a criterion that couples scores, curvature is a
// diagonal that bounds its second derivatives from above. Error bounds are estimated from the residuals of
// the systems, the stationarity residual of β, rounding, and the change of the system and its right-hand side
// over a Newton step. Of the options, Rough is used, and Tol with it. The error is an [outcome.Error] of kind
// Shape.
func (s *Blocks) Solve(ctx context.Context, g model.Blocks, at BlockPoint, slope, curvature []float64, opts Options) (*Hypergradient, error) {
	n, _ := s.fit.View().Dims()
	if len(slope) != n*s.fit.Count() || len(curvature) != len(slope) {
		return nil, outcome.Errorf(outcome.Shape, "slope and curvature must have %d entries for each of the %d rows", s.fit.Count(), n)
	}
	r := g.Hyperparameters()
	s.out = Hypergradient{Gradient: make([]float64, r), KKT: at.KKT, InjectivityMargin: 1, Status: outcome.Converged, Bound: Estimated}
	s.fit.Metric(at.Point, &s.metric)
	hessian := s.system.Hessian()
	hessian.Reset(&s.metric, at.Support, s.fit.Quadratic())
	s.system.Reset(g, s.part, at.Support, at.Beta)
	size := s.system.Size()
	if size == 0 {
		s.out.Status = outcome.Flat
		s.checkMargin(at)
		return &s.out, nil
	}
	h := s.system.Collect(hessian.Outer(slope, at.Support))
	v, b := make([]float64, size), make([]float64, size)
	if opts.Rough {
		s.roughGradient(ctx, g, h, v, b, cmp.Or(opts.Tol, slopeTol))
		return &s.out, nil
	}
	s.factorise(g)
	x, newton, moved := make([]float64, size), make([]float64, size), make([]float64, size)
	adjoint := s.solve(ctx, h, v, blockTol)
	size2 := s.k.Dot(h, v)
	step := s.newtonStep(ctx, g, at, newton)
	s.out.InjectivityMargin = s.system.Margin()
	change := s.systemChange(at, step)
	certified := s.keepsSupport(g, newton) && s.passesNoJump(at)
	if at.CurvatureWithin != nil {
		curvature = at.CurvatureWithin(blockSafety * s.k.MaxAbs(s.u))
	}
	scoreNorm := math.Sqrt(weighted(s.u, curvature))
	moving := false
	for i := range r {
		moving = s.rightSide(g, i, nil, b) || moving
		s.out.Gradient[i] = s.k.Dot(b, v)
		s.rightSide(g, i, newton, moved)
		shift := math.Abs(s.k.Dot(moved, v) - s.out.Gradient[i])
		s.solve(ctx, b, x, blockTol)
		energy := max(0, s.k.Dot(b, x))
		steep, rounded := s.curvatureNorm(at, x, slope, curvature)
		bound := float64(math.Sqrt(energy/max(s.out.InjectivityMargin, math.SmallestNonzeroFloat64))*adjoint) +
			float64((change+float64(rounding*float64(size)))*math.Sqrt(max(0, size2)*energy)) + float64(steep*scoreNorm) + shift + rounded
		s.out.ErrorBound = max(s.out.ErrorBound, blockSafety*bound)
	}
	switch {
	case ctx.Err() != nil:
		s.out.Status = outcome.Cancelled
	case s.out.Status != outcome.Converged:
	case !moving:
		s.out.Status = outcome.Flat
	case !certified:
		s.out.Status = outcome.SupportUncertified
	default:
		s.checkMargin(at)
	}
	return &s.out, nil
}

// keepsSupport reports that the Newton step x, times the safety factor, moves no block of the support to 0, and no
// entry with a kink of its own.
func (s *Blocks) keepsSupport(g model.Blocks, x []float64) bool {
	for _, block := range s.system.Blocks {
		var moved, size float64
		for k, at := range block.At {
			b := block.Beta[block.Of[k]]
			if g.Kinked(block.Block, block.Of[k]) && !(blockSafety*math.Abs(x[at]) < math.Abs(b)) {
				return false
			}
			moved, size = math.FMA(x[at], x[at], moved), math.FMA(b, b, size)
		}
		if !(blockSafety*math.Sqrt(moved) < math.Sqrt(size)) {
			return false
		}
	}
	return true
}

// passesNoJump reports that no row passes a jump of the loss's curvature where the scores move by u, times the
// safety factor.
func (s *Blocks) passesNoJump(at BlockPoint) bool {
	fit, ok := s.fit.(interface {
		CurvatureRange(at *model.ScorePoint, reach float64, first int, lowest, highest []float64) bool
	})
	if !ok {
		return true
	}
	lowest, highest, pace := make([]float64, len(s.u)), make([]float64, len(s.u)), s.k.Pace()
	if !fit.CurvatureRange(at.Point, blockSafety*s.k.MaxAbs(s.u), 0, lowest, highest) {
		return true
	}
	for i, move := range s.u {
		pace.Did(1)
		if lowest[i] == highest[i] {
			continue
		}
		if fit.CurvatureRange(at.Point, blockSafety*math.Abs(move), i, lowest[i:][:1], highest[i:][:1]); lowest[i] < highest[i] {
			return false
		}
	}
	return true
}

// rounding is the relative error that rounding leaves in a system, per coefficient.
const rounding = 0x1p-50

// checkMargin lowers the status where entries may be about to enter the support.
func (s *Blocks) checkMargin(at BlockPoint) {
	held := s.k.MaxAbs(at.Correlation)
	switch {
	case math.Abs(at.Margin) <= blockEdge:
		s.out.Status = outcome.NotDifferentiable
	case at.Margin*held <= blockMarginFactor*at.KKT:
		s.out.Status = outcome.SupportUncertified
	}
}

// factorise factorises the system where it is small. Under a penalty that is not convex the system has to be
// positive definite, which it is only at a strict minimum.
func (s *Blocks) factorise(g model.Blocks) {
	concave := g.Concavity() > 0
	switch {
	case !s.system.Factorises():
		if concave {
			s.out.Status = outcome.SupportUncertified
		}
	case s.system.Factorise():
	case concave:
		s.out.Status = outcome.NotDifferentiable
	}
}

// roughGradient computes the gradient alone, see [Options].Rough, for the criterion's slope h in the coefficients,
// from the adjoint v. As under other penalties, an entry about to leave 0 does not change the status, and
// dependent columns of the support count as a system that has stalled.
func (s *Blocks) roughGradient(ctx context.Context, g model.Blocks, h, v, b []float64, tol float64) {
	s.out.ErrorBound, s.out.InjectivityMargin = math.Inf(1), 0
	if g.Concavity() > 0 || s.system.FactorPays(productsExpected) {
		s.factorise(g)
	} else {
		s.system.Precondition(productsExpected)
	}
	s.solve(ctx, h, v, tol)
	moving := false
	for i := range g.Hyperparameters() {
		moving = s.rightSide(g, i, nil, b) || moving
		s.out.Gradient[i] = s.k.Dot(b, v)
	}
	switch {
	case ctx.Err() != nil:
		s.out.Status = outcome.Cancelled
	case s.out.Status == outcome.NotDifferentiable:
		s.out.Status = outcome.LinearSystemStalled
	case s.out.Status != outcome.Converged:
	case !moving:
		s.out.Status = outcome.Flat
	default:
		s.out.Status = outcome.SupportUncertified
	}
}

// solve solves a system and returns the norm of its residual, in the norm of the diagonal.
func (s *Blocks) solve(ctx context.Context, b, x []float64, tol float64) float64 {
	report := s.system.Solve(ctx, b, x, tol)
	s.updateStatus(ctx, report)
	return report.Residual
}

// updateStatus lowers the status where a system is not solved.
func (s *Blocks) updateStatus(ctx context.Context, report support.Report) {
	s.out.Iterations += report.Iterations
	if s.out.Status != outcome.Converged || ctx.Err() != nil {
		return
	}
	switch {
	case report.Null != nil && report.Relative > math.Sqrt(blockTol):
		s.out.Status = outcome.NotDifferentiable
	case !report.Converged && report.Relative > math.Sqrt(blockTol):
		s.out.Status = outcome.LinearSystemStalled
	}
}

// rightSide sets b to the right-hand side of λᵢ, at β or, where x is not nil, after a step x, and reports whether
// it is not 0.
func (s *Blocks) rightSide(g model.Blocks, i int, x, b []float64) (moving bool) {
	for _, block := range s.system.Blocks {
		out, beta := make([]float64, len(block.Beta)), block.Beta
		if x != nil {
			beta = slices.Clone(beta)
			for k, at := range block.At {
				beta[block.Of[k]] += x[at]
			}
		}
		g.Sensitivity(block.Block, i, beta, out)
		for k, at := range block.At {
			b[at] = out[block.Of[k]]
			moving = moving || b[at] != 0
		}
	}
	return moving
}

// newtonStep sets x to a Newton step from the point, and returns the step as coefficients of the support. In a
// direction without curvature, such as a shift of a column's coefficients for all classes, the residual may
// be no more than the rounding of the correlations, which is ignored.
func (s *Blocks) newtonStep(ctx context.Context, g model.Blocks, at BlockPoint, x []float64) []float64 {
	residual := make([]float64, len(x))
	q := s.fit.Count()
	for _, block := range s.system.Blocks {
		z, out := make([]float64, len(block.Beta)), make([]float64, len(block.Beta))
		model.Gather(s.part, block.Block, q, at.Correlation, z)
		g.Lack(block.Block, block.Beta, z, out)
		for k, position := range block.At {
			residual[position] = out[block.Of[k]]
		}
	}
	if report := s.system.Solve(ctx, residual, x, blockTol); report.Residual > s.roundingError(at) {
		s.updateStatus(ctx, report)
	}
	return append([]float64(nil), s.system.Spread(x)...)
}

// roundingError bounds the error of the computed correlations of the support, in the norm of the diagonal:
// the error of the residuals due to rounded scores, and the rounding of their products with the columns.
func (s *Blocks) roundingError(at BlockPoint) float64 {
	view, q := s.fit.View(), s.fit.Count()
	n, _ := view.Dims()
	heaviest, scores := 1.0, 0.0
	if weights := view.Weights(); weights != nil {
		heaviest = s.k.MaxAbs(weights)
	}
	norm := func(j int) float64 { return math.Sqrt(view.Whole(j, 0)) }
	list := s.system.Coefficients()
	for _, c := range list {
		scores = math.FMA(norm(c/q), math.Abs(at.Beta[c]), scores)
	}
	scores += s.k.Nrm2(at.Point.Prediction)
	size := sumRoundings(n) * unitRoundoff / view.Total() * (s.k.Nrm2(at.Point.Weighted) + float64(heaviest*scores))
	one := make([]float64, len(list))
	for k, c := range list {
		one[k] = size * norm(c/q)
	}
	return s.scaled(one)
}

// systemChange returns an upper bound of the relative change of the system over a step, apart from jumps of the
// curvature, and sets u to the movement of the scores.
func (s *Blocks) systemChange(at BlockPoint, step []float64) (change float64) {
	q := s.fit.Count()
	for _, block := range s.system.Blocks {
		if len(block.Beta) == 1 {
			continue // no curvature of a norm
		}
		own := s.part.Columns(block.Block)
		var moved, size float64
		position := 0
		for c, j := range own {
			for position < len(at.Support) && at.Support[position] < j {
				position++
			}
			for k := range q {
				size = math.FMA(block.Beta[c*q+k], block.Beta[c*q+k], size)
				if position < len(at.Support) && at.Support[position] == j {
					moved = math.FMA(step[position*q+k], step[position*q+k], moved)
				}
			}
		}
		change = max(change, 3*math.Sqrt(moved/size))
	}
	n, _ := s.fit.View().Dims()
	s.u = make([]float64, n*q)
	s.system.Hessian().Predict(at.Support, step, s.u)
	if concordance, ok := s.fit.Concordance(); ok {
		change += float64(2 * concordance * s.k.MaxAbs(s.u))
	}
	return change
}

// curvatureNorm returns √(JᵀKJ) for a column x of the Jacobian, and a bound of the effect of rounding on ∇CᵀJ: that
// of the point, which is off by A⁻¹ times the error of its correlations, that of the slopes at rounded
// scores, and that of the slopes' products with the columns.
func (s *Blocks) curvatureNorm(at BlockPoint, x, slope, curvature []float64) (steep, rounded float64) {
	view, q := s.fit.View(), s.fit.Count()
	n, _ := view.Dims()
	u := make([]float64, n*q)
	s.system.Hessian().Predict(at.Support, s.system.Spread(x), u)
	steep = math.Sqrt(weighted(u, curvature))
	for i, c := range curvature {
		u[i] *= c
	}
	list := s.system.Coefficients()
	scores, products := s.k.Nrm2(at.Point.Prediction), 0.0
	for k, c := range list {
		norm := math.Sqrt(view.Whole(c/q, 0))
		scores = math.FMA(norm, math.Abs(at.Beta[c]), scores)
		products = math.FMA(norm, math.Abs(x[k]), products)
	}
	moved, summed := float64(float64(len(list)+extraRoundings)*scores*s.k.Nrm2(u)), float64(sumRoundings(n)*products*s.k.Nrm2(slope))
	rounded = float64(unitRoundoff * (moved + summed))
	drift := s.scaled(s.system.Collect(s.system.Hessian().Outer(u, at.Support)))
	return steep, rounded + float64(drift*s.roundingError(at))/max(s.out.InjectivityMargin, math.SmallestNonzeroFloat64)
}

// scaled returns ‖D^-½v‖, D the diagonal of the system.
func (s *Blocks) scaled(v []float64) float64 {
	diagonal, sum := make([]float64, len(v)), 0.0
	s.system.Diagonal(diagonal)
	for k, d := range diagonal {
		sum = math.FMA(v[k]/d, v[k], sum)
	}
	return math.Sqrt(sum)
}

// weighted returns Σ cᵢuᵢ².
func weighted(u, c []float64) (sum float64) {
	for i, v := range u {
		sum = math.FMA(c[i]*v, v, sum)
	}
	return sum
}
