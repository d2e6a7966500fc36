// Command pare-select chooses λ as "pare select" does, but has the inner problems of folds and
// classes solved by workers: processes that it starts, or the workers of a NATS server. See the
// README of the module.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/distributed"
	"github.com/seed-45b9a24c/pare/distributed/connect"
	"github.com/seed-45b9a24c/pare/distributed/internal/program"
	"github.com/seed-45b9a24c/pare/internal/sealed"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/table"
)

type command struct {
	File   string `arg:"" optional:"" help:"A file that pare reads."`
	Target string `help:"The target: a column, or a file with one value a row."`

	Model       pare.Model     `default:"lasso" help:"As for pare select (default: lasso)."`
	Intercept   bool           `default:"true" negatable:"" help:"An unpenalised intercept (default: true)."`
	Standardize bool           `help:"Columns of unit variance on the training rows."`
	Positive    bool           `help:"Coefficients of 0 or more."`
	Tol         float64        `default:"1e-6" help:"Relative duality gap (default: 1e-6)."`
	Criterion   pare.Criterion `default:"cv" help:"cv, holdout, sure, aic or bic (default: cv)."`
	Folds       int            `help:"Number of folds (default: 5)."`
	Split       pare.Split     `help:"rows, stratified, blocks or forward (default: rows)."`
	Seed        uint64         `help:"Seed of the shuffle."`
	Search      pare.Search    `default:"auto" help:"As for pare select (default: auto)."`
	Evaluations int            `help:"Budget (default: 50)."`
	PerClass    bool           `help:"One λ for each class of multiclass."`
	OneSE       bool           `name:"one-se" help:"Also report the one-standard-error choice."`

	Workers int    `help:"Start this many workers, and a server, on this machine."`
	State   string `placeholder:"DIR" help:"With --workers: keep the server's state here, so that --job can continue a selection."`
	Runner  string `placeholder:"URL" help:"Use the workers of this NATS server: nats://HOST:PORT."`
	Job     string `help:"Id of the selection; an interrupted selection continues where it stopped."`
	Cancel  bool   `help:"With --runner and --job: cancel the selection with that id, and select nothing."`

	Presence time.Duration `help:"How long a worker may be silent before others take over (default: 10s, of --workers 2s)."`
	Data     string        `placeholder:"DIR|URL" help:"Where data sets are stored by their SHA-256, in place of the server's store; the same for all."`
	Replicas int           `help:"Copies of streams and data in a cluster of servers (default: as many as there are, 1 at first)."`
	connect.Flags

	JSON bool   `name:"json" help:"Print the selection as JSON."`
	Save string `placeholder:"FILE" help:"Keep the model for pare predict."`
	Part string `hidden:"" help:"Be a worker of the server with this address, until standard input ends."`
}

func main() {
	var c command
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	os.Exit(program.Main("pare-select", "Choose λ with the inner problems solved by workers.", &c, os.Args[1:], os.Stderr, func(ctx context.Context) error {
		if c.Part != "" {
			return c.part(ctx, log)
		}
		return c.run(ctx, log)
	}))
}

// part runs a worker that ends with the process that started it, when standard input ends.
func (c command) part(ctx context.Context, log *slog.Logger) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	nc, err := c.Connect(c.Part, "pare-worker", log)
	if err != nil {
		return err
	}
	defer nc.Close()
	return distributed.Worker{Slots: 1, Log: log, Options: c.options()}.Run(ctx, nc)
}

func (c command) options() distributed.Options {
	return distributed.Options{Job: c.Job, Presence: c.Presence, Replicas: c.Replicas, Data: c.Data}
}

