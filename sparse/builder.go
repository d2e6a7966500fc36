package sparse

import (
	"context"
	"encoding/binary"
	"iter"
	"math"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Builder collects rows, one after another, into a matrix. The zero value has no rows. Rows are kept in fewer
// bytes than the matrix will take.
type Builder struct {
	// Limits bounds the number of rows that [Builder.Row] accepts, and their memory.
	Limits Limits

	rows  journal
	held  int64 // rows.held when the limits were last checked
	width int
}

// Row adds a row, given by its columns, ascending, and their values, or by all its values where columns is nil.
// Neither slice is kept. The error is an [*outcome.Error]: Shape for columns that are out of order or negative,
// NonFinite, BadParameter for negative Limits, or Limit for more than Limits allows, more than [MaxDim] rows or
// columns, or more than 2³²−1 nonzeros; the row is then not added.
func (b *Builder) Row(columns []int32, values []float64) error {
	n := b.rows.n
	switch {
	case n == MaxDim || len(values) > MaxDim:
		return outcome.Errorf(outcome.Limit, "more than %d rows or columns", MaxDim)
	case columns != nil && len(columns) != len(values):
		return outcome.Errorf(outcome.Shape, "the row has %d columns but %d values", len(columns), len(values))
	case b.rows.nnz+int64(len(values)) > 1<<32-1:
		return outcome.Errorf(outcome.Limit, "more than 2³²−1 nonzeros")
	}
	if n == 0 || n == b.Limits.Rows || b.rows.held != b.held {
		b.held = b.rows.held
		if err := b.Limits.Check(n+1, max(b.width, len(values)), b.rows.nnz, b.held); err != nil {
			return err
		}
	}
	if columns == nil {
		return b.full(values)
	}
	previous := int32(-1)
	for k, v := range values {
		j := columns[k]
		if j <= previous || j > MaxDim-1 {
			return entryError(n, int(j), "the columns of a row must be ascending, from 0 to %d", MaxDim-1)
		}
		if previous = j; !finite(v) {
			return nonFinite(n, int(j), v)
		}
	}
	b.rows.row(0)
	b.width = max(b.width, int(previous)+1)
	stored := int32(-1)
	for k, v := range values {
		if v != 0 {
			b.rows.entry(int(columns[k]-stored), v)
			stored = columns[k]
		}
	}
	return nil
}

// full adds a row given by all its values.
func (b *Builder) full(values []float64) error {
	for j, v := range values {
		if !finite(v) {
			return nonFinite(b.rows.n, j, v)
		}
	}
	b.width = max(b.width, len(values))
	b.rows.full(values)
	return nil
}

// Block adds rows stored one after another, each of width values; columns lists which of these values become
// the columns of the matrix, in order. Nothing is kept. Errors are those of [Builder.Row]; the rows before the
// one at fault are added.
func (b *Builder) Block(values []float64, width int, columns []int) error {
	for _, at := range columns {
		if at < 0 || at >= width {
			return outcome.Errorf(outcome.Shape, "there is no column %d in rows of %d values", at, width)
		}
	}
	n, p := len(values)/max(width, 1), len(columns)
	if n*width != len(values) {
		return outcome.Errorf(outcome.Shape, "%d values do not form rows of %d", len(values), width)
	}
	if n == 0 {
		return nil
	}
	s, nonzeros, plain := slab{n: n, values: make([]float64, n*p)}, 0, n < MaxDim-b.rows.n && p <= MaxDim
	for j, at := range columns {
		some, finite := gather(values[at:], width, s.column(j))
		nonzeros, plain = nonzeros+some, plain && finite
	}
	total, held := b.rows.nnz+int64(nonzeros), b.rows.held+int64(8*n*p)
	if !plain || 2*nonzeros < n*p || total > 1<<32-1 || b.Limits.Check(b.rows.n+n, max(b.width, p), total, held) != nil {
		row := make([]float64, p)
		for ; len(values) > 0; values = values[width:] {
			for j, at := range columns {
				row[j] = values[at]
			}
			if err := b.Row(nil, row); err != nil {
				return err
			}
		}
		return nil
	}
	b.width = max(b.width, p)
	b.rows.slab(s, nonzeros)
	return nil
}

// gather copies every stride-th value, turning −0 into 0, and returns the number of nonzeros, and whether all
// are finite.
func gather(from []float64, stride int, to []float64) (nonzeros int, finite bool) {
	most := uint64(0)
	for i := range to {
		v := from[i*stride]
		magnitude := math.Float64bits(v) << 1
		most = max(most, magnitude)
		nonzeros += int((magnitude | -magnitude) >> 63)
		to[i] = v + 0
	}
	return nonzeros, most < math.Float64bits(math.Inf(1))<<1
}

// Rows returns the number of rows.
func (b *Builder) Rows() int { return b.rows.n }

// All yields the columns and values of every row in turn, without zeros; they are valid until the next row.
func (b *Builder) All() iter.Seq2[[]int32, []float64] {
	return b.rows.all(new(float64))
}

// Matrix returns the matrix of the rows, with p columns, in the smaller of its two forms as [Compact] chooses
// it. It leaves the builder empty. The error is an [*outcome.Error] of kind Shape where a row names a column
// beyond p, or the cause of the context, once that has ended.
func (b *Builder) Matrix(ctx context.Context, p int) (Matrix, error) {
	if err := checkDims(b.rows.n, p); err != nil {
		return nil, err
	}
	if b.width > p {
		return nil, outcome.Errorf(outcome.Shape, "a row has %d columns, but the matrix has %d", b.width, p)
	}
	rows := b.rows
	*b = Builder{}
	if size := int64(rows.n) * int64(p); size > 0 && 2*rows.nnz >= size {
		return rows.dense(ctx, p)
	}
	m, _, err := rows.matrix(ctx, p, 1)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// dense is [journal.matrix] for a matrix stored in full. It releases chunks as they are read.
func (g *journal) dense(ctx context.Context, p int) (*Dense, error) {
	m := newDense(g.n, p)
	i, j, slabs := -1, -1, g.slabs
	for c, chunk := range g.complete() {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		for at := 0; at < len(chunk); {
			if chunk[at] == nextFloat { // as most records of a matrix stored in full are
				j++
				m.values[j*m.n+i] = math.Float64frombits(binary.LittleEndian.Uint64(chunk[at+1:]))
				at += 9
				continue
			}
			step, form, value, size := decode(chunk[at : at+recordReach])
			at += size
			if step == 0 && form == formSlab {
				for j := range len(slabs[0].values) / slabs[0].n {
					copy(m.values[j*m.n+i+1:], slabs[0].column(j))
				}
				i += slabs[0].n
				slabs[0], slabs = slab{}, slabs[1:]
				continue
			}
			if step == 0 {
				i, j = i+1, -1
				continue
			}
			j += int(step)
			m.values[j*m.n+i] = number(form, value)
		}
		g.chunks[c] = nil
	}
	return m, nil
}

// NewDenseRows returns the n × p matrix with value (i, j) at rowMajor[i·stride + j], as
// most libraries lay dense matrices out; stride is p or more. The values are checked and
// copied, and errors are those of [NewDense].
func NewDenseRows(n, p, stride int, rowMajor []float64) (*Dense, error) {
	if err := checkDims(n, p); err != nil {
		return nil, err
	}
	if stride < p || n > 0 && p > 0 && (n-1 > (len(rowMajor)-p)/max(stride, 1) || len(rowMajor) < p) {
		return nil, outcome.Errorf(outcome.Shape, "%d values for a %d × %d matrix with rows %d apart", len(rowMajor), n, p, stride)
	}
	m := newDense(n, p)
	for i := range n {
		for j, v := range rowMajor[i*stride : i*stride+p] {
			if !finite(v) {
				return nil, nonFinite(i, j, v)
			}
			m.values[j*n+i] = v
		}
	}
	return m, nil
}
