package support

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Columns holds compact copies X̂_j of working columns of a view: rows of
// positive weight only, numbered without gaps, scaled by √w. The weights w are
// the view's own, or the curvature of a loss, which [Columns.Reweigh] sets.
// Write D = Σw, x̄ for the w-weighted means where the view is centred, and
// X̃ = X − 1x̄ᵀ.
//
// Dense columns are centred in the copy. Sparse columns are not; for them one scalar
// carries the centring: a residual is r̂ + offset·√w, and its product with X̃_j is
// X̂_jᵀr̂ + offset·D·x̄_j.
//
// Where there are no weights, and nothing is to be centred or scaled in the copy, the
// store uses X's own storage and copies nothing. Otherwise a column is copied once and
// kept while the store stays within its budget, for later working sets and later
// penalties. Not safe for concurrent use.
type Columns struct {
	view         *sparse.View
	dense        bool
	direct       bool         // the store uses X's own storage
	curved       bool         // the weights are the curvature of a loss, not the view's
	drawn        bool         // the rows are those of a subsample
	rowSelection              // the rows in use
	allRows      rowSelection // the rows of positive weight in the view
	subset       rowSelection // the rows of the last [Columns.Subsample]
	root         []float64    // √w by compact row; nil: all 1
	weight       []float64    // w by compact row, where a loss sets them
	givenWeights []float64    // the same weights as the caller passed them: by row of X, or by row of the subsample
	total        float64      // D
	budget       int          // values that may be held in any case before the store is emptied
	bytes        int64        // see [Columns.Bound]
	work         float64      // see [Columns.Work]

	weightAge int     // of the weights: how many times they have been set
	slot      []int32 // column → slot, -1: not held
	held      []int32 // slot → column
	slotAge   []int   // slot → age of the weights in its values
	start     []int64 // slot → first value; one more than slots
	size      []int32 // slot → number of values, held or not
	unheld    int     // slots whose values are not held
	buffer    columnBuffer
	mean      []float64 // slot → x̄_j
	square    []float64 // slot → ‖X̃_j‖²
	index     []int32   // compact row of each value (sparse)
	values    []float64
	rawValues []float64 // the values as X has them, where weights change and the view leaves rows out

	scratch  [2][]float64 // by compact row: shared by systems, only one of which computes a product at a time
	followed []float64    // by compact row: X̃_S·x, see [System.SolveFollowing]

	bands     bands // of the columns of systems
	longBands bands // of the columns eliminated from systems
	gram      *Gram // the Gram matrix over the store, emptied with it; nil: none

	fillTask fillTask
}

// rowSelection says which rows of X a store uses.
type rowSelection struct {
	compactRow []int32 // row → its compact number, -1 where it is left out; nil: identity
	sourceRow  []int32 // compact number → row; nil: identity
	m          int     // compact rows
}

// leastBudget is the least budget, whatever the size of X.
const leastBudget = 1 << 20

// NewColumns returns an empty store for a view. [Columns.Hold] empties it before it
// exceeds both half the entries of X and twice those of the columns asked for.
func NewColumns(view *sparse.View) *Columns {
	n, p := view.Dims()
	c := &Columns{view: view, rowSelection: rowSelection{m: n}, total: view.Total()}
	if weights := view.Weights(); weights != nil {
		c.selectRows(weights)
	}
	c.allRows = c.rowSelection
	_, c.dense = view.Matrix().(*sparse.Dense)
	c.budget = max(leastBudget, int(view.Matrix().NNZ()/2))
	c.direct = c.compactRow == nil && (!c.dense || !view.Centred()) && !view.Scaled()
	if c.direct {
		c.index, c.values = view.Matrix().Arrays()
		return c
	}
	c.allocate(p)
	return c
}

