package implicit

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/support"
)

// Smooth is a user's own datafit f on R^p, twice differentiable near the point.
type Smooth interface {
	// Gradient sets out = ∇f(β).
	Gradient(beta, out []float64)
	// HessianProduct sets out = ∇²f(β)·v.
	HessianProduct(beta, v, out []float64)
}

// Separable is a user's own penalty g(β, λ) = Σ g_j(β_j, λ), given by the proximal operator of γg_j at the λ
// of interest, γ the step.
type Separable interface {
	// Hyperparameters returns r.
	Hyperparameters() int
	// Prox returns prox_{γg_j}(z) and its derivative in z, which is 0 exactly off
	// the generalized support.
	Prox(j int, z, step float64) (value, slope float64)
	// Sensitivity returns ∂prox_{γg_j}(z)/∂λ_i.
	Sensitivity(j, i int, z, step float64) float64
}

// Generic returns the hypergradient at β for any smooth datafit and separable penalty: algorithm 5 of
// Bertrand et al. in its general form. step is a γ ≤ 1/L for which β is a fixed point of
// β ↦ prox_{γg}(β − γ∇f(β)); KKT is the distance of β from a fixed point, in units of the gradient. outer is
// ∇C(β), p entries.
//
// With π = ∂_z prox on the support S, A = I − diag(π)(I − γ∇²f_SS) is not symmetric where π varies. The
// system solved, diag(1/π)·A·J_S = diag(1/π)·B, is symmetric, and positive definite where the solution is
// locally unique. Positive definiteness is checked under a penalty that is not convex, as a method
// LargestStep with a finite value says (MCP has one): a point that is no strict minimum has no gradient, and
// the status is NotDifferentiable. B = ∂_λ prox − γ diag(π)∇²f_{S,Sᶜ}J_{Sᶜ}; off the support J is ∂_λ prox.
func Generic(ctx context.Context, k *kernels.Set, f Smooth, g Separable, beta, outer []float64, step float64, opts Options) (*Hypergradient, error) {
	if err := checkGeneric(beta, outer, step); err != nil {
		return nil, err
	}
	system, kkt := newGenericSystem(f, g, beta, step)
	out := &Hypergradient{KKT: kkt, InjectivityMargin: 1, Status: outcome.Converged}
	size := len(system.support)
	if opts.Tol == 0 {
		opts.Tol = 1e-10
	}
	if opts.MaxIterations == 0 {
		opts.MaxIterations = 10*size + 100
	}
	if concave, ok := g.(interface{ LargestStep() float64 }); ok && !math.IsInf(concave.LargestStep(), 1) {
		out.Status = system.definite(k)
	}
	cg := support.CG{Kernels: k}
	rhs, x, fixed := make([]float64, size), make([]float64, size), make([]float64, len(beta))
	moving := false
	for i := range g.Hyperparameters() {
		moving = system.rightSide(g, i, rhs, fixed) || moving
		clear(x)
		report := cg.Solve(ctx, system, rhs, x, opts.Tol, opts.MaxIterations)
		smallest, largest := cg.Ritz()
		out.Iterations += report.Iterations
		out.InjectivityMargin = min(out.InjectivityMargin, smallest/largest)
		switch {
		case ctx.Err() != nil && !report.Converged:
			out.Status = outcome.Cancelled
		case !(smallest/largest > singular) || report.Null != nil:
			out.Status = outcome.NotDifferentiable
		case !report.Converged && out.Status == outcome.Converged:
			out.Status = outcome.LinearSystemStalled
		}
		gradient := k.Dot(outer, fixed)
		var norm float64
		for at, j := range system.support {
			gradient = math.FMA(outer[j], x[at], gradient)
			norm = math.FMA(float64(outer[j]*outer[j]), 1/system.inverse[at], norm)
		}
		out.Gradient = append(out.Gradient, gradient)
		out.ErrorBound = max(out.ErrorBound, math.Sqrt(norm)*report.Residual/smallest)
	}
	if !moving && out.Status == outcome.Converged {
		out.Status = outcome.Flat
	}
	return out, nil
}

