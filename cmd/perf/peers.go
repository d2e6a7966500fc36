package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-45b9a24c/pare/bench/machine"
	"github.com/seed-45b9a24c/pare/bench/peers"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

type peersCommand struct {
	File string `arg:"" optional:"" help:"A file of any kind that pare reads, to compare on instead of the standing rows."`
	reading

	Rows    string    `placeholder:"WORDS" help:"Standing rows: suites (lasso, enet, wlasso, logreg, svm, deep, families, check) or parts of names, separated by commas (default: all)."`
	Data    string    `default:"../shared/data" placeholder:"DIR" help:"Where the files of the standing rows are (default: ../shared/data). A row without its file is left out."`
	Model   string    `default:"lasso" enum:"lasso,enet,wlasso,group,sparse_group,mcp,scad,huber,logreg,logreg_enet,logreg_ridge,squared_hinge,squared_hinge_ridge,svm,svr,multinomial,multinomial_group,poisson,poisson_ridge,gamma,gamma_ridge,tweedie,tweedie_ridge" placeholder:"MODEL" help:"For FILE: ${enum} (default: lasso)."`
	Ratio   float64   `default:"0.01" placeholder:"R" help:"For FILE: α/αmax; for svm and svr C itself (default: 0.01)."`
	Gap     []float64 `placeholder:"GAP" help:"Relative gaps to certify (default: 1e-6,1e-10; quick: 1e-6; svm, svr: 1e-4)."`
	Quick   bool      `help:"Three rounds, at most 20 s a solve."`
	Only    string    `placeholder:"NAMES" help:"Only peers whose name contains one of the words."`
	Kernels string    `placeholder:"SET" help:"Our kernel set (default: the best)."`
	State   string    `placeholder:"FILE" help:"Keep results here, row by row; the same command goes on from it."`
	CSV     string    `name:"csv" placeholder:"FILE" help:"Write every contestant's figures here, too."`
	JSON    bool      `name:"json" help:"One JSON object."`
}

func (c *peersCommand) options(env environment, m peers.Model) peers.Options {
	o := peers.Options{Kernels: c.Kernels, Progress: func(what string) { env.status("%s", what) }}
	if c.Quick {
		o.Rounds, o.Limit, o.Budget = 3, 20*time.Second, 10*time.Second
		if m != peers.SVM && m != peers.SVR {
			o.Targets = []float64{1e-6}
		}
	}
	if c.Gap != nil {
		o.Targets = c.Gap
	}
	if c.Only != "" {
		o.Peers = []peers.Peer{}
		for _, p := range peers.Peers() {
			for word := range strings.SplitSeq(c.Only, ",") {
				if strings.Contains(p.Name, strings.TrimSpace(word)) {
					o.Peers = append(o.Peers, p)
					break
				}
			}
		}
	}
	return o
}

func (c *peersCommand) run(ctx context.Context, env environment) error {
	switch of := (peersCommand{Model: "lasso", Ratio: 0.01}); { // their defaults
	case c.File == "" && c.reading != of.reading:
		return outcome.Errorf(outcome.Usage, "--target, --one-hot, --missing and --features say how FILE is read: name one")
	case c.File == "" && (c.Model != of.Model || c.Ratio != of.Ratio):
		return outcome.Errorf(outcome.Usage, "--model and --ratio are for a FILE: name one, or give the standing rows with --rows")
	case c.File != "" && c.Rows != "":
		return outcome.Errorf(outcome.Usage, "--rows chooses among the standing rows, and with %s none of these is run: leave one of the two out", c.File)
	}
	rows := peers.Choose(c.Rows)
	file := func(r peers.Row) (string, error) { return r.File(c.Data) }
	if c.File != "" {
		rows = []peers.Row{{Data: filepath.Base(c.File), Model: peers.Model(c.Model), Ratio: c.Ratio}}
		file = func(peers.Row) (string, error) { return c.File, nil }
	}
	if len(rows) == 0 {
		return outcome.At(outcome.Usage, "rows", "no row is called as --rows %s says; perf peers --help lists the suites", c.Rows)
	}
	m, began := machine.Describe(), time.Now()
	store, err := peers.OpenStore(c.State, fmt.Sprintf("%s, %s, %s, kernels %q, peers %q, gaps %v, quick %v", m.Revision, m.CPU, m.Active, c.Kernels, c.Only, c.Gap, c.Quick))
	if err != nil {
		return err
	}
	if !c.JSON {
		writeMachine(env, m)
		fmt.Fprintln(env.stdout)
	}
	for _, row := range rows {
		if store.Has(row.Name()) {
			continue
		}
		path, err := file(row)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(env.stderr, "perf: %s left out: there is no %s\n", row.Name(), path)
			continue
		}
		if err != nil {
			return err
		}
		env.status("%s: reading", row.Name())
		problem, err := c.problem(ctx, row, path)
		if err != nil {
			return err
		}
		compared, err := peers.Compare(ctx, row.Name(), problem, c.options(env, row.Model))
		env.status("")
		if err != nil {
			return err
		}
		if err := store.Add(compared); err != nil {
			return err
		}
		if !c.JSON {
			for _, comparison := range compared {
				if err := writeComparison(env, comparison); err != nil {
					return err
				}
			}
		}
	}
	return c.report(env, store, rows, m, began)
}

// problem reads the file of a row.
func (c *peersCommand) problem(ctx context.Context, row peers.Row, path string) (*peers.Problem, error) {
	if c.File == "" {
		return row.Load(ctx, path)
	}
	d, err := c.open(ctx, path)
	if err != nil {
		return nil, err
	}
	x, _, err := sparse.Preparation{Columns: d.Features}.Prepare(d.X)
	if err != nil {
		return nil, err
	}
	return row.On(x, slices.Clone(d.Y))
}

// report prints the comparisons of the rows, and writes them to a file if asked to.
func (c *peersCommand) report(env environment, store *peers.Store, rows []peers.Row, m machine.Machine, began time.Time) error {
	all := slices.DeleteFunc(slices.Clone(store.Comparisons), func(c peers.Comparison) bool {
		return !slices.ContainsFunc(rows, func(r peers.Row) bool { return r.Name() == c.Row })
	})
	s := summarise(all)
	if c.CSV != "" {
		note := newRecord("peers", "other solvers at equal certified gap", c.command(), began, m.Load, m)
		note.Missing = missing(all)
		if len(all) > 0 { // the rows may be of an earlier call
			before, _, _ := strings.Cut(all[0].Load, " … ")
			_, after, _ := strings.Cut(all[len(all)-1].Load, " … ")
			note.Load = before + " … " + after
		}
		if err := c.keep(all, note); err != nil {
			return err
		}
	}
	if c.JSON {
		return env.json(struct {
			Machine     machine.Machine    `json:"machine"`
			Comparisons []peers.Comparison `json:"comparisons"`
			Summary     []summaryRow       `json:"summary"`
		}{m, all, s})
	}
	return writeSummary(env, all, s)
}

// keep writes the table and, beside it, the record of the run.
func (c *peersCommand) keep(all []peers.Comparison, note record) error {
	if err := writeCSV(c.CSV, peersTable(all)); err != nil {
		return err
	}
	return note.write(strings.TrimSuffix(c.CSV, ".csv") + ".json")
}

// command returns the command line.
func (c *peersCommand) command() string {
	command := "perf peers"
	if c.Rows != "" {
		command += fmt.Sprintf(" --rows %q", c.Rows)
	}
	if c.Quick {
		command += " --quick"
	}
	if c.Only != "" {
		command += fmt.Sprintf(" --only %q", c.Only)
	}
	return command
}
