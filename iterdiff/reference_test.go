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

// loss names the inner problems of the reference.
type loss int

const (
	squared loss = iota
	logistic
	box // the SVM's dual: columns of z are the samples
)

// reference is the four algorithms written from their definitions: dense, every
// gradient from scratch, with the derivative only in the backward form of the
// paper, misprints on request.
type reference struct {
	loss      loss
	z         [][]float64 // rows × coordinates: X̃, [X 1], or (y⊙X)ᵀ
	y         []float64   // centred for the squared loss
	s         []float64   // row weights
	total     float64     // N
	order     []int32
	step      float64 // PGD; 0: PCD
	intercept bool    // the last coordinate is free
	shared    int     // hyperparameters; 0: one per column
	bound     []float64

	// Misprints of the paper's text.
	printedSign  bool // h −= γv·∂_λ prox
	hessianAfter bool // the Hessian of the iterate after the update
	unitStep     bool // ∂ prox_g where prox_{γg} is meant
}

// prox returns β, ∂_z and ∂_λ of coordinate j at strengths α (and α₂, or C).
func (q *reference) prox(j int, z, step float64, alpha []float64, ridge float64) (b, dz, dl, dl2 float64) {
	if q.loss == box {
		bound := alpha[0] * q.bound[j]
		switch {
		case z <= 0:
			return 0, 0, 0, 0
		case z > bound:
			return bound, 0, bound, 0
		}
		return z, 1, 0, 0
	}
	if q.intercept && j == len(q.z[0])-1 {
		return z, 1, 0, 0
	}
	a := alpha[0]
	if q.shared == 0 {
		a = alpha[j]
	}
	shrunk := math.Abs(z) - step*a
	if shrunk <= 0 {
		return 0, 0, 0, 0
	}
	sign := math.Copysign(1, z)
	b = sign * shrunk / (1 + step*ridge)
	if q.unitStep {
		step = 1
	}
	return b, 1 / (1 + step*ridge), -step * a * sign / (1 + step*ridge), -step * ridge * b / (1 + step*ridge)
}

// slope returns ℓ′ and ℓ″ of row i.
func (q *reference) slope(i int, m float64) (first, second float64) {
	switch q.loss {
	case squared:
		return m - q.y[i], 1
	case logistic:
		miss := 1 / (1 + math.Exp(q.y[i]*m))
		return -q.y[i] * miss, miss * (1 - miss)
	default:
		return m, 1
	}
}

func (q *reference) predictions(beta []float64) []float64 {
	m := make([]float64, len(q.z))
	for i, row := range q.z {
		for j, x := range row {
			m[i] += x * beta[j]
		}
	}
	return m
}

func (q *reference) gradient(j int, beta []float64) float64 {
	var g float64
	for i, m := range q.predictions(beta) {
		first, _ := q.slope(i, m)
		g += q.s[i] * first * q.z[i][j] / q.total
	}
	if q.loss == box {
		g--
	}
	return g
}

func (q *reference) hessian(j, l int, beta []float64) float64 {
	var h float64
	for i, m := range q.predictions(beta) {
		_, second := q.slope(i, m)
		h += q.s[i] * second * q.z[i][j] * q.z[i][l] / q.total
	}
	return h
}

func (q *reference) lipschitz(j int) float64 {
	var h float64
	for i := range q.z {
		h += q.s[i] * q.z[i][j] * q.z[i][j] / q.total
	}
	if q.loss == logistic {
		h /= 4
	}
	return h
}

type taken struct {
	j             int
	z             []float64 // one, or all for PGD
	before, after []float64
}

// descend runs epochs and returns β, the steps, and the history of which
// coordinates were where.
func (q *reference) descend(start []float64, epochs int, alpha []float64, ridge float64) (beta []float64, steps []taken, history []float64) {
	beta = append([]float64(nil), start...)
	for range epochs {
		if q.step > 0 {
			t := taken{before: append([]float64(nil), beta...), z: make([]float64, len(beta))}
			for _, j := range q.order {
				t.z[j] = t.before[j] - q.step*q.gradient(int(j), t.before)
				var dz, dl float64
				beta[j], dz, dl, _ = q.prox(int(j), t.z[j], q.step, alpha, ridge)
				history = append(history, math.Copysign(dz, beta[j]), math.Copysign(1, dl)*math.Ceil(math.Abs(dl)))
			}
			t.after = append([]float64(nil), beta...)
			steps = append(steps, t)
			continue
		}
		for _, j := range q.order {
			t := taken{j: int(j), before: append([]float64(nil), beta...)}
			step := 1 / q.lipschitz(int(j))
			z := beta[j] - step*q.gradient(int(j), beta)
			var dz, dl float64
			beta[j], dz, dl, _ = q.prox(int(j), z, step, alpha, ridge)
			history = append(history, math.Copysign(dz, beta[j]), math.Copysign(1, dl)*math.Ceil(math.Abs(dl)))
			t.z, t.after = []float64{z}, append([]float64(nil), beta...)
			steps = append(steps, t)
		}
	}
	return beta, steps, history
}

