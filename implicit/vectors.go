package implicit

import (
	"cmp"
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/support"
)

// VectorsPoint is where to differentiate a [model.Vectors].
type VectorsPoint struct {
	Dual        []float64 // n: a
	Free, Bound []int32   // rows with aᵢ inside its interval, and rows with aᵢ at a non-zero end of it
	Predictions []float64 // n: x̃ᵢw + b
	W           []float64 // p
}

// Vectors computes hypergradients of a [model.Vectors] by the implicit function theorem: with
// S the free rows, B those at a bound and K = [A_SS 1; 1ᵀ 0], the movement of a_S and b is
//
//	K·[J_S; J_b] = −[A_SB·a_B; Σa_B] in ln C, where J_B = a_B,
//	K·[J_S; J_b] = −ε[sign a_S; 0] in ln ε,
//
// without the last row and column where there is no intercept. ∂w = X̃ᵀJ; on the simplex, ∂w is the component
// of X̃ᵀJ along the face in whose interior w is, and A is made of those components. Many free rows are left
// to conjugate gradients, except on the simplex.
//
// Every call solves its systems from 0. A Vectors is not safe for concurrent use.
type Vectors struct {
	fit             *model.Vectors
	k               *kernels.Set
	system          vectorsSystem
	square          []float64     // n: ‖x̃ᵢ‖²
	spreads         []float64     // n: the part of ‖x̃ᵢ‖² that counts as w moves, see [model.Vectors.Spreads]
	a               []float64     // n: J
	w               []float64     // p
	m               []float64     // n: ∂m
	predictionError []float64     // n: the error of the predictions
	residualError   float64       // the further error of a row of length 1, by the residual of the system for off
	pointRounding   roundingBound // the error of the predictions by rounding
	motionRounding  roundingBound // the error of ∂m by rounding
	scale           float64       // of the predictions
	longestFree     float64       // √ of the largest entry of reached over the free rows
	free            []bool        // n: whether a row is free
	out             Hypergradient
}

// NewVectors returns a solver.
func NewVectors(fit *model.Vectors) *Vectors {
	n, p := fit.Dims()
	square := fit.Squares()
	s := &Vectors{
		fit: fit, k: fit.Kernels(), a: make([]float64, n), w: make([]float64, p), m: make([]float64, n), predictionError: make([]float64, n), free: make([]bool, n), square: square, spreads: square,
		system: vectorsSystem{fit: fit, square: square, largest: largestFactor, factor: support.Semidefinite{Kernels: fit.Kernels()}},
	}
	if fit.Simplex() {
		s.spreads = fit.Spreads()
	}
	return s
}

