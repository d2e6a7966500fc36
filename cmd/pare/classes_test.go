package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// relabelled writes the embedded data with targets changed by label to a file.
func relabelled(t *testing.T, label func(y float64) float64) string {
	t.Helper()
	x, y := diabetesRows(t)
	var text strings.Builder
	for i, row := range x {
		fmt.Fprint(&text, label(y[i]))
		for j, v := range row {
			fmt.Fprintf(&text, " %d:%v", j+1, v)
		}
		fmt.Fprintln(&text)
	}
	return writeFile(t, "classes.svm", text.String())
}

// above labels patients by whether their target is above a threshold.
func above(threshold float64) func(float64) float64 {
	return func(y float64) float64 {
		if y > threshold {
			return 1
		}
		return -1
	}
}

// checkSlopes compares the gradient printed by pare grad with central differences of the
// printed values.
func checkSlopes(t *testing.T, logLambda []float64, args ...string) {
	t.Helper()
	type result struct {
		Value    float64
		Gradient []float64
		Status   string
	}
	at := func(l []float64) result {
		return decoded[result](t, exitOK, append(args, "--log-lambda", listAll(l))...)
	}
	got := at(logLambda)
	if got.Status != "converged" || len(got.Gradient) != len(logLambda) {
		t.Fatalf("pare %s: %+v", strings.Join(args, " "), got)
	}
	const h = 1e-4
	for k := range logLambda {
		up, down := append([]float64{}, logLambda...), append([]float64{}, logLambda...)
		up[k] += h
		down[k] -= h
		want := (at(up).Value - at(down).Value) / (2 * h)
		if math.Abs(got.Gradient[k]-want) > 1e-6*(math.Abs(want)+0.01*got.Value) {
			t.Errorf("pare %s: ∂/∂λ%d = %.10g, differences %.10g", strings.Join(args, " "), k+1, got.Gradient[k], want)
		}
	}
}

func TestLogisticSlopesAgainstDifferences(t *testing.T) {
	file := relabelled(t, above(140))
	for _, args := range []string{"", "--intercept=false", "--criterion holdout --folds 3 --shuffle=false"} {
		all := append([]string{"grad", file, "--model", "logreg", "--tol", "1e-13"}, strings.Fields(args)...)
		for _, l := range []float64{-6, -8} {
			checkSlopes(t, []float64{l}, all...)
		}
	}
}

// TestTheLogisticGapCanBeRecomputed checks that the gap of a logistic fit can also be
// recomputed from the output.
func TestTheLogisticGapCanBeRecomputed(t *testing.T) {
	file := relabelled(t, above(200))
	x, y := diabetesRows(t)
	for i := range y {
		y[i] = above(200)(y[i])
	}
	for _, args := range []string{"--ratio 0.1", "--ratio 0.01 --intercept=false", "--ratio 0.01 --tol 1e-9"} {
		r := decoded[fitResult](t, exitOK, append([]string{"fit", file, "--model=logreg", "--coef"}, strings.Fields(args)...)...)
		beta := make([]float64, len(x[0]))
		for k, j := range r.Coef.Index {
			beta[j] = float64(r.Coef.Value[k])
		}
		objective, gap := logisticGap(x, y, beta, float64(r.Intercept), math.Exp(float64(r.LogLambda[0])))
		if math.Abs(objective-float64(r.Objective)) > 1e-14 || gap > float64(r.Gap)+1e-13 || gap > 1e-6*math.Ln2 {
			t.Errorf("pare fit %s: objective %v and gap %v, reported %v and %v", args, objective, gap, r.Objective, r.Gap)
		}
	}
}

