package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks returns the fenced blocks of a language in a text.
func blocks(text, language string) []string {
	var found []string
	for {
		_, after, ok := strings.Cut(text, "\n```"+language+"\n")
		if !ok {
			return found
		}
		block, rest, _ := strings.Cut(after, "\n```")
		found, text = append(found, block), rest
	}
}

// pages are the pages that newcomers read first.
var pages = []string{"README.md", "docs/guide.md", "docs/coming-from.md"}

// asPrinted compares the output of a command with the output shown on a page. Words must be equal, and numbers must
// agree to six digits, except times and numbers that are mere rounding error. The name of the kernel set is ignored,
// and a line of three dots stands for any number of lines.
func asPrinted(got, want string) (same bool, difference string) {
	words, numbers := wordsAndNumbers(got)
	parts := regexp.MustCompile(`(?m)^ *\.\.\.$`).Split(want, -1)
	for i, part := range parts {
		text, stated := wordsAndNumbers(part)
		at := strings.Index(words, text)
		if at < 0 || i == 0 && at > 0 {
			return false, "other words"
		}
		numbers = numbers[strings.Count(words[:at], "\x00"):]
		for k, v := range stated {
			if printed := numbers[k]; !alike(printed, v) {
				return false, "it prints " + printed + " where the page has " + v
			}
		}
		numbers, words = numbers[len(stated):], words[at+len(text):]
	}
	return len(parts) > 1 || words == "", "more than the page has"
}

// wordsAndNumbers splits a text into its words, with a NUL in place of each number, and its numbers.
func wordsAndNumbers(text string) (words string, numbers []string) {
	text = regexp.MustCompile(`"kernels":"[a-z0-9]*"`).ReplaceAllString(text, `"kernels"`)
	text = regexp.MustCompile(`([a-z]*seconds":)[-+.e0-9]+`).ReplaceAllString(text, "${1}0 s")
	text = regexp.MustCompile(`[-+]?\b[0-9]+([.,][0-9]+)*(e[-+]?[0-9]+)?( m?s\b)?`).ReplaceAllStringFunc(text, func(number string) string {
		numbers = append(numbers, number)
		return "\x00"
	})
	return strings.Join(strings.Fields(text), " "), numbers
}

// alike reports whether two numbers agree to six digits or need not agree.
func alike(a, b string) bool {
	if a == b || strings.HasSuffix(a, "s") && strings.HasSuffix(b, "s") {
		return true
	}
	v, err := strconv.ParseFloat(a, 64)
	w, err2 := strconv.ParseFloat(b, 64)
	const rounding = 1e-12 // gaps and residuals below this are rounding error
	return err == nil && err2 == nil && (math.Abs(v-w) <= 1e-6*math.Abs(w) || math.Abs(v) < rounding && math.Abs(w) < rounding)
}

