package distributed_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/distributed"
	"github.com/seed-45b9a24c/pare/distributed/embed"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestMain also runs the processes that tests kill: they are this binary with a role.
func TestMain(m *testing.M) {
	role := os.Getenv("PARE_TEST_ROLE")
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(role, os.Getenv("PARE_TEST_URL"), os.Getenv("PARE_TEST_DIR"), os.Getenv("PARE_TEST_KIND")); err != nil {
		fmt.Fprintln(os.Stderr, role, err)
		os.Exit(1)
	}
}

// play runs the given role until the process is killed or done.
func play(role, url, dir, kind string) error {
	options := options
	if strings.Contains(url, ",") { // a cluster has several addresses
		options.Replicas = 3
	}
	if role == "cluster" {
		return clustered(os.Getenv("PARE_TEST_NAME"), os.Getenv("PARE_TEST_PORTS"), dir)
	}
	if role == "server" {
		var port int
		if _, err := fmt.Sscanf(url, "nats://127.0.0.1:%d", &port); err != nil {
			return err
		}
		if _, err := embed.Start(dir, port); err != nil {
			return err
		}
		select {}
	}
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond), nats.RetryOnFailedConnect(true))
	if err != nil {
		return err
	}
	for !nc.IsConnected() {
		time.Sleep(10 * time.Millisecond)
	}
	if role == "worker" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		cache, err := os.MkdirTemp(dir, "cache-")
		if err != nil {
			return err
		}
		return distributed.Worker{Slots: 1, Cache: cache, Options: options}.Run(ctx, nc)
	}
	x, y, o, c := longer(kind)
	named := options
	named.Job = kind
	run, err := distributed.Submit(context.Background(), nc, x, y, named)
	if err != nil {
		return err
	}
	o.Lanes = run.Lanes
	o.Progress = func(search.Evaluation) { fmt.Println("evaluated") }
	s, err := pare.Select(context.Background(), x, y, o, c)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "bits"), []byte(bits(s)), 0o600)
}

// longer returns a selection that takes some hundred milliseconds: a Lasso with five lanes, or
// a multiclass model with 35 groups of classes.
func longer(kind string) (sparse.Matrix, []float64, pare.SelectOptions, pare.Config) {
	if kind == "classes" {
		x, y := problem(1060, 60, 53)
		return x, y, pare.SelectOptions{Evaluations: 6}, pare.Config{Model: pare.Multiclass}
	}
	x, y := problem(1200, 600, 0)
	return x, y, pare.SelectOptions{OneSE: true, Precision: true}, pare.Config{Tol: 1e-10}
}

// stage holds a server, workers and a coordinator, each of which is a process.
type stage struct {
	t         *testing.T
	url, dir  string
	ports     string // the ports of three servers, see clustered
	kind      string
	processes map[string]*process
	evaluated chan struct{} // receives one element per evaluation of a coordinator
}

// process is a process that was started. Its error and output are available once ended is
// closed.
type process struct {
	*exec.Cmd
	ended chan struct{}
	err   error
}

// patience is how long a test waits for something that should happen at once: machines may be
// slow, and a cluster without a leader needs some time.
const patience = 6 * time.Minute

func newStage(t *testing.T, kind string) *stage {
	t.Helper()
	free, err := embed.Start(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, url: free.ClientURL(), dir: t.TempDir(), kind: kind, processes: map[string]*process{}, evaluated: make(chan struct{}, 1000)}
	free.Shutdown()
	free.WaitForShutdown()
	t.Cleanup(s.end)
	return s
}

// end kills all processes.
func (s *stage) end() {
	for name := range s.processes {
		s.kill(name)
	}
}

// start starts processes, each named by its role and a number.
func (s *stage) start(names ...string) {
	s.t.Helper()
	for _, name := range names {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "PARE_TEST_ROLE="+strings.TrimRight(name, "0123456789"), "PARE_TEST_NAME="+name, "PARE_TEST_URL="+s.url, "PARE_TEST_DIR="+s.dir, "PARE_TEST_KIND="+s.kind, "PARE_TEST_PORTS="+s.ports)
		c.Stderr = &bytes.Buffer{}
		if name == "coordinator" {
			c.Stdout = s
		}
		if err := c.Start(); err != nil {
			s.t.Fatal(err)
		}
		p := &process{Cmd: c, ended: make(chan struct{})}
		go func() { p.err = c.Wait(); close(p.ended) }()
		s.processes[name] = p
	}
}

