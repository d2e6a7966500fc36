package cd_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestCopiesShareAlike checks that all copies of a column share its coefficient equally,
// up to their signs, however many copies there are and wherever a solve begins. Copies
// may differ on rows of weight 0. Under β ≥ 0 the negative of a column is not a copy.
func TestCopiesShareAlike(t *testing.T) {
	const different = 12
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(seed)
		copies := 1 + r.Intn(60)
		p := different * copies
		q := r.Problem(oracle.Shape{N: 30, P: p, Density: r.Pick(0.3, 1), Mean: r.Pick(0, 1), Weights: seed%3 != 0})
		q.Intercept = seed%2 == 0
		q.Positive = seed%5 == 0
		sign := make([]float64, p)
		for j := range p {
			sign[j] = 1
			if j >= different {
				sign[j] = r.Pick(1, -1)
				for i := range q.X {
					if q.Weights == nil || q.Weights[i] > 0 { // held-out rows differ
						q.X[i][j] = sign[j] * q.X[i][j%different]
					}
				}
			}
		}
		fit := fixture.Squared(t, q, seed%4 == 1)
		solver := cd.New(fit)
		top := q.AlphaMax()
		for step, ratio := range []float64{0.3, 0.01, 0.1} {
			if step == 1 && seed%2 == 1 {
				solver.Start([]int32{int32(different*copies - 1)}, []float64{1})
			}
			c := q.Clone().Uniform(ratio * top)
			c.Positive = q.Positive
			name := fmt.Sprintf("seed %d, %d copies, ratio %g", seed, copies, ratio)
			sol := solve(t, solver, fixture.Penalty(t, c), cd.Options{Tol: 1e-8, Polish: seed%4 == 2})
			certified(t, name, c, sol, 1e-8)
			for k, met := range solver.Correlations(nil) {
				if want := fit.View().Dot(int(sol.Support[k]), sol.State.Weighted); math.Abs(met-want) > 1e-12*top*float64(len(q.X)) {
					t.Fatalf("%s: the correlation of column %d is %g, want %g", name, sol.Support[k], met, want)
				}
			}
			beta := scatter(sol, p)
			for j := range p {
				kind := [2]float64{}
				for i := j % different; i < p; i += different {
					if q.Positive && sign[i] != sign[j] {
						continue
					}
					kind[0], kind[1] = math.Min(kind[0], sign[i]*beta[i]), math.Max(kind[1], sign[i]*beta[i])
				}
				if low, high := kind[0], kind[1]; high > 0 && low < 0 || math.Abs(math.Abs(beta[j])-max(high, -low)) > 1e-14*max(high, -low) {
					t.Fatalf("%s: column %d has %g, its copies are from %g to %g", name, j, beta[j], low, high)
				}
			}
		}
	}
}

// TestCopiesComeBack checks that columns that one penalty treats as copies are solved for
// separately under the next penalty, which does not.
func TestCopiesComeBack(t *testing.T) {
	const different, p = 12, 48
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 30, P: p, Density: r.Pick(0.3, 1)})
		q.Intercept = seed%2 == 0
		for _, row := range q.X {
			for j := different; j < p; j++ {
				row[j] = row[j%different]
			}
		}
		solver := cd.New(fixture.Squared(t, q, false))
		solve(t, solver, fixture.Penalty(t, q.Clone().Uniform(0.5*q.AlphaMax())), cd.Options{})
		q.Uniform(0.05 * q.AlphaMax())
		q.Ridge = 0.1
		certified(t, fmt.Sprintf("seed %d", seed), q, solve(t, solver, fixture.Penalty(t, q), cd.Options{Tol: 1e-8}), 1e-8)
	}
}
