package main

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// asTable writes the diabetes data as CSV, with the target replaced by label.
func asTable(t *testing.T, label func(y float64) string) string {
	t.Helper()
	x, y := diabetesRows(t)
	var text strings.Builder
	names := []string{"age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6", "progression"}
	text.WriteString(strings.Join(names, ",") + "\n")
	for i, row := range x {
		for _, v := range row {
			text.WriteString(short(v) + ",")
		}
		text.WriteString(label(y[i]) + "\n")
	}
	return writeFile(t, "diabetes.txt", text.String())
}

func high(no, yes string) func(float64) string {
	return func(y float64) string {
		if y > 140 {
			return yes
		}
		return no
	}
}

// TestCoefficientsHaveNames checks that coefficients have the names of their columns in the
// file.
func TestCoefficientsHaveNames(t *testing.T) {
	got := decoded[selectResult](t, exitOK, "select", "--coef", "--target=progression", asTable(t, short))
	if names := got.Final.Coef.Name; names[0] != "sex" || len(names) != len(got.Final.Coef.Index) {
		t.Errorf("names %q", names)
	}
	o := pareRun(t, "fit", "--ratio=0.1", "--target=-1", asTable(t, short))
	if o.code != exitOK || !strings.Contains(o.stdout, "bmi: +") {
		t.Errorf("%s%s", o.stdout, o.stderr)
	}
}

// TestColumnsOfMatricesAreChosen checks that columns are selected from matrices as from tables:
// the fit has the same bits, columns keep their numbers in the file, and a saved model reads
// the original file.
func TestColumnsOfMatricesAreChosen(t *testing.T) {
	file, kept := asTable(t, short), filepath.Join(t.TempDir(), "model")
	lines := writeFile(t, "diabetes.svm", readDiabetes(t))
	mapped := filepath.Join(t.TempDir(), "data.pare")
	if o := pareRun(t, "convert", lines, mapped); o.code != exitOK {
		t.Fatal(o.stderr)
	}
	table := []string{"fit", "--ratio=0.1", "--coef", "--save=" + kept, "--target=progression"}
	want := decoded[fitResult](t, exitOK, append(table, "--drop=age,s3", file)...)
	predicted := pareRun(t, "predict", "--quiet", kept, file).stdout
	place := []int32{1, 2, 3, 4, 5, 7, 8, 9} // the positions in the file of the columns of the table
	for _, args := range [][]string{{"--drop=1,7", lines}, {"--columns=2,3,4,5,6,8,9,-1", lines}, {"--drop=1,7", mapped}, {"--drop=1,-4"}} {
		got := decoded[fitResult](t, exitOK, append([]string{"fit", "--ratio=0.1", "--coef", "--save=" + kept}, args...)...)
		var index []int32
		for _, j := range want.Coef.Index {
			index = append(index, place[j])
		}
		if got.P != 8 || got.Objective != want.Objective || !slices.Equal(got.Coef.Value, want.Coef.Value) || !slices.Equal(got.Coef.Index, index) {
			t.Errorf("%q: %+v, want %+v at %v", args, got, want, index)
		}
		if o := pareRun(t, "predict", "--quiet", kept, lines); o.stdout != predicted || o.code != exitOK {
			t.Errorf("%q: predictions\n%.200s%s", args, o.stdout, o.stderr)
		}
	}
	for _, args := range [][]string{{"convert", "--drop=1", lines, mapped}, {"fit", "--ratio=0.1", "--drop=1", "--unit-rows", "--save=" + kept}, {"info", "--drop=11"}} {
		if o := pareRun(t, args...); o.code != exitUsage {
			t.Errorf("%q: exit %d\n%s", args, o.code, o.stderr)
		}
	}
}

// TestColumnsWithoutNamesKeepTheirNumbers checks that columns of a table without names are
// called by their numbers in the file, which count the target.
func TestColumnsWithoutNamesKeepTheirNumbers(t *testing.T) {
	file := writeFile(t, "plain.csv", "9,1,0.5,3\n2,2,0.1,1\n4,7,0.3,2\n1,5,0.2,9\n3,3,0.9,4\n8,1,0.6,6\n")
	got := decoded[fitResult](t, exitOK, "fit", "--target=1", "--drop=3", "--ratio=0.01", "--coef", "--penalty-factors=4=0.5", file)
	if names := got.Coef.Name; !slices.Equal(names, []string{"column 2", "column 4"}) {
		t.Errorf("names %q", names)
	}
	if got := decoded[fitResult](t, exitOK, "fit", "--target=-1", "--ratio=0.01", "--coef", file); got.Coef.Name != nil {
		t.Errorf("names %q where the matrix has the first columns of the file", got.Coef.Name)
	}
}

