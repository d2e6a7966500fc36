package cd

import (
	"math"

	"github.com/seed-45b9a24c/pare/sparse"
)

// spans are columns of the residual engine that a Newton step processes together: the team of
// the view shares dot products by columns, and updates by rows.
type spans struct {
	from, to []int64
	entries  int
	e        *residualEngine
	out      []float64
}

// take sets the spans to the columns at some positions of the working set.
func (s *spans) take(e *residualEngine, positions []int32) {
	s.e, s.entries = e, 0
	if cap(s.from) < len(positions) {
		s.from, s.to = make([]int64, 2*len(positions)), make([]int64, 2*len(positions))
	}
	s.from, s.to = s.from[:len(positions)], s.to[:len(positions)]
	for i, k := range positions {
		s.from[i], s.to[i] = e.e.From[k], e.e.To[k]
		s.entries += int(s.to[i] - s.from[i])
	}
}

// spanDotsTask is the task that sets out to the dot products of the columns with the residual.
type spanDotsTask spans

// Part implements [team.Task].
func (s *spanDotsTask) Part(k, of int) {
	size := len(s.from)
	from, to := size*k/of, size*(k+1)/of
	e := &s.e.e
	s.e.k.DotSpans(s.from[from:to], s.to[from:to], e.Rows, e.Values, e.Residual, s.out[from:to])
}

// spanUpdatesTask is the task that adds the columns times out to the residual.
type spanUpdatesTask spans

// Part implements [team.Task].
func (s *spanUpdatesTask) Part(k, of int) {
	e, m := &s.e.e, len(s.e.e.Residual)
	for i, from := range s.from {
		to := s.to[i]
		rows, values := e.Rows[from:to], e.Values[from:to]
		first, end := 0, len(rows)
		if of > 1 {
			first, end = sparse.Before(rows, m*k/of, m), sparse.Before(rows, m*(k+1)/of, m)
		}
		s.e.k.AxpyIndexed(s.out[i], values[first:end], rows[first:end], e.Residual)
	}
}

// correlations implements [engine].
func (r *residualEngine) correlations(positions []int32, out []float64) {
	if r.store.Dense() || r.store.Partial() {
		for i, k := range positions {
			out[i] = r.correlation(int(k))
		}
		return
	}
	r.spans.take(r, positions)
	r.spans.out = out
	r.team.Do(r.team.Parts(residualCost(r.spans.entries, 0, false)), (*spanDotsTask)(&r.spans))
	carried := float64(r.e.Offset * r.e.Total)
	for i, k := range positions {
		out[i] = math.FMA(carried, r.e.Mean[k], out[i])
	}
}

// moveAll implements [engine]. It changes the signs of d.
func (r *residualEngine) moveAll(positions []int32, d []float64) {
	if r.store.Dense() || r.store.Partial() {
		for i, k := range positions {
			r.move(int(k), d[i])
		}
		return
	}
	for i, k := range positions {
		r.e.Offset = math.FMA(d[i], r.e.Mean[k], r.e.Offset)
		d[i] = -d[i]
	}
	r.spans.take(r, positions)
	r.spans.out = d
	r.team.Do(r.team.Few(updateValue*float64(r.spans.entries)), (*spanUpdatesTask)(&r.spans))
}

// shift is moves for columns whose product with d is already known to be u.
func (r *residualEngine) shift(u []float64) { r.k.Axpy(-1, u, r.e.Residual) }

// correlations implements [engine].
func (g *gramEngine) correlations(positions []int32, out []float64) {
	for i, k := range positions {
		out[i] = g.correlation(int(k))
	}
}

// moveAll implements [engine].
func (g *gramEngine) moveAll(positions []int32, d []float64) {
	for i, k := range positions {
		g.move(int(k), d[i])
	}
}
