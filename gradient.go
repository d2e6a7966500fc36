package pare

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Hypergradient is a criterion and its gradient in λ at one point. Over the
// folds, gap, KKT residual, bound and margin are the worst or, for the bound,
// the mean; counts are sums. Methods other than [Implicit] have no margin (NaN) and
// no linear systems, and their bound is an estimate from the last changes.
type Hypergradient struct {
	LogLambda []float64
	Value     float64
	Gradient  []float64 // ∂value/∂λ, one per hyperparameter
	// Shape is ∂value/∂ln γ of [MCP], and ∂value/∂ln a of [SCAD]; 0 of other models.
	Shape float64
	Sigma float64 // the noise level, of [SURE], [AIC] and [BIC]

	outcome.Certificate
	outcome.Effort
	Support int // mean over folds
	// Below and Above are the one-sided gradients where Status is NotDifferentiable since a
	// column is about to enter or to leave: those of all λ's a little smaller, and a little
	// larger (by 1e-7). nil elsewhere, and where there are no such slopes either.
	Below, Above []float64
	// ErrorBound is how far an entry of Gradient may be off where Status is Converged. Bound
	// says what it rests on.
	ErrorBound float64
	Bound      Bound
	// SupportCertified reports a proof that the supports are those of the exact
	// solutions in every fold. It takes [Config].Certify and [Implicit].
	SupportCertified  bool
	InjectivityMargin float64 // how far the systems are from singular; an estimate
	Iterations        int     // of conjugate gradients
	// Status is Converged, Flat where the solutions do not move with λ, or why
	// the gradient is not to be trusted.
	Status                        outcome.Status
	SecondsSolve, SecondsGradient float64 // summed over folds
	Kernels                       string
}

// Bound says what an error bound rests on.
type Bound = implicit.Bound

// The kinds of bounds.
const (
	Proved    = implicit.Proved    // proved in every fold: eigenvalues, supports and rounding
	Estimated = implicit.Estimated // in some fold from what conjugate gradients have met, times a safety of 10
)

// Gradient returns the validation criterion and its hypergradient at one λ. See
// [Fit] for logLambda and the errors; when ctx ends, its error is returned. What
// αmax is, at a pass over X, [LogLambdaMax] tells.
//
// Where the tolerance leaves open which columns are in the support, or has columns there that
// depend on one another, problems of up to a million entries, and all with [Config].Certify,
// are solved more tightly from there. A status of SupportUncertified says that it is still
// open: the gradient is that of the solution found, and may be far from that of the exact one.
func Gradient(ctx context.Context, x sparse.Matrix, y, logLambda []float64, v Validation, c Config) (*Hypergradient, error) {
	e, leave, err := admitted(ctx, x, y, c, &v)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := e.check(logLambda); err != nil {
		return nil, err
	}
	if err := checkSmooth(v.Loss, "a gradient"); err != nil {
		return nil, err
	}
	spec, err := e.choice(ctx, v)
	if err != nil {
		return nil, err
	}
	problem, err := e.outer(spec)
	if err != nil {
		return nil, err
	}
	r, err := e.settle(ctx, problem, logLambda)
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
		Kernels:           e.of.Kernels.Name,
	}
	if len(r.Shape) > 0 {
		h.Shape = r.Shape[0]
	}
	if r.Status == outcome.NotDifferentiable && c.Method.iterate() == nil {
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
	defaultTol  = 1e-6
	tighter     = 1e-2
	tightestTol = 1e-14
	fewEntries  = 1 << 20 // of X, which are soon solved again
)

// settle evaluates at a tolerance, and where that leaves open which columns are in the
// support, or has columns there that depend on one another, at tighter ones from there.
// It does so for few entries, and for as many as there are where certificates are asked for.
func (e *engine) settle(ctx context.Context, problem inner.Outer, logLambda []float64) (bilevel.Report, error) {
	tol := cmp.Or(e.config.Tol, defaultTol)
	r, err := problem.Evaluate(ctx, search.Request{LogLambda: slices.Clone(logLambda), Tol: tol})
	again := e.config.Method.iterate() == nil && (e.config.Certify || e.of.X.NNZ() <= fewEntries)
	for again && err == nil && tol > tightestTol && unsettled(r.Status) {
		tol = max(tighter*tol, tightestTol)
		var next bilevel.Report
		next, err = problem.Evaluate(ctx, search.Request{LogLambda: slices.Clone(logLambda), Tol: tol})
		if err == nil && next.Status == outcome.NotConverged {
			break
		}
		r = next
	}
	return r, err
}

// unsettled reports a status that a solution closer to the exact one may do without.
func unsettled(s outcome.Status) bool {
	switch s {
	case outcome.SupportUncertified, outcome.LinearSystemStalled, outcome.NotDifferentiable, outcome.NotUnique:
		return true
	default:
		return false
	}
}

// Method says how hypergradients are computed: from the solution, or along the
// iterates of a descent, forward with them or backward from the last. The descents
// are proximal gradient and proximal coordinate descent (algorithms 1 to 4 of the
// paper); they start from β = 0 and are there for comparison.
type Method string

// The methods.
const (
	Implicit    Method = "implicit"
	ForwardPGD  Method = "forward-pgd"
	BackwardPGD Method = "backward-pgd"
	ForwardPCD  Method = "forward-cd"
	BackwardPCD Method = "backward-cd"
)

// Methods lists the methods there are.
func Methods() []Method { return []Method{Implicit, ForwardPGD, BackwardPGD, ForwardPCD, BackwardPCD} }

// iterate returns the method of package iterdiff, nil for implicit differentiation.
func (m Method) iterate() *iterdiff.Method {
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
