package support

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// counts computes the entries of the Gram matrix that sparse columns of one value each have with one
// another, as a one-hot encoding has them: the rows that two have in common are counted, 64 a word.
type counts struct {
	kind   []kind    // of columns of X
	place  []int32   // row of G → its place in what follows, -1: not counted
	rows   []int32   // place → row of G
	value  []float64 // place → the value
	bits   []uint64  // place after place, a bit a compact row
	first  int       // place of the first new one
	values int       // of all columns counted
}

// kind is whether a column is counted.
type kind int8

const (
	unknown kind = iota
	plain        // it is not
	ones         // it is: all its entries are the same number
)

// counted reports whether a column of X is counted. Where words would mostly be 0 it is not: unless it, or
// else the columns of X on average, have an entry a word.
func (g *Gram) counted(j int32) bool {
	c := g.columns
	if c.dense || c.curved || c.root != nil || c.bytes > 0 {
		return false
	}
	kinds := g.counts.kind
	if kinds == nil {
		kinds = make([]kind, len(g.slot))
		g.counts.kind = kinds
	}
	if kinds[j] == unknown {
		x := c.view.Matrix()
		n, p := x.Dims()
		kinds[j] = plain
		if csc := x.(*sparse.CSC); max(c.Length(j), int(x.NNZ())/p) >= words(n) && csc.Uniform(g.k, int(j)) {
			kinds[j] = ones
		}
	}
	return kinds[j] == ones
}

func words(rows int) int { return (rows + 63) / 64 }

// mark notes which rows of G are counted, and sets their bits, from the first new one on.
func (g *Gram) mark(first int) {
	t, size := &g.counts, words(g.columns.m)
	t.first = len(t.rows)
	for a := first; a < len(g.list); a++ {
		if !g.counted(g.list[a]) {
			t.place = append(t.place, -1)
			continue
		}
		t.place = append(t.place, int32(len(t.rows)))
		t.rows = append(t.rows, int32(a))
	}
	from, need := len(t.bits), size*len(t.rows)
	if need > cap(t.bits) { // with room for half as many again
		t.bits = moved(g.columns.view, kernels.Undefined[uint64](need+need/2), t.bits)
	}
	t.bits = t.bits[:need]
	for _, a := range t.rows[t.first:] {
		rows, values := g.columns.Column(g.list[a])
		value := 0.0
		if len(values) > 0 {
			value = values[0]
		}
		t.value = append(t.value, value)
		t.values += len(values)
		g.setBits(t.bits[from:][:size], rows)
		from += size
	}
}

// setBits sets the bits of rows, which ascend, and no others. It does so from four places at once: a bit in the
// word of the one before waits for that.
func (g *Gram) setBits(bits []uint64, rows []int32) {
	kernels.Clear(g.k, bits)
	quarter := len(rows) / 4
	for from, to := range g.k.Pieces(quarter) {
		first := rows[from:to]
		second, third, fourth := rows[quarter+from:][:len(first)], rows[2*quarter+from:][:len(first)], rows[3*quarter+from:][:len(first)]
		for k, i := range first {
			setBit(bits, i)
			setBit(bits, second[k])
			setBit(bits, third[k])
			setBit(bits, fourth[k])
		}
	}
	for _, i := range rows[4*quarter:] {
		setBit(bits, i)
	}
}

func setBit(bits []uint64, row int32) { bits[uint32(row)/64] |= 1 << (uint32(row) % 64) }

// countRows computes what the new columns that are counted have with all that are.
func (g *Gram) countRows() {
	t := &g.counts
	fresh, held := several{columns: len(t.rows) - t.first}, several{columns: t.first}
	team := g.columns.view.Team()
	team.Do(team.Parts(g.countCost(fresh, held)), (*counting)(g))
}

// counting computes every so many rows of them.
type counting Gram

// together is how many new columns every column meets while it is in the first cache.
const together = 4

// Part implements [team.Task].
func (p *counting) Part(k, of int) {
	g := (*Gram)(p)
	t := &g.counts
	for from := t.first + together*k; from < len(t.rows); from += together * of {
		to := min(from+together, len(t.rows))
		for other := range to {
			for at := max(from, other); at < to; at++ {
				g.count(at, other)
			}
		}
	}
}

// count computes what the columns at two places have with one another.
func (g *Gram) count(at, other int) {
	t, size := &g.counts, words(g.columns.m)
	a, b := int(t.rows[at]), int(t.rows[other])
	common := g.k.CountAnd(t.bits[at*size:][:size], t.bits[other*size:][:size])
	product := float64(t.value[at]*t.value[other]) * float64(common)
	g.set(a, b, math.FMA(float64(-g.columns.total*g.columns.Mean(g.list[a])), g.columns.Mean(g.list[b]), product))
}

// forget empties what belongs to rows of G.
func (t *counts) forget() {
	t.place, t.rows, t.value, t.bits = t.place[:0], t.rows[:0], t.value[:0], t.bits[:0]
	t.first, t.values = 0, 0
}
