package bilevel_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/subject"
	"github.com/seed-45b9a24c/pare/search"
)

// The curvature is that of Gauss and Newton: the softmax's between scores whose
// movements are taken by differences of the oracle's solutions.
func TestCurvatureOfTheClasses(t *testing.T) {
	checked := 0
	for seed := range oracle.Cases(6) {
		r := oracle.NewRandom(840 + seed)
		q := classes(r, 60, 5, 1)
		q.Intercept = seed%2 == 0
		folds, err := bilevel.KFold(60, 2, true, seed)
		if err != nil {
			t.Fatal(err)
		}
		problems, rows := lanes(q, folds)
		lambda := []float64{-3, -3.3, -2.7}
		stable := true
		scores := func(f, k int, l float64) []float64 {
			one := problems[f].Clone()
			one.Y = make([]float64, len(q.Y))
			for i, label := range q.Y {
				one.Y[i] = map[bool]float64{true: 1, false: -1}[label == float64(10*k)]
			}
			best := one.Uniform(math.Exp(l)).SolveLogistic()
			stable = stable && best.Exact
			zero := &oracle.Problem{X: q.X, Y: make([]float64, len(q.Y)), Alpha: q.Alpha}
			return zero.Predictions(best)
		}
		want := make([]float64, 9)
		for f := range problems {
			var at, motion [3][]float64
			for k := range 3 {
				const h = 1e-5
				at[k] = scores(f, k, lambda[k])
				up, down := scores(f, k, lambda[k]+h), scores(f, k, lambda[k]-h)
				for i := range up {
					up[i] = (up[i] - down[i]) / (2 * h)
				}
				motion[k] = up
			}
			for _, i := range rows[f] {
				var total float64
				var share [3]float64
				for k := range 3 {
					share[k] = math.Exp(at[k][i])
					total += share[k]
				}
				for k := range 3 {
					for l := range 3 {
						bend := -share[k] / total * share[l] / total
						if k == l {
							bend += share[k] / total
						}
						want[3*k+l] += bend * motion[k][i] * motion[l][i] / float64(len(rows[f])*len(problems))
					}
				}
			}
		}
		problem, err := bilevel.NewMulticlass(subject.Kernels(t), subject.Matrix(t, q, false), q.Y, bilevel.Spec{
			Folds: folds, Penalty: penalties["lasso"], Intercept: q.Intercept, Solver: cd.Options{Tol: 1e-12},
		})
		if err != nil {
			t.Fatal(err)
		}
		problem.Curvature = true
		report, err := problem.Evaluate(t.Context(), search.Request{LogLambda: lambda})
		if err != nil {
			t.Fatal(err)
		}
		if !stable {
			continue
		}
		checked++
		size := 0.0
		for _, w := range want {
			size = max(size, math.Abs(w))
		}
		for i, w := range want {
			if math.Abs(report.Curvature[i]-w) > 1e-4*size {
				t.Errorf("seed %d, entry %d: %g, want %g", seed, i, report.Curvature[i], w)
			}
		}
	}
	if checked == 0 {
		t.Error("nothing was checked")
	}
}
