package distributed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/distributed"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// left returns the number of messages and jobs that a server still has.
func left(t *testing.T, js jetstream.JetStream) (messages uint64) {
	t.Helper()
	for _, name := range []string{"PARE_TASKS", "PARE_RESULTS"} {
		s, err := js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		messages += s.CachedInfo().State.Msgs
	}
	jobs, err := js.KeyValue(t.Context(), "PARE_JOBS")
	if err != nil {
		t.Fatal(err)
	}
	if keys, err := jobs.Keys(t.Context()); err == nil {
		messages += uint64(len(keys))
	} else if !errors.Is(err, jetstream.ErrNoKeysFound) {
		t.Fatal(err)
	}
	return messages
}

// TestInterruptedJobsGoOnOrAreForgotten checks that a selection whose context ends leaves its answers for the next
// selection with the same id, which has the bits of one process, and that a different selection is refused that
// id. Once the job is removed, nothing of it is left, and the workers are free for the next job.
func TestInterruptedJobsGoOnOrAreForgotten(t *testing.T) {
	url := serve(t)
	work(t, url, 2)
	nc := connect(t, url)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	x, y := problem(150, 20, 0)
	named := options
	named.Job = "again"
	choose := func(ctx context.Context, o pare.SelectOptions, c pare.Config) (*distributed.Run, *pare.Selection, error) {
		run, err := distributed.Submit(t.Context(), nc, x, y, named)
		if err != nil {
			t.Fatal(err)
		}
		o.Lanes = run.Lanes
		s, err := pare.Select(ctx, x, y, o, c)
		return run, s, err
	}
	ctx, stop := context.WithCancel(t.Context())
	run, s, err := choose(ctx, pare.SelectOptions{Progress: func(search.Evaluation) { stop() }}, pare.Config{})
	if err != nil || s.Status != outcome.Cancelled {
		t.Fatalf("%+v, %v", s, err)
	}
	run.Close()
	if left(t, js) == 0 {
		t.Error("nothing is left to go on with")
	}
	run, _, err = choose(t.Context(), pare.SelectOptions{}, pare.Config{Tol: 1e-8})
	if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != outcome.Usage || e.Flag != "job" {
		t.Errorf("another selection of the same id: %v", err)
	}
	run.Close()
	for range 2 { // first resumed, then from scratch
		run, s, err = choose(t.Context(), pare.SelectOptions{}, pare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := pare.Select(t.Context(), x, y, pare.SelectOptions{}, pare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if a, b := bits(want), bits(s); a != b {
			t.Errorf("%s\nin one process\n%s", b, a)
		}
		if err := run.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := left(t, js); n != 0 {
			t.Errorf("%d messages and jobs are left", n)
		}
	}
}

// TestErrorsOfLanesArrive checks that errors of lanes keep their kind, and name the worker.
func TestErrorsOfLanesArrive(t *testing.T) {
	url := serve(t)
	work(t, url, 1)
	nc := connect(t, url)
	x, y := problem(60, 10, 0)
	run, err := distributed.Submit(t.Context(), nc, x, y, options)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	_, err = pare.Select(t.Context(), x, y, pare.SelectOptions{Lanes: run.Lanes}, pare.Config{MaxSupport: 1})
	if outcome.KindOf(err) != outcome.Limit || !strings.Contains(err.Error(), "w0") {
		t.Errorf("%v", err)
	}
}

// TestDamagedDataAreRefused checks that a worker verifies the hash of the data it receives.
func TestDamagedDataAreRefused(t *testing.T) {
	url := serve(t)
	nc := connect(t, url)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	x, y := problem(60, 10, 0)
	run, err := distributed.Submit(t.Context(), nc, x, y, options)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	store, err := js.ObjectStore(t.Context(), "PARE_DATA")
	if err != nil {
		t.Fatal(err)
	}
	all, err := store.List(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	text, err := store.GetBytes(t.Context(), all[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-1] ^= 1
	if _, err := store.PutBytes(t.Context(), all[0].Name, text); err != nil {
		t.Fatal(err)
	}
	work(t, url, 1)
	if _, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Lanes: run.Lanes}, pare.Config{}); outcome.KindOf(err) != outcome.Parse || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("%v", err)
	}
}

// TestWorkersOfOtherVersionsAreNamed checks that workers of another version are named in an error rather than
// waited for.
func TestWorkersOfOtherVersionsAreNamed(t *testing.T) {
	url := serve(t)
	nc := connect(t, url)
	x, y := problem(60, 10, 0)
	run, err := distributed.Submit(t.Context(), nc, x, y, options)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	text, err := json.Marshal(map[string]any{"Name": "old", "Version": "protocol 0", "Slots": 1})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			_ = nc.Publish("pare.presence", text)
			_ = nc.Publish("pare.presence", []byte("{")) // and one that is not a valid presence message
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	_, err = pare.Select(t.Context(), x, y, pare.SelectOptions{Lanes: run.Lanes}, pare.Config{})
	if outcome.KindOf(err) != outcome.Usage || !strings.Contains(err.Error(), "old is of protocol 0") {
		t.Errorf("%v", err)
	}
}

// BenchmarkRound measures an evaluation of five lanes over two workers, with inner problems that take a fraction
// of a millisecond: the median over the evaluations of selections.
func BenchmarkRound(b *testing.B) {
	url := serve(b)
	work(b, url, 2)
	nc := connect(b, url)
	x, y := problem(442, 10, 0)
	var seconds []float64
	for b.Loop() {
		for _, e := range over(b, nc, x, y, pare.SelectOptions{Search: pare.Adam, Evaluations: 50}, pare.Config{}).Evaluations {
			seconds = append(seconds, e.Seconds)
		}
	}
	slices.Sort(seconds)
	b.ReportMetric(1e3*seconds[len(seconds)/2], "ms/evaluation")
}

// TestLateAnswersToAnEarlierJob checks that a job which reuses an id, for other data, ignores late answers of a
// worker that has not yet learnt that the earlier job was removed.
func TestLateAnswersToAnEarlierJob(t *testing.T) {
	url := serve(t)
	work(t, url, 1)
	nc := connect(t, url)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	named := options
	named.Job = "nightly"
	var late []*nats.Msg
	heard, err := nc.Subscribe("pare.result.>", func(m *nats.Msg) { late = append(late, m) })
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range []int{60, 80} {
		x, y := problem(rows, 10, 0)
		run, err := distributed.Submit(t.Context(), nc, x, y, named)
		if err != nil {
			t.Fatal(err)
		}
		s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Lanes: run.Lanes}, pare.Config{})
		if err != nil {
			t.Fatalf("%d rows: %v", rows, err)
		}
		want, err := pare.Select(t.Context(), x, y, pare.SelectOptions{}, pare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if a, b := bits(want), bits(s); a != b {
			t.Errorf("%s\nin one process\n%s", b, a)
		}
		if err := run.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		_ = heard.Unsubscribe()
		for _, m := range late {
			if _, err := js.Publish(t.Context(), m.Subject, m.Data); err != nil {
				t.Fatal(err)
			}
		}
		late = nil
	}
}

