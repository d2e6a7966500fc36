package table

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/seed-45b9a24c/pare/outcome"
)

// blankRows reads numbers with blanks between them.
type blankRows struct {
	name  string
	lines *bufio.Scanner
	names []string
	first []string
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
	case commented && header != nil && !*header: // a remark
	case commented || isHeader(record, header):
		b.names = names
	default:
		b.first = record
	}
	return b, nil
}

// namesOf are the names that a first line has: behind a #, as NumPy writes them, or in quotes, as R does.
func namesOf(record []string) (names []string, commented bool) {
	if commented = record[0] == "#"; commented {
		record = record[1:]
	}
	names = make([]string, len(record))
	for k, name := range record {
		if n := len(name); n > 1 && name[0] == '"' && name[n-1] == '"' {
			name = name[1 : n-1]
		}
		names[k] = name
	}
	return names, commented
}

func (b *blankRows) Columns() []string { return b.names }
func (b *blankRows) Width() int        { return b.width }
func (b *blankRows) Line() int         { return b.line }

// at returns where cell k of the row begins: a line, and a byte of it.
func (b *blankRows) at(k int) (line int, at int64) {
	text := b.lines.Text()
	rest := strings.TrimLeftFunc(text, unicode.IsSpace)
	for range k {
		rest = strings.TrimLeftFunc(rest[strings.IndexFunc(rest, unicode.IsSpace):], unicode.IsSpace)
	}
	return b.line, int64(1 + len(text) - len(rest))
}

func (b *blankRows) Next(row []Cell) ([]Cell, error) {
	record := b.first
	b.first = nil
	if record == nil {
		var err error
		if record, err = b.record(); err != nil {
			return nil, err
		}
		if len(record) != b.width {
			return nil, &outcome.Error{Kind: outcome.Parse, File: b.name, Line: b.line, Byte: 1, Message: fmt.Sprintf("%d cells, where the first line has %d", len(record), b.width)}
		}
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
		if record := strings.Fields(b.lines.Text()); len(record) > 0 {
			return record, nil
		}
	}
	if err := b.lines.Err(); err != nil {
		return nil, &outcome.Error{Kind: outcome.IO, File: b.name, Line: b.line + 1, Byte: 1, Message: "reading stopped", Err: err}
	}
	return nil, io.EOF
}
