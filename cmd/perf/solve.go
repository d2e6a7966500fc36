package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"strings"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/machine"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// solveCommand has the flags of pare that state the problem.
type solveCommand struct {
	What string `arg:"" enum:"fit,grad,select" help:"fit, grad or select."`
	File string `arg:"" optional:"" help:"A file of any kind that pare reads; without it the diabetes data."`

	reading
	MinNNZ      int  `name:"min-nnz" placeholder:"K" help:"Drop columns with fewer than K nonzeros."`
	UnitRows    bool `help:"Scale rows to unit l2 norm."`
	UnitColumns bool `help:"Scale columns to unit l2 norm."`

	Model       string  `default:"lasso" help:"A model, of those that pare help models lists (default: lasso)."`
	Intercept   bool    `default:"true" negatable:"" help:"An unpenalised intercept (default: true)."`
	Standardize bool    `help:"Columns of unit variance."`
	Ratio       string  `placeholder:"R,..." default:"0.01" help:"α/αmax for fit and grad, one or one per hyperparameter (default: 0.01)."`
	LogLambda   string  `placeholder:"λ,..." help:"λ = ln α instead."`
	Tol         float64 `default:"1e-6" help:"Relative duality gap (default: 1e-6)."`
	Criterion   string  `default:"cv" enum:"cv,holdout" help:"cv or holdout (default: cv)."`
	Folds       int     `default:"5" help:"Number of folds (default: 5)."`
	Shuffle     bool    `default:"true" negatable:"" help:"Shuffle the rows before dealing them into folds (default: true)."`
	Seed        uint64  `help:"Seed of the shuffle."`
	Search      string  `default:"auto" help:"auto, gradient or grid (default: auto)."`
	Threads     int     `help:"Threads at work at once (default: all cores)."`
	Kernels     string  `help:"Kernel set (default: the best)."`

	Repeat     int    `default:"1" help:"Solve this often, from cold; figures are of the last (default: 1)."`
	CPUProfile string `name:"cpuprofile" placeholder:"FILE" help:"Write a CPU profile of the solves."`
	Trace      string `placeholder:"FILE" help:"Write an execution trace of the solves."`
	JSON       bool   `name:"json" help:"One JSON object."`
}

// phase is a timed part of the work.
type phase struct {
	Name      string  `json:"name"`
	Seconds   float64 `json:"seconds"`
	Allocated uint64  `json:"allocated_bytes,omitempty"`
	// Streamed is the number of bytes that passes over the whole matrix read.
	Streamed int64 `json:"streamed_bytes,omitempty"`
}

type solveReport struct {
	What        string          `json:"what"`
	Model       string          `json:"model"`
	N           int             `json:"n"`
	P           int             `json:"p"`
	NNZ         int64           `json:"nnz"`
	MatrixBytes int64           `json:"matrix_bytes"`
	Phases      []phase         `json:"phases"`
	Status      string          `json:"status"`
	GapRelative *float64        `json:"gap_relative"` // nil: there is no gap
	Support     int             `json:"support"`
	Epochs      int             `json:"epochs"`
	Passes      int             `json:"passes"`
	Iterations  int             `json:"cg_iterations,omitempty"`
	Evaluations []evaluation    `json:"evaluations,omitempty"`
	Anatomy     *anatomy        `json:"anatomy,omitempty"` // fit only
	Counters    []machine.Count `json:"counters"`
	PeakBytes   uint64          `json:"peak_bytes"` // of the Go heap and stacks, as obtained from the system
	Machine     machine.Machine `json:"machine"`
}

type evaluation struct {
	LogLambda []float64 `json:"log_lambda"`
	Value     float64   `json:"value"`
	Tol       float64   `json:"tol"`
	Support   int       `json:"support"`
	Seconds   float64   `json:"seconds"`
}

