package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestTheGapCanBeRecomputed checks that the gap which a fit reports can be recomputed from the
// data file and the printed coefficients.
func TestTheGapCanBeRecomputed(t *testing.T) {
	x, y := diabetesRows(t)
	for _, args := range []string{"fit --ratio 0.05", "fit --ratio 0.05 --intercept=false", "fit --log-lambda -6 --tol 1e-10"} {
		r := decoded[fitResult](t, exitOK, append(strings.Fields(args), "--coef")...)
		beta := make([]float64, len(x[0]))
		for k, j := range r.Coef.Index {
			beta[j] = float64(r.Coef.Value[k])
		}
		gap, null := lassoGap(x, y, beta, float64(r.Intercept), math.Exp(float64(r.LogLambda[0])), !strings.Contains(args, "intercept=false"))
		if gap > float64(r.Gap)+1e-9*null {
			t.Errorf("pare %s: gap %.3e, reported %.3e", args, gap, float64(r.Gap))
		}
		if want := 1e-6; gap > want*null {
			t.Errorf("pare %s: relative gap %.3e, status %s", args, gap/null, r.Status)
		}
	}
}

// lassoGap returns (1/2n)‖r‖² + α‖β‖₁ minus the dual objective at the residual scaled to be
// feasible, and the null model's objective. It is dense and naive, and works on rows.
func lassoGap(x [][]float64, y, beta []float64, intercept, alpha float64, centred bool) (gap, null float64) {
	n := float64(len(y))
	var mean float64
	if centred {
		for _, v := range y {
			mean += v / n
		}
	}
	residual := make([]float64, len(y))
	var rr, ry, l1 float64
	for i, row := range x {
		fitted := intercept
		for j, v := range row {
			fitted += v * beta[j]
		}
		residual[i] = y[i] - fitted
		rr += residual[i] * residual[i]
		ry += residual[i] * (y[i] - mean)
		null += (y[i] - mean) * (y[i] - mean) / (2 * n)
	}
	largest := 0.0
	for j := range beta {
		l1 += math.Abs(beta[j])
		var c float64
		for i, row := range x {
			c += row[j] * residual[i]
		}
		largest = max(largest, math.Abs(c))
	}
	scale := min(1, n*alpha/largest)
	return ((1+scale*scale)/2*rr + n*alpha*l1 - scale*ry) / n, null
}

// TestColumnsKeepTheNumbersOfTheFile checks that columns keep their numbers in the file if
// other columns are dropped.
func TestColumnsKeepTheNumbersOfTheFile(t *testing.T) {
	// Columns 1 and 4 of the file have a single entry each.
	var full, small strings.Builder
	for i := range 40 {
		a, b := math.Sin(float64(i)), math.Cos(float64(3*i))
		target := 3*a - 2*b + 0.1*math.Sin(float64(7*i))
		extra, last := "", ""
		if i == 5 {
			extra, last = "1:1 ", " 4:2"
		}
		fmt.Fprintf(&full, "%g %s2:%g 3:%g%s\n", target, extra, a, b, last)
		fmt.Fprintf(&small, "%g 1:%g 2:%g\n", target, a, b)
	}
	fullFile, smallFile := writeFile(t, "full.svm", full.String()), writeFile(t, "small.svm", small.String())

	dropped := decoded[fitResult](t, exitOK, "fit", fullFile, "--ratio", "0.01", "--min-nnz", "2", "--coef")
	without := decoded[fitResult](t, exitOK, "fit", smallFile, "--ratio", "0.01", "--coef")
	if !slices.Equal(dropped.Coef.Index, []int32{1, 2}) || !slices.Equal(without.Coef.Index, []int32{0, 1}) {
		t.Errorf("columns %v and %v, want [1 2] and [0 1]", dropped.Coef.Index, without.Coef.Index)
	}
	if dropped.P != 2 || dropped.Objective != without.Objective {
		t.Errorf("p = %d, objective %v, without the columns %v", dropped.P, dropped.Objective, without.Objective)
	}
	if text := pareRun(t, "fit", fullFile, "--ratio", "0.01", "--min-nnz", "2").stdout; !strings.Contains(text, "2: +") || !strings.Contains(text, "(4 columns in the file)") {
		t.Errorf("the text counts columns from 1:\n%s", text)
	}

	// One strength per column of the file and one per remaining column state the same problem.
	all := writeFile(t, "all", "-100\n-2\n-3\n-100\n")
	some := writeFile(t, "some", "-2\n\n -3\n")
	type gradient struct {
		Gradient sparseVector
		Value    float64
	}
	args := []string{"grad", fullFile, "--min-nnz=2", "--model=wlasso", "--log-lambda"}
	one, two := decoded[gradient](t, exitOK, append(args, "@"+all)...), decoded[gradient](t, exitOK, append(args, "@"+some)...)
	if one.Value != two.Value || !slices.Equal(one.Gradient.Index, []int32{1, 2}) || !slices.Equal(one.Gradient.Value, two.Gradient.Value) {
		t.Errorf("by columns of the file %+v, by columns left %+v", one, two)
	}
}

