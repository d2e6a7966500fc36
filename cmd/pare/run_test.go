package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// outcomeOf is what one run of the command left behind.
type outcomeOf struct {
	code           int
	stdout, stderr string
}

func pareRun(t *testing.T, args ...string) outcomeOf {
	t.Helper()
	return pareRunWith(t.Context(), "", args...)
}

func pareRunWith(ctx context.Context, stdin string, args ...string) outcomeOf {
	var stdout, stderr bytes.Buffer
	code := run(ctx, args, strings.NewReader(stdin), &stdout, &stderr)
	return outcomeOf{code, stdout.String(), stderr.String()}
}

// decoded runs the command with --json and decodes the one object it prints.
func decoded[T any](t *testing.T, want int, args ...string) T {
	t.Helper()
	if !slices.Contains(args, "--json") {
		args = append(args, "--json")
	}
	o := pareRun(t, args...)
	if o.code != want {
		t.Fatalf("pare %s: exit %d, want %d\n%s%s", strings.Join(args, " "), o.code, want, o.stdout, o.stderr)
	}
	if o.stderr != "" {
		t.Errorf("pare %s: on standard error %q", strings.Join(args, " "), o.stderr)
	}
	var v T
	decoder := json.NewDecoder(strings.NewReader(o.stdout))
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, o.stdout)
	}
	if decoder.More() {
		t.Errorf("more than one object: %s", o.stdout)
	}
	return v
}

// write puts text into a file of the test's own.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// shape lists the paths of a JSON value with the types at their ends.
func shape(prefix string, v any, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			shape(prefix+"."+key, inner, into)
		}
	case []any:
		for _, inner := range v {
			shape(prefix+"[]", inner, into)
		}
	case nil:
		into[prefix+" null"] = true
	case float64:
		into[prefix+" number"] = true
	default:
		into[fmt.Sprintf("%s %T", prefix, v)] = true
	}
}

const fitShape = `
	.dual_margin number, .epochs number, .gap number, .gap_relative number, .intercept number, .kernels string, .kkt number,
	.log_lambda[] number, .log_lambda_max[] number, .model string, .n number, .nnz number, .objective number,
	.p number, .passes number, .seconds.certify number, .seconds.load number, .seconds.solve number, .status string, .support number,
	.support_certified bool, .threads number, .unique bool`

const coefShape = `, .coef.index[] number, .coef.value[] number`

const gradShape = `
	.cg_iterations number, .criterion string, .error_bound number, .gap_relative number,
	.injectivity_margin number, .kernels string, .kkt number, .log_lambda[] number, .log_lambda_max[] number,
	.method string, .model string, .n number, .nnz number, .p number, .seconds.gradient number,
	.seconds.load number, .seconds.solve number, .status string, .support number, .support_certified bool,
	.threads number, .value number`

const selectShape = `
	.evaluations[].log_lambda[] number, .evaluations[].seconds number, .evaluations[].support number,
	.evaluations[].tol number, .evaluations[].value number, .log_lambda[] number, .null_value number,
	.seconds.load number, .seconds.refit number, .seconds.search number, .status string, .value number`

const oneSEShape = `, .one_se.log_lambda[] number, .one_se.value number, .seconds.one_se number`

