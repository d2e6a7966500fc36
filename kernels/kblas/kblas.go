// Package kblas lets gonum's blas64 and mat run on the kernels of this module:
//
//	k, err := kernels.Active()
//	...
//	blas64.Use(kblas.New(k))
//
// It is a package of its own so that package kernels does not depend on gonum.
package kblas

import (
	"math"
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/seed-45b9a24c/pare/kernels"
)

// BLAS implements gonum's blas.Float64, and its other three BLAS interfaces, all
// operations of which are gonum's. Ddot, Dnrm2, Dasum, Idamax, Daxpy, Dscal, Dgemv,
// Dger, Dsymv, Dsyr, Dtrsv and Dtrmv run on kernels where vectors are contiguous
// (increments of 1) and operands do not overlap; all else, errors included, is
// gonum's. Where kernels are used, results have the same bits on every CPU and
// kernel set, but not the bits of gonum.
//
// The zero value is gonum's implementation.
type BLAS struct {
	gonum.Implementation
	k *kernels.Set
}

var _ blas.Float64 = BLAS{}

// New returns an implementation on a set of kernels.
func New(k *kernels.Set) BLAS { return BLAS{k: k} }

// contiguous reports whether the kernels can handle a vector of n elements.
func (b BLAS) contiguous(n int, x []float64, inc int) bool {
	return b.k != nil && inc == 1 && 0 < n && n <= len(x)
}

// rows reports whether the kernels can handle an m × n matrix, which must not overlap x.
func (b BLAS) rows(m, n int, a []float64, lda int, x []float64) bool {
	return b.k != nil && m > 0 && n > 0 && lda >= n && len(a) >= lda*(m-1)+n && !overlap(a, x)
}

// overlap reports whether x and y share memory.
func overlap(x, y []float64) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	return uintptr(unsafe.Pointer(&x[0])) <= uintptr(unsafe.Pointer(&y[len(y)-1])) &&
		uintptr(unsafe.Pointer(&y[0])) <= uintptr(unsafe.Pointer(&x[len(x)-1]))
}

// Ddot returns Σ x_i·y_i.
func (b BLAS) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	if !b.contiguous(n, x, incX) || !b.contiguous(n, y, incY) {
		return b.Implementation.Ddot(n, x, incX, y, incY)
	}
	return b.k.Dot(x[:n], y[:n])
}

// Dnrm2 returns √Σ x_i².
func (b BLAS) Dnrm2(n int, x []float64, incX int) float64 {
	if !b.contiguous(n, x, incX) {
		return b.Implementation.Dnrm2(n, x, incX)
	}
	return b.k.Nrm2(x[:n])
}

// Dasum returns Σ |x_i|.
func (b BLAS) Dasum(n int, x []float64, incX int) float64 {
	if !b.contiguous(n, x, incX) {
		return b.Implementation.Dasum(n, x, incX)
	}
	return b.k.Asum(x[:n])
}

// Idamax returns the index of the first element of largest magnitude.
func (b BLAS) Idamax(n int, x []float64, incX int) int {
	if b.contiguous(n, x, incX) {
		largest := b.k.MaxAbs(x[:n])
		for i, v := range x[:n] {
			if math.Abs(v) == largest {
				return i
			}
		}
	}
	return b.Implementation.Idamax(n, x, incX) // also where there is a NaN
}

// Daxpy does y ← y + alpha·x.
func (b BLAS) Daxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int) {
	if !b.contiguous(n, x, incX) || !b.contiguous(n, y, incY) || alpha == 0 || overlap(x[:n], y[:n]) {
		b.Implementation.Daxpy(n, alpha, x, incX, y, incY)
		return
	}
	b.k.Axpy(alpha, x[:n], y[:n])
}

// Dscal does x ← alpha·x.
func (b BLAS) Dscal(n int, alpha float64, x []float64, incX int) {
	if !b.contiguous(n, x, incX) || alpha == 0 {
		b.Implementation.Dscal(n, alpha, x, incX)
		return
	}
	b.k.Scal(alpha, x[:n])
}

// Dgemv does y ← alpha·A·x + beta·y, or alpha·Aᵀ·x + beta·y, for an m × n matrix.
func (b BLAS) Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	lenX, lenY := m, n
	if tA == blas.NoTrans {
		lenX, lenY = n, m
	}
	known := tA == blas.NoTrans || tA == blas.Trans || tA == blas.ConjTrans
	if !known || !b.rows(m, n, a, lda, y) || !b.contiguous(lenX, x, incX) || !b.contiguous(lenY, y, incY) ||
		alpha == 0 || overlap(x, y) {
		b.Implementation.Dgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	x, y = x[:lenX], y[:lenY]
	if beta == 0 {
		clear(y)
	} else if beta != 1 {
		b.k.Scal(beta, y)
	}
	for i := range m {
		row := a[i*lda:][:n]
		if tA == blas.NoTrans {
			y[i] = math.FMA(alpha, b.k.Dot(row, x), y[i])
		} else {
			b.k.Axpy(alpha*x[i], row, y)
		}
	}
}