// TestPagesShowWhatTheCommandPrints runs the commands in console blocks as written, in the folder of the page.
func TestPagesShowWhatTheCommandPrints(t *testing.T) {
	texts := map[string]string{}
	for _, name := range pages {
		texts[name] = read(t, filepath.Join("../..", name))
	}
	data, err := filepath.Abs("../../docs/data")
	if err != nil {
		t.Fatal(err)
	}
	clone := t.TempDir()
	if err := os.CopyFS(filepath.Join(clone, "docs", "data"), os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	for _, name := range pages {
		t.Chdir(filepath.Join(clone, filepath.Dir(name)))
		ran := 0
		for _, block := range blocks(texts[name], "console") {
			for _, example := range strings.Split("\n"+block, "\n$ pare ")[1:] {
				line, want, _ := strings.Cut(example, "\n")
				ran++
				o := pareRun(t, strings.Fields(line)...)
				got := o.stdout + o.stderr
				if same, difference := asPrinted(got, want); !same {
					t.Errorf("%s: pare %s: %s; it prints\n%s\nthe page says\n%s", name, line, difference, got, want)
				}
			}
		}
		if ran == 0 {
			t.Errorf("%s has no example", name)
		}
	}
}

// TestStrengthsOfOtherPrograms checks the conversions to the strengths of scikit-learn, glmnet and liblinear: their
// objectives are evaluated here from their definitions at the printed coefficients.
func TestStrengthsOfOtherPrograms(t *testing.T) {
	rows := func(name string) (x [][]float64, y []float64) {
		for line := range strings.Lines(read(t, "../../docs/data/"+name)) {
			fields := strings.FieldsFunc(strings.TrimSpace(line), func(r rune) bool { return r == ',' || r == ' ' })
			var values []float64
			for _, f := range fields {
				if _, after, ok := strings.Cut(f, ":"); ok {
					f = after
				}
				v, err := strconv.ParseFloat(f, 64)
				if err != nil {
					break // the header
				}
				values = append(values, v)
			}
			if len(values) == 11 {
				x, y = append(x, values[1:]), append(y, values[0])
			}
		}
		return x, y
	}
	x, y := rows("diabetes.csv")
	labelled, labels := rows("high.svm")
	for _, test := range []struct {
		args      string
		x         [][]float64
		y         []float64
		objective func(losses, l1, l2, n float64) float64 // the documented objective, divided as ours is
		loss      func(y, m float64) float64
	}{
		{"fit --alpha 0.1 --target progression ../../docs/data/diabetes.csv", x, y, func(losses, l1, _, n float64) float64 { return losses/(2*n) + 0.1*l1 }, func(y, m float64) float64 { return (y - m) * (y - m) }},
		{"fit --model enet --alpha 0.03,0.07 --target progression ../../docs/data/diabetes.csv", x, y, func(losses, l1, l2, n float64) float64 { return losses/(2*n) + 0.1*0.3*l1 + 0.5*0.1*0.7*l2 }, func(y, m float64) float64 { return (y - m) * (y - m) }},
		{"fit --model logreg --C 2 ../../docs/data/high.svm", labelled, labels, func(losses, l1, _, n float64) float64 { return (2*losses + l1) / (2 * n) }, func(y, m float64) float64 { return math.Log1p(math.Exp(-y * m)) }},
		{"fit --model svm --C 2 ../../docs/data/high.svm", labelled, labels, func(losses, _, l2, _ float64) float64 { return 2*losses + l2/2 }, func(y, m float64) float64 { return max(0, 1-y*m) }},
	} {
		r := decoded[fitResult](t, exitOK, append(strings.Fields(test.args), "--coef", "--tol=1e-9")...)
		var losses, l1, l2 float64
		for i, row := range test.x {
			m := float64(r.Intercept)
			for k, j := range r.Coef.Index {
				m += row[j] * float64(r.Coef.Value[k])
			}
			losses += test.loss(test.y[i], m)
		}
		for _, v := range r.Coef.Value {
			l1 += math.Abs(float64(v))
			l2 += float64(v) * float64(v)
		}
		if want := test.objective(losses, l1, l2, float64(len(test.y))); math.Abs(float64(r.Objective)-want) > 1e-9*want {
			t.Errorf("pare %s: objective %g, by definition %g", test.args, float64(r.Objective), want)
		}
	}
}

// TestREADMERatiosAreMeasured checks that the ratios in the README equal those in docs/goals/peers.csv, logreg.csv and
// deep.csv, to two digits.
func TestREADMERatiosAreMeasured(t *testing.T) {
	measured := map[string]string{} // by problem and contestant, at the gap of the table
	for _, name := range []string{"peers", "logreg", "deep"} {
		file, err := os.ReadFile("../../docs/goals/" + name + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines[1:] {
			gap := "1e-06"
			if strings.HasPrefix(line[0], "svm") {
				gap = "0.0001"
			}
			if line[1] == gap {
				measured[line[0]+"|"+line[2]] = line[9]
			}
		}
	}
	contestants := []string{"", "", "scikit-learn", "glmnet", "celer", "skglm", "BlitzML", "liblinear"}
	compared := 0
	for line := range strings.Lines(readme(t)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != len(contestants) || !strings.HasPrefix(cells[0], " `") {
			continue
		}
		problem := strings.Trim(cells[0], " `")
		for k, name := range contestants {
			shown, isRatio := strings.CutSuffix(strings.TrimSpace(cells[k]), " ×")
			if name == "" || !isRatio {
				continue
			}
			compared++
			ratio, err := strconv.ParseFloat(measured[problem+"|"+name], 64)
			if err != nil || strconv.FormatFloat(ratio, 'g', 2, 64) != strconv.FormatFloat(must(strconv.ParseFloat(shown, 64)), 'g', 2, 64) {
				t.Errorf("%s, %s: the page has %s, measured %v", problem, name, shown, measured[problem+"|"+name])
			}
		}
	}
	if compared < 20 {
		t.Errorf("%d ratios compared", compared)
	}
}

func must(v float64, err error) float64 {
	if err != nil {
		panic(err)
	}
	return v
}

// TestREADMEExampleRuns builds the README's library example unchanged and runs it.
func TestREADMEExampleRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it builds a program")
	}
	found := blocks(readme(t), "go")
	if len(found) != 1 {
		t.Fatalf("%d examples, want 1", len(found))
	}
	source := writeFile(t, "main.go", found[0])
	dir := filepath.Dir(source)
	program := filepath.Join(dir, "example")
	if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "data.svm"), []byte(readDiabetes(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !bytes.HasPrefix(out, []byte("λ = [-")) || !bytes.Contains(out, []byte("column 2 has coefficient 5")) {
		t.Errorf("it prints\n%s", out)
	}
}

// TestPagesHaveGoThatCompiles checks that the Go fragments on the page for services compile.
func TestPagesHaveGoThatCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it compiles a program")
	}
	var program strings.Builder
	program.WriteString("package main\nimport (\n\"context\"\n\"github.com/seed-45b9a24c/pare\"\n\"github.com/seed-45b9a24c/pare/sparse\"\n)\nfunc main() {}\n")
	found := blocks(read(t, "../../docs/embedding.md"), "go")
	for i, block := range found {
		fmt.Fprintf(&program, "func f%d(ctx context.Context, x *sparse.CSC, y []float64, c pare.Config, s, yesterday *pare.Selection, live *pare.Live) {\n{\n%s\n", i, block)
		for _, names := range regexp.MustCompile(`(?m)^([\w, ]+) :=`).FindAllStringSubmatch(block, -1) {
			for name := range strings.SplitSeq(names[1], ", ") {
				fmt.Fprintf(&program, "_ = %s\n", name)
			}
		}
		program.WriteString("}\n}\n")
	}
	if out, err := exec.Command("go", "build", "-o", os.DevNull, writeFile(t, "main.go", program.String())).CombinedOutput(); err != nil || len(found) < 3 {
		t.Errorf("%d pieces, %v\n%s", len(found), err, out)
	}
}

// TestLinksLead checks that every file and heading to which a page links exists.
func TestLinksLead(t *testing.T) {
	for _, name := range append(pages, "docs/mathematics.md", "docs/checks.md") {
		page := filepath.Join("../..", name)
		for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(read(t, page), -1) {
			target, anchor, _ := strings.Cut(link[1], "#")
			to := filepath.Join(filepath.Dir(page), target)
			if target == "" {
				to = page
			}
			if _, err := os.Stat(to); err != nil {
				t.Error(err)
			} else if anchor != "" && !strings.Contains(strings.ReplaceAll(strings.ToLower(read(t, to)), " ", "-"), "#-"+anchor+"\n") {
				t.Errorf("%s: no heading %q in %s", name, anchor, to)
			}
		}
	}
}
