package main

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
)

// goldenBlock is a row of testdata/golden/blocks.jsonl.
type goldenBlock struct {
	Data                    string
	Classes                 []int
	Datafit, Penalty, Split string
	GroupSize               int `json:"group_size"`
	Tau, Gamma, A           float64
	Folds                   int
	Intercept, Standardize  bool
	Weights                 string
	AlphaMax                float64   `json:"alpha_max"`
	LogLambda               []float64 `json:"log_lambda"`
	Value                   float64
	Gradient                []float64
	GradientLogGamma        float64 `json:"gradient_log_gamma"`
	GradientLogA            float64 `json:"gradient_log_a"`
}

// TestGoldenBlocks checks group Lasso, sparse group Lasso, softmax, MCP and SCAD against values
// computed elsewhere. Rows on data other than the embedded set are skipped if the data are
// missing.
func TestGoldenBlocks(t *testing.T) {
	rows := fixture.Golden[goldenBlock](t, "../../testdata/golden/blocks.jsonl")
	if len(rows) != 9 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows {
		t.Run(row.Data+"/"+row.Datafit+"/"+row.Penalty, row.check)
	}
}

func (row goldenBlock) check(t *testing.T) {
	var file []string
	n := 442
	if row.Data != "diabetes" {
		var path string
		path, n = row.file(t)
		file = []string{path}
	}
	args := slices.Concat([]string{"grad"}, file, []string{
		"--tol=1e-12", "--shuffle=false", "--loss=" + row.Datafit, "--penalty=" + row.Penalty, "--log-lambda=" + listAll(row.LogLambda),
		"--intercept=" + strconv.FormatBool(row.Intercept),
	})
	add := func(set bool, flag string) {
		if set {
			args = append(args, flag)
		}
	}
	add(row.Standardize, "--standardize")
	add(row.Split == "cv", "--folds="+strconv.Itoa(row.Folds))
	add(row.Split == "holdout", "--criterion=holdout")
	add(row.Split == "holdout", "--folds=3")
	add(row.GroupSize > 0, "--column-groups=size:"+strconv.Itoa(row.GroupSize))
	add(row.Tau > 0, fmt.Sprint("--tau=", row.Tau))
	add(row.Gamma > 0, fmt.Sprint("--gamma=", row.Gamma))
	add(row.A > 0, fmt.Sprint("--a=", row.A))
	if row.Weights == "1+i%3" {
		var weights strings.Builder
		for i := range n {
			fmt.Fprintln(&weights, 1+i%3)
		}
		args = append(args, "--sample-weights="+writeFile(t, "weights", weights.String()))
	}
	got := decoded[struct {
		Value        float64
		Gradient     []float64
		Shape        float64
		ErrorBound   float64 `json:"error_bound"`
		Status       string
		LogLambdaMax []float64 `json:"log_lambda_max"`
	}](t, exitOK, args...)
	if status := map[bool]string{true: "stationary", false: "converged"}[row.Gamma+row.A > 0]; got.Status != status {
		t.Errorf("status %s, want %s", got.Status, status)
	}
	if !(math.Abs(got.Value/row.Value-1) <= 1e-9) {
		t.Errorf("value %.15g, want %.15g", got.Value, row.Value)
	}
	want, have := row.Gradient, got.Gradient
	if row.Gamma+row.A > 0 {
		want, have = append(want, row.GradientLogGamma+row.GradientLogA), append(have, got.Shape)
	}
	largest := 0.0
	for _, g := range want {
		largest = max(largest, math.Abs(g))
	}
	for i, g := range want {
		if !(math.Abs(have[i]-g) <= 1e-7*largest) {
			t.Errorf("gradient %.12g, want %.12g", have, want)
		}
	}
	if !(got.ErrorBound > 0 && got.ErrorBound <= 1e-7*largest) {
		t.Errorf("error bound %g of %g", got.ErrorBound, largest)
	}
	if !(math.Abs(got.LogLambdaMax[0]-math.Log(row.AlphaMax)) <= 1e-9) {
		t.Errorf("ln αmax %.15g, want %.15g", got.LogLambdaMax[0], math.Log(row.AlphaMax))
	}
}

// file writes the rows of some classes of a shared data set, with new class numbers, and
// returns how many rows there are.
func (row goldenBlock) file(t *testing.T) (path string, n int) {
	if testing.Short() {
		t.Skip("short: the embedded rows are tested all the same")
	}
	packed, err := os.Open("../../../shared/data/" + row.Data + ".svm.gz")
	if err != nil {
		t.Skip(err)
	}
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	lines := bufio.NewScanner(plain)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		label, rest, _ := strings.Cut(lines.Text(), " ")
		if row.Classes != nil {
			class, err := strconv.ParseFloat(label, 64)
			at := slices.Index(row.Classes, int(class))
			if err != nil || at < 0 {
				continue
			}
			label = strconv.Itoa(at)
		}
		fmt.Fprintln(&out, label, rest)
		n++
	}
	return writeFile(t, row.Data+".svm", out.String()), n
}
