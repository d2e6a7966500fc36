package table

import (
	"context"
	"fmt"
	"strconv"

	"github.com/seed-45b9a24c/pare/outcome"
)

// readTarget reads the target from a file of its own.
func (d *Data) readTarget(ctx context.Context, path string) error {
	values, labels, err := ReadColumn(ctx, path)
	if err != nil {
		return err
	}
	if len(values) != d.Rows {
		return &outcome.Error{Kind: outcome.Shape, File: path, Flag: "target", Message: fmt.Sprintf("%d values for %d rows; there must be one per row", len(values), d.Rows)}
	}
	d.setTarget(values, labels)
	return nil
}

// setTarget sets the target from values for all rows of the file.
func (d *Data) setTarget(values []float64, labels []string) {
	d.Y, d.Labels = values, labels
	if d.Kept == nil {
		return
	}
	d.Y = make([]float64, 0, len(d.Kept))
	for _, i := range d.Kept {
		d.Y = append(d.Y, values[i])
	}
}

// ReadColumn reads a file of one column: a number or a text per row. Texts are returned as indices of labels.
// The file may have any format of [Open], with one column besides labels of rows, or be text with one value per
// line.
func ReadColumn(ctx context.Context, path string) (values []float64, labels []string, err error) {
	o := Options{}
	in, err := open(ctx, path, nil, &o)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	src, err := recognise(in, Options{})
	if err != nil {
		return nil, nil, err
	}
	if src.archive != nil || src.market || src.mapped {
		return nil, nil, refused(in.Name, "not a single column: give a file with one value per line, a table with one column or an .npy array")
	}
	if src.svmlight {
		if src.rows, err = newCSVRows(in.Name, src.text, ',', 0, Options{}); err != nil {
			return nil, nil, err
		}
	}
	h := headerOf(in.Name, src.rows)
	var columns []int
	for k := range h.width {
		if !h.labelsRows(k) {
			columns = append(columns, k)
		}
	}
	if len(columns) != 1 {
		return nil, nil, &outcome.Error{Kind: outcome.Shape, File: path, Message: fmt.Sprintf("%d columns, but there must be one value per row", h.width)}
	}
	o.Target = strconv.Itoa(columns[0] + 1)
	d, err := collect(ctx, src.rows, "", o)
	if err != nil {
		return nil, nil, err
	}
	return d.Y, d.Labels, nil
}
