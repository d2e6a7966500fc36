// Package pare fits sparse linear models and chooses their regularisation by
// gradient descent on a validation criterion.
//
// An inner problem is, for a design matrix X (n × p), a target y and penalty
// strengths α = e^λ,
//
//	lasso   min (1/2n)‖y − Xβ − b1‖² + e^λ‖β‖₁
//	enet    min (1/2n)‖y − Xβ − b1‖² + e^λ₁‖β‖₁ + ½e^λ₂‖β‖²
//	wlasso  min (1/2n)‖y − Xβ − b1‖² + Σ e^λⱼ|βⱼ|
//	logreg  min (1/n)Σ ln(1 + e^{−yᵢ(xᵢβ + b)}) + e^λ‖β‖₁,  y = ±1
//
// with an unpenalised intercept b unless it is switched off. The outer problem
// is to choose the logarithms λ so that a criterion on held-out rows is least.
// Its gradient in λ comes from the implicit function theorem (Bertrand et al.,
// "Implicit Differentiation for Fast Hyperparameter Selection in Non-Smooth
// Convex Learning", JMLR 23, 2022), so a handful of evaluations does the work
// of a grid.
//
// [Select] chooses λ and refits; [Fit] solves at one λ, [Path] along a grid;
// [Gradient] returns the criterion and its hypergradient at one λ. Every result
// carries a duality gap recomputed from X, relative to the objective of the
// null model, and a status. Results have the same bits on every CPU and for any
// number of threads.
package pare

import (
	"math"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Model names an inner problem.
type Model string

// The models.
const (
	Lasso         Model = "lasso"
	ElasticNet    Model = "enet"
	WeightedLasso Model = "wlasso"
	Logistic      Model = "logreg"
)

// Models lists the models there are.
func Models() []Model { return []Model{Lasso, ElasticNet, WeightedLasso, Logistic} }

// Config states the inner problem and how to solve it. The zero value is a
// Lasso with an intercept, solved to a relative gap of 1e-6 on all processors
// with the fastest kernels.
type Config struct {
	Model       Model   // "" means Lasso
	NoIntercept bool    // leave the intercept out, as the paper does
	Tol         float64 // relative duality gap to reach; 0 means 1e-6
	MaxEpochs   int     // sweeps allowed for one solve; 0 means 100,000
	Threads     int     // inner problems solved at once; 0 means all processors
	Kernels     string  // kernel set; "" means PARE_KERNELS, else the fastest
}

// Fitted is a certified solution of an inner problem on all rows given.
type Fitted struct {
	LogLambda    []float64 // one per hyperparameter
	LogLambdaMax []float64 // ln αmax, above which β = 0; the same shape

	Support   []int32   // columns with non-zero coefficients, ascending
	Coef      []float64 // their coefficients
	Intercept float64

	Objective   float64 // Φ(β, b)
	Gap         float64 // duality gap, ≥ Φ(β, b) − Φ*
	RelativeGap float64 // Gap relative to the objective of the null model
	KKT         float64 // fixed-point residual of the optimality conditions
	Epochs      int     // sweeps over working sets
	Passes      int     // passes over X
	Status      outcome.Status
	Kernels     string // the kernel set used
}

// engine is a Config resolved against data.
type engine struct {
	config Config
	k      *kernels.Set
	fit    model.Datafit // all rows
	p      int
	max    float64 // ln αmax
}

func newEngine(x sparse.Matrix, y []float64, c Config) (*engine, error) {
	if c.Model == "" {
		c.Model = Lasso
	}
	if _, err := c.penalty(); err != nil {
		return nil, err
	}
	k, err := c.kernels()
	if err != nil {
		return nil, err
	}
	if x == nil {
		return nil, outcome.Errorf(outcome.Shape, "no design matrix")
	}
	view, err := sparse.NewView(k, x, nil, !c.NoIntercept)
	if err != nil {
		return nil, err
	}
	fit, err := c.datafit(view, y)
	if err != nil {
		return nil, err
	}
	_, p := x.Dims()
	return &engine{config: c, k: k, fit: fit, p: p, max: kernels.Log(model.AlphaMax(fit))}, nil
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
		return nil, &outcome.Error{Kind: outcome.BadParameter, Flag: "kernels", Message: "cannot use this set", Err: err}
	}
	return k, nil
}

// penalty returns the maker of the model's penalties.
func (c Config) penalty() (func([]float64) (model.Penalty, error), error) {
	switch c.Model {
	case Lasso, Logistic:
		return func(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) }, nil
	case ElasticNet:
		return func(l []float64) (model.Penalty, error) { return model.ElasticNet(l[0], l[1]) }, nil
	case WeightedLasso:
		return model.WeightedLasso, nil
	default:
		return nil, outcome.At(outcome.Usage, "model", "no model %q; there are %v", c.Model, Models())
	}
}

// datafit makes the model's datafit of a view.
func (c Config) datafit(view *sparse.View, y []float64) (model.Datafit, error) {
	if c.Model == Logistic {
		return model.NewLogistic(view, y)
	}
	return model.NewSquared(view, y)
}

// criterion returns the loss on held-out rows that goes with the model.
func (c Config) criterion() criterion.Criterion {
	if c.Model == Logistic {
		return criterion.LogisticLoss{}
	}
	return criterion.MeanSquaredError{}
}

// solver returns the bounds of an inner solve.
func (c Config) solver() cd.Options { return cd.Options{Tol: c.Tol, MaxEpochs: c.MaxEpochs} }

// hyperparameters returns r.
func (e *engine) hyperparameters() int {
	switch e.config.Model {
	case ElasticNet:
		return 2
	case WeightedLasso:
		return e.p
	default:
		return 1
	}
}

// logLambdaMax repeats ln αmax for every hyperparameter.
func (e *engine) logLambdaMax() []float64 {
	out := make([]float64, e.hyperparameters())
	for i := range out {
		out[i] = e.max
	}
	return out
}

// makePenalty checks the number of hyperparameters and makes the penalty.
func (e *engine) makePenalty(logLambda []float64) (model.Penalty, error) {
	if r := e.hyperparameters(); len(logLambda) != r {
		return model.Penalty{}, outcome.At(outcome.Shape, "log_lambda", "%s has %d hyperparameters, got %d", e.config.Model, r, len(logLambda))
	}
	penalty, err := e.config.penalty()
	if err != nil {
		return model.Penalty{}, err
	}
	return penalty(logLambda)
}

// LogLambdaMax returns ln αmax: the λ from which on every coefficient is zero,
// −Inf where the target is constant. It makes three passes over X.
func LogLambdaMax(x sparse.Matrix, y []float64, c Config) (float64, error) {
	e, err := newEngine(x, y, c)
	if err != nil {
		return math.NaN(), err
	}
	return e.max, nil
}
