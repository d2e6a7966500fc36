package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Descent solves problems under a penalty that is not convex, with one λ, along a path: from the null model at
// αmax down in fixed steps, each point from the one before, and finally to the λ asked for. Which of several
// stationary points it returns is thus a function of the data and λ alone, independent of earlier calls. The
// points of the path are kept. It is not safe for concurrent use.
type Descent struct {
	solver    *Blocks
	penalty   func(lambda float64) (model.Blocks, error)
	lambdaMax float64 // ln αmax
	knots     []knot
	effort    outcome.Effort
	work      float64
}

// knot is a point of the path.
type knot struct {
	at   []int32
	coef []float64
}

// Constants of the path.
const (
	descentStep = 0.1  // in λ
	descentTol  = 1e-3 // Tol of [Blocks.Solve] at knots
	loosestTol  = 1e-6 // largest Tol at the λ asked for: where supports jump, a looser point may lie on another branch
	mostKnots   = 1000 // largest number of knots
)

// NewDescent returns a Descent on a solver that nothing else uses. of makes the penalty of a λ, a
// [model.Elementwise]; its solution is 0 from top = ln αmax on.
func NewDescent(solver *Blocks, of func(lambda float64) (model.Blocks, error), top float64) *Descent {
	solver.drift = newDrift(solver.view, solver.point)
	return &Descent{solver: solver, penalty: of, lambdaMax: top}
}

// Solve solves at one λ, see [Blocks.Solve]. The effort includes that on new knots.
func (d *Descent) Solve(ctx context.Context, lambda float64, opts Options) (*BlockSolution, error) {
	g, err := d.penalty(lambda)
	if err != nil {
		return nil, err
	}
	d.effort, d.work = outcome.Effort{}, 0
	last := 0
	if deep := (d.lambdaMax - lambda) / descentStep; deep > 0 && !math.IsInf(deep, 1) {
		last = int(min(math.Ceil(deep)-1, mostKnots))
	}
	for k := len(d.knots) + 1; k <= last; k++ {
		if err := d.extend(ctx, k, opts); err != nil || ctx.Err() != nil {
			break // the last solve returns the reason
		}
	}
	d.startAt(min(last, len(d.knots)))
	opts.Tol = min(opts.Tol, loosestTol)
	s, err := d.solver.Solve(ctx, g, opts)
	if err != nil {
		return nil, err
	}
	s.Add(d.effort)
	s.Work += d.work
	return s, nil
}

// startAt makes the solver begin at knot k; knot 0 is the null model.
func (d *Descent) startAt(k int) {
	if k == 0 {
		d.solver.Start(nil, nil)
		return
	}
	d.solver.Start(d.knots[k-1].at, d.knots[k-1].coef)
}

// extend adds knot k to the path.
func (d *Descent) extend(ctx context.Context, k int, opts Options) error {
	g, err := d.penalty(d.lambdaMax - float64(float64(k)*descentStep))
	if err != nil {
		return err
	}
	d.startAt(k - 1)
	opts.Tol, opts.Polish = descentTol, false
	d.solver.atKnot = true
	s, err := d.solver.Solve(ctx, g, opts)
	d.solver.atKnot = false
	if err != nil {
		return err
	}
	d.effort.Add(s.Effort)
	d.work += s.Work
	if s.Status == outcome.Cancelled {
		return nil
	}
	at, coef := d.solver.Coefficients()
	d.knots = append(d.knots, knot{at, coef})
	return nil
}