// selectRows leaves out the rows of weight 0, and keeps the roots of the weights where these are not all 1.
func (c *Columns) selectRows(weights []float64) {
	n, view := len(weights), c.view
	c.compactRow, c.sourceRow = view.Arena().Ints(view.Kernels(), n), view.Arena().Ints(view.Kernels(), n)[:0]
	own := false // some weight is not 0 or 1
	for from, to := range view.Kernels().Pieces(n) {
		for i := from; i < to; i++ {
			c.compactRow[i] = -1
			if s := weights[i]; s > 0 {
				c.compactRow[i] = int32(len(c.sourceRow))
				c.sourceRow = append(c.sourceRow, int32(i))
				own = own || s != 1
			}
		}
	}
	c.m = len(c.sourceRow)
	if own {
		c.root = view.Floats(c.m)
		for from, to := range view.Kernels().Pieces(c.m) {
			for k, i := range c.sourceRow[from:to] {
				c.root[from+k] = math.Sqrt(weights[i])
			}
		}
	}
}

func (c *Columns) allocate(p int) {
	c.slot = make([]int32, p)
	for j := range c.slot {
		c.slot[j] = -1
	}
	c.start = append(c.start, 0)
}

// Reweigh makes d, one entry per row of X, the weights; no column is held
// afterwards. Rows of weight 0 in the view stay out and must have 0 in d, which is kept, not copied.
//
// Columns keep their slots, so that a column asked for again needs new values only.
func (c *Columns) Reweigh(d []float64) {
	if c.drawn {
		c.Clear()
		c.rowSelection, c.drawn = c.allRows, false
	}
	c.setWeights(d, c.sourceRow)
}

// Subsample limits the store to the rows listed, ascending, with the weights d, one entry for each of
// them, until the next call of Subsample or [Columns.Reweigh]. No column is held afterwards, and
// columns do not keep their slots. The rows are copied; d is kept.
func (c *Columns) Subsample(rows []int32, d []float64) {
	c.Clear()
	s, pace := &c.subset, c.view.Kernels().Pace()
	if s.compactRow == nil {
		n, _ := c.view.Dims()
		s.compactRow = kernels.Undefined[int32](n)
		for i := range s.compactRow {
			pace.Did(1)
			s.compactRow[i] = -1
		}
	}
	for _, i := range s.sourceRow {
		pace.Did(1)
		s.compactRow[i] = -1
	}
	s.sourceRow, s.m = append(s.sourceRow[:0], rows...), len(rows)
	for k, i := range rows {
		pace.Did(1)
		s.compactRow[i] = int32(k)
	}
	c.rowSelection, c.drawn = c.subset, true
	c.setWeights(d, nil)
}

// Drawn reports whether the rows are those of a subsample.
func (c *Columns) Drawn() bool { return c.drawn }

// setWeights makes d the weights of the rows in use. It has one entry per compact row where sample is nil; else one
// per row of X, and sample lists the rows in use.
func (c *Columns) setWeights(d []float64, sample []int32) {
	if c.direct {
		_, p := c.view.Dims()
		c.direct, c.index, c.values = false, nil, nil
		c.allocate(p)
	}
	if !c.curved {
		c.Clear()
		c.curved = true
	}
	c.root, c.weight = resize(c.root, c.m), resize(c.weight, c.m)
	c.givenWeights, c.total = d, 0
	pace := c.view.Kernels().Pace()
	for k := range c.root {
		pace.Did(1)
		i := k
		if sample != nil {
			i = int(sample[k])
		}
		w := d[i]
		c.root[k], c.weight[k] = math.Sqrt(w), w
		c.total += w
	}
	c.weightAge++
	c.forget()
}

// row returns the row of X that compact row k stands for.
func (c *Columns) row(k int) int {
	if c.sourceRow == nil {
		return k
	}
	return int(c.sourceRow[k])
}

// firstRow returns the first row of X that is compact row k or a later one.
func (c *Columns) firstRow(k int) int {
	if k >= c.m {
		n, _ := c.view.Dims()
		return n
	}
	return c.row(k)
}

