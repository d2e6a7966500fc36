package support

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/sparse"
)

// Columns holds compact copies X̂_j of working columns of a view: rows of
// positive weight only, numbered without gaps, scaled by √s. Dense columns are
// centred in the copy. Sparse ones are not; there the centring travels in one
// scalar: a residual is r̂ + offset·√s, and X̃_jᵀ of it is
// X̂_jᵀr̂ + offset·N·x̄_j.
//
// Where the view has no weights and nothing is to be centred in the copy, X's own
// storage serves, and nothing is copied. Elsewhere a column is copied once and kept while the store stays within its budget, so
// that later working sets and later penalties find it there. Not safe for
// concurrent use.
type Columns struct {
	view   *sparse.View
	dense  bool
	direct bool      // X's own storage serves
	number []int32   // row → its compact number, -1 where its weight is 0; nil: identity
	rows   []int32   // compact number → row; nil: identity
	root   []float64 // √s by compact row; nil: all 1
	m      int       // compact rows
	budget int       // values kept before the store starts afresh

	slot   []int32 // column → slot, -1: not held
	start  []int64 // slot → first value; one more than slots
	index  []int32 // compact row of each value (sparse)
	values []float64
}

// leastBudget is the number of values that are kept whatever the size of X.
const leastBudget = 1 << 20

// NewColumns returns an empty store for a view, which holds up to half the
// entries of X before it starts afresh.
func NewColumns(view *sparse.View) *Columns {
	n, p := view.Dims()
	c := &Columns{view: view, m: n}
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
	if c.number == nil && !(c.dense && view.Centred()) {
		c.direct = true
		c.index, c.values = view.Matrix().Arrays()
		return c
	}
	c.budget = max(leastBudget, int(view.Matrix().NNZ()/2))
	c.slot = make([]int32, p)
	c.clear()
	return c
}

func (c *Columns) clear() {
	for j := range c.slot {
		c.slot[j] = -1
	}
	c.start = append(c.start[:0], 0)
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
	mean := c.view.Mean(j)
	switch {
	case c.dense && c.number == nil:
		for _, x := range values {
			c.values = append(c.values, x-mean)
		}
	case c.dense:
		for k, i := range c.rows {
			c.values = append(c.values, c.root[k]*(values[i]-mean))
		}
	case c.number == nil:
		c.index = append(c.index, rows...)
		c.values = append(c.values, values...)
	default:
		for i, x := range values {
			if k := c.number[rows[i]]; k >= 0 {
				c.index = append(c.index, k)
				c.values = append(c.values, c.root[k]*x)
			}
		}
	}
	c.slot[j] = int32(len(c.start) - 1)
	c.start = append(c.start, int64(len(c.values)))
}

// Rows returns the number of compact rows.
func (c *Columns) Rows() int { return c.m }

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

// Mean returns the mean that has to be carried for column j: x̄_j where its copy
// is not centred.
func (c *Columns) Mean(j int32) float64 {
	if c.dense {
		return 0
	}
	return c.view.Mean(int(j))
}

// Compact sets out = √s⊙r in compact rows.
func (c *Columns) Compact(r, out []float64) {
	if c.rows == nil {
		copy(out, r)
		return
	}
	for k, i := range c.rows {
		out[k] = c.root[k] * r[i]
	}
}
