package bilevel_test

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/search"
)

// TestCurvatureOfTheClasses checks that the curvature is the Gauss–Newton matrix: the Hessian of the softmax
// applied to the derivatives of the scores, which are computed by differences of the oracle's solutions.
func TestCurvatureOfTheClasses(t *testing.T) {
	checked := 0
	for seed := range oracle.Cases(6) {
		r := oracle.NewRandom(840 + seed)
		q := classes(r, 60, 5, 1)
		q.Intercept = seed%2 == 0
		folds, err := bilevel.KFold(nil, 60, 2, true, seed)
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
		problem, err := bilevel.NewMulticlass(fixture.Kernels(t), fixture.Matrix(t, q, false), q.Y, bilevel.Spec{
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
			if !(math.Abs(report.Curvature[i]-w) <= 1e-4*size) {
				t.Errorf("seed %d, entry %d: %g, want %g", seed, i, report.Curvature[i], w)
			}
		}
	}
	if checked == 0 {
		t.Error("nothing was checked")
	}
}

// TestCurvatureOfThePenalty checks that the curvature for the two λ's of the elastic net is the Gauss–Newton
// matrix. The derivatives of the predictions are obtained as hypergradients of criteria that consist of a single
// prediction. For a caller's criterion no curvature is reported.
func TestCurvatureOfThePenalty(t *testing.T) {
	r := oracle.NewRandom(77)
	q := r.Problem(oracle.Shape{N: 40, P: 8, Density: 0.7})
	folds, err := bilevel.KFold(nil, 40, 5, true, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, intercept := range []bool{false, true} {
		evaluate := func(folds bilevel.Folds, c criterion.Criterion) []float64 {
			problem, err := bilevel.New(fixture.Kernels(t), fixture.Matrix(t, q, false), q.Y, bilevel.Spec{
				Folds: folds, Penalty: penalties["enet"], Criterion: c, Intercept: intercept, Solver: cd.Options{Tol: 1e-14},
			})
			if err != nil {
				t.Fatal(err)
			}
			problem.Curvature = true
			report, err := problem.Evaluate(t.Context(), search.Request{LogLambda: []float64{-3, -2}})
			if err != nil {
				t.Fatal(err)
			}
			if c == nil {
				return report.Curvature
			}
			if report.Curvature != nil {
				t.Errorf("a curvature of a loss that has none to tell: %v", report.Curvature)
			}
			return report.Gradient
		}
		want := make([]float64, 4)
		for fold := range 5 {
			held := slices.Clone(folds)
			for i, id := range folds {
				held[i] = bilevel.AlwaysTrain
				if id == fold {
					held[i] = 0
				}
			}
			for row := range 8 {
				j := evaluate(held, criterion.Func("one prediction", func(_, m, slope []float64) float64 {
					if slope != nil {
						slope[row] = 1
					}
					return m[row]
				}))
				for a := range 2 {
					for b := range 2 {
						want[2*a+b] += 2.0 / 8 / 5 * j[a] * j[b]
					}
				}
			}
		}
		for i, h := range evaluate(folds, nil) {
			// A curvature has half as many correct digits as a gradient: 1e-9 at this gap.
			if !(math.Abs(h-want[i]) <= 1e-4*want[0]) {
				t.Errorf("intercept %v, entry %d: %g, want %g", intercept, i, h, want[i])
			}
		}
	}
}

// TestCurvatureIsOnlyThereWhereItIsAskedFor checks that curvature is reported only if asked for, and only together
// with a gradient.
func TestCurvatureIsOnlyThereWhereItIsAskedFor(t *testing.T) {
	q := classes(oracle.NewRandom(4), 60, 5, 1)
	folds, err := bilevel.KFold(nil, 60, 2, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, asked := range []bool{false, true} {
		m := newMulticlass(t, q, true, bilevel.Spec{Folds: folds})
		m.Curvature = asked
		for _, valueOnly := range []bool{false, true} {
			report, err := m.Evaluate(t.Context(), search.Request{LogLambda: []float64{-3, -3, -3}, ValueOnly: valueOnly})
			if err != nil {
				t.Fatal(err)
			}
			if there := report.Curvature != nil; there != (asked && !valueOnly) {
				t.Errorf("asked for %t, value only %t: curvature %v", asked, valueOnly, report.Curvature)
			}
		}
	}
}

// turns counts the turns that are taken and left.
type turns struct{ taken, left atomic.Int64 }

func (t *turns) Enter(context.Context) error { t.taken.Add(1); return nil }
func (t *turns) TryEnter() bool              { return false }
func (t *turns) Wanted() bool                { return false }
func (t *turns) Leave()                      { t.left.Add(1) }

// TestCurvatureOfTheClassesTakesTurns checks that the computation of the curvature takes one turn for each of its
// rows.
func TestCurvatureOfTheClassesTakesTurns(t *testing.T) {
	q := classes(oracle.NewRandom(4), 60, 5, 1)
	folds, err := bilevel.KFold(nil, 60, 2, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	taken := func(curvature bool) int64 {
		var all turns
		m := newMulticlass(t, q, true, bilevel.Spec{Folds: folds, Threads: 2, Among: team.NewThreads(2, &all)})
		m.Curvature = curvature
		before := all.taken.Load()
		if _, err := m.Evaluate(t.Context(), search.Request{LogLambda: []float64{-3, -3, -3}}); err != nil {
			t.Fatal(err)
		}
		if all.left.Load() != all.taken.Load() {
			t.Errorf("%d turns are taken, and %d left", all.taken.Load(), all.left.Load())
		}
		return all.taken.Load() - before
	}
	if more := taken(true) - taken(false); more != 3 {
		t.Errorf("the curvature of three classes takes %d turns", more)
	}
}
