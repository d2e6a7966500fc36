//go:build unix

package distributed_test

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// standStill suspends a process for a while.
func standStill(t *testing.T, p *os.Process, long time.Duration) {
	t.Helper()
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(long, func() { _ = p.Signal(syscall.SIGCONT) })
}

// stacks ends all processes and logs their goroutine stacks.
func (s *stage) stacks() {
	for name, p := range s.processes {
		_ = p.Process.Signal(syscall.SIGQUIT)
		<-p.ended
		s.t.Logf("%s: %s", name, p.Stderr)
	}
}

// TestTerminatedWorkersFinishWhatTheyHaveBegun checks that SIGTERM ends a worker with status 0
// after the work it has begun, and that its groups pass to other workers at once.
func TestTerminatedWorkersFinishWhatTheyHaveBegun(t *testing.T) {
	s := newStage(t, "lasso")
	want, _ := inProcess(t, "lasso")
	s.start("server", "worker1", "worker2", "coordinator")
	s.evaluation()
	p := s.processes["worker1"]
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if <-p.ended; p.err != nil {
		t.Errorf("%v: %s", p.err, p.Stderr)
	}
	delete(s.processes, "worker1")
	if got := s.result(); got != want {
		t.Errorf("%s\nin one process\n%s", got, want)
	}
}
