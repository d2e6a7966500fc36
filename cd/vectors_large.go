package cd

import (
	"context"

	"github.com/seed-45b9a24c/pare/sparse"
)

const (
	settleFrom = 1e-6 // relative gap from which most steps by conjugate gradients end
	settleMore = 1e-2 // of that gap, where they did not
	settleTol  = 1e-3 // of a system: its residual is what the next begins with
	mostIdle   = 4    // steps in a row without half the gap, on the way to the set of free rows
)

// solveLarge goes on by sweeps while they are cheaper than the price, and if the solution is to be
// exact by steps after them, and sweeps to a smaller gap where those do not end and the
// tolerance asks for one. It reports whether the point is what was asked for.
func (s *Vectors) solveLarge(ctx context.Context, tol, price float64, exact bool, opts Options) bool {
	if !exact {
		return s.sweep(ctx, tol, price, opts)
	}
	s.iterative = true
	defer func() { s.iterative = false }()
	for goal := float64(settleFrom * s.null); ; goal *= settleMore {
		reached := s.sweep(ctx, goal, price, opts)
		if ended := s.settle(ctx); ended || s.bestGap <= tol || !reached {
			return ended && s.bestGap <= tol
		}
		opts.MaxEpochs = int(s.sides.left)
	}
}

// stepFree moves a on the free rows, and b, to the solution of their conditions, to rounding where
// these rows stay. It returns false where conjugate gradients find none.
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
	tol := settleTol
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
