package table

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-45b9a24c/pare/outcome"
)

// blankRows reads cells separated by blanks: numbers and quoted words.
type blankRows struct {
	name  string
	lines *bufio.Scanner
	names []string
	first []string // the row below the names
	width int
	line  int
}

func newBlankRows(name string, text io.Reader, header *bool) (*blankRows, error) {
	b := &blankRows{name: name, lines: bufio.NewScanner(text)}
	b.lines.Buffer(nil, 64<<20)
	record, err := b.record()
	if errors.Is(err, io.EOF) {
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	names, commented := namesOf(record)
	b.width = len(names)
	switch {
	case commented && header != nil && !*header: // a remark, not names
		return b, nil
	case commented || isHeader(record, header):
		b.names = names
	default:
		b.first = record
		return b, nil
	}
	if b.first, err = b.record(); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(b.first) == b.width+1 { // labels of rows, to which R's write.table gives no name
		b.names, b.width = slices.Insert(b.names, 0, ""), b.width+1
	}
	return b, nil
}

// namesOf returns the names in a first line, without the # that NumPy writes before them.
func namesOf(record []string) (names []string, commented bool) {
	if commented = record[0] == "#"; commented {
		record = record[1:]
	}
	return record, commented
}

// fields returns the cells of a line, with the quotes around them, and the offset of each.
func fields(line string) (cells []string, starts []int) {
	for at := 0; ; {
		at += len(line[at:]) - len(strings.TrimLeftFunc(line[at:], unicode.IsSpace))
		if at == len(line) {
			return cells, starts
		}
		n := cellLength(line[at:])
		cells, starts = append(cells, line[at:at+n]), append(starts, at)
		at += n
	}
}

// cellLength returns the length of the cell at the beginning of a text: up to a blank or, if it begins with a
// quote, to the quote that ends it. R writes a backslash before a quote inside a cell.
func cellLength(text string) int {
	if text[0] == '"' {
		for k := 1; k < len(text); k++ {
			switch text[k] {
			case '\\':
				k++
			case '"':
				if k+1 == len(text) || text[k+1] == ' ' || text[k+1] == '\t' {
					return k + 1
				}
			}
		}
	}
	if k := strings.IndexFunc(text, unicode.IsSpace); k >= 0 {
		return k
	}
	return len(text)
}

// unquoted returns a cell without the quotes around it.
func unquoted(cell string) string {
	if n := len(cell); n > 1 && cell[0] == '"' && cell[n-1] == '"' {
		return strings.ReplaceAll(cell[1:n-1], `\"`, `"`)
	}
	return cell
}

func (b *blankRows) Columns() []string { return b.names }
func (b *blankRows) Width() int        { return b.width }
func (b *blankRows) Line() int         { return b.line }

// at returns the line and the byte at which cell k of the row begins.
func (b *blankRows) at(k int) (line int, at int64) {
	_, starts := fields(b.lines.Text())
	return b.line, int64(1 + starts[k])
}

func (b *blankRows) Next(row []Cell) ([]Cell, error) {
	record := b.first
	b.first = nil
	if record == nil {
		var err error
		if record, err = b.record(); err != nil {
			return nil, err
		}
	}
	if len(record) != b.width {
		return nil, uneven(b.name, b.line, len(record), b.width)
	}
	row = row[:0]
	for _, text := range record {
		row = append(row, Cell{Text: text})
	}
	return row, nil
}

func (b *blankRows) record() ([]string, error) {
	for b.lines.Scan() {
		b.line++
		line := b.lines.Text()
		if strings.IndexByte(line, '"') < 0 {
			if record := strings.Fields(line); len(record) > 0 {
				return record, nil
			}
			continue
		}
		record, _ := fields(line)
		for k, cell := range record {
			record[k] = unquoted(cell)
		}
		return record, nil
	}
	if err := b.lines.Err(); err != nil {
		return nil, &outcome.Error{Kind: outcome.IO, File: b.name, Line: b.line + 1, Byte: 1, Message: "reading stopped", Err: err}
	}
	return nil, io.EOF
}
