package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-45b9a24c/pare/outcome"
)

// columnFlags are the flags for what differs from column to column.
type columnFlags struct {
	ColumnGroups   string `name:"column-groups" placeholder:"FILE|size:K|prefix" help:"The groups of columns for group, group_enet and sparse_group: a file with one integer per column; size:K for groups of K neighbouring columns; or prefix for columns with the same name up to = or the last _ or ., such as --one-hot makes." group:"Problem"`
	GroupWeights   string `name:"group-weights" placeholder:"FILE" help:"Factors of the strengths of the groups, one per line in the order of their first columns (default: the square roots of their sizes)." group:"Problem"`
	PenaltyFactors string `placeholder:"FILE|COLUMN=F,..." help:"Factors of the strengths of columns: a file with one number per line, or COLUMN=F for some columns and 1 for the others; 0 leaves a column unpenalised, inf excludes it." group:"Problem"`
	Lower          string `placeholder:"NUMBER|FILE|COLUMN=L,..." help:"Lower bounds of coefficients, 0 or less: one for all penalised columns, a file with one per column, or COLUMN=L for some (not ridge, svm)." group:"Problem"`
	Upper          string `placeholder:"NUMBER|FILE|COLUMN=U,..." help:"Upper bounds of coefficients, 0 or more, given in the same way." group:"Problem"`
}

func (f columnFlags) check() error {
	if err := f.checkGroups(); err != nil {
		return err
	}
	for _, one := range []struct{ flag, text string }{{"penalty-factors", f.PenaltyFactors}, {"lower", f.Lower}, {"upper", f.Upper}} {
		if strings.Contains(one.text, "=") {
			continue // it lists columns, whatever their names
		}
		if err := present(one.flag, one.text); err != nil {
			return err
		}
	}
	return nil
}

// differ reads penalty factors and bounds into d.
func (f columnFlags) differ(d *dataset) (err error) {
	if d.factors, err = d.perColumn("penalty-factors", f.PenaltyFactors, 1); err != nil {
		return err
	}
	if d.lower, err = d.bounds("lower", f.Lower, math.Inf(-1)); err != nil {
		return err
	}
	if d.upper, err = d.bounds("upper", f.Upper, math.Inf(1)); err != nil {
		return err
	}
	return f.group(d)
}

// bounds reads lower or upper bounds; a single number applies to all penalised columns.
func (d *dataset) bounds(flag, text string, none float64) ([]float64, error) {
	all, err := parseNumber(text)
	if err != nil {
		return d.perColumn(flag, text, none)
	}
	out := slices.Repeat([]float64{all}, len(d.prepared.Kept))
	for j := range out {
		if d.factors != nil && d.factors[j] == 0 {
			out[j] = none
		}
	}
	return out, nil
}

// perColumn reads one number per column of the prepared matrix: from a file with one number per column of the
// data, or from a list of columns, by name or by number from 1; columns not listed get the usual number. It
// returns nil for an empty text.
func (d *dataset) perColumn(flag, text string, usual float64) ([]float64, error) {
	if text == "" {
		return nil, nil
	}
	var all []float64
	if strings.Contains(text, "=") {
		all = slices.Repeat([]float64{usual}, d.prepared.Columns)
		given := make([]bool, len(all))
		for field := range strings.SplitSeq(text, ",") {
			j, v, err := d.columnValue(field)
			if err != nil {
				return nil, advised{outcome.At(outcome.Usage, flag, "%v", err), "Give COLUMN=NUMBER,... or a file with one number per line."}
			}
			if given[j] {
				return nil, outcome.At(outcome.Usage, flag, "column %s has two values; give only one", d.label(int32(j)))
			}
			all[j], given[j] = v, true
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
			return nil, badFile(flag, text, outcome.Errorf(outcome.Shape, "%d values for %d columns; there must be one per column", len(all), d.prepared.Columns))
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
		return 0, 0, fmt.Errorf("%q is not of the form COLUMN=NUMBER", field)
	}
	name := strings.TrimSpace(field[:at])
	if value, err = parseNumber(strings.TrimSpace(field[at+1:])); err != nil {
		return 0, 0, fmt.Errorf("%q for %q is %w", field[at+1:], name, err)
	}
	for _, known := range []string{name, "column " + name} { // by its name, or by its number
		if column = slices.Index(d.Names, known); column >= 0 {
			return column, value, nil
		}
	}
	number, err := strconv.Atoi(name)
	switch {
	case err != nil:
	case d.Names == nil && 1 <= number && number <= d.prepared.Columns:
		return number - 1, value, nil
	case d.Names != nil:
		if number < 0 { // counted from the last column
			number += d.Schema.Width + 1
		}
		return d.numbered(number, name, value)
	}
	return 0, 0, fmt.Errorf("there is no column %q", name)
}

// numbered returns the column and the value for a column given by its number in the file, from 1.
func (d *dataset) numbered(number int, name string, value float64) (int, float64, error) {
	column := 0
	for _, in := range d.Schema.Inputs {
		switch {
		case in.Position != number-1:
			column += max(1, len(in.Categories))
		case in.Categories != nil:
			return 0, 0, fmt.Errorf("column %s has categories; give one of the columns made from it, such as %q", name, d.Names[column])
		default:
			return column, value, nil
		}
	}
	return 0, 0, fmt.Errorf("there is no column %q among the features", name)
}
