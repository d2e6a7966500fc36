package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/seed-45b9a24c/pare/internal/input"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Row is a row of a design matrix, valid until the next one.
type Row struct {
	Number  int     // in the file, from 1
	Columns []int32 // ascending; nil: all
	Values  []float64

	// Target is the row's target as text, a number in its shortest spelling; HasTarget says whether there is
	// one.
	Target    string
	HasTarget bool

	// Aside has the row's texts in those columns of [Options].Aside that the file has, by name: numbers in
	// their shortest spelling, "" for a missing cell.
	Aside map[string]string

	// Incomplete says that a cell is missing, where the schema leaves such rows out. The row then has no
	// columns and values.
	Incomplete bool

	// Unknown is the number of cells with categories that the schema does not have. Their columns are all 0.
	Unknown int
}

// Rows yields the rows of a file as rows of a design matrix with p columns, each as soon as it has been read;
// for text, in constant memory. Columns are found by their names, or by their positions if the file has no
// names; columns that the schema does not use are ignored. o.Target names the target if its name differs from
// the schema's; the target may be absent, and so may the columns of o.Aside. "-" is stdin. An error, an
// [outcome.Error], is yielded last.
//
// A nil schema takes the columns as they are.
func (s *Schema) Rows(ctx context.Context, path string, stdin io.Reader, p int, o Options) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		in, err := open(ctx, path, stdin, &o)
		if err != nil {
			yield(Row{}, err)
			return
		}
		defer in.Close()
		s.readRows(in, p, o)(yield)
	}
}

// ReadRows is [Schema.Rows] for a stream.
func (s *Schema) ReadRows(ctx context.Context, r io.Reader, p int, o Options) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if r == nil {
			yield(Row{}, outcome.Errorf(outcome.Usage, "the reader is nil"))
			return
		}
		in := input.From(ctx, r, o.Name)
		defer in.Close()
		s.readRows(in, p, o)(yield)
	}
}

func (s *Schema) readRows(in *input.Input, p int, o Options) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if err := o.check(); err != nil {
			yield(Row{}, err)
			return
		}
		src, err := recognise(in, o)
		if err == nil && src.labels && s != nil && s.Inputs != nil {
			src, err = separatedRows(in, src.text, ',', 0, o) // as the file that the model was fitted on
		}
		if err != nil {
			yield(Row{}, err)
			return
		}
		if err := src.optionError(in, o, false); err != nil {
			yield(Row{}, err)
			return
		}
		switch {
		case src.mapped:
			s.mappedRows(in, p, o, yield)
		case src.svmlight:
			s.svmlightRows(in.Context(), src.text, p, o, yield)
		case src.market:
			x, _, err := readMarket(in.Context(), src.text, o)
			matrixRows(x, err, p, nil, o, yield)
		case src.archive != nil && src.archive.isSparse():
			x, _, err := src.archive.readSparse(in.Context())
			matrixRows(x, err, p, nil, o, yield)
		case src.archive != nil:
			rows, closer, err := src.archive.rows()
			if err != nil {
				yield(Row{}, err)
				return
			}
			defer closer.Close()
			if target := src.archive.target(o); target != "" {
				y, err := src.archive.readTarget(in.Context(), target, rows.n)
				if err != nil {
					yield(Row{}, err)
					return
				}
				yield = y.withTarget(yield)
			}
			s.tableRows(in.Context(), rows, p, o, yield)
		default:
			s.tableRows(in.Context(), src.rows, p, o, yield)
		}
	}
}

// mappedRows yields the rows of a mapped file, whose columns are found by their names, with their targets.
func (s *Schema) mappedRows(in *input.Input, p int, o Options, yield func(Row, error) bool) {
	d, err := openMapped(in, Options{Name: o.Name, NoTarget: true})
	if err != nil {
		yield(Row{}, err)
		return
	}
	defer d.Close()
	place, err := s.modelColumns(d, o.Name)
	if err != nil {
		yield(Row{}, err)
		return
	}
	matrixRows(sparse.Compressed(d.X), nil, p, place, o, d.withTarget(yield))
}

// withTarget returns a yield function that adds d's target to each row.
func (d *Data) withTarget(yield func(Row, error) bool) func(Row, error) bool {
	return func(row Row, err error) bool {
		if err == nil && d.Y != nil {
			y := d.Y[row.Number-1]
			if row.Target, row.HasTarget = categoryOf(y), true; d.Labels != nil {
				row.Target = d.Labels[int(y)]
			}
		}
		return yield(row, err)
	}
}

// modelColumns returns the model's column for each column of the data, −1 for none. It returns nil where the columns
// are the same, or have no names.
func (s *Schema) modelColumns(d *Data, file string) ([]int32, error) {
	var names []string
	if s != nil {
		names = s.Names()
	}
	if names == nil || d.Names == nil || slices.Equal(names, d.Names) {
		return nil, nil
	}
	at := make(map[string]int32, len(names))
	for j, name := range names {
		at[name] = int32(j)
	}
	place := make([]int32, len(d.Names))
	for k, name := range d.Names {
		j, ok := at[name]
		if place[k] = j; !ok {
			place[k] = -1
		}
		delete(at, name)
	}
	for _, name := range names {
		if _, left := at[name]; left {
			return nil, &outcome.Error{Kind: outcome.Shape, File: file, Message: fmt.Sprintf("there is there is no column %q, which the model uses", name)}
		}
	}
	return place, nil
}

