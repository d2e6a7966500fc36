package cd

import (
	"context"

	"github.com/seed-45b9a24c/pare/internal/random"
)

const (
	sampleShare = 8    // rows per sampled row
	samplePer   = 3    // the least total curvature at β = 0 per column
	sampleLeast = 4096 // the least number of rows
	sampleFar   = 0.5  // the least relative gap
	sampleTol   = 1e-2
	packed      = 4.0 // price of copying an entry
)

// startFromSample starts a solve from the solution of the same problem on an eighth of the
// rows. Far from the solution of a loss that is not quadratic, a step improves little,
// however well its model is solved: the linear predictor of rows that are easy to classify
// grows by about one unit per step. Where there are many rows per column, a sample of the rows
// suffices for these steps. With fewer rows, the solution on a sample would be too different.
// What counts is the total curvature of the loss: at most a quarter per row under the logistic loss,
// and with an intercept hardly more than the number of rows of the rarer class.
//
// It reports whether there is a new point to certify. It samples only at a cold start, and not
// where packed copies are bounded.
func (s *Solver) startFromSample(ctx context.Context, o Options) bool {
	rows := s.in.store.Rows()
	if s.curved == nil || o.MaxPacked > 0 || len(s.active) > 0 || s.sol.RelativeGap < sampleFar || rows < sampleLeast {
		return false
	}
	s.startAtCertified()
	s.curved.Curvature(s.state, s.prox.curvature)
	if s.k.Asum(s.prox.curvature) < float64(samplePer*len(s.cert.order)) {
		return false
	}
	// One random row of every eight consecutive ones: rows may be sorted.
	n, _ := s.view.Dims()
	list := make([]int32, 0, n/sampleShare)
	var draw random.SplitMix64
	pace := s.k.Pace()
	for i := 0; i+sampleShare <= n; i += sampleShare {
		pace.Did(sampleShare)
		list = append(list, int32(i+draw.Below(sampleShare)))
	}
	view, err := s.view.Rows(list)
	if err != nil {
		return false
	}
	fit, err := s.curved.Rows(view, list)
	if err != nil {
		return false
	}
	solver := New(fit)
	sol, err := solver.Solve(ctx, s.pen, Options{Tol: max(sampleTol, o.Tol), MaxEpochs: s.in.epochsLeft, MaxSupport: o.MaxSupport, MaxGram: (o.MaxGram + 1) / 2})
	if err != nil {
		return false
	}
	s.in.epochsLeft -= sol.Epochs
	s.in.work += sol.Work + float64(packed*float64(s.view.Matrix().NNZ()/sampleShare))
	s.sol.Epochs += sol.Epochs
	s.sol.Steps += sol.Steps
	s.sol.Passes += (sol.Passes + sampleShare - 1) / sampleShare
	if len(sol.Support) == 0 {
		return false
	}
	s.sol.Support = append(s.sol.Support[:0], sol.Support...)
	s.sol.Coef = append(s.sol.Coef[:0], sol.Coef...)
	s.state.Intercept = solver.state.Intercept
	s.in.newton.iterations = solver.in.newton.iterations // a better estimate than the default
	s.layOut()
	return true
}
