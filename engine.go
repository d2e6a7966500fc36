package pare

import (
	"context"
	"time"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// engine is a Config resolved against data.
type engine struct {
	config Config
	family family
	k      *kernels.Set
	x      sparse.Matrix
	y      []float64
	problem
	hyperparameters int
	times, weighing []float64 // of the columns, see factors.go; nil: no factors
	unpenalised     bool      // some factor is 0
	box             *model.Box
	leftOut         Criterion // ALO or GCV, where λ is chosen by them
	gram            int       // columns of the largest Gram matrix; 0: no limit of ours
	reused          *results  // where all results go, see [Fitter]; nil: each to its own
	team            *team.Team
	classes         *classWeighing // nil: classes have no weights of their own
}

// newEngine makes an engine that is ready to solve.
func newEngine(x sparse.Matrix, y []float64, c Config) (*engine, error) {
	e, err := stated(x, y, c)
	if err != nil {
		return nil, err
	}
	if err := e.open(); err != nil {
		return nil, err
	}
	return e, nil
}

// open makes the inner problem.
func (e *engine) open() (err error) {
	e.problem, err = e.family.state(e)
	return err
}

// stated makes an engine without its inner problem, of which nothing is allocated yet.
func stated(x sparse.Matrix, y []float64, c Config) (*engine, error) {
	if c.Model == "" {
		c.Model = Lasso
	}
	f, err := c.family()
	if err != nil {
		return nil, err
	}
	c.Model = f.name
	switch {
	case c.Offset != nil && !f.offset():
		return nil, outcome.At(outcome.Usage, "offset", "%s has no offset; the models with one predictor and a penalty on columns have one", c.Model)
	case c.Offset != nil && c.Method.iterate() != nil:
		return nil, outcome.At(outcome.Usage, "method", "offsets go with method %s only", Implicit)
	case c.Positive && !f.positive:
		return nil, outcome.At(outcome.Usage, "positive", "%s has no constraint β ≥ 0; the models with an ℓ1 penalty have it", c.Model)
	case c.Positive && !c.bounded():
		f.form = f.nonNegative()
	}
	e := &engine{config: c, family: f, x: x, y: y}
	if err = e.refuseShapes(); err != nil {
		return nil, err
	}
	if err = e.checkVectors(); err != nil {
		return nil, err
	}
	if err = e.checkMethod(); err != nil {
		return nil, err
	}
	if e.classes, err = newClassWeighing(f, y, c); err != nil {
		return nil, err
	}
	if e.k, err = c.kernels(); err != nil {
		return nil, err
	}
	if !isMatrix(x) {
		return nil, errNoMatrix()
	}
	if err = e.checkBudget(); err != nil {
		return nil, err
	}
	if err = e.checkFactors(); err != nil {
		return nil, err
	}
	if err = e.checkBounds(); err != nil {
		return nil, err
	}
	e.hyperparameters = c.Model.Hyperparameters(x, y)
	return e, nil
}

// isMatrix reports whether a constructor of package sparse has made x.
func isMatrix(x sparse.Matrix) bool {
	switch m := x.(type) {
	case *sparse.CSC:
		return m != nil // as where the error of a reader was not looked at
	case *sparse.Dense:
		return m != nil
	default: // nil, or a struct around one of them
		return false
	}
}

func errNoMatrix() error { return outcome.Errorf(outcome.Shape, "no design matrix of package sparse") }

func (c Config) kernels() (*kernels.Set, error) {
	var k *kernels.Set
	var err error
	if c.Kernels == "" {
		k, err = kernels.Active()
	} else {
		k, err = kernels.Named(c.Kernels)
	}
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.BadParameter, Flag: "kernels", Message: "cannot use this set", Err: err}
	}
	return k, nil
}

// view returns the view of all rows.
func (e *engine) view() (*sparse.View, error) {
	view, err := sparse.NewView(e.k, e.x, e.training(), !e.config.NoIntercept)
	if err == nil && e.config.Standardize {
		view = view.Standardised()
	}
	if err == nil && e.times != nil {
		view, err = view.Rescaled(e.times)
	}
	if err == nil && !e.family.classes { // those are solved at the same time
		view = view.With(e.helpers())
	}
	return view, err
}

// helpers returns the team of the inner problem on all rows, made the first time.
func (e *engine) helpers() *team.Team {
	if e.team == nil {
		threads := team.NewThreads(e.config.threads(), (*seated)(e))
		_ = threads.Enter(context.Background()) // the caller's own; its turn is [engine.turn]'s
		e.team = threads.Team()
	}
	return e.team
}

// seated has the helpers of a team take turns with the other calls of the pool.
type seated engine

func (e *seated) Enter(context.Context) error { return nil }

func (e *seated) TryEnter() bool { return e.config.seat == nil || e.config.seat.TryEnter() }

func (e *seated) Leave() {
	if e.config.seat != nil {
		e.config.seat.Leave()
	}
}

// solver returns the bounds of an inner solve.
func (e *engine) solver() cd.Options {
	gram := e.gram
	if s := e.config.seat; s != nil && s.gram > 0 && (gram == 0 || s.gram < gram) {
		gram = s.gram
	}
	return cd.Options{Tol: e.config.Tol, MaxEpochs: e.config.MaxEpochs, MaxSupport: e.config.MaxSupport, MaxGram: gram}
}

// spec returns what all outer problems share.
func (e *engine) spec() bilevel.Spec {
	spec := bilevel.Spec{
		Weights: e.config.Weights, Intercept: !e.config.NoIntercept, Standardise: e.config.Standardize, Times: e.times, Box: e.box, Solver: e.solver(),
		Iterate: e.config.Method.iterate(), Certify: e.config.Certify, Threads: e.config.Threads, Solved: e.config.Solved,
	}
	if e.classes != nil {
		spec.Training = e.classes.weigh
	}
	if e.config.seat != nil {
		spec.Turns = e.config.seat
	}
	return spec
}

// turn waits for the turn to solve a problem, where there is a pool, and returns what ends
// it. Where ctx has ended it does not wait: a solve then ends at once.
func (e *engine) turn(ctx context.Context) (end func()) {
	if s := e.config.seat; s != nil && s.Enter(ctx) == nil {
		return s.Leave
	}
	return func() {}
}

// check refuses a λ of the wrong length, or that cannot be.
func (e *engine) check(logLambda []float64) error {
	if r := e.hyperparameters; len(logLambda) != r {
		return outcome.At(outcome.Shape, "log-lambda", "one λ is wanted for each hyperparameter, %d for %s, got %d", r, e.config.Model, len(logLambda))
	}
	return e.accepts(logLambda)
}

// fit solves at one λ and says where.
func (e *engine) fit(ctx context.Context, logLambda []float64) (*Fitted, error) {
	if err := e.check(logLambda); err != nil {
		return nil, err
	}
	began := time.Now()
	f, err := e.solve(ctx, logLambda)
	e.team.Rest()
	if err != nil {
		return nil, err
	}
	f.Model, f.Loss, f.Link = e.config.Model, e.family.lossName(), e.family.link()
	_, f.Columns = e.x.Dims()
	f.LogLambda, f.LogLambdaMax, f.Kernels = append(f.LogLambda[:0], logLambda...), append(f.LogLambdaMax[:0], e.max()...), e.k.Name
	if o := e.config.Observer; o != nil {
		o.Solve(f, time.Since(began))
	}
	return f, nil
}