// Solve returns the hypergradient at a point of the strengths logLambda, with one entry for each. Its error
// bound is estimated from the residuals of the conditions on the free rows, to first order, the residuals of
// conjugate gradients, and rounding. NotDifferentiable says that a row is on a kink, that free rows depend on
// one another, or that no row is free to determine the intercept. SupportUncertified says that the point that
// satisfies the conditions on these free rows violates those on the other rows. Flat says that nothing moves.
// [Options].Rough limits the accuracy of conjugate gradients and skips the checks. The error is an
// [outcome.Error] about the arguments, or that of ctx.
func (s *Vectors) Solve(ctx context.Context, logLambda []float64, at VectorsPoint, outer Outer, opts Options) (*Hypergradient, error) {
	n, p := s.fit.Dims()
	if len(outer.Slope) != n || len(outer.Curvature) != n || len(at.Dual) != n || len(at.Predictions) != n || len(at.W) != p {
		return nil, outcome.Errorf(outcome.Shape, "slopes, curvatures, dual variables and predictions must have one entry for each of the %d rows, and w for each of the %d columns", n, p)
	}
	c, epsilon, err := s.fit.Strengths(logLambda)
	if err != nil {
		return nil, err
	}
	opts.Tol, opts.MaxIterations = cmp.Or(opts.Tol, 1e-5), cmp.Or(opts.MaxIterations, 10*len(at.Free)+100)
	out := &s.out
	*out = Hypergradient{Gradient: out.Gradient[:0], InjectivityMargin: 1, Bound: Estimated, Status: outcome.Converged}
	moves := len(at.Bound) > 0 || s.fit.Hyperparameters() > 1 && len(at.Free) > 0
	switch {
	case !moves:
		out.Gradient = append(out.Gradient, make([]float64, len(logLambda))...)
		if out.Status = outcome.Flat; !opts.Rough && !s.confirmsFlat(ctx, at, c, epsilon, opts) {
			out.Status = outcome.SupportUncertified
		}
		return out, nil
	case len(at.Free) == 0 && s.fit.Centred(), !s.system.setUp(at, opts.Rough):
		out.Gradient = append(out.Gradient, make([]float64, len(logLambda))...)
		out.Status, out.InjectivityMargin, out.ErrorBound = outcome.NotDifferentiable, 0, math.Inf(1)
		return out, nil
	case opts.Rough && s.system.iterative:
		return s.roughGradient(ctx, at, outer, epsilon, opts)
	}
	s.estimateError(ctx, at, epsilon, opts)
	edges, right := s.compareRows(at, c, epsilon, false)
	reach := s.slopePerResidual(at, outer)
	kinked := s.fit.Simplex() && s.onFaceEdge(at)
	for i := range logLambda {
		s.move(ctx, at, i, epsilon, opts)
		kinked = kinked || s.leavesEdge(at, edges, i, epsilon, opts.Tol)
		value, bound := s.gradientEntry(outer, float64(reach*s.system.residualNorm))
		out.Gradient = append(out.Gradient, value)
		out.ErrorBound = max(out.ErrorBound, bound)
	}
	out.InjectivityMargin, out.Iterations = s.system.margin, s.system.iterations
	if s.system.iterative {
		out.Work = s.system.bordered.Work()
	}
	out.Status = s.status(ctx, kinked, right)
	return out, nil
}

// confirmsFlat reports that the free rows are right where no row is at a bound.
func (s *Vectors) confirmsFlat(ctx context.Context, at VectorsPoint, c, epsilon float64, opts Options) bool {
	if len(at.Free) == 0 {
		return true
	}
	if !s.system.setUp(at, false) {
		return false
	}
	s.estimateError(ctx, at, epsilon, opts)
	if s.out.Iterations = s.system.iterations; s.system.iterative {
		s.out.Work = s.system.bordered.Work()
	}
	_, right := s.compareRows(at, c, epsilon, true)
	return right
}

// gradientEntry returns the slope of the criterion along the movement of the predictions, and a bound of its error,
// which includes solved, the error by the system.
func (s *Vectors) gradientEntry(outer Outer, solved float64) (value, bound float64) {
	bound = solved
	sum := float64(sumRoundings(len(outer.Slope)) * unitRoundoff)
	for r, slope := range outer.Slope {
		value = math.FMA(slope, s.m[r], value)
		if curvature := math.Abs(outer.Curvature[r] * s.m[r]); curvature > 0 {
			bound = math.FMA(curvature, math.Abs(s.predictionError[r])+float64(s.residualError*s.rowLength(r))+s.predictionRounding(s.pointRounding, r), bound)
		}
		bound = math.FMA(math.Abs(slope), float64(sum*math.Abs(s.m[r]))+s.predictionRounding(s.motionRounding, r), bound)
	}
	return value, bound
}

// rowLength is the largest movement of the prediction of row r, with the intercept, as w moves by 1.
func (s *Vectors) rowLength(r int) float64 { return math.Sqrt(s.spreads[r]) + s.longestFree }

// roundingBound bounds the error of w by rounding, and that of its product with a row of length 1.
type roundingBound struct{ w, products float64 }

// predictionRounding bounds the error of the prediction of row r by rounding.
func (s *Vectors) predictionRounding(by roundingBound, r int) float64 {
	return float64(by.w*s.rowLength(r)) + float64(by.products*math.Sqrt(s.square[r]))
}