func (c *solveCommand) run(ctx context.Context, env environment) error {
	r := &solveReport{What: c.What, Model: c.Model, Machine: machine.Describe()}
	var x sparse.Matrix
	var y []float64
	err := r.phase("load", func() (err error) {
		x, y, err = c.load(ctx)
		return err
	})
	if err != nil {
		return err
	}
	r.N, r.P = x.Dims()
	r.NNZ = x.NNZ()
	r.MatrixBytes = matrixBytes(x)
	stop, err := c.profile()
	if err != nil {
		return err
	}
	loaded := r.Phases
	r.Counters, err = machine.Counted(func() error {
		for range max(c.Repeat, 1) {
			r.Phases = loaded[:1:1]
			if err := c.solve(ctx, r, x, y); err != nil {
				return err
			}
		}
		return nil
	})
	if stopErr := stop(); err == nil {
		err = stopErr
	}
	if err != nil {
		return err
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	r.PeakBytes = memory.Sys
	if c.JSON {
		return env.json(r)
	}
	r.text(env)
	if r.Anatomy != nil {
		return r.Anatomy.text(env)
	}
	return nil
}

// phase times f and counts what it allocates.
func (r *solveReport) phase(name string, f func() error) error {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	err := f()
	seconds := time.Since(began).Seconds()
	runtime.ReadMemStats(&after)
	r.Phases = append(r.Phases, phase{Name: name, Seconds: seconds, Allocated: after.TotalAlloc - before.TotalAlloc})
	return err
}

func (c *solveCommand) load(ctx context.Context) (x sparse.Matrix, y []float64, err error) {
	d, err := c.open(ctx, c.File)
	if err != nil {
		return nil, nil, err
	}
	x, _, err = sparse.Preparation{Columns: d.Features, MinNNZ: c.MinNNZ, UnitRows: c.UnitRows, UnitColumns: c.UnitColumns}.Prepare(d.X)
	if err == nil {
		y, _, err = pare.Model(c.Model).Target(d.Y, d.Labels)
	}
	return x, y, err
}

// matrixBytes returns the number of bytes that a pass reads: 8 per value and, if the matrix is sparse, 4 for
// its row index.
func matrixBytes(x sparse.Matrix) int64 {
	if rows, _ := x.Arrays(); rows == nil {
		return 8 * x.NNZ()
	}
	return 12 * x.NNZ()
}

func (c *solveCommand) config() pare.Config {
	return pare.Config{Model: pare.Model(c.Model), NoIntercept: !c.Intercept, Standardize: c.Standardize, Tol: c.Tol, Threads: c.Threads, Kernels: c.Kernels}
}

func (c *solveCommand) solve(ctx context.Context, r *solveReport, x sparse.Matrix, y []float64) error {
	v := pare.Validation{Criterion: pare.Criterion(c.Criterion), Seed: c.Seed}
	if v.Criterion == pare.CV || v.Criterion == pare.HoldOut {
		v.Folds, v.InOrder = c.Folds, !c.Shuffle
	}
	if c.What == "select" {
		return c.choose(ctx, r, x, y, v)
	}

	var logLambda []float64
	err := r.phase("alpha max", func() (err error) {
		logLambda, err = c.logLambda(x, y)
		return err
	})
	if err != nil {
		return err
	}
	if c.What == "fit" {
		var f *pare.Fitted
		err := r.phase("fit", func() (err error) {
			f, err = pare.Fit(ctx, x, y, logLambda, c.config())
			return err
		})
		if err != nil {
			return err
		}
		r.fit(f)
		r.Status = string(f.Status)
		r.Phases[len(r.Phases)-1].Streamed = int64(f.Passes) * r.MatrixBytes
		if r.Anatomy, err = c.dissect(ctx, x, y, logLambda); errors.Is(err, errNoAnatomy) {
			err = nil
		}
		return err
	}
	var h *pare.Hypergradient
	err = r.phase("grad", func() (err error) {
		h, err = pare.Gradient(ctx, x, y, logLambda, v, c.config())
		return err
	})
	if err != nil {
		return err
	}
	r.Status, r.GapRelative, r.Support, r.Epochs, r.Passes, r.Iterations = string(h.Status), finite(h.RelativeGap), h.Support, h.Epochs, h.Passes, h.Iterations
	r.Phases[len(r.Phases)-1].Streamed = int64(h.Passes) * r.MatrixBytes
	r.Phases = append(r.Phases, phase{Name: "solve, summed over folds", Seconds: h.SecondsSolve}, phase{Name: "gradient, summed over folds", Seconds: h.SecondsGradient})
	return nil
}

// choose selects λ.
func (c *solveCommand) choose(ctx context.Context, r *solveReport, x sparse.Matrix, y []float64, v pare.Validation) error {
	var s *pare.Selection
	err := r.phase("select", func() (err error) {
		s, err = pare.Select(ctx, x, y, pare.SelectOptions{Validation: v, Search: pare.Search(c.Search)}, c.config())
		return err
	})
	if err != nil {
		return err
	}
	r.Status = string(s.Status)
	if s.Final != nil {
		r.fit(s.Final)
	}
	r.Evaluations = nil
	for _, e := range s.Evaluations {
		r.Evaluations = append(r.Evaluations, evaluation{e.LogLambda, e.Value, e.Tol, e.Support, e.Seconds})
	}
	r.Phases = append(r.Phases, phase{Name: "search", Seconds: s.SecondsSearch}, phase{Name: "refit", Seconds: s.SecondsRefit})
	return nil
}

func (r *solveReport) fit(f *pare.Fitted) {
	r.GapRelative, r.Support, r.Epochs, r.Passes = finite(f.RelativeGap), len(f.Support), f.Epochs, f.Passes
}

// finite returns a number for JSON, nil for one that is not finite, such as the gap of a problem that is not
// convex.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// logLambda parses --ratio or --log-lambda.
func (c *solveCommand) logLambda(x sparse.Matrix, y []float64) ([]float64, error) {
	l, err := pare.LogLambdaMax(x, y, c.config())
	if err != nil {
		return nil, err
	}
	flag, text, absolute := "ratio", c.Ratio, c.LogLambda != ""
	switch {
	case absolute:
		flag, text = "log-lambda", c.LogLambda
	case pare.Model(c.Model).Traits().Samples:
		return nil, outcome.At(outcome.Usage, flag, "%s has no αmax: give --log-lambda, ln C", c.Model)
	}
	fields := strings.Split(text, ",")
	if len(fields) != 1 && len(fields) != len(l) {
		return nil, outcome.At(outcome.Usage, flag, "%d strengths for %d hyperparameters: give one, or one for each", len(fields), len(l))
	}
	for i := range l {
		v, err := strconv.ParseFloat(fields[min(i, len(fields)-1)], 64)
		if err != nil {
			return nil, outcome.At(outcome.Usage, flag, "a strength must be a number, not %q", fields[min(i, len(fields)-1)])
		}
		switch {
		case absolute:
			l[i] = v
		case v > 0:
			l[i] += kernels.Log(v)
		default:
			return nil, outcome.At(outcome.Usage, flag, "a share of αmax must be above 0, got %g", v)
		}
	}
	return l, nil
}

// profile starts the profiles asked for and returns the function that ends them.
func (c *solveCommand) profile() (stop func() error, err error) {
	var ends []func() error
	start := func(path string, begin func(*os.File) error, end func()) error {
		if path == "" {
			return nil
		}
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		ends = append(ends, func() error { end(); return file.Close() })
		return begin(file)
	}
	if err := start(c.CPUProfile, func(f *os.File) error { return pprof.StartCPUProfile(f) }, pprof.StopCPUProfile); err != nil {
		return nil, err
	}
	if err := start(c.Trace, func(f *os.File) error { return trace.Start(f) }, trace.Stop); err != nil {
		return nil, err
	}
	return func() (err error) {
		for _, end := range ends {
			if e := end(); err == nil {
				err = e
			}
		}
		return err
	}, nil
}

func (r *solveReport) text(env environment) {
	writeMachine(env, r.Machine)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(env.stdout, "%-27s %s\n", name, fmt.Sprintf(format, args...))
	}
	fmt.Fprintln(env.stdout)
	row("problem", "%s %s, %d × %d, %d stored entries; a pass reads %s", r.Model, r.What, r.N, r.P, r.NNZ, size(int(r.MatrixBytes)))
	gap := "no gap"
	if r.GapRelative != nil {
		gap = fmt.Sprintf("relative gap %.2g", *r.GapRelative)
	}
	row("result", "%s: %s, support %d, %d epochs, %d passes, %d iterations of conjugate gradients",
		r.Status, gap, r.Support, r.Epochs, r.Passes, r.Iterations)
	for _, p := range r.Phases {
		row(p.Name, "%.6f s, %s allocated, %s read by passes", p.Seconds, size(int(p.Allocated)), size(int(p.Streamed)))
	}
	for i, e := range r.Evaluations {
		row(fmt.Sprintf("  λ %d", i+1), "%.5f: value %.8g, gap asked %.0e, support %d, %.4f s", e.LogLambda, e.Value, e.Tol, e.Support, e.Seconds)
	}
	row("memory", "%s from the system", size(int(r.PeakBytes)))
	for _, count := range r.Counters {
		if count.Unavailable != "" {
			row(count.Name, "unavailable: %s", count.Unavailable)
		} else {
			row(count.Name, "%d", count.Value)
		}
	}
}
