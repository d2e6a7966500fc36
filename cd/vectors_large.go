package cd

import (
	"context"

	"github.com/seed-45b9a24c/pare/sparse"
)

const (
	freeStepGap       = 1e-6 // relative gap from which steps by conjugate gradients mostly converge
	freeStepGapFactor = 1e-2 // factor on that gap where they did not
	freeStepTol       = 1e-3 // relative residual of a system; the next one starts from it
	mostIdle          = 4    // consecutive steps that do not halve the gap while the set of free rows changes
)

// solveLarge sweeps while sweeps cost less than price. If the solution has to be exact, steps by
// conjugate gradients follow; if these do not converge and the gap is not within tol, sweeps
// continue to a smaller gap. It reports whether the point is as exact as asked for.
func (s *Vectors) solveLarge(ctx context.Context, tol, price float64, exact bool, opts Options) bool {
	if !exact {
		return s.sweep(ctx, tol, price, opts)
	}
	s.iterative = true
	defer func() { s.iterative = false }()
	for goal := float64(freeStepGap * s.null); ; goal *= freeStepGapFactor {
		reached := s.sweep(ctx, goal, price, opts)
		if ended := s.activeSet(ctx); ended || s.bestGap <= tol || !reached {
			return ended && s.bestGap <= tol
		}
		opts.MaxEpochs = int(s.sides.sweepsLeft)
	}
}

// stepFree moves a on the free rows, and b, to the solution of their conditions, to working precision
// if the free rows stay the same. It returns false if conjugate gradients do not converge.
func (s *Vectors) stepFree(ctx context.Context, stays bool) bool {
	v, size := &s.free, len(s.free.rows)
	if size == 0 {
		return true
	}
	s.fit.SetCombination(s.a, s.w)
	s.fit.Predict(s.w, s.b, v.m)
	s.sol.Work += float64(2 * s.pass())
	v.rhs, v.ones = grow(v.rhs, size), grow(v.ones, size)
	for k, i := range v.rows {
		v.rhs[k] = s.fit.Target()[i] - float64(v.sign[k]*s.epsilon) - v.m[i]
	}
	v.bordered.Kernels, v.bordered.Centred = s.k, s.fit.Centred()
	v.bordered.Take(sparse.Transpose(s.fit.Matrix()), v.rows, s.square, s.fit.Scales())
	tol := freeStepTol
	if stays {
		tol = polishTol
	}
	shift, report := v.bordered.Solve(ctx, v.rhs, -s.sum(), v.ones, tol, 2*size+10)
	s.sol.Work += v.bordered.Work()
	for k, i := range v.rows {
		s.a[i] += v.ones[k]
	}
	s.b += shift
	return report.Converged
}
