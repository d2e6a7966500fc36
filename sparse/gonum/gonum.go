// Package gonum makes design matrices from gonum's matrices, in one line:
//
//	x, err := gonum.From(m)                // of a mat.Matrix
//	x, err := gonum.FromGeneral(general)   // of a blas64.General
//
// It is separate from package sparse so that only programs that ask for it depend on gonum's matrices. In the
// other direction, kernels/kblas gives gonum's blas64 the kernels of pare.
package gonum

import (
	"context"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// FromGeneral returns the dense matrix of a, which is stored by rows; its values are checked and copied. The
// errors are those of [sparse.NewDenseRows].
func FromGeneral(a blas64.General) (*sparse.Dense, error) {
	return sparse.NewDenseRows(a.Rows, a.Cols, a.Stride, a.Data)
}

// From returns the matrix of any gonum matrix, in the smaller of its two forms: in compressed columns where
// most entries are 0. m is read entry by entry unless it is a [mat.RawMatrixer], and is not kept. The error is
// an [outcome.Error]: NonFinite with row and column, or Limit.
func From(m mat.Matrix) (sparse.Matrix, error) {
	n, p := m.Dims()
	if n > sparse.MaxDim || p > sparse.MaxDim {
		return nil, outcome.Errorf(outcome.Limit, "a %d × %d matrix", n, p)
	}
	var b sparse.Builder
	row := make([]float64, p)
	raw, ok := m.(mat.RawMatrixer)
	for i := range n {
		if ok {
			a := raw.RawMatrix()
			row = a.Data[i*a.Stride : i*a.Stride+p]
		} else {
			for j := range row {
				row[j] = m.At(i, j)
			}
		}
		if err := b.Row(nil, row); err != nil {
			return nil, err
		}
	}
	return b.Matrix(context.Background(), p)
}
