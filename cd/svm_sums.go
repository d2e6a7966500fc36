package cd

// sampleSum lists samples and their factors, so that one kernel call computes the sum of their products.
type sampleSum struct {
	s        *SVM
	factor   []float64
	from, to []int64
}

// begin empties the list.
func (t *sampleSum) begin() {
	t.factor, t.from, t.to = t.factor[:0], t.from[:0], t.to[:0]
}

// add lists the sample at a position.
func (t *sampleSum) add(pos int, factor float64) {
	t.factor, t.from, t.to = append(t.factor, factor), append(t.from, t.s.from[pos]), append(t.to, t.s.from[pos+1])
}

// addTo adds the products, in the order of the list, to v.
func (t *sampleSum) addTo(v []float64) {
	if s := t.s; s.rows == nil {
		s.k.AxpyDenseSpans(t.factor, t.from, s.values, v)
	} else {
		s.k.AxpySpans(t.factor, t.from, t.to, s.rows, s.values, v)
	}
}
