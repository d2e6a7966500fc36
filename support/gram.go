package support

import (
	"github.com/seed-45b9a24c/pare/kernels"
)

// Gram caches the matrix G = X̃ᵀdiag(s)X̃ of the columns it has been asked to
// hold. It is extended column by column and never rebuilt. Solvers use it for steps
// only; certificates are computed from X. Not safe for concurrent use.
type Gram struct {
	columns *Columns
	k       *kernels.Set
	total   float64 // N

	slot   []int32 // column → 1 + its row of G; 0: not held
	list   []int32 // row of G → column
	values int     // number of values of the columns held
	stride int
	g      []float64 // stride × stride

	limit int // columns that may be held

	lanes  lanes    // of sparse columns
	lists  rowLists // likewise
	counts counts   // of sparse columns with equal values
	tiles  tiles    // of dense columns
	tall   tall     // of dense columns of many rows, under the curvature of a loss
}

// NewGram returns an empty cache over a store of columns. A store has one at most,
// which is emptied with it.
func NewGram(columns *Columns) *Gram {
	g := &Gram{columns: columns, k: columns.view.Kernels(), total: columns.view.Total(), limit: LargestGram}
	_, p := columns.view.Dims()
	g.slot = make([]int32, p)
	columns.gram = g
	return g
}

// Columns returns the store.
func (g *Gram) Columns() *Columns { return g.columns }

// Limit sets the number of columns that may be held, which saves memory where it is
// less than [LargestGram]; 0 means LargestGram.
func (g *Gram) Limit(most int) {
	if g.limit = most; most <= 0 {
		g.limit = LargestGram
	}
}

// Fits reports whether that many more columns are within the limit.
func (g *Gram) Fits(missing int) bool { return len(g.list)+missing <= g.limit }

// FitsWith reports whether the columns listed can be held in addition to the present ones.
func (g *Gram) FitsWith(columns []int32) bool {
	missing := 0
	for _, j := range columns {
		if g.slot[j] == 0 {
			missing++
		}
	}
	return g.Fits(missing)
}

// Size returns the number of columns held.
func (g *Gram) Size() int { return len(g.list) }

// Batch is the size of a set of columns, and of those among them that are counted, see [counts].
type Batch struct{ all, counted batchSize }

// Columns returns the number of columns.
func (b Batch) Columns() int { return b.all.columns }

// batchSize is a number of columns and the number of values they have together.
type batchSize struct{ columns, values int }

func (s batchSize) plus(t batchSize) batchSize {
	return batchSize{s.columns + t.columns, s.values + t.values}
}

func (s batchSize) minus(t batchSize) batchSize {
	return batchSize{s.columns - t.columns, s.values - t.values}
}

// Missing returns the size of the set of those columns listed that are not held.
func (g *Gram) Missing(columns []int32) (b Batch) {
	for _, j := range columns {
		if g.slot[j] == 0 {
			one := batchSize{1, g.columns.Length(j)}
			b.all = b.all.plus(one)
			if g.counted(j) {
				b.counted = b.counted.plus(one)
			}
		}
	}
	return b
}

// heldBatch returns the size of the set of columns held.
func (g *Gram) heldBatch() Batch {
	return Batch{batchSize{len(g.list), g.values}, batchSize{len(g.counts.rows), g.counts.values}}
}

func (g *Gram) clear() {
	for _, j := range g.list {
		g.slot[j] = 0
	}
	g.list, g.values = g.list[:0], 0
	g.lists.forget()
	g.counts.forget()
	g.lanes.ends = g.lanes.ends[:0]
}

// Slot returns the row of G that belongs to a held column.
func (g *Gram) Slot(j int32) int { return int(g.slot[j]) - 1 }

// Row returns row k of G, one entry per held column. Read only; valid until the
// next Hold.
func (g *Gram) Row(k int) []float64 { return g.g[k*g.stride:][:len(g.list)] }

// Raise sets ‖X̃_j‖² of a held column to v.
func (g *Gram) Raise(j int32, v float64) { g.set(g.Slot(j), g.Slot(j), v) }

// Storage returns G itself: row k begins at k·stride. Read only; valid until the
// next Hold.
func (g *Gram) Storage() (values []float64, stride int) { return g.g, g.stride }

// Hold computes the rows of G that are missing for the columns of the list. The store must hold
// these, unless it is [Columns.Tall] and its weights are the curvature of a loss.
func (g *Gram) Hold(columns []int32) {
	first := len(g.list)
	fresh := g.Missing(columns)
	if fresh.Columns() == 0 {
		return
	}
	cost := g.BuildCost(fresh)
	g.columns.work += cost
	lists, saved := g.listsPay(fresh)
	g.values += fresh.all.values
	for _, j := range columns {
		if g.slot[j] == 0 {
			g.list = append(g.list, j)
			g.slot[j] = int32(len(g.list))
		}
	}
	if len(g.list)+kernels.Lanes > g.stride {
		g.grow(first)
	}
	switch {
	case g.columns.curved && g.columns.Tall():
		g.columns.view.Team().Note(cost)
		g.tallRows(first)
		return
	case g.columns.dense:
		g.denseRows(first)
		return
	}
	g.listCounted(first)
	if lists {
		g.listRows(first, cost)
		return
	}
	g.countRows()
	g.laneRows(first)
	g.lists.missedSavings += saved
}

// set writes an entry and its mirror image.
func (g *Gram) set(a, b int, v float64) {
	g.g[a*g.stride+b] = v
	g.g[b*g.stride+a] = v
}

// leastStride is the stride of a small matrix, in cache lines.
const leastStride = 17

// grow makes room for the whole list, for tiles that reach beyond it, and for three eighths as many
// columns to come. It keeps the first rows. Rows lie an odd number of cache lines apart, so that the
// entries of a column of G are spread over all of a cache.
func (g *Gram) grow(first int) {
	need := len(g.list) + kernels.Lanes
	_, p := g.columns.view.Dims()
	least := min(leastStride, (p+2*kernels.Lanes)/kernels.Lanes|1) // all columns, and what tiles reach beyond them
	stride := max(least, (need+3*need/8)/kernels.Lanes|1) * kernels.Lanes
	wide, pace := g.columns.undefined(stride*stride), g.k.Pace()
	for k := range first {
		pace.Did(first)
		copy(wide[k*stride:], g.g[k*g.stride:][:first])
	}
	g.columns.view.Arena().Free(g.g)
	g.g, g.stride = wide, stride
}

// Submatrix sets out, s × s row by row, to G_SS/N + ridge·I for held columns S.
func (g *Gram) Submatrix(columns []int32, ridge float64, out []float64) {
	s, pace := len(columns), g.k.Pace()
	g.columns.work += float64(GatherValue * float64(s*s))
	for a, j := range columns {
		row, to := g.Row(g.Slot(j)), out[a*s:][:a+1]
		pace.Did(a)
		for b, j := range columns[:a+1] {
			v := row[g.Slot(j)] / g.total
			to[b], out[b*s+a] = v, v
		}
		to[a] += ridge
	}
}
