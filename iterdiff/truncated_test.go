package iterdiff_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/iterdiff"
)

var (
	allMethods = []iterdiff.Method{iterdiff.ForwardPCD, iterdiff.BackwardPCD, iterdiff.ForwardPGD, iterdiff.BackwardPGD}
	allModels  = []struct {
		loss    kind
		penalty string
	}{{squared, "lasso"}, {squared, "enet"}, {squared, "wlasso"}, {logistic, "lasso"}, {logistic, "enet"}, {logistic, "wlasso"}, {box, "svm"}}
)

// differences returns ∂C(β^(K))/∂λ by central differences of the reference with one extrapolation, and whether all
// coordinates stayed on the same side of the corners of g.
func (q *trial) differences(start []float64, epochs int) (gradient []float64, smooth bool) {
	value := func(i int, h float64) (float64, []float64) {
		log := slices.Clone(q.log)
		log[i] += h
		alpha, ridge := q.strengths(log)
		beta, _, history := q.q.descend(start, epochs, alpha, ridge)
		for k := range history { // keep only the piece, not the value
			history[k] = math.Copysign(math.Ceil(math.Abs(history[k])), history[k])
		}
		return q.outer(q.toM(beta), make([]float64, q.n)), history
	}
	const h = 1e-3
	for i := range q.log {
		var d [2]float64
		var seen []float64
		for k, step := range []float64{h, h / 2} {
			up, a := value(i, step)
			down, b := value(i, -step)
			if seen == nil {
				seen = a
			}
			if !slices.Equal(a, b) || !slices.Equal(a, seen) {
				return nil, false
			}
			d[k] = (up - down) / (2 * step)
		}
		gradient = append(gradient, (4*d[1]-d[0])/3)
	}
	return gradient, true
}

// reach scatters the gradient of a result over the hyperparameters, with NaN where there is none.
func (q *trial) reach(got *iterdiff.Result) []float64 {
	if q.q.shared != 0 {
		return got.Gradient
	}
	out := make([]float64, len(q.log))
	for j := range out {
		out[j] = math.NaN()
	}
	for k, j := range got.Support {
		out[j] = got.Gradient[k]
	}
	return out
}

// apart returns the largest difference relative to the largest entry, over the entries where both are numbers.
func apart(got, want []float64) float64 {
	var d, size float64
	for i, g := range got {
		if !math.IsNaN(g) && !math.IsNaN(want[i]) {
			d = max(d, math.Abs(g-want[i]))
		}
		size = max(size, math.Abs(want[i]))
	}
	if d == 0 {
		return 0
	}
	return d / size
}

// TestDerivativeOfTheTruncatedIteration checks that the result after k epochs is the derivative of the k-th
// iterate, for every method and model, from 0 and from other starts: against differences of an independent
// descent, and, up to rounding, against a dense implementation of the backward algorithm.
func TestDerivativeOfTheTruncatedIteration(t *testing.T) {
	for _, m := range allModels {
		for _, method := range allMethods {
			t.Run(fmt.Sprint(m.loss, m.penalty, method), func(t *testing.T) {
				worst, dense, compared := 0.0, 0.0, 0
				for seed := range uint64(8) {
					r := oracle.NewRandom(100*seed + 7)
					q := draw(t, r, fixture.Kernels(t), m.loss, m.penalty, method)
					epochs := 1 + r.Intn(6)
					o := iterdiff.Options{Epochs: epochs}
					start := make([]float64, len(q.q.z[0]))
					if seed%2 == 1 {
						for _, j := range []int32{1, 3} {
							start[j] = 0.02 * float64(j)
							if q.q.loss == box {
								start[j] = math.Min(start[j], math.Exp(q.log[0])*q.q.bound[j]/2)
							}
							if start[j] != 0 && slices.Contains(q.q.order, j) {
								o.Start.Support = append(o.Start.Support, j)
								o.Start.Coef = append(o.Start.Coef, start[j])
							} else {
								start[j] = 0
							}
						}
					}
					got := q.solve(t, o)
					q.q.step = got.Step
					alpha, ridge := q.strengths(q.log)
					beta, steps, _ := q.q.descend(start, epochs, alpha, ridge)
					for k, j := range got.Support {
						if d := math.Abs(got.Coef[k] - beta[j]); d > 1e-11*(1+math.Abs(beta[j])) {
							t.Errorf("seed %d: β_%d is %.15g, want %.15g", seed, j, got.Coef[k], beta[j])
						}
						beta[j] = 0
					}
					if q.q.intercept {
						beta = beta[:len(beta)-1]
					}
					if q.q.loss != box && slices.ContainsFunc(beta, func(b float64) bool { return b != 0 }) {
						t.Errorf("seed %d: coefficients are missing", seed)
					}
					beta, _, _ = q.q.descend(start, epochs, alpha, ridge)
					slope := make([]float64, q.n)
					if value := q.outer(q.toM(beta), slope); math.Abs(value-got.Value) > 1e-11*value {
						t.Errorf("seed %d: criterion %.15g, want %.15g", seed, got.Value, value)
					}
					want := q.q.backward(steps, q.back(slope), alpha, ridge)
					dense = max(dense, apart(q.reach(got), want))
					if want, smooth := q.differences(start, epochs); smooth {
						worst = max(worst, apart(q.reach(got), want))
						compared++
					}
					if got.Epochs != epochs {
						t.Errorf("seed %d: %d epochs, want %d", seed, got.Epochs, epochs)
					}
				}
				if compared < 3 {
					t.Errorf("only %d problems without a corner", compared)
				}
				if worst > 1e-8 || dense > 1e-10 {
					t.Errorf("off by %.1e from differences, by %.1e from the dense reverse sweep", worst, dense)
				}
				t.Logf("%d problems: off by %.1e from differences, by %.1e from the dense reverse sweep", compared, worst, dense)
			})
		}
	}
}
