package cd_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
)

// svmProblem is the problem min ½‖Σβᵢyᵢxᵢ‖² − Σβᵢ over 0 ≤ βᵢ ≤ C·sᵢ, with a slow solver
// as reference.
type svmProblem struct{ *oracle.Problem }

// svmShape draws a problem whose labels follow a noisy linear rule.
func svmShape(r *oracle.Random, shape oracle.Shape) *svmProblem {
	q := r.Problem(shape)
	for i := range q.Y {
		q.Y[i] = math.Copysign(1, q.Y[i])
	}
	q.Y[0], q.Y[1] = 1, -1
	if q.Weights != nil {
		q.Weights[0], q.Weights[1] = 1, 0.5
	}
	return &svmProblem{Problem: q}
}

func (q *svmProblem) fit(t *testing.T, k *kernels.Set, dense bool) *model.SVM {
	t.Helper()
	return fixture.SVM(t, k, q.Problem, dense)
}

// primal returns Σβᵢyᵢxᵢ.
func (q *svmProblem) primal(beta []float64) []float64 {
	_, p := q.Dims()
	w := make([]float64, p)
	for j := range w {
		var s oracle.Sum
		for i, b := range beta {
			s.AddProduct(b*q.Y[i], q.X[i][j])
		}
		w[j] = s.Value()
	}
	return w
}

func (q *svmProblem) margin(i int, w []float64) float64 {
	var s oracle.Sum
	for j, x := range q.X[i] {
		s.AddProduct(q.Y[i]*x, w[j])
	}
	return s.Value()
}

// solve finds β by accelerated projected gradients with restarts, a slow method that is
// unlike that of the solver under test.
func (q *svmProblem) solve(c float64) (beta, w []float64) {
	n, _ := q.Dims()
	gram := make([][]float64, n)
	for i := range gram {
		gram[i] = make([]float64, n)
		for k := range gram[i] {
			var s oracle.Sum
			for j, x := range q.X[i] {
				s.AddProduct(q.Y[i]*x, q.Y[k]*q.X[k][j])
			}
			gram[i][k] = s.Value()
		}
	}
	lipschitz := 1e-300
	for _, v := range oracle.Eigenvalues(gram) {
		lipschitz = math.Max(lipschitz, v)
	}
	step := 1 / (lipschitz * (1 + 1e-9))
	beta = make([]float64, n)
	ahead, next := make([]float64, n), make([]float64, n)
	momentum := 1.0
	for range 20_000 {
		moved, uphill := 0.0, 0.0
		for i, row := range gram {
			g := -1.0
			for k, v := range row {
				g += v * ahead[k]
			}
			next[i] = math.Min(c*q.Weight(i), math.Max(0, ahead[i]-step*g))
			uphill += (ahead[i] - next[i]) * (next[i] - beta[i])
		}
		t := (1 + math.Sqrt(1+4*momentum*momentum)) / 2
		if uphill > 0 {
			t, momentum = 1, 1
		}
		for i := range beta {
			moved = math.Max(moved, math.Abs(next[i]-beta[i]))
			ahead[i] = next[i] + (momentum-1)/t*(next[i]-beta[i])
			beta[i] = next[i]
		}
		momentum = t
		if moved <= 1e-16*c {
			break
		}
	}
	return beta, q.primal(beta)
}

// gap returns the sum of the primal and the dual objective at β, by their definitions.
func (q *svmProblem) gap(c float64, beta []float64) float64 {
	w := q.primal(beta)
	var gap oracle.Sum
	for _, v := range w {
		gap.AddProduct(v, v)
	}
	for i, b := range beta {
		gap.Add(-b)
		if s := q.Weight(i); s > 0 {
			gap.AddProduct(c*s, math.Max(0, 1-q.margin(i, w)))
		}
	}
	return gap.Value()
}

// spread returns β of a solution, for n rows.
func spread(n int, sol *cd.SVMSolution, fit *model.SVM) []float64 {
	beta := make([]float64, n)
	for k, i := range sol.Free {
		beta[i] = sol.Dual[k]
	}
	for _, i := range sol.Bound {
		beta[i] = sol.C * fit.Weight(int(i))
	}
	return beta
}
