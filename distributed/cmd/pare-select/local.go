package main

import (
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/seed-45b9a24c/pare/distributed/embed"
	"github.com/seed-45b9a24c/pare/distributed/internal/scratch"
	"github.com/seed-45b9a24c/pare/outcome"
)

// local is a server in this process, and worker processes, which end with it, however it ends.
type local struct {
	url     string
	server  *server.Server
	remove  func() // of a temporary directory; nil: the state is the caller's own
	workers []*exec.Cmd
	inputs  []io.Closer
}

func startLocal(count int, state string, presence time.Duration) (_ *local, err error) {
	l := &local{}
	defer func() {
		if err != nil {
			l.stop()
		}
	}()
	if state == "" {
		if state, l.remove, err = scratch.Directory("", "pare-server-"); err != nil {
			return nil, err
		}
	}
	if l.server, err = embed.Start(state, 0); err != nil {
		return nil, err
	}
	l.url = l.server.ClientURL()
	own, err := os.Executable()
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.IO, Message: "this program cannot be started again as a worker", Err: err}
	}
	for range count {
		w := exec.Command(own, "--part", l.url, "--presence", presence.String()) //nolint:gosec // ourselves
		w.Stderr = os.Stderr
		input, err := w.StdinPipe()
		if err == nil {
			err = w.Start()
		}
		if err != nil {
			return nil, &outcome.Error{Kind: outcome.IO, Message: "a worker does not start", Err: err}
		}
		l.workers, l.inputs = append(l.workers, w), append(l.inputs, input)
	}
	return l, nil
}

// stop ends workers by the end of their input, and the server.
func (l *local) stop() {
	for _, input := range l.inputs {
		_ = input.Close()
	}
	for _, w := range l.workers {
		_ = w.Wait()
	}
	if l.server != nil {
		l.server.Shutdown()
		l.server.WaitForShutdown()
	}
	if l.remove != nil {
		l.remove()
	}
}
