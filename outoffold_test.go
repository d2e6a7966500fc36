package pare_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// TestOutOfFoldIsWhatTheCriterionJudges checks that the loss of the out-of-fold predictions is
// the cross-validation criterion, and that rows which always train have no prediction.
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

// TestOutOfFoldTellsTheFirstFoldThatFails checks that, if several folds fail, the error names
// the first of them, whichever ends first.
func TestOutOfFoldTellsTheFirstFoldThatFails(t *testing.T) {
	x, y, err := diabetes()
	if err != nil {
		t.Fatal(err)
	}
	y, own := slices.Clone(y), make([]int, len(y))
	for i := range own {
		if own[i] = i % 4; i%20 < 9 { // nearly half of all rows, and more than half of the training rows of every fold
			own[i], y[i] = -1, 100
		}
	}
	for range 200 {
		_, err := pare.OutOfFold(t.Context(), x, y, []float64{1}, pare.Validation{FoldIDs: own}, pare.Config{Model: pare.Huber, Threads: 4})
		if err == nil || !strings.Contains(err.Error(), "fold 0") {
			t.Fatal(err)
		}
	}
}

// TestOutOfFoldKnowsItsCriterion checks that an unknown criterion is refused rather than
// treated as one on all rows.
func TestOutOfFoldKnowsItsCriterion(t *testing.T) {
	x, y := load(t)
	_, err := pare.OutOfFold(t.Context(), x, y, []float64{0}, pare.Validation{Criterion: "none"}, pare.Config{})
	if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != outcome.Usage || e.Flag != "criterion" {
		t.Errorf("%v", err)
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

// TestMeasuresOfTheChoice checks that the measures are those of the out-of-fold predictions at
// the choice, computed here by hand.
func TestMeasuresOfTheChoice(t *testing.T) {
	ctx := context.Background()
	for turn, m := range []pare.Model{pare.Lasso, pare.ElasticNet, pare.WeightedLasso, pare.Ridge, pare.Logistic, pare.Poisson, pare.SVM, pare.Multiclass} {
		kind := m
		if m == pare.SVM {
			kind = pare.Logistic
		}
		f := drawFactored(oracle.NewRandom(uint64(turn)), kind, false)
		f.config = pare.Config{Model: m, Tol: 1e-9, Standardize: turn%2 == 0 && m != pare.SVM}
		x := matrixOf(t, f.rows, len(f.factors), false)
		v := pare.Validation{Folds: 3, Split: pare.Stratified}
		s, err := pare.Select(ctx, x, f.y, pare.SelectOptions{Validation: v, Schedule: search.Exact, Measures: true}, f.config)
		if err != nil {
			t.Fatal(m, err)
		}
		held, err := pare.OutOfFold(ctx, x, f.y, s.LogLambda, v, f.config)
		if err != nil {
			t.Fatal(m, err)
		}
		want := map[string]float64{}
		for fold := range 3 {
			sum, count := map[string]float64{}, 0.0
			var pairs, right float64
			for i, score := range held.Scores {
				if held.Fold[i] != fold {
					continue
				}
				count++
				d := score[0] - f.y[i]
				sum["mse"] += d * d
				sum["mae"] += math.Abs(d)
				switch {
				case m == pare.Multiclass:
					best := 0
					for k := range score {
						if score[k] > score[best] {
							best = k
						}
					}
					if held.Classes[best] != f.y[i] {
						sum["misclassification"]++
					}
				case d*f.y[i] < 0 && score[0]*f.y[i] <= 0:
					sum["misclassification"]++
				}
				for j, other := range held.Scores {
					if held.Fold[j] == fold && f.y[i] > f.y[j] {
						pairs++
						switch {
						case score[0] > other[0]:
							right++
						case score[0] == other[0]:
							right += 0.5
						}
					}
				}
			}
			for name, v := range sum {
				want[name] += v / count / 3
			}
			want["auc"] += right / pairs / 3
		}
		names := map[pare.Model][]string{
			pare.Lasso: {"mse", "mae"}, pare.ElasticNet: {"mse", "mae"}, pare.WeightedLasso: {"mse", "mae"}, pare.Ridge: {"mse", "mae"},
			pare.Logistic: {"logistic", "misclassification", "auc"}, pare.SVM: {"smoothed_hinge", "misclassification", "auc"},
			pare.Poisson: {"poisson_deviance"}, pare.Multiclass: {"cross-entropy", "misclassification"},
		}[m]
		if len(s.Measures) != len(names) {
			t.Errorf("%s: %+v, want %v", m, s.Measures, names)
			continue
		}
		for e, err := range pare.Validate(ctx, x, f.y, [][]float64{s.LogLambda}, v, f.config) {
			if want[names[0]] = e.Value; err != nil {
				t.Fatal(m, err)
			}
		}
		for k, name := range names {
			if got := s.Measures[k]; got.Name != name || !(math.Abs(got.Value-want[name]) <= 2e-3*want[name]) {
				t.Errorf("%s: %+v, want %s %g", m, got, name, want[name])
			}
		}
	}
}

// TestChoiceByRanks checks that a criterion without slopes chooses the best of the points of a
// grid, and that methods which use slopes refuse it.
func TestChoiceByRanks(t *testing.T) {
	ctx := context.Background()
	f := drawFactored(oracle.NewRandom(2), pare.Logistic, false)
	f.config.PenaltyFactors, f.config.Weights = nil, nil
	x := matrixOf(t, f.rows, len(f.factors), false)
	for _, c := range []criterion.Criterion{criterion.Misclassification{}, criterion.RankError{}} {
		v := pare.Validation{Loss: c, Split: pare.Stratified}
		s, err := pare.Select(ctx, x, f.y, pare.SelectOptions{Validation: v, Search: pare.Grid, Points: 20, Measures: true}, f.config)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range s.Evaluations {
			if e.Value < s.Value {
				t.Errorf("%s: chosen at %g, %g was seen", c.Name(), s.Value, e.Value)
			}
		}
		for _, m := range s.Measures {
			if m.Name == "auc" {
				m.Value = 1 - m.Value
			}
			if m.Name == c.Name() && math.Abs(m.Value-s.Value) > 0.02 {
				t.Errorf("%s: chosen at %g, reported %g", c.Name(), s.Value, m.Value)
			}
		}
		var refused *outcome.Error
		if _, err := pare.Select(ctx, x, f.y, pare.SelectOptions{Validation: v}, f.config); !errors.As(err, &refused) || refused.Flag != "validation-loss" || refused.Kind != outcome.Usage {
			t.Errorf("%s: auto takes it: %v", c.Name(), err)
		}
		if _, err := pare.Gradient(ctx, x, f.y, []float64{-3}, v, f.config); !errors.As(err, &refused) || refused.Flag != "validation-loss" {
			t.Errorf("%s: a gradient takes it: %v", c.Name(), err)
		}
	}
}
