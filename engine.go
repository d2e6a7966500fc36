package pare

import (
	"cmp"
	"context"
	"time"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// engine is a Config resolved against data.
type engine struct {
	config    Config
	family    family
	statement *inner.Statement
	inner.Problem
	leftOut Criterion     // ALO or GCV if λ is chosen by it, else ""
	gram    int           // maximum number of columns of a Gram matrix; 0: not bounded by MaxBytes
	packed  int64         // maximum bytes of copies of sparse columns; 0: not bounded by MaxBytes
	lanes   int           // maximum number of lanes that hold more than coefficients at once; 0: all
	reused  *Fitted       // the result that every solve overwrites, see [Fitter]; nil: each solve makes a new one
	threads *team.Threads // made on first use, as are release and team
	release func()        // gives a thread back
	team    *team.Team
}

// newEngine makes an engine that is ready to solve, for a call that ends with ctx.
func newEngine(ctx context.Context, x sparse.Matrix, y []float64, c Config) (*engine, error) {
	e, err := newUnopenedEngine(ctx, x, y, c)
	if err != nil {
		return nil, err
	}
	if err := e.open(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

// open makes the inner problem, while it holds a turn.
func (e *engine) open(ctx context.Context) (err error) {
	defer outcome.Caught(&err)
	defer e.turn(ctx)()
	e.Problem, err = e.family.newProblem(e.statement)
	return err
}

// openTo makes the inner problem for a purpose: for fits, on condensed rows if these pay, else on X.
func (e *engine) openTo(ctx context.Context, to purpose) (err error) {
	defer outcome.Caught(&err)
	e.Problem = nil
	if many := to == toFitMany; (many || to == toFit) && e.statement.FitsCondensed(many) {
		e.Problem, err = inner.OnCondensed(ctx, e.statement)
	}
	if e.Problem == nil && err == nil {
		err = e.open(ctx)
	}
	return err
}

// newUnopenedEngine checks a Config against the data and makes an engine without its inner problem, so that no
// working memory is allocated yet.
func newUnopenedEngine(ctx context.Context, x sparse.Matrix, y []float64, c Config) (_ *engine, err error) {
	defer outcome.Caught(&err)
	if ctx == nil {
		return nil, errNoContext()
	}
	if c.Model == "" {
		c.Model = Lasso
	}
	f, err := c.family()
	if err != nil {
		return nil, err
	}
	c.Model = f.name
	if c.Pool != nil && c.Pool.queue == nil {
		return nil, outcome.At(outcome.Usage, "pool", "the Pool is not initialised; make it with NewPool")
	}
	e := &engine{config: c, family: f}
	if err = e.checkConfig(); err != nil {
		return nil, err
	}
	e.statement = e.newStatement(x, y)
	if e.statement.Kernels, err = c.kernels(); err != nil {
		return nil, err
	}
	e.statement.Kernels = e.statement.Kernels.Until(ctx)
	if c.ClassWeights != nil || c.Balanced {
		if e.statement.ClassWeights, err = inner.NewClassWeights(e.statement.Kernels, y, c.ClassWeights); err != nil {
			return nil, err
		}
	}
	if !isMatrix(x) {
		return nil, errNoMatrix()
	}
	if err = e.checkBudget(); err != nil {
		return nil, err
	}
	return e, e.statement.Check()
}

// subEngine makes an engine for another problem on the rows of e, with the memory bounds that e has for each problem.
func (e *engine) subEngine(ctx context.Context, c Config) (*engine, error) {
	c.MaxBytes = 0
	part, err := newUnopenedEngine(ctx, e.statement.X, e.statement.Y, c)
	if err != nil {
		return nil, err
	}
	part.gram, part.packed, part.statement.Frugal = e.gram, e.packed, e.statement.Frugal
	if err := part.open(ctx); err != nil {
		return nil, err
	}
	return part, nil
}

// newStatement states the inner problem.
func (e *engine) newStatement(x sparse.Matrix, y []float64) *inner.Statement {
	c, f := e.config, e.family
	of := &inner.Statement{
		Name: string(f.name), Loss: f.loss, Form: f.form, Judge: f.judge, Classes: f.classes, Tube: f.tube, Simplex: f.simplex,
		X: x, Y: y, Weights: c.Weights, Offset: c.Offset,
		Intercept: c.Intercept || !f.optionalIntercept && !c.NoIntercept, Standardise: c.Standardize,
		Positive: c.Positive, Lower: c.Lower, Upper: c.Upper, Factors: c.PenaltyFactors,
		Groups: c.Groups, GroupWeights: c.GroupWeights, Parameter: e.parameter(), Count: f.hyperparameters(x, y),
		Threads: c.threads(), Certify: c.Certify, Solver: e.solver, Turn: e.turn, Team: e.problemTeam,
	}
	if c.grant != nil {
		of.Memory = c.grant.memory
	}
	return of
}

// parameter returns the parameter that the penalty has besides its strengths; 0 if there is none.
func (e *engine) parameter() float64 {
	s := e.family.shape()
	return cmp.Or(e.config.parameter(s.Flag), s.Usual)
}

// isMatrix reports whether x is a matrix made by a constructor of package sparse.
func isMatrix(x sparse.Matrix) bool {
	switch m := x.(type) {
	case *sparse.CSC:
		return m != nil // nil if the caller has ignored the error of a reader
	case *sparse.Dense:
		return m != nil
	default: // nil, or another type that embeds one of these
		return false
	}
}

func errNoContext() error {
	return outcome.Errorf(outcome.Usage, "the context is nil; pass context.Background() if it should never end")
}

func errNoMatrix() error {
	return outcome.Errorf(outcome.Shape, "the design matrix is nil or not of a type of package sparse")
}

func (c Config) kernels() (*kernels.Set, error) {
	var k *kernels.Set
	var err error
	if c.Kernels == "" {
		k, err = kernels.Active()
	} else {
		k, err = kernels.Named(c.Kernels)
	}
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.BadParameter, Flag: "kernels", Message: "cannot use this set of kernels of kernels", Err: err}
	}
	return k, nil
}

// callThreads returns the threads of the call, made on first use.
func (e *engine) callThreads() *team.Threads {
	if e.threads == nil {
		e.threads = team.NewThreads(e.config.threads(), (*poolTurns)(e))
		e.release = e.threads.Leave
	}
	return e.threads
}

// problemTeam returns the team of the inner problem on all rows, made on first use.
func (e *engine) problemTeam() *team.Team {
	if e.team == nil {
		e.team = e.callThreads().Team()
	}
	return e.team
}

// poolTurns implements [team.Turns]: in a pool, the threads of a call take turns with the threads of other calls.
type poolTurns engine

func (e *poolTurns) Enter(ctx context.Context) error {
	if e.config.grant == nil {
		return nil
	}
	return e.config.grant.Enter(ctx)
}

func (e *poolTurns) TryEnter() bool { return e.config.grant == nil || e.config.grant.TryEnter() }

func (e *poolTurns) Wanted() bool { return e.config.grant != nil && e.config.grant.Wanted() }

func (e *poolTurns) Leave() {
	if e.config.grant != nil {
		e.config.grant.Leave()
	}
}

// solver returns the bounds of an inner solve.
func (e *engine) solver() cd.Options {
	o := cd.Options{Tol: e.config.Tol, MaxEpochs: e.config.MaxEpochs, MaxSupport: e.config.MaxSupport, MaxGram: e.gram, MaxPacked: e.packed, SweepFew: e.config.sweepFew}
	if s := e.config.grant; s != nil {
		if s.packed > 0 && (o.MaxPacked == 0 || s.packed < o.MaxPacked) {
			o.MaxPacked = s.packed
		}
		if s.gram > 0 && (o.MaxGram == 0 || s.gram < o.MaxGram) {
			o.MaxGram = s.gram
		}
	}
	return o
}

// spec returns the specification that all outer problems share.
func (e *engine) spec() bilevel.Spec {
	spec := bilevel.Spec{
		Weights: e.config.Weights, Intercept: !e.config.NoIntercept, Standardise: e.config.Standardize, Times: e.statement.Times, Box: e.statement.Box,
		Iterate: e.config.Method.iterdiffMethod(), Certify: e.config.Certify, Threads: e.config.Threads, Among: e.callThreads(), Solved: e.config.Solved,
	}
	if e.statement.ClassWeights != nil {
		spec.Training = e.statement.ClassWeights.Weigh
	}
	if e.config.grant != nil {
		spec.Memory = e.config.grant.memory
	}
	e.setBounds(&spec)
	return spec
}

// setBounds sets the bounds of the inner problems of an outer problem, and of their memory.
func (e *engine) setBounds(spec *bilevel.Spec) {
	spec.Solver, spec.AtOnce = e.solver(), e.lanes
	if s := e.config.grant; s != nil && s.lanes > 0 && (spec.AtOnce == 0 || s.lanes < spec.AtOnce) {
		spec.AtOnce = s.lanes
	}
	spec.Solver.Estimate = e.config.MaxBytes == 0 && spec.Solver.MaxGram == 0 && spec.Solver.MaxPacked == 0
}

// turn waits for a thread, and in a pool for a turn, to make or to solve a problem. end gives them back.
// If ctx has ended, turn does not wait: a solve then ends at once.
func (e *engine) turn(ctx context.Context) (end func()) {
	if e.callThreads().Enter(ctx) == nil {
		return e.release
	}
	return func() {}
}

// check refuses a λ of the wrong length or with values that the problem does not accept.
func (e *engine) check(logLambda []float64) (err error) {
	defer outcome.Caught(&err)
	if err := e.checkLength(logLambda); err != nil {
		return err
	}
	return e.Accepts(logLambda)
}

// checkLength refuses a λ of the wrong length.
func (e *engine) checkLength(logLambda []float64) error {
	if r := e.statement.Count; len(logLambda) != r {
		return outcome.At(outcome.Shape, "log-lambda", "one λ is needed per hyperparameter, %d for %s; got %d", r, e.config.Model, len(logLambda))
	}
	return nil
}

// outer states the outer problem on X.
func (e *engine) outer(spec bilevel.Spec) (inner.Outer, error) {
	if e.leftOut == "" {
		return e.Outer(spec)
	}
	return e.Problem.(inner.LeavesOut).ByLeftOut(e.leftOut == GCV)
}

// Max returns ln αmax for every hyperparameter, NaN where there is none.
func (e *engine) Max() []float64 { return e.AppendMax(nil) }

// max is Max, with a panic of the loss returned as an error.
func (e *engine) max() (top []float64, err error) {
	defer outcome.Caught(&err)
	return e.Max(), nil
}

// fit solves the inner problem at one λ and notifies the observer.
func (e *engine) fit(ctx context.Context, logLambda []float64) (_ *Fitted, err error) {
	defer outcome.Caught(&err) // the observer may panic
	f, took, err := e.solve(ctx, logLambda)
	if err == nil {
		e.observe(f, took)
	}
	return f, err
}

// observe notifies the observer of a solution.
func (e *engine) observe(f *Fitted, took time.Duration) {
	if o := e.config.Observer; o != nil {
		o.Solve(f, took)
	}
}

// solve is fit without notifying the observer.
func (e *engine) solve(ctx context.Context, logLambda []float64) (_ *Fitted, took time.Duration, err error) {
	defer outcome.Caught(&err)
	if err := e.checkLength(logLambda); err != nil {
		return nil, 0, err
	}
	began := time.Now()
	defer func() { e.team.Rest() }()
	s, err := e.Solve(ctx, logLambda)
	if err != nil {
		return nil, 0, err
	}
	f := e.reused
	if f == nil {
		f = &Fitted{}
	}
	e.fillFitted(f, s, logLambda, e.AppendMax(f.LogLambdaMax[:0]))
	f.Model, f.Loss, f.Link = e.config.Model, e.family.lossName(), e.family.link()
	_, f.Columns = e.statement.X.Dims()
	return f, time.Since(began), nil
}

// fillFitted fills f with the solution s at one λ. f keeps the slice top, ln αmax.
func (e *engine) fillFitted(f *Fitted, s *inner.Solution, logLambda, top []float64) {
	*f = Fitted{
		LogLambda: append(f.LogLambda[:0], logLambda...), LogLambdaMax: top,
		Support: s.Support, Coef: s.Coef, Intercept: s.Intercept, Classes: s.Classes, Free: s.Free, Bound: s.Bound,
		Objective: s.Objective, Certificate: s.Certificate, Unique: s.Unique, SupportCertified: s.SupportCertified,
		DualMargin: s.DualMargin, SecondsCertify: s.SecondsCertify, Effort: s.Effort, Work: s.Work, Shared: s.Shared, Status: s.Status, Kernels: e.statement.Kernels.Name,
	}
	for _, class := range s.PerClass {
		one := &Fitted{}
		e.fillFitted(one, class, class.LogLambda, class.LogLambdaMax)
		f.PerClass = append(f.PerClass, one)
	}
}
