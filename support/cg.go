package support

import (
	"cmp"
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// Operator is a symmetric positive semidefinite matrix A, known by its
// products.
type Operator interface {
	// Apply sets out = A·v.
	Apply(v, out []float64)
	// Diagonal sets out to the diagonal of A, which is positive.
	Diagonal(out []float64)
}

// CG solves A·x = b by conjugate gradients, preconditioned with diag A. Its
// workspace grows to the largest system seen and is reused; the zero value
// with Kernels set is ready. Not safe for concurrent use.
type CG struct {
	Kernels *kernels.Set
	// Regular says that A is positive definite by construction: a residual that grows is
	// no sign of a right-hand side outside its range.
	Regular bool
	// Enough, where positive, ends a solve at an iteration that lowers ½xᵀAx − bᵀx by less
	// than this share of the average decrease of all iterations so far (Nash and Sofer, Operations
	// Research Letters 9, 1990). Unlike the residual, this quadratic decreases at every iteration.
	Enough float64
	// Fast, where positive, keeps Enough from ending a solve at an iteration that takes the squared
	// norm of the residual to this share of what it was before, or less.
	Fast float64
	// Growth limits the ratio of the residual to its minimum so far; a larger ratio shows a right-hand
	// side outside the range of A. 0 means 1e3. Inside the range the ratio is at most √κ, κ the
	// condition number of D^-½AD^-½, D = diag A.
	Growth float64
	// KeepLast says that a solve that uses up its iterations leaves the last iterate in x, where
	// ½xᵀAx − bᵀx is least, and not the one with the least residual.
	KeepLast bool
	// Near, if not nil, multiplies a vector in place by the inverse of a matrix near A. It then replaces diag A in preconditioning
	// and in norms.
	Near func([]float64)

	diag, r, z, p, q, best []float64
	steps, ratios          []float64 // CG coefficients, for the Ritz values

	follower *following // nil: none
	last     bool       // the last solve returned its last iterate
}

// Report says how a solve went. Norms are ‖ρ‖² = Σ ρₖ²/Aₖₖ.
type Report struct {
	Iterations int
	Residual   float64 // ‖b − Ax‖ as the recurrence has it
	Relative   float64 // Residual / ‖b‖
	Converged  bool    // to the tolerance, or ended by [CG].Enough
	// Null is a direction without curvature that ended the iteration, nil where
	// there was none. It belongs to the CG and lasts until its next call.
	Null []float64
}

const (
	// flatCurvature is the curvature, relative to the diagonal, up to which it counts as zero.
	flatCurvature = 1e-14
	// usualGrowth is the [CG].Growth used where it is 0.
	usualGrowth = 1e3
	// fewestIterations is the number of iterations before which [CG].Enough has no effect.
	fewestIterations = 4
)

// Solve improves x until ‖b − Ax‖ ≤ tol·‖b‖, for at most maxIterations. It
// starts from the x given and leaves the best iterate there, also when ctx ends.
// b is read only.
func (c *CG) Solve(ctx context.Context, a Operator, b, x []float64, tol float64, maxIterations int) Report {
	return c.solve(ctx, a, b, x, 0, tol, maxIterations)
}

// solve is [CG.Solve] where another part of the right-hand side has been solved already. The squared
// norm of that part, known, counts in ‖b‖.
func (c *CG) solve(ctx context.Context, a Operator, b, x []float64, known, tol float64, maxIterations int) Report {
	k, s := c.Kernels, len(b)
	c.grow(s)
	a.Diagonal(c.diag)
	norm := math.Sqrt(c.precondition(b, c.z) + known)
	if c.last = true; norm == 0 {
		clear(x)
		return Report{Converged: true}
	}
	copy(c.r, b)
	if k.MaxAbs(x) != 0 {
		a.Apply(x, c.q)
		k.Axpy(-1, c.q, c.r)
	}
	rz := c.precondition(c.r, c.z)
	copy(c.p, c.z)
	copy(c.best, x)
	least := rz
	report, decrease, enough, growth := Report{}, 0.0, false, cmp.Or(c.Growth, usualGrowth)
	for !enough && report.Iterations < maxIterations && math.Sqrt(rz) > tol*norm && ctx.Err() == nil {
		a.Apply(c.p, c.q)
		curvature := k.Dot(c.p, c.q)
		var diagonal float64
		for i, v := range c.p {
			diagonal = math.FMA(c.diag[i]*v, v, diagonal)
		}
		if !(curvature > flatCurvature*diagonal) {
			report.Null = c.p
			break
		}
		step := rz / curvature
		k.Axpy(step, c.p, x)
		c.follower.advance(step)
		k.Axpy(-step, c.q, c.r)
		decrease = math.FMA(step, rz, decrease)
		next := c.precondition(c.r, c.z)
		ratio := next / rz
		c.steps = append(c.steps, step)
		c.ratios = append(c.ratios, ratio)
		report.Iterations++
		enough = c.Enough > 0 && report.Iterations >= fewestIterations && float64(report.Iterations)*float64(step*rz) <= float64(c.Enough*decrease) && next > float64(c.Fast*rz)
		rz = next
		if rz < least {
			least = rz
			copy(c.best, x)
		} else if !(rz <= float64(growth*growth)*least || c.Regular) {
			break
		}
		k.Scal(ratio, c.p)
		k.Axpy(1, c.z, c.p)
	}
	if enough || c.KeepLast && report.Iterations == maxIterations {
		least = rz
	} else {
		c.last = rz == least
		copy(x, c.best)
	}
	report.Residual = math.Sqrt(least)
	report.Relative = report.Residual / norm
	report.Converged = enough || report.Relative <= tol
	return report
}

// IterationsExpected returns the number of iterations to expect until the relative residual is tol, where no
// eigenvalue of D^-½AD^-½, D = diag A, is below least, and few are far above 1.
func IterationsExpected(least, tol float64) float64 {
	return 0.5 * kernels.Log(2/tol) / math.Sqrt(least)
}

// Norm returns ‖v‖ as [Report] has it, for the operator of the last solve.
func (c *CG) Norm(v []float64) float64 { return c.norm(v, 0) }

func (c *CG) norm(v []float64, known float64) float64 {
	return math.Sqrt(c.precondition(v, c.z) + known)
}

// Ritz returns the extreme Ritz values of D^-½AD^-½, D = diag A, from the last solve: smallest approaches the
// smallest eigenvalue from above, largest the largest from below. Both are 1 after a solve without iterations.
func (c *CG) Ritz() (smallest, largest float64) { return ritz(c.steps, c.ratios) }

// precondition sets z = r/diag A, or to [CG].Near of r, and returns rᵀz.
func (c *CG) precondition(r, z []float64) float64 {
	if c.Near != nil {
		copy(z, r)
		c.Near(z)
		return c.Kernels.Dot(r, z)
	}
	for i, d := range c.diag {
		z[i] = r[i] / d
	}
	return c.Kernels.Dot(r, z)
}

func (c *CG) grow(s int) {
	for _, v := range []*[]float64{&c.diag, &c.r, &c.z, &c.p, &c.q, &c.best} {
		if cap(*v) < s {
			*v = make([]float64, s+s/4)
		}
		*v = (*v)[:s]
	}
	c.steps, c.ratios = c.steps[:0], c.ratios[:0]
}
