package main

import (
	"bufio"
	"context"

	"github.com/seed-45b9a24c/pare/bench/synthetic"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

type dataCommand struct {
	Name   string  `arg:"" help:"syn_rcv1, syn_realsim, syn_news20, syn_rcv1mc or syn_aloi."`
	MinNNZ int     `name:"min-nnz" default:"3" placeholder:"K" help:"Drop columns with fewer than K nonzeros (default: 3, as in the paper)."`
	Scale  float64 `default:"1" placeholder:"F" help:"Make F times the rows and columns."`
}

func (c *dataCommand) run(ctx context.Context, env environment) error {
	set, err := synthetic.Named(c.Name)
	if err != nil {
		return err
	}
	if !(c.Scale > 0) || c.Scale > 1000 {
		return outcome.At(outcome.BadParameter, "scale", "must be above 0 and at most 1000, got %g", c.Scale)
	}
	x, y, err := set.Scaled(c.Scale).Generate(ctx)
	if err != nil {
		return err
	}
	if x, _, err = (sparse.Preparation{MinNNZ: c.MinNNZ}).Apply(x); err != nil {
		return err
	}
	w := bufio.NewWriterSize(env.stdout, 1<<16)
	if err := sparse.WriteSVMLight(w, x, y); err != nil {
		return err
	}
	return w.Flush()
}