// evaluation waits until the coordinator has completed an evaluation.
func (s *stage) evaluation() {
	s.t.Helper()
	p := s.processes["coordinator"]
	select {
	case <-s.evaluated:
	case <-p.ended:
		if len(s.evaluated) == 0 {
			s.t.Fatalf("the coordinator has evaluated nothing more: %v: %s", p.err, p.Stderr)
		}
		<-s.evaluated
	case <-time.After(patience):
		s.t.Fatal("nothing is evaluated")
	}
}

// Write counts the evaluations in the coordinator's output.
func (s *stage) Write(text []byte) (int, error) {
	for range bytes.Count(text, []byte("\n")) {
		s.evaluated <- struct{}{}
	}
	return len(text), nil
}

func (s *stage) kill(name string) {
	if p := s.processes[name]; p != nil {
		_ = p.Process.Kill()
		<-p.ended
		delete(s.processes, name)
	}
}

// result waits for the coordinator and returns its result.
func (s *stage) result() string {
	s.t.Helper()
	p := s.processes["coordinator"]
	select {
	case <-p.ended:
		if p.err != nil {
			s.t.Fatalf("%v: %s", p.err, p.Stderr)
		}
	case <-time.After(patience):
		s.stacks()
		s.t.Fatal("the selection does not end")
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "bits"))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// inProcess returns the bits of a selection without workers, and its number of evaluations.
func inProcess(t *testing.T, kind string) (want string, evaluations int) {
	t.Helper()
	x, y, o, c := longer(kind)
	s, err := pare.Select(t.Context(), x, y, o, c)
	if err != nil {
		t.Fatal(err)
	}
	return bits(s), len(s.Evaluations)
}

// TestKillsChangeNoBit kills workers, the server, the coordinator or all of them with kill -9
// at random moments, and suspends a worker or the server for a while. Once the processes are
// started again, selections must end as in one process. PARE_TEST_KILLS sets the number of
// kills, PARE_TEST_PAUSE the length of a suspension.
func TestKillsChangeNoBit(t *testing.T) {
	t.Parallel()
	rounds, still := 1, 3*options.Presence
	if text := os.Getenv("PARE_TEST_PAUSE"); text != "" {
		var err error
		if still, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := fmt.Sscan(os.Getenv("PARE_TEST_KILLS"), &rounds); err != nil && os.Getenv("PARE_TEST_KILLS") != "" {
		t.Fatal(err)
	}
	for _, kind := range []string{"lasso", "classes"} {
		want, evaluations := inProcess(t, kind)
		for round := range rounds {
			for victims, names := range map[string][]string{
				"worker":        {"worker1"},
				"server":        {"server"},
				"coordinator":   {"coordinator"},
				"all":           {"coordinator", "worker1", "worker2", "server"},
				"paused worker": {"worker1"},
				"paused server": {"server"},
			} {
				t.Run(fmt.Sprintf("%s, %s, %d", kind, victims, round), func(t *testing.T) {
					t.Parallel()
					s := newStage(t, kind)
					s.start("server", "worker1", "worker2", "coordinator")
					after, moment := 1+rand.N(evaluations-1), rand.N(5*time.Millisecond)
					t.Logf("%s after evaluation %d of %d and %v", victims, after, evaluations, moment)
					for range after {
						s.evaluation()
					}
					time.Sleep(moment)
					if strings.HasPrefix(victims, "paused") {
						standStill(t, s.processes[names[0]].Process, still)
					} else {
						for _, name := range names {
							s.kill(name)
						}
						for _, name := range slices.Backward(names) {
							s.start(name)
						}
					}
					if got := s.result(); got != want {
						t.Errorf("%s\nin one process\n%s", got, want)
					}
				})
			}
		}
	}
}
