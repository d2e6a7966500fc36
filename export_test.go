package pare

import (
	"context"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Afford runs the check of MaxBytes for the given number of simultaneous inner problems. It returns how many columns
// the Gram matrix of each may have.
func Afford(x sparse.Matrix, y []float64, c Config, problems int) (columns int, err error) {
	e := engine{config: c, family: c.Model.family()}
	e.statement = e.newStatement(x, y)
	err = e.divideMemory(problems, 0)
	return e.gram, err
}

// LeastGram is the number of columns that a Gram matrix may always have.
const LeastGram = inner.LeastGram

// CapsOfRefits returns how many columns the Gram matrices of an inner problem may have if the given number of problems
// share Config.MaxBytes, and how many those of a refit beside it may have.
func CapsOfRefits(ctx context.Context, x sparse.Matrix, y []float64, c Config, problems int) (each, refit int, err error) {
	e, err := newEngine(ctx, x, y, c)
	if err != nil {
		return 0, 0, err
	}
	if err := e.divideMemory(1, problems-1); err != nil {
		return 0, 0, err
	}
	part, err := e.subEngine(ctx, c)
	if err != nil {
		return 0, 0, err
	}
	return e.solver().MaxGram, part.solver().MaxGram, nil
}

// outHeld is an outer problem whose folds have made their predictions; it calls then when they are asked for.
type outHeld struct {
	inner.Outer
	rows []bilevel.Predicted
	then func()
}

func (o outHeld) HeldOut(context.Context, []float64) ([]bilevel.Predicted, error) {
	o.then()
	return o.rows, nil
}

// MeasuresOfPredicted computes the measures of predictions as [Select] does. Once the folds have made the predictions,
// it takes all turns of the pool, and passes taken a function that gives one of them back.
func MeasuresOfPredicted(ctx context.Context, x sparse.Matrix, y []float64, c Config, folds []bilevel.Predicted, classes []float64, taken func(leave func())) ([]Measure, error) {
	e, done, err := admitEngine(ctx, x, y, c, nil, toFit)
	if err != nil {
		return nil, err
	}
	defer done()
	other := c.Pool.turns.Join()
	t := &task{engine: e, problem: outHeld{rows: folds, then: func() {
		for other.TryEnter() {
			taken(other.Leave)
		}
	}}}
	return t.measures(ctx, Validation{}, &Fitted{Classes: classes})
}

// SearchedAhead searches as [Select] does, and reports whether the refit at the choice has begun when the search ends.
// If other is set, it then begins a refit at another point before it concludes.
func SearchedAhead(ctx context.Context, x sparse.Matrix, y []float64, o SelectOptions, c Config, other bool) (begun bool, final *Fitted, err error) {
	certify := c.Certify
	c.Certify = false
	e, leave, err := admitEngine(ctx, x, y, c, &o.Validation, toChoose)
	if err != nil {
		return false, nil, err
	}
	defer leave()
	if o, err = e.resolve(o); err != nil {
		return false, nil, err
	}
	t, err := e.newTask(ctx, ctx, o)
	if err != nil {
		return false, nil, err
	}
	a := t.refitEarly(ctx, o, certify)
	defer a.discard()
	r, _, err := t.minimise(ctx, t.chooseOptions(o, false))
	if err != nil {
		return false, nil, err
	}
	if begun = a.hasBegun(r.Best.LogLambda); other && a != nil {
		a.begin(ctx, []float64{r.Best.LogLambda[0] + 1}, nil, nil)
	}
	out := &Selection{Status: r.Status, Evaluations: r.Evaluations}
	out.setChoice(r.Best)
	err = t.finish(ctx, r.Best, o, out)
	return begun, out.Final, err
}
