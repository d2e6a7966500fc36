package pare_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestOneSE checks the one-standard-error rule against values computed from one hold-out per
// fold: every point between the best and the choice is within the limit, to a twentieth of the
// standard error, and a slightly larger λ is not.
func TestOneSE(t *testing.T) {
	x, y := load(t)
	px, py := patients(t)
	ctx := context.Background()
	const folds = 4
	for _, m := range []pare.Model{pare.Lasso, pare.Logistic} {
		if m == pare.Logistic {
			x, y = px, py
		}
		c := pare.Config{Model: m, Tol: 1e-8}
		o := pare.SelectOptions{OneSE: true, Precision: true, Validation: pare.Validation{InOrder: true, Folds: folds}}
		s, err := pare.Select(ctx, x, y, o, c)
		if err != nil {
			t.Fatal(err)
		}
		if s.OneSE == nil || s.OneSE.LogLambda[0] < s.LogLambda[0] {
			t.Fatalf("%s: %+v", m, s.OneSE)
		}
		at := func(l float64) (mean, se float64) {
			var values [folds]float64
			for fold := range folds {
				ids := make([]int, len(y))
				for i := range ids {
					ids[i] = -1
					if i%folds == fold {
						ids[i] = 0
					}
				}
				g, err := pare.Gradient(ctx, x, y, []float64{l}, pare.Validation{Criterion: pare.HoldOut, FoldIDs: ids}, c)
				if err != nil {
					t.Fatal(err)
				}
				values[fold] = g.Value
				mean += g.Value / folds
			}
			for _, v := range values {
				se += (v - mean) * (v - mean) / (folds - 1)
			}
			return mean, math.Sqrt(se / folds)
		}
		best, se := at(s.LogLambda[0])
		if math.Abs(best-s.Value) > 1e-6*best {
			t.Errorf("%s: the best has %g, fold by fold %g", m, s.Value, best)
		}
		for k := range 6 {
			l := s.LogLambda[0] + (s.OneSE.LogLambda[0]-s.LogLambda[0])*float64(k)/5
			if mean, _ := at(l); mean > best+1.05*se {
				t.Errorf("%s: %g at λ = %g, the limit is %g", m, mean, l, best+se)
			}
		}
		if mean, _ := at(s.OneSE.LogLambda[0] + 0.2); mean <= best+0.95*se && s.OneSE.LogLambda[0]+0.2 < s.Final.LogLambdaMax[0] {
			t.Errorf("%s: %g beyond the choice, the limit is %g", m, mean, best+se)
		}
		plain, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: o.Validation, Precision: true}, c)
		if err != nil || plain.OneSE != nil || plain.Value != s.Value || len(plain.Evaluations) != len(s.Evaluations) {
			t.Errorf("%s: unasked %v, %+v", m, err, plain)
		}
	}
}

// TestOneSEWhereThereIsNone checks that the rule gives no choice with a single fold, two λ's, a
// model without αmax, an information criterion or a cancelled context; with three classes it
// gives one.
func TestOneSEWhereThereIsNone(t *testing.T) {
	x, y := patients(t)
	single := make([]int, len(y))
	for i := range single {
		single[i] = -(i % 2)
	}
	for name, c := range map[string]struct {
		validation pare.Validation
		model      pare.Model
	}{
		"a hold-out":    {pare.Validation{InOrder: true, Criterion: pare.HoldOut}, pare.Lasso},
		"one fold":      {pare.Validation{FoldIDs: single}, pare.Lasso},
		"two λ's":       {pare.Validation{InOrder: true}, pare.ElasticNet},
		"a machine":     {pare.Validation{InOrder: true}, pare.SVM},
		"a risk":        {pare.Validation{Criterion: pare.SURE}, pare.Lasso},
		"three classes": {pare.Validation{InOrder: true}, pare.Multiclass},
	} {
		s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{OneSE: true, Validation: c.validation, Evaluations: 6}, pare.Config{Model: c.model})
		if err != nil || (s.OneSE != nil) != (c.model == pare.Multiclass) {
			t.Errorf("%s: %v, %+v", name, err, s.OneSE)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s, err := pare.Select(ctx, x, y, pare.SelectOptions{OneSE: true}, pare.Config{})
	if err != nil || s.Status != outcome.Cancelled || s.OneSE != nil {
		t.Errorf("cancelled: %v, %+v", err, s)
	}
}
