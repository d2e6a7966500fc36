package pare_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// One fit says what fits without each of the rows predict of it: to the second order in 1/n for
// a ridge, whose scores are compared one by one, and on the whole for sparse models, whose
// supports a row may change.
func TestLeaveOneOutIsThatOfFitsWithoutARow(t *testing.T) {
	ctx := context.Background()
	for turn := range uint64(12) {
		m := []pare.Model{pare.Ridge, pare.Lasso, pare.Logistic, pare.ElasticNet, pare.Poisson, pare.WeightedLasso}[turn%6]
		kind := m
		if m == pare.WeightedLasso {
			kind = pare.Lasso
		}
		f := drawFactored(oracle.NewRandom(300+turn), kind, false)
		f.config = pare.Config{Model: m, Tol: 1e-12, NoIntercept: turn >= 6}
		x := matrixOf(t, f.rows, 12, turn%2 == 0)
		lambda, err := pare.LogLambdaMax(x, f.y, f.config)
		if err != nil {
			t.Fatal(m, err)
		}
		for i := range lambda {
			lambda[i] -= 2
		}
		got, err := pare.LeaveOneOut(ctx, x, f.y, lambda, f.config)
		if err != nil {
			t.Fatal(m, err)
		}
		ids := make([]int, len(f.y))
		for i := range ids {
			ids[i] = i
		}
		held, err := pare.OutOfFold(ctx, x, f.y, lambda, pare.Validation{FoldIDs: ids}, f.config)
		if err != nil {
			t.Fatal(m, err)
		}
		for e, err := range pare.Validate(ctx, x, f.y, [][]float64{lambda}, pare.Validation{FoldIDs: ids}, f.config) {
			near := 0.05
			switch m {
			case pare.Ridge:
				near = 2e-3
			case pare.WeightedLasso: // a row moves its support most
				near = 0.15
			}
			if err != nil || math.Abs(got.Value-e.Value) > near*e.Value {
				t.Errorf("turn %d, %s: %g, by fits without a row %g, %v", turn, m, got.Value, e.Value, err)
			}
			if m != pare.Poisson && math.Abs(got.GCV-e.Value) > 0.15*e.Value {
				t.Errorf("turn %d, %s: GCV %g, leave-one-out %g", turn, m, got.GCV, e.Value)
			}
		}
		if !(got.Freedom > 1) || got.Freedom > 14 {
			t.Errorf("turn %d, %s: %g degrees of freedom", turn, m, got.Freedom)
		}
		var off, size float64
		for i, score := range held.Scores {
			off = max(off, math.Abs(score[0]-got.Scores[i]))
			size = max(size, math.Abs(score[0]))
		}
		if m == pare.Ridge && off > 5e-3*size {
			t.Errorf("turn %d: a score is off by %g of %g", turn, off, size)
		}
	}
	var e *outcome.Error
	if _, err := pare.LeaveOneOut(ctx, matrixOf(t, [][]float64{{1}, {2}}, 1, true), []float64{-1, 1}, []float64{0}, pare.Config{Model: pare.SVM}); !errors.As(err, &e) || e.Kind != outcome.Usage {
		t.Errorf("svm: %v", err)
	}
}
