package pare

import (
	"context"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Job states the inner problems of a choice of λ without the data. It is what another process, which
// has the data, passes to [NewLanes].
type Job struct {
	// Config is the Config given to [Select], without Pool and Observer. A [WeightedLasso] makes two
	// jobs: first that of a [Lasso] with one λ, and then its own. An [ElasticNet] on dense data with
	// few rows also makes two: its own, and that of a [Ridge].
	Config Config
	// Validation is the Validation given to [Select], with the noise level if that was estimated.
	Validation Validation
	// MaxGram and MaxPacked, if positive, bound the number of columns of a Gram matrix and the bytes
	// of copies of sparse columns, as the caller's [Pool] does. Both can change the last bits of
	// results, so all lanes of a job must have the same bounds.
	MaxGram   int
	MaxPacked int64
}

// NewLanes makes the lanes of a job, which hold its inner problems, in this process, for a [Select]
// elsewhere whose [SelectOptions].Lanes sends requests to them. x and y are the data of that
// Select. The answers have the bits of Select's own lanes. Config.Threads is the number of lanes
// that work at once. The errors are those of [Select].
func NewLanes(ctx context.Context, x sparse.Matrix, y []float64, j Job) (*bilevel.Lanes, error) {
	j.Config.Certify = false
	e, err := newEngine(context.Background(), x, y, j.Config)
	if err != nil {
		return nil, err
	}
	switch {
	case j.MaxGram < 0:
		return nil, outcome.Errorf(outcome.BadParameter, "the number of columns of a Gram matrix must not be negative, got %d", j.MaxGram)
	case j.MaxPacked < 0:
		return nil, outcome.Errorf(outcome.BadParameter, "the number of bytes of copies of columns must not be negative, got %d", j.MaxPacked)
	}
	e.gram, e.packed = j.MaxGram, j.MaxPacked
	spec, err := e.outerSpec(ctx, j.Validation)
	if err != nil {
		return nil, err
	}
	merged := e.statement.X
	if e.family.form.Hyperparameters == inner.PerColumn {
		if merged, _, err = bilevel.Merge(e.statement.Kernels, merged, spec, e.config.Positive); err != nil {
			return nil, err
		}
	}
	g, err := e.choiceProblem(ctx, merged, spec, j.Validation)
	if err != nil {
		return nil, err
	}
	d, err := e.distributable(g.problem)
	if err != nil {
		return nil, err
	}
	return d.Lanes(g.x, g.spec)
}

// distributable returns the problem if its lanes can be in another process.
func (e *engine) distributable(problem inner.Problem) (inner.Distributable, error) {
	d, ok := problem.(inner.Distributable)
	switch {
	case !ok:
		return nil, outcome.At(outcome.Usage, "lanes", "the inner problems of %s can only be solved in the process that selects; leave Lanes out", e.config.Model)
	case e.config.MaxBytes != 0:
		return nil, outcome.At(outcome.Usage, "max-bytes", "does not apply to lanes in other processes; limit the memory of each worker instead")
	}
	return d, nil
}

// choiceProblem has the matrix that λ is chosen on, and the problem on it: X, or an equivalent smaller
// matrix (rotated columns of a ridge, or condensed rows).
type choiceProblem struct {
	problem inner.Problem
	x       sparse.Matrix
	spec    bilevel.Spec
	toX     func(*bilevel.Problem) inner.Outer // translates an outer problem on x to one in terms of X; nil: not needed
}

// choiceProblem returns the matrix and problem that λ is chosen on.
func (e *engine) choiceProblem(ctx context.Context, x sparse.Matrix, spec bilevel.Spec, v Validation) (*choiceProblem, error) {
	g := &choiceProblem{problem: e.Problem, x: x, spec: spec}
	if e.leftOut != "" || spec.Iterate != nil {
		return g, nil
	}
	rotation, err := e.statement.Rotation(ctx)
	if err != nil {
		return nil, err
	}
	if rotation != nil {
		g.x, g.toX = rotation.L, func(p *bilevel.Problem) inner.Outer { return bilevel.NewRotated(p, rotation) }
		return g, nil
	}
	if !e.condenses(v) {
		return g, nil
	}
	rows, few, err := e.statement.Condense(ctx, spec)
	if rows == nil || err != nil {
		return g, err
	}
	problem, err := e.family.newProblem(few)
	if err != nil {
		return nil, err
	}
	*g = choiceProblem{problem: problem, x: rows.X, spec: rows.Spec(spec)}
	if spec.Risk == nil {
		g.toX = func(p *bilevel.Problem) inner.Outer {
			return bilevel.NewOnCondensed(p, rows, e.statement.Kernels, x, spec)
		}
	}
	return g, nil
}

// condenses reports whether λ is chosen on condensed rows.
func (e *engine) condenses(v Validation) bool {
	folds := v.count(len(e.statement.Y))
	switch v.Criterion {
	case "", CV, HoldOut:
		if squared := v.Loss == nil || v.Loss == criterion.Criterion(criterion.MeanSquaredError{}); !squared {
			return false
		}
	case SURE, AIC, BIC:
		folds = 2 // lanes
	default:
		return false
	}
	if (v.onAllRows() || e.config.sweepFew) && e.statement.X.NNZ() < condensedEntries {
		return false
	}
	return e.config.Method.iterdiffMethod() == nil && e.statement.Condenses(folds)
}

// condensedEntries is the number of entries of X from which criteria on all rows, and noise levels, are computed on
// condensed rows, which changes their last digits. Below it they keep the digits of earlier versions, so that the logs of
// earlier searches remain valid.
const condensedEntries = 1 << 20

// withRidge combines a problem of an ℓ1 strength and a ridge with a problem of the ridge alone on fewer columns, if
// [bilevel.Rotation] gives one.
func (e *engine) withRidge(call, ctx context.Context, problem inner.Outer, o SelectOptions) (inner.Outer, error) {
	mixed, ok := problem.(*bilevel.Problem)
	if !ok || !e.statement.Rotates() || e.config.MaxBytes > 0 { // MaxBytes is divided among the lanes of a single problem
		return problem, nil
	}
	c := e.config
	c.Model = Ridge
	ridge, err := e.subEngine(call, c)
	if err != nil {
		return nil, err
	}
	spec, err := ridge.outerSpec(ctx, o.Validation)
	if err != nil {
		return nil, err
	}
	if problem, err = ridge.newOuter(ctx, spec, o); err != nil {
		return nil, err
	}
	if rotated, ok := problem.(*bilevel.Rotated); ok {
		return bilevel.NewMixed(mixed, rotated), nil
	}
	return mixed, nil
}

// newOuter states an outer problem; if [SelectOptions].Lanes is set, its lanes solve the inner problems.
func (e *engine) newOuter(ctx context.Context, spec bilevel.Spec, o SelectOptions) (inner.Outer, error) {
	if o.Lanes != nil && e.leftOut != "" {
		return nil, outcome.At(outcome.Usage, "lanes", "%s has no lanes; leave Lanes out", e.leftOut)
	}
	g, err := e.choiceProblem(ctx, e.statement.X, spec, o.Validation)
	if err != nil {
		return nil, err
	}
	var problem inner.Outer
	switch {
	case o.Lanes != nil:
		problem, err = e.newOuterOnLanes(ctx, g, o)
	case g.problem != e.Problem:
		problem, err = g.problem.Outer(g.spec)
	case g.toX != nil:
		problem, err = outerOn(g.problem, g.x, g.spec)
	default:
		problem, err = e.outer(spec)
	}
	if p, ok := problem.(*bilevel.Problem); ok && g.toX != nil && err == nil {
		return g.toX(p), nil
	}
	return problem, err
}

// newOuterOnLanes is newOuter on the lanes of [SelectOptions].Lanes.
func (e *engine) newOuterOnLanes(ctx context.Context, g *choiceProblem, o SelectOptions) (inner.Outer, error) {
	d, err := e.distributable(g.problem)
	if err != nil {
		return nil, err
	}
	if g.spec.Risk != nil {
		o.Validation.Sigma = g.spec.Risk.Sigma
	}
	c := e.config
	c.Pool, c.Observer, c.grant = nil, nil, nil
	runner, err := o.Lanes(ctx, Job{c, o.Validation, g.spec.Solver.MaxGram, g.spec.Solver.MaxPacked})
	if err != nil {
		return nil, err
	}
	if runner == nil {
		return nil, outcome.At(outcome.Usage, "lanes", "SelectOptions.Lanes returned neither a runner nor an error")
	}
	return d.Over(ctx, runner, g.spec)
}

// outerOn states an outer problem on another matrix with the same rows.
func outerOn(problem inner.Problem, x sparse.Matrix, spec bilevel.Spec) (inner.Outer, error) {
	return problem.(interface {
		On(sparse.Matrix, bilevel.Spec) (inner.Outer, error)
	}).On(x, spec)
}
