package bilevel_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// TestNullModelOfAHoldOut checks that the null model has the value and the standard error of an evaluation whose
// solution is 0.
func TestNullModelOfAHoldOut(t *testing.T) {
	q := oracle.NewRandom(6).Problem(oracle.Shape{N: 60, P: 5, Density: 1})
	q.Intercept = true
	folds, err := bilevel.HoldOut(nil, 60, 3, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := newProblem(t, q, true, bilevel.Spec{Folds: folds, Penalty: penalties["lasso"]})
	at := evaluate(t, p, search.Request{LogLambda: []float64{10}, ValueOnly: true})
	if null := p.Null(); null.Value != at.Value || null.StandardError != at.StandardError || !(null.StandardError > 0) {
		t.Errorf("%g ± %g, evaluated %g ± %g", null.Value, null.StandardError, at.Value, at.StandardError)
	}
}

// TestIteratesOfAHoldOut checks that iterates have the standard error of the held-out rows, as solutions do.
func TestIteratesOfAHoldOut(t *testing.T) {
	q := oracle.NewRandom(6).Problem(oracle.Shape{N: 60, P: 5, Density: 1})
	folds, err := bilevel.HoldOut(nil, 60, 3, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	r := search.Request{LogLambda: []float64{-3}, Tol: 1e-12}
	want := evaluate(t, newProblem(t, q, true, bilevel.Spec{Folds: folds, Penalty: penalties["lasso"]}), r).StandardError
	for _, method := range []iterdiff.Method{iterdiff.ForwardPCD, iterdiff.BackwardPCD, iterdiff.ForwardPGD, iterdiff.BackwardPGD} {
		got := evaluate(t, newProblem(t, q, true, bilevel.Spec{Folds: folds, Penalty: penalties["lasso"], Iterate: &method}), r).StandardError
		if !(want > 0) || !(math.Abs(got-want) <= 1e-6*want) {
			t.Errorf("method %v: %g, want %g", method, got, want)
		}
	}
}

// TestClassesThatAreHeldOut checks that a class with a single row, or with no row to train on, is refused with the
// reason, whichever class it is.
func TestClassesThatAreHeldOut(t *testing.T) {
	for rows, reason := range map[int]string{1: "its only row", 2: "leaves no row of this class to train on"} {
		for _, class := range []float64{-7, 0.5, 7} {
			q := oracle.NewRandom(6).Problem(oracle.Shape{N: 12, P: 3, Density: 1})
			for i := range q.Y {
				if q.Y[i] = float64(i % 2); i >= 12-rows {
					q.Y[i] = class
				}
			}
			folds := []int{-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0} // the last four are held out
			_, err := bilevel.NewMulticlass(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, bilevel.Spec{Folds: folds, Penalty: penalties["lasso"]})
			if outcome.KindOf(err) != outcome.SingleClass || !strings.Contains(err.Error(), reason) || !strings.Contains(err.Error(), fmt.Sprintf("class %g: ", class)) {
				t.Errorf("%d rows of %g: %v", rows, class, err)
			}
		}
	}
}
