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
)

// TestPredictReadsTheFileAsItIs checks that a saved model gives on the original file the predictions of the
// printed coefficients on the prepared file.
func TestPredictReadsTheFileAsItIs(t *testing.T) {
	const n, p = 40, 6
	var file strings.Builder
	x := make([][p]float64, n)
	for i := range x {
		fmt.Fprint(&file, (i*i)%7)
		for j := range p {
			if (i+j)%3 != 0 || j == 5 && i%9 == 0 {
				x[i][j] = float64((i*7+j*13)%11) + 1
				fmt.Fprintf(&file, " %d:%g", j+1, x[i][j])
			}
		}
		file.WriteByte('\n')
	}
	data := writeFile(t, "data.svm", file.String())
	for _, flags := range []string{"", "--min-nnz=27", "--unit-columns", "--unit-rows", "--unit-rows --unit-columns", "--model=enet", "--intercept=false"} {
		model := filepath.Join(t.TempDir(), "model")
		args := append(strings.Fields(flags), "--ratio=0.05", "--coef", "--save="+model, data)
		fit := decoded[struct {
			Intercept float64
			Coef      struct {
				Index []int
				Value []float64
			}
		}](t, exitOK, append([]string{"fit"}, args...)...)
		rows, norms := make([][p]float64, n), [p]float64{}
		for i := range x {
			rows[i] = x[i]
			scale := 0.0
			for j := range p {
				scale += x[i][j] * x[i][j]
			}
			for j := range p {
				if strings.Contains(flags, "unit-rows") {
					rows[i][j] /= math.Sqrt(scale)
				}
				norms[j] += rows[i][j] * rows[i][j]
			}
		}
		got := decoded[struct {
			Predictions []float64
			Error       float64 `json:"mean_squared_error"`
		}](t, exitOK, "predict", model, data)
		for i := range rows {
			want := fit.Intercept
			for k, j := range fit.Coef.Index {
				v := rows[i][j]
				if strings.Contains(flags, "unit-columns") {
					v /= math.Sqrt(norms[j])
				}
				want += fit.Coef.Value[k] * v
			}
			if math.Abs(got.Predictions[i]-want) > 1e-9 {
				t.Fatalf("%s: row %d is predicted as %g, want %g", flags, i, got.Predictions[i], want)
			}
		}
		if !(got.Error > 0 && got.Error < 10) {
			t.Errorf("%s: mean squared error %g", flags, got.Error)
		}
		o := pareRun(t, "predict", model, data)
		lines := strings.Fields(o.stdout)
		if o.code != exitOK || len(lines) != n || lines[3] != strconv.FormatFloat(got.Predictions[3], 'g', -1, 64) || !strings.Contains(o.stderr, "40 predictions of "+data) {
			t.Errorf("%s: exit %d, %d lines, %s", flags, o.code, len(lines), o.stderr)
		}
	}
}

