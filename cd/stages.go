package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Where the curvature of the loss jumps, a quadratic model says nothing about the rows beyond their jump, and far below
// αmax it takes thousands of steps to find these rows. From one strength to the next few rows cross their jump. So a solve
// that takes long starts again at 0 and follows a sequence of decreasing strengths (Hale, Yin and Zhang, SIAM Journal on
// Optimization 19, 2008).

const (
	longAttempt = 500         // sweeps
	endless     = math.MaxInt // no bound on the sweeps
	// laborious is the status of an attempt that ended because it took too many sweeps or made no more progress.
	laborious outcome.Status = ""
)

// solve implements [Solver.Solve], which handles contexts that end in the middle of a pass.
func (s *Solver) solve(ctx context.Context, g model.Penalty, opts Options) (*Solution, error) {
	opts, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	s.inStage = false
	patience := endless
	if s.curved != nil && !g.Quadratic() {
		if _, smooth := s.curved.Concordance(); !smooth {
			patience = longAttempt
		}
	}
	sol, err := s.attempt(ctx, g, opts, patience)
	switch {
	case err != nil:
		return nil, err
	case sol.Status == laborious:
		sol, err = s.inStages(ctx, g, opts)
	case sol.Status == outcome.NotConverged && s.warm && s.worseThanZero():
		sol, err = s.restartAtZero(ctx, g, opts)
	}
	if err == nil && sol.Status == outcome.NotConverged && s.worseThanZero() {
		s.certifyZero()
	}
	return sol, err
}

// worseThanZero reports whether the certified point, under a penalty that can make coefficients zero, is no better than β = 0, where
// the gap is at most P₀.
func (s *Solver) worseThanZero() bool {
	return !s.pen.Quadratic() && len(s.sol.Support) > 0 && !(s.sol.RelativeGap <= 1)
}

// certifyZero moves to β = 0 and certifies that point.
func (s *Solver) certifyZero() {
	s.moveToZero()
	s.certify()
}

// moveToZero moves to β = 0.
func (s *Solver) moveToZero() {
	s.MoveTo(nil, nil)
	s.state.Intercept = 0
}

// restartAtZero solves from β = 0 with the sweeps left, and adds the effort of the attempt before.
func (s *Solver) restartAtZero(ctx context.Context, g model.Penalty, opts Options) (*Solution, error) {
	spent := s.sol
	s.moveToZero()
	opts.MaxEpochs = max(1, opts.MaxEpochs-spent.Epochs)
	sol, err := s.attempt(ctx, g, opts, endless)
	if err != nil {
		return nil, err
	}
	sol.Add(spent.Effort)
	sol.Work, sol.Shared = sol.Work+spent.Work, sol.Shared+spent.Shared
	return sol, nil
}

// inStages solves from β = 0 along a sequence of stronger penalties, each only as accurately as the next one needs. It
// adds the effort of the attempt before.
func (s *Solver) inStages(ctx context.Context, g model.Penalty, opts Options) (*Solution, error) {
	spent := s.sol
	s.inStage = true
	s.certifyZero()
	reach := s.cert.dual.Reach()
	for times := stage / reach; ; times *= stage {
		step, at := opts, g
		step.MaxEpochs -= spent.Epochs
		last := !(times > 1/stage && times <= math.MaxFloat64) || step.MaxEpochs <= 1 || ctx.Err() != nil
		if s.inStage = !last; !last {
			step.MaxEpochs--
			step.Tol, step.Polish = max(opts.Tol, min(stageTol, stageTol*times*reach)), false
			at = g.Scaled(times, 1)
		}
		if _, err := s.attempt(ctx, at, step, endless); err != nil {
			return nil, err
		}
		spent.Add(s.sol.Effort)
		spent.Work, spent.Shared = spent.Work+s.sol.Work, spent.Shared+s.sol.Shared
		if last {
			s.sol.Effort, s.sol.Work, s.sol.Shared = spent.Effort, spent.Work, spent.Shared
			return &s.sol, nil
		}
	}
}
