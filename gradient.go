package pare

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Hypergradient is a criterion and its gradient with respect to λ at one point. Its gap, KKT
// residual and margin are the worst of the folds, its error bound is the mean over the folds, and
// epochs and other counts are sums. Methods other than [Implicit] solve no linear systems, have
// no InjectivityMargin (NaN), and estimate ErrorBound from the last changes of their iterates.
type Hypergradient struct {
	LogLambda []float64
	Value     float64   // the criterion
	Gradient  []float64 // ∂Value/∂λ, one entry per hyperparameter; λ is a logarithm
	Shape     float64   // ∂Value/∂ln γ of [MCP], ∂Value/∂ln a of [SCAD]; 0 for other models
	Sigma     float64   // the noise level of [SURE], [AIC] and [BIC]; 0 for other criteria

	outcome.Certificate
	outcome.Effort
	Support int // the number of columns in the support, the mean over the folds
	// Below and Above are the one-sided gradients where Status is NotDifferentiable because a
	// column is about to enter or leave the support: the gradients with all λ's smaller, and
	// larger, by 1e-7. They are nil for any other Status, and if they do not exist.
	Below, Above []float64
	// ErrorBound bounds the absolute error of each entry of Gradient if Status is Converged;
	// Bound says whether the bound is proved. If Status is Stationary, ErrorBound is an estimate
	// for the point found; for any other Status it bounds nothing.
	ErrorBound float64
	Bound      Bound
	// SupportCertified reports a proof that the support of every fold is that of its exact
	// solution. It needs [Config].Certify and the method [Implicit].
	SupportCertified bool
	// InjectivityMargin is the smallest eigenvalue of the linear system, scaled to a unit
	// diagonal, in the worst fold: a proved lower bound if the systems were factorised, else an
	// estimate. 0 means singular.
	InjectivityMargin float64
	Iterations        int // iterations of conjugate gradients, the sum over the folds
	// Status is Converged; Stationary, for [MCP] and [SCAD], whose gradient belongs to the
	// stationary points found; Flat, if the solutions do not move with λ; or the reason why the
	// gradient cannot be trusted.
	Status                        outcome.Status
	SecondsSolve, SecondsGradient float64 // sums over the folds
	Kernels                       string  // the kernel set used
}

// Bound says what an error bound rests on.
type Bound = implicit.Bound

// The kinds of bounds.
const (
	Proved    = implicit.Proved    // proved in every fold, from eigenvalues, supports and rounding errors
	Estimated = implicit.Estimated // estimated in some fold from conjugate gradients, times a safety factor of 10
)

// Gradient returns the criterion of v and its hypergradient at one λ (Bertrand et al., JMLR 23,
// 2022, section 3). See [Fit] for the other arguments and the errors; when ctx ends, its error
// is returned.
//
// If the solutions at [Config].Tol leave open which columns belong to the support, or if columns
// of the support are linearly dependent, the inner problems are solved again to tighter
// tolerances, provided that X has at most a million entries or Config.Certify is set. The status
// SupportUncertified means that the support is still open: the gradient is then that of the
// solution found, which may be far from the gradient at the exact solution.
func Gradient(ctx context.Context, x sparse.Matrix, y, logLambda []float64, v Validation, c Config) (_ *Hypergradient, err error) {
	defer runtime.KeepAlive(&v) // see [outcome.Caught]
	defer outcome.Caught(&err)
	e, leave, err := admitEngine(ctx, x, y, c, &v, toDifferentiate)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := e.check(logLambda); err != nil {
		return nil, err
	}
	if !criterion.Smooth(v.Loss) {
		return nil, outcome.At(outcome.Usage, "validation-loss", "%s is piecewise constant and has no gradient; compute its values along a path instead", v.Loss.Name())
	}
	problem, spec, err := e.validationProblem(ctx, v, true)
	if err != nil {
		return nil, err
	}
	r, err := e.evaluateTighter(ctx, problem, logLambda)
	if err != nil {
		return nil, err
	}
	h := &Hypergradient{
		LogLambda:         r.LogLambda,
		Value:             r.Value,
		Gradient:          r.Gradient,
		Sigma:             noiseLevel(spec),
		Certificate:       r.Certificate,
		Effort:            r.Effort,
		Support:           r.Support,
		ErrorBound:        r.ErrorBound,
		Bound:             r.Bound,
		SupportCertified:  r.SupportCertified,
		InjectivityMargin: r.InjectivityMargin,
		Iterations:        r.Iterations,
		Status:            r.Status,
		SecondsSolve:      r.SecondsSolve,
		SecondsGradient:   r.SecondsGradient,
		Kernels:           e.statement.Kernels.Name,
	}
	if len(r.Shape) > 0 {
		h.Shape = r.Shape[0]
	}
	if r.Status == outcome.NotDifferentiable && c.Method.iterdiffMethod() == nil {
		below, above, ok, err := bilevel.OneSided(ctx, problem, logLambda)
		if err != nil {
			return nil, err
		}
		if ok {
			h.Below, h.Above = below, above
		}
	}
	return h, nil
}

