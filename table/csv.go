package table

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-45b9a24c/pare/internal/input"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// MaxColumns is the largest number of columns of a text table.
const MaxColumns = 1 << 20

// csvRows reads CSV, TSV and similar text. It parses blocks of lines itself, until it meets a quoted cell that
// contains quotes or a newline; from there on, the standard library's reader reads the text.
type csvRows struct {
	name        string
	separator   byte
	comma       bool // numbers have decimal commas
	blocks      *input.Blocks[csvBlock]
	block       *input.Block[csvBlock] // nil: none yet, or no more
	row         int                    // current row of the block
	linesBefore int                    // lines before the block, or before r
	repeatRow   bool                   // advance must return the current row once more

	r      *csv.Reader // nil as long as blocks are read
	guard  *lineGuard  // what r reads
	record []string    // current record of r

	names []string
	width int // 0: not known yet
	line  int
}

func newCSVRows(name string, text io.Reader, separator byte, before int, o Options) (*csvRows, error) {
	c := &csvRows{name: name, separator: separator, linesBefore: before, comma: o.DecimalComma}
	set, err := kernels.Active()
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.BadParameter, Flag: "kernels", Message: "cannot use this set of kernels", Err: err}
	}
	c.blocks = input.NewBlocks(text, input.BlockSize, func(text []byte, into *csvBlock) { into.parse(set, text, separator) })
	c.blocks.Line = (&lineGuard{separator: separator}).line
	if err := c.advance(); err != nil {
		if errors.Is(err, io.EOF) {
			return c, nil
		}
		return nil, err
	}
	record := c.texts(nil)
	if c.width = len(record); c.width > MaxColumns {
		return nil, c.failed(tooWide())
	}
	for k := range record {
		record[k] = strings.TrimSpace(record[k])
	}
	if !isHeader(record, o.Header) {
		c.repeatRow = true
		return c, nil
	}
	if name, ok := strings.CutPrefix(record[0], "# "); ok { // as NumPy begins a line of names
		record[0] = strings.TrimSpace(name)
	}
	c.names = record
	return c, c.readFirstRow(c.r != nil || c.block.Text[c.block.Got.starts[c.row]] == '"')
}

// readFirstRow reads the first row below a header. If it has one more cell than the header, the first column has
// labels of rows and no name, as R's write.table writes it. This does not hold if the last cell is empty, as a
// separator at the end of the line makes it; nor if cells are separated by commas, which may be decimal commas,
// unless the names are quoted, as R quotes them.
func (c *csvRows) readFirstRow(quotes bool) error {
	names := c.width
	c.setWidth(0)
	defer func() { c.setWidth(c.width) }()
	err := c.advance()
	if c.width = names; errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	c.repeatRow = true
	row := c.texts(nil)
	switch n := len(row); {
	case n == names:
	case n == names+1 && strings.TrimSpace(row[names]) != "" && (quotes || c.separator != ','):
		c.names, c.width = slices.Insert(c.names, 0, ""), n
	default:
		return uneven(c.name, c.line, n, names)
	}
	return nil
}

// numbersColumns reports whether the first line, which is not a header, is 0, 1, 2 and so on, with three cells
// or more. It is then more likely numbers of columns than a row.
func (c *csvRows) numbersColumns() bool {
	if !c.repeatRow || c.names != nil || c.width < 3 {
		return false
	}
	for k, cell := range c.texts(nil) {
		if strings.TrimSpace(cell) != strconv.Itoa(k) {
			return false
		}
	}
	return true
}

// setWidth sets the number of cells that a row must have; 0: that of the next row.
func (c *csvRows) setWidth(width int) {
	if c.width = width; c.r != nil {
		c.r.FieldsPerRecord = width
	}
}

// isHeader reports whether the first record has names. Unless said decides, it has if none of its cells is a
// number and one is a word.
func isHeader(record []string, said *bool) bool {
	if said != nil {
		return *said
	}
	words := false
	for _, cell := range record {
		if _, err := parseNumber(cell); err == nil || errors.Is(err, errCommas) || errors.Is(err, errThousands) {
			return false
		}
		words = words || !missingWord(cell)
	}
	return words
}

