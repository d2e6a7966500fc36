package iterdiff_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/iterdiff"
)

// TestPrintedFormulas checks that where the text of the paper and its theorems differ, differences of the
// truncated iteration confirm the package's version.
func TestPrintedFormulas(t *testing.T) {
	misprints := []struct {
		name     string
		set      func(*reference)
		loss     kind
		penalty  string
		method   iterdiff.Method
		off, far float64 // least error of the printed formula, on every problem and on the worst one
	}{
		{"algorithm 4, h −= γv·∂prox", func(q *reference) { q.printedSign = true }, squared, "lasso", iterdiff.BackwardPCD, 1, 1},
		{"algorithm 4, the Hessian after the update", func(q *reference) { q.hessianAfter = true }, logistic, "lasso", iterdiff.BackwardPCD, 0, 1e-3},
		{"algorithm 2, the Hessian after the update", func(q *reference) { q.hessianAfter = true }, logistic, "lasso", iterdiff.BackwardPGD, 0, 1e-3},
		{"table 3 in PCD, without its step", func(q *reference) { q.unitStep = true }, squared, "lasso", iterdiff.BackwardPCD, 1e-3, 0.1},
		{"table 3 in PGD, without its step", func(q *reference) { q.unitStep = true }, squared, "lasso", iterdiff.BackwardPGD, 0.01, 0.1},
		{"the ridge's derivative, without its step", func(q *reference) { q.unitStep = true }, squared, "enet", iterdiff.BackwardPCD, 1e-3, 0.1},
	}
	for _, m := range misprints {
		t.Run(m.name, func(t *testing.T) {
			var worst float64
			compared := 0
			for seed := range uint64(12) {
				r := oracle.NewRandom(1000 + seed)
				q := draw(t, r, fixture.Kernels(t), m.loss, m.penalty, m.method)
				got := q.solve(t, iterdiff.Options{Epochs: 5})
				q.q.step = got.Step
				start := make([]float64, len(q.q.z[0]))
				want, smooth := q.differences(start, 5)
				if !smooth || len(got.Support) == 0 {
					continue
				}
				compared++
				alpha, ridge := q.strengths(q.log)
				beta, steps, _ := q.q.descend(start, 5, alpha, ridge)
				slope := make([]float64, q.n)
				q.outer(q.toM(beta), slope)
				if d := apart(q.q.backward(steps, q.back(slope), alpha, ridge), want); d > 1e-8 {
					t.Errorf("seed %d: the reference is off by %.1e as corrected", seed, d)
				}
				if d := apart(got.Gradient, want); d > 1e-8 {
					t.Errorf("seed %d: the package is off by %.1e", seed, d)
				}
				m.set(q.q)
				d := apart(q.q.backward(steps, q.back(slope), alpha, ridge), want)
				if d < m.off {
					t.Errorf("seed %d: as printed only off by %.1e", seed, d)
				}
				worst = max(worst, d)
			}
			if compared < 5 || worst < m.far {
				t.Errorf("%d problems, as printed off by at most %.1e", compared, worst)
			}
			t.Logf("%d problems: as printed off by up to %.1e, as corrected by less than 1e-8", compared, worst)
		})
	}
}

// TestPrintedSignOfTheBox checks that the iterates converge to the SVM's J_S = −Q_SS⁻¹Q_{S,S_λ}J_{S_λ}, which the
// paper prints without the minus sign.
func TestPrintedSignOfTheBox(t *testing.T) {
	checked := 0
	for seed := range uint64(20) {
		q := draw(t, oracle.NewRandom(50+seed), fixture.Kernels(t), box, "svm", iterdiff.ForwardPCD)
		got := q.solve(t, iterdiff.Options{Tol: 1e-12})
		want, printed, ok := q.boxGradient(got)
		if !ok || got.Status != "converged" {
			continue
		}
		checked++
		size := math.Abs(want) + math.Abs(printed) // relative to both, because the derivative may be 0
		if d := math.Abs(got.Gradient[0] - want); d > 1e-9*size {
			t.Errorf("seed %d: derivative %.12g, by the dense formula %.12g", seed, got.Gradient[0], want)
		}
		if math.Abs(printed-want) < 1e-3*size {
			t.Errorf("seed %d: the printed sign makes no difference", seed)
		}
	}
	if checked < 4 {
		t.Errorf("%d problems checked", checked)
	}
}

// boxGradient solves the dense system of a converged box, with either sign.
func (q *trial) boxGradient(got *iterdiff.Result) (want, printed float64, ok bool) {
	alpha, _ := q.strengths(q.log)
	beta := make([]float64, q.n)
	var free, bound []int
	for k, i := range got.Support {
		beta[i] = got.Coef[k]
		if d := got.Coef[k]/(alpha[0]*q.q.bound[i]) - 1; d > -1e-13 {
			bound = append(bound, int(i))
		} else {
			free = append(free, int(i))
		}
	}
	slope := make([]float64, q.n)
	q.outer(q.toM(beta), slope)
	v := q.back(slope)
	a := make([][]float64, len(free))
	b := make([]float64, len(free))
	for k, i := range free {
		a[k] = make([]float64, len(free))
		for l, j := range free {
			a[k][l] = q.q.hessian(i, j, beta)
		}
		for _, j := range bound {
			b[k] -= q.q.hessian(i, j, beta) * alpha[0] * q.q.bound[j]
		}
	}
	x, ok := oracle.SolveDense(a, b)
	if !ok || len(free) == 0 || len(bound) == 0 {
		return 0, 0, false
	}
	for _, j := range bound {
		want += v[j] * alpha[0] * q.q.bound[j]
	}
	printed = want
	for k, i := range free {
		want += v[i] * x[k]
		printed -= v[i] * x[k]
	}
	return want, printed, true
}
