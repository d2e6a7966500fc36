// Command pare-worker solves inner problems for selections on a NATS server. When it is
// interrupted, it finishes the requests that it has begun. See the README of the module.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/seed-45b9a24c/pare/distributed"
	"github.com/seed-45b9a24c/pare/distributed/connect"
	"github.com/seed-45b9a24c/pare/distributed/internal/program"
)

type command struct {
	Runner   string        `placeholder:"URL" help:"The NATS server (default: that of --context, or nats://127.0.0.1:4222)."`
	Name     string        `help:"Unique name of this worker (default: host and process)."`
	Slots    int           `help:"Inner problems at once (default: all processors)."`
	Cache    string        `placeholder:"DIR" help:"Keep data sets in this directory (default: a temporary one)."`
	Presence time.Duration `default:"10s" help:"How long a worker may be silent before others take over; the same for all (default: 10s)."`
	MaxBytes int64         `help:"Largest data set to take (default: 16 GiB)."`
	Data     string        `placeholder:"DIR|URL" help:"Where data sets are stored by their SHA-256, in place of the server's store; the same for all."`
	Replicas int           `help:"Copies of streams in a cluster of servers (default: as many as there are, 1 at first)."`
	connect.Flags
}

func main() {
	var c command
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	os.Exit(program.Main("pare-worker", "Solve inner problems for pare-select.", &c, os.Args[1:], os.Stderr, func(ctx context.Context) error {
		return c.run(ctx, log)
	}))
}

func (c command) run(ctx context.Context, log *slog.Logger) error {
	nc, err := c.Connect(c.Runner, "pare-worker", log)
	if err != nil {
		return err
	}
	defer nc.Close()
	return distributed.Worker{
		Name: c.Name, Slots: c.Slots, Cache: c.Cache, Log: log,
		Options: distributed.Options{Presence: c.Presence, Replicas: c.Replicas, Data: c.Data, MaxBytes: c.MaxBytes},
	}.Run(ctx, nc)
}
