// Package subject makes matrices, views and losses of the library from the problems
// of package oracle, what is tested from what it is tested against, and reads values
// that were computed elsewhere.
package subject

import (
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Kernels returns the active kernel set.
func Kernels(tb testing.TB) *kernels.Set {
	tb.Helper()
	k, err := kernels.Active()
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

// Matrix returns the X of q, on dense or sparse storage.
func Matrix(tb testing.TB, q *oracle.Problem, dense bool) sparse.Matrix {
	tb.Helper()
	n, p := q.Dims()
	var x sparse.Matrix
	var err error
	if dense {
		x, err = sparse.NewDense(n, p, q.ColumnMajor())
	} else {
		pointers, rows, values := q.Columns()
		x, err = sparse.NewCSC(n, p, pointers, rows, values)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

// View returns the view of q: its matrix, row weights and intercept.
func View(tb testing.TB, q *oracle.Problem, dense bool) *sparse.View {
	tb.Helper()
	view, err := sparse.NewView(Kernels(tb), Matrix(tb, q, dense), q.Weights, q.Intercept)
	if err != nil {
		tb.Fatal(err)
	}
	return view
}

// Squared returns the squared loss of q, on dense or sparse storage.
func Squared(tb testing.TB, q *oracle.Problem, dense bool) *model.Squared {
	tb.Helper()
	fit, err := model.NewSquared(View(tb, q, dense), q.Y)
	if err != nil {
		tb.Fatal(err)
	}
	return fit
}

// Logistic returns the logistic loss of q, on dense or sparse storage.
func Logistic(tb testing.TB, q *oracle.Problem, dense bool) *model.Logistic {
	tb.Helper()
	fit, err := model.NewLogistic(View(tb, q, dense), q.Y)
	if err != nil {
		tb.Fatal(err)
	}
	return fit
}