func (c *csvRows) format() string {
	format := map[byte]string{',': "CSV", '\t': "TSV", ';': "CSV with semicolons", '|': "CSV with bars"}[c.separator]
	if c.names == nil {
		return format + " without a header"
	}
	return format
}

func (c *csvRows) Columns() []string { return c.names }
func (c *csvRows) Width() int        { return c.width }
func (c *csvRows) Line() int         { return c.line }

func (c *csvRows) Next(row []Cell) ([]Cell, error) {
	if err := c.advance(); err != nil {
		return nil, err
	}
	return c.cells(row), nil
}

// parseConcurrently parses the given number of blocks at once, until stop is called.
func (c *csvRows) parseConcurrently(threads int) { c.blocks.Beside(threads) }
func (c *csvRows) stop()                         { c.blocks.Close() }

// advance moves to the next row.
func (c *csvRows) advance() error {
	if c.repeatRow {
		c.repeatRow = false
		return nil
	}
	for c.r == nil {
		if c.block != nil {
			got := &c.block.Got
			if c.row++; c.row < got.rows() {
				c.line = c.linesBefore + got.lines[c.row]
				if n := len(got.row(c.row)); c.width > 0 && n != c.width {
					return uneven(c.name, c.line, n, c.width)
				}
				return nil
			}
			c.linesBefore += got.newlines
			if got.end < len(c.block.Text) {
				c.useStandardReader(c.block.Text[got.end:])
				break
			}
		}
		next, err := c.blocks.Next(c.block)
		if c.block = next; err != nil {
			return c.failed(err)
		}
		c.row = -1
	}
	return c.readStandard()
}

// numbers returns the cells of the row as numbers, NaN for a cell that is not plainly a number; ok is false if
// they are not available.
func (c *csvRows) numbers() (values []float64, ok bool) {
	if c.r != nil || c.comma {
		return nil, false
	}
	return c.block.Got.row(c.row), true
}

// table returns the values of the current row and of the rows after it in the block, row by row, and skips
// these rows, if all their cells are plainly numbers.
func (c *csvRows) table() (values []float64, ok bool) {
	if c.r != nil || c.comma {
		return nil, false
	}
	if values, ok = c.block.Got.table(c.row, c.width); ok {
		c.row = c.block.Got.rows() - 1
	}
	return values, ok
}

// texts appends the texts of the row's cells.
func (c *csvRows) texts(to []string) []string {
	if c.r != nil {
		return append(to, c.record...)
	}
	got := &c.block.Got
	cells, start := got.ends[got.firsts[c.row]:got.firsts[c.row+1]], got.starts[c.row]
	line := string(c.block.Text[start:cells[len(cells)-1]])
	at := 0
	for _, end := range cells {
		text := line[at : int(end)-start]
		if at = int(end) - start + 1; text != "" && text[0] == '"' {
			text = text[1:strings.LastIndexByte(text, '"')]
		}
		to = append(to, text)
	}
	return to
}

// at returns the line and the byte at which cell k of the row begins.
func (c *csvRows) at(k int) (line int, at int64) {
	if c.r != nil {
		line, column := c.r.FieldPos(k)
		return c.linesBefore + line, int64(column)
	}
	got := &c.block.Got
	start := got.starts[c.row]
	if k == 0 {
		return c.line, 1
	}
	return c.line, int64(got.ends[got.firsts[c.row]+k-1]) + 2 - int64(start)
}

// cells returns the cells of the row, in row if it has room for them.
func (c *csvRows) cells(row []Cell) []Cell {
	c.record = c.texts(c.record[:0])
	row = row[:0]
	values, known := c.numbers()
	for k, text := range c.record {
		cell := Cell{Text: trimmed(text), comma: c.comma}
		if known && !math.IsNaN(values[k]) {
			cell.Number, cell.textIsExact = values[k], true
		}
		row = append(row, cell)
	}
	return row
}