// TestLabelsOfAnyTwoKinds checks that any two labels are two classes and keep their names.
func TestLabelsOfAnyTwoKinds(t *testing.T) {
	for _, model := range []string{"logreg", "svm"} {
		args := []string{"select", "--model=" + model, "--coef", "--target=progression"}
		want := decoded[selectResult](t, exitOK, append(args, asTable(t, high("-1", "1")))...)
		if want.Final.Labels != nil {
			t.Errorf("%s: −1 and 1 are called %v", model, want.Final.Labels)
		}
		for _, kinds := range [][]string{{"0", "1"}, {"1", "2"}, {"-3.5", "1e3"}, {"no", "yes"}, {"FALSE", "TRUE"}} {
			file := asTable(t, high(kinds[0], kinds[1]))
			got := decoded[selectResult](t, exitOK, append(args, file)...)
			if !slices.Equal(got.LogLambda, want.LogLambda) || got.Value != want.Value || !reflect.DeepEqual(got.Final.Coef, want.Final.Coef) || got.Final.Intercept != want.Final.Intercept {
				t.Errorf("%s, %q: another choice", model, kinds)
			}
			if names := fmt.Sprint(got.Final.Labels...); names != fmt.Sprint(labelledAll(append([]string{}, kindNames(kinds)...))...) {
				t.Errorf("%s, %q: labels %s", model, kinds, names)
			}
		}
	}
	o := pareRun(t, "select", "--model=lasso", "--target=progression", asTable(t, high("no", "yes")))
	if o.code != exitUsage || !strings.Contains(o.stderr, "use --model logreg for two classes") {
		t.Errorf("exit %d\n%s", o.code, o.stderr)
	}
	w := decoded[struct{ Warnings []warning }](t, exitOK, "select", "--target=progression", asTable(t, high("0", "1")))
	if len(w.Warnings) != 1 || w.Warnings[0].Code != "target_classes" || !strings.Contains(w.Warnings[0].Message, "logreg") {
		t.Errorf("a Lasso of classes: %+v", w.Warnings)
	}
}

// kindNames returns class names as results print them: numbers in their shortest form.
func kindNames(kinds []string) []string {
	names := slices.Clone(kinds)
	for k, name := range names {
		if v, err := parseNumber(name); err == nil {
			names[k] = short(v)
		}
	}
	return names
}

// TestMulticlassOfTexts checks that the classes of a multiclass model may also be texts.
func TestMulticlassOfTexts(t *testing.T) {
	third := func(names ...string) func(float64) string {
		return func(y float64) string {
			switch {
			case y < 100:
				return names[0]
			case y < 180:
				return names[1]
			default:
				return names[2]
			}
		}
	}
	args := []string{"fit", "--model=multiclass", "--ratio=0.05", "--target=progression"}
	want := decoded[fitResult](t, exitOK, append(args, asTable(t, third("1", "2", "3")))...)
	got := decoded[fitResult](t, exitOK, append(args, asTable(t, third("a", "b", "c")))...)
	for k, name := range []string{"a", "b", "c"} {
		if got.Classes[k].Label != any(name) || got.Classes[k].Intercept != want.Classes[k].Intercept {
			t.Errorf("class %d: %+v, want %+v", k, got.Classes[k], want.Classes[k])
		}
	}
	o := pareRun(t, append(args, asTable(t, third("a", "b", "c")))...)
	if !strings.Contains(o.stdout, " a  ") {
		t.Errorf("%s", o.stdout)
	}
}

