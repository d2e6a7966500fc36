package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

const people = `id,age,income,color,outcome
1,23,1000.5,red,yes
2,45,2000,"blue, dark",no
3,31,1500,red,no
4,52,,green,yes
5,28,900,blue,no
6,39,1700,red,yes
7,44,2500,green,no
8,61,800,red,yes
9,33,1200,blue,no
10,47,NA,green,yes
11,29,3000,red,no
12,36,2200,blue,yes
`

func peopleModel(t *testing.T, flags ...string) (model, file string) {
	t.Helper()
	file, model = writeFile(t, "people.csv", people), filepath.Join(t.TempDir(), "model")
	args := append([]string{"fit", "--ratio=0.05", "--model=logreg", "--target=outcome", "--drop=id", "--one-hot", "--missing=mean", "--save=" + model, file}, flags...)
	if o := pareRun(t, args...); o.code != exitOK {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	return model, file
}

// TestPredictReadsTablesAsTheFitDid checks that a model fitted to a table predicts rows of a table by the names
// of its columns, in any order, with the categories and means of the fit, whatever other columns the file has.
func TestPredictReadsTablesAsTheFitDid(t *testing.T) {
	model, file := peopleModel(t)
	want := strings.Fields(pareRun(t, "predict", model, file, "--quiet").stdout)
	if len(want) != 12 || !slices.Contains(want, "yes") || !slices.Contains(want, "no") {
		t.Fatalf("%q", want)
	}
	// The columns are in another order, without id and outcome.
	var turned strings.Builder
	for line := range strings.Lines(strings.Replace(people, `"blue, dark"`, "blue dark", 1)) {
		cells := strings.Split(strings.TrimSpace(line), ",")
		fmt.Fprintf(&turned, "%s\t%s\t%s\n", strings.Replace(cells[3], "blue dark", "blue, dark", 1), cells[1], cells[2])
	}
	for text, rows := range map[string][]string{
		turned.String(): want,
		"age,color,income,outcome\n45,\"blue, dark\",2000,\n": want[1:2],
		"color,income,age\nred,1000.5,23\n":                   want[:1],
	} {
		o := pareRunWith(t.Context(), text, "predict", model, "-", "--quiet")
		if got := strings.Fields(o.stdout); o.code != exitOK || !slices.Equal(got, rows) {
			t.Errorf("%.40q: exit %d, %q, want %q\n%s", text, o.code, got, rows, o.stderr)
		}
	}
	// A file without a header has the columns in the order of the fit, with or without the target.
	headless := strings.SplitN(people, "\n", 2)[1]
	if o := pareRunWith(t.Context(), headless, "predict", model, "-", "--quiet"); !slices.Equal(strings.Fields(o.stdout), want) {
		t.Errorf("without a header: exit %d, %q\n%s", o.code, o.stdout, o.stderr)
	}
	r := decoded[predictResult](t, exitOK, "predict", model, file)
	right := 0.0
	for i, line := range strings.Split(strings.TrimSpace(headless), "\n") {
		if strings.HasSuffix(line, ","+want[i]) {
			right++
		}
	}
	if r.Accuracy == nil || float64(*r.Accuracy) != right/12 || r.Predictions[0] != any(want[0]) {
		t.Errorf("%+v", r)
	}
	unknown := decoded[predictResult](t, exitOK, "predict", model, writeFile(t, "new.csv", "age,income,color\n40,1000,mauve\n40,1000,\n"))
	if len(unknown.Warnings) != 1 || unknown.Warnings[0].Code != "unknown_categories" || unknown.N != 2 {
		t.Errorf("%+v", unknown)
	}
	for text, want := range map[string]string{
		"age,income\n1,2\n":               `no column "color"`,
		"age,income,color\nold,2,red\n":   "the model needs a number here",
		"age,income,color\ninf,2,red\n":   "is not a number that is finite, but the model",
		"1,2\n":                           "the columns have no names, and their number is 2, but the model was fitted on 5",
		"age,income,color\n1,2,red,\n":    "4 cells",
		"age,income,color\n1,1e999,red\n": "outside the range",
	} {
		o := pareRunWith(t.Context(), text, "predict", model, "-")
		if o.code != exitFailed || !strings.Contains(o.stderr, want) {
			t.Errorf("%q: exit %d\n%s", text, o.code, o.stderr)
		}
	}
}

// TestPredictKeepsThePlaceOfIncompleteRows checks that rows which the fit would have dropped get no prediction
// but keep their place in the output.
func TestPredictKeepsThePlaceOfIncompleteRows(t *testing.T) {
	model, file := peopleModel(t, "--missing=drop-rows")
	o := pareRun(t, "predict", model, file, "--scores")
	lines := strings.Split(o.stdout, "\n")
	if len(lines) != 13 || lines[3] != "NA" || lines[9] != "NA" || strings.Contains(lines[0], "NA") || !strings.Contains(o.stderr, "2 rows with missing cells") {
		t.Errorf("%s%s", o.stdout, o.stderr)
	}
	r := decoded[predictResult](t, exitOK, "predict", model, file, "--scores")
	if r.Predictions[3] != nil || r.Predictions[4] == nil || len(r.Scores) != 12 || r.Warnings[0].Code != "missing_cells" {
		t.Errorf("%+v", r)
	}
}

// TestPredictStreams checks that the first prediction is printed before the second row arrives, in every
// format.
func TestPredictStreams(t *testing.T) {
	table, _ := peopleModel(t)
	lines := filepath.Join(t.TempDir(), "lines")
	if o := pareRun(t, "fit", "--ratio=0.1", "--save="+lines); o.code != exitOK {
		t.Fatal(o.stderr)
	}
	for _, c := range []struct{ model, head, row string }{{table, "age,income,color\n", "30,100,red\n"}, {lines, "", "1 1:0.5 3:0.25\n"}} {
		in, write := io.Pipe()
		read, out := io.Pipe()
		done := make(chan int)
		go func() {
			var notes strings.Builder
			code := run(context.Background(), newInterrupt(func() {}), []string{"predict", c.model, "-"}, in, out, &notes)
			_ = out.Close()
			done <- code
		}()
		if _, err := io.WriteString(write, c.head); err != nil {
			t.Fatal(err)
		}
		predictions := bufio.NewReader(read)
		for range 3 {
			if _, err := io.WriteString(write, c.row); err != nil {
				t.Fatal(err)
			}
			if line, err := predictions.ReadString('\n'); err != nil || line == "\n" {
				t.Errorf("%q, %v", line, err)
			}
		}
		_ = write.Close()
		if code := <-done; code != exitOK {
			t.Errorf("exit %d", code)
		}
	}
}

// TestPredictWritesAFile checks that a file of predictions is either complete or absent.
func TestPredictWritesAFile(t *testing.T) {
	model, file := peopleModel(t)
	want := pareRun(t, "predict", model, file).stdout
	out := filepath.Join(t.TempDir(), "predictions")
	if o := pareRun(t, "predict", model, file, "--output="+out); o.code != exitOK || o.stdout != "" || !strings.Contains(o.stderr, out) {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	if got, err := os.ReadFile(out); err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	broken := writeFile(t, "broken.csv", "age,income,color\n30,100,red\n30,x,red\n")
	if o := pareRun(t, "predict", model, broken, "--output="+out); o.code != exitFailed {
		t.Errorf("exit %d", o.code)
	}
	if got, err := os.ReadFile(out); err != nil || string(got) != want {
		t.Errorf("after a failure: %q, %v", got, err)
	}
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestInspectShowsTheModel checks that inspect prints the contents of a model.
func TestInspectShowsTheModel(t *testing.T) {
	model, file := peopleModel(t, "--standardize")
	fit := decoded[fitResult](t, exitOK, "fit", "--ratio=0.05", "--model=logreg", "--target=outcome", "--drop=id", "--one-hot", "--missing=mean", "--standardize", "--coef", file)
	r := decoded[inspectResult](t, exitOK, "inspect", model)
	one := r.Scores[0]
	if !slices.Equal(one.Coef.Value, fit.Coef.Value) || !slices.Equal(one.Coef.Name, fit.Coef.Name) || one.Intercept != fit.Intercept ||
		r.LogLambda[0] != fit.LogLambda[0] || fmt.Sprint(r.Labels) != "[no yes]" || !r.Standardized || r.Status != fit.Status {
		t.Errorf("%+v\nfitted %+v", r, fit)
	}
	if in := r.Schema.Inputs; len(in) != 3 || in[2].Name != "color" || len(in[2].Categories) != 4 || in[1].Fill[0] != 1680.05 {
		t.Errorf("%+v", in)
	}
	o := pareRun(t, "inspect", model)
	for _, want := range []string{"color=red: +", "no, yes", "checksum", "1 of them as categories", "missing cells are replaced by the mean", "pare predict"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in\n%s", want, o.stdout)
		}
	}
	multi := filepath.Join(t.TempDir(), "multi")
	if o := pareRun(t, "fit", "--ratio=0.1", "--model=multiclass", "--target=color", "--drop=id,outcome", "--missing=zero", "--save="+multi, file); o.code != exitOK {
		t.Fatal(o.stderr)
	}
	if r := decoded[inspectResult](t, exitOK, "inspect", multi); len(r.Scores) != 4 || r.Scores[0].Label != any("blue") {
		t.Errorf("%+v", r)
	}
	if o := pareRun(t, "inspect", file); o.code != exitFailed || !strings.Contains(o.stderr, "not a saved model") {
		t.Errorf("exit %d\n%s", o.code, o.stderr)
	}
}

// TestInfoDescribesAnyTable checks that info lists the columns of any table and says what a fit needs, and that
// the command it suggests reads the table.
func TestInfoDescribesAnyTable(t *testing.T) {
	repeated := writeFile(t, "repeated.csv", "a,a,void,y,size\n1,2,,3,1\n2,1,,NA,L\n4,7,,5,1\n")
	long := writeFile(t, "long.csv", "note,y\n"+strings.Repeat("x", 1000)+",1\nshort,2\n")
	for _, c := range []struct {
		args  string
		words []string
		codes string
	}{
		{"../../docs/data/patients.csv", []string{"weight text 4 categories: high, low, normal, ...", "sugar numbers, 34 missing", "text in weight, progression: --one-hot"}, "text_columns missing_cells"},
		{"--target=progression ../../docs/data/patients.csv", []string{"text in weight: --one-hot"}, "text_columns missing_cells"},
		{"--one-hot ../../docs/data/patients.csv", []string{"missing cells in sugar: --missing"}, "missing_cells"},
		{"--target=y " + long, []string{"note text 2 categories: short, " + strings.Repeat("x", 40) + "..."}, "text_columns"},
		{"--target=y " + repeated, []string{"in column 2, 3: --drop", "numbers and text in size", "y numbers, 1 missing"}, "columns_to_drop mixed_columns missing_cells"},
	} {
		args := append([]string{"info"}, strings.Fields(c.args)...)
		r := decoded[contentsResult](t, exitOK, args...)
		codes := make([]string, len(r.Warnings))
		for i, w := range r.Warnings {
			codes[i] = w.Code
		}
		if strings.Join(codes, " ") != c.codes || r.N == 0 || len(r.Columns) == 0 {
			t.Errorf("%s: %+v", c.args, r)
		}
		o := pareRun(t, args...)
		for _, words := range c.words {
			if !strings.Contains(flat(o.stdout), words) {
				t.Errorf("%s: no %q in\n%s%s", c.args, words, o.stdout, o.stderr)
			}
		}
		if info := decoded[infoResult](t, exitOK, proposed(t, strings.ReplaceAll(strings.TrimPrefix(o.stdout, "pare info"), "'", ""), "info")...); info.P == 0 {
			t.Errorf("%s: %+v", c.args, info)
		}
	}
	type visit struct {
		X, Y float64
		When int64 `parquet:"when,timestamp(millisecond)"`
	}
	visits := filepath.Join(t.TempDir(), "visits")
	if err := parquet.WriteFile(visits, []visit{{1, 2, 0}, {3, 5, 86_400_000}, {4, 4, 0}}); err != nil {
		t.Fatal(err)
	}
	if o := pareRun(t, "info", "--target=Y", visits); !strings.Contains(flat(o.stdout), "times in when: --drop leaves the columns out") || !strings.Contains(flat(o.stdout), "next pare info --target=Y --drop=when") {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	if o := pareRun(t, "fit", "--ratio=0.1", "--target=Y", "--one-hot", visits); o.code != exitFailed || !strings.Contains(o.stderr, `row 1: column "when": "1970-01-01 00:00:00" is a time, not a number. --drop leaves the column out`) {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	if r := decoded[infoResult](t, exitOK, "info", "--target=Y", "--one-hot", "--categories=when", visits); !slices.Equal(r.Names, []string{"X", "when=1970-01-01 00:00:00", "when=1970-01-02 00:00:00"}) {
		t.Errorf("%q", r.Names)
	}
	thousands := writeFile(t, "thousands.csv", "a,y\n\"1,000.5\",2\n\"2,000\",3\n")
	if o := pareRun(t, "info", thousands); !strings.Contains(flat(o.stdout), "a comma between thousands; remove the comma: pare does not guess what is meant") || strings.Contains(o.stdout, "--decimal-comma") {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	commas := writeFile(t, "commas.csv", "a,y\n\"1,000\",2\n\"2,000\",3\n")
	if o := pareRun(t, "info", commas); o.code != exitOK || !strings.Contains(flat(o.stdout), "a: \"1,000\" is a number with a comma") ||
		!strings.Contains(flat(o.stdout), "pare does not guess what is meant; --decimal-comma reads") || strings.Contains(o.stdout, "next") {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	if o := pareRun(t, "info", writeFile(t, "ragged.csv", "a,y\nred,2\n1,2,3\n")); o.code != exitFailed || o.stdout != "" {
		t.Errorf("a row that is too long: exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}
