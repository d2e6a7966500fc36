package pare

import (
	"context"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Job states the inner problems of a choice of λ, apart from the data: what [NewLanes] needs
// to make them in another process.
type Job struct {
	// Config is that of [Select] without Pool and Observer, which are the caller's, but that a
	// [WeightedLasso] makes two jobs: first a [Lasso], for one λ, and then its own.
	Config Config
	// Validation is that of [Select], with the noise level where that was estimated.
	Validation Validation
	// MaxGram, where positive, bounds the columns of a Gram matrix: what a [Pool] leaves the call.
	// It can move the last bits, so lanes elsewhere have it, too.
	MaxGram int
}

// distributable is an inner problem whose lanes may be elsewhere.
type distributable interface {
	// lanes makes the lanes of an outer problem on x in this process.
	lanes(x sparse.Matrix, spec bilevel.Spec) (*bilevel.Lanes, error)
	// over states the outer problem over lanes that are anywhere.
	over(ctx context.Context, runner bilevel.Runner, spec bilevel.Spec) (outer, error)
}

// NewLanes makes the lanes of a job in this process, the other end of [SelectOptions].Lanes:
// their answers have the bits of Select's own lanes. Config.Threads bounds how many work at
// once. The errors are those of [Select].
func NewLanes(ctx context.Context, x sparse.Matrix, y []float64, j Job) (*bilevel.Lanes, error) {
	j.Config.Certify = false
	e, err := newEngine(x, y, j.Config)
	if err != nil {
		return nil, err
	}
	if j.MaxGram < 0 {
		return nil, outcome.Errorf(outcome.BadParameter, "the columns of a Gram matrix must not be negative, got %d", j.MaxGram)
	}
	e.gram = j.MaxGram
	spec, err := e.choice(ctx, j.Validation)
	if err != nil {
		return nil, err
	}
	d, err := e.distributable()
	if err != nil {
		return nil, err
	}
	if e.family.hyperparameters == perColumn {
		if x, _, err = bilevel.Merge(e.k, x, spec, e.config.Positive); err != nil {
			return nil, err
		}
	}
	return d.lanes(x, spec)
}

func (e *engine) distributable() (distributable, error) {
	d, ok := e.problem.(distributable)
	switch {
	case !ok:
		return nil, outcome.At(outcome.Usage, "lanes", "inner problems of %s are solved in the process that selects; leave lanes out", e.config.Model)
	case e.config.MaxBytes != 0:
		return nil, outcome.At(outcome.Usage, "max-bytes", "is for lanes of one process; bound the memory of each worker by itself")
	}
	return d, nil
}

// over states an outer problem, over the lanes of [SelectOptions].Lanes where that is set.
func (e *engine) over(ctx context.Context, spec bilevel.Spec, o SelectOptions) (outer, error) {
	if o.Lanes != nil && e.leftOut != "" {
		return nil, outcome.At(outcome.Usage, "lanes", "%s has no lanes; leave them out", e.leftOut)
	}
	if o.Lanes == nil {
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
	c.Pool, c.Observer, c.seat = nil, nil, nil
	runner, err := o.Lanes(ctx, Job{c, o.Validation, spec.Solver.MaxGram})
	if err != nil {
		return nil, err
	}
	return d.over(ctx, runner, spec)
}

func (s *separable) lanes(x sparse.Matrix, spec bilevel.Spec) (*bilevel.Lanes, error) {
	return bilevel.NewLanes(s.engine.k, x, s.engine.y, s.complete(spec))
}

func (s *separable) over(ctx context.Context, runner bilevel.Runner, spec bilevel.Spec) (outer, error) {
	return bilevel.NewOver(ctx, runner, s.complete(spec))
}

func (m *oneVersusRest) lanes(x sparse.Matrix, spec bilevel.Spec) (*bilevel.Lanes, error) {
	spec.Penalty = m.engine.family.penalty
	return bilevel.NewMulticlassLanes(m.engine.k, x, m.engine.y, spec)
}

func (m *oneVersusRest) over(ctx context.Context, runner bilevel.Runner, spec bilevel.Spec) (outer, error) {
	return bilevel.NewMulticlassOver(ctx, m.engine.k, runner, m.engine.y, spec)
}

func (m *onSamples) lanes(_ sparse.Matrix, spec bilevel.Spec) (*bilevel.Lanes, error) {
	return bilevel.NewSVMLanes(m.engine.k, m.samples, m.engine.y, spec)
}

func (m *onSamples) over(ctx context.Context, runner bilevel.Runner, spec bilevel.Spec) (outer, error) {
	return bilevel.NewOver(ctx, runner, spec)
}
