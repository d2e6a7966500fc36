package sparse

import (
	"github.com/seed-45b9a24c/pare/outcome"
)

// Limits bound what readers of matrices accept. The zero value leaves only the limits of the format, [MaxDim]
// rows and columns and 2³²−1 nonzeros.
type Limits struct {
	Rows  int   // 0: [MaxDim]
	Bytes int64 // estimated memory that reading may hold at a time, the matrix included; 0: no bound
}

// Bytes that reading takes per row, column and nonzero, besides what a reader keeps of the text: the target
// twice, spans, and the matrix in both of its forms.
const (
	bytesPerRow    = 24
	bytesPerColumn = 24
	bytesPerEntry  = 24
)

// Check returns an error of kind Limit where a matrix of this size exceeds the limits, and BadParameter where
// the limits are negative. held is the number of bytes that the reader of the matrix holds besides.
func (r Limits) Check(rows, columns int, entries, held int64) error {
	if r.Rows < 0 {
		return outcome.At(outcome.BadParameter, "max-rows", "must not be negative, got %d", r.Rows)
	}
	if r.Bytes < 0 {
		return outcome.At(outcome.BadParameter, "max-bytes", "must not be negative, got %d", r.Bytes)
	}
	if r.Rows > 0 && rows > r.Rows {
		return outcome.At(outcome.Limit, "max-rows", "more than %d rows", r.Rows)
	}
	need := float64(held) + float64(bytesPerRow*float64(rows)) + float64(bytesPerColumn*float64(columns)) + float64(bytesPerEntry*float64(entries))
	if r.Bytes > 0 && need > float64(r.Bytes) {
		return outcome.At(outcome.Limit, "max-bytes", "reading %d rows and %d nonzeros so far takes %.0f bytes, but the limit is %d", rows, entries, need, r.Bytes)
	}
	return nil
}
