package iterdiff_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// trial is a problem in the form of the package and in that of the reference.
type trial struct {
	method iterdiff.Method
	q      *reference
	solver *iterdiff.Solver
	svm    *iterdiff.SVM
	log    []float64 // λ
	outer  iterdiff.Outer
	n      int
	// toM maps the reference's β to predictions on all rows; back is its transpose.
	toM  func(beta []float64) []float64
	back func(slope []float64) []float64
}

// quadratic returns the mean squared distance of the predictions from a target on the listed rows.
func quadratic(target []float64, rows []int) iterdiff.Outer {
	return func(m, slope []float64) float64 {
		var c float64
		for _, i := range rows {
			d := m[i] - target[i]
			c += d * d / float64(len(rows))
			slope[i] = 2 * d / float64(len(rows))
		}
		return c
	}
}

// draw returns a random trial with the penalty "lasso", "enet" or "wlasso".
func draw(tb testing.TB, r *oracle.Random, k *kernels.Set, l kind, penalty string, method iterdiff.Method) *trial {
	tb.Helper()
	problem := r.Problem(oracle.Shape{N: 14 + r.Intn(6), P: 5 + r.Intn(5), Density: r.Pick(0.6, 1), Mean: r.Pick(0, 0.7), Weights: r.Intn(2) == 0})
	problem.Intercept = r.Intn(2) == 0 && l != box
	n, p := problem.Dims()
	if l != squared {
		for i := range problem.Y {
			problem.Y[i] = math.Copysign(1, problem.Y[i]+0.3*r.Normal())
		}
		problem.Y[0], problem.Y[1] = 1, -1
		if problem.Weights != nil {
			problem.Weights[0], problem.Weights[1] = 1, 1
		}
	}
	out := &trial{method: method, n: n}
	pointers, rows, values := problem.Columns()
	csc, err := sparse.NewCSC(n, p, pointers, rows, values)
	if err != nil {
		tb.Fatal(err)
	}
	matrix := sparse.Compact(csc)
	q := &reference{loss: l, y: problem.Y, s: make([]float64, n), shared: 1}
	for i := range q.s {
		q.s[i] = problem.Weight(i)
		q.total += q.s[i]
	}
	out.q = q
	var held []int
	target := make([]float64, n)
	for i := range target {
		target[i] = problem.Y[i] + 0.2*r.Normal()
		if i%3 == 0 || q.s[i] == 0 {
			held = append(held, i)
		}
	}
	out.outer = quadratic(target, held)
	if l == box {
		out.ofSamples(tb, k, problem, matrix)
		out.log = []float64{math.Log(r.Pick(0.02, 0.1, 0.5))}
		return out
	}
	top := math.Log(model.AlphaMax(out.ofColumns(tb, k, problem, matrix)))
	switch penalty {
	case "lasso":
		out.log = []float64{top - 0.5 - 3*r.Float64()}
	case "enet":
		q.shared = 2
		out.log = []float64{top - 0.5 - 3*r.Float64(), top - 3*r.Float64()}
	case "wlasso":
		q.shared = 0
		for range p {
			out.log = append(out.log, top-0.5-3*r.Float64())
		}
	}
	return out
}

// ofSamples turns the trial into the dual of an SVM, whose variables are the samples.
func (q *trial) ofSamples(tb testing.TB, k *kernels.Set, problem *oracle.Problem, matrix sparse.Matrix) {
	tb.Helper()
	n, p := problem.Dims()
	fit, err := model.NewSVM(k, sparse.Transpose(matrix), problem.Y, problem.Weights)
	if err != nil {
		tb.Fatal(err)
	}
	q.svm = iterdiff.NewSVM(fit)
	of := q.q
	of.bound, of.total = of.s, 1
	of.s = slices.Repeat([]float64{1}, p)
	of.z = make([][]float64, p)
	for j := range of.z {
		of.z[j] = make([]float64, n)
		for i := range n {
			of.z[j][i] = problem.Y[i] * problem.X[i][j]
		}
	}
	for _, i := range fit.Samples().Order() {
		if of.bound[i] > 0 {
			of.order = append(of.order, i)
		}
	}
	q.toM = func(beta []float64) []float64 {
		w, m := of.predictions(beta), make([]float64, n)
		for i, row := range problem.X {
			for j, x := range row {
				m[i] += x * w[j]
			}
		}
		return m
	}
	q.back = func(slope []float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			for j := range p {
				for k, c := range slope {
					v[i] += of.z[j][i] * problem.X[k][j] * c
				}
			}
		}
		return v
	}
}