// TestColumnsBesideTheFeatures checks that weights, groups and folds may be columns, which then
// are not features.
func TestColumnsBesideTheFeatures(t *testing.T) {
	x, y := diabetesRows(t)
	var text, weights, folds, groups strings.Builder
	text.WriteString("a,b,w,fold,clinic,y\n")
	for i := range y {
		fmt.Fprintf(&text, "%v,%v,%d,%d,clinic %d,%v\n", x[i][2], x[i][8], 1+i%3, i%4, i%7, y[i])
		fmt.Fprintln(&weights, 1+i%3)
		fmt.Fprintln(&folds, i%4)
		fmt.Fprintln(&groups, i%7)
	}
	file := writeFile(t, "table.csv", text.String())
	weighed, dealt, grouped := writeFile(t, "w", weights.String()), writeFile(t, "f", folds.String()), writeFile(t, "g", groups.String())
	for _, c := range []struct{ columns, files []string }{
		{[]string{"--sample-weights=w", "--fold-ids=fold"}, []string{"--sample-weights=" + weighed, "--fold-ids=" + dealt}},
		{[]string{"--sample-weights=3", "--groups=clinic"}, []string{"--sample-weights=" + weighed, "--groups=" + grouped}},
		{[]string{"--fold-column=fold"}, []string{"--fold-ids=" + dealt}},
	} {
		base := []string{"select", "--target=y", file}
		got := decoded[selectResult](t, exitOK, append(append(base, c.columns...), "--columns=a,b")...)
		want := decoded[selectResult](t, exitOK, append(append(base, c.files...), "--drop=w,fold,clinic")...)
		if got.Final.P != 2 || got.Value != want.Value || !slices.Equal(got.LogLambda, want.LogLambda) {
			t.Errorf("%q: %v of %d columns, want %v", c.columns, got.Value, got.Final.P, want.Value)
		}
	}
	got := decoded[selectResult](t, exitOK, "select", "--target=y", "--sample-weights=w", "--fold-ids=fold", "--drop=clinic", file)
	if got.Final.P != 2 {
		t.Errorf("%d columns", got.Final.P)
	}
	o := pareRun(t, "select", "--target=y", "--groups=hospital", "--drop=clinic", file)
	if o.code != exitUsage || !strings.Contains(o.stderr, `"hospital" is neither a column`) {
		t.Errorf("exit %d\n%s", o.code, o.stderr)
	}
}

// TestTablesThatNeedFlags checks that an error about a table says which flag solves the
// problem.
func TestTablesThatNeedFlags(t *testing.T) {
	file := writeFile(t, "t.csv", "a,color,y\n1,red,2\n2,blue,3\n,red,1\n5,green,4\n")
	for args, want := range map[string]string{
		"--target=y":                  "--one-hot makes a column",
		"--target=y --drop=color":     "--missing mean, zero or drop-rows",
		"--target=z":                  "the columns are a, color, y",
		"--target=y --missing=median": "mean, zero, drop-rows",
		"--target=y --categories=a":   "--one-hot",
		"--target=y --drop=colour":    `no column "colour"`,
		"--target=y --drop=color --missing=zero --sample-weights=nowhere":   "neither a column",
		"--target=y --drop=color --missing=zero --sample-weights=./nowhere": "cannot be opened",
	} {
		o := pareRun(t, append([]string{"select", file}, strings.Fields(args)...)...)
		if o.code == exitOK || o.stdout != "" || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: exit %d\n%s%swithout %q", args, o.code, o.stdout, o.stderr, want)
		}
	}
	o := pareRun(t, "info", "--drop=color", "--missing=mean", file)
	if o.code != exitOK || !strings.Contains(o.stdout, "a, y") || !strings.Contains(o.stdout, "--target=COLUMN") {
		t.Errorf("info without a target: exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}

// TestFlagsOfSVMLight checks that flags for svmlight text are refused, not ignored, with other
// data.
func TestFlagsOfSVMLight(t *testing.T) {
	table := writeFile(t, "table.csv", "a,y\n1,2\n3,5\n2,2\n")
	for _, flag := range []string{"features", "zero-based"} {
		args := []string{"fit", "--ratio=0.1", table, "--target=y", "--" + flag}
		if flag == "features" {
			args[len(args)-1] += "=3"
		}
		if o := pareRun(t, args...); o.code != exitUsage || !strings.Contains(o.stderr, "--"+flag+": applies only to svmlight text; "+table+" is CSV") {
			t.Errorf("exit %d: %s", o.code, o.stderr)
		}
	}
	lines := writeFile(t, "data.svm", "1 0:2\n2 0:3\n1 0:-1\n")
	if o := pareRun(t, "fit", "--ratio=0.1", lines, "--zero-based", "--features=3"); o.code != exitOK {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}
