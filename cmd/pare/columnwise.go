package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-45b9a24c/pare/outcome"
)

// columnFlags say what differs from column to column.
type columnFlags struct {
	PenaltyFactors string `placeholder:"FILE|COLUMN=F,..." help:"What the strengths of columns are multiplied by: a file of one number a line, or some columns with theirs, 1 for the others; 0 leaves a column unpenalised, inf out." group:"Problem"`
}

func (f columnFlags) check() error { return present("penalty-factors", f.PenaltyFactors) }

// differ reads what differs from column to column.
func (f columnFlags) differ(d *dataset) (err error) {
	d.factors, err = d.perColumn("penalty-factors", f.PenaltyFactors, 1)
	return err
}

// perColumn reads one number for each column of the prepared matrix: from a file of one for
// each column of the data, or from a list of columns, by name or by number from 1, with the
// usual number for the others. nil without a text.
func (d *dataset) perColumn(flag, text string, usual float64) ([]float64, error) {
	if text == "" {
		return nil, nil
	}
	var all []float64
	if strings.Contains(text, "=") {
		all = slices.Repeat([]float64{usual}, d.prepared.Columns)
		for field := range strings.SplitSeq(text, ",") {
			j, v, err := d.columnValue(field)
			if err != nil {
				return nil, advised{outcome.At(outcome.Usage, flag, "%v", err), "Give COLUMN=NUMBER,..., or a file of one number a line."}
			}
			all[j] = v
		}
	} else {
		var err error
		if all, err = readLines(flag, text, parseNumber); err != nil {
			return nil, err
		}
		if len(all) == len(d.prepared.Kept) {
			return all, nil
		}
		if len(all) != d.prepared.Columns {
			return nil, badFile(flag, text, outcome.Errorf(outcome.Shape, "%d values for %d columns; there must be one a column", len(all), d.prepared.Columns))
		}
	}
	out := make([]float64, len(d.prepared.Kept))
	for i, j := range d.prepared.Kept {
		out[i] = all[j]
	}
	return out, nil
}

// columnValue reads COLUMN=NUMBER.
func (d *dataset) columnValue(field string) (column int, value float64, err error) {
	at := strings.LastIndex(field, "=")
	if at < 0 {
		return 0, 0, fmt.Errorf("%q is not COLUMN=NUMBER", field)
	}
	name := strings.TrimSpace(field[:at])
	if value, err = parseNumber(strings.TrimSpace(field[at+1:])); err != nil {
		return 0, 0, fmt.Errorf("%q of %q is %w", field[at+1:], name, err)
	}
	if column = slices.Index(d.Names, name); column >= 0 {
		return column, value, nil
	}
	column, err = strconv.Atoi(name)
	if d.Names != nil || err != nil || column < 1 || column > d.prepared.Columns {
		return 0, 0, fmt.Errorf("there is no column %q", name)
	}
	return column - 1, value, nil
}
