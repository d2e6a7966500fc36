package support

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/sparse"
)

// Columns holds compact copies X̂_j of working columns of a view: rows of
// positive weight only, numbered without gaps, scaled by √w. The weights w are
// the view's own, or the curvature of a loss, which [Columns.Reweigh] sets.
// Write D = Σw, x̄ for the w-weighted means where the view is centred, and
// X̃ = X − 1x̄ᵀ.
//
// Dense columns are centred in the copy. Sparse ones are not; there the centring
// travels in one scalar: a residual is r̂ + offset·√w, and X̃_jᵀ of it is
// X̂_jᵀr̂ + offset·D·x̄_j.
//
// Where there are no weights and nothing is to be centred in the copy, X's own
// storage serves, and nothing is copied. Elsewhere a column is copied once and
// kept while the store stays within its budget, so that later working sets and
// later penalties find it there. Not safe for concurrent use.
type Columns struct {
	view   *sparse.View
	dense  bool
	direct bool      // X's own storage serves
	curved bool      // the weights are not the view's
	number []int32   // row → its compact number, -1 where its weight is 0; nil: identity
	rows   []int32   // compact number → row; nil: identity
	root   []float64 // √w by compact row; nil: all 1
	m      int       // compact rows
	total  float64   // D
	budget int       // values kept before the store starts afresh

	slot   []int32   // column → slot, -1: not held
	held   []int32   // slot → column
	start  []int64   // slot → first value; one more than slots
	mean   []float64 // slot → x̄_j
	square []float64 // slot → ‖X̃_j‖²
	index  []int32   // compact row of each value (sparse)
	values []float64
}

// leastBudget is the number of values that are kept whatever the size of X.
const leastBudget = 1 << 20

// NewColumns returns an empty store for a view, which holds up to half the
// entries of X before it starts afresh.
func NewColumns(view *sparse.View) *Columns {
	n, p := view.Dims()
	c := &Columns{view: view, m: n, total: view.Total()}
	if weights := view.Weights(); weights != nil {
		c.number = make([]int32, n)
		for i, s := range weights {
			c.number[i] = -1
			if s > 0 {
				c.number[i] = int32(len(c.rows))
				c.rows = append(c.rows, int32(i))
				c.root = append(c.root, math.Sqrt(s))
			}
		}
		c.m = len(c.rows)
	}
	_, c.dense = view.Matrix().(*sparse.Dense)
	c.budget = max(leastBudget, int(view.Matrix().NNZ()/2))
	c.direct = c.number == nil && (!c.dense || !view.Centred())
	if c.direct {
		c.index, c.values = view.Matrix().Arrays()
		return c
	}
	c.allocate(p)
	return c
}

func (c *Columns) allocate(p int) {
	c.slot = make([]int32, p)
	for j := range c.slot {
		c.slot[j] = -1
	}
	c.start = append(c.start, 0)
}

// Reweigh makes d, one entry per row of X, the weights; the store is empty
// afterwards. Rows of weight 0 in the view stay out.
func (c *Columns) Reweigh(d []float64) {
	if c.direct {
		_, p := c.view.Dims()
		c.direct, c.index, c.values = false, nil, nil
		c.allocate(p)
	}
	c.curved = true
	if c.root == nil {
		c.root = make([]float64, c.m)
	}
	c.total = 0
	for k := range c.root {
		w := d[c.row(k)]
		c.root[k] = math.Sqrt(w)
		c.total += w
	}
	c.clear()
}

// row returns the row of X that compact row k stands for.
func (c *Columns) row(k int) int {
	if c.rows == nil {
		return k
	}
	return int(c.rows[k])
}

// Clear empties the store.
func (c *Columns) Clear() {
	if !c.direct {
		c.clear()
	}
}

func (c *Columns) clear() {
	for _, j := range c.held {
		c.slot[j] = -1
	}
	c.held, c.start = c.held[:0], c.start[:1]
	c.mean, c.square = c.mean[:0], c.square[:0]
	c.index, c.values = c.index[:0], c.values[:0]
}

// Hold makes sure that every column of the list is in the store. It reports
// whether the store had to start afresh, so that slots have changed.
func (c *Columns) Hold(columns []int32) (afresh bool) {
	if c.direct {
		return false
	}
	if len(c.values) > c.budget {
		c.clear()
		afresh = true
	}
	size := 0
	for _, j := range columns {
		if c.slot[j] < 0 {
			from, to := c.view.Matrix().Span(int(j))
			size += int(to - from)
		}
	}
	c.values = slices.Grow(c.values, size)
	if !c.dense {
		c.index = slices.Grow(c.index, size)
	}
	for _, j := range columns {
		if c.slot[j] < 0 {
			c.add(int(j))
		}
	}
	return afresh
}