// TestStandardInputAndFilesAgree checks that standard input and files give the same result.
func TestStandardInputAndFilesAgree(t *testing.T) {
	text := readDiabetes(t)
	file := writeFile(t, "data.svm", text)
	want := decoded[fitResult](t, exitOK, "fit", "--ratio", "0.1")
	fromFile := decoded[fitResult](t, exitOK, "fit", file, "--ratio", "0.1")
	o := pareRunWith(t.Context(), text, "fit", "-", "--ratio", "0.1", "--json")
	var fromStdin fitResult
	if err := json.Unmarshal([]byte(o.stdout), &fromStdin); err != nil {
		t.Fatal(err, o)
	}
	if fromFile.Objective != want.Objective || fromStdin.Objective != want.Objective {
		t.Errorf("objective %v, from a file %v, from standard input %v", want.Objective, fromFile.Objective, fromStdin.Objective)
	}
	wide := decoded[fitResult](t, exitOK, "fit", "--ratio", "0.1", "--features", "12")
	if wide.P != 12 || wide.Objective != want.Objective {
		t.Errorf("with --features 12: p = %d, objective %v", wide.P, wide.Objective)
	}
}

// TestRatioIsAShareOfAlphaMax checks that --ratio and --log-lambda can state the same strength.
func TestRatioIsAShareOfAlphaMax(t *testing.T) {
	a := decoded[fitResult](t, exitOK, "fit", "--ratio", "0.1")
	b := decoded[fitResult](t, exitOK, "fit", "--log-lambda", fmt.Sprint(float64(a.LogLambda[0])))
	if a.Objective != b.Objective {
		t.Errorf("objectives %v and %v", a.Objective, b.Objective)
	}
	if d := float64(a.LogLambda[0]-a.LogLambdaMax[0]) - math.Log(0.1); math.Abs(d) > 1e-15 {
		t.Errorf("λ − λmax is off ln 0.1 by %g", d)
	}
	if at := decoded[fitResult](t, exitOK, "fit", "--ratio", "1"); at.Support != 0 {
		t.Errorf("support %d at αmax", at.Support)
	}
}

