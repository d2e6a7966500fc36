package cd

import (
	"context"

	"github.com/seed-45b9a24c/pare/internal/random"
)

const (
	sampleShare = 8    // one row in so many
	samplePer   = 3    // curvature there must be at β = 0 for every column
	sampleLeast = 4096 // rows there must be
	sampleFar   = 0.5  // the least relative gap
	sampleTol   = 1e-2
	packed      = 4.0 // the price of an entry of the copy
)

// startFromSample starts a solve from the solution of the same problem on an eighth of the
// rows. Far from the solution of a loss that is not quadratic, a step improves little,
// however well its model is solved: rows that are easily told move out by one unit of
// the linear predictor at a time. Where there are many rows for every column these
// steps may as well be taken on few. With fewer a sample's solution is another one.
// What counts is the curvature of the loss: a quarter a row, and with an intercept
// hardly more than the rows of the rarer class.
//
// It reports whether there is a new point to certify: only from a cold start, and not where
// copies are bounded.
func (s *Solver) startFromSample(ctx context.Context, o Options) bool {
	rows := s.in.store.Rows()
	if s.curved == nil || o.MaxPacked > 0 || len(s.active) > 0 || s.sol.RelativeGap < sampleFar || rows < sampleLeast {
		return false
	}
	s.enter()
	s.curved.Curvature(s.state, s.prox.d)
	if s.k.Asum(s.prox.d) < float64(samplePer*len(s.cert.order)) {
		return false
	}
	// Of every eight rows one at random: rows may come in an order.
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
	sol, err := solver.Solve(ctx, s.pen, Options{Tol: max(sampleTol, o.Tol), MaxEpochs: s.in.left, MaxSupport: o.MaxSupport, MaxGram: (o.MaxGram + 1) / 2})
	if err != nil {
		return false
	}
	s.in.left -= sol.Epochs
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
	s.in.newton.iterations = solver.in.newton.iterations // better than a guess
	s.layOut()
	return true
}
