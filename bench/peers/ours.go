package peers

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// ours is pare.Fit: timed from the matrix in memory to the certified result.
type ours struct {
	problem *Problem
	kernels string
}

// logLambda returns λ of the problem.
func (p *Problem) logLambda() []float64 {
	alpha, ridge := kernels.Log(p.Alpha), kernels.Log(p.Ridge)
	switch p.Model.family().kind {
	case l1AndRidge:
		return []float64{alpha, ridge}
	case ridgeAlone:
		return []float64{ridge}
	case ofVectors:
		if p.Model == SVR {
			return []float64{alpha, kernels.Log(tube)}
		}
		return []float64{alpha}
	case eachColumn:
		l := make([]float64, len(p.Weights))
		for j, w := range p.Weights {
			l[j] = kernels.Log(p.Alpha * w)
		}
		return l
	default:
		return []float64{alpha}
	}
}

// config returns the configuration of the problem.
func (p *Problem) config(set string) pare.Config {
	of := p.Model.family()
	return pare.Config{Model: of.ours, Loss: of.own, Groups: p.Groups, NoIntercept: true, Threads: 1, Kernels: set}
}

func (o ours) solve(ctx context.Context, tol float64) (Answer, error) {
	p := o.problem
	config, l := p.config(o.kernels), p.logLambda()
	config.Tol = tol
	began := time.Now()
	f, err := pare.Fit(ctx, p.plain(), p.Y, l, config)
	if err != nil {
		return Answer{}, err
	}
	return p.answer(time.Since(began), f), ctx.Err()
}

// answer converts a fit.
func (p *Problem) answer(took time.Duration, f *pare.Fitted) Answer {
	a := Answer{Seconds: took.Seconds(), Objective: new(f.Objective)}
	if !math.IsNaN(f.Gap) { // the penalty is convex
		a.Gap = new(f.Gap)
	}
	if f.PerClass == nil {
		a.Index, a.Value = slices.Clone(f.Support), p.weighted(f.Support, f.Coef)
	}
	for k, one := range f.PerClass {
		for at, j := range one.Support {
			a.Index, a.Value = append(a.Index, j*int32(len(f.PerClass))+int32(k)), append(a.Value, one.Coef[at])
		}
	}
	return a
}

// plain returns the matrix of the problem that pare solves.
func (p *Problem) plain() sparse.Matrix {
	if p.Plain != nil {
		return p.Plain
	}
	return p.X
}

// weighted converts coefficients of pare's problem into coefficients of X.
func (p *Problem) weighted(index []int32, value []float64) []float64 {
	value = slices.Clone(value)
	if p.Weights != nil {
		for k, j := range index {
			value[k] *= p.Weights[j]
		}
	}
	return value
}

func (o ours) close() {}

// prepared is the solver alone, from a cold start.
type prepared struct {
	run func(ctx context.Context, tol float64) (Answer, error)
}

// prepare prepares the solver; for support vectors it also proves the problem's bound.
func prepare(ctx context.Context, p *Problem, set string) (*prepared, error) {
	if p.Model == SVM {
		return prepareSVM(ctx, p, set)
	}
	if p.Model == SVR {
		return prepareSVR(ctx, p, set)
	}
	// A Fitter keeps its tolerance: there is one for each.
	fitters, l := map[float64]*pare.Fitter{}, p.logLambda()
	return &prepared{run: func(ctx context.Context, tol float64) (Answer, error) {
		solver := fitters[tol]
		if solver == nil {
			config := p.config(set)
			config.Tol = tol
			var err error
			if solver, err = pare.NewFitter(p.plain(), p.Y, config); err != nil {
				return Answer{}, err
			}
			fitters[tol] = solver
			solver.LogLambdaMax() // computes the norms and the null model
		}
		began := time.Now()
		f, err := solver.Fit(ctx, l)
		if err != nil {
			return Answer{}, err
		}
		return p.answer(time.Since(began), f), ctx.Err()
	}}, nil
}

func prepareSVM(ctx context.Context, p *Problem, set string) (*prepared, error) {
	k, err := kernelSet(set)
	if err != nil {
		return nil, err
	}
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
		return normal(began, s.W, s.Primal, s.Gap), ctx.Err()
	}}, nil
}

func prepareSVR(ctx context.Context, p *Problem, set string) (*prepared, error) {
	k, err := kernelSet(set)
	if err != nil {
		return nil, err
	}
	fit, err := model.NewVectors(k, p.X, p.Y, model.VectorsOptions{})
	if err != nil {
		return nil, err
	}
	solver, err := cd.NewVectors(fit)
	if err != nil {
		return nil, err
	}
	s, err := solver.Solve(ctx, p.logLambda(), cd.Options{Tol: 1e-9})
	if err != nil {
		return nil, err
	}
	rows := make([]int32, len(p.Y))
	for i := range rows {
		rows[i] = int32(i)
	}
	p.ProveBound(rows, s.Dual)
	return &prepared{run: func(ctx context.Context, tol float64) (Answer, error) {
		solver.Reset()
		began := time.Now()
		s, err := solver.Solve(ctx, p.logLambda(), cd.Options{Tol: tol})
		if err != nil {
			return Answer{}, err
		}
		return normal(began, s.W, s.Primal, s.Gap), ctx.Err()
	}}, nil
}

func kernelSet(name string) (*kernels.Set, error) {
	if name == "" {
		return kernels.Active()
	}
	return kernels.Named(name)
}

// normal returns the answer of support vectors with normal vector w.
func normal(began time.Time, w []float64, primal, gap float64) Answer {
	a := Answer{Seconds: time.Since(began).Seconds(), Objective: &primal, Gap: &gap}
	for j, v := range w {
		if v != 0 {
			a.Index, a.Value = append(a.Index, int32(j)), append(a.Value, v)
		}
	}
	return a
}

func (o *prepared) solve(ctx context.Context, tol float64) (Answer, error) { return o.run(ctx, tol) }

func (o *prepared) close() {}
