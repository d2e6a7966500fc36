package support

// Columns that the store has no room for are computed from X each time they are needed, with the
// same operations in the same order as columns that it holds, so that results have the same
// bits.

// columnBuffer is memory for a column that is not held.
type columnBuffer struct {
	index  []int32
	values []float64
}

// Bound limits the store to that many bytes of sparse columns, those that are asked for first;
// 0 means no bound. Under a bound nothing but Gram matrices is made of the columns: no lists and
// no bands of rows. Since these sum in another order, results are the same under every bound, but
// not without one.
func (c *Columns) Bound(bytes int64) {
	if !c.dense {
		c.bytes = bytes
	}
}

// Partial reports whether the values of some columns asked for are not held.
func (c *Columns) Partial() bool { return c.unheld > 0 }

// Held reports whether the values of a column asked for are in [Columns.Storage].
func (c *Columns) Held(j int32) bool {
	return c.unheld == 0 || c.isHeld(c.slot[j])
}

func (c *Columns) isHeld(slot int32) bool {
	return c.start[slot+1] > c.start[slot] || c.size[slot] == 0
}

// capacity returns the number of values that may be held, at most those of all columns.
func (c *Columns) capacity() int {
	if c.dense {
		return len(c.slot) * c.m
	}
	all := int(c.view.Matrix().NNZ())
	if c.bytes == 0 {
		return all
	}
	each := int64(12)
	if c.keepsRaw() {
		each += 8
	}
	return int(min(c.bytes/each, int64(all)))
}

// unheldValues computes part of the column of a slot whose values are not held: of its entries in X, those with
// from ≤ k < to.
func (c *Columns) unheldValues(slot int32, from, to int, w *columnBuffer) (rows []int32, values []float64) {
	rows, values = c.gather(c.held[slot], from, to, w)
	if c.root != nil {
		for at, i := range rows {
			values[at] *= c.root[i]
		}
	}
	return rows, values
}

// gather is unheldValues without the weights.
func (c *Columns) gather(j int32, from, to int, w *columnBuffer) (rows []int32, values []float64) {
	index, x := c.view.Matrix().Column(int(j))
	index, x = index[from:to], x[from:to]
	w.index, w.values = resize(w.index, len(index)), resize(w.values, len(index))
	kept := len(index)
	if c.compactRow == nil {
		copy(w.index, index)
		copy(w.values, x)
	} else {
		kept = c.view.Kernels().Pick(c.compactRow, index, x, w.index, w.values)
	}
	rows, values = w.index[:kept], w.values[:kept]
	if c.view.Scaled() {
		scale := c.view.Scale(int(j))
		for at := range values {
			values[at] *= scale
		}
	}
	return rows, values
}

// measure sets the size, the mean and the squared norm of a column whose values are not held.
func (c *Columns) measure(slot int32) {
	j := c.held[slot]
	from, to := c.view.Matrix().Span(int(j))
	rows, values := c.gather(j, 0, int(to-from), &c.buffer)
	c.size[slot] = int32(len(values))
	if c.curved {
		c.mean[slot], c.square[slot] = c.scaleSparse(rows, values, values)
		return
	}
	norm := c.view.Norm(int(j))
	c.mean[slot], c.square[slot] = c.view.Mean(int(j)), norm*norm
}
