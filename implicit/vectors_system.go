package implicit

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// vectorsSystem solves K·[J_S; J_b] = [r; t] of the free rows: by a factor of A_SS + τ11ᵀ for few rows and on
// the simplex, else by conjugate gradients.
type vectorsSystem struct {
	fit       *model.Vectors
	square    []float64
	largest   int // the largest number of rows that is factorised
	iterative bool

	rhs      []float64 // r, then J_S
	length   []float64 // √ of the diagonal of A, or of A_SS + τ11ᵀ
	bordered support.Bordered
	x, q     []float64
	factor   support.Semidefinite
	tau      float64 // τ
	ones     []float64

	margin       float64 // how far from singular, see [Hypergradient].InjectivityMargin
	eta          float64 // η of ηD ≼ A on vectors that sum to 0, D the diagonal of A, estimated; where iterative
	lengthRatio  float64 // Σ over the free rows of the ratio of length² before the means are subtracted to length² after
	solutionSize float64 // Σ length·|J_S| of the last solution, of both its parts where there is an intercept
	residualNorm float64 // √(ρᵀA⁻¹ρ) of the residual of the last solution, estimated; 0 where factorised
	exact        bool    // no right-hand side was outside the range of its system
	converged    bool    // all systems have converged
	iterations   int
}

// fewTol replaces a larger tolerance where that is met in fewer than [fewIterations] iterations: Ritz values
// of fewer steps than the system has dimensions say nothing of its smallest eigenvalue.
const fewTol = 1e-8

// largestFactor is the number of free rows beyond which conjugate gradients are cheaper.
const largestFactor = 1000

// setUp sets up the system of the free rows at a point, without a factor where rough. It returns false where
// the system is singular.
func (y *vectorsSystem) setUp(at VectorsPoint, rough bool) bool {
	size := len(at.Free)
	y.rhs, y.x = resize(y.rhs, size), resize(y.x, size)
	y.margin, y.eta, y.tau, y.lengthRatio, y.solutionSize, y.residualNorm, y.iterations = 1, 1, 0, float64(size), 0, 0, 0
	y.exact, y.converged = true, true
	y.length = resize(y.length, size)
	for k, i := range at.Free {
		y.length[k] = math.Sqrt(y.square[i])
	}
	if y.iterative = (rough || size > y.largest) && !y.fit.Simplex(); size == 0 {
		return true
	}
	if !y.fit.Simplex() {
		y.bordered.Kernels, y.bordered.Centred = y.fit.Kernels(), y.fit.Centred()
		y.bordered.Take(sparse.Transpose(y.fit.Matrix()), at.Free, y.square, y.fit.Scales())
	}
	return y.iterative || y.factorise(at)
}

// factorise computes the factor of A_SS + τ11ᵀ, τ = 0 without an intercept. The margin is that of the matrix
// scaled to a unit diagonal.
func (y *vectorsSystem) factorise(at VectorsPoint) bool {
	size, k := len(at.Free), y.fit.Kernels()
	y.q, y.ones = resize(y.q, size*size), resize(y.ones, size)
	if y.fit.Simplex() {
		y.x = y.fit.Rows(at.Free, y.fit.Face(at.W), y.x)
		p := len(y.x) / size
		for a := range at.Free {
			for b := range a + 1 {
				y.q[a*size+b] = k.Dot(y.x[a*p:][:p], y.x[b*p:][:p])
			}
		}
	} else {
		y.bordered.Gram(y.q)
	}
	if y.fit.Centred() {
		for _, i := range at.Free {
			y.tau += y.square[i] / float64(size)
		}
		if y.tau == 0 {
			y.tau = 1
		}
		for a := range size {
			for b := range a + 1 {
				y.q[a*size+b] += y.tau
			}
		}
	}
	diagonal := make([]float64, size)
	y.lengthRatio = 0
	for a, i := range at.Free {
		d := y.q[a*size+a]
		if diagonal[a], y.length[a] = d, math.Sqrt(d); d > 0 {
			y.lengthRatio += (y.square[i] + y.tau) / d
		}
	}
	if !y.factor.Factorise(y.q, size) {
		return false
	}
	if y.factor.Singular() { // the solution is not unique on dependent rows, but the predictions are
		if y.iterative = !y.fit.Simplex(); !y.iterative {
			y.margin = singular
		}
		return true
	}
	inverse := make([]float64, size)
	support.InverseDiagonal(k, y.factor.Factor(), size, inverse, make([]float64, size))
	var trace float64
	for a, d := range diagonal {
		trace = math.FMA(d, inverse[a], trace)
	}
	y.margin = 1 / trace
	return y.margin > singular
}

// solve replaces rhs by the movement of the free rows, whose sum is to be total, and returns the movement of
// b.
func (y *vectorsSystem) solve(ctx context.Context, total float64, opts Options) (shift float64) {
	y.solutionSize = 0
	switch {
	case len(y.rhs) == 0:
		return 0
	case y.iterative:
		shift = y.iterate(ctx, total, opts)
		for k, v := range y.rhs {
			y.solutionSize = math.FMA(y.length[k], math.Abs(v), y.solutionSize)
		}
		return shift
	case y.fit.Centred():
		for k := range y.rhs {
			y.rhs[k] += float64(y.tau * total)
			y.ones[k] = 1
		}
		y.exact = y.factor.Solve(y.ones) && y.exact
	}
	y.exact = y.factor.Solve(y.rhs) && y.exact
	for k, v := range y.rhs {
		y.solutionSize = math.FMA(y.length[k], math.Abs(v), y.solutionSize)
	}
	if !y.fit.Centred() {
		return 0
	}
	var own, ones float64
	for k, v := range y.rhs {
		own, ones = own+v, ones+y.ones[k]
	}
	shift = (own - total) / ones
	y.fit.Kernels().Axpy(-shift, y.ones, y.rhs)
	for k, v := range y.ones {
		y.solutionSize = math.FMA(y.length[k], math.Abs(shift*v), y.solutionSize)
	}
	return shift
}

// rounding bounds the error of X̃ᵀJ of the last solution, where the product of a row with a w of length 1 has
// an error of the length of the row. moved is the length of the w behind the right-hand side.
func (y *vectorsSystem) rounding(moved float64) float64 {
	least := y.margin
	if y.iterative {
		least = y.eta
	}
	return (moved + y.solutionSize) * math.Sqrt(y.lengthRatio/least)
}

func (y *vectorsSystem) iterate(ctx context.Context, total float64, opts Options) (shift float64) {
	shift, report := y.bordered.Solve(ctx, y.rhs, total, y.x, opts.Tol, opts.MaxIterations)
	if few := min(len(y.rhs), fewIterations); !opts.Rough && report.Converged && opts.Tol > fewTol && 0 < report.Iterations && report.Iterations < few {
		y.iterations += report.Iterations
		shift, report = y.bordered.Solve(ctx, y.rhs, total, y.x, fewTol, few) // the same steps and more
		report.Converged = report.Relative <= opts.Tol
	}
	copy(y.rhs, y.x)
	if report.Iterations > 0 {
		smallest, largest := y.bordered.Ritz()
		y.margin, y.eta = min(y.margin, smallest/largest), min(y.eta, smallest/safety)
	}
	y.residualNorm = report.Residual / math.Sqrt(y.eta)
	y.converged = y.converged && report.Converged
	y.iterations += report.Iterations
	return shift
}

// entryError bounds the error of row i of the last solution by the residual.
func (y *vectorsSystem) entryError(i int32) float64 {
	if y.residualNorm == 0 {
		return 0
	}
	return y.residualNorm / math.Sqrt(y.eta*y.square[i])
}
