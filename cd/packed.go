package cd

import (
	"math"

	"github.com/seed-45b9a24c/pare/sparse"
)

// packed holds compact copies of working columns X̂_j: training rows only, in
// rows numbered without gaps, scaled by √s. Dense columns are centred in the
// copy. Sparse ones are not; there the sweep carries the centring in one
// scalar: the residual is r̂ + offset·√s, and X̃_jᵀ of it is
// X̂_jᵀr̂ + offset·N·x̄_j.
//
// A column is packed once and kept while the store stays within its budget, so
// that later working sets and later penalties find it there.
type packed struct {
	view   *sparse.View
	dense  bool
	number []int32   // row → its packed number, -1 where its weight is 0; nil: identity
	rows   []int32   // packed number → row; nil: identity
	root   []float64 // √s by packed row; nil: all 1
	m      int       // packed rows
	budget int       // values kept before the store starts afresh

	slot   []int32 // column → slot, -1: not packed
	start  []int64 // slot → first value; one more than slots
	index  []int32 // packed row of each value (sparse)
	values []float64
}

func (p *packed) init(view *sparse.View) {
	n, cols := view.Dims()
	p.view, p.m = view, n
	if weights := view.Weights(); weights != nil {
		p.number = make([]int32, n)
		for i, s := range weights {
			p.number[i] = -1
			if s > 0 {
				p.number[i] = int32(len(p.rows))
				p.rows = append(p.rows, int32(i))
				p.root = append(p.root, math.Sqrt(s))
			}
		}
		p.m = len(p.rows)
	}
	for _, j := range view.Matrix().Order() {
		rows, _ := view.Matrix().Column(int(j))
		p.dense = rows == nil
		break
	}
	p.budget = max(1<<20, int(view.Matrix().NNZ()/2))
	p.slot = make([]int32, cols)
	p.clear()
}

func (p *packed) clear() {
	for j := range p.slot {
		p.slot[j] = -1
	}
	p.start = append(p.start[:0], 0)
	p.index, p.values = p.index[:0], p.values[:0]
}

// hold makes sure that every column of the list is packed.
func (p *packed) hold(columns []int32) {
	if len(p.values) > p.budget {
		p.clear()
	}
	for _, j := range columns {
		if p.slot[j] < 0 {
			p.add(int(j))
		}
	}
}

func (p *packed) add(j int) {
	rows, values := p.view.Matrix().Column(j)
	mean := p.view.Mean(j)
	switch {
	case rows == nil:
		for i, x := range values {
			if p.number == nil {
				p.values = append(p.values, x-mean)
			} else if k := p.number[i]; k >= 0 {
				p.values = append(p.values, p.root[k]*(x-mean))
			}
		}
	case p.number == nil:
		p.index = append(p.index, rows...)
		p.values = append(p.values, values...)
	default:
		for i, x := range values {
			if k := p.number[rows[i]]; k >= 0 {
				p.index = append(p.index, k)
				p.values = append(p.values, p.root[k]*x)
			}
		}
	}
	p.slot[j] = int32(len(p.start) - 1)
	p.start = append(p.start, int64(len(p.values)))
}

// column returns a packed column; index is nil for a dense one.
func (p *packed) column(j int32) (index []int32, values []float64) {
	lo, hi := p.start[p.slot[j]], p.start[p.slot[j]+1]
	if p.dense {
		return nil, p.values[lo:hi]
	}
	return p.index[lo:hi], p.values[lo:hi]
}

// length returns the number of values of a packed column.
func (p *packed) length(j int32) int {
	return int(p.start[p.slot[j]+1] - p.start[p.slot[j]])
}

// residual sets out = √s⊙r in packed rows.
func (p *packed) residual(r, out []float64) {
	if p.rows == nil {
		copy(out, r)
		return
	}
	for k, i := range p.rows {
		out[k] = p.root[k] * r[i]
	}
}

// mean returns the mean that the sweep has to carry for column j: x̄_j where the
// packed copy is not centred.
func (p *packed) mean(j int32) float64 {
	if p.dense {
		return 0
	}
	return p.view.Mean(int(j))
}