// rounding bounds the rounding error of w = X̃ᵀa, which may be large where the terms cancel, together with
// the effect of this error and of rounded products on the last solution of the system. moved is the length of
// the w behind the right-hand side of the system.
func (s *Vectors) rounding(a, w []float64, moved float64) roundingBound {
	n, p := s.fit.Dims()
	var sum float64
	for r, v := range kernels.Each(s.k, a) {
		if v != 0 {
			sum = math.FMA(math.Abs(v), math.Sqrt(s.square[r])+s.longestFree, sum)
		}
	}
	width := unitRoundoff * float64(p+len(s.system.rhs)+extraRoundings)
	return roundingBound{float64(2*unitRoundoff*sumRoundings(n)*sum) + float64(width*s.system.rounding(moved)), width * s.k.Nrm2(w)}
}

// status returns the status of the gradient, given whether a row is on a kink, and whether the free rows are
// right.
func (s *Vectors) status(ctx context.Context, kinked, right bool) outcome.Status {
	switch {
	case ctx.Err() != nil && !s.system.converged:
		return outcome.Cancelled
	case !s.system.exact || kinked || !(s.system.margin >= singular):
		return outcome.NotDifferentiable
	case !s.system.converged:
		return outcome.LinearSystemStalled
	case !right:
		return outcome.SupportUncertified
	default:
		return outcome.Converged
	}
}

const (
	roughTol        = 1e-2 // tolerance of the systems of a rough gradient
	roughIterations = 120  // iterations for each of them
)

// roughGradient computes the gradient alone, see [Options].Rough. Thousands of free rows are nearly dependent on one
// another, and the residuals of their systems hardly affect the predictions.
func (s *Vectors) roughGradient(ctx context.Context, at VectorsPoint, outer Outer, epsilon float64, opts Options) (*Hypergradient, error) {
	out := &s.out
	opts.Tol, opts.MaxIterations = max(opts.Tol, roughTol), min(opts.MaxIterations, roughIterations)
	for i := range s.fit.Hyperparameters() {
		s.move(ctx, at, i, epsilon, opts)
		out.Gradient = append(out.Gradient, s.k.Dot(outer.Slope, s.m))
	}
	out.Iterations, out.Work = s.system.iterations, s.system.bordered.Work()
	out.Status, out.ErrorBound, out.InjectivityMargin = outcome.SupportUncertified, math.Inf(1), 0
	return out, ctx.Err()
}

// move sets m to the movement of the predictions with hyperparameter i.
func (s *Vectors) move(ctx context.Context, at VectorsPoint, i int, epsilon float64, opts Options) {
	s.k.Clear(s.a)
	rhs, total, moved := s.system.rhs, 0.0, 0.0
	if i == 0 {
		for _, r := range kernels.Each(s.k, at.Bound) {
			s.a[r] = at.Dual[r]
			total += at.Dual[r]
		}
		s.fit.SetMotion(s.a, at.W, s.w)
		s.fit.Predict(s.w, 0, s.m)
		moved = s.k.Nrm2(s.w)
		for k, r := range at.Free {
			rhs[k] = -s.m[r]
		}
	} else {
		for k, r := range at.Free {
			rhs[k] = -math.Copysign(epsilon, at.Dual[r])
		}
	}
	s.moveAll(at, s.system.solve(ctx, -total, opts), s.m)
	s.motionRounding = s.rounding(s.a, s.w, moved)
}

// moveAll sets out to the movement of all predictions, given the movement of the dual variables: in rhs for
// the free rows, in a for the others.
func (s *Vectors) moveAll(at VectorsPoint, shift float64, out []float64) {
	for k, r := range at.Free {
		s.a[r] = s.system.rhs[k]
	}
	s.fit.SetMotion(s.a, at.W, s.w)
	s.fit.Predict(s.w, shift, out)
}

// estimateError sets off to the error of the predictions against the solution with these free rows, by solving for
// the residuals of the conditions. It leaves the movement of the dual variables in a.
func (s *Vectors) estimateError(ctx context.Context, at VectorsPoint, epsilon float64, opts Options) {
	s.k.Clear(s.a)
	s.longestFree = 0
	for k, r := range at.Free {
		s.system.rhs[k] = s.fit.Target()[r] - at.Predictions[r] - math.Copysign(epsilon, at.Dual[r])
		s.longestFree = max(s.longestFree, math.Sqrt(s.spreads[r]))
	}
	s.moveAll(at, s.system.solve(ctx, 0, opts), s.predictionError)
	s.residualError, s.system.converged = s.system.residualNorm, true // a right-hand side of rounding errors need not be solved
	s.pointRounding = s.rounding(at.Dual, at.W, s.k.Nrm2(at.W))
}

