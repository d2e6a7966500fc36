package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Where the curvature jumps, a model says nothing of the rows beyond their jump, and far below αmax it takes
// thousands of steps to find out which these are. From one strength to the next few rows change sides. So a solve
// that takes long begins anew at 0 and goes by way of stronger penalties (Hale, Yin and Zhang, SIAM Journal on
// Optimization 19, 2008).

const (
	longAttempt = 500         // sweeps
	endless     = math.MaxInt // is no bound of them
	// laborious is the status of an attempt that ends since it has taken more of them.
	laborious outcome.Status = ""
)

// solve is [Solver.Solve] but for contexts that end in the middle of a pass.
func (s *Solver) solve(ctx context.Context, g model.Penalty, opts Options) (*Solution, error) {
	opts, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	s.onWay = false
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
	case sol.Status == outcome.NotConverged && s.warm && s.astray():
		sol, err = s.anew(ctx, g, opts)
	}
	if err == nil && sol.Status == outcome.NotConverged && s.astray() {
		s.toZero()
	}
	return sol, err
}

// astray reports a point, under a penalty that makes coefficients zero, that is no better than β = 0: there the gap is P₀ at most.
func (s *Solver) astray() bool {
	return !s.pen.Quadratic() && len(s.sol.Support) > 0 && !(s.sol.RelativeGap <= 1)
}

// toZero moves to β = 0 and certifies it.
func (s *Solver) toZero() {
	s.forget()
	s.certify()
}

// forget moves to β = 0.
func (s *Solver) forget() {
	s.MoveTo(nil, nil)
	s.state.Intercept = 0
}

// anew solves from 0, with the effort of the attempt before.
func (s *Solver) anew(ctx context.Context, g model.Penalty, opts Options) (*Solution, error) {
	spent := s.sol
	s.forget()
	opts.MaxEpochs = max(1, opts.MaxEpochs-spent.Epochs)
	sol, err := s.attempt(ctx, g, opts, endless)
	if err != nil {
		return nil, err
	}
	sol.Add(spent.Effort)
	sol.Work, sol.Shared = sol.Work+spent.Work, sol.Shared+spent.Shared
	return sol, nil
}

// inStages goes from 0 by way of stronger penalties, each solved as closely as the next one needs. The effort is
// that and the solution's before.
func (s *Solver) inStages(ctx context.Context, g model.Penalty, opts Options) (*Solution, error) {
	spent := s.sol
	s.onWay = true
	s.toZero()
	reach := s.cert.dual.Reach()
	for times := stage / reach; ; times *= stage {
		step, at := opts, g
		step.MaxEpochs -= spent.Epochs
		last := !(times > 1/stage && times <= math.MaxFloat64) || step.MaxEpochs <= 1 || ctx.Err() != nil
		if s.onWay = !last; !last {
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
