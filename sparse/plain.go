package sparse

import (
	"bytes"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/internal/decimal"
	"github.com/seed-45b9a24c/pare/kernels"
)

// plainPiece is how much of a text is taken apart at once: what comes of it stays in a cache.
const plainPiece = 32 << 10

// plain takes lines apart of the form that nearly all have,
//
//	label [qid:digits] {index:number} [# comment]
//
// with one space between, and perhaps one at the end. Where cells end, at a space, a colon or a
// newline, is known before any of them is read.
type plain struct {
	kernels *kernels.Set
	text    []byte
	ends    []int32   // of the cells in the text, from −1 on
	numbers []float64 // that they spell; NaN: none, or another spelling

	// Of the rows that have been read:
	labels  []float64
	last    []int32 // where their entries end
	columns []int32
	values  []float64
	small   int // values that a journal keeps in a byte
	width   int
	zero    bool // some index is 0
}

// lines reads lines from the position on that are plain, and reports whether there are any. The
// general route says what others are, of which the first ends the piece that is looked at.
func (s *scanner) lines() (bool, error) {
	if s.each != nil || s.pos < s.tried || s.offset+int64(s.pos) != 0 {
		return false, nil
	}
	if bytes.IndexByte(s.buf[s.pos:s.end], '\n') < 0 && s.pos > 0 && !s.last {
		if err := s.slide(len(s.buf) - 1); err != nil {
			return false, err
		}
	}
	text := s.buf[s.pos:s.end]
	size := 1 + bytes.LastIndexByte(text[:min(plainPiece, len(text))], '\n')
	if size == 0 {
		size = 1 + bytes.IndexByte(text, '\n')
	}
	s.tried = s.pos + size
	if size = s.plain.read(text[:size], s); size == 0 {
		return false, nil
	}
	s.plain.record(&s.rows, size)
	s.width, s.zero = max(s.width, s.plain.width), s.zero || s.plain.zero
	s.line += len(s.plain.labels)
	s.pos += size
	s.offset = -int64(s.pos)
	if s.rows.held != s.held {
		return true, s.fits(0)
	}
	return true, nil
}

// read reads rows, as many as are plain and allowed, and returns the size of their text.
func (p *plain) read(text []byte, s *scanner) (size int) {
	p.text, p.ends = text, slices.Grow(p.ends[:0], len(text)+1)[:len(text)+1]
	p.ends[0] = -1
	n := p.kernels.Marks(text, ' ', ':', '\n', p.ends[1:])
	p.ends, p.numbers = p.ends[:n+1], slices.Grow(p.numbers[:0], n)[:n]
	p.kernels.Numbers(text, p.ends, p.numbers)
	p.labels, p.last, p.columns, p.values = p.labels[:0], p.last[:0], p.columns[:0], p.values[:0]
	p.small, p.width, p.zero = 0, 0, false

	rows := MaxDim
	if most := s.opt.Limits.Rows; most > 0 {
		rows = most
	}
	for cell := 0; cell < n && s.rows.n+len(p.labels) < rows; {
		next := p.row(cell, s)
		entries := len(p.columns)
		if next == 0 || int64(int(p.ends[next])-size) > s.opt.MaxLineBytes || s.rows.nnz+int64(entries) > s.opt.MaxEntries {
			break
		}
		cell, size = next, int(p.ends[next])+1
		p.last = append(p.last, int32(entries))
	}
	p.labels = p.labels[:len(p.last)]
	entries := 0
	if len(p.last) > 0 {
		entries = int(p.last[len(p.last)-1])
	}
	p.columns, p.values = p.columns[:entries], p.values[:entries]
	return size
}