const (
	defaultTol   = 1e-6
	tolFactor    = 1e-2
	tightestTol  = 1e-14
	cheapEntries = 1 << 20 // entries of X up to which solving again is cheap
)

// evaluateTighter evaluates the problem at [Config].Tol. If that leaves open which columns belong to the
// support, or if columns of the support are linearly dependent, it evaluates again at tighter
// tolerances, with a warm start. It tightens only for at most cheapEntries entries of X, or with
// [Config].Certify for any number.
func (e *engine) evaluateTighter(ctx context.Context, problem inner.Outer, logLambda []float64) (bilevel.Report, error) {
	tol := cmp.Or(e.config.Tol, defaultTol)
	r, err := problem.Evaluate(ctx, search.Request{LogLambda: slices.Clone(logLambda), Tol: tol})
	again := e.config.Method.iterdiffMethod() == nil && (e.config.Certify || e.statement.X.NNZ() <= cheapEntries)
	for again && err == nil && tol > tightestTol && mayImprove(r.Status) {
		tol = max(tolFactor*tol, tightestTol)
		var next bilevel.Report
		next, err = problem.Evaluate(ctx, search.Request{LogLambda: slices.Clone(logLambda), Tol: tol})
		if err == nil && next.Status == outcome.NotConverged {
			break
		}
		r = next
	}
	return r, err
}

// mayImprove reports whether a tighter solution might have a better status than s.
func mayImprove(s outcome.Status) bool {
	switch s {
	case outcome.SupportUncertified, outcome.LinearSystemStalled, outcome.NotDifferentiable, outcome.NotUnique:
		return true
	default:
		return false
	}
}

// Method says how hypergradients are computed: from the solution alone, or by differentiating
// the iterates of a descent from β = 0, in forward or in backward mode (algorithms 1 to 4 of
// Bertrand et al., JMLR 23, 2022). The iterative methods are there for comparison.
type Method string

// The methods.
const (
	Implicit    Method = "implicit"     // one linear system on the support
	ForwardPGD  Method = "forward-pgd"  // proximal gradient descent
	BackwardPGD Method = "backward-pgd" // proximal gradient descent
	ForwardPCD  Method = "forward-cd"   // proximal coordinate descent
	BackwardPCD Method = "backward-cd"  // proximal coordinate descent
)

// Methods lists the methods.
func Methods() []Method { return []Method{Implicit, ForwardPGD, BackwardPGD, ForwardPCD, BackwardPCD} }

// iterdiffMethod returns the corresponding method of package iterdiff, or nil for implicit differentiation.
func (m Method) iterdiffMethod() *iterdiff.Method {
	var of iterdiff.Method
	switch m {
	case ForwardPGD:
		of = iterdiff.ForwardPGD
	case BackwardPGD:
		of = iterdiff.BackwardPGD
	case ForwardPCD:
		of = iterdiff.ForwardPCD
	case BackwardPCD:
		of = iterdiff.BackwardPCD
	default:
		return nil
	}
	return &of
}
