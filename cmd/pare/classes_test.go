package main

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// relabelled writes the embedded data with other targets to a file.
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

// above tells patients above a threshold from the others.
func above(threshold float64) func(float64) float64 {
	return func(y float64) float64 {
		if y > threshold {
			return 1
		}
		return -1
	}
}

// checkSlopes compares what pare grad says with central differences of the
// values it prints.
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

// The logistic gap, too, is one that anybody can recompute.
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

// logisticGap is the objective and the gap to the dual value at the residuals
// yσ(−ym), those of the heavier class scaled so that they balance where there is
// an intercept, then all so that they are feasible; dense, naive, in rows.
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

// αmax is stated for the models whose kind of target the file has.
func TestInfoStatesAlphaMaxWhereThereIsOne(t *testing.T) {
	type info struct {
		LogLambdaMax map[string]*float64 `json:"log_lambda_max"`
	}
	two := decoded[info](t, exitOK, "info", relabelled(t, above(140)), "--intercept=false").LogLambdaMax
	if two["logreg"] == nil || math.Abs(*two["lasso"]-*two["logreg"]-math.Ln2) > 1e-14 {
		t.Errorf("without intercept αmax of logreg is half that of the Lasso: %v", two)
	}
	if real := decoded[info](t, exitOK, "info").LogLambdaMax; real["logreg"] != nil || real["lasso"] == nil {
		t.Errorf("a real target: %v", real)
	}
}