// trimmed returns text without blanks around it. The first test is quick, and enough for most texts.
func trimmed(text string) string {
	if n := len(text); n > 0 && text[0] > ' ' && text[0] < 0x80 && text[n-1] > ' ' && text[n-1] < 0x80 {
		return text
	}
	return strings.TrimSpace(text)
}

// useStandardReader switches to the standard library's reader. begun is text that has been read from the blocks already.
func (c *csvRows) useStandardReader(begun []byte) {
	rest := io.MultiReader(bytes.NewReader(bytes.Clone(begun)), c.blocks.Rest())
	c.guard = &lineGuard{r: rest, separator: c.separator}
	c.r = csv.NewReader(c.guard)
	c.r.Comma, c.r.ReuseRecord, c.r.FieldsPerRecord = rune(c.separator), true, c.width
	c.block = nil
}

// uneven is the error of a line whose number of cells differs from the first line's.
func uneven(file string, line, cells, want int) error {
	noun := "cells"
	if cells == 1 {
		noun = "cell"
	}
	return &outcome.Error{Kind: outcome.Parse, File: file, Line: line, Byte: 1, Message: fmt.Sprintf("%d %s, but the first line has %d", cells, noun, want)}
}

// failed is the error of a text that could not be read on; [io.EOF] at its end.
func (c *csvRows) failed(err error) error {
	var limit *outcome.Error
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case errors.As(err, &limit) && limit.Kind == outcome.Limit:
		limit.File = c.name
		return limit
	default:
		return &outcome.Error{Kind: outcome.IO, File: c.name, Message: "reading stopped", Err: err}
	}
}

// readStandard reads the next record with the standard library's reader.
func (c *csvRows) readStandard() error {
	record, err := c.r.Read()
	c.guard.rowStart = c.r.InputOffset()
	var at *csv.ParseError
	switch {
	case err == nil:
		line, _ := c.r.FieldPos(0)
		c.record, c.line = record, c.linesBefore+line
		return nil
	case errors.As(err, &at) && errors.Is(err, csv.ErrFieldCount):
		return uneven(c.name, c.linesBefore+at.Line, len(record), c.width)
	case errors.As(err, &at):
		what := "a quoted cell: " + at.Err.Error()
		if at.StartLine != at.Line {
			what += fmt.Sprintf(", in the row that begins at line %d", c.linesBefore+at.StartLine)
		}
		return &outcome.Error{Kind: outcome.Parse, File: c.name, Line: c.linesBefore + at.Line, Byte: int64(at.Column), Message: what}
	default:
		return c.failed(err)
	}
}

// lineGuard guards memory: it refuses a line with more separators than there may be columns, and a row of more
// bytes than a line may have (quoted cells may span lines).
type lineGuard struct {
	r         io.Reader
	separator byte
	count     int
	bytesRead int64 // bytes read
	rowStart  int64 // bytes read before the current row
}

func (n *lineGuard) Read(b []byte) (int, error) {
	size, err := n.r.Read(b)
	if wide := n.add(b[:size]); wide != nil {
		return 0, wide
	}
	if n.bytesRead += int64(size); n.bytesRead-n.rowStart > sparse.DefaultMaxLineBytes {
		return 0, outcome.Errorf(outcome.Limit, "a row of more than %d bytes", sparse.DefaultMaxLineBytes)
	}
	return size, err
}

func tooWide() error {
	return outcome.Errorf(outcome.Limit, "a line of more than %d cells", MaxColumns)
}

// line is add for the beginning of a line.
func (n *lineGuard) line(begun []byte) error {
	n.count = 0
	if len(begun) > sparse.DefaultMaxLineBytes {
		return outcome.Errorf(outcome.Limit, "a line of more than %d bytes", sparse.DefaultMaxLineBytes)
	}
	return n.add(begun)
}

func (n *lineGuard) add(text []byte) error {
	for _, c := range text {
		switch c {
		case '\n':
			n.count = 0
		case n.separator:
			if n.count++; n.count >= MaxColumns {
				return tooWide()
			}
		}
	}
	return nil
}
