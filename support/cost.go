package support

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// The cost model: nanoseconds on one core of a 2020s server, from counted
// operations. Only ratios matter. It depends on the problem alone, never on a
// clock, the CPU or the number of goroutines, so that the same problem takes
// the same path everywhere.
const (
	LanesValue  = 0.12 // one value of a sparse column, for one of 8 vectors
	pairValue   = 4.0  // one product of two columns, besides its values
	SparseValue = 0.45 // one value of a sparse column in a dot product
	UpdateValue = 0.75 // one value of a sparse column in an update
	listValue   = 8.0  // one value added to the list of its row
	spanValue   = 8.0  // one list that is added up, besides its values
	DenseValue  = 0.10 // one value of a dense column
	farValue    = 0.25 // the same where the columns do not stay in a cache
	tileValue   = 0.04 // one product of two values of dense columns, in tiles
	wordValue   = 0.15 // 64 rows of two counted columns
	bitValue    = 1.0  // one value of a counted column, to set its bit
	GramValue   = 0.12 // one value of a row of the Gram matrix
	GatherValue = 1.0  // one entry of a gathered submatrix
	FactorValue = 0.15 // one multiply–add of a Cholesky factorisation
	packValue   = 1.5  // one value of a sparse column put into a store, or weighted anew
)

// Work returns the modelled cost, in nanoseconds, of all that has been done with the columns since
// [Columns.ClearWork]: copies, their Gram matrix, products, factorisations made for systems of
// them. It is counted, not measured: the same calls, the same number.
func (c *Columns) Work() float64 { return c.work }

// ClearWork sets the count of [Columns.Work] to 0.
func (c *Columns) ClearWork() { c.work = 0 }

// valuesCost returns the cost of one pass over that many values of the store, and over a vector of its rows.
func (c *Columns) valuesCost(values int, price float64) float64 {
	cost := float64(price * float64(values))
	if c.dense {
		cost = DenseCost(values)
	}
	return cost + float64(DenseValue*float64(c.m))
}

// CholeskyCost returns the cost of [Cholesky] and of one solution with it.
func CholeskyCost(size int) float64 {
	n := float64(size)
	return float64(FactorValue/6*n*n*n) + float64(2*DenseValue*n*n)
}

// cachedValues is the number of values that fit into a second-level cache of 1 MiB.
const cachedValues = 1 << 17

// DenseCost returns the cost of one of several passes over that many values of dense columns, which
// stay in a cache if they fit.
func DenseCost(values int) float64 {
	if values > cachedValues {
		return float64(farValue * float64(values))
	}
	return float64(DenseValue * float64(values))
}

// meanListRatio is the mean length of the list that an entry of a new column is multiplied with, over the
// mean length of the lists of all rows: 1.3 to 1.5 on text.
const meanListRatio = 1.35

// LargestGram is the number of columns beyond which rows of the Gram matrix come from
// memory and not from a cache. It is the default limit of a [Gram].
const LargestGram = 3000

// ProductCost returns the cost of a product with the system of the columns listed, which the store must hold.
func (c *Columns) ProductCost(list []int32) float64 {
	values := 0
	for _, j := range list {
		values += c.Length(j)
	}
	return c.ValuesCost(values)
}

// ValuesCost is [Columns.ProductCost] of columns with that many values.
func (c *Columns) ValuesCost(values int) float64 { return 2 * c.valuesCost(values, SparseValue) }

// BuildCost returns the cost of adding columns that [Gram.Missing] has found.
func (g *Gram) BuildCost(fresh Batch) float64 {
	missing, values := fresh.all.columns, fresh.all.values
	if missing == 0 {
		return 0
	}
	// Each new column is multiplied with those held and, on average, with half of the new ones.
	size := g.Size()
	pairs := float64(pairValue * float64(missing*(2*size+missing)/2))
	if g.columns.dense {
		return float64(tileValue*float64(missing*(2*g.values+values)/2)) + pairs
	}
	byLanes, byLists, listing := g.sparseCosts(fresh)
	return min(byLanes, byLists+max(0, listing-g.lists.missedSavings)) + pairs
}

