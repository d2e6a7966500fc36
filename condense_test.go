package pare_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/sparse"
)

// tallChoices yields choices of so few columns that they are made on condensed rows.
func tallChoices(t *testing.T, check func(t *testing.T, x sparse.Matrix, y []float64, c pare.Config)) {
	for name, c := range map[string]pare.Config{
		"lasso":         {},
		"ridge":         {Model: pare.Ridge},
		"elastic net":   {Model: pare.ElasticNet},
		"no intercept":  {NoIntercept: true},
		"standardised":  {Standardize: true},
		"factors":       {PenaltyFactors: []float64{1, 2, 1, 0.5, 1, 1, 3, 1, 1, 1, 1, 1}},
		"unpenalised":   {PenaltyFactors: []float64{0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1}},
		"not negative":  {Positive: true},
		"mcp":           {Model: pare.MCP, Standardize: true},
		"sparse groups": {Model: pare.SparseGroup, Groups: []int{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			q := oracle.NewRandom(41).Problem(oracle.Shape{N: 500, P: 12, Mean: 5, Correlation: 0.6, Weights: true, Active: 6, Noise: 4})
			c.Weights, c.Tol = q.Weights, 1e-12
			check(t, fixture.Matrix(t, q, true), q.Y, c)
		})
	}
}

// TestTallChoicesAreMadeAsOnX: values of a choice are the mean squared errors of models that are fitted to the rows
// themselves, and so is the model.
func TestTallChoicesAreMadeAsOnX(t *testing.T) {
	tallChoices(t, func(t *testing.T, x sparse.Matrix, y []float64, c pare.Config) {
		for _, v := range []pare.Validation{{}, {Split: pare.Forward}} {
			s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Search: pare.Grid, Points: 8, MinRatio: 1e-5, Validation: v, Measures: true}, c)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range s.Evaluations {
				held, err := pare.OutOfFold(t.Context(), x, y, e.LogLambda, v, c)
				if err != nil {
					t.Fatal(err)
				}
				if want := meanSquaredError(held, y, c.Weights); math.Abs(e.Value-want) > 1e-6*want {
					t.Errorf("at λ = %v %g, want %g", e.LogLambda, e.Value, want)
				}
			}
			if m := s.Measures[0]; math.Abs(m.Value-s.Value) > 1e-6*s.Value {
				t.Errorf("%+v, want %g", m, s.Value)
			}
			one, err := pare.Fit(t.Context(), x, y, s.LogLambda, c)
			if err != nil {
				t.Fatal(err)
			}
			if f := s.Final; !f.Status.OK() || math.Abs(f.Objective-one.Objective) > 1e-9*one.Objective {
				t.Errorf("%+v\nwant %+v", f, one)
			}
		}
	})
}

// meanSquaredError is the mean over folds.
func meanSquaredError(held *pare.HeldOut, y, weights []float64) (mean float64) {
	sum, weight := make([]float64, len(held.Status)), make([]float64, len(held.Status))
	for i, fold := range held.Fold {
		if fold >= 0 {
			d := y[i] - held.Scores[i][0]
			sum[fold] += weights[i] * d * d
			weight[fold] += weights[i]
		}
	}
	for fold := range sum {
		mean += sum[fold] / weight[fold] / float64(len(sum))
	}
	return mean
}

// TestTallChoicesAreTheSameAnywhere: by any number of threads, by lanes elsewhere, and from where a search was cut.
func TestTallChoicesAreTheSameAnywhere(t *testing.T) {
	tallChoices(t, func(t *testing.T, x sparse.Matrix, y []float64, c pare.Config) {
		if c.Model == pare.MCP {
			t.Skip("whose path takes long")
		}
		sameBits(t, x, y, c, 1)
	})
}