func TestJSONHasTheStatedShape(t *testing.T) {
	within := func(prefix, shape string) string { return strings.ReplaceAll(shape, "\t.", "\t"+prefix+".") }
	final := strings.ReplaceAll(within(".final", strings.ReplaceAll(fitShape, ", .", ",\n\t.")), "\n\t", " ")
	for _, test := range []struct{ args, want string }{
		{"fit --ratio 0.1", fitShape},
		{"fit --ratio 0.1 --coef", fitShape + coefShape},
		{"fit --ratio 0.1,0.2 --model enet", fitShape},
		{"grad --ratio 0.1", gradShape + ", .gradient[] number"},
		{"grad --ratio 0.1 --model enet --criterion holdout", gradShape + ", .gradient[] number"},
		{"grad --ratio 0.1 --model wlasso", gradShape + ", .gradient.index[] number, .gradient.value[] number"},
		{"grad --ratio 0.1 --method forward", strings.Replace(gradShape, "margin number", "margin null", 1) + ", .gradient[] number"},
		{"select", selectShape + "," + final + oneSEShape + ", .gradient_norm number, .evaluations[].gradient_norm number"},
		{"select --criterion holdout", selectShape + "," + final + ", .gradient_norm number, .evaluations[].gradient_norm number"},
		{"select --criterion sure", selectShape + "," + final + ", .sigma number, .gradient_norm number, .evaluations[].gradient_norm number"},
		{"grad --ratio 0.1 --model wlasso --criterion aic", gradShape + ", .sigma number, .gradient.index[] number, .gradient.value[] number"},
		{"select --model wlasso --criterion sure", strings.Replace(selectShape, ".evaluations[].log_lambda[] number, ", "", 1) + "," + final +
			", .common.log_lambda[] number, .common.value number, .sigma number, .gradient_norm number, .evaluations[].gradient_norm null, .evaluations[].gradient_norm number"},
		{"select --search grid --points 5", selectShape + "," + final + oneSEShape + ", .gradient_norm null, .evaluations[].gradient_norm null"},
		{"path --points 3", `.points[].epochs number, .points[].gap_relative number, .points[].log_lambda[] number,
			.points[].objective number, .points[].seconds number, .points[].support number, .points[].value number,
			.seconds.load number, .seconds.solve number, .status string`},
		{"info", `.density number, .duplicate_columns number, .empty_columns number, .labels.distinct number,
			.labels.kind string, .labels.max number, .labels.min number, .log_lambda_max.enet number,
			.log_lambda_max.lasso number, .log_lambda_max.logreg null, .log_lambda_max.multiclass null, .log_lambda_max.ridge number, .log_lambda_max.svm null, .log_lambda_max.wlasso number,
			.memory_bytes number, .n number, .nnz number, .p number`},
	} {
		t.Run(test.args, func(t *testing.T) {
			got := map[string]bool{}
			shape("", decoded[any](t, exitOK, strings.Fields(test.args)...), got)
			want := map[string]bool{}
			for field := range strings.SplitSeq(test.want, ",") {
				want[strings.Join(strings.Fields(field), " ")] = true
			}
			if !maps.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
			}
		})
	}
}

func TestPareAloneGreets(t *testing.T) {
	o := pareRun(t)
	if o.code != exitOK || o.stderr != "" {
		t.Errorf("exit %d, standard error %q", o.code, o.stderr)
	}
	for _, want := range []string{"pare select", "pare fit", "pare grad", "pare path", "pare info", "--help"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in\n%s", want, o.stdout)
		}
	}
}

func TestHelpIsOfTheCommandAskedFor(t *testing.T) {
	for _, args := range [][]string{{"select", "--help"}, {"help", "select"}, {"select", "-h"}, {"select", "nothing.svm", "--help"}} {
		o := pareRun(t, args...)
		if o.code != exitOK || !strings.Contains(o.stdout, "--search") || o.stderr != "" {
			t.Errorf("%q: exit %d\n%s%s", args, o.code, o.stdout, o.stderr)
		}
	}
}