// Dger does A ← A + alpha·x·yᵀ for an m × n matrix.
func (b BLAS) Dger(m, n int, alpha float64, x []float64, incX int, y []float64, incY int, a []float64, lda int) {
	if !b.rows(m, n, a, lda, y) || !b.contiguous(m, x, incX) || !b.contiguous(n, y, incY) || alpha == 0 || overlap(a, x) {
		b.Implementation.Dger(m, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	for i, v := range x[:m] {
		b.k.Axpy(alpha*v, y[:n], a[i*lda:][:n])
	}
}

// Dsymv does y ← alpha·A·x + beta·y for a symmetric matrix of which one triangle is
// read.
func (b BLAS) Dsymv(ul blas.Uplo, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	if !triangle(ul) || !b.rows(n, n, a, lda, y) || !b.contiguous(n, x, incX) || !b.contiguous(n, y, incY) ||
		alpha == 0 || overlap(x, y) {
		b.Implementation.Dsymv(ul, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	x, y = x[:n], y[:n]
	if beta == 0 {
		clear(y)
	} else if beta != 1 {
		b.k.Scal(beta, y)
	}
	for i := range n {
		row := a[i*lda:][:n]
		from, to := beside(ul, i, n)
		sum := math.FMA(row[i], x[i], b.k.Dot(row[from:to], x[from:to]))
		y[i] = math.FMA(alpha, sum, y[i])
		b.k.Axpy(alpha*x[i], row[from:to], y[from:to])
	}
}

// Dsyr does A ← A + alpha·x·xᵀ for one triangle of a symmetric matrix.
func (b BLAS) Dsyr(ul blas.Uplo, n int, alpha float64, x []float64, incX int, a []float64, lda int) {
	if !triangle(ul) || !b.rows(n, n, a, lda, x) || !b.contiguous(n, x, incX) || alpha == 0 {
		b.Implementation.Dsyr(ul, n, alpha, x, incX, a, lda)
		return
	}
	for i, v := range x[:n] {
		row := a[i*lda:][:n]
		from, to := 0, i+1
		if ul == blas.Upper {
			from, to = i, n
		}
		if t := alpha * v; t != 0 {
			b.k.Axpy(t, x[from:to], row[from:to])
		}
	}
}

// Dtrsv solves A·x = b, or Aᵀ·x = b, in place of b, for a triangular matrix.
func (b BLAS) Dtrsv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) {
	if !b.triangular(ul, tA, d, n, a, lda, x, incX) {
		b.Implementation.Dtrsv(ul, tA, d, n, a, lda, x, incX)
		return
	}
	x = x[:n]
	forward := (ul == blas.Lower) == (tA == blas.NoTrans)
	for step := range n {
		i := step
		if !forward {
			i = n - 1 - step
		}
		row := a[i*lda:][:n]
		from, to := beside(ul, i, n)
		if tA == blas.NoTrans {
			x[i] -= b.k.Dot(row[from:to], x[from:to])
		}
		if d == blas.NonUnit {
			x[i] /= row[i]
		}
		if tA != blas.NoTrans {
			b.k.Axpy(-x[i], row[from:to], x[from:to])
		}
	}
}

// Dtrmv does x ← A·x, or Aᵀ·x, for a triangular matrix.
func (b BLAS) Dtrmv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) {
	if !b.triangular(ul, tA, d, n, a, lda, x, incX) {
		b.Implementation.Dtrmv(ul, tA, d, n, a, lda, x, incX)
		return
	}
	x = x[:n]
	forward := (ul == blas.Upper) == (tA == blas.NoTrans)
	for step := range n {
		i := step
		if !forward {
			i = n - 1 - step
		}
		row := a[i*lda:][:n]
		from, to := beside(ul, i, n)
		if tA != blas.NoTrans {
			b.k.Axpy(x[i], row[from:to], x[from:to])
		}
		if d == blas.NonUnit {
			x[i] = float64(x[i] * row[i])
		}
		if tA == blas.NoTrans {
			x[i] += b.k.Dot(row[from:to], x[from:to])
		}
	}
}

func triangle(ul blas.Uplo) bool { return ul == blas.Upper || ul == blas.Lower }

// triangular reports whether the kernels can handle these operands of Dtrsv or Dtrmv.
func (b BLAS) triangular(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) bool {
	return triangle(ul) && (tA == blas.NoTrans || tA == blas.Trans || tA == blas.ConjTrans) &&
		(d == blas.Unit || d == blas.NonUnit) && b.rows(n, n, a, lda, x) && b.contiguous(n, x, incX)
}

// beside returns the range of row i that is in the triangle, without the diagonal.
func beside(ul blas.Uplo, i, n int) (from, to int) {
	if ul == blas.Upper {
		return i + 1, n
	}
	return 0, i
}
