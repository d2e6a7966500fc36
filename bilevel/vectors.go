package bilevel

import (
	"context"
	"time"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// VectorsKind is a kind of support vector machine, see [model.Vectors].
type VectorsKind int

// The kinds of support vector machine.
const (
	VectorClasses    VectorsKind = iota // classification, with the hinge loss
	VectorRegression                    // regression, with an ε-insensitive tube
	VectorsOnSimplex                    // regression with coefficients on the probability simplex
)

// NewVectors prepares the choice of the hyperparameters of a [model.Vectors]: ln C, and for
// regression ln ε. Of the spec, Criterion is required; Penalty and Datafit are not used.
func NewVectors(k *kernels.Set, x sparse.Matrix, y []float64, which VectorsKind, spec Spec) (*Problem, error) {
	lanes, err := NewVectorsLanes(k, x, y, which, spec)
	if err != nil {
		return nil, err
	}
	return NewOver(context.Background(), lanes, spec)
}

// NewVectorsLanes prepares the lanes of the problem that [NewVectors] returns.
func NewVectorsLanes(k *kernels.Set, x sparse.Matrix, y []float64, which VectorsKind, spec Spec) (*Lanes, error) {
	n, p := x.Dims()
	if err := spec.Check(k, n); err != nil {
		return nil, err
	}
	return newLanes(spec, spec.Folds.Count(k), 0, p, func(id LaneID) (lane, error) {
		weights, rows := spec.Split(k, id.Fold)
		fit, err := model.NewVectors(k, x, y, model.VectorsOptions{
			Weights: weights, Classes: which == VectorClasses, Simplex: which == VectorsOnSimplex, Intercept: spec.Intercept, Standardise: spec.Standardise,
		})
		if err != nil {
			return nil, err
		}
		solver, err := cd.NewVectors(fit)
		if err != nil {
			return nil, err
		}
		j := newFoldCriterion(k, &spec, y, rows)
		null := make([]float64, n)
		fit.NullPredictions(null)
		b, _ := fit.Intercept(null, 1, 0)
		for i := range null {
			null[i] += b
		}
		if err := j.evaluateNull(null); err != nil {
			return nil, err
		}
		return &vectorsLane{foldCriterion: j, fit: fit, solver: solver, implicit: implicit.NewVectors(fit)}, nil
	}), nil
}

// vectorsLane is the lane of a support vector machine of any [VectorsKind].
type vectorsLane struct {
	foldCriterion
	stateless
	fit      *model.Vectors
	solver   *cd.Vectors
	implicit *implicit.Vectors
	last     *cd.VectorsSolution
}

func (l *vectorsLane) solve(ctx context.Context, r *LaneRequest, options cd.Options) error {
	start := time.Now()
	l.solver.Reset() // exact steps take little longer from a cold start, and the point then does not depend on the last one
	// With a polish the free rows are those of the exact solution. A rough gradient does without where that is expensive.
	if options.Polish = !l.rough(r); !options.Polish {
		options.Tol = min(options.Tol, roughGap)
	}
	s, err := l.solver.Solve(ctx, r.LogLambda, options)
	if err != nil {
		return err
	}
	if s.Status == outcome.Cancelled {
		return outcome.Ended(ctx)
	}
	l.last = s
	if err := l.evaluate(s.Predictions); err != nil {
		return err
	}
	l.Solved = Solved{
		Certificate: s.Certificate, Effort: s.Effort, Support: len(s.Free),
		Status: s.Status, Seconds: time.Since(start).Seconds(), Work: s.Work,
	}
	l.Solved.relate(s.Primal, l.fit.Null(s.C, s.Epsilon))
	return nil
}

func (l *vectorsLane) differentiate(ctx context.Context, r *LaneRequest, options cd.Options) error {
	start, s := time.Now(), l.last
	at := implicit.VectorsPoint{Dual: s.Dual, Free: s.Free, Bound: s.Bound, Predictions: s.Predictions, W: s.W}
	g, err := l.implicit.Solve(ctx, r.LogLambda, at, l.outer(), implicit.Options{Tol: systemTol(options.Tol, false), Rough: l.rough(r)})
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.Gradient = g.Gradient
	l.Derived = derivedFrom(g, time.Since(start))
	return nil
}

// roughGap is the relative gap at which most rows are free or at their bounds as at the exact solution.
const roughGap = 1e-4

// rough reports whether a rough gradient is asked for and exact solutions are expensive.
func (l *vectorsLane) rough(r *LaneRequest) bool { return r.Rough && l.solver.Wide() }
