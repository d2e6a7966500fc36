package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// collector collects the rows of a table.
type collector struct {
	*plan
	o              Options
	rows           Rows
	numbers        numberRows // rows, if it can return cells as numbers; else nil
	allNumbers     bool       // all columns that are not ignored are known to hold numbers
	features       []*column
	featureColumns []int     // of the features, their columns in the file
	others         []*column // the target, and the columns of Options.Aside
	byColumn       []*column // by column of the file; nil: ignored
	matrix         sparse.Builder
	missing        []missingCell // missing cells of features, by row, then feature
	rowsRead       int           // number of rows read from the file
	kept           []int32       // nil as long as no row was left out
	cells          []Cell        // cells of the current row
	values         []float64     // features of the current row
}

// missingCell is the position of a missing cell: its row of the matrix, and its feature.
type missingCell struct{ row, feature int32 }

// hasFile reports whether the target has a file of its own.
func (o *Options) hasFile() bool {
	if o.Target == "" || o.OneFile {
		return false
	}
	info, err := os.Stat(o.Target)
	return err == nil && !info.IsDir()
}

// collect reads a table.
func collect(ctx context.Context, rows Rows, format string, o Options) (*Data, error) {
	p, err := newPlan(headerOf(o.Name, rows), o)
	if err != nil {
		return nil, err
	}
	c := &collector{plan: p, o: o, rows: rows, matrix: sparse.Builder{Limits: o.Limits}, byColumn: make([]*column, p.width)}
	for k, r := range p.roles {
		if r == ignored {
			continue
		}
		col := &column{position: k, feature: -1, name: p.columnLabel(k), categories: p.categories[k], codes: map[string]int{}}
		if c.byColumn[k] = col; r == feature {
			col.feature = len(c.features)
			c.features, c.featureColumns = append(c.features, col), append(c.featureColumns, k)
		} else {
			c.others = append(c.others, col)
		}
	}
	c.values = make([]float64, len(c.features))
	var notes []Note
	if text, ok := rows.(*csvRows); ok && o.Header == nil && text.numbersColumns() {
		notes = append(notes, Note{"header_numbers", "the first line is 0, 1, 2 and so on, as pandas numbers columns without names, and was read as a row; --header reads it as names"})
	}
	if err := c.readAll(ctx); err != nil {
		return nil, err
	}
	d := &Data{Format: format, Rows: c.rowsRead, Kept: c.kept, Notes: notes}
	if err := c.finish(ctx, d); err != nil {
		return nil, err
	}
	if c.targetFile != "" {
		if err := d.readTarget(ctx, c.targetFile); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// numberRows are rows that can return their cells as numbers.
type numberRows interface {
	Rows
	parseConcurrently(threads int)
	stop()
	advance() error
	numbers() (values []float64, ok bool) // of the row; not finite: not plainly a number
	table() (values []float64, ok bool)   // of the row and some after it, which are then skipped
	cells(row []Cell) []Cell
}

// readAll reads every row.
func (c *collector) readAll(ctx context.Context) error {
	if rows, ok := c.rows.(numberRows); ok {
		c.numbers = rows
		rows.parseConcurrently(c.o.threads())
		defer rows.stop()
	}
	for looked := -1024; ; {
		if c.rowsRead >= looked+1024 {
			looked = c.rowsRead
			if err := context.Cause(ctx); err != nil {
				return &outcome.Error{Kind: outcome.IO, File: c.file, Message: "reading stopped", Err: err}
			}
		}
		switch err := c.next(); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// next adds the next row, together with some after it if all their cells are plainly numbers.
func (c *collector) next() (err error) {
	if c.numbers == nil {
		if c.cells, err = c.rows.Next(c.cells); err != nil {
			return err
		}
		return c.row()
	}
	if err := c.numbers.advance(); err != nil {
		return err
	}
	if c.allNumbers {
		taken, err := c.addTable()
		if !taken {
			taken, err = c.addNumbers()
		}
		if taken {
			return err
		}
	}
	c.cells = c.numbers.cells(c.cells)
	return c.row()
}

// row adds the row whose cells are in c.cells.
func (c *collector) row() error {
	c.rowsRead++
	whole, err := c.readCells()
	if err != nil {
		return err
	}
	if !whole && c.o.Missing == DropRows {
		c.skipRow()
		return nil
	}
	if c.kept != nil {
		c.kept = append(c.kept, int32(c.rowsRead-1))
	}
	if err := c.storeCells(); err != nil {
		return err
	}
	if err := c.matrix.Row(nil, c.values); err != nil {
		return c.rowError(err)
	}
	c.allNumbers = c.allNumbers || c.numbers != nil && c.areAllNumbers()
	return nil
}

// readCells determines the kinds of the cells, and reports whether none is missing.
func (c *collector) readCells() (whole bool, err error) {
	whole = true
	for k := range c.cells {
		if c.byColumn[k] == nil {
			continue
		}
		if err := c.byColumn[k].read(&c.cells[k], c.o); err != nil {
			return false, c.cellError(k, err)
		}
		whole = whole && c.cells[k].Kind != Absent
	}
	return whole, nil
}

// skipRow leaves the row out. From the first such row on, c.kept lists the rows that stay.
func (c *collector) skipRow() {
	if c.kept != nil {
		return
	}
	c.kept = make([]int32, 0, c.rowsRead)
	for i := range c.rowsRead - 1 {
		c.kept = append(c.kept, int32(i))
	}
}

// storeCells stores the values of the cells: features in c.values, others in their columns.
func (c *collector) storeCells() error {
	for k, cell := range c.cells {
		col := c.byColumn[k]
		if col == nil {
			continue
		}
		v := col.encode(cell, c.rowsRead)
		switch {
		case cell.Kind == Absent && (col.feature < 0 || c.o.Missing == Refuse):
			return c.cellError(k, errMissing)
		case col.feature < 0:
			col.values = append(col.values, v)
		default:
			c.values[col.feature] = v
			if cell.Kind == Absent {
				c.missing = append(c.missing, missingCell{int32(c.matrix.Rows()), int32(col.feature)})
			}
		}
	}
	return nil
}

// addTable adds the current row and some after it if all their cells are numbers, with the same result as row.
// It reports whether it did.
func (c *collector) addTable() (taken bool, err error) {
	if c.width == 0 || c.o.Limits != (sparse.Limits{}) { // row reports in which row an error is
		return false, nil
	}
	cells, ok := c.numbers.table()
	if !ok {
		return false, nil
	}
	rows := len(cells) / c.width
	if c.kept != nil {
		for i := range rows {
			c.kept = append(c.kept, int32(c.rowsRead+i))
		}
	}
	for _, col := range c.others {
		for at := col.position; at < len(cells); at += c.width {
			col.values = append(col.values, cells[at])
		}
	}
	if c.o.Missing == Mean {
		for _, col := range c.features {
			for at := col.position; at < len(cells); at += c.width {
				col.sum += cells[at]
			}
			col.numbers += rows
		}
	}
	c.rowsRead += rows
	if err := c.matrix.Block(cells, c.width, c.featureColumns); err != nil {
		return true, c.rowError(err)
	}
	return true, nil
}

// addNumbers adds the current row if all its cells are numbers, with the same result as row. It reports
// whether it did.
func (c *collector) addNumbers() (taken bool, err error) {
	values := c.values
	cells, ok := c.numbers.numbers()
	if !ok {
		return false, nil
	}
	for f, at := range c.featureColumns {
		v := cells[at]
		if notFinite(v) {
			return false, nil
		}
		values[f] = v
	}
	for _, col := range c.others {
		if notFinite(cells[col.position]) {
			return false, nil
		}
	}
	c.rowsRead++
	if c.kept != nil {
		c.kept = append(c.kept, int32(c.rowsRead-1))
	}
	for _, col := range c.others {
		col.values = append(col.values, cells[col.position])
	}
	if c.o.Missing == Mean {
		for f, col := range c.features {
			col.sum += values[f]
			col.numbers++
		}
	}
	if err := c.matrix.Row(nil, values); err != nil {
		return true, c.rowError(err)
	}
	return true, nil
}

// areAllNumbers reports whether every column that is not ignored is known to hold numbers.
func (c *collector) areAllNumbers() bool {
	for _, col := range c.byColumn {
		if col != nil && (!col.decided || col.text || col.categories) {
			return false
		}
	}
	return true
}

// rowError adds file and line to the error of a row.
func (c *collector) rowError(err error) error {
	if e, ok := errors.AsType[*outcome.Error](err); ok {
		if e.File, e.Line = c.file, c.rows.Line(); e.Line > 0 {
			e.Byte = 1
		}
	}
	return err
}

// cellError returns the error of a cell, with its place and the flag that helps.
func (c *collector) cellError(k int, err error) error {
	e := &outcome.Error{Kind: outcome.Parse, File: c.file, HasRow: true, Row: c.rowsRead - 1}
	if text, ok := c.rows.(interface{ at(k int) (int, int64) }); ok {
		e.HasRow, e.Row = false, 0
		e.Line, e.Byte = text.at(k)
	}
	e.Message = fmt.Sprintf("%s: %v", c.columnLabel(k), err)
	switch {
	case errors.Is(err, errInfinite):
		e.Kind = outcome.NonFinite
	case errors.Is(err, errMissing) && c.roles[k] == feature:
		e.Flag = "missing"
	case errors.Is(err, errText):
		e.Flag = "one-hot"
	case errors.Is(err, errCommas):
		if _, ok := c.rows.(*csvRows); ok {
			e.Flag = "decimal-comma"
		}
	case errors.Is(err, errTime):
		e.Flag = "drop"
	case errors.Is(err, errMixed):
		e.Flag = "categories"
	}
	return e
}

// finish makes the data from the rows read.
func (c *collector) finish(ctx context.Context, d *Data) error {
	d.Schema = &Schema{Inputs: make([]Input, 0, len(c.features)), Width: c.width, TargetPosition: c.target, Missing: c.o.Missing}
	if c.target >= 0 {
		d.Schema.Target = strconv.Itoa(c.target + 1)
		if c.names != nil {
			d.Schema.Target = c.names[c.target]
		}
	}
	if len(c.rowLabels) > 0 {
		d.Notes = append(d.Notes, Note{"row_labels", c.indexNote()})
	}
	d.noteCategories(c.features, c.matrix.Rows())
	order := make([][]int, len(c.features)) // by feature, for its texts: code → rank among the categories
	for f, col := range c.features {
		in := Input{Position: col.position}
		if c.names != nil {
			in.Name = c.names[col.position]
		}
		if col.text {
			in.Categories, order[f] = sortedWithRanks(col.texts)
		}
		var err error
		if in.Fill, err = col.fill(c.o.Missing, c.matrix.Rows(), order[f]); err != nil {
			return &outcome.Error{Kind: outcome.Parse, File: c.file, Flag: "drop", Message: col.name + " has no values"}
		}
		d.Schema.Inputs = append(d.Schema.Inputs, in)
	}
	d.Names = d.Schema.Names()
	if err := c.makeMatrix(ctx, d, order); err != nil {
		return err
	}
	d.noteCounts(c.features)
	return c.setOthers(d)
}

// makeMatrix makes the matrix; the rows collected are the matrix if they need no expansion.
func (c *collector) makeMatrix(ctx context.Context, d *Data, order [][]int) (err error) {
	plain := len(c.missing) == 0 || c.o.Missing == Zero
	for _, in := range d.Schema.Inputs {
		plain = plain && in.Categories == nil
	}
	if plain {
		d.X, err = c.matrix.Matrix(ctx, len(c.features))
	} else {
		d.X, err = c.expand(ctx, d.Schema.Inputs, order)
	}
	return err
}

// expand makes the matrix with missing cells filled and one column per category.
func (c *collector) expand(ctx context.Context, inputs []Input, order [][]int) (sparse.Matrix, error) {
	starts := make([]int32, len(inputs)+1) // first column of each input
	for f, in := range inputs {
		starts[f+1] = starts[f] + int32(in.width())
	}
	out := sparse.Builder{Limits: c.o.Limits}
	columns, values := []int32{}, []float64{}
	put := func(j int32, v float64) {
		if v != 0 {
			columns, values = append(columns, j), append(values, v)
		}
	}
	missing, i := c.missing, int32(0)
	fill := func(until int32) { // fills the row's missing cells before feature until
		for ; len(missing) > 0 && missing[0].row == i && missing[0].feature < until; missing = missing[1:] {
			f := missing[0].feature
			for k, v := range inputs[f].Fill {
				put(starts[f]+int32(k), v)
			}
		}
	}
	for from, numbers := range c.matrix.All() {
		columns, values = columns[:0], values[:0]
		for k, j := range from {
			fill(j)
			if inputs[j].Categories != nil {
				put(starts[j]+int32(order[j][int(numbers[k])-1]), 1)
			} else {
				put(starts[j], numbers[k])
			}
		}
		fill(int32(len(c.features)))
		i++
		if err := out.Row(columns, values); err != nil {
			return nil, err
		}
	}
	c.matrix = sparse.Builder{}
	return out.Matrix(ctx, int(starts[len(starts)-1]))
}

// setOthers sets the target and Aside.
func (c *collector) setOthers(d *Data) error {
	for _, col := range c.others {
		if c.roles[col.position] == target {
			if d.Y = col.values; col.values == nil {
				d.Y = []float64{}
			}
			if col.text {
				labels, place := sortedWithRanks(col.texts)
				d.Labels = labels
				for i, code := range d.Y {
					d.Y[i] = float64(place[int(code)-1])
				}
			}
			continue
		}
		if d.Aside == nil {
			d.Aside = map[string]Column{}
		}
		one := Column{Numbers: col.values}
		if col.text {
			one = Column{Texts: make([]string, len(col.values))}
			for i, code := range col.values {
				one.Texts[i] = col.texts[int(code)-1]
			}
		}
		d.Aside[c.aside[col.position]] = one
	}
	return nil
}
