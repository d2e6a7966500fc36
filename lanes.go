package pare

import (
	"context"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Job states the inner problems of a choice of λ without the data: what another process needs
// to make them with [NewLanes].
type Job struct {
	// Config is the one given to [Select], without Pool and Observer. A [WeightedLasso] makes two
	// jobs: first a [Lasso] with one λ, and then its own. So does an [ElasticNet] on dense data of
	// few rows: its own, and that of a [Ridge].
	Config Config
	// Validation is the one given to [Select], with the noise level if that was estimated.
	Validation Validation
	// MaxGram and MaxPacked, where positive, bound the columns of a Gram matrix and the bytes of
	// copies of sparse columns, as the caller's [Pool] does. Both can change the last bits of
	// results, so all lanes of a job must have them.
	MaxGram   int
	MaxPacked int64
}

// NewLanes makes the lanes of a job in this process, for a [Select] elsewhere whose
// [SelectOptions].Lanes asks them. x and y are the data of that Select. The answers have the
// bits of Select's own lanes. Config.Threads is how many of them work at once. The errors are
// those of [Select].
func NewLanes(ctx context.Context, x sparse.Matrix, y []float64, j Job) (*bilevel.Lanes, error) {
	j.Config.Certify = false
	e, err := newEngine(context.Background(), x, y, j.Config)
	if err != nil {
		return nil, err
	}
	switch {
	case j.MaxGram < 0:
		return nil, outcome.Errorf(outcome.BadParameter, "the columns of a Gram matrix must not be negative, got %d", j.MaxGram)
	case j.MaxPacked < 0:
		return nil, outcome.Errorf(outcome.BadParameter, "the bytes of copies of columns must not be negative, got %d", j.MaxPacked)
	}
	e.gram, e.packed = j.MaxGram, j.MaxPacked
	spec, err := e.choice(ctx, j.Validation)
	if err != nil {
		return nil, err
	}
	d, err := e.distributable()
	if err != nil {
		return nil, err
	}
	if e.family.form.Hyperparameters == inner.PerColumn {
		if x, _, err = bilevel.Merge(e.of.Kernels, x, spec, e.config.Positive); err != nil {
			return nil, err
		}
	}
	switch rotation, err := e.rotation(ctx, spec); {
	case err != nil:
		return nil, err
	case rotation != nil:
		x = rotation.L
	}
	return d.Lanes(x, spec)
}

func (e *engine) distributable() (inner.Distributable, error) {
	d, ok := e.Problem.(inner.Distributable)
	switch {
	case !ok:
		return nil, outcome.At(outcome.Usage, "lanes", "inner problems of %s are solved in the process that selects; leave lanes out", e.config.Model)
	case e.config.MaxBytes != 0:
		return nil, outcome.At(outcome.Usage, "max-bytes", "is for lanes of one process; bound the memory of each worker by itself")
	}
	return d, nil
}

// rotation returns X as a ridge on few rows may have it, nil where a choice is to be on X itself.
func (e *engine) rotation(ctx context.Context, spec bilevel.Spec) (*bilevel.Rotation, error) {
	if e.leftOut != "" || spec.Iterate != nil {
		return nil, nil
	}
	return e.of.Rotation(ctx)
}

// withRidge gives a problem of two strengths one of the ridge alone, where that has fewer columns.
func (e *engine) withRidge(call, ctx context.Context, problem inner.Outer, o SelectOptions) (inner.Outer, error) {
	mixed, ok := problem.(*bilevel.Problem)
	if !ok || !e.of.Rotates() || e.config.MaxBytes > 0 { // which is shared out among the lanes of one problem
		return problem, nil
	}
	c := e.config
	c.Model = Ridge
	ridge, err := e.part(call, c)
	if err != nil {
		return nil, err
	}
	spec, err := ridge.choice(ctx, o.Validation)
	if err != nil {
		return nil, err
	}
	if problem, err = ridge.over(ctx, spec, o); err != nil {
		return nil, err
	}
	if rotated, ok := problem.(*bilevel.Rotated); ok {
		return bilevel.NewMixed(mixed, rotated), nil
	}
	return mixed, nil
}

// over states an outer problem, over the lanes of [SelectOptions].Lanes where that is set.
func (e *engine) over(ctx context.Context, spec bilevel.Spec, o SelectOptions) (inner.Outer, error) {
	rotation, err := e.rotation(ctx, spec)
	if err != nil {
		return nil, err
	}
	problem, err := e.overLanes(ctx, spec, o, rotation)
	if p, ok := problem.(*bilevel.Problem); ok && rotation != nil && err == nil {
		return bilevel.NewRotated(p, rotation), nil
	}
	return problem, err
}

// overLanes is over on the columns of a rotation, if there is one.
func (e *engine) overLanes(ctx context.Context, spec bilevel.Spec, o SelectOptions, rotation *bilevel.Rotation) (inner.Outer, error) {
	if o.Lanes != nil && e.leftOut != "" {
		return nil, outcome.At(outcome.Usage, "lanes", "%s has no lanes; leave them out", e.leftOut)
	}
	switch {
	case o.Lanes != nil:
	case rotation != nil:
		return e.on(rotation.L, spec)
	default:
		return e.outer(spec)
	}
	d, err := e.distributable()
	if err != nil {
		return nil, err
	}
	if spec.Risk != nil {
		o.Validation.Sigma = spec.Risk.Sigma
	}
	c := e.config
	c.Pool, c.Observer, c.grant = nil, nil, nil
	runner, err := o.Lanes(ctx, Job{c, o.Validation, spec.Solver.MaxGram, spec.Solver.MaxPacked})
	if err != nil {
		return nil, err
	}
	if runner == nil {
		return nil, outcome.At(outcome.Usage, "lanes", "SelectOptions.Lanes returned neither a runner nor an error")
	}
	return d.Over(ctx, runner, spec)
}

// on states an outer problem on another matrix of the same rows.
func (e *engine) on(x sparse.Matrix, spec bilevel.Spec) (inner.Outer, error) {
	return e.Problem.(interface {
		On(sparse.Matrix, bilevel.Spec) (inner.Outer, error)
	}).On(x, spec)
}
