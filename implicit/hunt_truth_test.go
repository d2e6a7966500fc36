package implicit_test

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/exact"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
)

// truth is the gradient in exact arithmetic, with the distance of its solutions from a knot.
type truth struct {
	gradient []float64
	margin   float64
}

// truth returns the mean over the folds of the exact gradients.
func (d *hard) truth() (truth, error) {
	out := truth{gradient: make([]float64, len(d.logLambda)), margin: 1}
	folds := 0
	for _, f := range d.folds {
		folds = max(folds, f+1)
	}
	for fold := range folds {
		g, margin, err := d.fold(fold)
		if err != nil {
			return truth{}, err
		}
		for k, v := range g {
			out.gradient[k] += v / float64(folds)
		}
		out.margin = min(out.margin, margin)
	}
	return out, nil
}

// fold returns the gradient of the criterion of one fold.
func (d *hard) fold(fold int) (g []float64, margin float64, err error) {
	train, held := *d.q, []int(nil)
	train.Weights = make([]float64, len(d.folds))
	for i, f := range d.folds {
		if f == fold {
			held = append(held, i)
			continue
		}
		train.Weights[i] = d.q.Weight(i)
	}
	solve := func(y []float64, k int) (*exact.Solution, error) {
		q := train
		q.Y, q.Alpha = y, make([]float64, len(d.q.Alpha))
		d.penalise(&q, k)
		problem := exact.Problem{Problem: &q, Logistic: d.labels != nil || d.model == pare.Logistic, Standardise: d.standardise}
		guess, intercept := d.guess(&q, k)
		return problem.Solve(guess, intercept)
	}
	switch d.model {
	case pare.SVM:
		problem := exact.Problem{Problem: &train}
		s, err := problem.SolveSVM(kernels.Exp(d.logLambda[0]), make([]float64, len(d.folds)))
		if err != nil {
			return nil, 0, err
		}
		return []float64{s.Gradient(s.Judge(exact.Hinge, held, d.q.Weight))}, s.Margin(), nil
	case pare.Multiclass:
		return d.classes(held, solve)
	}
	s, err := solve(d.q.Y, 0)
	if err != nil {
		return nil, 0, err
	}
	loss := exact.Square
	if d.model == pare.Logistic {
		loss = exact.LogLoss
	}
	common, ridge, each := s.Gradient(s.Judge(loss, held, d.q.Weight))
	switch d.model {
	case pare.WeightedLasso:
		return each, s.Margin(), nil
	case pare.ElasticNet:
		return []float64{common, ridge}, s.Margin(), nil
	case pare.Ridge:
		return []float64{ridge}, s.Margin(), nil
	default:
		return []float64{common}, s.Margin(), nil
	}
}

// classes returns the gradient for one-versus-rest classification.
func (d *hard) classes(held []int, solve func(y []float64, k int) (*exact.Solution, error)) (g []float64, margin float64, err error) {
	margin = 1
	solutions := make([]*exact.Solution, len(d.logLambda))
	for k := range solutions {
		y := make([]float64, len(d.labels))
		for i, label := range d.labels {
			if y[i] = -1; label == k {
				y[i] = 1
			}
		}
		if solutions[k], err = solve(y, k); err != nil {
			return nil, 0, err
		}
		margin = min(margin, solutions[k].Margin())
	}
	for k, slope := range exact.Entropy(solutions, d.labels, held, d.q.Weight) {
		common, _, _ := solutions[k].Gradient(slope)
		g = append(g, common)
	}
	return g, margin, nil
}

// penalise sets the strengths of a problem, for several classes those of class k.
func (d *hard) penalise(q *oracle.Problem, k int) {
	q.Ridge = 0
	switch d.model {
	case pare.Ridge:
		q.Ridge = kernels.Exp(d.logLambda[0])
	case pare.WeightedLasso:
		for j, l := range d.logLambda {
			q.Alpha[j] = kernels.Exp(l)
		}
	case pare.ElasticNet:
		q.Ridge = kernels.Exp(d.logLambda[1])
		fallthrough
	default:
		q.Uniform(kernels.Exp(d.logLambda[k]))
	}
}

// guess returns a start for the exact method, which takes fewer steps if it starts near the solution.
func (d *hard) guess(q *oracle.Problem, k int) (beta []float64, intercept float64) {
	c, lambda := d.config(), d.logLambda
	c.Weights, c.Tol = q.Weights, 1e-12
	if d.model == pare.Multiclass {
		c.Model, lambda = pare.Logistic, d.logLambda[k:k+1]
	}
	beta = make([]float64, len(q.Alpha))
	f, err := pare.Fit(context.Background(), d.x, q.Y, lambda, c)
	if err != nil {
		return beta, 0
	}
	for at, j := range f.Support {
		if b := f.Coef[at]; !math.IsNaN(b) && !math.IsInf(b, 0) {
			beta[j] = b
		}
	}
	return beta, f.Intercept
}