// logisticGap returns the objective and the duality gap at the dual point made of the residuals
// yσ(−ym): with an intercept those of the heavier class are scaled so that the classes balance,
// then all are scaled to be feasible. It is dense and naive, and works on rows.
func logisticGap(x [][]float64, y, beta []float64, intercept, alpha float64) (objective, gap float64) {
	n := float64(len(y))
	tau := make([]float64, len(y))
	balance := map[float64]float64{1: 0, -1: 0}
	for i, row := range x {
		m := intercept
		for j, v := range row {
			m += v * beta[j]
		}
		objective += math.Log1p(math.Exp(-y[i]*m)) / n
		tau[i] = 1 / (1 + math.Exp(y[i]*m))
		balance[y[i]] += tau[i]
	}
	for _, b := range beta {
		objective += alpha * math.Abs(b)
	}
	lighter := min(balance[1], balance[-1])
	worst := 0.0
	for i := range tau {
		if intercept != 0 {
			tau[i] *= lighter / balance[y[i]]
		}
	}
	for j := range beta {
		var z float64
		for i, row := range x {
			z += row[j] * y[i] * tau[i] / n
		}
		worst = max(worst, math.Abs(z)/alpha)
	}
	dual := 0.0
	for _, v := range tau {
		v *= min(1, 1/worst)
		dual -= (v*math.Log(v) + (1-v)*math.Log(1-v)) / n
	}
	return objective, objective - dual
}

// TestInfoStatesAlphaMaxWhereThereIsOne checks that info prints αmax for the models that accept
// the target of the file.
func TestInfoStatesAlphaMaxWhereThereIsOne(t *testing.T) {
	type info struct {
		LogLambdaMax struct {
			Lasso, Logreg *float64
			Multiclass    []float64
		} `json:"log_lambda_max"`
	}
	two := decoded[info](t, exitOK, "info", relabelled(t, above(140)), "--intercept=false").LogLambdaMax
	if two.Logreg == nil || math.Abs(*two.Lasso-*two.Logreg-math.Ln2) > 1e-14 {
		t.Errorf("without intercept αmax of logreg is half that of the Lasso: %+v", two)
	}
	if len(two.Multiclass) != 2 || two.Multiclass[0] != two.Multiclass[1] || two.Multiclass[0] != *two.Logreg {
		t.Errorf("of two classes each is the other's complement: %+v", two)
	}
	three := decoded[info](t, exitOK, "info", relabelled(t, thirds)).LogLambdaMax
	if len(three.Multiclass) != 3 || three.Logreg != nil {
		t.Errorf("three classes: %+v", three)
	}
	if none := decoded[info](t, exitOK, "info").LogLambdaMax; none.Logreg != nil || none.Multiclass != nil || none.Lasso == nil {
		t.Errorf("a real target: %+v", none)
	}
}

// thirds turns a numerical target into three classes.
func thirds(y float64) float64 {
	switch {
	case y <= 100:
		return -1
	case y <= 180:
		return 0
	default:
		return 7
	}
}

func TestMulticlassSlopesAgainstDifferences(t *testing.T) {
	file := relabelled(t, thirds)
	for _, args := range []string{"", "--intercept=false", "--criterion holdout --folds 3 --shuffle=false"} {
		all := append([]string{"grad", file, "--model=multiclass", "--tol=1e-13"}, strings.Fields(args)...)
		checkSlopes(t, []float64{-6, -7, -6.5}, all...)
	}
}

