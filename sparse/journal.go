package sparse

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
)

// journal holds the rows of a matrix as they were read, until it is known how
// many entries each column has. It is a sequence of records in chunks that
// never move, so nothing is copied while it grows:
//
//	record = varint(2·step + wide) value
//
// Step 0 starts a row, and its value is the label; step d > 0 is an entry d
// columns after the last one, the first counting from column −1. The value is
// one signed byte where it is a small integer, else the 8 bytes of its float64
// (wide). So a record is mostly shorter than the text it came from, and never
// three times as long.
type journal struct {
	chunks [][]byte
	at     int // the unused rest of the last chunk starts here
	n      int
	nnz    int64
}

const (
	maxRecord  = binary.MaxVarintLen64 + 8
	firstChunk = 4 << 10
	lastChunk  = 256 << 10
)

// row starts a row.
func (g *journal) row(label float64) {
	g.n++
	g.put(0, label)
}

// entry adds a nonzero to the row, so many columns after its last one.
func (g *journal) entry(step int, v float64) {
	g.nnz++
	g.put(step, v)
}

func (g *journal) put(step int, v float64) {
	if len(g.chunks) == 0 || len(g.chunks[len(g.chunks)-1])-g.at < maxRecord {
		g.grow()
	}
	b := g.chunks[len(g.chunks)-1]
	i := g.at
	small := int8(v)
	wide := math.Float64bits(float64(small)) != math.Float64bits(v) // by bits: −0 is no small integer
	code := uint64(step) << 1
	if wide {
		code |= 1
	}
	for ; code >= 0x80; code >>= 7 {
		b[i] = byte(code) | 0x80
		i++
	}
	b[i] = byte(code)
	i++
	if wide {
		binary.LittleEndian.PutUint64(b[i:], math.Float64bits(v))
		i += 8
	} else {
		b[i] = byte(small)
		i++
	}
	g.at = i
}

// grow closes the last chunk and opens another.
func (g *journal) grow() {
	size := firstChunk
	if k := len(g.chunks) - 1; k >= 0 {
		size = min(2*cap(g.chunks[k]), lastChunk)
		g.chunks[k] = g.chunks[k][:g.at]
	}
	g.chunks = append(g.chunks, make([]byte, size))
	g.at = 0
}

// replay is a place in the journal: the row and column of the last record.
type replay struct{ row, column int32 }

// next decodes the record at the start of b. It returns what follows it and the
// record's value: a label if r.column is then −1, else that of an entry.
func (r *replay) next(b []byte) (rest []byte, v float64) {
	code, i := uint64(b[0]), 1
	if code >= 0x80 {
		code, i = binary.Uvarint(b)
	}
	if code&1 != 0 {
		v = math.Float64frombits(binary.LittleEndian.Uint64(b[i:]))
		i += 8
	} else {
		v = float64(int8(b[i]))
		i++
	}
	if code > 1 {
		r.column += int32(code >> 1)
	} else {
		r.row++
		r.column = -1
	}
	return b[i:], v
}

// replay calls visit with the place and value of every record, and stops with
// the context's cause at its end.
func (g *journal) replay(ctx context.Context, visit func(at replay, v float64)) error {
	at := replay{-1, -1}
	for k, b := range g.chunks {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if k == len(g.chunks)-1 {
			b = b[:g.at]
		}
		for len(b) > 0 {
			var v float64
			b, v = at.next(b)
			visit(at, v)
		}
	}
	return nil
}

// matrix sorts the journal into the columns of a matrix with p of them, and
// returns it with the labels. It stops with the context's cause at its end.
func (g *journal) matrix(ctx context.Context, p int) (*CSC, []float64, error) {
	columns, lengths, err := g.lengths(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	m := allocate(g.n, p, columns, lengths)
	y := make([]float64, g.n)
	err = g.replay(ctx, func(at replay, v float64) {
		if at.column < 0 {
			y[at.row] = v
			return
		}
		s := m.slot(int(at.column))
		k := m.colPtr[s]
		m.colPtr[s]++
		m.rows[k], m.values[k] = at.row, v
	})
	if err != nil {
		return nil, nil, err
	}
	// Every pointer has moved to the end of its slot, where the next one starts.
	copy(m.colPtr[1:], m.colPtr[:len(m.order)])
	m.colPtr[0] = 0
	return m, y, nil
}

// lengths counts the entries of every column. It answers for all p of them
// (columns nil), or where that would dwarf the data for the nonempty ones,
// which columns then lists in increasing order.
func (g *journal) lengths(ctx context.Context, p int) (columns, lengths []int32, err error) {
	if tabulated(p, g.nnz) {
		lengths = make([]int32, p)
		err = g.replay(ctx, func(at replay, _ float64) {
			if at.column >= 0 {
				lengths[at.column]++
			}
		})
		return nil, lengths, err
	}
	all := make([]int32, 0, g.nnz)
	err = g.replay(ctx, func(at replay, _ float64) {
		if at.column >= 0 {
			all = append(all, at.column)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(all)
	for k, j := range all {
		if k == 0 || j != all[k-1] {
			columns = append(columns, j)
			lengths = append(lengths, 0)
		}
		lengths[len(lengths)-1]++
	}
	return columns, lengths, nil
}
