package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestGoldenFamilies checks the values and hypergradients of every loss and support vector
// machine in testdata/golden/families.jsonl, which were computed elsewhere, through flags and
// files.
func TestGoldenFamilies(t *testing.T) {
	rows := fixture.Golden[fixture.Family](t, "../../testdata/golden/families.jsonl")
	for _, row := range rows {
		t.Run(row.String(), func(t *testing.T) { checkFamily(t, row) })
	}
}

func checkFamily(t *testing.T, row fixture.Family) {
	if testing.Short() && row.Data != "diabetes" {
		t.Skip("short: the library's test has them all")
	}
	x, y := row.Problem(t, "../../../shared/data/")
	path := filepath.Join(t.TempDir(), "data.svm")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := sparse.WriteSVMLight(file, x, y); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	n, p := x.Dims()
	list := func(count int, of func(int) float64) string {
		var out strings.Builder
		for i := range count {
			fmt.Fprintln(&out, of(i))
		}
		return writeFile(t, "list", out.String())
	}
	got := decoded[struct {
		Value      float64
		Gradient   []float64
		Status     string
		ErrorBound float64 `json:"error_bound"`
	}](t, exitOK, slices.Concat([]string{"grad", path, "--zero-based=false", "--features=" + strconv.Itoa(p)}, familyFlags(row, n, p, list))...)
	if got.Status != "converged" {
		t.Errorf("status %s", got.Status)
	}
	if !(math.Abs(got.Value/row.Value-1) <= 1e-9) {
		t.Errorf("value %.15g, want %.15g", got.Value, row.Value)
	}
	largest := 0.0
	for _, g := range row.Gradient {
		largest = max(largest, math.Abs(g))
	}
	for i, g := range row.Gradient {
		if !(math.Abs(got.Gradient[i]-g) <= 1e-7*largest) {
			t.Errorf("gradient %.12g, want %.12g", got.Gradient, row.Gradient)
		}
	}
}

// familyFlags returns the flags that state a row; list writes a file of numbers.
func familyFlags(row fixture.Family, n, p int, list func(int, func(int) float64) string) []string {
	args := []string{"--tol=1e-12", "--shuffle=false", "--loss=" + row.Datafit, "--validation-loss=" + row.Loss, "--log-lambda=" + listAll(row.LogLambda)}
	add := func(set bool, flag func() string) {
		if set {
			args = append(args, flag())
		}
	}
	text := func(s string) func() string { return func() string { return s } }
	add(row.Penalty != "", text("--penalty="+row.Penalty))
	add(row.Datafit != "simplex_svr", text("--intercept="+strconv.FormatBool(row.Intercept)))
	add(row.Standardize, text("--standardize"))
	add(row.Split == "cv", text("--folds="+strconv.Itoa(row.Folds)))
	add(row.Split == "holdout", text("--folds=3"))
	add(row.Split == "holdout", text("--criterion=holdout"))
	add(row.Power != 0, text("--power="+fmt.Sprint(row.Power)))
	add(row.Delta != nil, text("--delta="+fmt.Sprint(row.Delta)))
	add(row.ClassWeight != "", text("--class-weight="+row.ClassWeight))
	add(row.ClassWeight != "", text("--class-weight-in=fit"))
	add(row.Weights != "", func() string { return "--sample-weights=" + list(n, row.Weight) })
	add(row.Offset != "", func() string {
		return "--offset=" + list(n, func(i int) float64 { return math.Log(1 + float64(i%4)/4) })
	})
	if row.Factors == "" {
		return args
	}
	first := func(of, others float64) func(int) float64 { // the first column is neither penalised nor bounded
		return func(j int) float64 {
			if j == 0 {
				return of
			}
			return others
		}
	}
	factors := func(j int) float64 { return first(0, 1+float64(j%3)/2)(j) }
	return append(args, "--penalty-factors="+list(p, factors), "--lower="+list(p, first(math.Inf(-1), row.Lower)), "--upper="+list(p, first(math.Inf(1), row.Upper)))
}
