package main

import (
	"bufio"
	"context"

	"github.com/seed-45b9a24c/pare/bench/synthetic"
	"github.com/seed-45b9a24c/pare/sparse"
)

type dataCommand struct {
	Name   string `arg:"" help:"syn_rcv1, syn_realsim, syn_news20, syn_rcv1mc or syn_aloi."`
	MinNNZ int    `name:"min-nnz" default:"3" placeholder:"K" help:"Drop columns with fewer than K nonzeros (default: 3, as in the paper)."`
}

func (c *dataCommand) run(ctx context.Context, env environment) error {
	set, err := synthetic.Named(c.Name)
	if err != nil {
		return err
	}
	x, y, err := set.Generate(ctx)
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
