package bilevel_test

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// classes returns a random problem of three classes, with the labels in Y.
func classes(r *oracle.Random, n, p int, density float64) *oracle.Problem {
	q := r.Problem(oracle.Shape{N: n, P: p, Density: density})
	for i, row := range q.X {
		score := []float64{row[0] + 0.5*r.Normal(), row[1] + 0.5*r.Normal(), 0.5 * r.Normal()}
		q.Y[i] = float64(slices.Index(score, slices.Max(score))) * 10
	}
	return q
}

func newMulticlass(t *testing.T, q *oracle.Problem, dense bool, spec bilevel.Spec) *bilevel.Multiclass {
	t.Helper()
	k := fixture.Kernels(t)
	spec.Penalty, spec.Intercept = penalties["lasso"], q.Intercept
	m, err := bilevel.NewMulticlass(k, fixture.Matrix(t, q, dense), q.Y, spec)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMulticlassGradientAgainstDifferences checks the gradient with one λ per class against differences of the
// cross-entropy of the oracle's one-versus-rest scores.
func TestMulticlassGradientAgainstDifferences(t *testing.T) {
	checked := 0
	for seed := range oracle.Cases(4) {
		if checked > 0 && oracle.Few() {
			break
		}
		r := oracle.NewRandom(800 + seed)
		q := classes(r, 60, 5, r.Pick(0.6, 1))
		q.Intercept = seed%2 == 0
		folds, err := bilevel.KFold(nil, 60, 2, true, seed)
		if err != nil {
			t.Fatal(err)
		}
		problems, rows := lanes(q, folds)
		type part struct {
			fold, class int
			lambda      float64
		}
		solved := map[part][]float64{} // scores by class and fold: classes whose λ has not moved are requested again
		value := func(lambda []float64) (sum float64) {
			for f, c := range problems {
				scores := make([][]float64, 3)
				for k := range scores {
					at := part{f, k, lambda[k]}
					if scores[k] = solved[at]; scores[k] != nil {
						continue
					}
					one := c.Clone()
					one.Y = make([]float64, len(q.Y))
					for i, label := range q.Y {
						one.Y[i] = map[bool]float64{true: 1, false: -1}[label == float64(10*k)]
					}
					best := one.Uniform(math.Exp(lambda[k])).SolveLogistic()
					zero := &oracle.Problem{X: q.X, Y: make([]float64, len(q.Y)), Alpha: q.Alpha}
					scores[k] = zero.Predictions(best)
					solved[at] = scores[k]
				}
				for _, i := range rows[f] {
					top := max(scores[0][i], scores[1][i], scores[2][i])
					var total float64
					for _, s := range scores {
						total += math.Exp(s[i] - top)
					}
					own := scores[int(q.Y[i]/10)][i]
					sum += (top + math.Log(total) - own) / float64(len(rows[f])*len(problems))
				}
			}
			return sum
		}
		lambda := []float64{-3.2, -3.5, -3.9}
		m := newMulticlass(t, q, seed%2 == 1, bilevel.Spec{Folds: folds, Solver: cd.Options{Tol: 1e-12}})
		got, err := m.Evaluate(context.Background(), search.Request{LogLambda: lambda})
		if err != nil {
			t.Fatal(err)
		}
		want := value(lambda)
		if got.Status != outcome.Converged || !(math.Abs(got.Value-want) <= 1e-8*want) {
			t.Errorf("seed %d: %s, value %.15g, want %.15g", seed, got.Status, got.Value, want)
		}
		for i := range lambda {
			difference := func(h float64) float64 {
				up, down := slices.Clone(lambda), slices.Clone(lambda)
				up[i] += h
				down[i] -= h
				return (value(up) - value(down)) / (2 * h)
			}
			a, b := difference(1e-4), difference(5e-5)
			if math.Abs(a-b) > 1e-7*want {
				continue // the support changes here
			}
			checked++
			if !(math.Abs(got.Gradient[i]-a) <= 1e-6*want) {
				t.Errorf("seed %d: ∂/∂λ%d = %.12g, differences %.12g", seed, i+1, got.Gradient[i], a)
			}
		}
	}
	if checked == 0 {
		t.Error("no case was smooth enough to check")
	}
}

// TestMulticlassRoughSlopes checks that rough slopes, with or without curvature, are close to the exact gradients
// and are marked as uncertified, and that lanes that certify return exact gradients instead.
func TestMulticlassRoughSlopes(t *testing.T) {
	q := classes(oracle.NewRandom(12), 90, 12, 1)
	for _, certify := range []bool{false, true} {
		m := newMulticlass(t, q, true, bilevel.Spec{Folds: slices.Repeat(bilevel.Folds{0, 1, 2}, 30), Solver: cd.Options{Tol: 1e-10}, Certify: certify})
		m.Curvature = true
		exact := search.Request{LogLambda: []float64{-3.2, -3.5, -3.9}}
		rough := exact
		rough.Rough = true
		want, err := m.Evaluate(t.Context(), exact)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Evaluate(t.Context(), rough)
		if err != nil {
			t.Fatal(err)
		}
		if want.Status != outcome.Converged || math.IsInf(want.ErrorBound, 1) || (got.Status == outcome.Converged) != certify || math.IsInf(got.ErrorBound, 1) == certify {
			t.Errorf("certified %t: %s ± %g; exactly %s ± %g", certify, got.Status, got.ErrorBound, want.Status, want.ErrorBound)
		}
		for k, g := range want.Gradient {
			if !(math.Abs(got.Gradient[k]-g) <= 1e-3*math.Abs(g)) {
				t.Errorf("certified %t: ∂/∂λ%d = %g, exactly %g", certify, k+1, got.Gradient[k], g)
			}
		}
		for k, c := range want.Curvature {
			if !(math.Abs(got.Curvature[k]-c) <= 1e-3*math.Abs(want.Curvature[0])) {
				t.Errorf("certified %t: second derivative %d is %g, exactly %g", certify, k, got.Curvature[k], c)
			}
		}
	}
}

// TestMulticlassThreadsChangeNoBit checks that results do not depend on which worker solves which class.
func TestMulticlassThreadsChangeNoBit(t *testing.T) {
	for _, dense := range []bool{true, false} {
		r := oracle.NewRandom(31)
		q := classes(r, 90, 40, 0.7)
		q.Intercept = true
		folds, err := bilevel.KFold(nil, 90, 3, true, 3)
		if err != nil {
			t.Fatal(err)
		}
		var want []bilevel.Report
		for _, threads := range []int{1, 2, 8, 8, 3, math.MaxInt} {
			m := newMulticlass(t, q, dense, bilevel.Spec{Folds: folds, Threads: threads})
			var got []bilevel.Report
			for step := range 4 {
				at := []float64{-3 - 0.5*float64(step), -3.1 - 0.5*float64(step), -3.3 - 0.3*float64(step)}
				report, err := m.Evaluate(context.Background(), search.Request{LogLambda: at})
				if err != nil {
					t.Fatal(err)
				}
				report.Seconds, report.SecondsSolve, report.SecondsGradient = 0, 0, 0
				got = append(got, report)
			}
			if want == nil {
				want = got
			}
			for step := range got {
				if !reflect.DeepEqual(got[step], want[step]) {
					t.Errorf("dense %v, %d threads, step %d: %+v, with one %+v", dense, threads, step, got[step], want[step])
				}
			}
		}
	}
}
