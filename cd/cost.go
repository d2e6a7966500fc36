package cd

// The cost model: nanoseconds on one core of a 2020s server, from counted
// operations. Only ratios matter. It depends on the problem alone, never on a
// clock, the CPU or the number of goroutines, so that the same problem takes
// the same path everywhere.
const (
	lanesValue  = 0.15 // one value of a sparse column, for one of 8 vectors
	sparseValue = 0.45 // one value of a sparse column, met in a dot or an update
	denseValue  = 0.10 // one value of a dense column
	perColumn   = 3.0  // of a sweep
	gramValue   = 0.12 // one value of a row of the Gram matrix
	gramMove    = 8.0  // a coefficient that moves, besides its row
	gather      = 1.0  // one entry of a gathered submatrix
	factorValue = 0.15 // one multiply–add of a Cholesky factorisation
	factorDot   = 6.0  // one dot product in it
)

const (
	largestGram     = 3000 // columns beyond which its rows come from memory
	largestCholesky = 400  // columns beyond which conjugate gradients are cheaper
	smallestChoice  = 48   // columns up to which it is Cholesky without a thought
	epochsExpected  = 25   // sweeps that a Gram matrix must pay for itself in
	newtonsExpected = 5    // Newton steps that share what is added to it
	curvedEpochs    = 8    // sweeps that one must pay for itself in that lasts a step
)

func residualCost(values, columns int, dense bool) float64 {
	price := sparseValue
	if dense {
		price = denseValue
	}
	return float64(price*float64(values)) + float64(perColumn*float64(columns))
}

func gramCost(moved, columns, size int) float64 {
	return float64(float64(moved)*(gramMove+float64(gramValue*float64(size)))) + float64(perColumn*float64(columns))
}

// buildCost is that of adding the missing ones of columns to the Gram matrix.
func (in *inner) buildCost(columns []int32) float64 {
	missing, values := in.gram.Missing(columns)
	if missing == 0 {
		return 0
	}
	held := in.gram.Values()
	// Each new column meets those held and, on average, half of the new ones.
	met := float64(missing) * (float64(held) + float64(float64(values)/2))
	if in.store.Dense() {
		return denseValue * met
	}
	return lanesValue * met
}

// choose returns the engine for the set that has been loaded.
func (in *inner) choose() engine {
	size, w := in.gram.Size(), len(in.columns)
	values, inSupport, support := 0, 0, 0
	for k, j := range in.columns {
		length := in.store.Length(j)
		values += length
		if in.coef[k] != 0 {
			inSupport += length
			support++
		}
	}
	missing, _ := in.gram.Missing(in.columns)
	if size+missing > largestGram {
		return &in.residual
	}
	byResidual := residualCost(values+inSupport, w, in.store.Dense())
	byGram := gramCost(support, w, size+missing)
	if byGram < 0.5*byResidual && in.buildCost(in.columns) < in.epochs*(byResidual-byGram) {
		return &in.quadratic
	}
	return &in.residual
}
