// Package parquet lets package table read Parquet files with github.com/parquet-go/parquet-go, in programs that
// ask for it:
//
//	d, err := table.Open(ctx, "data.parquet", table.Options{Target: "y", Formats: []table.Format{parquet.Format()}})
//
// Columns of numbers and booleans (1 and 0) are numbers, dates and times are [table.Time], all others are text.
// Nested and repeated columns are left out.
package parquet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/table"
)

// Format returns the format for [table.Options].
func Format() table.Format {
	return table.Format{Name: "Parquet", Magic: "PAR1", Open: open}
}

// rows are the rows of a file, row group by row group.
type rows struct {
	name    string
	file    *parquet.File
	names   []string
	cells   []cellOf
	index   []string // names of the columns of the pandas index
	byLeaf  []int    // column of each leaf, −1: none
	group   int      // index of the next row group
	current parquet.Rows
	buffer  []parquet.Row
	at, n   int // position in the buffer, and rows in it
}

// atOnce is the number of rows that are read together.
const atOnce = 256

// open reads the footer of a file, which describes its columns.
func open(file io.ReaderAt, size int64, name string) (opened table.Rows, err error) {
	defer contained(name, &err)
	if err := footer(file, size); err != nil {
		return nil, damaged(name, err)
	}
	f, err := parquet.OpenFile(file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, damaged(name, err)
	}
	if err := pages(file, size, f.Metadata().RowGroups); err != nil {
		return nil, damaged(name, err)
	}
	r := &rows{name: name, file: f, index: indexOf(f), buffer: make([]parquet.Row, atOnce)}
	r.add(f.Root(), true)
	if len(r.names) == 0 {
		return nil, &outcome.Error{Kind: outcome.Parse, File: name, Message: "the Parquet file has no columns of numbers or text"}
	}
	return r, nil
}

// indexOf returns the names of the columns in the index of the frame that pandas wrote. An index that only
// counts rows is not a column.
func indexOf(f *parquet.File) (names []string) {
	text, _ := f.Lookup("pandas")
	var frame struct {
		Index []any `json:"index_columns"`
	}
	if json.Unmarshal([]byte(text), &frame) != nil {
		return nil
	}
	for _, column := range frame.Index {
		if name, ok := column.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// add appends the leaf columns below node; those of nested or repeated columns are not used.
func (r *rows) add(node *parquet.Column, top bool) {
	for _, c := range node.Columns() {
		switch {
		case !c.Leaf():
			r.add(c, false)
		case !top || c.Repeated():
			r.byLeaf = append(r.byLeaf, -1)
		default:
			r.byLeaf = append(r.byLeaf, len(r.names))
			r.names, r.cells = append(r.names, c.Name()), append(r.cells, newCellOf(c.Type()))
		}
	}
}

// LabelsRows reports whether column k is part of the frame's index; see [table.Rows].
func (r *rows) LabelsRows(k int) bool { return slices.Contains(r.index, r.names[k]) }

// Columns implements [table.Rows].
func (r *rows) Columns() []string { return r.names }

// Width implements [table.Rows].
func (r *rows) Width() int { return len(r.names) }

// Line implements [table.Rows]: there are no lines.
func (r *rows) Line() int { return 0 }

// Next implements [table.Rows].
func (r *rows) Next(row []table.Cell) (cells []table.Cell, err error) {
	defer contained(r.name, &err)
	for r.at == r.n {
		if err := r.more(); err != nil {
			return nil, err
		}
	}
	cells = row[:0]
	for range r.names {
		cells = append(cells, table.Cell{Kind: table.Absent})
	}
	for _, v := range r.buffer[r.at] {
		leaf := v.Column()
		if leaf < 0 || leaf >= len(r.byLeaf) || r.byLeaf[leaf] < 0 || v.IsNull() {
			continue
		}
		cells[r.byLeaf[leaf]] = r.cells[r.byLeaf[leaf]](v)
	}
	r.at++
	return cells, nil
}

// more fills the buffer.
func (r *rows) more() error {
	r.at, r.n = 0, 0
	if r.current == nil {
		groups := r.file.RowGroups()
		if r.group == len(groups) {
			return io.EOF
		}
		r.current = groups[r.group].Rows()
		r.group++
	}
	n, err := r.current.ReadRows(r.buffer)
	r.n = n
	switch {
	case err == nil && n == 0:
		return damaged(r.name, io.ErrNoProgress)
	case errors.Is(err, io.EOF):
		err = r.current.Close()
		r.current = nil
	}
	if err != nil {
		return damaged(r.name, err)
	}
	return nil
}

func damaged(name string, err error) error {
	return &outcome.Error{Kind: outcome.Parse, File: name, Message: "the Parquet file is damaged or of an unsupported kind", Err: err}
}

// contained turns a panic of the Parquet reader, which damaged files may cause, into an error.
func contained(name string, err *error) {
	if failed := recover(); failed != nil {
		*err = damaged(name, fmt.Errorf("%v", failed))
	}
}