// TestMulticlassFitsEveryClass checks that the predictor of each class is that of a logistic
// regression on its labels, and that all classes have the same ratio α/αmax.
func TestMulticlassFitsEveryClass(t *testing.T) {
	file := relabelled(t, thirds)
	all := decoded[fitResult](t, exitOK, "fit", file, "--model=multiclass", "--ratio=0.1,0.05,0.02", "--coef", "--tol=1e-12")
	if len(all.Classes) != 3 || all.Coef != nil || all.LogLambda[1] != all.Classes[1].LogLambda {
		t.Fatalf("%+v", all)
	}
	union := map[int32]bool{}
	var objective float64
	for k, label := range []float64{-1, 0, 7} {
		one := relabelled(t, func(y float64) float64 {
			if thirds(y) == label {
				return 1
			}
			return -1
		})
		got := all.Classes[k]
		want := decoded[fitResult](t, exitOK, "fit", one, "--model=logreg", "--log-lambda", short(float64(got.LogLambda)), "--coef", "--tol=1e-12")
		if got.Label.(float64) != label || all.LogLambdaMax[k] != want.LogLambdaMax[0] || got.Objective != want.Objective || got.Intercept != want.Intercept ||
			!slices.Equal(got.Coef.Index, want.Coef.Index) || !slices.Equal(got.Coef.Value, want.Coef.Value) {
			t.Errorf("class %g: %+v, alone %+v", label, got, want)
		}
		objective += float64(want.Objective)
		for _, j := range want.Coef.Index {
			union[j] = true
		}
	}
	if len(union) != all.Support || math.Abs(objective-float64(all.Objective)) > 1e-12 {
		t.Errorf("support %d of a union of %d, objective %v of a sum of %v", all.Support, len(union), all.Objective, objective)
	}
}

// TestMulticlassSelect checks that a common ratio α/αmax is chosen unless one per class is
// requested, that the latter is no worse, and that both are better than the null model.
func TestMulticlassSelect(t *testing.T) {
	file := relabelled(t, thirds)
	type selection struct {
		LogLambda []float64 `json:"log_lambda"`
		Value     float64
		NullValue float64 `json:"null_value"`
		Status    string
		Final     struct {
			LogLambdaMax []float64 `json:"log_lambda_max"`
			Classes      []struct{ Support int }
		}
		Evaluations []struct {
			LogLambda []float64 `json:"log_lambda"`
		}
	}
	args := []string{"select", file, "--model=multiclass", "--folds=3"}
	common := decoded[selection](t, exitOK, args...)
	each := decoded[selection](t, exitOK, append(args, "--per-class")...)
	if len(common.LogLambda) != 3 || len(each.LogLambda) != 3 || len(common.Final.Classes) != 3 {
		t.Fatalf("%+v\n%+v", common, each)
	}
	for _, e := range append(common.Evaluations, each.Evaluations...) {
		if len(e.LogLambda) != 3 {
			t.Fatalf("an evaluation at %v", e.LogLambda)
		}
	}
	share := common.LogLambda[0] - common.Final.LogLambdaMax[0]
	for k, l := range common.LogLambda {
		if math.Abs(l-common.Final.LogLambdaMax[k]-share) > 1e-12 {
			t.Errorf("class %d: another share of αmax", k)
		}
	}
	if !(each.Value <= common.Value && common.Value < common.NullValue) {
		t.Errorf("one for each %v, one for all %v, null %v", each.Value, common.Value, common.NullValue)
	}
	grid := decoded[selection](t, exitOK, append(args, "--search=grid", "--points=15", "--min-ratio=0.01")...)
	if common.Value > grid.Value*(1+1e-6) || len(grid.Evaluations) != 15 {
		t.Errorf("a grid found %v, the search %v", grid.Value, common.Value)
	}
}

func TestMulticlassText(t *testing.T) {
	file := relabelled(t, thirds)
	for args, want := range map[string][]string{
		"fit --ratio 0.05":          {"α/αmax = 0.05 for all 3", "for some class", "           7  "},
		"fit --ratio 0.1,0.05,0.02": {"from 0.02 to 0.1"},
		"grad --ratio 0.05":         {"cross-entropy", "by the λ of each class", "status         converged"},
		"path --points 3":           {"cross-entropy", "--log-lambda=-"},
		"select":                    {"cross-entropy", "converged", "for all 3"},
		"info":                      {"3 classes: -1 (", "αmax"},
	} {
		o := pareRun(t, append(strings.Fields(args), file, "--model=multiclass")...)
		for _, w := range want {
			if !strings.Contains(o.stdout, w) {
				t.Errorf("pare %s: no %q in\n%s%s", args, w, o.stdout, o.stderr)
			}
		}
		if strings.Contains(o.stdout, "pare fit ") {
			next := proposed(t, o.stdout, "fit")
			if o := pareRun(t, next...); o.code != exitOK {
				t.Errorf("%v: exit %d\n%s", next, o.code, o.stderr)
			}
		}
	}
}

