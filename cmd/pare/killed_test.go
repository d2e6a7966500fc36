//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
)

var _ = flag.Bool("long", false, "200 kills instead of a dozen")

// drawSearch draws a model, search, criterion and method, data suitable for the model, and some
// options. The command refuses invalid combinations.
func drawSearch(t *testing.T, dir string, r *oracle.Random) (args []string) {
	t.Helper()
	model := pare.Models()[r.Intn(len(pare.Models()))]
	traits := model.Traits()
	search, criterion := pare.Searches()[r.Intn(len(pare.Searches()))], pare.CV
	if r.Intn(2) == 0 {
		criterion = pare.Criteria()[r.Intn(len(pare.Criteria()))]
	}
	q := r.Problem(oracle.Shape{N: 60 + r.Intn(200), P: 6 + r.Intn(60), Density: r.Pick(0.3, 1), Correlation: r.Pick(0, 0.8)})
	var text strings.Builder
	for i, row := range q.X {
		fmt.Fprint(&text, targetFor(traits, q.Y[i]))
		for j, v := range row {
			if v != 0 {
				fmt.Fprintf(&text, " %d:%.3g", j+1, v)
			}
		}
		fmt.Fprintln(&text)
	}
	data := filepath.Join(dir, "data.svm")
	if err := os.WriteFile(data, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	args = []string{"--model=" + string(model), "--search=" + string(search), "--criterion=" + string(criterion), data}
	if traits.Grouped {
		args = append(args, "--column-groups=size:3")
	}
	if !traits.Convex {
		args = append(args, "--standardize") // the units of γ and a
	}
	if r.Intn(6) == 0 {
		args = append(args, "--method="+string(pare.Methods()[r.Intn(len(pare.Methods()))]))
	}
	for _, option := range []string{"--precision", "--one-se", "--standardize", "--positive", "--tol=1e-9", "--tol-schedule=approx", "--per-class", "--threads=1", "--evaluations=30"} {
		if r.Intn(6) == 0 {
			args = append(args, option)
		}
	}
	return args
}

// targetFor turns a number into a valid target of a model.
func targetFor(traits pare.Traits, y float64) float64 {
	switch {
	case traits.Classes:
		return 1 + math.Abs(math.Remainder(math.Round(y), 3))
	case traits.Model == pare.Logistic || traits.Model == pare.SVM || traits.Model == pare.SquaredHinge:
		return math.Copysign(1, y)
	case traits.Model == pare.Poisson:
		return math.Floor(math.Abs(y))
	case traits.Link == loss.Log:
		return 0.1 + math.Abs(y)
	default:
		return y
	}
}

// TestKilledSearchesGoOnToTheSameBits checks that a search which was stopped at any moment, once or
// more often, by kill -9, by one or two interrupts or by --max-seconds, and then resumed with its
// checkpoint, prints the result and saves the model of an uninterrupted search, bit for bit. The long
// form stops 200 searches, the usual one a dozen.
func TestKilledSearchesGoOnToTheSameBits(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it builds and starts the command; TestResumedSearchesHaveTheSameBits has no processes")
	}
	path, dir, beside := program(t), t.TempDir(), t.TempDir()
	log, model := filepath.Join(dir, "log"), filepath.Join(dir, "model")
	kills := 12
	if oracle.Long() {
		kills = 200
	}
	met := map[string]bool{}
	killed, torn, drawn := 0, 0, 0
	for seed := uint64(0); killed < kills || torn < kills/4; seed++ {
		if seed > uint64(20*kills) {
			t.Fatalf("of %d kills that came in time %d left a checkpoint", killed, torn)
		}
		r := oracle.NewRandom(101 * seed)
		args := append([]string{"select", "--json", "--checkpoint=" + log, "--save=" + model}, drawSearch(t, beside, r)...)
		whole, ok := finish(t, path, log, model, args)
		if !ok {
			continue
		}
		drawn++
		for _, name := range args[4:7] {
			met[name] = true
		}
		for again := true; again; again = r.Intn(2) == 0 { // some searches are killed more than once
			if !endedEarly(t, r, path, args, time.Duration(r.Float64()*float64(whole.took))) {
				break
			}
			killed++
		}
		if _, err := os.Stat(log); err == nil {
			torn++
		}
		if got, _ := finish(t, path, log, model, args); got.result != whole.result || got.model != whole.model {
			t.Errorf("seed %d, pare %s\nresumed, printed\n%s\nwant\n%s", seed, strings.Join(args, " "), got.result, whole.result)
		}
	}
	t.Logf("%d searches, %d kills, %d checkpoints gone on with, %d models, searches and criteria", drawn, killed, torn, len(met))
	for _, all := range [][]string{named("--model=", pare.Models()), named("--search=", pare.Searches()), named("--criterion=", pare.Criteria())} {
		for _, name := range all {
			if oracle.Long() && !met[name] {
				t.Errorf("no search with %s", name)
			}
		}
	}
}

// endedEarly starts a search, ends it in some way after a while, and reports whether it was still
// running.
func endedEarly(t *testing.T, r *oracle.Random, path string, args []string, after time.Duration) bool {
	t.Helper()
	way := r.Intn(4)
	if way == 0 {
		args = append(slices.Clip(args), fmt.Sprintf("--max-seconds=%g", after.Seconds()))
	}
	var out bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	signals := [][]os.Signal{{}, {os.Kill}, {os.Interrupt}, {os.Interrupt, os.Interrupt}}[way]
	for _, s := range signals {
		time.Sleep(after / time.Duration(len(signals)))
		cmd.Process.Signal(s) //nolint:errcheck // it may be done
	}
	cmd.Wait() //nolint:errcheck // the status says it
	var result struct{ Status string }
	return cmd.ProcessState.ExitCode() < 0 || json.Unmarshal(out.Bytes(), &result) != nil ||
		result.Status == string(outcome.Cancelled) || way == 0 && result.Status == string(outcome.Budget)
}

// named puts the flag before each value.
func named[T ~string](flag string, values []T) (all []string) {
	for _, v := range values {
		all = append(all, flag+string(v))
	}
	return all
}

// finished is what a search has printed, without times, and saved.
type finished struct {
	result, model string
	took          time.Duration
}

// finish runs a search to its end and removes its files. ok is false if the search was refused.
func finish(t *testing.T, path, log, model string, args []string) (f finished, ok bool) {
	t.Helper()
	began := time.Now()
	cmd := exec.Command(path, args...)
	out, err := cmd.Output()
	took := time.Since(began)
	switch code := cmd.ProcessState.ExitCode(); code {
	case exitOK, exitUntrusted:
	case exitUsage:
		return f, false
	default:
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	saved, _ := os.ReadFile(model) // an untrusted search saves no model
	left, err := filepath.Glob(filepath.Join(filepath.Dir(log), "*"))
	for _, name := range left {
		if err == nil {
			err = os.Remove(name)
		}
	}
	var result any
	if err == nil {
		err = json.Unmarshal(out, &result)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(withoutTimes(result))
	if err != nil {
		t.Fatal(err)
	}
	return finished{string(text), string(saved), took}, true
}

// withoutTimes removes the members of JSON objects that hold seconds.
func withoutTimes(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if strings.HasPrefix(name, "seconds") {
				delete(v, name)
				continue
			}
			v[name] = withoutTimes(member)
		}
	case []any:
		for i := range v {
			v[i] = withoutTimes(v[i])
		}
	}
	return v
}
