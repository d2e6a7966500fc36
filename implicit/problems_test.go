package implicit_test

import (
	"context"
	"flag"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
)

// oracle.Cases reads this flag.
var _ = flag.Bool("long", false, "ten times as many random problems, and larger ones")

// scalar returns the Lasso or elastic net with the first strength of a problem.
func scalar(t *testing.T, q *oracle.Problem) model.Penalty {
	t.Helper()
	g, err := model.Lasso(math.Log(q.Alpha[0]))
	if q.Ridge > 0 {
		g, err = model.ElasticNet(math.Log(q.Alpha[0]), math.Log(q.Ridge))
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func weighted(t *testing.T, q *oracle.Problem) model.Penalty {
	t.Helper()
	logs := make([]float64, len(q.Alpha))
	for j, a := range q.Alpha {
		logs[j] = math.Log(a)
	}
	g, err := model.WeightedLasso(logs)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// holdOut draws validation rows and sets their weights to 0.
func holdOut(r *oracle.Random, q *oracle.Problem) (rows []int) {
	weights := make([]float64, len(q.Y))
	for i := range weights {
		weights[i] = q.Weight(i)
		if r.Intn(4) == 0 {
			weights[i] = 0
			rows = append(rows, i)
		}
	}
	q.Weights = weights
	if rows == nil {
		weights[0], rows = 0, []int{0}
	}
	return rows
}

// outerOf returns the derivatives of the mean squared error with respect to the predictions of β.
func outerOf(q *oracle.Problem, beta []float64, rows []int) implicit.Outer {
	s := &oracle.Solution{Beta: beta, Intercept: q.BestIntercept(beta)}
	_, slope := q.MeanSquaredError(q.Predictions(s), rows)
	curvature := make([]float64, len(slope))
	for _, i := range rows {
		curvature[i] = 2 / float64(len(rows))
	}
	return implicit.Outer{Slope: slope, Curvature: curvature}
}

// gradientAt differentiates the hold-out error at β.
func gradientAt(t *testing.T, s *implicit.Solver, g model.Penalty, q *oracle.Problem, beta []float64, rows []int, o implicit.Options) *implicit.Hypergradient {
	t.Helper()
	outer := outerOf(q, beta, rows)
	sol := oracle.Solution{Beta: beta}
	cols, coef := sol.Support()
	h, err := s.Solve(context.Background(), g, implicit.Point{Support: cols, Coef: coef, KKT: -1}, outer, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// valueAt returns the hold-out error of the exact solution after shifting all strengths and the ridge.
func valueAt(q *oracle.Problem, start []float64, rows []int, each []float64, ridge float64) float64 {
	c := q.Clone()
	c.Ridge *= math.Exp(ridge)
	for j := range c.Alpha {
		c.Alpha[j] *= math.Exp(each[j])
	}
	value, _ := c.MeanSquaredError(c.Predictions(c.SolveFrom(start)), rows)
	return value
}

func constant(v float64, p int) []float64 {
	out := make([]float64, p)
	for j := range out {
		out[j] = v
	}
	return out
}

// smooth returns a random problem whose support does not change within ±1e-2 in λ.
func smooth(r *oracle.Random) (q *oracle.Problem, best *oracle.Solution, rows []int) {
	for {
		q = r.Problem(oracle.Shape{
			N: 30 + r.Intn(30), P: 3 + r.Intn(20), Density: r.Pick(0.5, 1),
			Correlation: r.Pick(0, 0.5), Mean: r.Pick(0, 2), Weights: r.Intn(2) == 0,
		})
		q.Intercept = r.Intn(2) == 0
		rows = holdOut(r, q)
		q.Uniform(q.AlphaMax() * math.Exp(-1-3*r.Float64()))
		if r.Intn(2) == 0 {
			q.Ridge = math.Exp(-3 * r.Float64())
		}
		// Strengths rounded as e^λ is in the library.
		for j := range q.Alpha {
			q.Alpha[j] = kernels.Exp(math.Log(q.Alpha[j]))
		}
		best = q.Solve()
		out, in := q.Margins(best)
		if best.Exact && out > 0.05 && in > 0.05 {
			return q, best, rows
		}
	}
}
