package table

import (
	"context"
	"io"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// readSVMLight reads svmlight text, whose columns have numbers for names.
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
	if o.Target != "" {
		return nil, outcome.At(outcome.Usage, "target", "goes with tables; %s is %s, which carries its target", o.Name, d.Format)
	}
	if err := d.noColumns(o); err != nil {
		return nil, err
	}
	d.X = sparse.Compact(x)
	return d, nil
}

// newMatrixData makes the data of a matrix without names and target.
func newMatrixData(ctx context.Context, x *sparse.CSC, format string, o Options, err error) (*Data, error) {
	if err != nil {
		return nil, err
	}
	d := &Data{Format: format, Schema: &Schema{TargetPosition: -1}}
	d.Rows, _ = x.Dims()
	if err := d.noColumns(o); err != nil {
		return nil, err
	}
	d.X = sparse.Compact(x)
	switch {
	case o.Target == "" && o.NoTarget:
		return d, nil
	case o.Target == "":
		return nil, outcome.At(outcome.Usage, "target", "%s is %s, without a target: give --target a file with one value a row", o.Name, format)
	case !exists(o.Target):
		return nil, outcome.At(outcome.Usage, "target", "%q is not a file; %s is %s, whose target has a file of its own", o.Target, o.Name, format)
	}
	if err := d.readTarget(ctx, o.Target); err != nil {
		return nil, err
	}
	return d, nil
}

// noColumns refuses what goes with tables: here columns are not chosen.
func (d *Data) noColumns(o Options) error {
	for _, c := range []struct {
		flag string
		list []string
	}{{"drop", o.Drop}, {"columns", o.Columns}, {"categories", o.Categories}} {
		if len(c.list) > 0 {
			return outcome.At(outcome.Usage, c.flag, "goes with tables; %s is %s", o.Name, d.Format)
		}
	}
	return nil
}
