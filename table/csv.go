package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-45b9a24c/pare/outcome"
)

// MaxColumns is how many columns a table of text may have.
const MaxColumns = 1 << 20

// csvRows reads CSV, TSV and the like: lines without quotes at once, and from the first
// quote on by the standard library's reader.
type csvRows struct {
	name      string
	separator byte
	lines     *bufio.Reader
	r         *csv.Reader // nil: there was no quote yet
	before    int         // lines read before r
	names     []string
	first     []string // the first record, where it is a row
	fields    []string
	width     int // 0: not known yet
	line      int
}

func newCSVRows(name string, text io.Reader, separator byte, header *bool) (*csvRows, error) {
	c := &csvRows{name: name, separator: separator, lines: bufio.NewReaderSize(&narrow{r: text, separator: separator}, 64<<10)}
	record, err := c.record()
	if errors.Is(err, io.EOF) {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	c.width = len(record)
	record = slices.Clone(record)
	for k := range record {
		record[k] = strings.TrimSpace(record[k])
	}
	if isHeader(record, header) {
		c.names = record
	} else {
		c.first = record
	}
	return c, nil
}

// isHeader reports whether the first record has names: where it is not said, none of its
// cells is a number, and one is a word.
func isHeader(record []string, said *bool) bool {
	if said != nil {
		return *said
	}
	words := false
	for _, cell := range record {
		if _, err := parseNumber(cell); err == nil || errors.Is(err, errDecimalComma) {
			return false
		}
		words = words || !missingWord(cell)
	}
	return words
}

func (c *csvRows) format() string {
	format := map[byte]string{',': "CSV", '\t': "TSV", ';': "CSV with semicolons"}[c.separator]
	if c.names == nil {
		return format + " without a header"
	}
	return format
}

func (c *csvRows) Columns() []string { return c.names }
func (c *csvRows) Width() int        { return c.width }
func (c *csvRows) Line() int         { return c.line }

func (c *csvRows) Next(row []Cell) ([]Cell, error) {
	record := c.first
	c.first = nil
	if record == nil {
		var err error
		if record, err = c.record(); err != nil {
			return nil, err
		}
	}
	row = row[:0]
	for _, text := range record {
		row = append(row, Cell{Text: trimmed(text)})
	}
	return row, nil
}

// trimmed is text without blanks around it, at once where there are none.
func trimmed(text string) string {
	if n := len(text); n > 0 && text[0] > ' ' && text[0] < 0x80 && text[n-1] > ' ' && text[n-1] < 0x80 {
		return text
	}
	return strings.TrimSpace(text)
}

// record reads the next one, in the words of our errors.
func (c *csvRows) record() ([]string, error) {
	for c.r == nil {
		line, err := c.lines.ReadSlice('\n')
		if (err != nil && !errors.Is(err, io.EOF)) || bytes.IndexByte(line, '"') >= 0 {
			c.quoted(bytes.Clone(line))
			break
		}
		if len(line) == 0 {
			return nil, io.EOF
		}
		c.line++
		text := string(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")))
		if text == "" {
			continue
		}
		c.fields = c.fields[:0]
		for {
			k := strings.IndexByte(text, c.separator)
			if k < 0 {
				c.fields = append(c.fields, text)
				break
			}
			c.fields, text = append(c.fields, text[:k]), text[k+1:]
		}
		if c.width > 0 && len(c.fields) != c.width {
			return nil, c.uneven(c.line, len(c.fields))
		}
		return c.fields, nil
	}
	return c.standard()
}

// quoted goes on with the standard library's reader, after what has been read of a line.
func (c *csvRows) quoted(begun []byte) {
	c.r = csv.NewReader(io.MultiReader(bytes.NewReader(begun), c.lines))
	c.r.Comma, c.r.ReuseRecord, c.r.FieldsPerRecord = rune(c.separator), true, c.width
	c.before = c.line
}

func (c *csvRows) uneven(line, cells int) error {
	return &outcome.Error{
		Kind: outcome.Parse, File: c.name, Line: line, Byte: 1,
		Message: fmt.Sprintf("%d cells, where the first line has %d", cells, c.width),
	}
}

// standard reads the next record by the standard library's reader.
func (c *csvRows) standard() ([]string, error) {
	record, err := c.r.Read()
	var at *csv.ParseError
	var limit *outcome.Error
	switch {
	case err == nil:
		line, _ := c.r.FieldPos(0)
		c.line = c.before + line
		return record, nil
	case err == io.EOF:
		return nil, io.EOF
	case errors.As(err, &limit):
		limit.File = c.name
		return nil, limit
	case errors.As(err, &at) && errors.Is(err, csv.ErrFieldCount):
		return nil, c.uneven(c.before+at.Line, len(record))
	case errors.As(err, &at):
		return nil, &outcome.Error{Kind: outcome.Parse, File: c.name, Line: c.before + at.Line, Byte: int64(at.Column), Message: "a quoted cell: " + at.Err.Error()}
	default:
		return nil, &outcome.Error{Kind: outcome.IO, File: c.name, Message: "reading stopped", Err: err}
	}
}

// narrow refuses a line with more separators than there may be columns, before memory is
// taken for it.
type narrow struct {
	r         io.Reader
	separator byte
	count     int
}

func (n *narrow) Read(b []byte) (int, error) {
	size, err := n.r.Read(b)
	for _, c := range b[:size] {
		switch c {
		case '\n':
			n.count = 0
		case n.separator:
			if n.count++; n.count >= MaxColumns {
				return 0, outcome.Errorf(outcome.Limit, "a line of more than %d cells", MaxColumns)
			}
		}
	}
	return size, err
}

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
	b.width = len(record)
	if isHeader(record, header) {
		b.names = record
	} else {
		b.first = record
	}
	return b, nil
}

func (b *blankRows) Columns() []string { return b.names }
func (b *blankRows) Width() int        { return b.width }
func (b *blankRows) Line() int         { return b.line }

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
