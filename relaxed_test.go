package pare_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// TestRelaxedFitsHaveNoSlopeLeft checks that a relaxed fit has the support of the original fit,
// that the loss has no slope left along the columns of the support and the intercept, and that
// its criterion is that of the refitted folds.
func TestRelaxedFitsHaveNoSlopeLeft(t *testing.T) {
	ctx := context.Background()
	for turn := range uint64(8) {
		m := []pare.Model{pare.Lasso, pare.Logistic, pare.Poisson, pare.ElasticNet}[turn%4]
		f := drawFactored(oracle.NewRandom(50+turn), m, false)
		f.config.PenaltyFactors = nil
		x := matrixOf(t, f.rows, 12, turn%2 == 0)
		v := pare.Validation{Folds: 3, Seed: turn}
		s, err := pare.Select(ctx, x, f.y, pare.SelectOptions{Validation: v, Schedule: search.Exact, Relaxed: true}, f.config)
		if err != nil {
			t.Fatal(m, err)
		}
		r := s.Relaxed
		if r == nil || r.Status != outcome.Converged || !slices.Equal(r.Support, s.Final.Support) || r.Model != m || r.LogLambda[0] != s.LogLambda[0] {
			t.Errorf("turn %d, %s: %+v of %+v", turn, m, r, s.Final)
			continue
		}
		slope := make([]float64, 13) // slopes of the loss along the columns of the support, and last along the intercept
		var size float64
		for i, row := range f.rows {
			score := r.Intercept
			for k, j := range r.Support {
				score += r.Coef[k] * row[j]
			}
			d := slopes[m](f.y[i], score)
			if f.config.Weights != nil {
				d *= f.config.Weights[i]
			}
			for _, j := range r.Support {
				slope[j] += d * row[j]
			}
			if !f.config.NoIntercept {
				slope[12] += d
			}
			size += math.Abs(d)
		}
		for j, v := range slope {
			if math.Abs(v) > 1e-7*size {
				t.Errorf("turn %d, %s: a slope of %g is left along column %d", turn, m, v, j)
			}
		}
		if len(r.Support) > 0 && turn < 4 {
			f.relaxedValue(t, m, v, s)
		}
	}
}

// relaxedValue compares the criterion of a relaxed selection with that of each fold refitted on
// its own.
func (f factored) relaxedValue(t *testing.T, m pare.Model, v pare.Validation, s *pare.Selection) {
	t.Helper()
	ctx, x := context.Background(), matrixOf(t, f.rows, 12, false)
	held, err := pare.OutOfFold(ctx, x, f.y, s.LogLambda, v, f.config)
	if err != nil {
		t.Fatal(err)
	}
	weights := f.config.Weights
	if weights == nil {
		weights = repeat(1, len(f.y))
	}
	var value float64
	for fold := range v.Folds {
		c := f.config
		c.Weights = slices.Clone(weights)
		for i := range f.y {
			if held.Fold[i] == fold {
				c.Weights[i] = 0
			}
		}
		fit, err := pare.Fit(ctx, x, f.y, s.LogLambda, c)
		if err != nil {
			t.Fatal(err)
		}
		relaxed, err := pare.Relax(ctx, x, f.y, fit, c)
		if err != nil {
			t.Fatal(err)
		}
		var sum, total float64
		for i, row := range f.rows {
			if held.Fold[i] != fold {
				continue
			}
			score := relaxed.Intercept
			for k, j := range relaxed.Support {
				score += relaxed.Coef[k] * row[j]
			}
			d := score - f.y[i]
			switch m {
			case pare.Logistic:
				sum += weights[i] * math.Log1p(math.Exp(-f.y[i]*score))
			case pare.Poisson:
				d := math.Exp(score) - f.y[i]
				if f.y[i] > 0 {
					d += f.y[i]*math.Log(f.y[i]) - f.y[i]*score
				}
				sum += 2 * weights[i] * d
			default:
				sum += weights[i] * d * d
			}
			total += weights[i]
		}
		value += sum / total / float64(v.Folds)
	}
	if math.Abs(s.RelaxedValue-value) > 1e-5*value {
		t.Errorf("%s: refits of the folds are worth %g, one by one %g", m, s.RelaxedValue, value)
	}
}

func TestRelaxedRefused(t *testing.T) {
	x := matrixOf(t, [][]float64{{1, 0, 2}, {0, 1, -1}, {2, 1, 0}, {1, -1, 1}}, 3, true)
	for _, c := range []pare.Config{{Model: pare.Ridge}, {Model: pare.SVM}, {Model: pare.Multiclass}, {Positive: true}, {Upper: []float64{1, 1, 1}}} {
		var e *outcome.Error
		_, err := pare.Select(context.Background(), x, []float64{1, -1, 1, -1}, pare.SelectOptions{Relaxed: true, Validation: pare.Validation{Folds: 2}}, c)
		if !errors.As(err, &e) || e.Flag != "relaxed" || e.Kind != outcome.Usage {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
