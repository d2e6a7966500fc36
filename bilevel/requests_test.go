package bilevel_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// TestTestRowsAreAbsent checks that the contents of the rows of fold −2 change no bit of values and gradients.
func TestTestRowsAreAbsent(t *testing.T) {
	for kind, penalty := range penalties {
		for _, dense := range []bool{true, false} {
			r := oracle.NewRandom(9)
			q, folds, lambda := draw(r, kind)
			spec := bilevel.Spec{Folds: folds, Penalty: penalty}
			a := newProblem(t, q, dense, spec)
			other := q.Clone()
			other.X, other.Y = slices.Clone(q.X), slices.Clone(q.Y)
			changed := 0
			for i, id := range folds {
				if id != bilevel.TestOnly {
					continue
				}
				changed++
				other.X[i] = slices.Clone(q.X[i])
				for j := range other.X[i] {
					if other.X[i][j] != 0 {
						other.X[i][j] *= 100 // the pattern of stored entries stays the same
					}
				}
				other.Y[i] *= -50
			}
			b := newProblem(t, other, dense, spec)
			x, y := evaluate(t, a, search.Request{LogLambda: lambda}), evaluate(t, b, search.Request{LogLambda: lambda})
			if changed == 0 || x.Value != y.Value || !slices.Equal(x.Gradient, y.Gradient) || a.NullValue() != b.NullValue() {
				t.Errorf("%s, dense %v: %.17g %v, with %d other test rows %.17g %v", kind, dense, x.Value, x.Gradient, changed, y.Value, y.Gradient)
			}
		}
	}
}

// TestValueOnly checks that a request without a gradient returns the same value.
func TestValueOnly(t *testing.T) {
	r := oracle.NewRandom(2)
	q, folds, lambda := draw(r, "enet")
	spec := bilevel.Spec{Folds: folds, Penalty: penalties["enet"]}
	a := evaluate(t, newProblem(t, q, true, spec), search.Request{LogLambda: lambda})
	b := evaluate(t, newProblem(t, q, true, spec), search.Request{LogLambda: lambda, ValueOnly: true})
	if a.Value != b.Value || b.Gradient != nil || b.Flat {
		t.Errorf("value %.17g, alone %.17g, %+v", a.Value, b.Value, b)
	}
}

// TestToleranceOfARequest checks that the tolerance of a request overrides that of the problem.
func TestToleranceOfARequest(t *testing.T) {
	r := oracle.NewRandom(2)
	q, folds, lambda := draw(r, "lasso")
	problem := newProblem(t, q, true, bilevel.Spec{Folds: folds, Penalty: penalties["lasso"], Solver: cd.Options{Tol: 1e-2}})
	if got := evaluate(t, problem, search.Request{LogLambda: lambda}); got.RelativeGap > 1e-2 || got.Tol != got.RelativeGap {
		t.Errorf("gap %g", got.RelativeGap)
	}
	if got := evaluate(t, problem, search.Request{LogLambda: lambda, Tol: 1e-11}); got.RelativeGap > 1e-11 {
		t.Errorf("gap %g", got.RelativeGap)
	}
}

// TestMissedTolerancesAreSaid checks that a result that misses its tolerance is returned, but as not converged and
// not trusted.
func TestMissedTolerancesAreSaid(t *testing.T) {
	r := oracle.NewRandom(2)
	q := r.Problem(oracle.Shape{N: 60, P: 50, Correlation: 0.95})
	folds, err := bilevel.KFold(nil, 60, 3, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	lambda := []float64{math.Log(q.AlphaMax()) - 7}
	problem := newProblem(t, q, true, bilevel.Spec{Folds: folds, Penalty: penalties["lasso"], Solver: cd.Options{Tol: 1e-13, MaxEpochs: 1}})
	got := evaluate(t, problem, search.Request{LogLambda: lambda})
	if got.Status != outcome.NotConverged || got.Trusted || !(got.RelativeGap > 1e-13) || math.IsNaN(got.Value) {
		t.Errorf("%+v", got)
	}
}

func TestCancelledEvaluations(t *testing.T) {
	r := oracle.NewRandom(2)
	q, folds, lambda := draw(r, "lasso")
	problem := newProblem(t, q, true, bilevel.Spec{Folds: folds, Penalty: penalties["lasso"]})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := problem.Evaluate(ctx, search.Request{LogLambda: lambda}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	before := runtime.NumGoroutine()
	got := evaluate(t, problem, search.Request{LogLambda: lambda, Tol: 1e-12})
	if value, _ := outer(t, q, folds, "lasso", lambda); !(math.Abs(got.Value-value) <= 1e-9*value) {
		t.Errorf("after it: %g, want %g", got.Value, value)
	}
	oracle.GoroutinesEnd(t, before)
}
