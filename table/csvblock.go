package table

import (
	"bytes"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/internal/decimal"
	"github.com/seed-45b9a24c/pare/kernels"
)

// csvBlock is the cells of a block of lines.
type csvBlock struct {
	values   []float64 // of all cells; NaN: not plainly a number
	ends     []int32   // of all cells, in the text, where the separator is or the line ends
	firsts   []int     // of each row, its first cell; and one more
	starts   []int     // of each row, in the text
	lines    []int     // of each row, from 1
	newlines int       // before end
	end      int       // where a line begins that takes more than this; the text's length if none does
	words    bool      // some cell is not plainly a number

	marks []int32 // room for −1 and the ends of a text without quotes
}

func (b *csvBlock) rows() int { return len(b.starts) }

// table returns the values of all rows from one on, row after row, if each has so many cells,
// all plainly numbers.
func (b *csvBlock) table(from, width int) (values []float64, ok bool) {
	first := b.firsts[from]
	if b.words {
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

// parse takes the lines of a text apart. A cell in quotes has none inside, and no newline.
func (b *csvBlock) parse(k *kernels.Set, text []byte, separator byte) {
	if !b.even(k, text, separator) {
		b.uneven(text, separator)
	}
}

// longCell is how many bytes the cells of a text have in the mean, with what ends them, if they have
// more digits than a kernel reads.
const longCell = 16

// even takes a text without quotes apart whose lines have as many cells as the first, two or more;
// done is whether it is one. Then where all cells end is known before any is read.
func (b *csvBlock) even(k *kernels.Set, text []byte, separator byte) (done bool) {
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
	b.newlines, b.words, b.end = rows, false, len(text)
	long := len(text) > longCell*n // most are not for the kernel
	if long || k.Numbers(text, b.marks[:n+1], b.values) > 0 {
		b.others(text, long)
	}
	return true
}

// others reads the cells of an even text that are not known to be numbers, or all.
func (b *csvBlock) others(text []byte, all bool) {
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

// read reads a cell that begins at a place.
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
		v, b.words = math.NaN(), true
	}
	b.values[c] = v
}

// uneven is parse for any text.
func (b *csvBlock) uneven(text []byte, separator byte) {
	b.values, b.ends, b.firsts, b.starts, b.lines = b.values[:0], b.ends[:0], append(b.firsts[:0], 0), b.starts[:0], b.lines[:0]
	b.newlines, b.words = 0, false
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

// line takes a line apart and returns where the next begins; −1 where quotes are not around
// a whole cell.
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
				v, b.words = math.NaN(), true
				if end = word(text, at, m.separator); end < 0 {
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

// number returns the number that the first n bytes of a text spell, if they do.
func number(text []byte, n int) (v float64, ok bool) {
	v, length, fault := decimal.Parse(text)
	return v, fault == decimal.None && length == n
}

// word returns where the cell ends that begins at a place, and is not plainly a number.
func word(text []byte, at int, separator byte) int {
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
