package main

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/seed-45b9a24c/pare/distributed/embed"
	"github.com/seed-45b9a24c/pare/distributed/internal/scratch"
	"github.com/seed-45b9a24c/pare/outcome"
)

// local is a server in this process, with worker processes that end with this process, however it ends.
type local struct {
	url     string
	server  *server.Server
	remove  func()      // removes the temporary directory, or unlocks the caller's directory
	inputs  []io.Closer // the standard inputs of the workers
	workers sync.WaitGroup
}

func startLocal(count int, state string, presence time.Duration) (_ *local, err error) {
	l := &local{}
	defer func() {
		if err != nil {
			l.stop()
		}
	}()
	if state == "" {
		state, l.remove, err = scratch.Directory("", "pare-server-")
	} else {
		l.remove, err = scratch.Lock(state)
	}
	if err != nil {
		return nil, err
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
			return nil, &outcome.Error{Kind: outcome.IO, Message: "a worker cannot be started", Err: err}
		}
		l.inputs = append(l.inputs, input)
		l.workers.Go(func() { _ = w.Wait() })
	}
	return l, nil
}

// wait returns when all workers have ended.
func (l *local) wait() { l.workers.Wait() }

// stop ends the workers by closing their inputs, and then the server.
func (l *local) stop() {
	for _, input := range l.inputs {
		_ = input.Close()
	}
	l.workers.Wait()
	if l.server != nil {
		l.server.Shutdown()
		l.server.WaitForShutdown()
	}
	if l.remove != nil {
		l.remove()
	}
}
