// Package parquet lets package table read Parquet files, by
// github.com/parquet-go/parquet-go, for programs that ask for it:
//
//	d, err := table.Open(ctx, "data.parquet", table.Options{Target: "y", Formats: []table.Format{parquet.Format()}})
//
// Columns of numbers and truths (1 and 0) are numbers, dates and times are [table.Time], all others text.
// Columns with a structure of their own are left out of what can be named.
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

// Format is the format for [table.Options].
func Format() table.Format {
	return table.Format{Name: "Parquet", Magic: "PAR1", Open: open}
}

// rows are the rows of a file, group by group.
type rows struct {
	name    string
	file    *parquet.File
	names   []string
	cells   []cellOf
	index   []string // the columns of pandas' index
	byLeaf  []int    // of a leaf among the columns, −1: none
	group   int      // the next one
	current parquet.Rows
	buffer  []parquet.Row
	at, n   int // of the buffer
}

// atOnce is how many rows are read together.
const atOnce = 256

// open reads the end of a file, where its columns are described.
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
		return nil, &outcome.Error{Kind: outcome.Parse, File: name, Message: "this is a Parquet file without columns of numbers or text"}
	}
	return r, nil
}

// indexOf names the columns of the index of the frame that pandas wrote. An index that only counts is no column.
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

// add collects the leaves below a column; a structure has none that can be used.
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

// LabelsRows says which columns are the index of a frame, see [table.Rows].
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
	return &outcome.Error{Kind: outcome.Parse, File: name, Message: "the Parquet file is damaged, or of a kind that cannot be read", Err: err}
}

// contained turns a panic of the reader, for which damaged files are known, into an error.
func contained(name string, err *error) {
	if failed := recover(); failed != nil {
		*err = damaged(name, fmt.Errorf("%v", failed))
	}
}