func TestPredictClasses(t *testing.T) {
	var file strings.Builder
	for i := range 90 {
		class := i % 3
		noise := i * i % 7 / 6 // at times a label that does not fit
		fmt.Fprintf(&file, "%d %d:%d 3:%d\n", 5*((class+noise)%3), 1+class%2, 1+class, 1+i*i%5)
	}
	data := writeFile(t, "classes.svm", file.String())
	model := filepath.Join(t.TempDir(), "model")
	if o := pareRun(t, "select", "--model=multiclass", "--save", model, data); o.code != exitOK || !strings.Contains(flat(o.stdout), "pare predict "+model+" FILE") {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	got := decoded[struct {
		Labels   []float64
		Scores   [][]float64
		Accuracy float64
	}](t, exitOK, "predict", model, data, "--scores")
	if fmt.Sprint(got.Labels) != "[0 5 10]" || len(got.Scores) != 90 || got.Accuracy < 0.7 {
		t.Errorf("labels %v, %d rows, accuracy %g", got.Labels, len(got.Scores), got.Accuracy)
	}
	for _, row := range got.Scores {
		if math.Abs(row[0]+row[1]+row[2]-1) > 1e-12 {
			t.Errorf("probabilities %v", row)
		}
	}
	// Missing columns at the end are zeros; more columns than the model has are refused, with the position.
	if o := pareRunWith(t.Context(), "0 1:2\n", "predict", model, "-", "--quiet"); o.code != exitOK || len(strings.Fields(o.stdout)) != 1 || o.stderr != "" {
		t.Errorf("exit %d, %q, %q", o.code, o.stdout, o.stderr)
	}
	if o := pareRunWith(t.Context(), "0 1:2 4:1\n", "predict", model, "-"); o.code != exitFailed || !strings.Contains(o.stderr, "line 1") || !strings.Contains(o.stderr, "the 3 that the model was fitted on") {
		t.Errorf("exit %d, %q", o.code, o.stderr)
	}
	if err := os.WriteFile(model, []byte("no model"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := pareRun(t, "predict", model, data); o.code != exitFailed || !strings.Contains(o.stderr, "--save MODEL\" makes one") {
		t.Errorf("exit %d, %q", o.code, o.stderr)
	}
	if o := pareRun(t, "fit", "--ratio=0.1", "--save", filepath.Join(model, "inside")); o.code != exitFailed || !strings.Contains(o.stderr, "cannot save the model") {
		t.Errorf("exit %d, %q", o.code, o.stderr)
	}
}

// TestSaveSparesOtherFiles checks that a model may replace an old model, but no other file, such as the data.
func TestSaveSparesOtherFiles(t *testing.T) {
	text := "1 1:1\n2 1:3\n5 1:4\n"
	data := writeFile(t, "data.svm", text)
	o := pareRun(t, "fit", "--ratio=0.1", data, "--save", data)
	if left, err := os.ReadFile(data); o.code != exitFailed || !strings.Contains(o.stderr, "another name") || err != nil || string(left) != text {
		t.Errorf("a model saved over the data: exit %d, %s, now %q, %v", o.code, o.stderr, left, err)
	}
	kept := filepath.Join(t.TempDir(), "kept")
	for range 2 { // the second time there is an old model to replace
		if o := pareRun(t, "fit", "--ratio=0.1", data, "--save", kept); o.code != exitOK {
			t.Errorf("exit %d, %s", o.code, o.stderr)
		}
	}
}

// TestPredictWarnsOfUnknownLabels checks that labels which the model does not have give a warning, since their
// predictions cannot be judged.
func TestPredictWarnsOfUnknownLabels(t *testing.T) {
	var signs, bits, names, reals strings.Builder
	for i := range 60 {
		label := 2*(i/4%2) - 1
		x := label*3 + i*i%5
		fmt.Fprintf(&signs, "%d 1:%d\n", label, x)
		fmt.Fprintf(&bits, "%d 1:%d\n", (label+1)/2, x)
		fmt.Fprintf(&names, "%d,%s\n", x, []string{"NO", "YES"}[(label+1)/2])
		fmt.Fprintf(&reals, "%d,%g\n", x, float64(x)/3)
	}
	fitted := func(args ...string) string {
		model := filepath.Join(t.TempDir(), "model")
		if o := pareRun(t, append([]string{"fit", "--model=logreg", "--ratio=.1", "--save=" + model}, args...)...); o.code != exitOK {
			t.Fatal(o.stderr)
		}
		return model
	}
	lines := fitted(writeFile(t, "signs.svm", signs.String()))
	table := fitted("--target=y", writeFile(t, "named.csv", "x,y\n"+strings.ToLower(names.String())))
	for _, c := range []struct{ model, file, want string }{
		{lines, writeFile(t, "signs.svm", signs.String()), ""},
		{lines, writeFile(t, "bits.svm", bits.String()), "32 rows with labels that are unknown to the model (0), which count as wrong: the model has -1 and 1"},
		{table, writeFile(t, "names.csv", "x,y\n"+names.String()), "60 rows with labels that are unknown to the model (NO, YES)"},
		{table, writeFile(t, "reals.csv", "x,y\n"+reals.String()), ", ...), which count as wrong: the model has no and yes"},
	} {
		r := decoded[predictResult](t, exitOK, "predict", c.model, c.file)
		if c.want == "" && r.Warnings == nil {
			continue
		}
		if len(r.Warnings) != 1 || r.Warnings[0].Code != "unknown_labels" || !strings.Contains(r.Warnings[0].Message, c.want) {
			t.Errorf("%s: %+v, want %q", c.file, r.Warnings, c.want)
		}
		if o := pareRun(t, "predict", c.model, c.file); !strings.Contains(o.stderr, c.want) {
			t.Errorf("%s: %s", c.file, o.stderr)
		}
	}
}

// TestPredictWarnsOfTargetsThatAreNoNumbers checks that a warning says that targets in words cannot be compared
// with numerical predictions.
func TestPredictWarnsOfTargetsThatAreNoNumbers(t *testing.T) {
	model := filepath.Join(t.TempDir(), "model")
	if o := pareRun(t, "fit", "--ratio=.1", "--target=y", "--save="+model, writeFile(t, "numbers.csv", "x,y\n1,1\n2,2\n3,4\n4,4\n")); o.code != exitOK {
		t.Fatal(o.stderr)
	}
	for text, want := range map[string][2]string{
		"x,y\n1,low\n2,high\n": {"the target in the file is text, but the model predicts numbers", "2 rows with targets that are not numbers (low, high), which are not compared"},
		"x,y\n1,1\n2,high\n":   {"mean squared error", "1 row with targets that are not numbers (high), which are not compared"},
		"x,y\n1,1\n2,NA\n":     {"mean squared error", ""},
		"x,y\n1,\n2,NA\n":      {"the file has no target to compare with", ""},
	} {
		o := pareRun(t, "predict", model, writeFile(t, "new.csv", text))
		if o.code != exitOK || !strings.Contains(o.stderr, want[0]) || !strings.Contains(o.stderr, want[1]) || want[1] == "" && strings.Contains(o.stderr, "warning") {
			t.Errorf("%q: exit %d, %s", text, o.code, o.stderr)
		}
	}
}

// TestPredictKnowsNumbersAsCategories checks that a numerical category is matched in any spelling, unless the
// model has two categories that differ only in their spelling.
func TestPredictKnowsNumbersAsCategories(t *testing.T) {
	var codes, plain strings.Builder
	for i := range 40 {
		fmt.Fprintf(&codes, "%s,%d\n", []string{"01", "1", "2", "30"}[i%4], []int{1, 2, 4, 8}[i%4])
		fmt.Fprintf(&plain, "%d,%d\n", 10*(i%4), []int{1, 2, 4, 8}[i%4])
	}
	for _, c := range []struct {
		data          string
		cells, spelt  []string
		unknown, none int
	}{
		{plain.String(), []string{"0", "10", "20", "30"}, []string{"0.0", "10.0", "2e1", "+30"}, 0, 0},
		{codes.String(), []string{"01", "1", "2", "30"}, []string{"01", "1", "2.0", "030"}, 0, 0},
		{codes.String(), []string{"40", "31"}, []string{"1.0", "x"}, 2, 2},
	} {
		model := filepath.Join(t.TempDir(), "model")
		if o := pareRun(t, "fit", "--ratio=.1", "--target=y", "--one-hot", "--categories=x", "--save="+model, writeFile(t, "codes.csv", "x,y\n"+c.data)); o.code != exitOK {
			t.Fatal(o.stderr)
		}
		of := func(cells []string, unknown int) predictResult {
			r := decoded[predictResult](t, exitOK, "predict", model, writeFile(t, "new.csv", "x\n"+strings.Join(cells, "\n")+"\n"))
			if (unknown > 0) != (len(r.Warnings) > 0) {
				t.Errorf("%s: %+v", cells, r.Warnings)
			}
			return r
		}
		if a, b := of(c.cells, c.none), of(c.spelt, c.unknown); !slices.Equal(a.Predictions, b.Predictions) {
			t.Errorf("%s: %v, and %s: %v", c.cells, a.Predictions, c.spelt, b.Predictions)
		}
	}
}

// TestPredictSaysWhoseTheScoreIs checks that the output says to which of two classes a single score refers.
func TestPredictSaysWhoseTheScoreIs(t *testing.T) {
	var rows strings.Builder
	for i := range 40 {
		fmt.Fprintf(&rows, "%d,%s\n", 3*(i/4%2)+i*i%5, []string{"fast", "slow"}[i/4%2])
	}
	file := writeFile(t, "speeds.csv", "x,y\n"+rows.String())
	for model, want := range map[string]string{"logreg": "the score is the probability of slow", "svm": "a score above 0 is that of slow"} {
		saved := filepath.Join(t.TempDir(), "model")
		if o := pareRun(t, "fit", "--model="+model, "--log-lambda=-3", "--target=y", "--save="+saved, file); o.code != exitOK {
			t.Fatal(o.stderr)
		}
		if o := pareRun(t, "predict", saved, file, "--scores"); !strings.Contains(o.stderr, want) {
			t.Errorf("%s: %s", model, o.stderr)
		}
		if o := pareRun(t, "predict", saved, file); strings.Contains(o.stderr, "score") {
			t.Errorf("%s, without --scores: %s", model, o.stderr)
		}
	}
}
