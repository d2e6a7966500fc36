package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/random"
)

// classLabels writes a file with q classes and ten columns.
func classLabels(t *testing.T, name string, q int) string {
	t.Helper()
	r := random.SplitMix64(3)
	var text strings.Builder
	for i := range 12 * q {
		fmt.Fprint(&text, i%q)
		for j := range 10 {
			fmt.Fprintf(&text, " %d:%.3f", j+1, r.Normal()+float64((i%q+j)%5)/3)
		}
		text.WriteByte('\n')
	}
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// namedColumns writes a table whose columns have long names.
func namedColumns(t *testing.T, name string, p int) string {
	t.Helper()
	r := random.SplitMix64(4)
	var text strings.Builder
	for i := range 61 {
		cells := make([]string, p)
		for j := range cells {
			cells[j] = fmt.Sprintf("%.4f", r.Normal())
			if i == 0 {
				cells[j] = fmt.Sprintf("column number %d of the table", j+1)
			}
		}
		fmt.Fprintln(&text, strings.Join(cells, ","))
	}
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestNoLineIsWiderThanTheScreen checks that no command prints a line wider than the screen,
// unless it is a single word or the usage printed by the parser.
func TestNoLineIsWiderThanTheScreen(t *testing.T) {
	t.Chdir(t.TempDir())
	two, many := "two.svm", classLabels(t, "many.svm", 30)
	text := strings.NewReplacer("\n0 ", "\n-1 ").Replace("\n" + read(t, classLabels(t, two, 2)))
	if err := os.WriteFile(two, []byte(text[1:]), 0o600); err != nil {
		t.Fatal(err)
	}
	table := namedColumns(t, "table.csv", 30)
	commands := []string{
		"", "help", "--version",
		"select", "select --coef", "select --model enet", "select --model wlasso", "select --model ridge", "select --positive --standardize",
		"select --criterion sure", "select --criterion aic", "select --criterion holdout", "select --split blocks", "select --evaluations 2",
		"select --relaxed", "fit --relaxed --ratio=0.3 --model logreg " + two, "select --penalty-factors 3=0,9=2.5,1=inf", "select --lower=-200 --upper 3=300,9=100 --criterion holdout", "select --model enet --positive", "select --search grid --points 4 --min-ratio 0.5", "select --search tpe --evaluations 5", "select --unit-columns --min-nnz 3 --no-intercept --folds 4",
		"select --model logreg " + two, "select --plot", "path --plot --points 8", "select --model svm " + two, "select --model multiclass " + many, "select --model multiclass --per-class --evaluations 3 " + many,
		"fit --ratio 0.03", "fit --ratio 0.03 --coef", "fit --model enet --ratio 0.1", "fit --model svm --C 1 " + two, "fit --model wlasso --ratio 0.1",
		"fit --model logreg --ratio 0.1 --save model " + two, "fit --model multiclass --ratio 0.1 " + many, "fit --model multiclass --ratio 0.3 --coef " + many,
		"grad --ratio 0.03", "grad --ratio 0.03 --model enet", "grad --ratio 0.03 --model wlasso", "grad --ratio 0.1 --model multiclass " + many, "grad --ratio 0.1 --criterion sure",
		"path --points 6", "path --points 6 --model enet", "path --points 4 --model multiclass " + many, "path --points 4 --model logreg " + two,
		"info", "info " + many, "predict model " + two, "predict --scores model " + two, "inspect model", "inspect --coef model",
		"report", "report --model svm " + two, "convert " + two + " mapped", "info mapped",
		"info --target 2 " + table, "select --target 2 " + table, "path --points 6 --coef --target 2 " + table, "fit --ratio 0.1 --coef --target 2 " + table,
	}
	refused := []string{
		"info --target 31 " + table, "select --lambda 1", "select --l1_ratio 0.5", "select --model forest", "fit", "select nowhere.csv", "select --target none " + table, "slect",
	}
	for _, topic := range topics {
		commands = append(commands, "help "+topic)
	}
	commands = append(commands, refused...)
	for _, width := range []int{80, 60} {
		t.Setenv("COLUMNS", strconv.Itoa(width))
		for i, line := range commands {
			if width < 80 && (strings.HasPrefix(line, "help") || line == "") {
				continue // these texts are laid out for 80 columns
			}
			if saved := strings.Contains(line+" ", " model ") || strings.Contains(line, " mapped"); !saved && !oracle.Turn(i+width/20, 4) {
				continue
			}
			o := pareRun(t, strings.Fields(line)...)
			if worked := o.code == exitOK || o.code == exitUntrusted; worked == slices.Contains(refused, line) {
				t.Errorf("pare %s: exit %d\n%s%s", line, o.code, o.stdout, o.stderr)
			}
			keepScreen(t, width, line, o)
			complaint := strings.Join(wrap(o.stderr, width), "\n") // as fail wraps it on a terminal
			for got := range strings.Lines(o.stdout + complaint) {
				got = strings.TrimRight(got, "\n")
				if utf8.RuneCountInString(got) > width && len(strings.Fields(strings.TrimSuffix(got, ` \`))) > 1 {
					t.Errorf("pare %s: %d characters on a screen of %d: %s", line, utf8.RuneCountInString(got), width, got)
				}
			}
		}
	}
}

// keepScreen saves the output of a command to a file in the folder PARE_ARTEFACTS, for people
// to look at.
func keepScreen(t *testing.T, width int, line string, o outcomeOf) {
	t.Helper()
	folder := os.Getenv("PARE_ARTEFACTS")
	if folder == "" {
		return
	}
	file, err := os.OpenFile(fmt.Sprintf("%s/screens-%d.txt", folder, width), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(file, "$ pare %s\n%s%s\n", line, o.stdout, o.stderr)
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWrap checks that wrapping neither loses nor changes words, and breaks lines after commas
// where possible.
func TestWrap(t *testing.T) {
	for _, test := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 10, []string{""}},
		{"short", 10, []string{"short"}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two, three four", 14, []string{"one two,", "three four"}},
		{"averyveryverylongword and more", 10, []string{"averyveryverylongword", "and more"}},
		{"α = 1, λ = 2", 7, []string{"α = 1,", "λ = 2"}},
		{`see "pare help" and more`, 12, []string{"see", `"pare help"`, "and more"}},
		{`"far too long a name" x`, 9, []string{`"far too`, "long a", `name" x`}},
	} {
		if got := wrap(test.text, test.width); strings.Join(got, "|") != strings.Join(test.want, "|") {
			t.Errorf("%q in %d: %q", test.text, test.width, got)
		}
	}
	for _, test := range []struct {
		text string
		want []string
	}{{"pare fit --ratio=0.1 'a file'", []string{"pare fit", "--ratio=0.1", "'a file'"}}} {
		if got := fill(test.text, 13); strings.Join(got, "|") != strings.Join(test.want, "|") {
			t.Errorf("%q: %q", test.text, got)
		}
	}
}

// TestTableLosesColumns checks that a table that is too wide drops its least important columns.
func TestTableLosesColumns(t *testing.T) {
	for _, test := range []struct {
		width int
		heads string
	}{{30, "a bb   ccc dddd"}, {17, "a bb   ccc"}, {11, "a bb"}, {2, "a bb"}} {
		var out bytes.Buffer
		p := page{out: &out, width: test.width}
		p.table(0, []column{{head: "a"}, {head: "bb", left: true}, {head: "ccc", spare: 1}, {head: "dddd", spare: 2}}, [][]string{{"1", "long", "3", "4"}})
		head, _, _ := strings.Cut(out.String(), "\n")
		if strings.Join(strings.Fields(head), " ") != strings.Join(strings.Fields(test.heads), " ") {
			t.Errorf("in %d: %q, want %q", test.width, head, test.heads)
		}
	}
}

// TestNamesDoNotCommandTheTerminal checks that names in a file cannot send control sequences to
// the terminal, neither in results nor in errors.
func TestNamesDoNotCommandTheTerminal(t *testing.T) {
	data := writeFile(t, "names.csv", "\"a\x1b[31m\nred\u009b\",b\a,y\n1,2,3\n2,3,5\n3,5,6\n4,1,9\n1,7,2\n")
	for _, args := range []string{"info --target y", "fit --ratio 0.1 --target y", "path --points 2 --folds 2 --target y", "fit --ratio 0.1 --target z"} {
		o := pareRun(t, append(strings.Fields(args), data)...)
		text := o.stdout + o.stderr
		if strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) || !strings.Contains(text, "a␛[31m") {
			t.Errorf("%s: %q", args, text)
		}
	}
}