// forget empties the bands and the Gram matrix, which were computed from the values.
func (c *Columns) forget() {
	c.bands.forget()
	c.longBands.forget()
	if c.gram != nil {
		c.gram.clear()
	}
}

// Clear empties the store, and the Gram matrix over it.
func (c *Columns) Clear() {
	c.forget()
	if c.direct {
		return
	}
	for _, j := range c.held {
		c.slot[j] = -1
	}
	c.held, c.slotAge, c.start = c.held[:0], c.slotAge[:0], c.start[:1]
	c.size, c.unheld = c.size[:0], 0
	c.mean, c.square = c.mean[:0], c.square[:0]
	c.index, c.values, c.rawValues = c.index[:0], c.values[:0], c.rawValues[:0]
}

// Hold makes sure that every column of the list is in the store, which it empties first
// where the budget would be exceeded. Under [Columns.Bound], columns for which there is
// no room get a slot, but no values.
func (c *Columns) Hold(columns []int32) {
	if c.direct {
		return
	}
	wanted, missing := 0, 0
	for _, j := range columns {
		if k := c.slot[j]; k >= 0 {
			wanted += int(c.size[k])
		} else {
			from, to := c.view.Matrix().Span(int(j))
			missing += int(to - from)
		}
	}
	wanted += missing
	if c.bytes == 0 && len(c.values)+missing > max(c.budget, 2*wanted) {
		c.Clear()
	}
	all := c.capacity()
	c.reserve(min(c.valuesExpected(missing), all-len(c.values)), all)
	c.reserveSlots(columns)
	before, pace := c.work, c.view.Kernels().Pace()
	c.fillTask.c, c.fillTask.slots = c, c.fillTask.slots[:0]
	for _, j := range columns {
		k := c.slot[j]
		if k < 0 {
			k = c.add(j, all)
		}
		if c.slotAge[k] != c.weightAge {
			c.slotAge[k] = c.weightAge
			if c.isHeld(k) {
				c.fillTask.slots = append(c.fillTask.slots, k)
			} else {
				c.measure(k)
			}
			c.work += c.packCost(int(c.size[k]))
			pace.Did(int(c.size[k]))
		}
	}
	team := c.view.Team()
	team.Do(team.Parts(c.work-before), &c.fillTask)
}

// Rows returns the number of compact rows, including those that [Columns.Subsample] has left out.
func (c *Columns) Rows() int { return c.allRows.m }

// Total returns D, the sum of the weights.
func (c *Columns) Total() float64 { return c.total }

// Dense reports whether columns are stored dense, and centred.
func (c *Columns) Dense() bool { return c.dense }

// Entries returns where column j lies in [Columns.Storage]. [Columns.Hold] must have been called
// for it; from equals to where its values are not held.
func (c *Columns) Entries(j int32) (from, to int64) {
	if c.direct {
		return c.view.Matrix().Span(int(j))
	}
	k := c.slot[j]
	return c.start[k], c.start[k+1]
}

// Length returns the number of values of a column; an upper bound where Hold has not been called for it.
func (c *Columns) Length(j int32) int {
	if c.direct || c.slot[j] < 0 {
		if c.dense {
			return c.m
		}
		from, to := c.view.Matrix().Span(int(j))
		return int(to - from)
	}
	return int(c.size[c.slot[j]])
}

// Storage returns the values of all held columns, and the compact row of each
// where they are sparse. Read only; valid until the next Hold.
func (c *Columns) Storage() (rows []int32, values []float64) { return c.index, c.values }

// Column returns a held column; rows is nil for a dense one. Where the store is [Columns.Partial],
// the result is valid until the next call only.
func (c *Columns) Column(j int32) (rows []int32, values []float64) {
	if !c.Held(j) {
		from, to := c.view.Matrix().Span(int(j))
		return c.unheldValues(c.slot[j], 0, int(to-from), &c.buffer)
	}
	from, to := c.Entries(j)
	if c.dense {
		return nil, c.values[from:to]
	}
	return c.index[from:to], c.values[from:to]
}