// TestPathAgreesWithFitAndGrad checks that the points of a path are those of fit, and its
// values those of grad.
func TestPathAgreesWithFitAndGrad(t *testing.T) {
	for _, model := range []string{"lasso", "enet"} {
		with := func(args ...string) []string {
			return append(args, "--model", model, "--tol", "1e-12", "--folds", "4", "--seed", "7")
		}
		path := decoded[pathResult](t, exitOK, with("path", "--points", "5", "--min-ratio", "0.01")...)
		if len(path.Points) != 5 || path.Status != "converged" {
			t.Fatalf("%d points, status %s", len(path.Points), path.Status)
		}
		for i, point := range path.Points {
			lambda := fmt.Sprint(float64(point.LogLambda[0]))
			fit := decoded[fitResult](t, exitOK, with("fit", "--log-lambda", lambda)...)
			grad := decoded[gradResult](t, exitOK, with("grad", "--log-lambda", lambda)...)
			if want := math.Log(0.01) * float64(i) / 4; math.Abs(float64(point.LogLambda[0]-fit.LogLambdaMax[0])-want) > 1e-14 {
				t.Errorf("%s, point %d: λ − λmax = %v, want %v", model, i, point.LogLambda[0]-fit.LogLambdaMax[0], want)
			}
			if d := math.Abs(float64(point.Objective/fit.Objective - 1)); d > 1e-11 || point.Support != fit.Support {
				t.Errorf("%s, point %d: the objective of fit differs by %.1e, supports are %d and %d", model, i, d, point.Support, fit.Support)
			}
			if d := math.Abs(float64(point.Value/grad.Value - 1)); d > 1e-6 {
				t.Errorf("%s, point %d: the value of grad differs by %.1e", model, i, d)
			}
		}
	}
}

// TestGridSearchChoosesThePathsBest checks that a grid search over the grid of a path chooses
// the best point of the path.
func TestGridSearchChoosesThePathsBest(t *testing.T) {
	path := decoded[pathResult](t, exitOK, "path", "--points", "20")
	grid := decoded[selectResult](t, exitOK, "select", "--search", "grid", "--points", "20")
	best := path.Points[0]
	for _, point := range path.Points {
		if point.Value < best.Value {
			best = point
		}
	}
	if !slices.Equal(grid.LogLambda, best.LogLambda) || grid.Value != best.Value {
		t.Errorf("grid chose %v (%v), the path's best is %v (%v)", grid.LogLambda, grid.Value, best.LogLambda, best.Value)
	}
	search := decoded[selectResult](t, exitOK, "select")
	if search.Value > grid.Value+number(0.01*float64(*grid.StandardError)) {
		t.Errorf("the gradient reached %v, a grid of 20 points %v", search.Value, grid.Value)
	}
}

// TestFoldIDsStateTheFolds checks that the folds of --shuffle=false equal those of a file of
// fold ids.
func TestFoldIDsStateTheFolds(t *testing.T) {
	var cv, holdout strings.Builder
	for i := range 442 {
		fmt.Fprintln(&cv, i%5)
		if i%5 == 4 {
			fmt.Fprintln(&holdout, 0)
		} else {
			fmt.Fprintln(&holdout, -1)
		}
	}
	for criterion, ids := range map[string]string{"cv": cv.String(), "holdout": holdout.String()} {
		args := []string{"grad", "--ratio", "0.1", "--criterion", criterion}
		stated := decoded[gradResult](t, exitOK, append(args, "--fold-ids", writeFile(t, "folds", ids))...)
		counted := decoded[gradResult](t, exitOK, append(args, "--shuffle=false")...)
		shuffled := decoded[gradResult](t, exitOK, append(args, "--seed=3")...)
		if stated.Value != counted.Value || counted.Value == shuffled.Value {
			t.Errorf("%s: stated %v, counted %v, shuffled %v", criterion, stated.Value, counted.Value, shuffled.Value)
		}
	}
}

// TestThreadsDoNotChangeResults checks that results do not depend on how many inner problems
// are solved at once.
func TestThreadsDoNotChangeResults(t *testing.T) {
	one := decoded[selectResult](t, exitOK, "select", "--threads", "1", "--coef")
	many := decoded[selectResult](t, exitOK, "select", "--threads", "3", "--coef")
	if one.Value != many.Value || !slices.Equal(one.LogLambda, many.LogLambda) || !slices.Equal(one.Final.Coef.Value, many.Final.Coef.Value) {
		t.Error("one thread and three differ")
	}
	if one.Final.Threads != 1 || many.Final.Threads != 3 {
		t.Errorf("threads reported as %d and %d", one.Final.Threads, many.Final.Threads)
	}
}
