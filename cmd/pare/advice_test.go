package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatToDoNext checks that every status of a search, and every refusal, comes with advice
// on what to do next.
func TestWhatToDoNext(t *testing.T) {
	for args, want := range map[string]string{
		"select --model=enet --folds=10":          "lasso is as good",
		"select --model=enet":                     "lasso is as good",
		"select --search=random --evaluations=20": "the best of the points drawn",
		"select --search=tpe --evaluations=20":    "the best of the points drawn",
		"select --search=grid --min-ratio=0.5":    "lower --min-ratio",
		"select --model=logreg":                   "--model multiclass takes any number of classes",
		"select --model=svm":                      "lasso, enet and ridge take numbers",
		"select --model=wlasso":                   "pare select --save=MODEL --model=wlasso",
		"select --search=grid --points=1":         "the only point of the grid",
		"path --criterion=aic --points=4":         "it is on the edge of the grid",
		"path --model=enet --points=4":            "it is on the edge of the grid",
		"fit --ratio=0.1":                         "pare select",
	} {
		o := pareRun(t, strings.Fields(args)...)
		if !strings.Contains(o.stdout+o.stderr, want) {
			t.Errorf("pare %s: exit %d\n%s%swithout %q", args, o.code, o.stdout, o.stderr, want)
		}
		if strings.HasSuffix(args, "--points=1") && strings.Contains(o.stdout, "edge") {
			t.Errorf("pare %s: one point has no edge\n%s", args, o.stdout)
		}
		if strings.Contains(args, "random") && o.code != exitOK {
			t.Errorf("pare %s: exit %d", args, o.code)
		}
	}
}

