package implicit

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/support"
)

// SVMPoint is where to differentiate the SVM: its non-zero dual variables.
type SVMPoint struct {
	Free  []int32   // samples with 0 < βᵢ < Cᵢ, ascending: S
	Dual  []float64 // their βᵢ
	Bound []int32   // samples with βᵢ = Cᵢ, ascending: S_λ
	// W is w = Σβᵢyᵢxᵢ, p numbers, and Predictions are xᵢw for all n samples, where the caller has computed
	// them from X; nil asks for passes over X here.
	W, Predictions []float64
}

// SVMHypergradient is ∂L/∂λ of the SVM, λ = ln C, with its error bound and status. Its slices belong to the
// solver and change with its next call.
type SVMHypergradient struct {
	// Hypergradient has one entry in Gradient. Its ErrorBound assumes that S and
	// S_λ are right. NotDifferentiable says that a sample is on a kink: at a
	// bound, on the margin to rounding, and about to leave it.
	Hypergradient
	// Derivative is ∂w/∂λ, p numbers: ∂L/∂λ = ∇_wCᵀ∂w/∂λ for any criterion of w.
	Derivative []float64
	// DegeneracyMargin is min |1 − mᵢ| over the samples at a bound, those with βᵢ = 0 included: the distance
	// of the nearest sample from becoming free. +Inf where there is none.
	DegeneracyMargin float64
}

// SVM computes hypergradients of a linear SVM by the implicit function theorem:
//
//	J_{S_λ} = Cᵢ,  Q_SS·J_S = −Q_{S,S_λ}J_{S_λ},  ∂w/∂λ = Σ Jᵢyᵢxᵢ
//
// (the minus sign is missing in appendix A of the paper). So ∂w/∂λ is the component of ΣCᵢyᵢxᵢ, the sum over
// S_λ, that is orthogonal to the samples of S: dependent samples make β ambiguous, but neither w nor its
// derivative. The component of w orthogonal to the samples of S is the same, and it needs the margins alone:
//
//	Q_SS·z = m_S,  ∂w/∂λ = w − Σ zᵢyᵢxᵢ, the sum over S
//
// which always has a solution. It is found by the factor of Q_SS where S is small, else by conjugate
// gradients on a copy of the samples of S.
//
// Every call solves its system from 0. An SVM holds O(n + p) numbers and, of sparse data, the entries of the
// samples of S twice; it is not safe for concurrent use.
type SVM struct {
	fit *model.SVM
	k   *kernels.Set
	cg  support.CG

	samples     []int32        // S, in the order of storage
	system      support.Normal // Q_SS in the variables yᵢvᵢ
	bound, beta []float64      // n: Cᵢ and βᵢ
	margins     []float64      // n: mᵢ
	w, u        []float64      // p
	rhs, x, rho []float64      // on S
	free        freeSystem
	gap, normW  float64 // the duality gap, and ‖w‖
	out         SVMHypergradient
}

// NewSVM returns a solver for an SVM.
func NewSVM(fit *model.SVM) *SVM {
	n, p := fit.Dims()
	return &SVM{
		fit: fit, k: fit.Kernels(), cg: support.CG{Kernels: fit.Kernels()}, system: support.Normal{Kernels: fit.Kernels()},
		bound: make([]float64, n), beta: make([]float64, n), margins: make([]float64, n),
		w: make([]float64, p), u: make([]float64, p),
		out: SVMHypergradient{Derivative: make([]float64, p)},
	}
}

// edgeTol is the distance of a margin from 1 that may be 0 but for rounding.
const edgeTol = 1e-10

// Apply sets out = Q_SS·v in the variables yᵢvᵢ; see [support.Operator].
func (s *SVM) Apply(v, out []float64) { s.system.Apply(v, out) }

// Diagonal sets out to the diagonal of Q_SS.
func (s *SVM) Diagonal(out []float64) {
	for k, i := range s.samples {
		out[k] = s.fit.Square(int(i))
	}
}

