package peers

import (
	"context"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// ours is pare.Fit, from the matrix in memory to the certified result.
type ours struct {
	problem *Problem
	kernels string
}

// logLambda are our λ's of the problem.
func (p *Problem) logLambda() []float64 {
	l := []float64{kernels.Log(p.Alpha)}
	if p.Model == WeightedLasso {
		l = l[:0]
		for _, w := range p.Weights {
			l = append(l, kernels.Log(p.Alpha*w))
		}
	}
	if p.Model == ElasticNet {
		l = append(l, kernels.Log(p.Ridge))
	}
	return l
}

func (o ours) solve(ctx context.Context, tol float64) (Answer, error) {
	p := o.problem
	config := pare.Config{Model: pare.Model(p.Model), NoIntercept: true, Tol: tol, Threads: 1, Kernels: o.kernels}
	l := p.logLambda()
	began := time.Now()
	f, err := pare.Fit(ctx, p.plain(), p.Y, l, config)
	if err != nil {
		return Answer{}, err
	}
	seconds := time.Since(began).Seconds()
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	return Answer{Seconds: seconds, Objective: &f.Objective, Gap: &f.Gap, Index: f.Support, Value: p.weighted(f.Support, f.Coef)}, nil
}

// plain is the matrix of our own problem.
func (p *Problem) plain() sparse.Matrix {
	if p.Plain != nil {
		return p.Plain
	}
	return p.X
}

// weighted turns our coefficients into those of X.
func (p *Problem) weighted(index []int32, value []float64) []float64 {
	if p.Weights == nil {
		return value
	}
	all := make([]float64, len(value))
	for k, j := range index {
		all[k] = value[k] * p.Weights[j]
	}
	return all
}

func (o ours) close() {}

// prepared is the solver alone, from cold.
type prepared struct {
	run func(ctx context.Context, tol float64) (Answer, error)
}

// prepare makes it; for an SVM it proves the problem's bound, too.
func prepare(ctx context.Context, p *Problem, set string) (*prepared, error) {
	k, err := kernels.Active()
	if set != "" {
		k, err = kernels.Named(set)
	}
	if err != nil {
		return nil, err
	}
	if p.Model == SVM {
		return prepareSVM(ctx, p, k)
	}
	view, err := sparse.NewView(k, p.plain(), nil, false)
	if err != nil {
		return nil, err
	}
	var fit model.Datafit
	if p.Model == Logistic {
		fit, err = model.NewLogistic(view, p.Y)
	} else {
		fit, err = model.NewSquared(view, p.Y)
	}
	if err != nil {
		return nil, err
	}
	l := p.logLambda()
	penalty, err := model.Lasso(l[0])
	if p.Model == ElasticNet {
		penalty, err = model.ElasticNet(l[0], l[1])
	}
	if p.Model == WeightedLasso {
		penalty, err = model.WeightedLasso(l)
	}
	if err != nil {
		return nil, err
	}
	solver := cd.New(fit)
	return &prepared{run: func(ctx context.Context, tol float64) (Answer, error) {
		solver.Reset()
		began := time.Now()
		s, err := solver.Solve(ctx, penalty, cd.Options{Tol: tol})
		if err != nil {
			return Answer{}, err
		}
		seconds := time.Since(began).Seconds()
		return Answer{seconds, &s.Objective, &s.Gap, s.Support, p.weighted(s.Support, s.Coef)}, ctx.Err()
	}}, nil
}

func prepareSVM(ctx context.Context, p *Problem, k *kernels.Set) (*prepared, error) {
	fit, err := model.NewSVM(k, sparse.Transpose(p.X), p.Y, nil)
	if err != nil {
		return nil, err
	}
	solver, logC := cd.NewSVM(fit), p.logLambda()[0]
	s, err := solver.Solve(ctx, logC, cd.Options{Tol: 1e-9})
	if err != nil {
		return nil, err
	}
	rows, d := slices.Concat(s.Free, s.Bound), slices.Clone(s.Dual)
	for range s.Bound {
		d = append(d, p.Alpha)
	}
	p.ProveBound(rows, d)
	return &prepared{run: func(ctx context.Context, tol float64) (Answer, error) {
		solver.Reset()
		began := time.Now()
		s, err := solver.Solve(ctx, logC, cd.Options{Tol: tol})
		if err != nil {
			return Answer{}, err
		}
		a := Answer{Seconds: time.Since(began).Seconds(), Objective: &s.Primal, Gap: &s.Gap}
		for j, w := range s.W {
			if w != 0 {
				a.Index, a.Value = append(a.Index, int32(j)), append(a.Value, w)
			}
		}
		return a, ctx.Err()
	}}, nil
}

func (o *prepared) solve(ctx context.Context, tol float64) (Answer, error) { return o.run(ctx, tol) }

func (o *prepared) close() {}
