package distributed_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/distributed"
	"github.com/seed-45b9a24c/pare/outcome"
)

// lossy starts a server whose streams lose messages, and returns options with which losses are noticed soon.
func lossy(t *testing.T) (url string, js jetstream.JetStream, o distributed.Options) {
	t.Helper()
	url = serve(t)
	js, err := jetstream.New(connect(t, url))
	if err != nil {
		t.Fatal(err)
	}
	return url, js, distributed.Options{Job: "lossy", Presence: 300 * time.Millisecond}
}

// lose waits for a message of a stream, and deletes it.
func lose(t *testing.T, js jetstream.JetStream, stream, subject string) {
	t.Helper()
	for last := time.Now().Add(patience); time.Now().Before(last); time.Sleep(10 * time.Millisecond) {
		s, err := js.Stream(t.Context(), stream)
		if err != nil {
			continue
		}
		if m, err := s.GetLastMsgForSubject(t.Context(), subject); err == nil {
			if err := s.DeleteMsg(t.Context(), m.Sequence); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("there is no %s", subject)
}

// selecting submits a selection, and reports its end on a channel.
func selecting(t *testing.T, url string, o distributed.Options) (ended <-chan error) {
	t.Helper()
	nc := connect(t, url)
	x, y := problem(60, 10, 0)
	run, err := distributed.Submit(t.Context(), nc, x, y, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	end := make(chan error, 1)
	go func() {
		_, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Lanes: run.Lanes}, pare.Config{})
		end <- err
	}()
	return end
}

// TestLostRequestsAreAskedAgain checks a server that acknowledges a request and loses it before any worker has seen it:
// the request is repeated.
func TestLostRequestsAreAskedAgain(t *testing.T) {
	url, js, o := lossy(t)
	ended := selecting(t, url, o)
	for range 2 {
		lose(t, js, "PARE_TASKS", "pare.task.lossy-0.*.2.1")
	}
	work(t, url, 1)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestLostAnswersAreGivenAgain checks a server that acknowledges an answer, the last or an earlier one, and loses it
// before a coordinator that was away has read it: the worker answers again.
func TestLostAnswersAreGivenAgain(t *testing.T) {
	url, js, o := lossy(t)
	ended := selecting(t, url, o)
	work(t, url, 1)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for _, answer := range []string{"pare.result.lossy-0.*.2.1", "pare.result.lossy-0.*.4.2", "pare.result.lossy-0.*.2.1"} {
		lose(t, js, "PARE_RESULTS", answer)
	}
	if err := <-selecting(t, url, o); err != nil {
		t.Error(err)
	}
}

// TestRemovedJobsEnd checks that a selection whose job somebody else has removed ends with that error.
func TestRemovedJobsEnd(t *testing.T) {
	url, js, o := lossy(t)
	ended := selecting(t, url, o) // there is no worker
	lose(t, js, "PARE_TASKS", "pare.task.lossy-0.*.2.1")
	if err := distributed.Remove(t.Context(), connect(t, url), o.Job); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; outcome.KindOf(err) != outcome.Limit {
		t.Errorf("%v", err)
	}
}

// published returns the name of the data of the only job.
func published(t *testing.T, js jetstream.JetStream) string {
	t.Helper()
	store, err := js.ObjectStore(t.Context(), "PARE_DATA")
	if err != nil {
		t.Fatal(err)
	}
	all, err := store.List(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	return all[0].Name
}

// TestFaultsOfWorkersAreNoAnswers checks that, if a worker cannot store the data, the selection ends with an error that
// names the worker. Once the fault is removed, the job continues.
func TestFaultsOfWorkersAreNoAnswers(t *testing.T) {
	url, js, o := lossy(t)
	ended := selecting(t, url, o)
	data := published(t, js)
	cache := t.TempDir()
	inTheWay := filepath.Join(cache, data)
	if err := os.MkdirAll(filepath.Join(inTheWay, "directory"), 0o700); err != nil {
		t.Fatal(err)
	}
	workIn(t, url, "w0", cache, o, nil)
	if err := <-ended; outcome.KindOf(err) != outcome.IO || !strings.Contains(err.Error(), "w0") {
		t.Errorf("%v", err)
	}
	if err := os.RemoveAll(inTheWay); err != nil {
		t.Fatal(err)
	}
	if err := <-selecting(t, url, o); err != nil {
		t.Error(err)
	}
}

// TestFaultyWorkersLeaveJobsToOthers checks that, if one of several workers cannot store the data or has a limit below
// their size, the other workers do its work.
func TestFaultyWorkersLeaveJobsToOthers(t *testing.T) {
	for _, small := range []bool{false, true} {
		url, js, o := lossy(t)
		ended := selecting(t, url, o)
		data := published(t, js)
		cache, faulty := t.TempDir(), o
		if small {
			faulty.MaxBytes = 1
		} else if err := os.MkdirAll(filepath.Join(cache, data, "directory"), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"w0", "w1"} {
			workIn(t, url, name, cache, faulty, nil)
			cache, faulty = t.TempDir(), o
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestServersThatStoreNothing checks that a server whose disk is full ends a selection with an error, and that a worker
// can still stop.
func TestServersThatStoreNothing(t *testing.T) {
	url, js, o := lossy(t)
	x, y := problem(60, 10, 0)
	run, err := distributed.Submit(t.Context(), connect(t, url), x, y, o)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	stop := workIn(t, url, "w0", t.TempDir(), o, nil)
	for able, _ := run.Workers(); len(able) == 0; able, _ = run.Workers() {
		time.Sleep(10 * time.Millisecond)
	}
	results, err := js.Stream(t.Context(), "PARE_RESULTS")
	if err != nil {
		t.Fatal(err)
	}
	full := results.CachedInfo().Config
	full.MaxBytes = 1
	if _, err := js.UpdateStream(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	choose := func() error {
		_, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Lanes: run.Lanes}, pare.Config{})
		return err
	}
	if err := choose(); outcome.KindOf(err) != outcome.IO || !strings.Contains(err.Error(), "disk") {
		t.Errorf("%v", err)
	}
	stop() // while the worker is retrying
}