func (c *Columns) add(j int) {
	rows, values := c.view.Matrix().Column(j)
	from := len(c.values)
	switch {
	case c.dense && c.rows == nil:
		c.values = append(c.values, values...)
	case c.dense:
		for _, i := range c.rows {
			c.values = append(c.values, values[i])
		}
	case c.number == nil:
		c.index = append(c.index, rows...)
		c.values = append(c.values, values...)
	default:
		for i, x := range values {
			if k := c.number[rows[i]]; k >= 0 {
				c.index = append(c.index, k)
				c.values = append(c.values, x)
			}
		}
	}
	packed := c.values[from:]
	var index []int32
	if !c.dense {
		index = c.index[from:]
	}
	mean, square := c.moments(j, index, packed)
	for i := range packed {
		if c.dense {
			packed[i] -= mean
		}
		if c.root != nil {
			k := i
			if index != nil {
				k = int(index[i])
			}
			packed[i] *= c.root[k]
		}
	}
	c.slot[j] = int32(len(c.held))
	c.held = append(c.held, int32(j))
	c.start = append(c.start, int64(len(c.values)))
	c.mean, c.square = append(c.mean, mean), append(c.square, square)
}

// moments returns x̄_j and ‖X̃_j‖², given the entries before they are scaled.
func (c *Columns) moments(j int, index []int32, values []float64) (mean, square float64) {
	if !c.curved {
		norm := c.view.Norm(j)
		return c.view.Mean(j), norm * norm
	}
	weight := func(i int) float64 {
		if index != nil {
			i = int(index[i])
		}
		return c.root[i] * c.root[i]
	}
	if c.view.Centred() {
		var sum float64
		for i, x := range values {
			sum = math.FMA(weight(i), x, sum)
		}
		mean = sum / c.total
	}
	var seen float64
	for i, x := range values {
		w, d := weight(i), x-mean
		square = math.FMA(w*d, d, square)
		seen += float64(w) // which is a product
	}
	if !c.dense && mean != 0 {
		square = math.FMA(max(0, c.total-seen)*mean, mean, square)
	}
	return mean, square
}

// Rows returns the number of compact rows.
func (c *Columns) Rows() int { return c.m }

// Total returns D, the sum of the weights.
func (c *Columns) Total() float64 { return c.total }

// Dense reports whether columns are stored dense, and centred.
func (c *Columns) Dense() bool { return c.dense }

// Entries returns where column j lies in [Columns.Storage]. It must be held.
func (c *Columns) Entries(j int32) (from, to int64) {
	if c.direct {
		return c.view.Matrix().Span(int(j))
	}
	k := c.slot[j]
	return c.start[k], c.start[k+1]
}

// Length returns the number of values of a held column.
func (c *Columns) Length(j int32) int {
	from, to := c.Entries(j)
	return int(to - from)
}

// Storage returns the values of all held columns, and the compact row of each
// where they are sparse. Read only; valid until the next Hold.
func (c *Columns) Storage() (rows []int32, values []float64) { return c.index, c.values }

// Column returns a held column; rows is nil for a dense one.
func (c *Columns) Column(j int32) (rows []int32, values []float64) {
	from, to := c.Entries(j)
	if c.dense {
		return nil, c.values[from:to]
	}
	return c.index[from:to], c.values[from:to]
}

// Mean returns the mean that has to be carried for held column j: x̄_j where its
// copy is not centred.
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
	if !c.curved {
		return c.view.Mean(int(j))
	}
	return c.mean[c.slot[j]]
}

// Square returns ‖X̃_j‖² of held column j.
func (c *Columns) Square(j int32) float64 {
	if c.direct {
		norm := c.view.Norm(int(j))
		return norm * norm
	}
	return c.square[c.slot[j]]
}

// Unweighted returns the held columns of the list as they are, centred where the
// view is, row by row.
func (c *Columns) Unweighted(list []int32) []float64 {
	size := len(list)
	out := make([]float64, c.m*size)
	for k, j := range list {
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
			if c.root != nil {
				x /= c.root[i]
			}
			out[i*size+k] += x
		}
	}
	return out
}

// Compact sets out = v/√w in compact rows: the working residual of a weighted
// residual v = w⊙r.
func (c *Columns) Compact(v, out []float64) {
	for k := range out {
		out[k] = v[c.row(k)]
	}
	if c.root != nil {
		for k, root := range c.root {
			out[k] /= root
		}
	}
}
