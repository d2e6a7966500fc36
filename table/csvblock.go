package table

import (
	"bytes"
	"math"

	"github.com/seed-45b9a24c/pare/internal/decimal"
)

// csvBlock is the cells of a block of lines.
type csvBlock struct {
	values   []float64 // of all cells; NaN: not plainly a number
	ends     []int     // of all cells, in the text, where the separator is or the line ends
	firsts   []int     // of each row, its first cell; and one more
	starts   []int     // of each row, in the text
	lines    []int     // of each row, from 1
	newlines int       // before end
	end      int       // where a line begins that takes more than this; the text's length if none does
}

func (b *csvBlock) rows() int { return len(b.starts) }

// row returns the values of a row.
func (b *csvBlock) row(i int) []float64 { return b.values[b.firsts[i]:b.firsts[i+1]] }

// parse takes the lines of a text apart. A cell in quotes has none inside, and no newline.
func (b *csvBlock) parse(text []byte, separator byte) {
	b.values, b.ends, b.firsts, b.starts, b.lines = b.values[:0], b.ends[:0], append(b.firsts[:0], 0), b.starts[:0], b.lines[:0]
	b.newlines = 0
	for at := 0; at < len(text); b.newlines++ {
		b.end = at
		if text[at] == '\n' || text[at] == '\r' && text[at+1] == '\n' {
			at += 1 + bytes.IndexByte(text[at:], '\n')
			continue
		}
		next := b.line(text, at, separator)
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
func (b *csvBlock) line(text []byte, at int, separator byte) int {
	for {
		v, length, fault := decimal.Parse(text[at:])
		end := at + length
		c := text[end] // a newline at the latest
		if fault != decimal.None || c != separator && c != '\n' && (c != '\r' || text[end+1] != '\n') {
			v = math.NaN()
			if end = b.word(text, at, separator); end < 0 {
				return -1
			}
			c = text[end]
		}
		b.values, b.ends = append(b.values, v), append(b.ends, end)
		switch c {
		case separator:
			at = end + 1
		case '\r':
			return end + 2
		default:
			return end + 1
		}
	}
}

// word returns where the cell ends that begins at a place, and is not plainly a number.
func (b *csvBlock) word(text []byte, at int, separator byte) int {
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
