package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
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

// A result that is not converged, or not by a rule of the search, is printed
// with exit status 3.
func TestUntrustedResultsExitWith3(t *testing.T) {
	r := decoded[selectResult](t, exitUntrusted, "select", "--evaluations", "2")
	if r.Status != "budget" || len(r.Evaluations) != 2 || r.Final == nil {
		t.Errorf("status %s after %d evaluations", r.Status, len(r.Evaluations))
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

// Progress is a line for each evaluation, under their heading however many λ's there are.
func TestProgressIsALinePerEvaluation(t *testing.T) {
	for _, args := range [][]string{{"select"}, {"select", "--model=enet"}, {"select", "--model=wlasso", "--criterion=sure"}} {
		var out bytes.Buffer
		command, err := parse(args, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := command.run(t.Context(), environment{progress: &progress{w: &out}})
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if got, want := len(lines), len(res.(*selectResult).Evaluations)+1; got != want {
			t.Errorf("%q: %d lines, want %d:\n%s", args, got, want, &out)
		}
		for _, line := range lines {
			if utf8.RuneCountInString(line) > utf8.RuneCountInString(lines[0]) {
				t.Errorf("%q: wider than the heading:\n%s", args, &out)
			}
		}
	}
}