// TestJobsThatAreLeftCostNothing checks that a worker which starts does not repeat work that was answered for a
// coordinator that is gone, and that a worker releases lanes which have not been used for long. If they are
// requested again, it repeats the work, with the same bits.
func TestJobsThatAreLeftCostNothing(t *testing.T) {
	url := serve(t)
	o := distributed.Options{Job: "left", Presence: 20 * time.Millisecond}
	x, y := problem(60, 10, 0)
	want, err := pare.Select(t.Context(), x, y, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	work := func() (log *bytes.Buffer, stop func()) {
		log = &bytes.Buffer{}
		return log, workIn(t, url, "w0", t.TempDir(), o, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	}
	choose := func(o distributed.Options, rest time.Duration) {
		t.Helper()
		run, err := distributed.Submit(t.Context(), connect(t, url), x, y, o)
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		evaluated := 0
		s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Lanes: run.Lanes, Progress: func(search.Evaluation) {
			if evaluated++; evaluated == 2 {
				time.Sleep(rest)
			}
		}}, pare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if a, b := bits(want), bits(s); a != b {
			t.Errorf("%s\nin one process\n%s", b, a)
		}
	}
	log, stop := work()
	choose(o, 100*o.Presence)
	if stop(); strings.Count(log.String(), "let go") <= 5 { // each fold is released at the end, and at least once before
		t.Errorf("lanes that are not asked are kept:\n%s", log)
	}
	log, stop = work()
	other := o
	other.Job = "other"
	choose(other, 0)
	if stop(); strings.Contains(log.String(), "job=left-0") || !strings.Contains(log.String(), "job=other-0") {
		t.Errorf("the job that was left is taken again:\n%s", log)
	}
}
