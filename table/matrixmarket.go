package table

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/seed-45b9a24c/pare/internal/decimal"
	"github.com/seed-45b9a24c/pare/internal/input"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// marketMagic begins a Matrix Market file.
const marketMagic = "%%MatrixMarket"

// marketReader reads a Matrix Market file: line by line, except that plain coordinate entries are read by blocks.
type marketReader struct {
	ctx     context.Context
	name    string
	limits  sparse.Limits
	threads int
	lines   *bufio.Reader
	line    int
	fields  []string

	pattern, symmetric, skew bool
	n, p                     int

	rows, columns []int32 // row and column of each value
	values        []float64
}

// longestLine is the longest line accepted, in bytes.
const longestLine = 1 << 20

// readMarket reads the coordinate or the array format, of real numbers, integers or patterns (all values 1).
func readMarket(ctx context.Context, text io.Reader, o Options) (*sparse.CSC, string, error) {
	m := &marketReader{ctx: ctx, name: o.Name, limits: o.Limits, threads: o.threads(), lines: bufio.NewReaderSize(text, longestLine)}
	if err := m.next(false); err != nil {
		return nil, "", err
	}
	words := m.fields
	if len(words) != 5 || !strings.EqualFold(words[0], marketMagic) || !strings.EqualFold(words[1], "matrix") {
		return nil, "", m.fail("expected %s matrix, followed by its format", marketMagic)
	}
	for k := range words {
		words[k] = strings.ToLower(words[k])
	}
	format, field, symmetry := words[2], words[3], words[4]
	switch {
	case format != "coordinate" && format != "array":
		return nil, "", m.fail("expected coordinate or array, found %q", format)
	case field != "real" && field != "integer" && (field != "pattern" || format == "array"):
		return nil, "", m.fail("expected real, integer or pattern, found %q", field)
	case symmetry != "general" && symmetry != "symmetric" && symmetry != "skew-symmetric":
		return nil, "", m.fail("expected general, symmetric or skew-symmetric, found %q", symmetry)
	}
	m.pattern, m.symmetric, m.skew = field == "pattern", symmetry == "symmetric", symmetry == "skew-symmetric"
	var x *sparse.CSC
	var err error
	if format == "array" {
		x, err = m.array()
	} else {
		x, err = m.coordinates()
	}
	return x, "Matrix Market, " + format, err
}

// next moves to the next line that is not blank; it skips comments if they are allowed here.
func (m *marketReader) next(comments bool) error {
	for {
		text, err := m.lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return &outcome.Error{Kind: outcome.IO, File: m.name, Line: m.line + 1, Byte: 1, Message: "reading stopped", Err: err}
		}
		if len(text) == 0 || errors.Is(err, bufio.ErrBufferFull) {
			return m.fail("the file ends before the matrix is complete, or a line is too long")
		}
		m.line++
		if m.line%4096 == 0 {
			if err := context.Cause(m.ctx); err != nil {
				return &outcome.Error{Kind: outcome.IO, File: m.name, Line: m.line, Byte: 1, Message: "reading stopped", Err: err}
			}
		}
		if comments && text[0] == '%' {
			continue
		}
		if m.fields = strings.Fields(string(text)); len(m.fields) > 0 {
			return nil
		}
	}
}

func (m *marketReader) fail(format string, args ...any) error {
	return &outcome.Error{Kind: outcome.Parse, File: m.name, Line: max(m.line, 1), Byte: 1, Message: fmt.Sprintf(format, args...)}
}

// sizes reads the line of sizes.
func (m *marketReader) sizes(want int) ([]int, error) {
	if err := m.next(true); err != nil {
		return nil, err
	}
	if len(m.fields) != want {
		return nil, m.fail("expected %d sizes, found %d", want, len(m.fields))
	}
	out := make([]int, want)
	for k, text := range m.fields {
		v, err := strconv.Atoi(text)
		if err != nil || v < 0 {
			return nil, m.fail("%q is not a valid size", shorten(text))
		}
		out[k] = v
	}
	m.n, m.p = out[0], out[1]
	if m.n > sparse.MaxDim || m.p > sparse.MaxDim {
		return nil, m.fail("a %d × %d matrix is beyond the limit of %d", m.n, m.p, sparse.MaxDim)
	}
	if (m.symmetric || m.skew) && m.n != m.p {
		return nil, m.fail("a symmetric matrix cannot have %d rows and %d columns", m.n, m.p)
	}
	return out, nil
}

