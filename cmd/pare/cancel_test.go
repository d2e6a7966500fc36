package main

import (
	"context"
	"encoding/json"
	"testing"
	"time"
)

// A search that would run for minutes.
var endless = []string{"select", "--search", "grid", "--points", "200000", "--min-ratio", "0.0001", "--tol", "1e-10", "--json"}

// When the context ends, the best point so far is printed. The time until the
// first evaluation is the machine's, so patience grows until there is one.
func TestCancelPrintsTheBestSoFar(t *testing.T) {
	for patience := 50 * time.Millisecond; ; patience *= 4 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		o := pareRunWith(ctx, "", endless...)
		cancel()
		if cancelled(t, o.code, []byte(o.stdout), false) {
			return
		}
		if patience > time.Minute {
			t.Fatalf("no evaluation in %v: exit %d\n%s", patience, o.code, o.stdout)
		}
	}
}

// cancelled checks the output of a search that was stopped, softly by a signal or with its
// context, and reports whether it got as far as an evaluation.
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
	if r.Error != nil { // while reading
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

// A path that is interrupted prints the points that are done.
func TestCancelledPathKeepsItsPoints(t *testing.T) {
	for patience := 50 * time.Millisecond; ; patience *= 4 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		o := pareRunWith(ctx, "", "path", "--points", "200000", "--tol", "1e-10", "--json")
		cancel()
		var r pathResult
		if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
			t.Fatal(err)
		}
		if len(r.Points) > 0 {
			if o.code != exitUntrusted || r.Status != "cancelled" {
				t.Errorf("exit %d, status %s", o.code, r.Status)
			}
			return
		}
		if patience > time.Minute {
			t.Fatalf("no point in %v", patience)
		}
	}
}