// Solve returns the hypergradient at a point of the dual problem of C = e^logC, found by any solver: the KKT
// residual of the point is computed here. outer holds the slope and curvature of the criterion on its
// validation rows, 0 elsewhere. The error is an [outcome.Error] about the arguments; the result's status says
// whether the numbers can be trusted.
func (s *SVM) Solve(ctx context.Context, logC float64, at SVMPoint, outer Outer, opts Options) (*SVMHypergradient, error) {
	n, _ := s.fit.Dims()
	if len(outer.Slope) != n || len(outer.Curvature) != n {
		return nil, outcome.Errorf(outcome.Shape, "slope and curvature must have one entry for each of the %d rows", n)
	}
	c, err := s.fit.Strength(logC)
	if err != nil {
		return nil, err
	}
	if err := s.setPoint(c, at); err != nil {
		return nil, err
	}
	if opts.Tol == 0 {
		opts.Tol = 1e-5
	}
	if opts.MaxIterations == 0 {
		opts.MaxIterations = 10*len(at.Free) + 100
	}
	out := &s.out
	*out = SVMHypergradient{
		Hypergradient: Hypergradient{Gradient: append(out.Gradient[:0], 0), InjectivityMargin: 1, Status: outcome.Converged},
		Derivative:    out.Derivative, DegeneracyMargin: math.Inf(1),
	}
	dual := s.optimality(at)
	clear(out.Derivative)
	s.gap, s.normW = dual.Gap()+float64(roundingGap*s.fit.Null(c)), s.k.Nrm2(s.w)
	if len(at.Bound) == 0 {
		// No βᵢ is at its bound: w is the same for every larger C.
		out.Status, out.Bound = outcome.Flat, Proved
		if s.factorise(); !s.free.ready {
			s.solveMargins(ctx, opts)
			out.Bound = Estimated
		}
		if !s.confirmsSets(ctx, opts) {
			out.Status = outcome.SupportUncertified
		}
		return out, nil
	}
	s.differentiate(ctx, outer, opts)
	s.checkKinks(opts.Tol)
	if out.Bound = Estimated; s.free.ready && !outer.Blind {
		out.Bound = Proved
	}
	if out.Status == outcome.Converged && !s.confirmsSets(ctx, opts) {
		out.Status = outcome.SupportUncertified
	}
	out.Work = s.system.Work()
	return out, nil
}

// setPoint checks a point and sets beta and bound on all samples from it.
func (s *SVM) setPoint(c float64, at SVMPoint) error {
	n, p := s.fit.Dims()
	if len(at.Free) != len(at.Dual) {
		return outcome.Errorf(outcome.Shape, "there are %d free samples, but %d dual variables", len(at.Free), len(at.Dual))
	}
	if at.Predictions != nil && len(at.Predictions) != n {
		return outcome.Errorf(outcome.Shape, "%d predictions for %d rows", len(at.Predictions), n)
	}
	if at.W != nil && len(at.W) != p {
		return outcome.Errorf(outcome.Shape, "w has %d entries for %d columns", len(at.W), p)
	}
	for i := range n {
		s.bound[i] = c * s.fit.Weight(i)
		s.beta[i] = 0
	}
	bad := func(kind outcome.Kind, i int32, message string) error {
		return &outcome.Error{Kind: kind, HasRow: true, Row: int(i), Message: message}
	}
	for _, list := range [][]int32{at.Free, at.Bound} {
		for k, i := range list {
			switch {
			case i < 0 || int(i) >= n:
				return bad(outcome.Shape, i, "there is no such row")
			case k > 0 && i <= list[k-1]:
				return bad(outcome.Shape, i, "the rows must be ascending")
			case s.bound[i] == 0:
				return bad(outcome.BadParameter, i, "a row of weight 0 has no dual variable")
			}
		}
	}
	for _, i := range at.Bound {
		s.beta[i] = s.bound[i]
	}
	for k, i := range at.Free {
		switch b := at.Dual[k]; {
		case s.beta[i] != 0:
			return bad(outcome.Shape, i, "the row is both among the free samples and among those at a bound")
		case !(b > 0 && b < s.bound[i]):
			return bad(outcome.BadParameter, i, "a free dual variable must be inside the box")
		case s.fit.Square(int(i)) == 0:
			return bad(outcome.BadParameter, i, "the dual variable of an empty row is at its bound")
		default:
			s.beta[i] = b
		}
	}
	return nil
}

// optimality computes w, the margins and the KKT residual, and ρ = 1 − m_S.
func (s *SVM) optimality(at SVMPoint) (dual model.BoxDual) {
	switch {
	case at.W != nil:
		copy(s.w, at.W)
	default:
		clear(s.w)
		for i, b := range s.beta {
			if b != 0 {
				s.fit.Add(i, b, s.w)
			}
		}
	}
	for i, bound := range s.bound {
		if bound == 0 {
			continue
		}
		if at.Predictions != nil {
			s.margins[i] = at.Predictions[i] * s.fit.Labels()[i]
		} else {
			s.margins[i] = s.fit.Margin(i, s.w)
		}
		dual.Add(s.margins[i], s.beta[i], bound, s.fit.Square(i))
		if s.beta[i] == 0 || s.beta[i] == bound {
			s.out.DegeneracyMargin = min(s.out.DegeneracyMargin, math.Abs(1-s.margins[i]))
		}
	}
	s.out.KKT = dual.KKT()
	size := len(at.Free)
	for _, v := range []*[]float64{&s.rhs, &s.x, &s.rho} {
		if cap(*v) < size {
			*v = make([]float64, size+size/2)
		}
		*v = (*v)[:size]
	}
	s.samples = s.samples[:0]
	for _, i := range s.fit.Samples().Order() {
		if b := s.beta[i]; b > 0 && b < s.bound[i] {
			s.rho[len(s.samples)] = 1 - s.margins[i]
			s.samples = append(s.samples, i)
		}
	}
	return dual
}