// ofColumns turns the trial into a datafit, whose variables are the columns and, with the logistic loss, an
// intercept. It returns the datafit.
func (q *trial) ofColumns(tb testing.TB, k *kernels.Set, problem *oracle.Problem, matrix sparse.Matrix) model.Datafit {
	tb.Helper()
	n, p := problem.Dims()
	of := q.q
	view, err := sparse.NewView(k, matrix, problem.Weights, problem.Intercept)
	if err != nil {
		tb.Fatal(err)
	}
	var fit model.Datafit
	if of.loss == squared {
		fit, err = model.NewSquared(view, problem.Y)
	} else {
		fit, err = model.NewLogistic(view, problem.Y)
	}
	if err != nil {
		tb.Fatal(err)
	}
	if q.solver, err = iterdiff.New(fit); err != nil {
		tb.Fatal(err)
	}
	shift := 0.0
	of.z = make([][]float64, n)
	means := make([]float64, p)
	if problem.Intercept && of.loss == squared {
		for i, y := range problem.Y {
			shift += of.s[i] * y / of.total
		}
		of.y = append([]float64(nil), problem.Y...)
		for i := range of.y {
			of.y[i] -= shift
		}
		for j := range means {
			means[j] = problem.Mean(j)
		}
	}
	for i, row := range problem.X {
		of.z[i] = append([]float64(nil), row...)
		for j := range row {
			of.z[i][j] -= means[j]
		}
		if problem.Intercept && of.loss == logistic {
			of.z[i] = append(of.z[i], 1)
		}
	}
	for _, j := range matrix.Order() {
		if of.lipschitz(int(j)) > 0 {
			of.order = append(of.order, j)
		}
	}
	if problem.Intercept && of.loss == logistic {
		of.intercept = true
		of.order = append(of.order, int32(p))
	}
	q.toM = func(beta []float64) []float64 {
		m := of.predictions(beta)
		for i := range m {
			m[i] += shift
		}
		return m
	}
	q.back = func(slope []float64) []float64 {
		v := make([]float64, len(of.z[0]))
		for j := range v {
			for i, c := range slope {
				v[j] += of.z[i][j] * c
			}
		}
		return v
	}
	return fit
}

// strengths returns α and α₂ for log-strengths.
func (q *trial) strengths(log []float64) (alpha []float64, ridge float64) {
	for _, l := range log {
		alpha = append(alpha, math.Exp(l))
	}
	if q.q.shared == 2 {
		return alpha[:1], alpha[1]
	}
	return alpha, 0
}

func (q *trial) penalty(tb testing.TB) model.Penalty {
	tb.Helper()
	var g model.Penalty
	var err error
	switch q.q.shared {
	case 0:
		g, err = model.WeightedLasso(q.log)
	case 1:
		g, err = model.Lasso(q.log[0])
	default:
		g, err = model.ElasticNet(q.log[0], q.log[1])
	}
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func (q *trial) solve(tb testing.TB, o iterdiff.Options) *iterdiff.Result {
	tb.Helper()
	o.Method = q.method
	var got *iterdiff.Result
	var err error
	if q.svm != nil {
		got, err = q.svm.Solve(tb.Context(), q.log[0], q.outer, o)
	} else {
		got, err = q.solver.Solve(tb.Context(), q.penalty(tb), q.outer, o)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return got
}
