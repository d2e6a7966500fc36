// Package subject makes matrices, views, losses and penalties of the library from the
// problems of package oracle, what is tested from what it is tested against, and reads
// values that were computed elsewhere.
package subject

import (
	"math"
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
func Logistic(tb testing.TB, q *oracle.Problem, dense bool) *model.Rowwise {
	tb.Helper()
	fit, err := model.NewLogistic(View(tb, q, dense), q.Y)
	if err != nil {
		tb.Fatal(err)
	}
	return fit
}

// SVM returns the support vector machine of q, whose y is ±1, on a kernel set: the
// active one where k is nil.
func SVM(tb testing.TB, k *kernels.Set, q *oracle.Problem, dense bool) *model.SVM {
	tb.Helper()
	if k == nil {
		k = Kernels(tb)
	}
	fit, err := model.NewSVM(k, sparse.Transpose(Matrix(tb, q, dense)), q.Y, q.Weights)
	if err != nil {
		tb.Fatal(err)
	}
	return fit
}

// Penalty returns the penalty of q, and gives q its strengths: e^λ of a λ that was
// rounded. Strengths that are all the same are those of one λ.
func Penalty(tb testing.TB, q *oracle.Problem) model.Penalty {
	tb.Helper()
	logs := make([]float64, len(q.Alpha))
	same := len(logs) > 0
	for j, a := range q.Alpha {
		logs[j] = math.Log(a)
		same = same && a == q.Alpha[0]
	}
	var g model.Penalty
	var err error
	switch {
	case q.Ridge > 0 && (len(logs) == 0 || same && q.Alpha[0] == 0):
		g, err = model.Ridge(math.Log(q.Ridge))
	case q.Ridge > 0:
		g, err = model.ElasticNet(logs[0], math.Log(q.Ridge))
	case same && !math.IsInf(logs[0], 0):
		g, err = model.Lasso(logs[0])
	default:
		g, err = model.WeightedLasso(logs)
	}
	if err == nil && q.Positive {
		g, err = g.NonNegative()
	}
	if err != nil {
		tb.Fatal(err)
	}
	for j := range q.Alpha {
		q.Alpha[j] = g.Alpha(j)
	}
	q.Ridge = g.Ridge()
	return g
}
