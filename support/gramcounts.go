package support

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// counts computes the products of counted columns with one another. These are sparse columns whose entries are
// all equal, as in a one-hot encoding: it counts the rows that two of them have in common, 64 rows in a word.
type counts struct {
	kind     []columnKind // by column of X
	position []int32      // row of G → its position in the lists below, -1: not counted
	rows     []int32      // position → row of G
	value    []float64    // position → the value of all entries of the column
	bits     []uint64     // position after position, one bit for each compact row
	first    int          // position of the first new column
	values   int          // number of values of all counted columns
}

// columnKind says whether a column is counted.
type columnKind int8

const (
	unknownKind columnKind = iota
	variedKind             // not counted
	uniformKind            // counted: all entries are the same number
)

// counted reports whether a column of X is counted. Most words must not be 0: the column, or the columns of X
// on average, must have at least one entry for each word.
func (g *Gram) counted(j int32) bool {
	c := g.columns
	if c.dense || c.curved || c.root != nil || c.bytes > 0 {
		return false
	}
	kinds := g.counts.kind
	if kinds == nil {
		kinds = make([]columnKind, len(g.slot))
		g.counts.kind = kinds
	}
	if kinds[j] == unknownKind {
		x := c.view.Matrix()
		n, p := x.Dims()
		kinds[j] = variedKind
		if csc := x.(*sparse.CSC); max(c.Length(j), int(x.NNZ())/p) >= words(n) && csc.Uniform(g.k, int(j)) {
			kinds[j] = uniformKind
		}
	}
	return kinds[j] == uniformKind
}

func words(rows int) int { return (rows + 63) / 64 }

// listCounted notes which of the rows of G from first on are counted, and sets their bits.
func (g *Gram) listCounted(first int) {
	t, size := &g.counts, words(g.columns.m)
	t.first = len(t.rows)
	for a := first; a < len(g.list); a++ {
		if !g.counted(g.list[a]) {
			t.position = append(t.position, -1)
			continue
		}
		t.position = append(t.position, int32(len(t.rows)))
		t.rows = append(t.rows, int32(a))
	}
	from, need := len(t.bits), size*len(t.rows)
	if need > cap(t.bits) { // with room for half as many again
		t.bits = moveTo(g.columns.view, kernels.Undefined[uint64](need+need/2), t.bits)
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

// setBits sets the bits of rows, which ascend, and clears all others. It goes through four parts of the rows at the
// same time, because a write waits for the write before it to the same word.
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

// countRows computes the products of new counted columns with all counted columns.
func (g *Gram) countRows() {
	t := &g.counts
	fresh, held := batchSize{columns: len(t.rows) - t.first}, batchSize{columns: t.first}
	team := g.columns.view.Team()
	team.Do(team.Parts(g.countCost(fresh, held)), (*countTask)(g))
}

// countTask is the task of [Gram.countRows]: a part takes every of-th group of new columns.
type countTask Gram

// countGroup is the number of new columns in a group: another column is multiplied with all of them while it is in the
// first-level cache.
const countGroup = 4

// Part implements [team.Task].
func (p *countTask) Part(k, of int) {
	g := (*Gram)(p)
	t := &g.counts
	for from := t.first + countGroup*k; from < len(t.rows); from += countGroup * of {
		to := min(from+countGroup, len(t.rows))
		for other := range to {
			for at := max(from, other); at < to; at++ {
				g.count(at, other)
			}
		}
	}
}

// count computes the product of the columns at two positions.
func (g *Gram) count(at, other int) {
	t, size := &g.counts, words(g.columns.m)
	a, b := int(t.rows[at]), int(t.rows[other])
	common := g.k.CountAnd(t.bits[at*size:][:size], t.bits[other*size:][:size])
	product := float64(t.value[at]*t.value[other]) * float64(common)
	g.set(a, b, math.FMA(float64(-g.columns.total*g.columns.Mean(g.list[a])), g.columns.Mean(g.list[b]), product))
}

// forget empties everything that belongs to rows of G.
func (t *counts) forget() {
	t.position, t.rows, t.value, t.bits = t.position[:0], t.rows[:0], t.value[:0], t.bits[:0]
	t.first, t.values = 0, 0
}
