package sparse

import (
	"bufio"
	"io"
	"slices"
	"strconv"

	"github.com/seed-45b9a24c/pare/outcome"
)

// WriteSVMLight writes x and the target y, one label per row, as svmlight text with indices from 1. Numbers are
// spelled in the fewest digits that read back as the same float64, so [ReadSVMLight] returns the same matrix
// and target, bit for bit; it needs Features = p where the last columns are empty. Zeros are not written. The
// entries are first sorted by row, which takes 12 bytes each.
//
// Errors are [*outcome.Error]: Shape for y of another length than n, NonFinite
// for a label that could not be read back, both before anything is written; IO
// for a failing writer.
func WriteSVMLight(w io.Writer, x Matrix, y []float64) error {
	n, _ := x.Dims()
	if len(y) != n {
		return outcome.Errorf(outcome.Shape, "%d labels for %d rows", len(y), n)
	}
	for i, v := range y {
		if !finite(v) {
			return &outcome.Error{Kind: outcome.NonFinite, Message: "label: " + formatNonFinite(v), HasRow: true, Row: i}
		}
	}
	rowPtr, columns, values := byRows(x)
	out := bufio.NewWriterSize(w, 64<<10)
	var text []byte
	for i, label := range y {
		text = strconv.AppendFloat(text[:0], label, 'g', -1, 64)
		for k := rowPtr[i]; k < rowPtr[i+1]; k++ {
			text = append(text, ' ')
			text = strconv.AppendInt(text, int64(columns[k])+1, 10)
			text = append(text, ':')
			text = strconv.AppendFloat(text, values[k], 'g', -1, 64)
		}
		text = append(text, '\n')
		if _, err := out.Write(text); err != nil {
			return writeError(err)
		}
	}
	if err := out.Flush(); err != nil {
		return writeError(err)
	}
	return nil
}

func writeError(err error) error {
	return &outcome.Error{Kind: outcome.IO, Message: "writing failed", Err: err}
}

// byRows returns the nonzeros of x by row, then column: row i has the entries
// rowPtr[i]:rowPtr[i+1] of columns and values.
func byRows(x Matrix) (rowPtr []int64, columns []int32, values []float64) {
	n, _ := x.Dims()
	ptr := make([]int64, n+2) // ptr[i+1] runs from the start of row i to its end
	eachNonzero(x, func(i, _ int32, _ float64) {
		ptr[i+2]++
	})
	for i := range n {
		ptr[i+2] += ptr[i+1]
	}
	columns = make([]int32, ptr[n+1])
	values = make([]float64, ptr[n+1])
	eachNonzero(x, func(i, j int32, v float64) {
		k := ptr[i+1]
		ptr[i+1]++
		columns[k], values[k] = j, v
	})
	return ptr[:n+1], columns, values
}

// eachNonzero visits the nonzeros of x by column, then row.
func eachNonzero(x Matrix, visit func(i, j int32, v float64)) {
	order := slices.Clone(x.Order())
	slices.Sort(order)
	for _, j := range order {
		rows, values := x.Column(int(j))
		for k, v := range values {
			switch {
			case v == 0:
			case rows == nil:
				visit(int32(k), j, v)
			default:
				visit(rows[k], j, v)
			}
		}
	}
}