func checkGeneric(beta, outer []float64, step float64) error {
	switch {
	case len(outer) != len(beta):
		return outcome.Errorf(outcome.Shape, "the gradient of the criterion has %d entries for %d coefficients", len(outer), len(beta))
	case !(step > 0) || math.IsInf(step, 0):
		return outcome.At(outcome.BadParameter, "step", "must be positive and finite, got %g", step)
	}
	for j, b := range beta {
		if math.IsNaN(b) || math.IsInf(b, 0) {
			return &outcome.Error{Kind: outcome.NonFinite, HasColumn: true, Column: j, Message: "the coefficient is not finite"}
		}
	}
	return nil
}

// genericSystem is diag(1/π) − I + γ∇²f_SS.
type genericSystem struct {
	f             Smooth
	beta          []float64
	step          float64
	z             []float64 // β − γ∇f(β)
	support       []int
	inverse       []float64 // 1/π
	full, product []float64 // p
}

// newGenericSystem returns the system at β, and how far β is from a fixed point.
func newGenericSystem(f Smooth, g Separable, beta []float64, step float64) (a *genericSystem, kkt float64) {
	p := len(beta)
	a = &genericSystem{f: f, beta: beta, step: step, z: make([]float64, p), full: make([]float64, p), product: make([]float64, p)}
	f.Gradient(beta, a.z)
	for j, b := range beta {
		a.z[j] = math.FMA(-step, a.z[j], b)
		value, slope := g.Prox(j, a.z[j], step)
		kkt = max(kkt, math.Abs(b-value)/step)
		if slope != 0 {
			a.support = append(a.support, j)
			a.inverse = append(a.inverse, 1/slope)
		}
	}
	return a, kkt
}

// definite reports, under a penalty that is not convex, whether the system is positive definite, as it is
// only at a strict minimum: Converged where it is, NotDifferentiable where it is not, and SupportUncertified
// where it is too large to factorise. Conjugate gradients would detect a direction of negative curvature only
// where the right-hand side has a component in it.
func (a *genericSystem) definite(k *kernels.Set) outcome.Status {
	size := len(a.support)
	if size > largestProof {
		return outcome.SupportUncertified
	}
	l, unit := make([]float64, size*size), make([]float64, size)
	for at := range a.support {
		unit[at] = 1
		a.Apply(unit, l[at*size:][:size])
		unit[at] = 0
	}
	if support.Cholesky(k, l, size) < size {
		return outcome.NotDifferentiable
	}
	return outcome.Converged
}

// rightSide sets rhs to diag(1/π)·B of λ_i, and fixed to J off the support. It reports
// whether anything moves.
func (a *genericSystem) rightSide(g Separable, i int, rhs, fixed []float64) (moving bool) {
	clear(fixed)
	at := 0
	for j := range a.beta {
		d := g.Sensitivity(j, i, a.z[j], a.step)
		if at < len(rhs) && a.support[at] == j {
			rhs[at] = d * a.inverse[at]
			at++
		} else {
			fixed[j] = d
		}
		moving = moving || d != 0
	}
	a.f.HessianProduct(a.beta, fixed, a.product)
	for at, j := range a.support {
		rhs[at] = math.FMA(-a.step, a.product[j], rhs[at])
	}
	return moving
}

// Apply implements [support.Operator].
func (a *genericSystem) Apply(v, out []float64) {
	clear(a.full)
	for at, j := range a.support {
		a.full[j] = v[at]
	}
	a.f.HessianProduct(a.beta, a.full, a.product)
	for at, j := range a.support {
		out[at] = math.FMA(a.step, a.product[j], (a.inverse[at]-1)*v[at])
	}
}

// Diagonal implements [support.Operator] with 1/π, which scales as the diagonal
// does; the Hessian's own diagonal is not known.
func (a *genericSystem) Diagonal(out []float64) { copy(out, a.inverse) }
