package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// endless is a search that would run for minutes.
var endless = []string{"select", "--search", "grid", "--points", "200000", "--min-ratio", "0.0001", "--tol", "1e-10", "--json"}

// watch is a standard error that cancels a context after a number of lines.
type watch struct {
	lines int
	end   context.CancelFunc
}

func (w *watch) Write(text []byte) (int, error) {
	if w.lines -= bytes.Count(text, []byte("\n")); w.lines <= 0 {
		w.end()
	}
	return len(text), nil
}

// interrupted runs the command and cancels its context at the third evaluation.
func interrupted(t *testing.T, args ...string) outcomeOf {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout bytes.Buffer
	code := run(ctx, newInterrupt(func() {}), append(slices.Clip(args), "--progress"), strings.NewReader(""), &stdout, &watch{3, cancel})
	return outcomeOf{code, stdout.String(), ""}
}

// TestCancelPrintsTheBestSoFar checks that a cancelled search prints the best point so far.
func TestCancelPrintsTheBestSoFar(t *testing.T) {
	o := interrupted(t, endless...)
	if !cancelled(t, o.code, []byte(o.stdout), false) {
		t.Errorf("no evaluation: %s", o.stdout)
	}
}

// cancelled checks the output of a search that was stopped, softly by a signal or by its context,
// and reports whether at least one evaluation was made.
func cancelled(t *testing.T, code int, stdout []byte, softly bool) bool {
	t.Helper()
	var r struct {
		LogLambda   []float64 `json:"log_lambda"`
		Value       *float64
		Status      string
		Evaluations []struct{ Value float64 }
		Final       *struct{ Status string }
		Error       *errorReport
	}
	if err := json.Unmarshal(stdout, &r); err != nil {
		t.Fatalf("exit %d, %v in %q", code, err, stdout)
	}
	if r.Error != nil { // stopped while reading
		if code != exitFailed || r.Error.Kind != "io" {
			t.Fatalf("exit %d, %+v", code, r.Error)
		}
		return false
	}
	if code != exitUntrusted || r.Status != "cancelled" {
		t.Fatalf("exit %d, status %s", code, r.Status)
	}
	if len(r.Evaluations) == 0 {
		if r.LogLambda != nil || r.Value != nil || r.Final != nil {
			t.Errorf("a result without an evaluation: %s", stdout)
		}
		return false
	}
	best := r.Evaluations[0].Value
	for _, e := range r.Evaluations {
		best = min(best, e.Value)
	}
	if r.Value == nil || *r.Value != best || len(r.LogLambda) != 1 || (r.Final != nil) != softly {
		t.Fatalf("best of the evaluations %v, result %s", best, stdout)
	}
	if softly && r.Final.Status != "converged" {
		t.Errorf("final status %s", r.Final.Status)
	}
	return true
}

func TestCancelLeavesNoHalfResult(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"select"}, {"grad", "--ratio", "0.1"}, {"fit", "--ratio", "0.1"}, {"path"}, {"info"}} {
		o := pareRunWith(ctx, "", append(args, "--json")...)
		var e failure
		if err := json.Unmarshal([]byte(o.stdout), &e); err != nil || o.code != exitFailed || e.Error.Kind != "io" {
			t.Errorf("%q: exit %d, %s", args, o.code, o.stdout)
		}
	}
}

// TestCancelledPathKeepsItsPoints checks that an interrupted path prints the points that are
// complete.
func TestCancelledPathKeepsItsPoints(t *testing.T) {
	o := interrupted(t, "path", "--points", "200000", "--tol", "1e-10", "--json")
	var r pathResult
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Points) != 3 || o.code != exitUntrusted || r.Status != "cancelled" {
		t.Errorf("%d points, exit %d, status %s", len(r.Points), o.code, r.Status)
	}
}

// TestNoTimeForAnEvaluation checks that a search whose time limit ends before its first evaluation
// says so, rather than that it was interrupted.
func TestNoTimeForAnEvaluation(t *testing.T) {
	var o outcomeOf
	for range 100 { // on a busy machine the clock may be read only after the search
		o = pareRun(t, "select", "--max-seconds", "1e-9")
		if o.code == exitUntrusted && strings.Contains(o.stdout, "budget: the time allowed was used up before the first") {
			return
		}
	}
	t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
}

// TestNoPenalisedColumn checks that without a penalised column there is no αmax, whatever the
// target depends on.
func TestNoPenalisedColumn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "factors")
	if err := os.WriteFile(path, []byte(strings.Repeat("0\n", 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"fit", "--ratio", "0.1"}, {"select"}, {"path"}} {
		o := pareRun(t, append(args, "--penalty-factors", path)...)
		if o.code != exitFailed || !strings.Contains(o.stderr, "does not depend on any penalised column") {
			t.Errorf("%q: exit %d: %s", args, o.code, o.stderr)
		}
	}
}