// slopePerResidual returns the error of the slope of the criterion per unit of the residual, in the norm of A⁻¹: w moves
// by as much, and the movement of the intercept follows from that of w.
func (s *Vectors) slopePerResidual(at VectorsPoint, outer Outer) float64 {
	if !s.system.iterative {
		return 0
	}
	s.k.Copy(s.a, outer.Slope)
	if s.fit.Centred() {
		var total float64
		for _, slope := range kernels.Each(s.k, outer.Slope) {
			total += slope
		}
		for _, r := range at.Free {
			s.a[r] -= total / float64(len(at.Free))
		}
	}
	s.fit.SetCombination(s.a, s.w)
	return s.k.Nrm2(s.w)
}

// compareRows compares the rows at the point with the solution that has the same free rows. It returns the rows
// that are not free and on the edge of the tube, to rounding, and whether all others are right: free rows are
// inside their intervals by more than rounding, and other rows at the end that their predictions imply. With
// still, where nothing moves, a free row may be at 0.
func (s *Vectors) compareRows(at VectorsPoint, c, epsilon float64, flat bool) (edges []int32, right bool) {
	clear(s.free)
	s.scale, right = epsilon, true
	for _, r := range at.Free {
		s.free[r] = true
		s.scale = max(s.scale, math.Abs(s.fit.Target()[r]), math.Abs(at.Predictions[r]))
		lower, upper := s.fit.Interval(int(r), c)
		a, end := at.Dual[r]+s.a[r], upper
		if at.Dual[r] <= 0 {
			a, end = -a, -lower
		}
		slack := float64(edgeTol * end)
		least := -slack
		if !flat {
			slack += s.system.entryError(r)
			least = slack
		}
		right = right && a > least && end-a > slack
	}
	for r, y := range kernels.Each(s.k, s.fit.Target()) {
		lower, upper := s.fit.Interval(r, c)
		if lower == upper || s.free[r] {
			continue
		}
		off := y - at.Predictions[r]
		if edge := min(math.Abs(off-epsilon), math.Abs(off+epsilon)); edge <= edgeTol*s.scale {
			edges = append(edges, int32(r))
			continue
		}
		off -= s.predictionError[r]
		slack := float64(s.residualError * s.rowLength(r))
		for side, bound := range [2]float64{upper, -lower} {
			over := off - epsilon
			end := at.Dual[r]
			if side == 1 {
				over, end = -off-epsilon, -end
			}
			right = right && (bound == 0 || (over > slack) == (end == bound) && (over < -slack) == (end != bound))
		}
	}
	return edges, right
}

// leavesEdge reports whether a row on an edge leaves it as hyperparameter i moves: on one side of λ the row is
// free.
func (s *Vectors) leavesEdge(at VectorsPoint, edges []int32, i int, epsilon, tol float64) bool {
	rest := float64(edgeTol*s.scale) + float64(min(0.1, 100*tol)*max(epsilon, s.k.MaxAbs(s.m))) // the error of the systems
	for _, r := range edges {
		speed := s.m[r]
		if i > 0 {
			speed += math.Copysign(epsilon, s.fit.Target()[r]-at.Predictions[r]) // the movement of the edge
		}
		if math.Abs(speed) > rest {
			return true
		}
	}
	return false
}

// onFaceEdge reports whether a column is about to enter or leave the face in whose interior w is.
func (s *Vectors) onFaceEdge(at VectorsPoint) bool {
	s.fit.SetCombination(at.Dual, s.w)
	threshold := model.SimplexThreshold(s.w)
	scale := max(1, s.k.MaxAbs(s.w))
	for _, v := range s.w {
		if math.Abs(v-threshold) <= edgeTol*scale {
			return true
		}
	}
	return false
}
