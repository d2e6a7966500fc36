package table

import (
	"context"
	"io"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// readSVMLight reads svmlight text, whose columns have numbers for names.
func readSVMLight(ctx context.Context, text io.Reader, o Options) (*Data, error) {
	opt := sparse.ReadOptions{Name: o.Name, Features: o.Features, MaxFeatures: o.MaxFeatures, MaxEntries: o.MaxEntries}
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
	if err := d.fromMatrix(x, o); err != nil {
		return nil, err
	}
	return d, nil
}

// fromMatrix makes the data of a matrix whose columns have no names.
func (d *Data) fromMatrix(x *sparse.CSC, o Options) error {
	for flag, list := range map[string][]string{"drop": o.Drop, "columns": o.Columns, "categories": o.Categories} {
		if len(list) > 0 {
			return outcome.At(outcome.Usage, flag, "goes with tables; %s is %s", o.Name, d.Format)
		}
	}
	if o.Target != "" && d.Y != nil {
		return outcome.At(outcome.Usage, "target", "goes with tables; %s is %s, which carries its target", o.Name, d.Format)
	}
	d.X = sparse.Compact(x)
	return nil
}