// bytesCollected is the number of bytes, besides those that [sparse.Limits] counts, that a nonzero takes while it is
// collected with its row and column in growing slices, to be sorted.
const bytesCollected = 48

// checkCollected refuses a matrix whose nonzeros, collected in this way, would exceed the limits.
func checkCollected(limits sparse.Limits, n, p int, entries int64) error {
	return limits.Check(n, p, entries, bytesCollected*min(entries, 1<<40))
}

// checkFits refuses a number of nonzeros that exceeds the limits.
func (m *marketReader) checkFits(entries int) error {
	return named(checkCollected(m.limits, m.n, m.p, int64(entries)), m.name)
}

// coordinates reads one entry per line: row, column and value.
func (m *marketReader) coordinates() (*sparse.CSC, error) {
	sizes, err := m.sizes(3)
	if err != nil {
		return nil, err
	}
	if err := checkClaimedShape(m.name, m.n, m.p, sizes[2]); err != nil {
		return nil, err
	}
	if err := m.checkFits(sizes[2]); err != nil {
		return nil, err
	}
	left, err := m.readBlocks(sizes[2])
	if err != nil {
		return nil, err
	}
	for range left {
		if err := m.entry(); err != nil {
			return nil, err
		}
	}
	return m.matrix()
}

// add keeps an entry, and its mirror image where the file omits it.
func (m *marketReader) add(i, j int32, v float64) {
	m.rows, m.columns, m.values = append(m.rows, i), append(m.columns, j), append(m.values, v)
	if i == j || !m.symmetric && !m.skew {
		return
	}
	if m.skew {
		v = -v
	}
	m.rows, m.columns, m.values = append(m.rows, j), append(m.columns, i), append(m.values, v)
}

// checkGrowth checks the limits whenever one more entry needs new memory.
func (m *marketReader) checkGrowth() error {
	if len(m.values) < cap(m.values) {
		return nil
	}
	return m.checkFits(len(m.values))
}

// matrix makes the matrix of the entries kept, if nothing follows them in the file.
func (m *marketReader) matrix() (*sparse.CSC, error) {
	if err := m.expectEnd(); err != nil {
		return nil, err
	}
	x, err := sparse.NewTriplets(m.ctx, m.n, m.p, m.rows, m.columns, m.values)
	return x, named(err, m.name)
}

// readBlocks reads entries by blocks as long as all lines of a block are plain entries, and returns how many
// entries remain to be read. The lines after that are left for next.
func (m *marketReader) readBlocks(entries int) (left int, err error) {
	blocks := input.NewBlocks(m.lines, input.BlockSize, func(text []byte, into *marketBlock) { into.parse(text, m.n, m.p, m.pattern) })
	blocks.Line = func(begun []byte) error {
		if len(begun) > longestLine {
			return m.fail("a line of more than %d bytes", longestLine)
		}
		return nil
	}
	blocks.Beside(m.threads)
	defer blocks.Close()
	var block *input.Block[marketBlock]
	for entries > 0 {
		if err := context.Cause(m.ctx); err != nil {
			return 0, &outcome.Error{Kind: outcome.IO, File: m.name, Line: m.line, Byte: 1, Message: "reading stopped", Err: err}
		}
		if block, err = blocks.Next(block); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return 0, m.stopped(err)
		}
		got := &block.Got
		if !got.plain || len(got.rows) > entries {
			rest := io.MultiReader(bytes.NewReader(bytes.Clone(block.Text)), blocks.Rest())
			m.lines = bufio.NewReaderSize(rest, longestLine)
			return entries, nil
		}
		for k, v := range got.values {
			if err := m.checkGrowth(); err != nil {
				return 0, err
			}
			m.add(got.rows[k], got.columns[k], v)
		}
		entries -= len(got.values)
		m.line += len(got.values)
	}
	m.lines = bufio.NewReaderSize(blocks.Rest(), longestLine)
	return entries, nil
}

// stopped is the error of a text that could not be read on.
func (m *marketReader) stopped(err error) error {
	if e, ok := errors.AsType[*outcome.Error](err); ok {
		return e
	}
	return &outcome.Error{Kind: outcome.IO, File: m.name, Line: m.line + 1, Byte: 1, Message: "reading stopped", Err: err}
}

