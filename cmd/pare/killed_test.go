//go:build unix

package main

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/random"
)

var _ = flag.Bool("long", false, "200 kills instead of a dozen")

// searches that go on for some hundred milliseconds on the embedded data, of many kinds.
var searches = [][]string{
	{"--tol=1e-10", "--precision", "--one-se"},
	{"--model=enet", "--precision"},
	{"--model=wlasso", "--criterion=sure"},
	{"--search=grid", "--points=40"},
	{"--model=ridge", "--search=tpe", "--evaluations=30"},
	{"--model=huber", "--search=gradient", "--evaluations=25", "--standardize"},
	{"--model=enet", "--search=lbfgs", "--criterion=holdout"},
	{"--model=lasso", "--criterion=bic", "--search=adam", "--evaluations=25"},
}

// A search that is killed, by kill −9 at any moment and more than once, and started again
// with its checkpoint prints the result and saves the model of one that nothing stopped, bit
// for bit. The long form kills 200 of them, the usual one a dozen.
func TestKilledSearchesGoOnToTheSameBits(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it builds and starts the command; TestResumedSearchesHaveTheSameBits has no processes")
	}
	path, dir := program(t), t.TempDir()
	kills := 12
	if oracle.Long() {
		kills = 200
	}
	source := random.SplitMix64(5)
	whole := make([]finished, len(searches))
	killed, torn := 0, 0
	for round := 0; killed < kills || torn < kills/4; round++ {
		if round > 20*kills {
			t.Fatalf("of %d kills that came in time %d left a checkpoint", killed, torn)
		}
		at := round % len(searches)
		log, model := filepath.Join(dir, "log"), filepath.Join(dir, "model")
		args := append([]string{"select", "--json", "--checkpoint=" + log, "--save=" + model}, searches[at]...)
		if whole[at].result == "" {
			whole[at] = finish(t, path, log, model, args)
		}
		ended := false
		for again := true; again && !ended; again = source.Uniform() < 0.4 { // some are killed more than once
			cmd := exec.Command(path, args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(source.Uniform() * float64(whole[at].took)))
			cmd.Process.Kill() //nolint:errcheck // it may be done
			if ended = cmd.Wait() == nil; !ended {
				killed++
			}
		}
		switch _, err := os.Stat(log); {
		case ended:
			whole[at].took /= 2 // the machine is less busy than it was
		case err == nil:
			torn++
		default:
			whole[at].took += whole[at].took / 2 // it is busier
		}
		if got := finish(t, path, log, model, args); got.result != whole[at].result || got.model != whole[at].model {
			t.Errorf("pare %s\nresumed, printed\n%s\nwant\n%s", strings.Join(args, " "), got.result, whole[at].result)
		}
	}
	t.Logf("%d kills, %d checkpoints gone on with", killed, torn)
}

// finished is what a search has printed, but for times, and saved.
type finished struct {
	result, model string
	took          time.Duration
}

// finish runs a search to its end and takes its files away.
func finish(t *testing.T, path, log, model string, args []string) finished {
	t.Helper()
	began := time.Now()
	cmd := exec.Command(path, args...)
	out, err := cmd.Output()
	took := time.Since(began)
	if code := cmd.ProcessState.ExitCode(); code != exitOK && code != exitUntrusted {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	saved, _ := os.ReadFile(model) // there is none where the search is not to be trusted
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
	return finished{string(text), string(saved), took}
}

// withoutTimes drops the members of JSON objects that are named for seconds.
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
