package implicit

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// mostLeverages bounds the numbers that rows of the support may take.
const mostLeverages = 1 << 27

// Leverages returns hᵢ = sᵢ·xᵢA⁻¹xᵢᵀ/N of every row on the support, with the intercept: by how
// much the prediction of a row follows a change of its own residual. Bounds that hold
// coefficients count as in [Solver.Solve]. The error is an [outcome.Error] of kind Limit where
// rows and support are too many, and of BadParameter where the columns depend on one another.
func (s *Solver) Leverages(g model.Penalty, at Point) ([]float64, error) {
	at = at.withoutBound(g)
	n, _ := s.view.Dims()
	size := len(at.Support)
	if float64(n)*float64(size) > mostLeverages || size > largestProof {
		return nil, outcome.Errorf(outcome.Limit, "leverages of %d rows on %d columns are too many numbers", n, size)
	}
	opts := Options{}
	if err := s.enter(g, at, &opts); err != nil {
		return nil, err
	}
	f, _, independent := s.factorise(g, at.Support)
	if independent < size {
		return nil, outcome.Errorf(outcome.BadParameter, "columns of the support depend on one another, so that no row has a leverage")
	}
	rows, pace := make([]float64, n*size), s.k.Pace()
	for k, j := range at.Support {
		index, values := s.view.Matrix().Column(int(j))
		pace.Did(n)
		scale, centre := s.view.Scale(int(j)), f.columns.Centre(j)
		for i := range n {
			pace.Did(1)
			rows[i*size+k] = -centre
		}
		for at, v := range values {
			pace.Did(1)
			i := at
			if index != nil {
				i = int(index[at])
			}
			rows[i*size+k] = math.FMA(v, scale, -centre)
		}
	}
	shared := 0.0
	if s.view.Centred() {
		shared = 1 / f.columns.Total()
	}
	out := make([]float64, n)
	for i := range out {
		pace.Did(4 + size*size)
		row := rows[i*size:][:size]
		for k := range row {
			row[k] = (row[k] - s.k.Dot(f.l[k*size:][:k], row[:k])) / f.l[k*size+k]
		}
		out[i] = s.k.Dot(row, row)/s.view.Total() + shared
		if weights := s.view.Weights(); weights != nil {
			out[i] *= weights[i]
		}
	}
	return out, nil
}

// Curvatures returns ℓ″ of every row at the point of the last call, without weights.
func (s *Solver) Curvatures() []float64 {
	n, _ := s.view.Dims()
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	if s.curved == nil {
		return out
	}
	s.curved.Curvature(s.state, out)
	if weights := s.view.Weights(); weights != nil {
		for i, w := range weights {
			if w > 0 {
				out[i] /= w
			}
		}
	}
	return out
}

// Motion returns by how much predictions move where all λ's move by 1.
func (s *Solver) Motion(ctx context.Context, g model.Penalty, at Point) ([]float64, error) {
	at = at.withoutBound(g)
	n, _ := s.view.Dims()
	out := make([]float64, n)
	if len(at.Support) == 0 {
		return out, nil
	}
	opts := Options{}
	if err := s.enter(g, at, &opts); err != nil {
		return nil, err
	}
	all := make([]float64, s.coordinates(g, at))
	for i := range all {
		all[i] = 1
	}
	s.combine(g, at, all)
	s.solve(ctx, opts)
	s.predict(at.Support, s.x, out)
	return out, nil
}
