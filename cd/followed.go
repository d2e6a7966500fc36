package cd

import (
	"math"

	"github.com/seed-45b9a24c/pare/model"
)

// followed says how the state was moved to its point. Sweeps through the residual take from it what predictions
// gain, so the predictions at points on the way of a solve are known without another pass over the columns.
// Rounding adds up on the way, so the final point of a solve is computed from X. With the squared loss, which
// needs fewer certificates, points are not followed.
type followed struct {
	part       followedPart // the part of the state that is at β when the next certificate begins
	drifted    bool         // points have been followed since the state was last computed from X
	staleZeros bool         // correlations of zero coefficients are of a followed point that differs slightly from the state
	disabled   bool         // rounding has shown on this matrix, so points are not followed
}

// followedPart is the part of the state that has been followed to a point.
type followedPart int

const (
	noPart     followedPart = iota // nothing
	linearPart                     // the linear predictor
	allParts                       // the state
)

const (
	followedTol = 1e-9  // the least tolerance: below it every point is computed from X
	mostDrift   = 1e-13 // of P₀: a larger difference shows that columns nearly depend on one another, or that rows have hardly any curvature
	mostSteep   = 1e4   // slope of a row relative to its curvature: beyond it rounding would show in predictions
)

// follows reports whether points may be followed. They may not if rows have hardly any curvature in models,
// whose working residual is large then.
func (s *Solver) follows() bool {
	return s.tol >= followedTol && !s.followed.disabled && s.prox.leastDamping == 0 && len(s.unpenalised.columns) == 0
}

// regain adds X̃δ to u, taken from what the working residual has lost since the model at a point was loaded. It
// returns false, and changes nothing, if that residual was not kept or would be inaccurate.
func (s *Solver) regain(from *model.State, u []float64) bool {
	in, r := &s.in, &s.in.residual
	if !s.follows() || in.engine != r || s.subsampling.squared > 0 {
		return false
	}
	offset := r.e.Offset
	for k, j := range in.columns {
		if d := s.prox.delta[k]; d != 0 { // u is centred by the weights of the view, not of the model
			offset = math.FMA(d, s.view.Mean(int(j))-in.store.Centre(j), offset)
		}
	}
	in.work += float64(regainedRow * float64(in.store.Rows()))
	return in.store.Regain(from.Weighted, r.e.Residual, offset, mostSteep, u)
}

// completeState moves the state to the gathered point, from where it has been followed to.
func (s *Solver) completeState() {
	switch s.followed.part {
	case noPart:
		s.refit()
	case linearPart:
		s.curved.Move(s.state, s.state)
		s.payRows()
	case allParts:
	}
	s.followed.part, s.followed.staleZeros = noPart, false
}

// inexactState reports whether the state differs from that of its coefficients in the last digits, or the
// correlations differ from those of the state by more than the tolerance allows.
func (s *Solver) inexactState() bool {
	return s.followed.drifted || s.followed.staleZeros && s.tol < followedTol
}

// refitFollowed computes the state of a followed point, and the correlations of its support, from X; the correlations
// of other columns remain those of the followed residual. If the two residuals differ by more than rounding, it
// certifies the point anew, stops following points, and returns false.
func (s *Solver) refitFollowed() bool {
	if !s.followed.drifted {
		return true
	}
	s.prox.current = s.state
	before := s.trial()
	before.Assign(s.state)
	s.refit()
	s.k.Axpy(-1, s.state.Prediction, before.Prediction)
	off := math.Abs(s.k.Dot(before.Weighted, before.Prediction))/s.view.Total() + math.Abs(s.state.Loss-before.Loss)
	if !(off <= mostDrift*s.null) {
		s.followed.disabled = true
		s.fitted, s.fittedCoef = s.fitted[:0], s.fittedCoef[:0]
		s.certify()
		return false
	}
	s.followed.staleZeros = true
	s.payDots(s.entries(s.active))
	s.prox.corr = grow(s.prox.corr, len(s.active))
	s.view.Dots(s.active, s.state.Weighted, s.prox.corr)
	for k, j := range s.active {
		s.cert.corr[s.cert.place(j)] = s.prox.corr[k]
	}
	s.fillCertificate()
	return true
}
