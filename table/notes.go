package table

import (
	"slices"
	"strings"
)

// alwaysFew is the number of categories that is never remarked on, and of rows on which counting may be chance.
const alwaysFew = 10

// noteCategories remarks on columns with more categories than half the number of rows, as identifiers and dates
// have.
func (d *Data) noteCategories(features []*column, rows int) {
	const most = 3
	var many []string
	for _, col := range features {
		if n := len(col.texts); n > alwaysFew && 2*n > rows {
			many = append(many, col.name)
		}
	}
	if len(many) > most {
		many = append(many[:most], "...")
	}
	if len(many) > 0 {
		d.Notes = append(d.Notes, Note{"many_categories", strings.Join(many, ", ") + ": more than half as many categories as rows; they say little about other rows; --drop leaves them out"})
	}
}

// noteCounts remarks on columns that number the rows, as identifiers do.
func (d *Data) noteCounts(features []*column) {
	at := 0
	for f, in := range d.Schema.Inputs {
		if in.Categories == nil && d.countsRows(at) {
			d.Notes = append(d.Notes, Note{"row_numbers", features[f].name + " counts the rows, as identifiers do: it says nothing about other rows, unless they are in the order of time; --drop leaves it out"})
		}
		at += in.width()
	}
}

// countsRows reports whether a column of X grows by 1 from each row of the file to the next.
func (d *Data) countsRows(j int) bool {
	n, _ := d.X.Dims()
	rows, values := d.X.Column(j)
	if n <= alwaysFew || len(values) < n-1 {
		return false
	}
	value := func(i int) (row, v float64) {
		if row = float64(i); d.Kept != nil {
			row = float64(d.Kept[i])
		}
		if rows == nil {
			return row, values[i]
		}
		if k, ok := slices.BinarySearch(rows, int32(i)); ok {
			v = values[k]
		}
		return row, v
	}
	row, first := value(0)
	for i := range n {
		if r, v := value(i); v-first != r-row {
			return false
		}
	}
	return true
}

// indexNote is the remark on the columns that were left out as row labels.
func (p *plan) indexNote() string {
	labels := make([]string, len(p.rowLabels))
	for i, k := range p.rowLabels {
		labels[i] = p.columnLabel(k)
	}
	return strings.Join(labels, ", ") + ": row labels, as pandas and R write them; they are not features unless --columns or --categories lists them"
}
