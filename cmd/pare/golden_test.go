package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
)

// golden is a value and hypergradient that were computed independently of this project, as
// testdata/golden/README.md describes.
type golden struct {
	Data      string          `json:"data"`
	Model     string          `json:"model"`
	Split     string          `json:"split"`
	Folds     int             `json:"folds"`
	Mod       int             `json:"mod"`
	Ratio     []float64       `json:"ratio"`
	AlphaMax  json.RawMessage `json:"alpha_max"`
	LogLambda json.RawMessage `json:"log_lambda"`
	Value     float64         `json:"value"`
	Gradient  json.RawMessage `json:"gradient"`
}

func TestGoldenRowsOnTheEmbeddedData(t *testing.T) {
	if n := checkGolden(t, "../../testdata/golden/diabetes.jsonl", func(string) []string { return nil }); n < 4 {
		t.Errorf("%d rows", n)
	}
}

// TestMethodsAgree checks that every method gives the golden values, to the accuracy of its
// inner solver.
func TestMethodsAgree(t *testing.T) {
	type result struct {
		Value      float64
		Gradient   json.RawMessage
		Status     string
		ErrorBound *float64 `json:"error_bound"`
	}
	for _, model := range []string{"lasso --ratio=0.1", "enet --ratio=0.1,0.01", "wlasso --ratio=0.1", "ridge --ratio=0.1", "enet --positive --ratio=0.1,0.01", "wlasso --log-lambda=-inf,-1,-1,-1,inf,-1,-1,-1,-1,-1"} {
		args := append([]string{"grad", "--folds=3", "--tol=1e-10", "--model"}, strings.Fields(model)...)
		want := decoded[result](t, exitOK, args...)
		for _, method := range []string{"forward", "backward", "forward --solver=cd", "backward --solver=cd"} {
			got := decoded[result](t, exitOK, append(append(args, "--method"), strings.Fields(method)...)...)
			if got.Status != "converged" || math.Abs(got.Value/want.Value-1) > 1e-7 || got.ErrorBound == nil {
				t.Errorf("%s, %s: %+v, implicit %+v", model, method, got, want)
			}
			if d := distance(t, got.Gradient, want.Gradient); !(d <= 1e-5) {
				t.Errorf("%s, %s: gradient %s, implicit %s: relative difference %.1e", model, method, got.Gradient, want.Gradient, d)
			}
		}
	}
}

func TestGoldenRowsOnSharedData(t *testing.T) {
	const shared = "../../../shared"
	if testing.Short() {
		t.Skip("short: the embedded rows are tested all the same")
	}
	checkGolden(t, shared+"/golden/hypergradients.jsonl", func(data string) []string {
		return []string{filepath.Join(shared, "data", data+".svm.gz")}
	})
}

// checkGolden compares pare grad with the rows of a file, and returns how many rows could be
// compared.
func checkGolden(t *testing.T, path string, arguments func(data string) []string) int {
	t.Helper()
	compared := 0
	for _, row := range fixture.Golden[golden](t, path) {
		switch row.Model {
		case "lasso", "enet", "wlasso", "logreg", "multiclass", "svm":
			compared++
			t.Run(row.Data+"/"+row.Model+"/"+row.Split, func(t *testing.T) { row.check(t, arguments(row.Data)) })
		}
	}
	return compared
}

// check compares value and gradient, over all columns, with the output of pare grad.
func (row golden) check(t *testing.T, file []string) {
	args := append([]string{"grad"}, file...)
	args = append(args, "--model", row.Model, "--tol", "1e-12", "--intercept=false", "--shuffle=false")
	if row.Split == "cv" {
		args = append(args, "--criterion", "cv", "--folds", strconv.Itoa(row.Folds))
	} else {
		args = append(args, "--criterion", "holdout", "--folds", strconv.Itoa(max(row.Mod, 3)))
	}
	if row.Model == "wlasso" {
		args = append(args, "--log-lambda", "@"+row.strengths(t, file))
	} else {
		var logLambda []float64
		unmarshal(t, row.LogLambda, &logLambda)
		args = append(args, "--log-lambda", listAll(logLambda))
	}

	got := decoded[struct {
		Value    float64
		Status   string
		Gradient json.RawMessage
	}](t, exitOK, args...)
	if got.Status != "converged" {
		t.Errorf("status %s", got.Status)
	}
	if d := math.Abs(got.Value/row.Value - 1); !(d <= 1e-9) {
		t.Errorf("value %.15g, want %.15g: relative difference %.1e", got.Value, row.Value, d)
	}
	if d := distance(t, got.Gradient, row.Gradient); !(d <= 1e-7) {
		t.Errorf("gradient: relative difference %.1e", d)
	}
}

// distance returns the l2 distance of two gradients relative to the second.
func distance(t *testing.T, got, want json.RawMessage) float64 {
	t.Helper()
	a, b := dense(t, got), dense(t, want)
	var size, distance float64
	for j, v := range b {
		size += v * v
		distance += (a[j] - v) * (a[j] - v)
		delete(a, j)
	}
	for _, v := range a { // entries that should be 0
		distance += v * v
	}
	return math.Sqrt(distance / size)
}

// dense reads a gradient, which is a list or a sparse vector.
func dense(t *testing.T, text json.RawMessage) map[int32]float64 {
	t.Helper()
	out := map[int32]float64{}
	if text[0] == '{' {
		var g sparseVector
		unmarshal(t, text, &g)
		for k, j := range g.Index {
			out[j] = float64(g.Value[k])
		}
		return out
	}
	var g []float64
	unmarshal(t, text, &g)
	for j, v := range g {
		out[int32(j)] = v
	}
	return out
}

// strengths writes the λ of every column to a file.
func (row golden) strengths(t *testing.T, file []string) string {
	var alphaMax float64
	unmarshal(t, row.AlphaMax, &alphaMax)
	p := decoded[infoResult](t, exitOK, append([]string{"info"}, file...)...).P
	var text strings.Builder
	for j := range p {
		fmt.Fprintln(&text, math.Log(row.Ratio[0]*alphaMax*(1+0.5*math.Sin(float64(j)))))
	}
	return writeFile(t, "lambda", text.String())
}

func unmarshal(t *testing.T, text []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}
