package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// anatomy breaks one fit down: the time to state the problem, and every outer iteration of the solver.
type anatomy struct {
	Stating []phase `json:"stating"`
	Rounds  []round `json:"rounds"`
	// Seconds of the whole fit, from the matrix in memory on, and the part of it that the stages explain.
	Seconds   float64 `json:"seconds"`
	Explained float64 `json:"explained"`
}

// round is an outer iteration: a certificate and, if that is not good enough, the choice of a working set and
// the work on it.
type round struct {
	RelativeGap float64 `json:"gap_relative"`
	Visited     int     `json:"columns_visited"`
	Support     int     `json:"support"`
	WorkingSet  int     `json:"working_set,omitempty"`
	Epochs      int     `json:"epochs,omitempty"`
	Steps       int     `json:"newton_steps,omitempty"`
	// Seconds of the certificate, the choice of the working set, and the work on it.
	Certificate float64 `json:"seconds_certificate"`
	Choice      float64 `json:"seconds_choice,omitempty"`
	Improvement float64 `json:"seconds_improvement,omitempty"`
}

var errNoAnatomy = errors.New("only models with an ℓ1 penalty of single columns, unscaled, are taken apart")

// dissect solves once more, from a cold start, and records the solver's stages.
func (c *solveCommand) dissect(ctx context.Context, x sparse.Matrix, y, logLambda []float64) (*anatomy, error) {
	k, err := kernels.Active()
	if c.Kernels != "" {
		k, err = kernels.Named(c.Kernels)
	}
	if err != nil {
		return nil, err
	}
	if c.Standardize {
		return nil, errNoAnatomy
	}
	a := &anatomy{}
	began := time.Now()
	last := began
	lap := func() float64 {
		now := time.Now()
		seconds := now.Sub(last).Seconds()
		last = now
		return seconds
	}
	state := func(name string) { a.Stating = append(a.Stating, phase{Name: name, Seconds: lap()}) }

	view, err := sparse.NewView(k, x, nil, c.Intercept)
	if err != nil {
		return nil, err
	}
	state("means and norms of the columns")
	fit, penalty, err := problemOf(pare.Model(c.Model), view, y, logLambda)
	if err != nil {
		return nil, err
	}
	null := model.NewNull(fit)
	state("the null model and αmax")
	solver := cd.NewFrom(null)
	state("memory for the solver")

	epochs, steps := 0, 0
	_, err = solver.Solve(ctx, penalty, cd.Options{Tol: c.Tol, Watch: func(p cd.Progress) {
		seconds := lap()
		switch p.Stage {
		case cd.Certified:
			a.Rounds = append(a.Rounds, round{RelativeGap: p.RelativeGap, Visited: p.Visited, Support: p.Support, Certificate: seconds})
		case cd.Chosen:
			r := &a.Rounds[len(a.Rounds)-1]
			r.WorkingSet, r.Choice = p.WorkingSet, seconds
		case cd.Sampled:
			a.Rounds[len(a.Rounds)-1].Improvement = seconds
		case cd.Improved:
			r := &a.Rounds[len(a.Rounds)-1]
			r.Epochs, r.Steps, r.Improvement = p.Epochs-epochs, p.Steps-steps, seconds
			epochs, steps = p.Epochs, p.Steps
		}
	}})
	a.Seconds = time.Since(began).Seconds()
	for _, p := range a.Stating {
		a.Explained += p.Seconds
	}
	for _, r := range a.Rounds {
		a.Explained += r.Certificate + r.Choice + r.Improvement
	}
	return a, err
}

// problemOf returns the datafit and the penalty of a model.
func problemOf(m pare.Model, view *sparse.View, y, logLambda []float64) (fit model.Datafit, penalty model.Penalty, err error) {
	traits := m.Traits()
	switch {
	case traits.Dense, traits.Grouped, traits.Classes, !traits.Convex:
		err = errNoAnatomy
	case traits.Strengths == pare.OneStrength:
		penalty, err = model.Lasso(logLambda[0])
	case traits.Strengths == pare.L1AndRidge:
		penalty, err = model.ElasticNet(logLambda[0], logLambda[1])
	case traits.Strengths == pare.EachColumn:
		penalty, err = model.WeightedLasso(logLambda)
	default:
		err = errNoAnatomy
	}
	if err != nil {
		return nil, penalty, err
	}
	for _, l := range loss.All() {
		if l.Name() == traits.Loss {
			fit, err = model.NewDatafit(view, y, l)
			return fit, penalty, err
		}
	}
	return nil, penalty, errNoAnatomy
}

func (a *anatomy) text(env environment) error {
	ms := func(seconds float64) string { return fmt.Sprintf("%.3f", 1e3*seconds) }
	fmt.Fprintf(env.stdout, "\nonce more, taken apart: %s ms, of which the stages below are %.1f %%\n", ms(a.Seconds), 100*a.Explained/a.Seconds)
	for _, p := range a.Stating {
		fmt.Fprintf(env.stdout, "%10s ms  %s\n", ms(p.Seconds), p.Name)
	}
	return env.table(func(w io.Writer) {
		fmt.Fprintln(w, "certificate, ms\tgap\tcolumns visited\tsupport\tchoice, ms\tworking set\twork, ms\tepochs\tNewton steps\t")
		for _, r := range a.Rounds {
			fmt.Fprintf(w, "%s\t%.1e\t%d\t%d\t%s\t%d\t%s\t%d\t%d\t\n", ms(r.Certificate), r.RelativeGap, r.Visited, r.Support,
				ms(r.Choice), r.WorkingSet, ms(r.Improvement), r.Epochs, r.Steps)
		}
	})
}