// entry reads the line of an entry.
func (m *marketReader) entry() error {
	width := 3
	if m.pattern {
		width = 2
	}
	if err := m.next(false); err != nil {
		return err
	}
	if len(m.fields) != width {
		return m.fail("%d fields, but an entry has %d", len(m.fields), width)
	}
	i, err := strconv.Atoi(m.fields[0])
	j, err2 := strconv.Atoi(m.fields[1])
	if err != nil || err2 != nil || i < 1 || i > m.n || j < 1 || j > m.p {
		return m.fail("there is no row %q, column %q in a %d × %d matrix", shorten(m.fields[0]), shorten(m.fields[1]), m.n, m.p)
	}
	v := 1.0
	if !m.pattern {
		if v, err = parseNumber(m.fields[2]); err != nil {
			return m.fail("%q is %v", shorten(m.fields[2]), err)
		}
	}
	if err := m.checkGrowth(); err != nil {
		return err
	}
	m.add(int32(i-1), int32(j-1), v)
	return nil
}

// array reads one value per line, column by column; only the lower triangle where the matrix is symmetric.
func (m *marketReader) array() (*sparse.CSC, error) {
	if _, err := m.sizes(2); err != nil {
		return nil, err
	}
	if err := checkClaimedShape(m.name, m.n, m.p, 0); err != nil && (m.n == 0 || m.p == 0) {
		return nil, err
	}
	for j := 0; j < m.p && m.n > 0; j++ {
		first := 0
		switch {
		case m.symmetric:
			first = j
		case m.skew:
			first = j + 1
		}
		for i := first; i < m.n; i++ {
			v, err := m.value()
			if err != nil {
				return nil, err
			}
			if v != 0 {
				m.add(int32(i), int32(j), v)
			}
			if err := m.checkGrowth(); err != nil {
				return nil, err
			}
		}
	}
	return m.matrix()
}

// value reads a line with one number.
func (m *marketReader) value() (float64, error) {
	if err := m.next(false); err != nil {
		return 0, err
	}
	v, err := parseNumber(m.fields[0])
	if err != nil || len(m.fields) != 1 {
		return 0, m.fail("expected one number, found %q", shorten(strings.Join(m.fields, " ")))
	}
	return v, nil
}

// expectEnd refuses anything but comments after the last entry.
func (m *marketReader) expectEnd() error {
	for {
		text, err := m.lines.ReadSlice('\n')
		if m.line++; len(text) == 0 {
			return nil
		}
		if text := strings.TrimSpace(string(text)); text != "" && text[0] != '%' {
			return m.fail("unexpected %q after the last entry", shorten(text))
		}
		if err != nil {
			return nil
		}
	}
}

// marketBlock holds the entries of a block of lines, with indices from 0.
type marketBlock struct {
	rows, columns []int32
	values        []float64
	plain         bool // every line is an entry within the matrix
}

func (b *marketBlock) parse(text []byte, n, p int, pattern bool) {
	b.rows, b.columns, b.values, b.plain = b.rows[:0], b.columns[:0], b.values[:0], false
	for at := 0; at < len(text); {
		i, next := position(text, at, n)
		if i < 0 {
			return
		}
		j, next := position(text, next, p)
		if j < 0 {
			return
		}
		v := 1.0
		if at = next; !pattern {
			number, length, fault := decimal.Parse(text[at:])
			if fault != decimal.None {
				return
			}
			v, at = number, at+length
		}
		for text[at] == ' ' || text[at] == '\r' {
			at++
		}
		if text[at] != '\n' {
			return
		}
		at++
		b.rows, b.columns, b.values = append(b.rows, i), append(b.columns, j), append(b.values, v)
	}
	b.plain = true
}

// position reads an index from 1 to most and the blanks around it, and returns it minus 1; −1 where there is
// none.
func position(text []byte, at, most int) (index int32, next int) {
	for text[at] == ' ' {
		at++
	}
	number, from := 0, at
	for ; '0' <= text[at] && text[at] <= '9' && at-from < 10; at++ {
		number = number*10 + int(text[at]-'0')
	}
	if number < 1 || number > most || text[at] != ' ' && text[at] != '\n' && text[at] != '\r' {
		return -1, 0
	}
	for text[at] == ' ' {
		at++
	}
	return int32(number - 1), at
}
