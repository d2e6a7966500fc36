package sparse

import (
	"bytes"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/internal/decimal"
	"github.com/seed-45b9a24c/pare/kernels"
)

// plainPiece is the size of the pieces in which a text is split into cells: small enough for the results to
// stay in a cache.
const plainPiece = 32 << 10

// plain parses lines of the form that nearly all have,
//
//	label [qid:digits] {index:number} [# comment]
//
// with single spaces between, and perhaps one at the end. It finds the ends of all cells, at spaces, colons and
// newlines, before it reads any of them.
type plain struct {
	kernels *kernels.Set
	text    []byte
	ends    []int32   // ends of the cells in the text, after a leading −1
	numbers []float64 // values of the cells; NaN: no number, or one spelled unusually

	// Of the rows read so far:
	labels     []float64
	rowEnds    []int32 // end of each row in columns and values
	columns    []int32
	values     []float64
	byteValues int // number of values that a journal keeps in a byte
	width      int
	sawZero    bool // some index is 0
}

// plainLines reads plain lines from the position on, and reports whether there are any. The first line that is not
// plain ends the run: the general parser reads the rest of the piece and says what is wrong, if anything is.
func (s *scanner) plainLines() (bool, error) {
	if s.onRow != nil || s.pos < s.retryAt || s.offset+int64(s.pos) != 0 {
		return false, nil
	}
	if bytes.IndexByte(s.buf[s.pos:s.end], '\n') < 0 && s.pos > 0 && !s.atEnd {
		if err := s.slide(len(s.buf) - 1); err != nil {
			return false, err
		}
	}
	text := s.buf[s.pos:s.end]
	size := 1 + bytes.LastIndexByte(text[:min(plainPiece, len(text))], '\n')
	if size == 0 {
		size = 1 + bytes.IndexByte(text, '\n')
	}
	s.retryAt = s.pos + size
	if size = s.plain.read(text[:size], s); size == 0 {
		return false, nil
	}
	s.plain.record(&s.rows, size)
	s.width, s.sawZero = max(s.width, s.plain.width), s.sawZero || s.plain.sawZero
	s.line += len(s.plain.labels)
	s.pos += size
	s.offset = -int64(s.pos)
	if s.rows.held != s.held {
		return true, s.checkLimits(0)
	}
	return true, nil
}

// read reads rows as long as they are plain and allowed, and returns the size of their text.
func (p *plain) read(text []byte, s *scanner) (size int) {
	p.text, p.ends = text, slices.Grow(p.ends[:0], len(text)+1)[:len(text)+1]
	p.ends[0] = -1
	n := p.kernels.Marks(text, ' ', ':', '\n', p.ends[1:])
	p.ends, p.numbers = p.ends[:n+1], slices.Grow(p.numbers[:0], n)[:n]
	p.kernels.Numbers(text, p.ends, p.numbers)
	p.labels, p.rowEnds, p.columns, p.values = p.labels[:0], p.rowEnds[:0], p.columns[:0], p.values[:0]
	p.byteValues, p.width, p.sawZero = 0, 0, false

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
		p.rowEnds = append(p.rowEnds, int32(entries))
	}
	p.labels = p.labels[:len(p.rowEnds)]
	entries := 0
	if len(p.rowEnds) > 0 {
		entries = int(p.rowEnds[len(p.rowEnds)-1])
	}
	p.columns, p.values = p.columns[:entries], p.values[:entries]
	return size
}

// leastOf[d] is the least index of d digits.
var leastOf = [...]float64{math.MaxFloat64, 0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// row reads the row whose label is in the given cell, and returns the first cell of the next row; 0 if the row
// is not plain, and then what it appended to p.labels, p.columns and p.values belongs to no row.
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
	after := text[ends[c]] // the byte after the last token
	for after == ' ' {
		from, to := int(ends[c])+1, int(ends[c+1])
		if text[to] != ':' || text[from] == '#' {
			if c = p.tail(c); c == 0 {
				return 0
			}
			break
		}
		after = text[ends[c+2]]
		if c == first && string(text[from:to]) == "qid" && allDigits(text[to+1:ends[c+2]]) {
			c += 2
			continue
		}
		index := numbers[c]
		if digits := to - from; digits >= len(leastOf) || !(index >= leastOf[digits]) { // rejects blanks, signs, points and leading zeros
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
				p.byteValues++
			}
		}
		p.sawZero = p.sawZero || index == 0
		c += 2
	}
	if text[ends[c]] != '\n' {
		return 0
	}
	p.columns, p.values, p.width = columns, values, max(p.width, named+1)
	return c
}

// number returns the number that a whole cell spells, without the carriage return at the end of a line.
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

// tail returns the first cell of the next line if the rest of this line, from cell c on, is empty, a carriage
// return or a comment; else 0.
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

// allDigits reports whether a cell consists of digits only, at least one and at most maxIndex.
func allDigits(cell []byte) bool {
	for _, c := range cell {
		if c-'0' > 9 {
			return false
		}
	}
	return len(cell) > 0 && len(cell) <= maxIndex
}

// record adds the rows, whose text has size bytes, to a journal: as a slab, or as records where a slab would be
// much larger.
func (p *plain) record(g *journal, size int) {
	s := slab{n: len(p.labels), labels: p.labels, ends: p.rowEnds, columns: p.columns, values: p.values}
	if 2*p.byteValues < len(p.values) && s.bytes() <= int64(2*size) {
		s.labels, s.ends, s.columns, s.values = slices.Clone(s.labels), slices.Clone(s.ends), slices.Clone(s.columns), slices.Clone(s.values)
		g.slab(s, len(s.values))
		return
	}
	from := int32(0)
	for i, to := range p.rowEnds {
		g.row(p.labels[i])
		stored := int32(-1)
		for k := from; k < to; k++ {
			g.entry(int(p.columns[k]-stored), p.values[k])
			stored = p.columns[k]
		}
		from = to
	}
}
