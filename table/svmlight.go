package table

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// readSVMLight reads svmlight text, whose columns have no names, only numbers.
func readSVMLight(ctx context.Context, text io.Reader, o Options) (*Data, error) {
	opt := sparse.ReadOptions{Name: o.Name, Features: o.Features, MaxFeatures: o.MaxFeatures, MaxEntries: o.MaxEntries, Limits: o.Limits, Threads: o.threads()}
	d := &Data{Format: "svmlight text", Schema: &Schema{TargetPosition: -1}}
	var x *sparse.CSC
	var err error
	if o.ZeroBased == nil {
		x, d.Y, d.Schema.ZeroBased, err = sparse.DetectSVMLight(ctx, text, opt)
	} else {
		opt.ZeroBased, d.Schema.ZeroBased = *o.ZeroBased, *o.ZeroBased
		x, d.Y, err = sparse.ReadSVMLight(ctx, text, opt)
	}
	if err != nil {
		return nil, err
	}
	d.Rows = len(d.Y)
	if d.Rows == 0 && o.Target != "" {
		return nil, &outcome.Error{Kind: outcome.Shape, File: o.Name, Flag: "target", Message: fmt.Sprintf("there are no rows, and there is no column %q", o.Target)}
	}
	d.X = sparse.Compact(x)
	if err := d.choose(o); err != nil {
		return nil, err
	}
	return d, nil
}

// anyRow reads svmlight text up to its first row, past blank lines and comments, and reports whether there is a
// row.
func anyRow(text *bufio.Reader) (bool, error) {
	for comment := false; ; {
		c, err := text.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, err
		case c == '\n':
			comment = false
		case c == '#':
			comment = true
		case !comment && c != ' ' && c != '\t' && c != '\r':
			return true, nil
		}
	}
}

// newMatrixData makes the data of a matrix that has neither names nor a target.
func newMatrixData(ctx context.Context, x *sparse.CSC, format string, o Options, err error) (*Data, error) {
	if err != nil {
		return nil, err
	}
	d := &Data{Format: format, Schema: &Schema{TargetPosition: -1}}
	d.Rows, _ = x.Dims()
	d.X = sparse.Compact(x)
	if err := d.choose(o); err != nil {
		return nil, err
	}
	switch {
	case o.Target == "" && o.NoTarget:
		return d, nil
	case o.Target == "":
		return nil, outcome.At(outcome.Usage, "target", "%s is %s, without a target: give --target a file with one value per row", o.Name, format)
	case !o.hasFile():
		return nil, outcome.At(outcome.Usage, "target", "there is no file %q; %s is %s, whose target must be in a file of its own", o.Target, o.Name, format)
	}
	if err := d.readTarget(ctx, o.Target); err != nil {
		return nil, err
	}
	return d, nil
}

// choose sets Features from Options.Columns and Options.Drop.
func (d *Data) choose(o Options) error {
	if o.Columns == nil && o.Drop == nil {
		return nil
	}
	_, p := d.X.Dims()
	h := header{file: o.Name, names: d.Names, width: p}
	taken, err := h.requireAll("columns", o.Columns)
	if err != nil {
		return err
	}
	dropped, err := h.requireAll("drop", o.Drop)
	if err != nil {
		return err
	}
	feature := slices.Repeat([]bool{o.Columns == nil}, p)
	for _, j := range taken {
		feature[j] = true
	}
	for _, j := range dropped {
		feature[j] = false
	}
	d.Features = []int32{}
	for j, is := range feature {
		if is {
			d.Features = append(d.Features, int32(j))
		}
	}
	return nil
}
