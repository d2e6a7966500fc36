package support

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// picksRows reports whether columns are sparse and lack some rows, so that add has to pick their
// entries out of X's: into rawValues where they are needed again, else into values.
func (c *Columns) picksRows() bool { return !c.dense && c.compactRow != nil }

// keepsRaw reports whether picked entries are needed again, under other weights. Those of a subsample are not,
// since the next subsample has other rows.
func (c *Columns) keepsRaw() bool { return c.picksRows() && c.curved && !c.drawn }

// add gives column j a slot. If the store, of which room is the size in values, has room for the
// column, add also sets the rows of its values, and the values where it picks them.
func (c *Columns) add(j int32, room int) (slot int32) {
	rows, values := c.view.Matrix().Column(int(j))
	size, fits := len(values), c.dense || len(c.values)+len(values) <= room
	switch {
	case c.dense:
		size = c.m
	case !fits:
	case c.compactRow == nil:
		from := len(c.index)
		c.index = lengthen(c.view, c.index, size)
		copy(c.index[from:], rows)
	default:
		from := len(c.index)
		c.index, c.values = lengthen(c.view, c.index, size), lengthen(c.view, c.values, size)
		packed := c.values[from:]
		if c.keepsRaw() {
			c.rawValues = lengthen(c.view, c.rawValues, size)
			packed = c.rawValues[from:]
		}
		size = c.view.Kernels().Pick(c.compactRow, rows, values, c.index[from:], packed)
		c.index, c.values = c.index[:from+size], c.values[:from]
		if c.keepsRaw() {
			c.rawValues = c.rawValues[:from+size]
		}
	}
	slot = int32(len(c.held))
	c.slot[j] = slot
	c.held, c.slotAge = append(c.held, j), append(c.slotAge, c.weightAge-1)
	c.mean, c.square = append(c.mean, 0), append(c.square, 0)
	c.size = append(c.size, int32(size))
	if fits {
		c.values = lengthen(c.view, c.values, size)
	} else {
		c.unheld++
	}
	c.start = append(c.start, int64(len(c.values)))
	return slot
}

// valuesExpected returns the number of values to expect, with a margin, in the rows in use for columns with
// that many entries: a subsample has a fraction of the rows.
func (c *Columns) valuesExpected(entries int) int {
	if c.dense {
		n, _ := c.view.Dims()
		return entries / n * c.m
	}
	if c.m == c.allRows.m {
		return entries
	}
	return min(entries, int(spareRows*float64(entries)/float64(c.allRows.m)*float64(c.m)))
}

// spareRows is the margin: how many times the average number of entries a row of a subsample may have.
const spareRows = 1.25

// leastReserve is the least room, in values, that reserve makes, if all columns together have as many: with less, values would be
// moved often.
const leastReserve = 1 << 13

// reserve makes room for n more values. Where it has to allocate, it adds at least half as much again
// for later columns, but never more than all, the number of values that may be held. Under a bound
// it allocates room for all at once: storage that never moves is never there twice.
func (c *Columns) reserve(n, all int) {
	floats, ints := c.undefined, kernels.Undefined[int32]
	if c.bytes > 0 {
		memory, k := c.view.Arena(), c.view.Kernels()
		floats = func(n int) []float64 { return memory.Reserve(k, n) }
		ints = func(n int) []int32 { return memory.Ints(k, n) }
	}
	room := func(length, capacity int) int {
		need := length + n
		if need <= capacity {
			return 0
		}
		if c.bytes > 0 {
			return all
		}
		return max(need, min(max(need+need/2, 2*capacity, leastReserve), all))
	}
	if k := room(len(c.values), cap(c.values)); k > 0 {
		c.values = moveTo(c.view, floats(k), c.values)
	}
	if k := room(len(c.index), cap(c.index)); k > 0 && !c.dense {
		c.index = moveTo(c.view, ints(k), c.index)
	}
	if k := room(len(c.rawValues), cap(c.rawValues)); k > 0 && c.keepsRaw() {
		c.rawValues = moveTo(c.view, floats(k), c.rawValues)
	}
}

// undefined returns n values, their contents undefined.
func (c *Columns) undefined(n int) []float64 {
	return c.view.Arena().Undefined(c.view.Kernels(), n)
}

// moveTo copies v to the beginning of room, and returns that part.
func moveTo[T any](x *sparse.View, room, v []T) []T {
	team := x.Team()
	team.Do(team.Cuts(farValue*float64(len(v))), &moveTask[T]{x, room, v})
	return room[:len(v)]
}

// moveTask copies a range of v to room, in pieces.
type moveTask[T any] struct {
	x       *sparse.View
	room, v []T
}

// Part implements [team.Task].
func (m *moveTask[T]) Part(k, of int) {
	size := len(m.v)
	v, room := m.v[size*k/of:size*(k+1)/of], m.room[size*k/of:]
	for from, to := range m.x.Kernels().Pieces(len(v)) {
		copy(room[from:to], v[from:to])
	}
}

// lengthen adds n undefined elements to v. Where v has to move, its capacity doubles;
// append would take smaller steps.
func lengthen[T float64 | int32](x *sparse.View, v []T, n int) []T {
	if need := len(v) + n; need > cap(v) {
		v = moveTo(x, kernels.Undefined[T](max(need, 2*cap(v))), v)
	}
	return v[:len(v)+n]
}

