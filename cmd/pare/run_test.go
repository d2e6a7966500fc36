package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/seed-45b9a24c/pare/search"
)

// outcomeOf is the exit status and output of one run of the command.
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
	code := run(ctx, newInterrupt(func() {}), args, strings.NewReader(stdin), &stdout, &stderr)
	return outcomeOf{code, stdout.String(), stderr.String()}
}

// proposed returns the words of the first suggestion in a text that uses the given command.
func proposed(t *testing.T, text, command string) []string {
	t.Helper()
	_, after, found := strings.Cut(strings.ReplaceAll(text, " \\\n", " "), "pare "+command+" ")
	if !found {
		t.Fatalf("no pare %s in\n%s", command, text)
	}
	line, _, _ := strings.Cut(after, "\n")
	return append([]string{command}, strings.Fields(line)...)
}

// flat returns a text with its line breaks replaced by spaces.
func flat(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, " \\\n", " ")), " ")
}

// decoded runs the command with --json and decodes the single object that it prints.
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

// lines returns a table: a header and n rows.
func lines(head string, n int, row func(i int) string) string {
	var all strings.Builder
	all.WriteString(head)
	for i := range n {
		all.WriteString(row(i))
	}
	return all.String()
}

// writeFile writes text to a temporary file of the test.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
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

func TestVersionSaysWhatRuns(t *testing.T) {
	o := pareRun(t, "--version")
	if o.code != exitOK || !strings.HasPrefix(o.stdout, "pare ") || !strings.Contains(o.stdout, runtime.Version()) || o.stderr != "" {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}

// TestUntrustedResultsExitWith3 checks that a result which has not converged, or a search that
// was not ended by one of its rules, is printed with exit status 3.
func TestUntrustedResultsExitWith3(t *testing.T) {
	r := decoded[selectResult](t, exitUntrusted, "select", "--evaluations", "2")
	if r.Status != "budget" || len(r.Evaluations) != 2 || r.Final == nil {
		t.Errorf("status %s after %d evaluations", r.Status, len(r.Evaluations))
	}
}

// TestHelpShowsListsOnce checks that --help shows the list of values of a flag only once.
func TestHelpShowsListsOnce(t *testing.T) {
	for _, c := range grammarModel(t).Children {
		for _, f := range c.Flags {
			if strings.Count(f.FormatPlaceHolder(), ",...") > 1 {
				t.Errorf("%s --%s=%s", c.Name, f.Name, f.FormatPlaceHolder())
			}
		}
	}
}

// TestAFullDiskIsAFailure checks that a failed write is reported as a failure.
func TestAFullDiskIsAFailure(t *testing.T) {
	var stderr bytes.Buffer
	code := run(t.Context(), newInterrupt(func() {}), []string{"info"}, strings.NewReader(""), full{}, &stderr)
	if code != exitFailed || !strings.Contains(stderr.String(), "cannot be written") {
		t.Errorf("exit %d, %q", code, stderr.String())
	}
}

// full is a writer that fails as a full disk does.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestProgressIsALinePerEvaluation checks that --progress prints one line per evaluation, for
// any number of λ's.
func TestProgressIsALinePerEvaluation(t *testing.T) {
	for _, line := range []string{"select", "select --model=enet", "select --model=wlasso --criterion=sure", "path --points=5"} {
		o := pareRun(t, append(strings.Fields(line), "--progress")...)
		evaluations := 5
		if strings.HasPrefix(line, "select") {
			evaluations = len(decoded[selectResult](t, o.code, strings.Fields(line)...).Evaluations)
		}
		lines := strings.Split(strings.TrimSuffix(o.stderr, "\n"), "\n")
		if len(lines) != evaluations {
			t.Errorf("pare %s: %d lines, want %d:\n%s", line, len(lines), evaluations, o.stderr)
		}
		for _, got := range lines {
			if utf8.RuneCountInString(got) > usualWidth {
				t.Errorf("pare %s: wider than a screen: %s", line, got)
			}
		}
	}
}

// TestProgressLine checks that the progress line on a terminal shows the current step, the
// progress, the best value so far and the time, and always fits on the line.
func TestProgressLine(t *testing.T) {
	p := &progress{w: io.Discard, width: 80, began: time.Now(), value: math.Inf(1)}
	p.begin("reading %s", "data.svm")
	if got := p.line(); !strings.HasPrefix(got, "reading data.svm; 0.") {
		t.Errorf("while reading: %q", got)
	}
	p.expect(50, 0)
	top := []float64{0}
	p.evaluation(search.Evaluation{LogLambda: []float64{-1}, Value: 2}, top)
	p.evaluation(search.Evaluation{LogLambda: []float64{-2}, Value: 3}, top)
	p.inner(top)(2, 5, []float64{-3})
	if got, want := p.line(), "evaluation 3 of at most 50; 2 of 5 solved at α/αmax 0.0498; best 2 at α/αmax 0.368; 0."; !strings.HasPrefix(got, want[:70]) {
		t.Errorf("in a search: %q", got)
	}
	p.begin("reading %s", strings.Repeat("long/", 30))
	if got := p.line(); utf8.RuneCountInString(got) >= 80 {
		t.Errorf("%d characters: %q", utf8.RuneCountInString(got), got)
	}
}
