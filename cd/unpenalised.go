package cd

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// unpenalised are the columns that a penalty leaves free. A dual point has to be
// orthogonal to them, which no scaling brings about: as the intercept is, their
// coefficients are made the best for the others' before a point is certified, which
// projects its residual. In sweeps and Newton steps they are columns like others,
// without a kink at zero.
type unpenalised struct {
	columns []int32 // ascending; columns without entries left out
	basis   []int32 // an independent part of them
	rest    []int32 // what depends on it to working precision
	factor  support.Factor
	store   *support.Columns
	known   []int32 // columns that basis and factor are of
	step    []float64
}

const (
	// mostUnpenalised bounds the system that they are eliminated by.
	mostUnpenalised = 2000
	// projections: the second takes off what rounding left of the first.
	projections = 2
	// orthogonal is the cosine to the residual up to which the rest counts as orthogonal to it.
	orthogonal = 1e-10
)

// find lists the unpenalised columns of the solver's penalty, and factorises their
// system.
func (u *unpenalised) find(s *Solver) error {
	u.columns = u.columns[:0]
	if !s.pen.Unpenalised() {
		return nil
	}
	if s.curved != nil {
		return outcome.At(outcome.BadParameter, "log-lambda", "unpenalised columns need the squared loss")
	}
	_, p := s.view.Dims()
	for j := range p {
		if s.pen.Smooth(j) && s.view.Norm(j) > 0 {
			u.columns = append(u.columns, int32(j))
		}
	}
	if len(u.columns) > mostUnpenalised {
		return outcome.At(outcome.Limit, "log-lambda", "%d unpenalised columns; there may be %d", len(u.columns), mostUnpenalised)
	}
	if !slices.Equal(u.columns, u.known) {
		u.known = append(u.known[:0], u.columns...)
		u.factorise(s.view)
		s.in.work += u.store.Work() + support.CholeskyCost(len(u.columns))
	}
	return nil
}

// factorise finds an independent part of the columns and factorises its system.
func (u *unpenalised) factorise(view *sparse.View) {
	size := len(u.columns)
	u.factor.Kernels = view.Kernels()
	u.factor.Reset(size)
	u.store = support.NewColumns(view)
	u.store.Hold(u.columns)
	gram := support.NewGram(u.store)
	gram.Hold(u.columns)
	a := make([]float64, size*size)
	gram.Submatrix(u.columns, 0, a)
	u.basis, u.rest = u.basis[:0], u.rest[:0]
	var at []int
	row := make([]float64, size)
	for i, j := range u.columns {
		for k, other := range at {
			row[k] = a[i*size+other]
		}
		row[len(at)] = a[i*size+i]
		if u.factor.Append(row[:len(at)+1]) {
			at, u.basis = append(at, i), append(u.basis, j)
		} else {
			u.rest = append(u.rest, j)
		}
	}
	u.step = grow(u.step, len(u.basis))
}

// eliminate moves the unpenalised coefficients of the gathered point to where the
// objective is least, the others fixed, and its state with them.
func (s *Solver) eliminate() {
	u := &s.loose
	if len(u.columns) == 0 {
		return
	}
	total := s.view.Total()
	for range projections {
		for k, j := range u.basis {
			u.step[k] = s.view.Dot(int(j), s.state.Weighted) / total
		}
		u.factor.Solve(u.step)
		at := 0
		for k, j := range s.sol.Support {
			if at < len(u.basis) && u.basis[at] == j {
				s.sol.Coef[k] += u.step[at]
				s.coef[k] = s.sol.Coef[k] // without copies they are the same columns
				s.beta[s.cert.place(j)] = s.sol.Coef[k]
				at++
			}
		}
		s.fit.Fit(s.sol.Support, s.sol.Coef, s.state)
		s.payDots(s.entries(u.basis))
		s.payUpdates(s.entries(s.sol.Support))
		s.payRows()
	}
}

// eliminated reports whether the residual is orthogonal to all unpenalised columns. To a
// column that is nearly but not quite dependent on the others it is not, and then only the
// dual point 0 is known to be feasible.
func (s *Solver) eliminated() bool {
	if len(s.loose.columns) == 0 {
		return true
	}
	for _, j := range s.loose.rest {
		size := s.view.Norm(int(j)) * math.Sqrt(2*s.view.Total()*s.state.Loss)
		if !(math.Abs(s.view.Dot(int(j), s.state.Weighted)) <= orthogonal*size) {
			return false
		}
	}
	return true
}
