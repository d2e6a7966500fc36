package cd

import "github.com/seed-45b9a24c/pare/support"

// The cost model goes on from that of support, in the same unit.
const (
	sparseValue = support.SparseValue
	denseValue  = support.DenseValue
	gramValue   = support.GramValue
	updateValue = support.UpdateValue
	factorValue = support.FactorValue
	perColumn   = 3.0  // of a sweep
	denseSample = 20.0 // a dense sample that a sweep or a product meets, besides its values
	gramMove    = 8.0  // a coefficient that moves, besides its row
	factorDot   = 6.0  // one dot product in it
	rotateValue = 0.5  // two entries of it, turned where a row has left
)

const (
	largestCholesky = 400 // columns beyond which conjugate gradients are cheaper
	smallestChoice  = 48  // columns up to which it is Cholesky without a thought,
	curvedChoice    = 16  // where its Gram matrix lasts one step
	epochsExpected  = 25  // sweeps that a Gram matrix must pay for itself in
	newtonsExpected = 5   // Newton steps that share what is added to it,
	newtonsCold     = 3   // from a cold start, after which there may be no other solve
	sweepsFor       = 4   // sweeps expected for an iteration of conjugate gradients that a ridge leaves
	curvedEpochs    = 8   // sweeps that one must pay for itself in that lasts a step
	// The share of its price that a Gram matrix for one step has to be worth: measured, as
	// is that of many rows.
	passing    = 0.7
	beyond     = 1.6
	cachedRows = 1 << 15
)

func residualCost(values, columns int, dense bool) float64 {
	cost := float64(sparseValue * float64(values))
	if dense {
		cost = support.DenseCost(values)
	}
	return cost + float64(perColumn*float64(columns))
}

// visitCost is that of meeting so many samples with so many entries.
func visitCost(entries, samples int, dense bool) float64 {
	cost := residualCost(entries, samples, dense)
	if dense { // a call for each
		cost += float64(denseSample * float64(samples))
	}
	return cost
}

func gramCost(moved, columns, size int) float64 {
	return float64(float64(moved)*(gramMove+float64(gramValue*float64(size)))) + float64(perColumn*float64(columns))
}

// choose returns the engine for the set that has been loaded. Columns that nearly copy one another have large coefficients, whose
// parts in the residual cancel: squares of them, as on the Gram matrix, would leave nothing of it.
func (in *inner) choose() engine {
	if in.newton.apart.any() {
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
	if gramCost(moving, w, max(size, w)) >= 0.5*byResidual { // the least it can be
		return &in.residual
	}
	missing := in.gram.Missing(in.columns)
	if !in.gram.Fits(missing.Columns()) {
		return &in.residual
	}
	byGram := gramCost(moving, w, size+missing.Columns())
	if byGram < 0.5*byResidual && in.building*in.gram.BuildCost(missing) < in.sweepsExpected()*(byResidual-byGram) {
		return &in.quadratic
	}
	return &in.residual
}

// sweepsExpected returns how many sweeps to expect on the set loaded, in all its rounds: fewer than usual
// where the ridge bounds the condition of its problem.
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