// The text is for people; what it must say is that the choice was made, how good
// it is, why the search stopped, and what to do next.
func TestTextSaysWhatMatters(t *testing.T) {
	for _, test := range []struct {
		args string
		want []string
	}{
		{"select", []string{"α/αmax", "λ = ln α", "CV error", "null model", "explained", "7 of 10 columns", "3: +5", "duality gap", "KKT", "stationary: the slope", "evaluations", "pare fit --log-lambda=-"}},
		{"select --evaluations 2", []string{"budget: ", "--evaluations"}},
		{"select --search grid --points 4 --min-ratio 0.5", []string{"box: ", "--min-ratio"}},
		{"fit --ratio 0.1 --coef", []string{"5 of 10 columns", "       3  510.", "pare path", "pare select"}},
		{"grad --ratio 0.1", []string{"CV error", "the criterion falls as α shrinks", "error bound"}},
		{"grad --ratio 0.1 --criterion holdout", []string{"hold-out error"}},
		{"path --points 5", []string{"α/αmax", "*", "converged: every point", "pare fit --log-lambda="}},
		{"info", []string{"442 rows, 10 columns, 4,420 nonzeros", "real numbers from 25 to 346", "αmax           2.14804", "pare select"}},
		{"select --unit-columns --min-nnz 3 --intercept=false --folds 4", []string{"--intercept=false", "--min-nnz=3 --unit-columns", "--folds=4"}},
	} {
		o := pareRun(t, strings.Fields(test.args)...)
		for _, want := range test.want {
			if !strings.Contains(o.stdout, want) {
				t.Errorf("pare %s: no %q in\n%s%s", test.args, want, o.stdout, o.stderr)
			}
		}
		if o.stderr != "" {
			t.Errorf("pare %s: progress where there is no terminal: %q", test.args, o.stderr)
		}
	}
}

// The command a result suggests is one that runs, and refits the same model.
func TestTheNextCommandRefitsTheChoice(t *testing.T) {
	for _, args := range []string{"select", "select --model enet --tol 1e-8", "select --intercept=false --folds 3 --shuffle=false"} {
		chosen := decoded[selectResult](t, exitOK, strings.Fields(args+" --coef")...)
		text := pareRun(t, strings.Fields(args)...).stdout
		at := strings.Index(text, "pare fit ")
		line, _, _ := strings.Cut(text[at:], "\n")
		refit := decoded[fitResult](t, exitOK, strings.Fields(line)[1:]...)
		if refit.Objective != chosen.Final.Objective || !slices.Equal(refit.Coef.Value, chosen.Final.Coef.Value) {
			t.Errorf("pare %s suggests %q, whose solution differs", args, line)
		}
	}
}

// A result that is not converged, or not by a rule of the search, is printed
// with exit status 3.
func TestUntrustedResultsExitWith3(t *testing.T) {
	r := decoded[selectResult](t, exitUntrusted, "select", "--evaluations", "2")
	if r.Status != "budget" || len(r.Evaluations) != 2 || r.Final == nil {
		t.Errorf("status %s after %d evaluations", r.Status, len(r.Evaluations))
	}
}

// The gap a fit reports is one that anybody can recompute from the file and the
// printed coefficients.
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

// lassoGap is (1/2n)‖r‖² + α‖β‖₁ less the dual value at the residual,
// scaled to be feasible, and the null model's objective; dense, naive, in rows.
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

// Columns keep the number they have in the file when others are dropped.
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

	// One strength per column of the file, or per column left, is the same.
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

// Data means the same however it arrives.
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

// --ratio and --log-lambda state the same strength.
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

// A path's points are those of fit, and its values those of grad.
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

// Grid search over the path's grid chooses the path's best point.
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
	if search.Value > grid.Value {
		t.Errorf("the gradient reached %v, a grid of 20 points %v", search.Value, grid.Value)
	}
}

// The folds of --shuffle=false are those of a file that states them.
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

