package implicit

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/model"
)

// Where the curvature of a loss jumps, a row that passes a jump between the point and the solution changes A
// by a finite amount. With hᵢ = xᵢᵀA⁻¹xᵢ and Δᵢ the largest change of the weighted curvature of row i, A
// changes by κA at most,
//
//	κ = Σ Δᵢhᵢ/N over the rows within reach of a jump,
//
// and predictions move by r√hᵢ, r as in [distance], or by 1/(1 − κ) times as much where A decreases.

// jumping is a datafit whose curvature may jump.
type jumping interface {
	CurvatureRange(s *model.State, reach float64, first int, lowest, highest []float64) bool
}

// distanceFactor is the factor 1/(1 − κ) on the distance to the solution, for κ up to farthestStep.
const distanceFactor = 1 / (1 - farthestStep)

// jumpChange returns κ, or a partial sum of it beyond farthestStep.
func (s *Solver) jumpChange(at Point, energy float64) (share float64) {
	fit, ok := s.fit.(jumping)
	if !ok || energy == 0 {
		return 0
	}
	total, shared := s.view.Total(), 0.0
	if s.view.Centred() {
		shared = total / s.store.Total() // the intercept's part of every hᵢ
	}
	longest := s.leverageBound(at, s.leastWeight())
	list, changes := s.rowsNearJumps(fit, distanceFactor*energy*math.Sqrt(longest))
	if size := float64(len(at.Support)); float64(len(list))*size*size > rowProof {
		return longest / total * changes
	}
	row, mu := make([]float64, len(at.Support)), s.mu()
	var lowest, highest [1]float64
	for _, i := range list {
		s.centredRow(at.Support, i, row)
		norm := s.norm(row)
		h := float64(norm*norm)/mu + shared
		fit.CurvatureRange(s.state, distanceFactor*energy*math.Sqrt(h), i, lowest[:], highest[:])
		if share += float64(h / total * (highest[0] - lowest[0])); !(share <= farthestStep) {
			break
		}
	}
	return share
}

// rowsNearJumps lists the rows whose curvature may change where predictions are off by reach, and returns the sum
// of these changes.
func (s *Solver) rowsNearJumps(fit jumping, reach float64) (list []int, changes float64) {
	n, _ := s.view.Dims()
	lowest, highest := make([]float64, n), make([]float64, n)
	if !fit.CurvatureRange(s.state, reach, 0, lowest, highest) {
		return nil, 0
	}
	pace := s.k.Pace()
	for i, low := range lowest {
		pace.Did(1)
		if low < highest[i] {
			list, changes = append(list, i), changes+(highest[i]-low)
		}
	}
	return list, changes
}

// leastWeight returns the least positive weight of a row.
func (s *Solver) leastWeight() float64 {
	weights := s.view.Weights()
	if weights == nil {
		return 1
	}
	least, pace := math.Inf(1), s.k.Pace()
	for _, w := range weights {
		if pace.Did(1); w > 0 {
			least = min(least, w)
		}
	}
	return least
}

// centredRow sets out to the entries of a row in columns centred on the means of the system.
func (s *Solver) centredRow(columns []int32, i int, out []float64) {
	for k, j := range columns {
		rows, values := s.view.Matrix().Column(int(j))
		x, at, there := 0.0, i, true
		if rows != nil {
			at, there = slices.BinarySearch(rows, int32(i))
		}
		if there {
			x = values[at]
		}
		out[k] = math.FMA(x, s.view.Scale(int(j)), -s.store.Centre(j))
	}
}