// differentiate sets ∂w/∂λ, the gradient and its error bound.
func (s *SVM) differentiate(ctx context.Context, outer Outer, opts Options) {
	out, dw, order, labels := &s.out, s.out.Derivative, s.fit.Samples().Order(), s.fit.Labels()
	copy(dw, s.w)
	s.factorise()
	var residual float64
	if len(s.samples) > 0 {
		report := s.solveMargins(ctx, opts)
		s.k.Scal(-1, s.x)
		s.system.Add(s.x, dw)
		residual = report.Residual + s.residualRounding()
		out.Iterations, out.InjectivityMargin = report.Iterations, s.free.margin
		switch {
		case ctx.Err() != nil && !report.Converged:
			out.Status = outcome.Cancelled
		case !(out.InjectivityMargin > singular):
			out.Status = outcome.NotDifferentiable
		case !report.Converged:
			out.Status = outcome.LinearSystemStalled
		}
	}
	_, d := s.distance()
	// L′ = ∇_wCᵀ∂w/∂λ. From here on w holds ∇_wC, and u its derivative.
	clear(s.w)
	s.k.Clear(s.u)
	curvature := outer.Curvature
	if outer.CurvatureWithin != nil {
		longest := 0.0
		for i, c := range outer.Slope {
			if c != 0 || outer.Curvature[i] != 0 {
				longest = max(longest, s.fit.Square(i))
			}
		}
		curvature = outer.CurvatureWithin(d * math.Sqrt(longest))
	}
	var slopes, bends float64
	for _, i := range order {
		slope, bend := outer.Slope[i], curvature[i]
		if slope == 0 && bend == 0 {
			continue
		}
		length := math.Sqrt(s.fit.Square(int(i)))
		if slope != 0 {
			s.fit.Add(int(i), slope*labels[i], s.w)
			slopes = math.FMA(math.Abs(slope), length, slopes)
		}
		if bend != 0 {
			moves := s.fit.Margin(int(i), dw)
			s.fit.Add(int(i), bend*moves, s.u)
			bends = math.FMA(bend*length, math.Abs(moves), bends)
		}
	}
	out.Gradient[0] = s.k.Dot(s.w, dw)
	slope := s.k.Nrm2(s.w)
	n, p := s.fit.Dims()
	rounding := unitRoundoff * (float64(float64(n+p+extraRoundings)*slopes*s.k.Nrm2(dw)) + float64(float64(p+extraRoundings)*bends*s.normW))
	out.ErrorBound = float64(slope*(residual+s.free.roundingError)) + float64(s.k.Nrm2(s.u)*d) + float64(bends*s.free.roundingError) + float64(rounding)
}

// solveMargins sets x to z, the solution of Q_SS·z = m_S, in the variables yᵢzᵢ.
func (s *SVM) solveMargins(ctx context.Context, opts Options) support.Report {
	for k, i := range s.samples {
		s.rhs[k] = s.margins[i] * s.fit.Labels()[i]
	}
	return s.solveSystem(ctx, s.rhs, s.x, opts)
}

// checkKinks sets NotDifferentiable where a sample at a bound and on the margin has a margin that moves: on one
// side of λ the sample is free.
func (s *SVM) checkKinks(tol float64) {
	dw := s.out.Derivative
	size, slack := s.k.Nrm2(dw), min(0.1, 100*tol) // slack allows for the error of the linear solve
	for i, bound := range s.bound {
		if bound == 0 || s.beta[i] != 0 && s.beta[i] != bound || math.Abs(1-s.margins[i]) > edgeTol {
			continue
		}
		speed := math.Abs(s.fit.Margin(i, dw))
		if s.out.Status == outcome.Converged && speed > slack*size*math.Sqrt(s.fit.Square(i)) {
			s.out.Status = outcome.NotDifferentiable
		}
	}
}
