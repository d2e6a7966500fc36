package implicit

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/support"
)

// VectorsPoint is where to differentiate a [model.Vectors].
type VectorsPoint struct {
	Dual        []float64 // n: a
	Free, Bound []int32   // rows with aᵢ inside its interval, and at an end of it that is not 0
	Predictions []float64 // n: x̃ᵢw + b
	W           []float64 // p
}

// Vectors computes hypergradients of a [model.Vectors] by the implicit function theorem: with
// S the free rows, B those at a bound and K = [A_SS 1; 1ᵀ 0], the movement of a_S and b is
//
//	K·[J_S; J_b] = −[A_SB·a_B; Σa_B] in ln C, where J_B = a_B,
//	K·[J_S; J_b] = −ε[sign a_S; 0] in ln ε,
//
// without the last row and column where there is no intercept. ∂w = X̃ᵀJ, on the simplex its part
// along the face that w is inside of, and A is of that part.
type Vectors struct {
	fit    *model.Vectors
	k      *kernels.Set
	a      []float64 // n: J
	w      []float64 // p
	m      []float64 // n: ∂m
	off    []float64 // n: how far predictions are off
	x, q   []float64
	system support.Semidefinite
	solved bool // so far
	lift   float64
	rhs    []float64
	ones   []float64
	square []float64
	margin float64
	out    Hypergradient
}

// mostFree bounds the matrix that is factorised.
const mostFree = 4000

// NewVectors returns a solver.
func NewVectors(fit *model.Vectors) *Vectors {
	n, p := fit.Dims()
	return &Vectors{
		system: support.Semidefinite{Kernels: fit.Kernels()},
		fit:    fit, k: fit.Kernels(), a: make([]float64, n), w: make([]float64, p), m: make([]float64, n), off: make([]float64, n), square: fit.Squares(),
	}
}

// Solve returns the hypergradient at a point of the strengths logLambda, with one entry for
// each. Its error bound is estimated: what the conditions on the free rows lack there, to
// first order, and rounding. NotDifferentiable says that a row is on a kink, or that free rows
// depend on one another, or that no row is free and the intercept is not unique; Flat that
// nothing moves. The error is an
// [outcome.Error] about the arguments.
func (s *Vectors) Solve(logLambda []float64, at VectorsPoint, outer Outer) (*Hypergradient, error) {
	n, p := s.fit.Dims()
	if len(outer.Slope) != n || len(outer.Curvature) != n || len(at.Dual) != n || len(at.Predictions) != n || len(at.W) != p {
		return nil, outcome.Errorf(outcome.Shape, "slopes, curvatures, dual variables and predictions must have one entry for each of the %d rows, and w for each of the %d columns", n, p)
	}
	c, epsilon, err := s.fit.Strengths(logLambda)
	if err != nil {
		return nil, err
	}
	if len(at.Free) > mostFree {
		return nil, outcome.Errorf(outcome.Limit, "%d free rows: gradients factorise a matrix of at most %d; choose from a grid", len(at.Free), mostFree)
	}
	out := &s.out
	*out = Hypergradient{Gradient: out.Gradient[:0], InjectivityMargin: 1, Bound: Estimated, Status: outcome.Converged}
	moves := len(at.Bound) > 0 || s.fit.Hyperparameters() > 1 && len(at.Free) > 0
	switch {
	case !moves:
		out.Gradient = append(out.Gradient, make([]float64, len(logLambda))...)
		out.Status = outcome.Flat
		return out, nil
	case len(at.Free) == 0 && s.fit.Centred(), !s.factorise(at):
		out.Gradient = append(out.Gradient, make([]float64, len(logLambda))...)
		out.Status, out.InjectivityMargin, out.ErrorBound = outcome.NotDifferentiable, 0, math.Inf(1)
		return out, nil
	}
	out.InjectivityMargin, s.solved = s.margin, true
	s.correct(at, epsilon)
	for i := range logLambda {
		s.move(at, i, epsilon)
		value, bound := 0.0, 0.0
		for r, slope := range outer.Slope {
			value = math.FMA(slope, s.m[r], value)
			bound = math.FMA(math.Abs(outer.Curvature[r]*s.m[r]), math.Abs(s.off[r]), bound)
			bound = math.FMA(float64(inSum(n)*unit)/max(s.margin, unit)*math.Abs(slope), math.Abs(s.m[r]), bound)
		}
		out.Gradient = append(out.Gradient, value)
		out.ErrorBound = max(out.ErrorBound, bound)
	}
	if !s.solved || s.kinked(at, c, epsilon) {
		out.Status = outcome.NotDifferentiable
	}
	return out, nil
}

