package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/studies"
	"github.com/seed-45b9a24c/pare/bench/synthetic"
	"github.com/seed-45b9a24c/pare/internal/embedded"
	"github.com/seed-45b9a24c/pare/sparse"
)

type figuresCommand struct {
	File    string `arg:"" optional:"" help:"svmlight text for the validation curve; without it the seeded syn_rcv1."`
	Data    string `default:"../shared/data" placeholder:"DIR" help:"Where breast_cancer.svm.gz is, for the logistic path (default: ../shared/data). Without it that figure is left out."`
	Output  string `short:"o" default:"docs/figures" placeholder:"DIR" help:"Where the files go (default: docs/figures)."`
	Quick   bool   `help:"Fewer points and evaluations."`
	Threads int    `help:"Folds solved at once (default: all cores)."`
}

func (c *figuresCommand) run(ctx context.Context, env environment) error {
	text, err := gzip.NewReader(embedded.Diabetes())
	if err != nil {
		return err
	}
	x, y, err := sparse.ReadSVMLight(ctx, text, sparse.ReadOptions{})
	if err != nil {
		return err
	}
	env.status("paths of diabetes")
	r, err := studies.Paths(ctx, "diabetes", sparse.Compact(x), y, pare.Lasso, pare.ElasticNet)
	if err != nil {
		return err
	}
	if err := c.save(env, r); err != nil {
		return err
	}

	path := filepath.Join(c.Data, "breast_cancer.svm.gz")
	x, y, err = sparse.OpenSVMLight(ctx, path, sparse.ReadOptions{})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(env.stderr, "perf: the logistic path is left out: there is no %s\n", path)
	case err != nil:
		return err
	default:
		env.status("path of breast_cancer")
		if x, err = studies.First(x, 10); err != nil {
			return err
		}
		// Columns of such different units need scaling to share a chart.
		if x, _, err = (sparse.Preparation{UnitColumns: true}).Apply(x); err != nil {
			return err
		}
		if r, err = studies.Paths(ctx, "breast_cancer", sparse.Compact(x), y, pare.Logistic); err != nil {
			return err
		}
		if err := c.save(env, r); err != nil {
			return err
		}
	}

	o := studies.ValidationOptions{Threads: c.Threads, Progress: func(what string) { env.status("%s", what) }}
	if c.Quick {
		o.Points, o.Baseline, o.MinRatio = 20, 5, 0.003
	}
	if c.File == "" {
		o.Name = "syn_rcv1"
		set, err := synthetic.Named(o.Name)
		if err != nil {
			return err
		}
		x, y, err = set.Generate(ctx)
		if err != nil {
			return err
		}
	} else {
		o.Name, _, _ = strings.Cut(filepath.Base(c.File), ".")
		if x, y, err = sparse.OpenSVMLight(ctx, c.File, sparse.ReadOptions{}); err != nil {
			return err
		}
	}
	if x, _, err = (sparse.Preparation{MinNNZ: 3}).Apply(x); err != nil {
		return err
	}
	if r, err = studies.Validation(ctx, sparse.Compact(x), y, o); err != nil {
		return err
	}
	env.status("")
	return c.save(env, r)
}

// save writes the tables and charts and says where they are.
func (c *figuresCommand) save(env environment, r *studies.Result) error {
	if err := os.MkdirAll(c.Output, 0o755); err != nil {
		return err
	}
	write := func(name string, f func(w io.Writer) error) error {
		path := filepath.Join(c.Output, name)
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		if err := f(file); err != nil {
			return err
		}
		fmt.Fprintln(env.stdout, path)
		return file.Close()
	}
	for _, name := range slices.Sorted(maps.Keys(r.Tables)) {
		if err := write(name+".csv", r.Tables[name].CSV); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Charts)) {
		if err := write(name+".svg", r.Charts[name].SVG); err != nil {
			return err
		}
	}
	return nil
}
