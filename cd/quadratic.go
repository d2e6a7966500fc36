package cd

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
)

// gramEngine sweeps the quadratic ½βᵀGβ − … of the working set: a coefficient
// that moves costs one row of the Gram matrix, one that stays costs nothing. It
// suits small sets that need many sweeps. The matrix is shared by all sets and
// penalties of a solver.
type gramEngine struct {
	*inner
	k      *kernels.Set
	slot   []int32   // row of G by position
	c      []float64 // correlations by row of G
	first  []float64 // c_j of the point loaded, by position
	origin []float64 // βⱼ of the point loaded, by position
	norm   float64   // ‖r̂‖² of the point loaded
	r      []float64 // its working residual
}

func (g *gramEngine) load(v []float64) {
	g.gram.Hold(g.columns)
	w := len(g.columns)
	g.r = grow(g.r, g.store.Rows())
	g.store.Compact(v, g.r)
	g.norm = g.k.Dot(g.r, g.r)
	g.c = grow(g.c, g.gram.Size())
	clear(g.c)
	g.first, g.origin = grow(g.first, w), grow(g.origin, w)
	copy(g.origin, g.coef)
	if cap(g.slot) < w {
		g.slot = make([]int32, w+w/2)
	}
	g.slot = g.slot[:w]
	for k, j := range g.columns {
		g.slot[k] = int32(g.gram.Slot(j))
		// The residual has Σ√w·r̂ = 0 where columns are centred: no offset yet.
		rows, values := g.store.Column(j)
		if rows == nil {
			g.first[k] = g.k.Dot(values, g.r)
		} else {
			g.first[k] = g.k.DotIndexed(values, rows, g.r)
		}
		g.c[g.slot[k]] = g.first[k]
	}
}

func (g *gramEngine) epoch() (cost float64) {
	moved := 0
	for k, at := range g.slot {
		c, old := g.c[at], g.coef[k]
		g.grad[k] = c - float64(g.ridge*old)
		b := model.SoftThreshold(math.FMA(g.square[k], old, c), g.threshold[k]) / (g.square[k] + g.ridge)
		if b != old {
			g.coef[k] = b
			g.k.Axpy(old-b, g.gram.Row(int(at)), g.c)
			moved++
		}
	}
	return gramCost(moved, len(g.slot), g.gram.Size())
}

func (g *gramEngine) correlation(k int) float64 { return g.c[g.slot[k]] }

func (g *gramEngine) move(k int, d float64) { g.k.Axpy(-d, g.gram.Row(int(g.slot[k])), g.c) }

// squaredResidual: with δ the move since the point loaded, ‖r̂ − X̃δ‖² =
// ‖r̂‖² − δᵀ(c₀ + c).
func (g *gramEngine) squaredResidual() float64 {
	norm := g.norm
	for k, b := range g.coef {
		if d := b - g.origin[k]; d != 0 {
			norm = math.FMA(-d, g.first[k]+g.c[g.slot[k]], norm)
		}
	}
	return max(0, norm)
}
