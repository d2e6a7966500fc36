package support

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// Gram caches the matrix G = X̃ᵀdiag(s)X̃ of the columns it has been asked to
// hold, extended column by column and never rebuilt. It proposes steps;
// certificates come from X. Not safe for concurrent use.
type Gram struct {
	columns *Columns
	k       *kernels.Set
	total   float64

	slot   []int32 // column → its row in G, -1: not held
	list   []int32 // row of G → column
	stride int
	g      []float64 // stride × stride
	z      []float64 // a column spread over compact rows
}

// NewGram returns an empty cache over a store of columns.
func NewGram(columns *Columns) *Gram {
	g := &Gram{columns: columns, k: columns.view.Kernels(), total: columns.view.Total()}
	g.slot = make([]int32, len(columns.slot))
	for j := range g.slot {
		g.slot[j] = -1
	}
	return g
}

// Size returns the number of columns held.
func (g *Gram) Size() int { return len(g.list) }

// Missing returns how many of the columns are not held, and their values.
func (g *Gram) Missing(columns []int32) (count, values int) {
	for _, j := range columns {
		if g.slot[j] < 0 {
			count++
			values += g.columns.Length(j)
		}
	}
	return count, values
}

// Values returns the number of values of the columns held.
func (g *Gram) Values() (values int) {
	for _, j := range g.list {
		values += g.columns.Length(j)
	}
	return values
}

// Clear empties the cache.
func (g *Gram) Clear() {
	for _, j := range g.list {
		g.slot[j] = -1
	}
	g.list = g.list[:0]
}

// Slot returns the row of G that belongs to a held column.
func (g *Gram) Slot(j int32) int { return int(g.slot[j]) }

// Row returns row k of G, one entry per held column. Read only; valid until the
// next Hold.
func (g *Gram) Row(k int) []float64 { return g.g[k*g.stride:][:len(g.list)] }

// Hold computes the rows of G that are missing for the columns of the list,
// which the store must hold.
func (g *Gram) Hold(columns []int32) {
	for _, j := range columns {
		if g.slot[j] < 0 {
			g.add(j)
		}
	}
}

func (g *Gram) add(j int32) {
	at := len(g.list)
	g.slot[j] = int32(at)
	g.list = append(g.list, j)
	if at >= g.stride {
		g.widen(at + 1)
	}
	row := g.g[at*g.stride:][:at+1]
	rows, values := g.columns.Column(j)
	if rows == nil {
		for k, other := range g.list {
			_, v := g.columns.Column(other)
			row[k] = g.k.Dot(v, values)
		}
	} else {
		g.sparseRow(j, rows, values, row)
	}
	for k, v := range row {
		g.g[k*g.stride+at] = v
	}
}

// sparseRow spreads column j out and takes its product with every held one.
func (g *Gram) sparseRow(j int32, rows []int32, values, out []float64) {
	if len(g.z) < g.columns.m {
		g.z = make([]float64, g.columns.m)
	}
	for k, i := range rows {
		g.z[i] = values[k]
	}
	mean := g.total * g.columns.Mean(j)
	for k, other := range g.list {
		r, v := g.columns.Column(other)
		out[k] = math.FMA(-mean, g.columns.Mean(other), g.k.DotIndexed(v, r, g.z))
	}
	for _, i := range rows {
		g.z[i] = 0
	}
}

func (g *Gram) widen(size int) {
	stride := max(128, 2*g.stride, (size+7)&^7)
	wide := make([]float64, stride*stride)
	for k := range size - 1 {
		copy(wide[k*stride:], g.g[k*g.stride:][:size-1])
	}
	g.g, g.stride = wide, stride
}

// Submatrix sets out, s × s row by row, to G_SS/N + ridge·I for held columns S.
func (g *Gram) Submatrix(columns []int32, ridge float64, out []float64) {
	s := len(columns)
	for a, j := range columns {
		row := g.Row(g.Slot(j))
		for b := range s {
			out[a*s+b] = row[g.slot[columns[b]]] / g.total
		}
		out[a*s+a] += ridge
	}
}