func TestSVMSlopesAgainstDifferences(t *testing.T) {
	file := relabelled(t, above(140))
	for _, args := range []string{"--folds 3", "--criterion holdout --folds 3 --shuffle=false"} {
		all := append([]string{"grad", file, "--model=svm", "--tol=1e-13"}, strings.Fields(args)...)
		for _, l := range []float64{-1, 2.5} {
			checkSlopes(t, []float64{l}, all...)
		}
	}
}

// TestSVMFit checks that the objective is the primal one at the printed coefficients, and that
// the counts of samples on and within the margin are those of these coefficients.
func TestSVMFit(t *testing.T) {
	x, y := diabetesRows(t)
	file := relabelled(t, above(140))
	r := decoded[fitResult](t, exitOK, "fit", file, "--model=svm", "--log-lambda=2", "--coef", "--tol=1e-12")
	w := make([]float64, len(x[0]))
	var primal float64
	for k, j := range r.Coef.Index {
		w[j] = float64(r.Coef.Value[k])
		primal += w[j] * w[j] / 2
	}
	free, bound := 0, 0
	for i, row := range x {
		var m float64
		for j, v := range row {
			m += v * w[j]
		}
		switch lack := 1 - m*above(140)(y[i]); {
		case math.Abs(lack) < 1e-8:
			free++
		case lack > 0:
			bound++
			primal += math.Exp(2) * lack
		}
	}
	if free != r.Support || bound != *r.AtBound || math.Abs(primal/float64(r.Objective)-1) > 1e-9 || r.Intercept != 0 {
		t.Errorf("%d samples on the margin, %d within, objective %v; reported %d, %d, %v", free, bound, primal, r.Support, *r.AtBound, r.Objective)
	}
	if o := pareRun(t, "fit", file, "--model=svm", "--ratio=1"); o.code != exitUsage || !strings.Contains(o.stderr, "no αmax") {
		t.Errorf("a share of no αmax: exit %d, %s", o.code, o.stderr)
	}
}

func TestSVMText(t *testing.T) {
	file := relabelled(t, above(140))
	for args, want := range map[string][]string{
		"fit --log-lambda 2":  {"C = 7.38906, λ = ln C = 2", "on the margin", "pare select --model=svm"},
		"grad --log-lambda 2": {"smoothed hinge", "the criterion falls as C ", "on the margin", "status         converged"},
		"select":              {"smoothed hinge", "C = ", "converged"},
	} {
		o := pareRun(t, append(strings.Fields(args), file, "--model=svm")...)
		for _, w := range want {
			if !strings.Contains(o.stdout, w) {
				t.Errorf("pare %s: no %q in\n%s%s", args, w, o.stdout, o.stderr)
			}
		}
		if strings.Contains(o.stdout, "intercept ") || strings.Contains(o.stdout, "NaN") || strings.Contains(o.stdout, "pare path") {
			t.Errorf("pare %s:\n%s", args, o.stdout)
		}
	}
	o := pareRun(t, "select", file, "--model=svm", "--criterion=sure")
	if o.code != exitUsage || !strings.Contains(o.stderr, "lasso, enet, wlasso and ridge only; for svm use cv or holdout") {
		t.Errorf("SURE of a hinge: exit %d, %s", o.code, o.stderr)
	}
	o = pareRun(t, "select", file, "--model=svm", "--search=grid")
	if o.code != exitUsage || !strings.Contains(o.stderr, "use auto or gradient") {
		t.Errorf("a grid from no αmax: exit %d, %s", o.code, o.stderr)
	}
}
