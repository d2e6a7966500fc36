package main

import (
	"context"
	"os"
	"time"

	"github.com/seed-45b9a24c/pare/outcome"
)

type convertCommand struct {
	File string `arg:"" help:"Data in any form that select reads; - is standard input."`
	Into string `arg:"" name:"out" help:"The file to write. pare maps it into memory, which needs no parsing and memory only for the parts used."`
	tableFlags
	Features int `placeholder:"P" help:"Number of columns of svmlight text, if the largest index in the file is not that of the last column." group:"Data"`

	JSON  bool `name:"json" help:"Print one JSON object on standard output." group:"Output"`
	Quiet bool `help:"Print no progress." group:"Output"`
}

func (c *convertCommand) output() outputFlags { return outputFlags{JSON: c.JSON, Quiet: c.Quiet} }

func (c *convertCommand) run(ctx context.Context, env environment) (result, error) {
	from := dataFlags{File: c.File, tableFlags: c.tableFlags, Features: c.Features}
	if err := from.check(); err != nil {
		return nil, err
	}
	if err := apart("", c.Into, c.File); err != nil {
		return nil, err
	}
	if err := replaceable("", c.Into, "cannot write the data"); err != nil {
		return nil, err
	}
	d, err := from.load(ctx, env, true)
	if err != nil {
		return nil, err
	}
	if d.Features != nil {
		return nil, outcome.At(outcome.Usage, "drop", "a matrix is written with all its columns; give --drop and --columns to the commands that read %s", c.Into)
	}
	began := time.Now()
	if err := d.Keep(c.Into); err != nil {
		if outcome.KindOf(err) == outcome.IO {
			err = unsaved("", err)
		}
		return nil, err
	}
	r := &convertResult{dimensions: d.dimensions(), Format: d.Format, Out: c.Into, Warnings: d.notes(), Seconds: convertSeconds{Load: d.loadSeconds, Write: time.Since(began).Seconds()}, data: d}
	if info, err := os.Stat(c.Into); err == nil {
		r.Bytes = info.Size()
	}
	return r, nil
}

// convertResult is what pare convert prints.
type convertResult struct {
	dimensions
	Format   string         `json:"format"`
	Out      string         `json:"out"`
	Bytes    int64          `json:"bytes"`
	Warnings []warning      `json:"warnings,omitempty"`
	Seconds  convertSeconds `json:"seconds"`

	data *dataset
}

type convertSeconds struct {
	Load  float64 `json:"load"`
	Write float64 `json:"write"`
}

func (r *convertResult) trusted() bool { return true }

func (r *convertResult) text(p *page) {
	p.heading("convert", r.data)
	p.row("format", "%s", r.Format)
	p.row("written", "%s, %s", r.Out, bytesize(r.Bytes))
	p.row("work", "reading %s, writing %s", seconds(r.Seconds.Load), seconds(r.Seconds.Write))
	p.warnings(r.Warnings)
	p.next("pare select " + quote(r.Out))
}
