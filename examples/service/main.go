// Command service chooses and serves models over HTTP; see README.md. It shows how to embed
// package pare: a pool for all selections, jobs that report progress and end softly, and a model
// that is replaced while clients predict with it.
package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	var l limits
	address := flag.String("address", "localhost:8080", "where to listen")
	flag.StringVar(&l.files, "files", "", "folder whose files may be named instead of uploaded")
	flag.IntVar(&l.calls, "calls", 0, "selections at once; 0: two for each processor")
	flag.IntVar(&l.queue, "queue", 1000, "selections that may wait; further ones are refused")
	flag.Int64Var(&l.bytes, "max-bytes", 1<<30, "working memory of all selections")
	flag.Int64Var(&l.upload, "max-upload", 64<<20, "bytes of an upload")
	flag.Int64Var(&l.reading, "max-reading", 1<<30, "memory that reading a file may take, unpacked")
	flag.DurationVar(&l.sending, "sending", 10*time.Minute, "time that a client may take to send a request")
	flag.IntVar(&l.data, "data", 32, "data sets held; the oldest go first")
	flag.IntVar(&l.jobs, "jobs", 1000, "jobs that have ended held; the oldest go first")
	flag.DurationVar(&l.longest, "longest", 10*time.Minute, "time that a selection may take")
	grace := flag.Duration("grace", 20*time.Second, "time to end what is under way on SIGTERM")
	flag.Parse()
	if err := run(*address, l, *grace); err != nil {
		slog.Error("service", "error", err)
		os.Exit(1)
	}
}

// run serves until SIGINT or SIGTERM, and ends when all requests and jobs have.
func run(address string, l limits, grace time.Duration) error {
	signalled, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := newService(l)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	// Only reading has a time limit: a client may wait for a selection, or watch one, for any time.
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: l.sending, IdleTimeout: 2 * time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	slog.Info("listening", "address", listener.Addr().String())
	select {
	case err := <-failed:
		return err
	case <-signalled.Done():
	}
	within, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	s.drain(within)                                                      // searches end softly, so that waiting requests still get a model
	last, done := context.WithTimeout(context.Background(), time.Second) // time to send the last answers
	defer done()
	if err = server.Shutdown(last); errors.Is(err, context.DeadlineExceeded) {
		slog.Warn("cutting off clients that are still sending or reading")
		err = server.Close()
	}
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