// svmlightRows yields the rows of svmlight text, whose columns are the model's.
func (s *Schema) svmlightRows(ctx context.Context, text io.Reader, p int, o Options, yield func(Row, error) bool) {
	opt := sparse.ReadOptions{Name: o.Name, Features: p, ZeroBased: s != nil && s.ZeroBased}
	if o.ZeroBased != nil {
		opt.ZeroBased = *o.ZeroBased
	}
	number := 0
	for row, err := range sparse.SVMLightRows(ctx, text, opt) {
		if err != nil {
			yield(Row{}, err)
			return
		}
		number++
		columns := row.Columns
		if columns == nil {
			columns = []int32{}
		}
		if !yield(Row{Number: number, Columns: columns, Values: row.Values, Target: categoryOf(row.Label), HasTarget: true}, nil) {
			return
		}
	}
}

// matrixRows yields the rows of a matrix, or err if that is not nil. Column j of the matrix is column place[j]
// of the model, or column j if place is nil.
func matrixRows(x *sparse.CSC, err error, p int, place []int32, o Options, yield func(Row, error) bool) {
	if err != nil {
		yield(Row{}, err)
		return
	}
	n, columns := x.Dims()
	if columns != p && place == nil {
		yield(Row{}, &outcome.Error{Kind: outcome.Shape, File: o.Name, Message: fmt.Sprintf("%d columns, but the model has %d", columns, p)})
		return
	}
	turned := sparse.Transpose(x)
	var found []entry
	var columnsOf []int32
	var valuesOf []float64
	if place != nil {
		columnsOf, valuesOf = make([]int32, 0, p), make([]float64, 0, p)
	}
	for i := range n {
		list, values := turned.Column(i)
		if place != nil {
			found = found[:0]
			for k, j := range list {
				if at := place[j]; at >= 0 {
					found = append(found, entry{at, values[k]})
				}
			}
			slices.SortFunc(found, func(a, b entry) int { return int(a.column - b.column) })
			list, values = columnsOf[:0], valuesOf[:0]
			for _, e := range found {
				list, values = append(list, e.column), append(values, e.value)
			}
		}
		if !yield(Row{Number: i + 1, Columns: list, Values: values}, nil) {
			return
		}
	}
}

// entry is a value of a row and its column of the model.
type entry struct {
	column int32
	value  float64
}

// tableRows yields the rows of a table.
func (s *Schema) tableRows(ctx context.Context, rows Rows, p int, o Options, yield func(Row, error) bool) {
	h := headerOf(o.Name, rows)
	stands := h.columnsPresent(o.Aside)
	byColumn, target, err := s.match(h, p, o.Target, stands)
	if err != nil {
		yield(Row{}, err)
		return
	}
	out := Row{Values: make([]float64, p), Aside: make(map[string]string, len(stands))}
	c := &collector{plan: &plan{header: h, roles: make([]role, h.width)}, rows: rows}
	missing := Refuse
	if s != nil {
		missing = s.Missing
	}
	var cells []Cell
	for {
		if out.Number%1024 == 0 {
			if err := context.Cause(ctx); err != nil {
				yield(Row{}, &outcome.Error{Kind: outcome.IO, File: o.Name, Message: "reading stopped", Err: err})
				return
			}
		}
		cells, err = rows.Next(cells)
		if errors.Is(err, io.EOF) {
			return
		}
		out.Number++
		c.rowsRead = out.Number
		if err == nil {
			err = out.set(c, cells, byColumn, missing)
		}
		if err != nil {
			yield(Row{}, err)
			return
		}
		if out.Target, out.HasTarget = "", false; target >= 0 {
			out.Target, out.HasTarget = cellText(cells[target])
		}
		for name, k := range stands {
			out.Aside[name], _ = cellText(cells[k])
		}
		if !yield(out, nil) {
			return
		}
	}
}

// set sets r's values from the cells of a row.
func (r *Row) set(c *collector, cells []Cell, byColumn []*inputColumn, missing Missing) error {
	r.Unknown, r.Incomplete = 0, false
	values := r.Values[:cap(r.Values)]
	clear(values)
	for k := range cells {
		at := byColumn[k]
		if at == nil {
			continue
		}
		cell := cells[k]
		if err := at.column.read(&cell, Options{OneHot: true}); err != nil {
			return c.cellError(k, err)
		}
		if cell.Kind == Text && at.Categories == nil {
			what := errText.Error()
			if _, err := cell.parse(); errors.Is(err, errNotFinite) {
				what = err.Error()
			}
			return c.cellError(k, fmt.Errorf("%q is %s, but the model needs a number here", shorten(cell.Text), what))
		}
		switch {
		case cell.Kind == Absent && at.Fill != nil:
			copy(values[at.firstColumn:], at.Fill)
		case cell.Kind == Absent && missing == DropRows:
			r.Incomplete = true
		case cell.Kind == Absent:
			return c.cellError(k, errors.New("the value is missing, and the model has no replacement for it"))
		case at.Categories != nil:
			if code, ok := at.code(cell); ok {
				values[at.firstColumn+code] = 1
			} else {
				r.Unknown++
			}
		default:
			values[at.firstColumn] = cell.Number
		}
	}
	if r.Values = values; r.Incomplete {
		r.Values = values[:0]
	}
	return nil
}

// cellText returns the text of a cell, and whether the cell has a value.
func cellText(cell Cell) (string, bool) {
	switch cell.Kind {
	case Absent:
		return "", false
	case Number:
		return categoryOf(cell.Number), true
	case Text, Time:
		return cell.Text, true
	case Spelled:
	}
	if missingWord(cell.Text) {
		return "", false
	}
	if v, err := cell.parse(); err == nil {
		return categoryOf(v), true
	}
	return cell.Text, true
}