// TestWhatMendsIt checks that the error for invalid input says how to correct the input.
func TestWhatMendsIt(t *testing.T) {
	file := func(name, text string) string { return writeFile(t, name, text) }
	compressed, err := os.ReadFile("../../internal/embedded/diabetes.svm.gz")
	if err != nil {
		t.Fatal(err)
	}
	var packing bytes.Buffer
	packer := gzip.NewWriter(&packing)
	_, _ = packer.Write([]byte("a,y\n1,2\n2,3\n"))
	if err := packer.Close(); err != nil {
		t.Fatal(err)
	}
	packed := packing.String()
	dir := t.TempDir()
	classes := [2]string{"a,y\n", "a,y\n6,Z\n"} // all classes have many rows; class Z has a single row
	for i := range 40 {
		classes[0] += fmt.Sprintf("%d,%s\n", i*i%7, []string{"no", "yes"}[i/3%2])
		classes[1] += fmt.Sprintf("%d,%s\n", i*i%7, []string{"A", "B"}[i/3%2])
	}
	for args, want := range map[string]string{
		"select --model=logreg " + file("one.svm", "1 1:1\n1 1:2\n1 2:1\n1 1:3\n1 2:5\n"):                            "\"pare info\" shows the labels",
		"select --model=logreg " + file("rare.svm", "1 1:1\n-1 1:2\n-1 2:1\n-1 1:3\n-1 2:5\n"):                       "--split stratified",
		"select --model=logreg " + file("bits.svm", "-1 1:1\n1 1:2\n0 2:1\n"):                                        "row 3: the label is 0; it must be −1 or 1. svm and logreg need two classes",
		"select --model=poisson " + file("debt.svm", "-1 1:1\n1 1:2\n0 2:1\n"):                                       "row 1: the count is -1; it must be 0 or more\n",
		"select --model=gamma " + file("zero.svm", "1 1:1\n0 1:2\n2 2:1\n"):                                          "row 2: the target is 0; it must be above 0\n",
		"grad --ratio=.1 --validation-loss=auc --model=logreg " + file("high.svm", "-1 1:1\n1 1:2\n1 2:1\n-1 2:2\n"): "--validation-loss: auc is piecewise constant and has no gradient; compute its values along a path instead\n",
		"select " + file("same.svm", "1 1:1\n1 1:2\n1 2:1\n1 1:3\n1 2:5\n"):                                          "αmax is 0",
		"select " + file("half.svm.gz", string(compressed[:3000])):                                                   "incomplete",
		"select " + file("sum.svm", string(compressed[:len(compressed)-6])+"damage"):                                 "damaged",
		"select --target=y " + file("sum.csv", packed[:len(packed)-8]+"damage!!"):                                    "The file is damaged",
		"convert " + file("x.svm", "1 1:1\n") + " " + filepath.Join(dir, "none", "x"):                                "Give a file in a directory that can be written",
		"fit --ratio=0.1 --save=-":                                                           "standard output is for the result",
		"convert " + file("y.svm", "1 1:1\n") + " -":                                         "standard output is for the result",
		"fit --ratio=.1 --no-zero-based " + file("from0.svm", "1 0:1\n2 0:2 1:1\n"):          "line 1, byte 3: the index is 0, but indices count from 1. --zero-based counts indices from 0.\n",
		"select " + file("far.svm", "1 2000000000:1\n"):                                      "--features",
		"select --target=y " + file("prices.csv", "a,y\n1,$2\n2,$3\n3,$5\n"):                 "$2, $3, $5; 3 different values in 3 rows are too many for classes: write numbers",
		file("alone.csv", "a,y\n1,2\n"):                                                      "a command must come before the file, such as pare select",
		"select --target=y":                                                                  "Give the file to read; - is standard input",
		"select --target=2 " + file("years.csv", "a,2024\n1,2\n2,3\n"):                       "leaves the column out; if this line is the header, give --header",
		"select --target=-1 " + file("frame.csv", ",0,1\n0,5,2\n1,6,3\n"):                    "such cells; if this line is the header, give --header",
		"fit --ratio=.1 --target=y --missing=mean " + file("ends.csv", "a,y,\n1,2,\n2,3,\n"): "column 3 has no values. --drop leaves the column out, by name or number",
		"select --target=y " + file("kind.csv", "a,y\nred,2\nblue,3\n"):                      "--drop leaves the column out.\n",
		"select --modell=lasso":                                                              "perhaps --model",
		"predict " + filepath.Join(dir, "none"):                                              "pare select FILE --save MODEL",
		"selct":                                                                              "perhaps select",
		"fit --ratio=0.1 --save=" + dir:                                                      "cannot save the model: the path exists and is not a regular file",
		"fit --ratio=0.1 --save=" + filepath.Join(dir, "none", "model"):                      "Give --save a file in a directory that can be written",
		"select --checkpoint=" + dir:                                                         "cannot save the evaluations: the path exists and is not a regular file",
		"select --checkpoint=" + filepath.Join(dir, "none", "log"):                           "Give --checkpoint a file in a directory that can be written",
		"select " + dir:                                                 "is a directory, not a file. Check the path",
		"predict " + file("data.svm", "1 1:2\n"):                        "not a saved model",
		"select " + file("data.csv", "a,b\n1,2\n"):                      "which column of",
		"fit --ratio=inf":                                               "for example 0.01",
		"select --target=y " + file("text.csv", "a,y\nred,1\nblue,2\n"): "text.csv: line 2",
		"select --target=y --drop=a " + file("thousands.csv", "a,b,y\n1,\"12,000\",1\n2,3,2\n"):             "write a point if it is a decimal comma, or remove it if it separates thousands. --decimal-comma reads",
		"select --target=y --offset=y " + file("offset.csv", "a,y\n1,1\n2,2\n"):                             "\"y\" is the target of",
		"select --target=y --offset=2 " + file("offset.csv", "a,y\n1,1\n2,2\n"):                             "\"2\" is the target of",
		"fit --ratio=.1 --penalty-factors=1=0 --upper=1=0.5":                                                "leave the bound out, or penalise the column",
		"fit --ratio=.1 --model=logreg --target=y --class-weight=no:2,no:3 " + file("c.csv", classes[0]):    "class no has two weights",
		"fit --ratio=.1 --target=2 --one-hot --penalty-factors=1=0 " + file("kinds.csv", "a,y\nu,1\nv,2\n"): "column 1 has categories; give one of the columns made from it, such as \"a=u\"",
		"select --model=multinomial --target=y " + file("m.csv", classes[1]):                                "class Z: there is no row to train on. A class with a single row",
		"select --model=multiclass --split=stratified --target=y " + file("s.csv", classes[1]):              "class Z: its only row is held out by fold",
	} {
		o := pareRun(t, strings.Fields(args)...)
		if o.code == exitOK || !strings.Contains(o.stderr, want) || o.stdout != "" || strings.Contains(o.stderr, "--one-hot: ") || strings.Contains(o.stderr, "--unit-columns") {
			t.Errorf("pare %s: exit %d\n%s%swithout %q", args, o.code, o.stdout, o.stderr, want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestWhatMendsLongRows checks the advice for a support vector machine whose rows have too
// large norms, as columns may have for other models.
func TestWhatMendsLongRows(t *testing.T) {
	file := writeFile(t, "long.svm", "1 1:1e200\n-1 1:2e200\n1 2:1\n")
	for _, model := range []string{"svm", "logreg"} {
		o := pareRun(t, "fit", "--log-lambda=0", "--model="+model, file)
		if o.code != exitFailed || !strings.Contains(o.stderr, "overflows: scale the columns. --unit-columns scales every column") {
			t.Errorf("%s: exit %d: %s", model, o.code, o.stderr)
		}
	}
}

// TestWhatMendsAnInfinity checks that a number that is not finite is not blamed on the scale.
func TestWhatMendsAnInfinity(t *testing.T) {
	header := fmt.Sprintf("%-117s\n", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1), }")
	array := append([]byte("\x93NUMPY\x01\x00\x76\x00"+header), make([]byte, 16)...)
	binary.LittleEndian.PutUint64(array[len(array)-8:], math.Float64bits(math.Inf(1)))
	o := pareRun(t, "fit", "--ratio=0.1", "--target="+writeFile(t, "y", "1\n2\n"), writeFile(t, "x.npy", string(array)))
	if o.code != exitFailed || !strings.Contains(o.stderr, "row 2: column 1: +Inf is not finite. All values of a matrix must be finite") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}
