package pare_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare"
)

// The loss of predictions out of fold is the criterion of the folds, and rows that
// always train have no prediction.
func TestOutOfFoldIsWhatTheCriterionJudges(t *testing.T) {
	x, y, err := diabetes()
	if err != nil {
		t.Fatal(err)
	}
	own := make([]int, len(y))
	for i := range own {
		own[i] = i%4 - 1
	}
	for _, v := range []pare.Validation{{InOrder: true}, {Folds: 3, Seed: 2}, {Split: pare.Forward}, {FoldIDs: own}, {InOrder: true, Criterion: pare.HoldOut}} {
		for _, c := range []pare.Config{{}, {Standardize: true, NoIntercept: true}} {
			lambda := []float64{-2}
			held, err := pare.OutOfFold(t.Context(), x, y, lambda, v, c)
			if err != nil {
				t.Fatal(err)
			}
			sum, rows := map[int]float64{}, map[int]float64{}
			for i, fold := range held.Fold {
				if fold < 0 {
					if held.Scores[i] != nil {
						t.Errorf("%+v: row %d trains and is predicted", v, i)
					}
					continue
				}
				d := y[i] - held.Scores[i][0]
				sum[fold] += d * d
				rows[fold]++
			}
			for e, err := range pare.Validate(t.Context(), x, y, [][]float64{lambda}, v, c) {
				if err != nil {
					t.Fatal(err)
				}
				if len(e.FoldValues) != len(sum) {
					t.Fatalf("%+v: %d folds, the criterion has %d", v, len(sum), len(e.FoldValues))
				}
				for fold, want := range e.FoldValues {
					if got := sum[fold] / rows[fold]; math.Abs(got-want) > 1e-4*want {
						t.Errorf("%+v, fold %d: loss %g, the criterion has %g", v, fold, got, want)
					}
				}
			}
		}
	}
}

func TestOutOfFoldStopsWithItsContext(t *testing.T) {
	x, y, err := diabetes()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pare.OutOfFold(ctx, x, y, []float64{-2}, pare.Validation{InOrder: true}, pare.Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
