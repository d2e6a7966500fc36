package cd

import (
	"math"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// drift bounds how far correlations have moved since they were computed, so that columns far from leaving 0
// need not be visited. By the Cauchy–Schwarz inequality the correlation of column j moves by at most
// ‖X̃_j‖ₛ‖Δ‖ₛ/N, Δ the change of the residual.
type drift struct {
	length   []float64 // by column, ‖X̃_j‖ₛ/N
	weighted []float64 // s⊙ρ at the last measurement
	path     float64   // Σ‖Δ‖ₛ since all columns were visited
	pathAt   []float64 // by column, the path when its correlation was last computed
	strength float64   // |z| below which a column certainly stays at 0
	visited  []int32   // columns that were visited last
}

func newDrift(view *sparse.View, at *model.ScorePoint) *drift {
	_, p := view.Dims()
	d := &drift{weighted: make([]float64, len(at.Weighted)), pathAt: make([]float64, p), length: make([]float64, p)}
	for j := range d.length {
		d.length[j] = view.Norm(j) / view.Total()
	}
	d.restart(view, at)
	return d
}

// restart declares all correlations to be those at a point.
func (d *drift) restart(view *sparse.View, at *model.ScorePoint) {
	view.Kernels().Copy(d.weighted, at.Weighted)
	view.Kernels().Clear(d.pathAt)
	d.path = 0
}

// move adds the distance of the residual from its last measurement to the path.
func (d *drift) move(view *sparse.View, at *model.ScorePoint) {
	weights, square := view.Weights(), 0.0
	pace := view.Kernels().Pace()
	for i, v := range at.Weighted {
		pace.Did(1)
		change := v - d.weighted[i]
		if change == 0 {
			continue
		}
		s := 1.0
		if weights != nil {
			s = weights[i]
		}
		square = math.FMA(change, change/s, square)
		d.weighted[i] = v
	}
	d.path += math.Sqrt(square)
}

// safeShare is the share of a strength up to which a bound holds a column at 0, less than 1 for rounding.
const safeShare = 1 - 1e-9

// forget declares the correlations of columns to be of no point that was measured.
func (d *drift) forget(columns []int32) {
	if d == nil {
		return
	}
	for _, j := range columns {
		d.pathAt[j] = math.Inf(-1)
	}
}

// setPenalty sets the strength to that of a penalty.
func (d *drift) setPenalty(g model.Separable) { d.strength = safeShare * g.Strength() }

// columnsToVisit returns the columns whose correlations z have to be computed: those with a coefficient that is not 0,
// those forgotten, and those that the bound no longer holds at 0.
func (d *drift) columnsToVisit(beta, z []float64) []int32 {
	d.visited = d.visited[:0]
	seen, length, beta := d.pathAt[:len(z)], d.length[:len(z)], beta[:len(z)]
	for j, v := range z {
		if beta[j] == 0 && float64(length[j]*(d.path-seen[j]))+math.Abs(v) < d.strength {
			continue
		}
		d.visited = append(d.visited, int32(j))
		seen[j] = d.path
	}
	return d.visited
}
