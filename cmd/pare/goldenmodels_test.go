package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
)

// TestGoldenModels checks ridge, β ≥ 0, unpenalised and excluded columns, weights and
// standardised columns against the values computed by testdata/golden/models.py.
func TestGoldenModels(t *testing.T) {
	var weights strings.Builder
	for i := range 442 {
		fmt.Fprintln(&weights, 0.5*float64(1+i%5))
	}
	type row struct {
		Model, Split                              string
		Intercept, Standardize, Positive, Weights bool
		LogLambda                                 []any `json:"log_lambda"`
		Value                                     float64
		Gradient                                  json.RawMessage
	}
	rows := fixture.Golden[row](t, "../../testdata/golden/models.jsonl")
	for _, row := range rows {
		var lambda []string
		for _, l := range row.LogLambda {
			lambda = append(lambda, fmt.Sprint(l))
		}
		args := []string{"grad", "--tol=1e-12", "--shuffle=false", "--model", row.Model, "--log-lambda=" + strings.Join(lambda, ",")}
		if row.Split == "holdout" {
			args = append(args, "--criterion=holdout", "--folds=3")
		}
		for flag, set := range map[string]bool{
			"--intercept=false": !row.Intercept, "--standardize": row.Standardize, "--positive": row.Positive,
			"--sample-weights=" + writeFile(t, "weights", weights.String()): row.Weights,
		} {
			if set {
				args = append(args, flag)
			}
		}
		got := decoded[struct {
			Value    float64
			Gradient json.RawMessage
		}](t, exitOK, args...)
		if !(math.Abs(got.Value/row.Value-1) <= 1e-10) {
			t.Errorf("%v: value %.15g, want %.15g", args, got.Value, row.Value)
		}
		if d := distance(t, got.Gradient, row.Gradient); !(d <= 1e-8) {
			t.Errorf("%v: gradient %s, want %s: relative difference %.1e", args, got.Gradient, row.Gradient, d)
		}
	}
	if len(rows) < 11 {
		t.Errorf("%d rows", len(rows))
	}
}
