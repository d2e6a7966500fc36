package support

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// Semidefinite solves Mx = b for a symmetric positive semidefinite M and b in its range. It
// uses a Cholesky factor of M or, where that breaks down, of M + δI; it then refines the
// solution until it solves Mx = b. The zero value with Kernels set is ready; it is not safe
// for concurrent use.
type Semidefinite struct {
	Kernels *kernels.Set
	size    int
	shifted bool
	m, l    []float64 // lower triangles; m only where shifted
	x, r    []float64
}

const (
	semidefiniteShift = 1e-9 // δ over the mean of the diagonal
	semidefiniteSteps = 30
	semidefiniteExact = 1e-13 // relative residual up to which a solution needs no refinement
	semidefiniteTol   = 1e-8  // relative residual beyond which b is not in the range
)

// Factorise copies and factorises the size × size matrix whose lower triangle is that of q.
// It returns false where that fails with the shift, too, as for numbers that are not finite.
func (s *Semidefinite) Factorise(q []float64, size int) bool {
	s.size, s.shifted = size, false
	s.l = append(s.l[:0], q[:size*size]...)
	if Cholesky(s.Kernels, s.l, size) == size {
		return true
	}
	s.shifted = true
	s.m = append(s.m[:0], q[:size*size]...)
	copy(s.l, s.m)
	var trace float64
	for k := range size {
		trace += s.m[k*size+k]
	}
	shift := semidefiniteShift * trace / float64(size)
	for k := range size {
		s.l[k*size+k] += shift
	}
	return shift > 0 && Cholesky(s.Kernels, s.l, size) == size
}

// Singular reports whether the matrix is singular to working precision.
func (s *Semidefinite) Singular() bool { return s.shifted }

// Factor returns the Cholesky factor of M, or of M + δI where M is singular. Read only.
func (s *Semidefinite) Factor() []float64 { return s.l }

// Solve replaces b by a solution. It returns false where there is none.
func (s *Semidefinite) Solve(b []float64) bool {
	if !s.shifted {
		CholeskySolve(s.Kernels, s.l, s.size, b)
		return true
	}
	k := s.Kernels
	norm := k.MaxAbs(b)
	s.x, s.r = resize(s.x, s.size), append(s.r[:0], b...)
	clear(s.x)
	left := math.Inf(1)
	for range semidefiniteSteps {
		CholeskySolve(k, s.l, s.size, s.r)
		k.Axpy(1, s.r, s.x)
		s.updateResidual(b)
		now := k.MaxAbs(s.r)
		if now <= semidefiniteExact*norm || !(now < 0.5*left) {
			left = now
			break
		}
		left = now
	}
	copy(b, s.x)
	return left <= semidefiniteTol*norm
}

// updateResidual sets r = b − Mx.
func (s *Semidefinite) updateResidual(b []float64) {
	copy(s.r, b)
	for i := range s.size {
		row := s.m[i*s.size:][:i]
		s.r[i] -= float64(s.Kernels.Dot(row, s.x[:i])) + float64(s.m[i*s.size+i]*s.x[i])
		s.Kernels.Axpy(-s.x[i], row, s.r[:i])
	}
}