// leastOf is the least index of so many digits.
var leastOf = [...]float64{math.MaxFloat64, 0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// row reads the row whose label is a cell, and returns the first cell of the next, 0 if it is not
// plain: then what it has appended is of no row.
func (p *plain) row(cell int, s *scanner) (next int) {
	text, ends, numbers := p.text, p.ends, p.numbers
	label, ok := p.number(cell)
	if !ok {
		return 0
	}
	p.labels = append(p.labels, label)
	base, named := s.base(), -1
	columns, values := p.columns, p.values
	c, first := cell+1, cell+1
	after := text[ends[c]] // what follows the last token
	for after == ' ' {
		from, to := int(ends[c])+1, int(ends[c+1])
		if text[to] != ':' || text[from] == '#' {
			if c = p.tail(c); c == 0 {
				return 0
			}
			break
		}
		after = text[ends[c+2]]
		if c == first && string(text[from:to]) == "qid" && whole(text[to+1:ends[c+2]]) {
			c += 2
			continue
		}
		index := numbers[c]
		if digits := to - from; digits >= len(leastOf) || !(index >= leastOf[digits]) { // no blank, sign or point, nor a leading zero
			return 0
		}
		j := int(index) - base
		if after == ':' || j <= named || j >= s.columns {
			return 0
		}
		value := numbers[c+1]
		if math.IsNaN(value) {
			if value, ok = p.number(c + 1); !ok {
				return 0
			}
		}
		if named = j; value != 0 {
			columns, values = append(columns, int32(j)), append(values, value)
			if float64(int8(value)) == value {
				p.small++
			}
		}
		p.zero = p.zero || index == 0
		c += 2
	}
	if text[ends[c]] != '\n' {
		return 0
	}
	p.columns, p.values, p.width = columns, values, max(p.width, named+1)
	return c
}

// number returns the number that a whole cell spells, less a carriage return at the end of the line.
func (p *plain) number(cell int) (v float64, ok bool) {
	if v = p.numbers[cell]; !math.IsNaN(v) {
		return v, true
	}
	from, to := int(p.ends[cell])+1, int(p.ends[cell+1])
	if p.text[to] == '\n' && to > from && p.text[to-1] == '\r' {
		to--
	}
	if to-from > decimal.BriefReach && to >= decimal.LongReach {
		if v, ok = decimal.Long(p.text, from, to); ok {
			return v, true
		}
	}
	v, length, fault := decimal.Parse(p.text[from:])
	return v, fault == decimal.None && length == to-from && length <= decimal.MaxLength
}

// tail returns the cell behind those that end a line, from one on after a space: nothing but perhaps a
// carriage return, or a comment. It is 0 where there is something else.
func (p *plain) tail(c int) (next int) {
	from, to := int(p.ends[c])+1, int(p.ends[c+1])
	switch rest := p.text[from:to]; {
	case len(rest) > 0 && rest[0] == '#':
		for p.text[p.ends[c+1]] != '\n' {
			c++
		}
		return c + 1
	case p.text[to] == '\n' && (len(rest) == 0 || string(rest) == "\r"):
		return c + 1
	default:
		return 0
	}
}

// whole reports whether a cell has digits alone, one at least and not too many.
func whole(cell []byte) bool {
	for _, c := range cell {
		if c-'0' > 9 {
			return false
		}
	}
	return len(cell) > 0 && len(cell) <= maxIndex
}

// record adds the rows, whose text has so many bytes, to a journal: as they are, or in its compact
// form where they would be much larger.
func (p *plain) record(g *journal, size int) {
	s := slab{n: len(p.labels), labels: p.labels, ends: p.last, columns: p.columns, values: p.values}
	if 2*p.small < len(p.values) && s.bytes() <= int64(2*size) {
		s.labels, s.ends, s.columns, s.values = slices.Clone(s.labels), slices.Clone(s.ends), slices.Clone(s.columns), slices.Clone(s.values)
		g.slab(s, len(s.values))
		return
	}
	from := int32(0)
	for i, to := range p.last {
		g.row(p.labels[i])
		stored := int32(-1)
		for k := from; k < to; k++ {
			g.entry(int(p.columns[k]-stored), p.values[k])
			stored = p.columns[k]
		}
		from = to
	}
}
