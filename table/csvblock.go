package table

import (
	"bytes"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/internal/decimal"
	"github.com/seed-45b9a24c/pare/kernels"
)

// csvBlock holds the cells of a block of lines.
type csvBlock struct {
	values   []float64 // of all cells; NaN: not plainly a number
	ends     []int32   // offset of the end of each cell in the text, at the separator or the end of the line
	firsts   []int     // first cell of each row, and the number of cells
	starts   []int     // offset of each row in the text
	lines    []int     // line of each row, from 1
	newlines int       // number of newlines before end
	end      int       // offset of the first line that the block cannot parse; the length of the text if there is none
	hasText  bool      // some cell is not plainly a number

	marks []int32 // scratch: −1 and the ends of the cells of a text without quotes
}

func (b *csvBlock) rows() int { return len(b.starts) }

// table returns the values of all rows from the given one on, row by row, if each has width cells, all plainly
// numbers.
func (b *csvBlock) table(from, width int) (values []float64, ok bool) {
	first := b.firsts[from]
	if b.hasText {
		return nil, false
	}
	for i := from; i < b.rows(); i++ {
		if b.firsts[i+1]-b.firsts[i] != width {
			return nil, false
		}
	}
	return b.values[first:], true
}

// row returns the values of a row.
func (b *csvBlock) row(i int) []float64 { return b.values[b.firsts[i]:b.firsts[i+1]] }

// parse splits the lines of a text into cells. A quoted cell may contain neither quotes nor newlines.
func (b *csvBlock) parse(k *kernels.Set, text []byte, separator byte) {
	if !b.parseEven(k, text, separator) {
		b.parseUneven(text, separator)
	}
}

// longCell is the mean size of a cell, in bytes with its separator, above which most cells have more digits
// than a kernel reads.
const longCell = 16

// parseEven parses a text without quotes, all of whose lines have as many cells as the first, two or more. It finds
// the ends of all cells before it reads any of them. done says whether the text has this form.
func (b *csvBlock) parseEven(k *kernels.Set, text []byte, separator byte) (done bool) {
	width := 1 + bytes.Count(text[:bytes.IndexByte(text, '\n')], []byte{separator})
	if width == 1 || bytes.IndexByte(text, '"') >= 0 {
		return false
	}
	b.marks = slices.Grow(b.marks[:0], len(text)+1)[:len(text)+1]
	b.marks[0] = -1
	n := k.Marks(text, separator, '\n', '\n', b.marks[1:])
	rows := n / width
	if n%width != 0 || bytes.Count(text, []byte{'\n'}) != rows {
		return false
	}
	b.firsts, b.starts, b.lines = append(b.firsts[:0], 0), b.starts[:0], b.lines[:0]
	for i := range rows {
		first := i * width
		b.firsts, b.starts, b.lines = append(b.firsts, first+width), append(b.starts, int(b.marks[first])+1), append(b.lines, i+1)
		if text[b.marks[first+width]] != '\n' {
			return false
		}
	}
	b.ends, b.values = b.marks[1:n+1], slices.Grow(b.values[:0], n)[:n]
	b.newlines, b.hasText, b.end = rows, false, len(text)
	long := len(text) > longCell*n // the kernel would not read most cells
	if long || k.Numbers(text, b.marks[:n+1], b.values) > 0 {
		b.readOthers(text, long)
	}
	return true
}

// readOthers reads those cells of an even text that the kernel has not read as numbers, or all cells.
func (b *csvBlock) readOthers(text []byte, all bool) {
	ends, values := b.ends, b.values[:len(b.ends)]
	at := b.starts[0]
	for c, mark := range ends {
		end := int(mark)
		if all && end-at > decimal.BriefReach && end >= decimal.LongReach {
			if v, ok := decimal.Long(text, at, end); ok {
				values[c], at = v, end+1
				continue
			}
		}
		if all || math.IsNaN(values[c]) {
			if text[end] == '\n' && end > at && text[end-1] == '\r' {
				ends[c]--
			}
			b.read(text, c, at)
		}
		at = end + 1
	}
}

// read reads cell c, which begins at offset at.
func (b *csvBlock) read(text []byte, c, at int) {
	end := int(b.ends[c])
	v, ok := 0.0, false
	if end >= decimal.LongReach && end-at > decimal.BriefReach {
		v, ok = decimal.Long(text, at, end)
	}
	if !ok {
		v, ok = number(text[at:], end-at)
	}
	if !ok {
		v, b.hasText = math.NaN(), true
	}
	b.values[c] = v
}

// parseUneven is parse for any text.
func (b *csvBlock) parseUneven(text []byte, separator byte) {
	b.values, b.ends, b.firsts, b.starts, b.lines = b.values[:0], b.ends[:0], append(b.firsts[:0], 0), b.starts[:0], b.lines[:0]
	b.newlines, b.hasText = 0, false
	m := newMarks(text, separator)
	for at := 0; at < len(text); b.newlines++ {
		b.end = at
		if text[at] == '\n' || text[at] == '\r' && text[at+1] == '\n' {
			at = m.next() + 1
			continue
		}
		next := b.line(&m, at)
		if next < 0 {
			first := b.firsts[len(b.firsts)-1]
			b.values, b.ends = b.values[:first], b.ends[:first]
			return
		}
		b.firsts, b.starts, b.lines = append(b.firsts, len(b.values)), append(b.starts, at), append(b.lines, b.newlines+1)
		at = next
	}
	b.end = len(text)
}

// line parses a line and returns the offset of the next one; −1 where quotes do not enclose a whole cell.
func (b *csvBlock) line(m *marks, at int) int {
	text, values, ends := m.text, b.values, b.ends
	for {
		mark := m.next()
		c, end := text[mark], mark
		if c == '\n' && end > at && text[end-1] == '\r' {
			end--
		}
		v, ok := 0.0, false
		if end-at <= decimal.BriefReach && len(text)-at >= decimal.BriefReach {
			v, ok = decimal.Brief(text[at:], end-at)
		}
		if !ok {
			if v, ok = number(text[at:], end-at); !ok {
				v, b.hasText = math.NaN(), true
				if end = wordEnd(text, at, m.separator); end < 0 {
					return -1
				}
				if end < mark-1 || end > mark {
					m.seek(end)
					mark = m.next()
					c = text[mark]
				}
			}
		}
		values, ends = append(values, v), append(ends, int32(end))
		if at = mark + 1; c == '\n' {
			b.values, b.ends = values, ends
			return at
		}
	}
}

// number returns the number that the first n bytes of a text spell, and whether they spell one.
func number(text []byte, n int) (v float64, ok bool) {
	v, length, fault := decimal.Parse(text)
	return v, fault == decimal.None && length == n
}

// wordEnd returns the end of the cell that begins at offset at and is not plainly a number; −1 where quotes do not
// enclose it.
func wordEnd(text []byte, at int, separator byte) int {
	if text[at] == '"' {
		length := bytes.IndexByte(text[at+1:], '"')
		end := at + 1 + length + 1
		if length < 0 || bytes.IndexByte(text[at:end], '\n') >= 0 {
			return -1
		}
		if c := text[end]; c != separator && c != '\n' && (c != '\r' || text[end+1] != '\n') {
			return -1
		}
		return end
	}
	for end := at; ; end++ {
		switch c := text[end]; {
		case c == separator || c == '\n' || c == '\r' && text[end+1] == '\n':
			return end
		case c == '"':
			return -1
		}
	}
}
