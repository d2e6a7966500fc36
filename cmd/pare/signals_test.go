//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/random"
)

// TestMain removes the program built for the tests.
func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

var built struct {
	sync.Once
	dir string
	err error
}

// program builds the command once for all tests. It disables cgo, whose threads reserve memory.
func program(t *testing.T) string {
	t.Helper()
	built.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "pare"); built.err != nil { //nolint:usetesting // it is for all tests, which end one after the other
			return
		}
		build := exec.Command("go", "build", "-o", built.dir, ".")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "pare")
}

// TestSignalsPrintTheBestSoFar sends the program SIGINT (Ctrl-C), SIGTERM, which ends services, and SIGHUP,
// which a closing terminal sends. Each must stop a search softly, and be acknowledged at once, because a refit
// may take minutes.
func TestSignalsPrintTheBestSoFar(t *testing.T) {
	if testing.Short() {
		t.Skip("short: TestCancelPrintsTheBestSoFar covers all but the signals")
	}
	path := program(t)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		stopped := false
		for patience := 200 * time.Millisecond; !stopped; patience *= 3 {
			if patience > time.Minute {
				t.Fatalf("%v: no evaluation in %v", sig, patience)
			}
			var stdout, stderr bytes.Buffer
			cmd := exec.Command(path, endless...)
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(patience)
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			cmd.Wait() //nolint:errcheck // the exit status says it
			switch code := cmd.ProcessState.ExitCode(); {
			case code >= 0:
				stopped = cancelled(t, code, stdout.Bytes(), true)
				if text := stderr.String(); stopped && text != "pare: stopping; interrupt again to end at once\n" {
					t.Errorf("%v is answered by %q", sig, text)
				}
			case patience > 5*time.Second: // negative: killed; early on, the signal may precede its handler
				t.Fatalf("%v kills", sig)
			}
		}
	}
}

// TestSignalsLeaveTheOldModelOrAConvergedOne checks that, whenever one or two signals arrive, the file of --save
// holds the old model or a converged one. The long form does so on the data set reuters_places, stored outside
// the repository.
func TestSignalsLeaveTheOldModelOrAConvergedOne(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it builds and starts the command")
	}
	path, model := program(t), filepath.Join(t.TempDir(), "model")
	search := []string{"select", "--search=grid", "--points=600", "--save=" + model, "--quiet"}
	fit, most := []string{"fit", "--ratio=0.5", "--save=" + model}, 120*time.Millisecond
	if oracle.Long() {
		const file = "../../../shared/data/reuters_places.svm.gz"
		search, fit = []string{"select", "--save=" + model, "--quiet", file}, append(fit, file)
	}
	if out, err := exec.Command(path, fit...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if oracle.Long() {
		began := time.Now()
		if out, err := exec.Command(path, search...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		most = time.Since(began)
	}
	old, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	source := random.SplitMix64(17)
	kept := 0
	for k := range 50 {
		cmd := exec.Command(path, search...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(source.Uniform() * float64(most)))
		for range 1 + k%2 {
			cmd.Process.Signal([]os.Signal{syscall.SIGTERM, os.Interrupt}[k/2%2]) //nolint:errcheck // it may be done
		}
		cmd.Wait() //nolint:errcheck // any end will do
		now, err := os.ReadFile(model)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(now, old) {
			kept++
			continue
		}
		if out, err := exec.Command(path, "inspect", "--json", model).CombinedOutput(); err != nil || !bytes.Contains(out, []byte(`"lasso"`)) {
			t.Fatalf("signal %d: %v\n%s", k, err, out)
		}
		if err := os.WriteFile(model, old, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of 50 left the old model", kept)
}

// TestTheSecondSignalKills checks that, once the first signal is acknowledged, a second one kills the program,
// even if it cannot end by itself because nobody reads its output.
func TestTheSecondSignalKills(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it builds and starts the command")
	}
	path := program(t)
	for patience := 200 * time.Millisecond; ; patience *= 3 {
		if patience > time.Minute {
			t.Fatalf("the first signal is not answered after %v", patience)
		}
		taker, full, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = full.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		if n, err := full.Write(make([]byte, 4<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%d bytes do not fill a pipe: %v", n, err)
		}
		cmd := exec.Command(path, endless...)
		cmd.Stdout = full
		stderr, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(patience)
		_ = cmd.Process.Signal(syscall.SIGTERM)
		answer, _ := bufio.NewReader(stderr).ReadString('\n')
		_ = cmd.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // the exit status says it
		late.Stop()
		_, _ = full.Close(), taker.Close()
		if answer == "" { // killed before its handler was installed
			continue
		}
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGTERM || answer != "pare: stopping; interrupt again to end at once\n" {
			t.Errorf("the first signal is answered by %q, after the second the program has ended by %v", answer, cmd.ProcessState)
		}
		return
	}
}
