package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/seed-45b9a24c/pare/outcome"
)

// grammar is the grammar of command lines.
type grammar struct {
	CPU      cpuCommand      `cmd:"" name:"cpu" help:"The processor, its caches, the kernel sets available and chosen."`
	Kernels  kernelsCommand  `cmd:"" help:"Every kernel, set and size: times, rates, shares of the measured ceiling."`
	Roofline rooflineCommand `cmd:"" help:"The same as a log-log chart."`
	Solve    solveCommand    `cmd:"" help:"Where the time and memory of one fit, hypergradient or selection go."`
	Peers    peersCommand    `cmd:"" help:"Our solvers beside those installed, at equal certified gap."`
	Figures  figuresCommand  `cmd:"" help:"Figures of the paper, redone: CSV and SVG."`
	Goals    goalsCommand    `cmd:"" help:"What the project has set itself, measured: ours beside others."`
	Page     pageCommand     `cmd:"" help:"Renew the tables of a page from the files that the others leave."`
	Data     dataCommand     `cmd:"" help:"A seeded data set as svmlight text on standard output."`
}

// environment holds the outputs of a command.
type environment struct {
	stdout, stderr io.Writer
}

type command interface {
	run(ctx context.Context, env environment) error
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		args = []string{"--help"}
	}
	helped := false
	parser, err := kong.New(new(grammar),
		kong.Name("perf"),
		kong.Description("Measure pare: its loops, its solves, and other solvers beside it."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		fmt.Fprintln(stderr, "perf:", err)
		return 1
	}
	parsed, err := parser.Parse(args)
	switch {
	case helped:
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "perf: %v. \"perf --help\" lists the commands, \"perf COMMAND --help\" its flags.\n", err)
		return 2
	}
	chosen := parsed.Selected().Target.Addr().Interface().(command)
	if err := chosen.run(ctx, environment{stdout, stderr}); err != nil {
		fmt.Fprintln(stderr, "perf:", err)
		if e, ok := errors.AsType[*outcome.Error](err); ok && (e.Kind == outcome.Usage || e.Flag != "" && e.File == "") {
			return 2
		}
		return 1
	}
	return 0
}

// status writes a line that replaces the previous one; only on a terminal.
func (e environment) status(format string, args ...any) {
	if file, ok := e.stderr.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		fmt.Fprintf(file, "\r\x1b[K"+format, args...)
	}
}

// json writes one object.
func (e environment) json(v any) error {
	encoder := json.NewEncoder(e.stdout)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// left writes columns aligned on the left. Cells are separated by tabs.
func (e environment) left(rows func(w io.Writer)) error {
	w := tabwriter.NewWriter(e.stdout, 0, 8, 2, ' ', 0)
	rows(w)
	return w.Flush()
}

// table writes aligned columns. Cells are separated by tabs.
func (e environment) table(rows func(w io.Writer)) error {
	w := tabwriter.NewWriter(e.stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	rows(w)
	return w.Flush()
}