// backward is Jᵀv by algorithm 2 or 4, in O(np²) per step.
func (q *reference) backward(steps []taken, v []float64, alpha []float64, ridge float64) []float64 {
	v = append([]float64(nil), v...)
	count := q.shared
	if count == 0 {
		count = len(alpha)
	}
	h := make([]float64, count)
	credit := func(j int, v, dl, dl2 float64) {
		switch {
		case q.shared == 0 && j < count:
			h[j] += v * dl
		case q.shared > 0:
			h[0] += v * dl
			if q.shared > 1 {
				h[1] += v * dl2
			}
		}
	}
	for _, t := range slices.Backward(steps) {
		at := t.before
		if q.hessianAfter {
			at = t.after
		}
		if q.step > 0 {
			for j := range v {
				_, dz, dl, dl2 := q.prox(j, t.z[j], q.step, alpha, ridge)
				credit(j, v[j], dl, dl2)
				v[j] *= dz
			}
			next := append([]float64(nil), v...)
			for j := range v {
				for l := range v {
					next[j] -= q.step * q.hessian(j, l, at) * v[l]
				}
			}
			v = next
			continue
		}
		step := 1 / q.lipschitz(t.j)
		_, dz, dl, dl2 := q.prox(t.j, t.z[0], step, alpha, ridge)
		factor := 1.0
		if q.printedSign {
			factor = -step
		}
		credit(t.j, factor*v[t.j], dl, dl2)
		v[t.j] *= dz
		vj := v[t.j]
		for l := range v {
			v[l] -= step * vj * q.hessian(t.j, l, at)
		}
	}
	return h
}

// trial is one problem as the package and the reference see it.
type trial struct {
	method iterdiff.Method
	q      *reference
	solver *iterdiff.Solver
	svm    *iterdiff.SVM
	log    []float64 // λ
	outer  iterdiff.Outer
	n      int
	// toM maps β of the reference to predictions on all rows, and back.
	toM  func(beta []float64) []float64
	back func(slope []float64) []float64
}

// mean squared distance of the predictions from a target, on rows listed.
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

// draw makes a trial: the penalty "lasso", "enet" or "wlasso".
func draw(tb testing.TB, r *oracle.Random, k *kernels.Set, l loss, penalty string, method iterdiff.Method) *trial {
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
		fit, err := model.NewSVM(k, sparse.Transpose(matrix), problem.Y, problem.Weights)
		if err != nil {
			tb.Fatal(err)
		}
		out.svm = iterdiff.NewSVM(fit)
		q.bound, q.total = q.s, 1
		q.s = make([]float64, p)
		q.z = make([][]float64, p)
		for j := range q.z {
			q.s[j] = 1
			q.z[j] = make([]float64, n)
			for i := range n {
				q.z[j][i] = problem.Y[i] * problem.X[i][j]
			}
		}
		for _, i := range fit.Samples().Order() {
			if q.bound[i] > 0 {
				q.order = append(q.order, i)
			}
		}
		out.toM = func(beta []float64) []float64 {
			w, m := q.predictions(beta), make([]float64, n)
			for i, row := range problem.X {
				for j, x := range row {
					m[i] += x * w[j]
				}
			}
			return m
		}
		out.back = func(slope []float64) []float64 {
			v := make([]float64, n)
			for i := range v {
				for j := range p {
					for k, c := range slope {
						v[i] += q.z[j][i] * problem.X[k][j] * c
					}
				}
			}
			return v
		}
		out.log = []float64{math.Log(r.Pick(0.02, 0.1, 0.5))}
		return out
	}
	view, err := sparse.NewView(k, matrix, problem.Weights, problem.Intercept)
	if err != nil {
		tb.Fatal(err)
	}
	var fit model.Datafit
	if l == squared {
		fit, err = model.NewSquared(view, problem.Y)
	} else {
		fit, err = model.NewLogistic(view, problem.Y)
	}
	if err != nil {
		tb.Fatal(err)
	}
	if out.solver, err = iterdiff.New(fit); err != nil {
		tb.Fatal(err)
	}
	shift := 0.0
	q.z = make([][]float64, n)
	means := make([]float64, p)
	if problem.Intercept && l == squared {
		for i, y := range problem.Y {
			shift += q.s[i] * y / q.total
		}
		q.y = append([]float64(nil), problem.Y...)
		for i := range q.y {
			q.y[i] -= shift
		}
		for j := range means {
			means[j] = problem.Mean(j)
		}
	}
	for i, row := range problem.X {
		q.z[i] = append([]float64(nil), row...)
		for j := range row {
			q.z[i][j] -= means[j]
		}
		if problem.Intercept && l == logistic {
			q.z[i] = append(q.z[i], 1)
		}
	}
	for _, j := range matrix.Order() {
		if q.lipschitz(int(j)) > 0 {
			q.order = append(q.order, j)
		}
	}
	if problem.Intercept && l == logistic {
		q.intercept = true
		q.order = append(q.order, int32(p))
	}
	out.toM = func(beta []float64) []float64 {
		m := q.predictions(beta)
		for i := range m {
			m[i] += shift
		}
		return m
	}
	out.back = func(slope []float64) []float64 {
		v := make([]float64, len(q.z[0]))
		for j := range v {
			for i, c := range slope {
				v[j] += q.z[i][j] * c
			}
		}
		return v
	}
	top := math.Log(model.AlphaMax(fit))
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

// strengths returns α and α₂ of log-strengths.
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
