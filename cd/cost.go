package cd

import "github.com/seed-45b9a24c/pare/support"

// The cost model continues that of package support, in the same unit.
const (
	sparseValue = support.SparseValue
	denseValue  = support.DenseValue
	gramValue   = support.GramValue
	updateValue = support.UpdateValue
	factorValue = support.FactorValue
	perColumn   = 3.0  // one column in a sweep
	denseSample = 20.0 // one dense sample in a sweep or a product, besides its values
	gramMove    = 8.0  // one coefficient that moves, besides its row
	factorDot   = 6.0  // one dot product in a factorisation
	rotateValue = 0.5  // two entries of a factor, rotated after a row has left
)

const (
	largestCholesky     = 400 // columns beyond which conjugate gradients are cheaper
	factoriseUpTo       = 48  // columns up to which the system is always factorised,
	curvedFactoriseUpTo = 16  // and where its Gram matrix lasts one step
	epochsExpected      = 25  // sweeps within which a Gram matrix must pay for itself
	newtonsExpected     = 5   // Newton steps that share the columns added to it,
	newtonsCold         = 3   // from a cold start, after which there may be no other solve
	sweepsFor           = 4   // sweeps expected per iteration of conjugate gradients, where a ridge bounds these
	curvedEpochs        = 8   // sweeps within which a Gram matrix for one step must pay for itself
	// Factors on the price of a Gram matrix that lasts one step, both measured: oneStepFactor in general, and
	// oneStepFactorUncached for sparse columns of more than cachedRows rows.
	oneStepFactor         = 0.7
	oneStepFactorUncached = 1.6
	cachedRows            = 1 << 15
)

// residualCost returns the cost of visiting columns with the number of stored values given, through the residual.
func residualCost(values, columns int, dense bool) float64 {
	cost := float64(sparseValue * float64(values))
	if dense {
		cost = support.DenseCost(values)
	}
	return cost + float64(perColumn*float64(columns))
}

// visitCost returns the cost of visiting samples with the number of entries given.
func visitCost(entries, samples int, dense bool) float64 {
	cost := residualCost(entries, samples, dense)
	if dense { // one call for each sample
		cost += float64(denseSample * float64(samples))
	}
	return cost
}

// gramCost returns the cost of a sweep over columns in which moved of them move, on a Gram matrix of size columns.
func gramCost(moved, columns, size int) float64 {
	return float64(float64(moved)*(gramMove+float64(gramValue*float64(size)))) + float64(perColumn*float64(columns))
}

// chooseEngine returns the engine for the loaded set. Columns that are nearly copies of one another have large
// coefficients, whose contributions to the residual cancel: squares of them, as on the Gram matrix, would leave
// no digits of the residual.
func (in *inner) chooseEngine() engine {
	if in.newton.basis.any() {
		return &in.residual
	}
	size, w := in.gram.Size(), len(in.columns)
	values, inSupport, moving := 0, 0, 0
	for k, length := range in.length {
		values += length
		if in.coef[k] != 0 {
			inSupport += length
			moving++
		}
	}
	byResidual := residualCost(values+inSupport, w, in.store.Dense())
	if gramCost(moving, w, max(size, w)) >= 0.5*byResidual { // a lower bound of the cost on the Gram matrix
		return &in.residual
	}
	missing := in.gram.Missing(in.columns)
	if !in.gram.Fits(missing.Columns()) {
		return &in.residual
	}
	byGram := gramCost(moving, w, size+missing.Columns())
	if byGram < 0.5*byResidual && in.buildFactor*in.gram.BuildCost(missing) < in.sweepsExpected()*(byResidual-byGram) {
		return &in.quadratic
	}
	return &in.residual
}

// sweepsExpected returns the number of sweeps to expect on the loaded set, in all rounds: fewer than usual
// where the ridge bounds the condition number of its problem.
func (in *inner) sweepsExpected() float64 {
	if in.ridge == 0 {
		return in.epochs
	}
	largest := 0.0
	for _, square := range in.square {
		largest = max(largest, square)
	}
	return min(in.epochs, sweepsFor*support.IterationsExpected(in.ridge/(largest+in.ridge), newtonTol))
}
