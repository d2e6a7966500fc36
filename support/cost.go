package support

import "github.com/seed-45b9a24c/pare/kernels"

// The cost model: nanoseconds on one core of a 2020s server, from counted
// operations. Only ratios matter. It depends on the problem alone, never on a
// clock, the CPU or the number of goroutines, so that the same problem takes
// the same path everywhere.
const (
	LanesValue  = 0.12 // one value of a sparse column, for one of 8 vectors
	pairValue   = 4.0  // what the product of two columns costs besides
	SparseValue = 0.45 // one value of a sparse column, met in a dot product
	UpdateValue = 0.75 // the same in an update
	DenseValue  = 0.10 // one value of a dense column
	farValue    = 0.25 // the same where the columns do not stay in a cache
	tileValue   = 0.04 // one product of two of them, in tiles
	GramValue   = 0.12 // one value of a row of the Gram matrix
	GatherValue = 1.0  // one entry of a gathered submatrix
	FactorValue = 0.15 // one multiply–add of a Cholesky factorisation
	copyValue   = 12.0 // one entry of a copy by rows
)

// cachedValues stay in a second-level cache of 1 MiB.
const cachedValues = 1 << 17

// DenseCost is that of going once over so many values of dense columns, which others go
// over before and after.
func DenseCost(values int) float64 {
	if values > cachedValues {
		return float64(farValue * float64(values))
	}
	return float64(DenseValue * float64(values))
}

// LargestGram is the number of columns beyond which rows of the Gram matrix come
// from memory.
const LargestGram = 3000

// ProductCost is that of a product with the system of columns that the store holds.
func (c *Columns) ProductCost(list []int32) float64 {
	values := 0
	for _, j := range list {
		values += c.Length(j)
	}
	cost := float64(SparseValue * float64(values))
	if c.dense {
		cost = DenseCost(values)
	}
	return 2 * (cost + float64(DenseValue*float64(c.m)))
}

// BuildCost is that of adding the missing ones of the columns.
func (g *Gram) BuildCost(columns []int32) float64 {
	missing, values := g.Missing(columns)
	if missing == 0 {
		return 0
	}
	// Each new column meets those held and, on average, half of the new ones.
	held, size := g.Values(), g.Size()
	pairs := float64(missing * (2*size + missing) / 2)
	met := float64(missing * (2*held + values) / 2)
	price := tileValue
	if !g.columns.dense {
		// Of a column held and a new one the shorter passes over its values, once the other
		// is spread out.
		const spread = spreading * kernels.Lanes
		price = LanesValue
		met = float64(min(missing*held, size*values+spread*held) + missing*values/2 + spread*values)
	}
	return float64(price*met) + float64(pairValue*pairs)
}

// Pays reports whether so many products with the system of the columns are cheaper
// on the Gram matrix, what it lacks of it included.
func (g *Gram) Pays(columns []int32, products int) bool {
	missing, _ := g.Missing(columns)
	if !g.Fits(missing) {
		return false
	}
	size, times := float64(len(columns)), float64(products)
	onGram := g.BuildCost(columns) + float64(GatherValue*size*size) + float64(times*GramValue*size*size)
	return onGram < float64(times*g.columns.ProductCost(columns))
}
