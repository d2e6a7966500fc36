package cd

import (
	"math"

	"github.com/seed-45b9a24c/pare/model"
)

// followed says how the state has come to be where it is. Sweeps through the residual take from it what
// predictions gain, so points on the way of a solve have these without another pass over their columns.
// Rounding adds up on the way, so the point that a solve ends with is computed from X. Of the squared loss,
// which needs fewer certificates, none is followed.
type followed struct {
	at      reached // what of the state is that of β, where the next certificate begins
	drifted bool    // points have been followed since the last was computed from X
	beside  bool    // correlations of zero coefficients are of a followed point beside the state
	never   bool    // rounding has shown on this matrix
}

// reached is what has been followed to a point.
type reached int

const (
	elsewhere reached = iota // nothing
	linear                   // the linear predictor
	complete                 // the state
)

const (
	followedTol = 1e-9  // the least tolerance: below it every point is computed from X
	mostOff     = 1e-13 // of P₀: more shows that columns nearly depend on one another, or rows hardly bend
	mostSteep   = 1e4   // slope of a row over its curvature: beyond it rounding would show in predictions
)

// follows reports whether points may be followed: not of a loss whose rows have hardly any curvature in
// models, the residual of which is large then.
func (s *Solver) follows() bool {
	return s.tol >= followedTol && !s.followed.never && s.prox.least == 0 && len(s.unpenalised.columns) == 0
}

// regain adds X̃δ to u, by what the working residual has lost since the model at a point was loaded. It
// returns false, and changes nothing, where it has not been kept or would be off.
func (s *Solver) regain(from *model.State, u []float64) bool {
	in, r := &s.in, &s.in.residual
	if !s.follows() || in.engine != r || s.subsampling.squared > 0 {
		return false
	}
	offset := r.e.Offset
	for k, j := range in.columns {
		if d := s.prox.delta[k]; d != 0 { // centred by the weights of the view, not of the model
			offset = math.FMA(d, s.view.Mean(int(j))-in.store.Centre(j), offset)
		}
	}
	in.work += float64(regainedRow * float64(in.store.Rows()))
	return in.store.Regain(from.Weighted, r.e.Residual, offset, mostSteep, u)
}

// predict moves the state to the gathered point, on from where that has been followed to.
func (s *Solver) predict() {
	switch s.followed.at {
	case elsewhere:
		s.refit()
	case linear:
		s.curved.Move(s.state, s.state)
		s.payRows()
	case complete:
	}
	s.followed.at, s.followed.beside = elsewhere, false
}

// strayed reports that the state is not that of its coefficients to the last digits, or its certificate
// not that of the state to those asked for.
func (s *Solver) strayed() bool {
	return s.followed.drifted || s.followed.beside && s.tol < followedTol
}

// settle computes the state of a followed point from X, and the correlations of its support; those of other
// columns are of the followed residual. Where the two residuals differ by more than rounding, the point is
// certified anew and none is followed any more: it then returns false.
func (s *Solver) settle() bool {
	if !s.followed.drifted {
		return true
	}
	s.prox.here = s.state
	before := s.trial()
	before.Assign(s.state)
	s.refit()
	s.k.Axpy(-1, s.state.Prediction, before.Prediction)
	off := math.Abs(s.k.Dot(before.Weighted, before.Prediction))/s.view.Total() + math.Abs(s.state.Loss-before.Loss)
	if !(off <= mostOff*s.null) {
		s.followed.never = true
		s.fitted, s.fittedCoef = s.fitted[:0], s.fittedCoef[:0]
		s.certify()
		return false
	}
	s.followed.beside = true
	s.payDots(s.entries(s.active))
	s.prox.corr = grow(s.prox.corr, len(s.active))
	s.view.Dots(s.active, s.state.Weighted, s.prox.corr)
	for k, j := range s.active {
		s.cert.corr[s.cert.place(j)] = s.prox.corr[k]
	}
	s.conclude()
	return true
}
