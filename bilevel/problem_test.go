package bilevel_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// oracle.Cases reads this flag.
var _ = flag.Bool("long", false, "ten times as many random problems, and larger ones")

// penalties maps the names of penalties to their constructors.
var penalties = map[string]func([]float64) (model.Penalty, error){
	"lasso":  lasso,
	"enet":   func(l []float64) (model.Penalty, error) { return model.ElasticNet(l[0], l[1]) },
	"wlasso": model.WeightedLasso,
}

func newProblem(t *testing.T, q *oracle.Problem, dense bool, spec bilevel.Spec) *bilevel.Problem {
	t.Helper()
	k := fixture.Kernels(t)
	spec.Intercept = q.Intercept
	problem, err := bilevel.New(k, fixture.Matrix(t, q, dense), q.Y, spec)
	if err != nil {
		t.Fatal(err)
	}
	return problem
}

func evaluate(t *testing.T, p *bilevel.Problem, r search.Request) bilevel.Report {
	t.Helper()
	report, err := p.Evaluate(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// lanes returns the oracle's inner problems, one per fold, and their validation rows.
func lanes(q *oracle.Problem, folds bilevel.Folds) (problems []*oracle.Problem, rows [][]int) {
	for fold := range folds.Count(nil) {
		c := q.Clone()
		c.Weights = make([]float64, len(q.Y))
		var held []int
		for i, id := range folds {
			switch id {
			case fold:
				held = append(held, i)
			case bilevel.TestOnly:
			default:
				c.Weights[i] = 1
			}
		}
		problems, rows = append(problems, c), append(rows, held)
	}
	return problems, rows
}

// outer returns the oracle's criterion at λ, the mean over folds, and its gradient.
func outer(t *testing.T, q *oracle.Problem, folds bilevel.Folds, kind string, lambda []float64) (value float64, gradient []float64) {
	t.Helper()
	problems, rows := lanes(q, folds)
	gradient = make([]float64, len(lambda))
	for f, c := range problems {
		for j := range c.Alpha {
			c.Alpha[j] = math.Exp(lambda[j%len(lambda)])
			if kind == "enet" {
				c.Alpha[j], c.Ridge = math.Exp(lambda[0]), math.Exp(lambda[1])
			}
		}
		best := c.Solve()
		v, slope := c.MeanSquaredError(c.Predictions(best), rows[f])
		common, ridge, each, ok := c.Hypergradient(best.Beta, slope)
		if !ok {
			t.Fatal("singular")
		}
		share := 1 / float64(len(problems))
		value += share * v
		switch kind {
		case "lasso":
			gradient[0] += share * common
		case "enet":
			gradient[0] += share * common
			gradient[1] += share * ridge
		default:
			for j := range each {
				gradient[j] += share * each[j]
			}
		}
	}
	return value, gradient
}

// draw returns a random bilevel problem and a λ for a kind of penalty.
func draw(r *oracle.Random, kind string) (q *oracle.Problem, folds bilevel.Folds, lambda []float64) {
	q = r.Problem(oracle.Shape{N: 40 + r.Intn(20), P: 5 + r.Intn(15), Density: r.Pick(0.4, 1), Mean: r.Pick(0, 2), Correlation: r.Pick(0, 0.5)})
	q.Intercept = r.Intn(2) == 0
	n, p := q.Dims()
	folds = make(bilevel.Folds, n)
	k := 2 + r.Intn(4)
	for i := range folds {
		switch {
		case i < k:
			folds[i] = i // so that no fold is empty
		default:
			folds[i] = []int{bilevel.TestOnly, bilevel.AlwaysTrain, r.Intn(k), r.Intn(k), r.Intn(k)}[r.Intn(5)]
		}
	}
	top := math.Log(q.AlphaMax())
	lambda = []float64{top - 1 - 2*r.Float64()}
	switch kind {
	case "enet":
		lambda = append(lambda, top-2*r.Float64())
	case "wlasso":
		for range p - 1 {
			lambda = append(lambda, top-1-2*r.Float64())
		}
	}
	return q, folds, lambda
}

// TestValueAndGradientAgainstTheOracle checks values and gradients for random folds, with rows that always train
// and rows that never do, for every penalty and for dense and sparse storage.
func TestValueAndGradientAgainstTheOracle(t *testing.T) {
	for seed := range oracle.Cases(30) {
		for kind, penalty := range penalties {
			r := oracle.NewRandom(seed)
			q, folds, lambda := draw(r, kind)
			problem := newProblem(t, q, seed%2 == 0, bilevel.Spec{Folds: folds, Penalty: penalty, Solver: cd.Options{Tol: 1e-12}})
			got := evaluate(t, problem, search.Request{LogLambda: lambda})
			name := fmt.Sprintf("seed %d, %s", seed, kind)
			if got.Status != outcome.Converged && got.Status != outcome.Flat {
				t.Errorf("%s: %s", name, got.Status)
			}
			value, gradient := outer(t, q, folds, kind, lambda)
			if !(math.Abs(got.Value-value) <= 1e-9*value) {
				t.Errorf("%s: value %.15g, want %.15g", name, got.Value, value)
			}
			size := 1e-3 * value
			for _, g := range gradient {
				size = math.Max(size, math.Abs(g))
			}
			for i, g := range gradient {
				if !(math.Abs(got.Gradient[i]-g) <= 1e-7*size) {
					t.Errorf("%s: ∂/∂λ%d = %.12g, want %.12g", name, i+1, got.Gradient[i], g)
				}
			}
			var mean float64
			for _, v := range got.FoldValues {
				mean += v / float64(len(got.FoldValues))
			}
			if len(got.FoldValues) != folds.Count(nil) || !(math.Abs(mean-got.Value) <= 1e-14*value) {
				t.Errorf("%s: fold values %v of mean %g, value %g", name, got.FoldValues, mean, got.Value)
			}
		}
	}
}

// TestInterceptIsAnUnpenalisedColumn checks that an intercept gives the value and the gradient of the oracle for a
// column of ones whose strength is 0.
func TestInterceptIsAnUnpenalisedColumn(t *testing.T) {
	for seed := range oracle.Cases(20) {
		for _, kind := range []string{"lasso", "wlasso"} {
			r := oracle.NewRandom(700 + seed)
			q, folds, lambda := draw(r, kind)
			q.Intercept = true
			problem := newProblem(t, q, seed%2 == 0, bilevel.Spec{Folds: folds, Penalty: penalties[kind], Solver: cd.Options{Tol: 1e-12}})
			got := evaluate(t, problem, search.Request{LogLambda: lambda})
			ones := &oracle.Problem{Y: q.Y}
			for _, row := range q.X {
				ones.X = append(ones.X, append(slices.Clone(row), 1))
			}
			for j := range q.Alpha {
				ones.Alpha = append(ones.Alpha, math.Exp(lambda[j%len(lambda)]))
			}
			ones.Alpha = append(ones.Alpha, 0)
			var value float64
			gradient := make([]float64, len(lambda))
			problems, rows := lanes(ones, folds)
			for f, c := range problems {
				best := c.Solve()
				v, slope := c.MeanSquaredError(c.Predictions(best), rows[f])
				common, _, each, ok := c.Hypergradient(best.Beta, slope)
				if !ok {
					t.Fatal("singular")
				}
				value += v / float64(len(problems))
				for i := range gradient {
					if kind == "lasso" {
						gradient[i] += common / float64(len(problems))
					} else {
						gradient[i] += each[i] / float64(len(problems))
					}
				}
			}
			size := 1e-3 * value
			for _, g := range gradient {
				size = math.Max(size, math.Abs(g))
			}
			if !(math.Abs(got.Value-value) <= 1e-9*value) {
				t.Errorf("seed %d, %s: value %.15g, with a column of ones %.15g", seed, kind, got.Value, value)
			}
			for i, g := range gradient {
				if !(math.Abs(got.Gradient[i]-g) <= 1e-7*size) {
					t.Errorf("seed %d, %s: ∂/∂λ%d = %.12g, with a column of ones %.12g", seed, kind, i+1, got.Gradient[i], g)
				}
			}
		}
	}
}

// TestLogisticGradientAgainstDifferences checks the gradient of sparse logistic regression with the logistic loss
// as the criterion against differences of the oracle's values.
func TestLogisticGradientAgainstDifferences(t *testing.T) {
	checked := 0
	for seed := range oracle.Cases(8) {
		if checked > 0 && oracle.Few() {
			break
		}
		r := oracle.NewRandom(500 + seed)
		q := r.Problem(oracle.Shape{N: 60, P: 4 + r.Intn(8), Mean: r.Pick(0, 1), Density: r.Pick(0.5, 1)}).Classes(r)
		q.Intercept = seed%2 == 0
		folds, err := bilevel.KFold(nil, 60, 2, true, seed)
		if err != nil {
			t.Fatal(err)
		}
		kind := []string{"lasso", "enet"}[seed/2%2]
		lambda := []float64{math.Log(q.LogisticAlphaMax()) - 1.5}
		if kind == "enet" {
			lambda = append(lambda, lambda[0]-1)
		}
		stable := true
		value := func(lambda []float64) float64 {
			var sum float64
			problems, rows := lanes(q, folds)
			for f, c := range problems {
				c.Uniform(math.Exp(lambda[0]))
				if kind == "enet" {
					c.Ridge = math.Exp(lambda[1])
				}
				best := c.SolveLogistic()
				stable = stable && best.Exact
				sum += c.MeanLogistic(best, rows[f]) / float64(len(problems))
			}
			return sum
		}
		problem := newProblem(t, q, seed%3 == 0, bilevel.Spec{
			Folds: folds, Penalty: penalties[kind], Criterion: criterion.Of(loss.Logistic{}), Solver: cd.Options{Tol: 1e-12},
			Datafit: func(view *sparse.View, y []float64) (model.Datafit, error) { return model.NewLogistic(view, y) },
		})
		got := evaluate(t, problem, search.Request{LogLambda: lambda})
		want := value(lambda)
		if got.Status != outcome.Converged || !(math.Abs(got.Value-want) <= 1e-9*want) {
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
			if !stable || math.Abs(a-b) > 1e-7*want {
				continue // the support changes here, or the oracle is not certain
			}
			checked++
			if !(math.Abs(got.Gradient[i]-a) <= 1e-6*math.Abs(a)+1e-7*want) {
				t.Errorf("seed %d, %s: ∂/∂λ%d = %.12g, differences %.12g", seed, kind, i+1, got.Gradient[i], a)
			}
		}
	}
	if checked == 0 {
		t.Error("no case was smooth enough to check")
	}
}

// TestNullValue checks that the null value is the criterion of predicting the mean of the training rows, or 0.
func TestNullValue(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q, folds, _ := draw(r, "lasso")
		problem := newProblem(t, q, true, bilevel.Spec{Folds: folds, Penalty: penalties["lasso"]})
		var want float64
		problems, rows := lanes(q, folds)
		for f, c := range problems {
			zero := make([]float64, len(q.Alpha))
			s := &oracle.Solution{Beta: zero, Intercept: c.BestIntercept(zero)}
			v, _ := c.MeanSquaredError(c.Predictions(s), rows[f])
			want += v / float64(len(problems))
		}
		if !(math.Abs(problem.NullValue()-want) <= 1e-13*want) {
			t.Errorf("seed %d: %.15g, want %.15g", seed, problem.NullValue(), want)
		}
		// Above αmax of every fold the value is the null value, and the gradient is 0.
		got := evaluate(t, problem, search.Request{LogLambda: []float64{math.Log(q.AlphaMax()) + 3}})
		if got.Status != outcome.Flat || !got.Flat || !got.Trusted || got.Gradient[0] != 0 || !(math.Abs(got.Value-want) <= 1e-13*want) {
			t.Errorf("seed %d above αmax: %+v", seed, got)
		}
	}
}

// TestThreadsChangeNoBit checks that the number of threads changes no bit of cold and warm evaluations.
func TestThreadsChangeNoBit(t *testing.T) {
	for kind, penalty := range penalties {
		r := oracle.NewRandom(5)
		q, _, lambda := draw(r, kind)
		folds, err := bilevel.KFold(nil, len(q.Y), 7, true, 3)
		if err != nil {
			t.Fatal(err)
		}
		var want []bilevel.Report
		for _, threads := range []int{1, 2, 8, 0} {
			problem := newProblem(t, q, false, bilevel.Spec{Folds: folds, Penalty: penalty, Threads: threads})
			var got []bilevel.Report
			for step := range 4 {
				at := slices.Clone(lambda)
				for i := range at {
					at[i] -= 0.4 * float64(step)
				}
				report := evaluate(t, problem, search.Request{LogLambda: at})
				report.Seconds, report.SecondsSolve, report.SecondsGradient = 0, 0, 0
				got = append(got, report)
			}
			if want == nil {
				want = got
			}
			for step := range got {
				if !reflect.DeepEqual(got[step], want[step]) {
					t.Errorf("%s, %d threads, step %d: %+v, with one %+v", kind, threads, step, got[step], want[step])
				}
			}
		}
	}
}

// TestWarmAndColdAgree checks that results of warm and cold starts differ by no more than the tolerance allows.
func TestWarmAndColdAgree(t *testing.T) {
	for kind, penalty := range penalties {
		for seed := range oracle.Cases(5) {
			r := oracle.NewRandom(seed)
			q, folds, lambda := draw(r, kind)
			spec := bilevel.Spec{Folds: folds, Penalty: penalty, Solver: cd.Options{Tol: 1e-12}}
			warm := newProblem(t, q, true, spec)
			for step := range 4 {
				at := slices.Clone(lambda)
				for i := range at {
					at[i] += []float64{1, -2, 0.3, -1}[step]
				}
				a := evaluate(t, warm, search.Request{LogLambda: at})
				b := evaluate(t, newProblem(t, q, true, spec), search.Request{LogLambda: at})
				if !(math.Abs(a.Value-b.Value) <= 1e-9*b.Value) {
					t.Errorf("%s, seed %d, step %d: value %.15g warm, %.15g cold", kind, seed, step, a.Value, b.Value)
				}
				for i := range b.Gradient {
					if !(math.Abs(a.Gradient[i]-b.Gradient[i]) <= 1e-6*(math.Abs(b.Gradient[i])+1e-3*b.Value)) {
						t.Errorf("%s, seed %d, step %d: ∂/∂λ%d = %.12g warm, %.12g cold", kind, seed, step, i+1, a.Gradient[i], b.Gradient[i])
					}
				}
			}
		}
	}
}
