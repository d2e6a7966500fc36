package sparse

// Arrays implements [Matrix].
func (m *CSC) Arrays() (rows []int32, values []float64) { return m.rows, m.values }

// Span implements [Matrix].
func (m *CSC) Span(j int) (from, to int64) {
	s := m.slot(j)
	if s < 0 {
		return 0, 0
	}
	return m.colPtr[s], m.colPtr[s+1]
}

// Arrays implements [Matrix].
func (m *Dense) Arrays() (rows []int32, values []float64) { return nil, m.values }

// Span implements [Matrix].
func (m *Dense) Span(j int) (from, to int64) { return int64(j) * int64(m.n), int64(j+1) * int64(m.n) }
