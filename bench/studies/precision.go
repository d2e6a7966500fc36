package studies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/chart"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/loss"
)

// ErrorLasso is figure 5: the error of the hypergradient of a hold-out mean squared
// error against time.
func ErrorLasso(ctx context.Context, o Options) (*Result, error) {
	return errorsOf(ctx, o, pare.Lasso, []string{"rcv1", "real-sim", "news20"}, []float64{0.1, 0.01}, criterion.MeanSquaredError{})
}

// ErrorSVM is figure 6: the same for the SVM's smoothed hinge, at two C. (The paper
// leaves news20 out here.)
func ErrorSVM(ctx context.Context, o Options) (*Result, error) {
	return errorsOf(ctx, o, pare.SVM, []string{"rcv1", "real-sim"}, []float64{0.03, 0.2}, criterion.Of(loss.SmoothedHinge{}))
}

// errorsOf runs every set at every strength: each set is a column of panels.
func errorsOf(ctx context.Context, o Options, m pare.Model, sets []string, shares []float64, c criterion.Criterion) (*Result, error) {
	epochs := 1000
	if o.Quick {
		epochs = 100
	}
	t := Table{Columns: []string{"data", "strength", "method", "steps", "seconds", "gradient", "error"}}
	panels := make(chart.Panels, len(shares))
	for _, name := range o.Choose(sets, 1) {
		d, err := o.Raw(ctx, name)
		if err == nil {
			d, err = d.prepare(m.Traits().Strengths != pare.Cost)
		}
		if errors.Is(err, fs.ErrNotExist) {
			o.say(err.Error())
			continue
		}
		if err != nil {
			return nil, err
		}
		if m.Traits().Strengths == pare.Cost {
			d.Y = Signs(d.Y)
		}
		for i, share := range shares {
			o.say(fmt.Sprintf("%s, %s, %g", m, d.Name, share))
			lines, err := hypergradientErrors(ctx, &t, d, m, share, c, epochs)
			if err != nil {
				return nil, err
			}
			what := "αmax ×"
			if m.Traits().Strengths == pare.Cost {
				what = "C ="
			}
			panels[i] = append(panels[i], chart.Chart{
				Title: fmt.Sprintf("%s, %s %g", d.Name, what, share), X: "seconds", Y: "error of the hypergradient", LogX: true, LogY: true, Low: true, Right: true, Series: lines,
			})
		}
	}
	r := newResult()
	r.Tables["error-"+string(m)], r.Charts["error-"+string(m)] = t, panels
	return r, nil
}

// hypergradientErrors compares three approximations of the hypergradient: forward differentiation after each
// step; implicit differentiation at the iterates of a plain coordinate descent; and implicit differentiation at
// our solver's solutions for decreasing tolerances. The exact gradient is the implicit one at working
// precision.
func hypergradientErrors(ctx context.Context, t *Table, d Data, m pare.Model, share float64, c criterion.Criterion, epochs int) ([]chart.Series, error) {
	n, _ := d.X.Dims()
	split, err := half(n)
	if err != nil {
		return nil, err
	}
	q, err := newInner(m, d.X, d.Y, split.Train, share)
	if err != nil {
		return nil, err
	}
	outer := implicit.Outer{Slope: make([]float64, n), Curvature: make([]float64, n)}
	judge := func(prediction, slope []float64) float64 {
		return c.Eval(split.Held, d.Y, prediction, slope, outer.Curvature)
	}
	exact, err := q.gradient(ctx, finest.Tol, outer, judge)
	if err != nil {
		return nil, err
	}
	line := func(name string) (*chart.Series, func(steps int, seconds, gradient float64)) {
		s := &chart.Series{Name: name, Line: true, Points: true, Colour: colours[name]}
		return s, func(steps int, seconds, gradient float64) {
			off := math.Abs(gradient - exact)
			t.Add(d.Name, share, name, steps, seconds, gradient, off)
			s.X, s.Y = append(s.X, seconds), append(s.Y, off)
		}
	}

	forward, note := line("forward PCD")
	forward.Points = false
	began := time.Now()
	_, err = q.descend(ctx, judge, iterdiff.Options{Method: iterdiff.ForwardPCD, Tol: 1e-13, MaxEpochs: epochs, Watch: func(g *iterdiff.Progress) {
		note(g.Epoch, time.Since(began).Seconds(), g.Gradient[0])
	}})
	if err != nil {
		return nil, err
	}

	plain, note := line("implicit, plain descent")
	for steps := 1; steps <= epochs; steps *= 2 {
		seconds, gradient, err := leastOf(3, func() (float64, float64, error) { return q.plainly(ctx, steps, outer, judge) })
		if err != nil {
			return nil, err
		}
		note(steps, seconds, gradient)
	}

	ours, note := line("implicit, our solver")
	for k, tol := 1, 1e-2; tol >= 1e-14; k, tol = k+1, tol/10 {
		seconds, gradient, err := leastOf(3, func() (float64, float64, error) {
			began := time.Now()
			gradient, err := q.gradient(ctx, tol, outer, judge)
			return time.Since(began).Seconds(), gradient, err
		})
		if err != nil {
			return nil, err
		}
		note(k, seconds, gradient)
	}
	return []chart.Series{*forward, *plain, *ours}, nil
}

// leastOf repeats a deterministic computation and returns its least seconds.
func leastOf(times int, f func() (seconds, value float64, err error)) (least, value float64, err error) {
	least = math.Inf(1)
	for range times {
		seconds, v, err := f()
		if err != nil {
			return 0, 0, err
		}
		least, value = min(least, seconds), v
	}
	return least, value, nil
}
