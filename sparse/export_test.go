package sparse

import "github.com/seed-45b9a24c/pare/internal/decimal"

// Internals that the tests of package sparse_test use.
const (
	BufferSize     = bufferSize
	SmallestBuffer = window + 1
	MaxNumber      = decimal.MaxLength
)

var ReadWithBuffer = readSVMLight

// Storage returns the arrays: slot s holds column order[s], with entries rows[k],
// values[k] for colPtr[s] ≤ k < colPtr[s+1].
func (m *CSC) Storage() (order []int32, colPtr []int64, rows []int32, values []float64) {
	return m.order, m.colPtr, m.rows, m.values
}
