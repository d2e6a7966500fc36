package implicit

import (
	"math"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/support"
)

// mostLeverages bounds the number of rows times the size of the support.
const mostLeverages = 1 << 27

// Removal holds the first-order effect of each row, and of λ, on a point.
type Removal struct {
	// Leverage is hᵢ = sᵢ·xᵢA⁻¹xᵢᵀ/N of every row on the support, with the intercept: the change of the row's
	// prediction per unit change of its own residual. It is +Inf where no row of positive weight has a
	// curvature, so that nothing determines the intercept.
	Leverage []float64
	Motion   []float64   // the derivative of the predictions where all λs move by 1
	Moves    [][]float64 // the derivative of the support's coefficients in each λ; nil where each column has its own λ
}

// Leverages returns the leverages of the rows and the derivatives of the fit. Coefficients at a bound are
// fixed, as in [Solver.Solve]. The error is an [outcome.Error]: of kind Limit where rows and support are too
// many, of kind BadParameter where the columns depend on one another.
func (s *Solver) Leverages(g model.Penalty, at Point) (*Removal, error) {
	at = at.withoutBound(g)
	n, p := s.view.Dims()
	size := len(at.Support)
	if float64(n)*float64(size) > mostLeverages || size > largestProof {
		return nil, outcome.Errorf(outcome.Limit, "too many rows and columns for leverages: %d rows, %d columns in the support", n, size)
	}
	if c := g.Columns(); c >= 0 && c != p {
		return nil, outcome.Errorf(outcome.Shape, "%d strengths for %d columns", c, p)
	}
	if err := check(g, at, p); err != nil {
		return nil, err
	}
	s.optimality(g, at)
	f, _, independent := s.factorise(g, at.Support)
	if independent < size {
		return nil, outcome.Errorf(outcome.BadParameter, "the columns of the support are linearly dependent, so leverages do not exist")
	}
	out := &Removal{Leverage: make([]float64, n), Motion: make([]float64, n)}
	if size > 0 {
		s.fromFactor(f, at.Support, out.Leverage)
		s.setMotion(out, f, g, at)
	}
	shared := 0.0
	if s.view.Centred() {
		shared = 1 / f.columns.Total()
	}
	weights, pace := s.view.Weights(), s.k.Pace()
	for i, square := range out.Leverage {
		pace.Did(1)
		out.Leverage[i] = square/s.view.Total() + shared
		if weights != nil && weights[i] == 0 {
			out.Leverage[i] = 0
		} else if weights != nil {
			out.Leverage[i] *= weights[i]
		}
	}
	return out, nil
}

// setMotion sets the derivatives of the coefficients and predictions.
func (s *Solver) setMotion(out *Removal, f factored, g model.Penalty, at Point) {
	all := make([]float64, len(at.Support))
	solve := func(v []float64) { support.CholeskySolve(s.k, f.l, len(v), v) }
	if s.weighted(g) {
		g.Sensitivity(0, at.Support, at.Coef, all)
		solve(all)
	} else {
		for i := range g.Hyperparameters() {
			v := make([]float64, len(at.Support))
			g.Sensitivity(i, at.Support, at.Coef, v)
			solve(v)
			s.k.Axpy(1, v, all)
			out.Moves = append(out.Moves, at.withZeros(v))
		}
	}
	s.predict(f.columns, at.Support, all, out.Motion)
}

// fromFactor sets squares to xᵢ(L·Lᵀ)⁻¹xᵢᵀ = ‖L⁻¹xᵢᵀ‖² for every row, in blocks of L's number of rows.
func (s *Solver) fromFactor(f factored, columns []int32, squares []float64) {
	l, size := support.Padded(s.k, f.l, len(columns))
	block, stored := make([]float64, size*size), make([]int, len(columns))
	pace := s.k.Pace()
	for first := 0; first < len(squares); first += size {
		here := squares[first:min(first+size, len(squares))]
		count := len(here)
		for k, j := range columns {
			pace.Did(count)
			stored[k] = s.entries(j, f.columns.Centre(j), first, stored[k], block[k*size:][:count])
		}
		support.ForwardTiles(s.k, l, block, size, count)
		for k := range columns {
			pace.Did(count)
			for i, v := range block[k*size:][:count] {
				here[i] += float64(v * v)
			}
		}
	}
}

// entries sets out to the entries of a centred column in the rows from first on. met is the number of stored
// entries in the rows before; the return value is that number for the rows after those of out.
func (s *Solver) entries(j int32, centre float64, first, stored int, out []float64) int {
	index, values := s.view.Matrix().Column(int(j))
	scale := s.view.Scale(int(j))
	if index == nil {
		for i, v := range values[first:][:len(out)] {
			out[i] = math.FMA(v, scale, -centre)
		}
		return 0
	}
	for i := range out {
		out[i] = -centre
	}
	for ; stored < len(index) && int(index[stored])-first < len(out); stored++ {
		out[int(index[stored])-first] = math.FMA(values[stored], scale, -centre)
	}
	return stored
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