// Mean returns the mean by which held column j is still to be centred: x̄_j where its
// copy is not centred, else 0.
func (c *Columns) Mean(j int32) float64 {
	switch {
	case c.dense:
		return 0
	case c.direct:
		return c.view.Mean(int(j))
	default:
		return c.mean[c.slot[j]]
	}
}

// Centre returns x̄_j of held column j, the w-weighted mean where the view is
// centred, else 0.
func (c *Columns) Centre(j int32) float64 {
	switch {
	case !c.curved:
		return c.view.Mean(int(j))
	case c.gramFromX(j):
		return c.gram.tall.centre[c.gram.Slot(j)] * c.view.Scale(int(j))
	default:
		return c.mean[c.slot[j]]
	}
}

// Square returns ‖X̃_j‖² of held column j.
func (c *Columns) Square(j int32) float64 {
	switch {
	case c.direct:
		norm := c.view.Norm(int(j))
		return norm * norm
	case c.gramFromX(j):
		k := c.gram.Slot(j)
		return c.gram.Row(k)[k]
	default:
		return c.square[c.slot[j]]
	}
}

// Unweighted returns the held columns of the list without the factor √w, centred where
// the view is, row by row; 0 in rows of weight 0.
func (c *Columns) Unweighted(list []int32) []float64 {
	size := len(list)
	out, pace := make([]float64, c.m*size), c.view.Kernels().Pace()
	for k, j := range list {
		pace.Did(c.m)
		rows, values := c.Column(j)
		if rows != nil {
			mean := c.Mean(j)
			for i := range c.m {
				out[i*size+k] = -mean
			}
		}
		for at, x := range values {
			i := at
			if rows != nil {
				i = int(rows[at])
			}
			switch {
			case c.root == nil:
			case c.root[i] == 0:
				out[i*size+k] = 0
				continue
			default:
				x /= c.root[i]
			}
			out[i*size+k] += x
		}
	}
	return out
}

// Compact returns v/√w in compact rows, the working residual of a weighted residual
// v = w⊙r. It is v itself where rows are neither left out nor weighted, else [Columns.Own].
func (c *Columns) Compact(v []float64, room *[]float64) []float64 {
	if c.sourceRow == nil && c.root == nil {
		return v
	}
	return c.Own(v, room)
}

// Own returns v/√w in compact rows, in room, which it allocates the first time.
func (c *Columns) Own(v []float64, room *[]float64) []float64 {
	if *room == nil {
		*room = c.view.Floats(c.allRows.m)
	}
	out := *room
	if c.sourceRow == nil {
		c.view.Kernels().Copy(out, v)
	} else {
		c.compact(v, 0, out[:len(c.sourceRow)])
	}
	if c.root != nil {
		for from, to := range c.view.Kernels().Pieces(len(c.root)) {
			out := out[from:to]
			for k, root := range c.root[from:to] {
				out[k] /= root
			}
		}
	}
	return out
}

// Regain adds X̃δ to u, one entry per row of X: the change in the predictions where coefficients have
// changed by δ. It takes that from the working residual, which was v/√w for the weighted residual v and has
// become r + offset·√w: X̃δ = (v/√w − r)/√w − offset. X̃ is centred by the weights w that
// [Columns.Reweigh] has set. Rows left out stay as they are. Where some |v| > steepest·w, rounding would
// show: then Regain changes nothing and returns false.
func (c *Columns) Regain(v, r []float64, offset, steepest float64, u []float64) bool {
	pace := c.view.Kernels().Pace()
	for k, root := range c.root {
		pace.Did(1)
		if math.Abs(v[c.row(k)]) > float64(float64(steepest*root)*root) {
			return false
		}
	}
	for k, root := range c.root {
		pace.Did(1)
		i := c.row(k)
		u[i] += (v[i]/root-r[k])/root - offset
	}
	return true
}
