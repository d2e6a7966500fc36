package sparse

import (
	"math"
	"sync/atomic"

	"github.com/seed-45b9a24c/pare/kernels"
)

// uniform records, for each column of a matrix that has been asked about, whether all its values are the same.
type uniform struct {
	once   once
	states []atomic.Uint32 // by slot
}

// The states of a column.
const (
	stateUnknown uint32 = iota
	stateVaried
	stateUniform
)

// Uniform reports whether all stored values of column j are the same number, as where categories are one-hot
// encoded. It looks at the values once and keeps the answer. It stops when the context of k ends (see
// [kernels.Set.Until]).
func (m *CSC) Uniform(k *kernels.Set, j int) bool {
	s := m.slot(j)
	if s < 0 {
		return true
	}
	u := &m.uniform
	u.once.Do(func() { u.states = make([]atomic.Uint32, len(m.order)) })
	known := u.states[s].Load()
	if known == stateUnknown {
		known = stateVaried
		if allEqual(k, m.values[m.colPtr[s]:m.colPtr[s+1]]) {
			known = stateUniform
		}
		u.states[s].Store(known)
	}
	return known == stateUniform
}

// allEqual reports whether all values, of which there is at least one, are the same. It tests once per few values.
func allEqual(k *kernels.Set, values []float64) bool {
	const few = 64
	first, pace := math.Float64bits(values[0]), k.Pace()
	for differ := uint64(0); len(values) > 0; {
		n := min(few, len(values))
		pace.Did(n)
		for _, v := range values[:n] {
			differ |= math.Float64bits(v) ^ first
		}
		if values = values[n:]; differ != 0 {
			return false
		}
	}
	return true
}