// AllCost returns the cost of a whole Gram matrix of that many columns with that many entries.
func AllCost(columns, entries int, dense bool) float64 {
	price := float64(LanesValue)
	if dense {
		price = tileValue
	}
	pairs := 0.5 * float64(columns)
	return float64(pairs*price*float64(entries)) + float64(pairs*pairValue*float64(columns))
}

// sparseCosts returns the cost of new sparse columns by lanes, with counts for the columns that can be counted;
// their cost by lists; and the cost of listing the held columns that are not listed yet.
func (g *Gram) sparseCosts(fresh Batch) (byLanes, byLists, listing float64) {
	held := g.heldBatch()
	byLanes = laneCost(fresh.all.minus(fresh.counted), held.all.plus(fresh.counted), false) +
		laneCost(fresh.counted, held.all.minus(held.counted), true) +
		g.countCost(fresh.counted, held.counted)
	values := float64(fresh.all.values)
	if held.all.values+fresh.all.values > mostListed || g.columns.bytes > 0 {
		return byLanes, math.Inf(1), 0
	}
	// Each new value takes one update with the list of its row.
	perList := meanListRatio * (float64(held.all.values) + float64(0.5*values)) / float64(g.columns.m)
	byLists = float64(values * (listValue + spanValue + float64(UpdateValue*perList)))
	return byLanes, byLists, float64(listValue * float64(held.all.values-g.lists.entries))
}

// laneCost returns the cost, by lanes, of the products of new columns with those held and, unless cross leaves
// these out, with one another.
func laneCost(fresh, held batchSize, cross bool) float64 {
	if fresh.columns == 0 || held.columns == 0 && cross {
		return 0
	}
	// Of a held and a new column, the longer one is spread and the shorter one passes, see
	// [lanes].
	const spread = spreadCost * kernels.Lanes
	whole := (fresh.columns + kernels.Lanes - 1) / kernels.Lanes * kernels.Lanes
	met := min(whole*held.values, held.columns*fresh.values+spread*held.values) + spread*fresh.values
	if !cross {
		met += fresh.columns * fresh.values / 2
	}
	return float64(LanesValue * float64(met))
}

// countCost returns the cost of the products, by counting, of new columns with those held and with one another.
func (g *Gram) countCost(fresh, held batchSize) float64 {
	pairs := fresh.columns * (2*held.columns + fresh.columns) / 2
	return float64(wordValue*float64(pairs*words(g.columns.m))) + float64(bitValue*float64(fresh.values))
}

// mostListed is the largest number of entries in lists; each takes up to 24 bytes.
const mostListed = 1 << 22

// listsPay reports whether to use lists for new columns, and what lists save this time. The cost of
// listing the held columns counts as paid for once lists would have saved as much.
func (g *Gram) listsPay(fresh Batch) (pay bool, saved float64) {
	if g.columns.dense {
		return false, 0
	}
	byLanes, byLists, listing := g.sparseCosts(fresh)
	saved = max(0, byLanes-byLists)
	return saved > 0 && saved+g.lists.missedSavings >= listing, saved
}

// Pays reports whether that many products with the system of the columns are cheaper
// with the Gram matrix, including the cost of the rows that it lacks.
func (g *Gram) Pays(columns []int32, products int) bool {
	missing := g.Missing(columns)
	if !g.Fits(missing.Columns()) {
		return false
	}
	times := float64(products)
	onGram, _ := productsCost(len(columns), g.Size()+missing.Columns(), times)
	return g.BuildCost(missing)+onGram < float64(times*g.columns.ProductCost(columns))
}

// productsCost returns the cost of products with the submatrix of size of the held columns, in place
// or, where that is cheaper, with a copy of the submatrix.
func productsCost(size, held int, products float64) (cost float64, copied bool) {
	entry := float64(products * GramValue)
	inPlace, onCopy := float64(entry*float64(held)), float64((entry+GatherValue)*float64(size))
	return float64(float64(size) * min(inPlace, onCopy)), onCopy < inPlace
}
