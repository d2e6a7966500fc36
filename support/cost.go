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
	pairValue   = 4.0  // what the product of two columns costs besides
	SparseValue = 0.45 // one value of a sparse column, met in a dot product
	UpdateValue = 0.75 // the same in an update
	listValue   = 8.0  // one value added to the list of its row
	spanValue   = 8.0  // one list met, besides its values
	DenseValue  = 0.10 // one value of a dense column
	farValue    = 0.25 // the same where the columns do not stay in a cache
	tileValue   = 0.04 // one product of two of them, in tiles
	GramValue   = 0.12 // one value of a row of the Gram matrix
	GatherValue = 1.0  // one entry of a gathered submatrix
	FactorValue = 0.15 // one multiply–add of a Cholesky factorisation
	copyValue   = 12.0 // one entry of a copy by rows
	packValue   = 1.5  // one value of a sparse column put into a store, or weighed anew
)

// Work returns the modelled cost, in nanoseconds, of all that has been done with the columns since
// [Columns.ClearWork]: copies, their Gram matrix, products, factorisations made for systems of
// them. It is counted, not measured: the same calls, the same number.
func (c *Columns) Work() float64 { return c.work }

// ClearWork begins to count anew.
func (c *Columns) ClearWork() { c.work = 0 }

// valuesCost is the cost of going once over so many values of the store, and over its rows.
func (c *Columns) valuesCost(values int, price float64) float64 {
	cost := float64(price * float64(values))
	if c.dense {
		cost = DenseCost(values)
	}
	return cost + float64(DenseValue*float64(c.m))
}

// CholeskyCost is the cost of [Cholesky] and of one solution by it.
func CholeskyCost(size int) float64 {
	n := float64(size)
	return float64(FactorValue/6*n*n*n) + float64(2*DenseValue*n*n)
}

// cachedValues stay in a second-level cache of 1 MiB.
const cachedValues = 1 << 17

// DenseCost is the cost of going once over so many values of dense columns, which others go
// over before and after.
func DenseCost(values int) float64 {
	if values > cachedValues {
		return float64(farValue * float64(values))
	}
	return float64(DenseValue * float64(values))
}

// gathering is how much longer the lists of the rows are in which columns have entries than
// those of all rows on average: 1.3 to 1.5 on text.
const gathering = 1.35

// LargestGram is the number of columns beyond which rows of the Gram matrix come
// from memory.
const LargestGram = 3000

// ProductCost is the cost of a product with the system of columns that the store holds.
func (c *Columns) ProductCost(list []int32) float64 {
	values := 0
	for _, j := range list {
		values += c.Length(j)
	}
	return 2 * c.valuesCost(values, SparseValue)
}

// BuildCost is the cost of adding the missing ones of the columns.
func (g *Gram) BuildCost(columns []int32) float64 {
	missing, values := g.Missing(columns)
	if missing == 0 {
		return 0
	}
	// Each new column meets those held and, on average, half of the new ones.
	size := g.Size()
	pairs := float64(pairValue * float64(missing*(2*size+missing)/2))
	if g.columns.dense {
		return float64(tileValue*float64(missing*(2*g.Values()+values)/2)) + pairs
	}
	byLanes, byLists, listing := g.sparseCosts(missing, values)
	return min(byLanes, byLists+max(0, listing-g.lists.missed)) + pairs
}

// AllCost is the cost of the matrix of so many columns with so many entries from nothing.
func AllCost(columns, entries int, dense bool) float64 {
	price := float64(LanesValue)
	if dense {
		price = tileValue
	}
	pairs := 0.5 * float64(columns)
	return float64(pairs*price*float64(entries)) + float64(pairs*pairValue*float64(columns))
}

// sparseCosts is what so many new sparse columns cost in either way, with so many values,
// and what it costs to list those held that are not yet.
func (g *Gram) sparseCosts(missing, values int) (byLanes, byLists, listing float64) {
	// Of a column held and a new one the shorter passes over its values, once the other
	// is spread out.
	const spread = spreading * kernels.Lanes
	held, whole := g.Values(), (missing+kernels.Lanes-1)/kernels.Lanes*kernels.Lanes
	met := min(whole*held, g.Size()*values+spread*held) + missing*values/2 + spread*values
	if held+values > mostListed || g.columns.bytes > 0 {
		return float64(LanesValue * float64(met)), math.Inf(1), 0
	}
	// A new value meets the list of its row.
	perList := gathering * (float64(held) + float64(0.5*float64(values))) / float64(g.columns.m)
	byLists = float64(float64(values) * (listValue + spanValue + float64(UpdateValue*perList)))
	return float64(LanesValue * float64(met)), byLists, float64(listValue * float64(held-g.lists.entries))
}

// mostListed is how many entries lists may have, which take up to 24 bytes each.
const mostListed = 1 << 22

// listsPay reports whether lists are the better way for new columns, to list those held
// included once lists would have saved as much, and if not, what they would save this time.
func (g *Gram) listsPay(missing, values int) (pay bool, saved float64) {
	if g.columns.dense {
		return false, 0
	}
	byLanes, byLists, listing := g.sparseCosts(missing, values)
	saved = max(0, byLanes-byLists)
	return saved > 0 && saved+g.lists.missed >= listing, saved
}

// Pays reports whether so many products with the system of the columns are cheaper
// on the Gram matrix, what it lacks of it included.
func (g *Gram) Pays(columns []int32, products int) bool {
	missing, _ := g.Missing(columns)
	if !g.Fits(missing) {
		return false
	}
	times := float64(products)
	return g.BuildCost(columns)+g.ProductsCost(columns, times) < float64(times*g.columns.ProductCost(columns))
}

// ProductsCost is the cost of so many products with the system of the columns once the matrix
// holds them, see [GramSystem].
func (g *Gram) ProductsCost(columns []int32, products float64) float64 {
	missing, _ := g.Missing(columns)
	cost, _ := productsCost(len(columns), g.Size()+missing, products)
	return cost
}

// productsCost is the cost of so many products with size columns of those held, in place or,
// where that is cheaper, with a copy of their entries.
func productsCost(size, held int, products float64) (cost float64, copied bool) {
	entry := float64(products * GramValue)
	inPlace, onCopy := float64(entry*float64(held)), float64((entry+GatherValue)*float64(size))
	return float64(float64(size) * min(inPlace, onCopy)), onCopy < inPlace
}
