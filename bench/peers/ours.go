package peers

import (
	"context"
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
	f, err := pare.Fit(ctx, p.X, p.Y, l, config)
	if err != nil {
		return Answer{}, err
	}
	seconds := time.Since(began).Seconds()
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	return Answer{Seconds: seconds, Objective: &f.Objective, Gap: &f.Gap, Index: f.Support, Value: f.Coef}, nil
}

func (o ours) close() {}

// prepared is the solver alone.
type prepared struct {
	solver  *cd.Solver
	penalty model.Penalty
}

func prepare(p *Problem, set string) (*prepared, error) {
	k, err := kernels.Active()
	if set != "" {
		k, err = kernels.Named(set)
	}
	if err != nil {
		return nil, err
	}
	view, err := sparse.NewView(k, p.X, nil, false)
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
	return &prepared{cd.New(fit), penalty}, err
}

func (o *prepared) solve(ctx context.Context, tol float64) (Answer, error) {
	o.solver.Reset()
	began := time.Now()
	s, err := o.solver.Solve(ctx, o.penalty, cd.Options{Tol: tol})
	if err != nil {
		return Answer{}, err
	}
	seconds := time.Since(began).Seconds()
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	return Answer{Seconds: seconds, Objective: &s.Objective, Gap: &s.Gap, Index: s.Support, Value: s.Coef}, nil
}

func (o *prepared) close() {}