// Weights of one number for all rows change nothing; others do, and are in every
// command line that is proposed.
func TestSampleWeights(t *testing.T) {
	var equal, rising strings.Builder
	for i := range 442 {
		fmt.Fprintln(&equal, 1)
		fmt.Fprintln(&rising, i)
	}
	path := writeFile(t, "rising", rising.String())
	line := func(s string) string { return strings.Split(s, "\n")[4] } // the first number that is not λ
	for _, command := range [][]string{{"select"}, {"fit", "--ratio", "0.1"}, {"grad", "--ratio", "0.1"}, {"path", "--points", "3"}} {
		plain, ones, risen := pareRun(t, command...), pareRun(t, append(command, "--sample-weights", writeFile(t, "equal", equal.String()))...), pareRun(t, append(command, "--weights", path)...)
		if command[0] != "path" && (line(plain.stdout) != line(ones.stdout) || line(ones.stdout) == line(risen.stdout)) {
			t.Errorf("%v: without weights\n%swith equal ones\n%swith others\n%s", command, plain.stdout, ones.stdout, risen.stdout)
		}
		if !strings.Contains(risen.stdout, "--sample-weights="+path) {
			t.Errorf("%v: what comes next has no weights\n%s", command, risen.stdout)
		}
	}
}

// The problem stated by these flags is the one that the next command is proposed for.
func TestStatedProblemsStayStated(t *testing.T) {
	for _, args := range [][]string{
		{"fit", "--standardize", "--ratio=0.1"}, {"select", "--positive"}, {"path", "--points=3", "--model=ridge", "--standardize"},
	} {
		plain, stated := pareRun(t, args[0], args[len(args)-1]), pareRun(t, args...)
		if stated.code != exitOK {
			t.Fatalf("%v: exit %d, %s", args, stated.code, stated.stderr)
		}
		for _, flag := range args[1:] {
			if name, _, _ := strings.Cut(flag, "="); !slices.Contains([]string{"--ratio", "--points"}, name) && !strings.Contains(stated.stdout, flag) {
				t.Errorf("%v: what comes next has no %s\n%s", args, flag, stated.stdout)
			}
		}
		if args[0] != "path" && plain.stdout == stated.stdout {
			t.Errorf("%v changes nothing", args)
		}
	}
	r := decoded[fitResult](t, exitOK, "fit", "--model=wlasso", "--log-lambda=-inf")
	if r.Support != 10 || r.Status != "converged" {
		t.Errorf("least squares: support of %d, %s", r.Support, r.Status)
	}
}

// Results do not depend on how many inner problems are solved at once.
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

// Numbers that JSON cannot hold become null, on data where αmax is 0.
func TestJSONSurvivesInfinity(t *testing.T) {
	file := writeFile(t, "constant.svm", "3 1:1\n3 2:1\n3 1:2\n")
	type nullable struct {
		LogLambdaMax []*float64 `json:"log_lambda_max"`
	}
	if r := decoded[nullable](t, exitOK, "fit", file, "--log-lambda", "-1"); len(r.LogLambdaMax) != 1 || r.LogLambdaMax[0] != nil {
		t.Errorf("log_lambda_max %v, want [null]", r.LogLambdaMax)
	}
	type info struct {
		LogLambdaMax map[string]*float64 `json:"log_lambda_max"`
	}
	if r := decoded[info](t, exitOK, "info", file); len(r.LogLambdaMax) != 7 || r.LogLambdaMax["lasso"] != nil {
		t.Errorf("log_lambda_max %v, want nulls", r.LogLambdaMax)
	}
	empty := decoded[info](t, exitOK, "info", writeFile(t, "empty.svm", ""))
	if empty.LogLambdaMax["lasso"] != nil {
		t.Error("αmax of no rows")
	}
}

// What cannot be written is a failure, not a silent success.
func TestAFullDiskIsAFailure(t *testing.T) {
	var stderr bytes.Buffer
	code := run(t.Context(), []string{"info"}, strings.NewReader(""), full{}, &stderr)
	if code != exitFailed || !strings.Contains(stderr.String(), "cannot be written") {
		t.Errorf("exit %d, %q", code, stderr.String())
	}
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestProgressIsALinePerEvaluation(t *testing.T) {
	var out bytes.Buffer
	command, err := parse([]string{"select"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := command.run(t.Context(), environment{progress: &progress{w: &out}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Count(out.String(), "\n"), len(res.(*selectResult).Evaluations)+1; got != want {
		t.Errorf("%d lines, want %d:\n%s", got, want, &out)
	}
}
