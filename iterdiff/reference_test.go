package iterdiff_test

import (
	"math"
	"slices"
)

// kind is one of the inner problems of the reference.
type kind int

const (
	squared kind = iota
	logistic
	box // the SVM's dual: columns of z are the samples
)

// reference implements the four algorithms from their definitions: with dense matrices, every gradient computed
// anew, the derivative only in the backward form of the paper, and its misprints on request.
type reference struct {
	loss      kind
	z         [][]float64 // rows × coordinates: X̃, [X 1], or (y⊙X)ᵀ
	y         []float64   // centred for the squared loss
	s         []float64   // row weights
	total     float64     // N
	order     []int32
	step      float64 // PGD; 0: PCD
	intercept bool    // whether the last coordinate is the unpenalised intercept
	shared    int     // number of hyperparameters; 0: one per column
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
	z             []float64 // one entry, or all of them for PGD
	before, after []float64
}

// descend runs epochs and returns β, the steps, and the history of the piece of the prox on which each coordinate
// was.
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

// backward returns Jᵀv by algorithm 2 or 4, in O(np²) per step.
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
