package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Descent solves under a penalty that is not convex, with one λ, along a path: from the null model
// at αmax down in fixed steps, each point from the one before, and at last to the λ asked for. Of
// several stationary points the result is thus a function of the data and λ, independent of
// earlier calls. The points of the path are kept. It is not safe for concurrent use.
type Descent struct {
	solver *Blocks
	of     func(lambda float64) (model.Blocks, error)
	top    float64 // ln αmax
	knots  []knot
	effort outcome.Effort
	work   float64
}

// knot is a point of the path.
type knot struct {
	at   []int32
	coef []float64
}

// Along the path.
const (
	descentStep = 0.1  // in λ
	descentTol  = 1e-3 // as of [Blocks.Solve]
	loosest     = 1e-6 // the same of the λ asked for: where supports jump, a looser point may be one of another branch
	longest     = 1000 // knots
)

// NewDescent returns one on a solver that nobody else uses. of makes the penalty of a λ, a
// [model.Elementwise]; from ln αmax on its solution is 0.
func NewDescent(solver *Blocks, of func(lambda float64) (model.Blocks, error), top float64) *Descent {
	solver.drift = newDrift(solver.view, solver.point)
	return &Descent{solver: solver, of: of, top: top}
}

// Solve solves at one λ. See [Blocks.Solve]; the effort is that since the last call.
func (d *Descent) Solve(ctx context.Context, lambda float64, opts Options) (*BlockSolution, error) {
	g, err := d.of(lambda)
	if err != nil {
		return nil, err
	}
	d.effort, d.work = outcome.Effort{}, 0
	last := 0
	if deep := (d.top - lambda) / descentStep; deep > 0 && !math.IsInf(deep, 1) {
		last = int(min(math.Ceil(deep)-1, longest))
	}
	for k := len(d.knots) + 1; k <= last; k++ {
		if err := d.extend(ctx, k, opts); err != nil || ctx.Err() != nil {
			break // the last solve says so
		}
	}
	d.startAt(min(last, len(d.knots)))
	opts.Tol = min(opts.Tol, loosest)
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
	g, err := d.of(d.top - float64(float64(k)*descentStep))
	if err != nil {
		return err
	}
	d.startAt(k - 1)
	opts.Tol, opts.Polish = descentTol, false
	d.solver.knot = true
	s, err := d.solver.Solve(ctx, g, opts)
	d.solver.knot = false
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