// reserveSlots makes room for slots of the listed columns that have none.
func (c *Columns) reserveSlots(columns []int32) {
	missing := 0
	for _, j := range columns {
		if c.slot[j] < 0 {
			missing++
		}
	}
	c.held, c.slotAge, c.size = slices.Grow(c.held, missing), slices.Grow(c.slotAge, missing), slices.Grow(c.size, missing)
	c.mean, c.square, c.start = slices.Grow(c.mean, missing), slices.Grow(c.square, missing), slices.Grow(c.start, missing)
}

// packCost returns the cost of putting that many values into the store.
func (c *Columns) packCost(values int) float64 {
	if c.dense {
		return float64(farValue * float64(values))
	}
	return float64(packValue * float64(values))
}

// fill computes the values of a slot under the current weights, their mean and
// squared norm.
func (c *Columns) fill(slot int) {
	j, k := int(c.held[slot]), c.view.Kernels()
	from, to := c.start[slot], c.start[slot+1]
	packed := c.values[from:to]
	_, values := c.view.Matrix().Column(j)
	shift := 0.0 // still to be subtracted from the values
	if !c.curved {
		norm := c.view.Norm(j)
		c.mean[slot], c.square[slot] = c.view.Mean(j), norm*norm
		if c.dense {
			shift = c.mean[slot]
		}
	}
	switch {
	case c.keepsRaw():
		values = c.rawValues[from:to]
	case c.picksRows():
		values = packed
	case len(values) != len(packed):
		now := 0.0
		if !c.view.Scaled() {
			now, shift = shift, 0
		}
		c.compact(values, now, packed)
		values = packed
	}
	if c.view.Scaled() {
		scale := c.view.Scale(j)
		for from, to := range k.Pieces(len(values)) {
			for i, x := range values[from:to] {
				packed[from+i] = scale * x
			}
		}
		values = packed
	}
	var index []int32
	if !c.dense {
		index = c.index[from:to]
	}
	switch {
	case c.curved && c.dense:
		c.mean[slot], c.square[slot] = c.scaleDense(values, packed)
	case c.curved:
		c.mean[slot], c.square[slot] = c.scaleSparse(index, values, packed)
	default:
		c.copyValues(values, packed)
		if shift != 0 {
			k.Subtract(shift, packed)
		}
		c.scaleByRoots(index, packed)
	}
}

// copyValues copies the values of a column to packed, unless they are there already.
func (c *Columns) copyValues(values, packed []float64) {
	if len(packed) > 0 && &packed[0] != &values[0] {
		c.view.Kernels().Copy(packed, values)
	}
}

// scaleByRoots multiplies the values of a column by the roots of the weights of their rows: the rows of the index, or
// all rows where it is nil.
func (c *Columns) scaleByRoots(index []int32, packed []float64) {
	k := c.view.Kernels()
	switch {
	case c.root == nil:
	case index == nil:
		k.Product(packed, c.root, packed)
	default:
		for from, to := range k.Pieces(len(packed)) {
			packed := packed[from:to]
			for i, row := range index[from:to] {
				packed[i] *= c.root[row]
			}
		}
	}
}

// compact sets out, by compact row, to v − less in the rows of the sample.
func (c *Columns) compact(v []float64, less float64, out []float64) {
	for from, to := range c.view.Kernels().Pieces(len(out)) {
		out := out[from:to]
		for k, i := range c.sourceRow[from:][:len(out)] {
			out[k] = v[i] - less
		}
	}
}

// hasMeans reports whether columns have a mean to subtract. Where all weights are 0 they have none, and all of X̂ is 0.
func (c *Columns) hasMeans() bool { return c.view.Centred() && c.total > 0 }

// scaleSparse sets out[i] = √w·values[i] and returns x̄ and ‖X̃‖² under the
// weights.
func (c *Columns) scaleSparse(index []int32, values, out []float64) (mean, square float64) {
	sum, square := c.view.Kernels().ScaleIndexed(values, index, c.root, out)
	if !c.hasMeans() {
		return 0, square
	}
	mean = sum / c.total
	if centre := float64(float64(c.total*mean) * mean); centre <= square/2 {
		return mean, square - centre
	}
	// square − centre would suffer from cancellation.
	var seen float64
	square = 0
	pace := c.view.Kernels().Pace()
	for i, row := range index {
		pace.Did(1)
		r := c.root[row]
		d := math.FMA(-mean, r, out[i])
		seen, square = math.FMA(r, r, seen), math.FMA(d, d, square)
	}
	return mean, math.FMA(max(0, c.total-seen)*mean, mean, square)
}

// scaleDense sets out[i] = √w·(values[i] − x̄) and returns x̄ and ‖X̃‖² under the
// weights.
func (c *Columns) scaleDense(values, out []float64) (mean, square float64) {
	k := c.view.Kernels()
	if c.hasMeans() {
		mean = k.Dot(c.weight, values) / c.total
	}
	c.copyValues(values, out)
	if mean != 0 {
		k.Subtract(mean, out)
	}
	k.Product(out, c.root, out)
	return mean, k.Dot(out, out)
}
