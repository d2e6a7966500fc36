package support

import "github.com/seed-45b9a24c/pare/sparse"

// Products with the columns of a system in parts, for the team of the view: dot products by
// columns, updates by rows.

// dotTask is [System.correlate] of sparse columns.
type dotTask struct {
	a      *System
	u, out []float64
}

// Part implements [team.Task].
func (t *dotTask) Part(k, of int) {
	a, size := t.a, len(t.out)
	from, to := size*k/of, size*(k+1)/of
	a.k.DotSpans(a.from[from:to], a.to[from:to], a.columns.index, a.columns.values, t.u, t.out[from:to])
}

// updateTask is [System.predict] column by column. Every part has some of the rows.
type updateTask struct {
	a    *System
	v    []float64
	cuts []int64 // for each part, one after another: where in the store its entries of every listed column begin
	of   int     // parts that cuts are for; 0: none
}

// Part implements [team.Task].
func (t *updateTask) Part(k, of int) {
	a, s := t.a, len(t.v)
	m := a.columns.m
	a.k.Clear(a.u[m*k/of : m*(k+1)/of])
	a.k.AxpySpans(t.v, t.cuts[k*s:][:s], t.cuts[(k+1)*s:][:s], a.columns.index, a.columns.values, a.u)
}

// cut divides the columns between parts, by rows.
func (t *updateTask) cut(parts int) {
	if t.of == parts {
		return
	}
	a, s := t.a, len(t.a.list)
	m := a.columns.m
	t.of, t.cuts = parts, resize(t.cuts, (parts+1)*s)
	copy(t.cuts, a.from)
	for k := 1; k < parts; k++ {
		for i, from := range a.from {
			t.cuts[k*s+i] = from + int64(sparse.Before(a.columns.index[from:a.to[i]], m*k/parts, m))
		}
	}
	copy(t.cuts[parts*s:], a.to)
}

// fillTask computes the values of slots under the current weights.
type fillTask struct {
	c     *Columns
	slots []int32
}

// Part implements [team.Task].
func (t *fillTask) Part(k, of int) {
	size := len(t.slots)
	for _, slot := range t.slots[size*k/of : size*(k+1)/of] {
		t.c.fill(int(slot))
	}
}