func (c command) run(ctx context.Context, log *slog.Logger) error {
	switch {
	case (c.Workers > 0) == (c.Runner != "" || c.Context != ""):
		return outcome.At(outcome.Usage, "workers", "give --workers N for workers on this machine, or --runner URL or --context NAME for workers of a server")
	case c.State != "" && c.Workers == 0:
		return outcome.At(outcome.Usage, "state", "applies only with --workers; a server elsewhere keeps its own state")
	case c.Cancel && (c.Workers > 0 || c.Job == ""):
		return outcome.At(outcome.Usage, "cancel", "needs --runner or --context, and --job")
	case !c.Cancel && c.File == "":
		return outcome.At(outcome.Usage, "file", "give a file to select on")
	}
	if c.Save != "" {
		if err := sealed.Replaceable(c.Save); err != nil { // checked before the search, so that no model is lost
			return &outcome.Error{Kind: outcome.IO, File: c.Save, Flag: "save", Message: "cannot save the model", Err: err}
		}
	}
	url := c.Runner
	if c.Workers > 0 {
		if c.Presence == 0 {
			c.Presence = 2 * time.Second
		}
		local, err := startLocal(c.Workers, c.State, c.Presence)
		if err != nil {
			return err
		}
		defer local.stop()
		url = local.url
		var end context.CancelCauseFunc
		ctx, end = context.WithCancelCause(ctx)
		defer end(nil)
		go func() {
			local.wait()
			end(outcome.Errorf(outcome.IO, "all workers have ended, perhaps because memory ran out"))
		}()
	}
	nc, err := c.Connect(url, "pare-select", log)
	if err != nil {
		return err
	}
	defer nc.Close()
	if c.Cancel {
		return distributed.Remove(ctx, nc, c.Job)
	}
	if err := c.choose(ctx, nc); err == nil || ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// choose reads the file and selects.
func (c command) choose(ctx context.Context, nc *nats.Conn) error {
	data, err := table.Open(ctx, c.File, table.Options{Name: c.File, Target: c.Target})
	if err != nil {
		return err
	}
	x, prepared, err := sparse.Preparation{}.Prepare(data.X)
	if err != nil {
		return err
	}
	config := pare.Config{
		Model: c.Model, NoIntercept: !c.Intercept || !c.Model.Traits().Intercept, Standardize: c.Standardize, Positive: c.Positive, Tol: c.Tol,
	}
	y, labels, err := config.Target(data.Y, data.Labels)
	if err != nil {
		return err
	}
	run, err := distributed.Submit(ctx, nc, x, y, c.options())
	if err != nil {
		return err
	}
	defer run.Close()
	fmt.Fprintln(os.Stderr, "job", run.ID)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go watch(watching, run)
	s, err := pare.Select(ctx, x, y, pare.SelectOptions{
		Validation: pare.Validation{Criterion: c.Criterion, Folds: c.Folds, Split: c.Split, Seed: c.Seed},
		Search:     c.Search, Evaluations: c.Evaluations, PerClass: c.PerClass, OneSE: c.OneSE, Lanes: run.Lanes,
		Progress: func(e search.Evaluation) {
			fmt.Fprintf(os.Stderr, "λ = %.6g  criterion %.6g  support %d  %.3f s\n", e.LogLambda[0], e.Value, e.Support, e.Seconds)
		},
	}, config)
	if err = c.end(ctx, run, err); err != nil {
		return err
	}
	switch {
	case c.Save == "":
	case s.Final == nil || !s.Final.Status.OK():
		fmt.Fprintf(os.Stderr, "%s is not changed: there is no converged model to save\n", c.Save)
	default:
		if err := save(c.Save, s, data, prepared, labels); err != nil {
			return err
		}
	}
	if err := c.show(s, run); err != nil || trusted(s) {
		return err
	}
	return program.ErrUntrusted
}

// watch prints a message when there are no workers.
func watch(ctx context.Context, run *distributed.Run) {
	for alone := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(4 * time.Second): // enough for two presence messages of each worker
		}
		able, others := run.Workers()
		if len(able) == 0 && !alone {
			fmt.Fprintf(os.Stderr, "waiting for workers: there is none of this version (%s) on this server; start pare-worker\n", distributed.Version())
			for _, other := range others {
				fmt.Fprintln(os.Stderr, "worker", other)
			}
		}
		alone = len(able) == 0
	}
}

// trusted reports whether the choice has converged and can be trusted, by the rule of pare select.
func trusted(s *pare.Selection) bool {
	at := slices.IndexFunc(s.Evaluations, func(e search.Evaluation) bool { return e.Value == s.Value })
	return s.Status.OK() && s.Final != nil && s.Final.Status.OK() && at >= 0 && s.Evaluations[at].Trusted
}

// end removes the job from the server, unless it has an id of the user's and can be continued: it was interrupted, or a
// disk or a server failed.
func (c command) end(ctx context.Context, run *distributed.Run, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if c.Job != "" && (ctx.Err() != nil || outcome.KindOf(err) == outcome.IO) {
		fmt.Fprintf(os.Stderr, "the job is kept: the same command with --job %s continues it\n", c.Job)
		return err
	}
	forget, stop := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer stop()
	return errors.Join(err, run.Remove(forget))
}

func save(path string, s *pare.Selection, data *table.Data, prepared sparse.Prepared, labels []string) error {
	p, err := s.Final.Predictor().Unprepared(prepared)
	if err == nil {
		p, err = p.With(pare.Provenance{Names: data.Names, Labels: labels, Schema: data.Schema, Program: "pare-select, " + distributed.Version()})
	}
	if err != nil {
		return err
	}
	return p.Save(path)
}

// show prints the selection and the work of each worker.
func (c command) show(s *pare.Selection, run *distributed.Run) error {
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(s)
	}
	fmt.Printf("status     %s after %d evaluations\n", s.Status, len(s.Evaluations))
	if s.Final == nil {
		return nil
	}
	fmt.Printf("choice     λ = %.10g, α = %.6g\n", s.LogLambda[0], math.Exp(s.LogLambda[0]))
	fmt.Printf("criterion  %.10g (null model: %.6g)\n", s.Value, s.NullValue)
	fmt.Printf("model      %d of %d columns, relative gap %.2g\n", len(s.Final.Support), s.Final.Columns, s.Final.RelativeGap)
	work := run.Work()
	names := make([]string, 0, len(work))
	for name := range work {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Printf("worker     %s: %d answers in %.3f s\n", name, work[name].Answers, work[name].Seconds)
	}
	return nil
}