// factorise makes the factor of A_SS + τ11ᵀ, τ = 0 without an intercept, scaled to a diagonal of
// ones in its margin.
func (s *Vectors) factorise(at VectorsPoint) bool {
	size := len(at.Free)
	s.q, s.rhs, s.ones = resize(s.q, size*size), resize(s.rhs, size), resize(s.ones, size)
	s.margin, s.lift = 1, 0
	if size == 0 {
		return true
	}
	if s.fit.Centred() {
		for _, i := range at.Free {
			s.lift += s.square[i] / float64(size)
		}
		if s.lift == 0 {
			s.lift = 1
		}
	}
	s.x = s.fit.Rows(at.Free, s.fit.Face(at.W), s.x)
	p := len(s.x) / size
	var trace float64
	for k := range at.Free {
		for l := range k + 1 {
			s.q[k*size+l] = s.k.Dot(s.x[k*p:][:p], s.x[l*p:][:p]) + s.lift
		}
	}
	diagonal := make([]float64, size)
	for k := range diagonal {
		diagonal[k] = s.q[k*size+k]
	}
	if !s.system.Factorise(s.q, size) {
		return false
	}
	if s.system.Singular() { // rows share their movement, of which predictions know nothing
		s.margin = singular
		return true
	}
	inverse := make([]float64, size)
	support.InverseDiagonal(s.k, s.system.Factor(), size, inverse, make([]float64, size))
	for k, d := range diagonal {
		trace = math.FMA(d, inverse[k], trace)
	}
	s.margin = 1 / trace
	return s.margin > singular
}

// solve turns rhs into the movement of the free rows, whose sum is to be total, and returns that
// of b.
func (s *Vectors) solve(total float64) (shift float64) {
	size := len(s.rhs)
	if size == 0 {
		return 0
	}
	if s.fit.Centred() {
		for k := range s.rhs {
			s.rhs[k] += float64(s.lift * total)
			s.ones[k] = 1
		}
		s.solved = s.system.Solve(s.ones) && s.solved
	}
	s.solved = s.system.Solve(s.rhs) && s.solved
	if !s.fit.Centred() {
		return 0
	}
	var own, ones float64
	for k, v := range s.rhs {
		own, ones = own+v, ones+s.ones[k]
	}
	shift = (own - total) / ones
	s.k.Axpy(-shift, s.ones, s.rhs)
	return shift
}

// move sets m to the movement of the predictions with hyperparameter i.
func (s *Vectors) move(at VectorsPoint, i int, epsilon float64) {
	s.k.Clear(s.a)
	clear(s.rhs)
	var total float64
	if i == 0 {
		for _, r := range kernels.Each(s.k, at.Bound) {
			s.a[r] = at.Dual[r]
			total += at.Dual[r]
		}
		s.fit.SetMotion(s.a, at.W, s.w)
		s.fit.Predict(s.w, 0, s.m)
		for k, r := range at.Free {
			s.rhs[k] = -s.m[r]
		}
	} else {
		for k, r := range at.Free {
			s.rhs[k] = -math.Copysign(epsilon, at.Dual[r])
		}
	}
	s.spread(at, s.solve(-total), s.m)
}

// spread sets out to the movement of all predictions, given those of the free rows in rhs and
// of the others in a.
func (s *Vectors) spread(at VectorsPoint, shift float64, out []float64) {
	for k, r := range at.Free {
		s.a[r] = s.rhs[k]
	}
	s.fit.SetMotion(s.a, at.W, s.w)
	s.fit.Predict(s.w, shift, out)
}

// correct sets off to how far the predictions are from those of the solution with these free
// rows: what the conditions lack, solved for.
func (s *Vectors) correct(at VectorsPoint, epsilon float64) {
	s.k.Clear(s.a)
	for k, r := range at.Free {
		s.rhs[k] = s.fit.Target()[r] - at.Predictions[r] - math.Copysign(epsilon, at.Dual[r])
	}
	s.spread(at, s.solve(0), s.off)
}

// kinked looks for a row that is about to become free: at an end of its interval or at 0, and on
// the edge of the tube, to rounding, and not at rest there.
func (s *Vectors) kinked(at VectorsPoint, c, epsilon float64) bool {
	free := make(map[int32]bool, len(at.Free))
	for _, r := range at.Free {
		free[r] = true
	}
	scale := epsilon
	for _, r := range at.Free {
		scale = max(scale, math.Abs(s.fit.Target()[r]), math.Abs(at.Predictions[r]))
	}
	for r, y := range kernels.Each(s.k, s.fit.Target()) {
		lower, upper := s.fit.Interval(r, c)
		if lower == upper || free[int32(r)] {
			continue
		}
		off := y - at.Predictions[r]
		if edge := min(math.Abs(off-epsilon), math.Abs(off+epsilon)); edge <= onEdge*scale {
			return true
		}
	}
	return s.fit.Simplex() && s.leaves(at)
}

// leaves looks for a column that is about to enter or leave the face that w is inside of.
func (s *Vectors) leaves(at VectorsPoint) bool {
	s.fit.SetCombination(at.Dual, s.w)
	threshold := model.SimplexThreshold(s.w)
	scale := max(1, s.k.MaxAbs(s.w))
	for _, v := range s.w {
		if math.Abs(v-threshold) <= onEdge*scale {
			return true
		}
	}
	return false
}
