package cd

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// gramEngine sweeps the quadratic ½βᵀGβ − … of the working set: a coefficient
// that moves costs one row of the Gram matrix, a coefficient that stays costs nothing. It
// suits small sets that need many sweeps. All working sets and penalties of a solver
// share the matrix.
type gramEngine struct {
	*inner
	k            *kernels.Set
	e            kernels.GramEpoch
	loadedCorr   []float64 // c_j of the point loaded, by position
	loadedCoef   []float64 // βⱼ of the point loaded, by position
	loadedSquare float64   // ‖r̂‖² of the point loaded
}

func (g *gramEngine) load(v []float64) {
	g.gram.Hold(g.columns)
	w := len(g.columns)
	var residual []float64
	if g.loadedSquare = g.squared; g.loadedSquare > 0 {
		for k, j := range g.columns {
			g.gram.Raise(j, g.square[k])
		}
	} else {
		residual = g.store.Compact(v, &g.working)
		g.work += float64(rowValue * float64(g.store.Rows()))
		g.loadedSquare = g.k.Dot(residual, residual)
	}
	e := &g.e
	e.Gram, e.Stride = g.gram.Storage()
	e.Correlation = grow(e.Correlation, g.gram.Size())
	clear(e.Correlation)
	e.Coef, e.Square, e.Threshold, e.Grad, e.Ridge = g.coef, g.square, g.threshold, g.grad, g.ridge
	e.Inverse = grow(e.Inverse, w)
	invert(g.square, g.ridge, e.Inverse)
	g.loadedCorr, g.loadedCoef = grow(g.loadedCorr, w), grow(g.loadedCoef, w)
	copy(g.loadedCoef, g.coef)
	if cap(e.Slot) < w {
		e.Slot = make([]int32, w+w/2)
	}
	e.Slot = e.Slot[:w]
	for k, j := range g.columns {
		e.Slot[k] = int32(g.gram.Slot(j))
		g.loadedCorr[k] = g.correlate(j, residual)
		e.Correlation[e.Slot[k]] = g.loadedCorr[k]
	}
}

// correlate returns c_j of the point loaded, given its working residual r̂, which has Σ√w·r̂ = 0
// where columns are centred: there is no offset.
func (g *gramEngine) correlate(j int32, residual []float64) float64 {
	if g.correlated != nil {
		if corr, met := g.correlated.correlation(j); met {
			return corr
		}
	}
	rows, values := g.store.Column(j)
	g.work += residualCost(len(values), 1, rows == nil)
	if rows == nil {
		return g.k.Dot(values, residual)
	}
	return g.k.DotIndexed(values, rows, residual)
}

func (g *gramEngine) epoch() (cost float64) {
	return g.price(g.k.GramEpoch(&g.e), 0)
}

func (g *gramEngine) price(moved, _ int) float64 {
	return gramCost(moved, len(g.e.Slot), g.gram.Size())
}

func (g *gramEngine) correlation(k int) float64 { return g.e.Correlation[g.e.Slot[k]] }

func (g *gramEngine) move(k int, d float64) {
	g.k.Axpy(-d, g.gram.Row(int(g.e.Slot[k])), g.e.Correlation)
}

// recompute recomputes the correlations at the current coefficients from those of the point loaded, and sets out to them.
func (g *gramEngine) recompute(out []float64) (cost float64) {
	e, moved := &g.e, 0
	for k, c := range g.loadedCorr {
		e.Correlation[e.Slot[k]] = c
	}
	for k, b := range g.coef {
		if d := b - g.loadedCoef[k]; d != 0 {
			g.move(k, d)
			moved++
		}
	}
	for k := range out {
		out[k] = g.correlation(k)
	}
	return g.price(moved, 0)
}

// invert sets inverse to 1/(‖x̃ⱼ‖² + ridge), by position, so that sweeps multiply instead of dividing.
func invert(square []float64, ridge float64, inverse []float64) {
	for k, v := range square[:len(inverse)] {
		inverse[k] = 1 / (v + ridge)
	}
}

// squaredResidual implements [engine]. With δ the move since the point loaded and c₀ the
// correlations there, ‖r̂ − X̃δ‖² = ‖r̂‖² − δᵀ(c₀ + c).
func (g *gramEngine) squaredResidual() float64 {
	norm := g.loadedSquare
	for k, b := range g.coef {
		if d := b - g.loadedCoef[k]; d != 0 {
			norm = math.FMA(-d, g.loadedCorr[k]+g.correlation(k), norm)
		}
	}
	return max(0, norm)
}
