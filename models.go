package pare

import (
	"context"
	"reflect"
	"slices"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Model names an inner problem: a loss and a form of penalty.
type Model string

// The models. [Config].Loss puts another loss in the place of the squared one.
const (
	Lasso         Model = "lasso"
	ElasticNet    Model = "enet"
	WeightedLasso Model = "wlasso"
	Ridge         Model = "ridge"
	Logistic      Model = "logreg"
	Poisson       Model = "poisson"
	Gamma         Model = "gamma"
	Tweedie       Model = "tweedie"
	Huber         Model = "huber"
	SquaredHinge  Model = "squared_hinge"
	SVR           Model = "svr"         // ε-insensitive regression; its λ's are ln C and ln ε
	SimplexSVR    Model = "simplex_svr" // the same with coefficients β ≥ 0, Σβ = 1 and no intercept
	Multiclass    Model = "multiclass"  // one-versus-rest: a logreg for each class against the others
	SVM           Model = "svm"         // without intercept unless one is asked for; its λ is ln C

	GroupLasso      Model = "group"           // groups of columns enter together
	GroupNet        Model = "group_enet"      // with a ridge
	SparseGroup     Model = "sparse_group"    // with an ℓ1 term that has a share τ of one strength
	SparseGroupPair Model = "sparse_group_l1" // with an ℓ1 strength of its own
	MCP             Model = "mcp"             // minimax concave penalty
	SCAD            Model = "scad"            // smoothly clipped absolute deviation

	Multinomial         Model = "multinomial"           // softmax, ℓ1
	MultinomialNet      Model = "multinomial_enet"      // and a ridge
	MultinomialGroup    Model = "multinomial_group"     // a column is used for all classes or for none
	MultinomialPerClass Model = "multinomial_per_class" // ℓ1 with a strength for each class
)

// family is an entry of the table of models: all that sets a model apart from the others.
type family struct {
	name  Model
	about string    // in a line, for help
	loss  loss.Loss // nil: the hinge of an SVM, which is no datafit of rows
	form            // of the penalty
	// judge makes the criterion on held-out rows of the loss, bound to the rows; judged says
	// it in words.
	judge  func(loss.Loss) criterion.Criterion
	judged string
	// classes says that there is a predictor for each class of the target; samples, that
	// the problem is one of samples instead of columns.
	classes, samples bool
	// machine is the loss of a problem of samples; tube says that it has a second strength ε,
	// bare that there is no intercept unless one is asked for.
	machine    svmLoss
	tube, bare bool
	simplex    bool                           // its coefficients are on the probability simplex, and there is no intercept
	state      func(*engine) (problem, error) // makes the inner problem of an engine's data
}

// svmLoss is the loss of support vectors, which is no datafit of rows: its name, and what a score
// is of the mean of the target.
type svmLoss struct {
	name string
	link loss.Link
}

// form is an entry of the table of penalties.
type form struct {
	name            string
	strengths       Strengths
	hyperparameters int  // or perColumn, perClass
	dense           bool // no strength makes a coefficient zero
	penalty         func(logLambda []float64) (model.Penalty, error)
	max             func(*model.Null) float64 // αmax
	// ranges are the ranges of a search around ln αmax, or around 0 where there is none: one per
	// hyperparameter, the last for all that follow.
	ranges   []span
	positive bool       // β ≥ 0 can be asked for
	blocks   *blockForm // of a penalty on blocks of coefficients, which has no penalty and no max
	// common says that one share of αmax serves all hyperparameters unless more is
	// asked for.
	common bool
	// rescale turns a penalty factor other than 0 and +Inf into scales, see factors.go; nil
	// where there are none. free says that there can be factors of 0.
	rescale func(factor float64) (times, weight float64)
	free    bool
}

// As many hyperparameters as the data has of these.
const (
	perColumn = -1
	perClass  = -2
)

// span is a range of λ.
type span struct{ below, above float64 }

// problem is the inner problem of a model on all rows.
type problem interface {
	// max returns ln αmax for every hyperparameter, NaN where there is none.
	max() []float64
	// accepts refuses a λ, of the right length, that there is no problem for.
	accepts(logLambda []float64) error
	// solve solves at one λ, from the last solution.
	solve(ctx context.Context, logLambda []float64) (*Fitted, error)
	// restart forgets the last solution, for a [Fitter]: the next solve is as the first was.
	restart()
	// outer states the choice of λ.
	outer(bilevel.Spec) (outer, error)
	// start returns where a search starts: a share of αmax, or a C.
	start() float64
}

// anchored is a problem whose null model has an objective P₀ that does not depend on λ.
type anchored interface{ null() float64 }

// outer is the choice of λ for an inner problem.
type outer interface {
	search.Objective
	Evaluate(context.Context, search.Request) (bilevel.Report, error)
	NullValue() float64
	Null() search.Evaluation
	Remember(ctx context.Context, tag byte, left []search.Memory) error
}

func families() []family {
	alphaMax := (*model.Null).AlphaMax
	var (
		l1 = form{
			name: "l1", hyperparameters: 1, max: alphaMax, positive: true, ranges: []span{{12, 0}}, rescale: rescaleL1, free: true,
			penalty: func(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) },
		}
		elasticNet = form{
			name: "enet", strengths: L1AndRidge, hyperparameters: 2, max: alphaMax, positive: true, ranges: []span{{9, 0}, {9, 4}}, rescale: rescaleBoth,
			penalty: func(l []float64) (model.Penalty, error) { return model.ElasticNet(l[0], l[1]) },
		}
		weighted = form{
			name: "weighted l1", strengths: EachColumn, hyperparameters: perColumn, max: alphaMax, positive: true, ranges: []span{{12, 0}},
			penalty: model.WeightedLasso,
		}
		ridge = form{
			name: "ridge", dense: true, hyperparameters: 1, max: (*model.Null).RidgeMax, ranges: []span{{16, 2}}, rescale: rescaleRidge,
			penalty: func(l []float64) (model.Penalty, error) { return model.Ridge(l[0]) },
		}
		byClass = form{name: "l1 of each class", strengths: EachClass, hyperparameters: perClass, max: alphaMax, positive: true, ranges: []span{{12, 0}}, penalty: l1.penalty, common: true, rescale: rescaleL1}
		box     = form{name: "ridge", strengths: Cost, hyperparameters: 1, ranges: []span{{16, 4}}}
		tube    = form{name: "ridge", strengths: CostAndTube, hyperparameters: 2, ranges: []span{{16, 12}, {12, 3}}}
	)
	gamma, a, tau := shapes()
	const meanSquares = "mean squared error"
	mse := func(loss.Loss) criterion.Criterion { return criterion.MeanSquaredError{} }
	return []family{
		{name: Lasso, about: "numbers; squared loss, ℓ1 penalty: few columns are used", loss: loss.Squared{}, form: l1, judge: mse, judged: meanSquares, state: newSeparable},
		{name: ElasticNet, about: "elastic net: ℓ1 and ridge, two strengths", loss: loss.Squared{}, form: elasticNet, judge: mse, judged: meanSquares, state: newSeparable},
		{name: WeightedLasso, about: "weighted Lasso: a strength for every column", loss: loss.Squared{}, form: weighted, judge: mse, judged: meanSquares, state: newSeparable},
		{name: Ridge, about: "numbers; squared loss, all columns are used", loss: loss.Squared{}, form: ridge, judge: mse, judged: meanSquares, state: newSeparable},
		{name: Logistic, about: "two classes; logistic loss, ℓ1 penalty; gives probabilities", loss: loss.Logistic{}, form: l1, judge: criterion.Of, judged: "logistic loss", state: newSeparable},
		{name: Poisson, about: "counts; Poisson loss with a log link, ℓ1 penalty", loss: loss.Poisson{}, form: l1, judge: criterion.Deviance, judged: "Poisson deviance", state: newSeparable},
		{name: Gamma, about: "numbers above 0; gamma loss with a log link, ℓ1 penalty", loss: loss.Gamma{}, form: l1, judge: criterion.Deviance, judged: "gamma deviance", state: newSeparable},
		{name: Tweedie, about: "numbers of 0 or more, many of them 0; log link, ℓ1 penalty", loss: loss.Tweedie{}, form: l1, judge: criterion.Deviance, judged: "Tweedie deviance", state: newSeparable},
		{name: Huber, about: "numbers with outliers; Huber's loss, ℓ1 penalty", loss: loss.Huber{}, form: l1, judge: criterion.Of, judged: "Huber's loss", state: newSeparable},
		{name: SquaredHinge, about: "two classes; squared hinge, ℓ1 penalty", loss: loss.SquaredHinge{}, form: l1, judge: criterion.Of, judged: "squared hinge", state: newSeparable},
		{name: Multiclass, about: "two classes or more: a logreg of each class against the rest", loss: loss.Logistic{}, form: byClass, judged: "cross-entropy", classes: true, state: newOneVersusRest},
		{name: SVM, about: "two classes; linear support vector machine, strength C", form: box, judge: func(loss.Loss) criterion.Criterion { return criterion.Of(loss.SmoothedHinge{}) }, judged: "smoothed hinge", samples: true, bare: true, machine: svmLoss{"hinge", loss.Margin}, state: newSamples},
		{name: SVR, about: "numbers; ε-insensitive support vector regression, C and ε", form: tube, judge: mse, judged: meanSquares, samples: true, tube: true, machine: svmLoss{"epsilon_insensitive", loss.Identity}, state: newSamples},
		{name: SimplexSVR, about: "numbers; the same with β ≥ 0 and Σβ = 1, no intercept", form: tube, judge: mse, judged: meanSquares, samples: true, tube: true, bare: true, simplex: true, machine: svmLoss{"epsilon_insensitive", loss.Identity}, state: newSamples},
		{name: GroupLasso, about: "group Lasso: groups of columns enter together", loss: loss.Squared{}, form: groupForm(), judge: mse, judged: meanSquares, state: newBlocked},
		{name: GroupNet, about: "group Lasso and ridge, two strengths", loss: loss.Squared{}, form: groupNetForm(), judge: mse, judged: meanSquares, state: newBlocked},
		{name: SparseGroup, about: "sparse group Lasso: few groups, few columns of each", loss: loss.Squared{}, form: sparseGroupForm(tau), judge: mse, judged: meanSquares, state: newBlocked},
		{name: SparseGroupPair, about: "sparse group Lasso with two strengths", loss: loss.Squared{}, form: sparseGroupPairForm(), judge: mse, judged: meanSquares, state: newBlocked},
		{name: MCP, about: "minimax concave penalty: large coefficients do not shrink", loss: loss.Squared{}, form: mcpForm(gamma), judge: mse, judged: meanSquares, state: newBlocked},
		{name: SCAD, about: "smoothly clipped penalty: large coefficients do not shrink", loss: loss.Squared{}, form: scadForm(a), judge: mse, judged: meanSquares, state: newBlocked},
		{name: Multinomial, about: "two classes or more: softmax, ℓ1 penalty", loss: loss.Logistic{}, form: scoresForm(), judged: "cross-entropy", classes: true, state: newBlocked},
		{name: MultinomialNet, about: "softmax, ℓ1 and ridge: two strengths", loss: loss.Logistic{}, form: scoresNetForm(), judged: "cross-entropy", classes: true, state: newBlocked},
		{name: MultinomialGroup, about: "softmax; a column is used for all classes or none", loss: loss.Logistic{}, form: scoresGroupForm(), judged: "cross-entropy", classes: true, state: newBlocked},
		{name: MultinomialPerClass, about: "softmax, ℓ1 with a strength for each class", loss: loss.Logistic{}, form: scoresEachForm(), judged: "cross-entropy", classes: true, state: newBlocked},
	}
}

// Models lists the models there are.
func Models() (names []Model) {
	for _, f := range families() {
		names = append(names, f.name)
	}
	return names
}

// family returns the entry of a model, the zero family where there is none.
func (m Model) family() family {
	all := families()
	if i := slices.IndexFunc(all, func(f family) bool { return f.name == m }); i >= 0 {
		return all[i]
	}
	return family{}
}

// About says in a line what the model is; "" where there is no such model.
func (m Model) About() string { return m.family().about }

// Traits are what sets a model apart from the others.
type Traits struct {
	// Model is the name of the model: that of the loss and the penalty together where a
	// [Config] has a loss of its own and there is one.
	Model     Model
	About     string    // in a line
	Loss      string    // the name of the loss that is minimised
	Link      loss.Link // what a score is of the mean of the target
	Judged    string    // what judges predictions on held-out rows, in words
	Strengths Strengths
	Grouped   bool // columns make groups
	Convex    bool // the inner problem is, and has a duality gap
	// Shape names the parameter of a penalty that is not convex, "" where there is none.
	Shape     string
	Positive  bool // there is a constraint β ≥ 0
	Intercept bool // there can be one
	Bare      bool // there is none unless it is asked for
	Samples   bool // the problem is one of samples: there is no αmax, and its support is of rows
	Offset    bool // predictions may have one
	Certified bool // supports can be proved
	Dense     bool // no strength makes a coefficient zero
	Classes   bool // there is a predictor for each class of the target
	Factors   bool // strengths of columns can have factors
	Iterated  bool // it can be differentiated along iterates
}

// Strengths says what the λ's of a model are the logarithms of.
type Strengths int

// The kinds of strengths.
const (
	OneStrength   Strengths = iota // one α for all columns
	L1AndRidge                     // α of the ℓ1 penalty, then of the ridge
	EachColumn                     // one α for each column
	EachClass                      // one α for each class
	Cost                           // C of samples, which has no αmax
	CostAndTube                    // C, then half the width ε of a tube
	GroupAndRidge                  // α of the groups, then of the ridge
	L1AndGroup                     // α of the ℓ1 penalty, then of the groups
)

// Traits returns the traits of the model of a Config. The error is an [outcome.Error] of kind
// Usage: there is no such model, or none with such a loss.
func (c Config) Traits() (Traits, error) {
	if c.Model == "" {
		c.Model = Lasso
	}
	f, err := c.family()
	if err != nil {
		return Traits{}, err
	}
	shape := ""
	if f.blocks != nil && f.blocks.shaped.concave {
		shape = f.blocks.shaped.flag
	}
	return Traits{
		Model: f.name, About: f.about, Loss: f.lossName(), Link: f.link(), Judged: f.judged, Strengths: f.strengths,
		Positive: f.positive, Intercept: !f.simplex, Bare: f.bare, Samples: f.samples, Offset: f.offset(), Certified: !f.samples && f.blocks == nil, Dense: f.dense, Classes: f.classes,
		Factors: f.rescale != nil, Iterated: f.iterated(),
		Grouped: f.blocks != nil && f.blocks.grouped, Convex: shape == "", Shape: shape,
	}, nil
}

// Traits returns the traits of the model by itself, see [Config.Traits]; zero where there is no
// such model.
func (m Model) Traits() Traits {
	traits, err := Config{Model: m}.Traits()
	if err != nil || m == "" {
		return Traits{}
	}
	return traits
}

// Loss says in words what judges the model on held-out rows; "" where there is
// no such model.
func (m Model) Loss() string { return m.family().judged }

// Hyperparameters returns the number of λ's the model has for data; 0 where it
// cannot have any: there is no such model, no column or no class.
func (m Model) Hyperparameters(x sparse.Matrix, y []float64) int {
	switch r := m.family().hyperparameters; r {
	case perColumn:
		if !isMatrix(x) {
			return 0
		}
		_, p := x.Dims()
		return p
	case perClass:
		classes, _, _ := bilevel.Classes(y)
		return len(classes)
	default:
		return r
	}
}

// family returns the entry of the model, with the Config's own loss if it has one.
func (c Config) family() (family, error) {
	f := c.Model.family()
	switch {
	case f.state == nil:
		return f, outcome.At(outcome.Usage, "model", "no model %q; there are %v", c.Model, Models())
	case c.Loss == nil:
		return f, nil
	case f.classes || f.samples || !f.quadratic() && !sameLoss(f.loss, c.Loss):
		return f, outcome.At(outcome.Usage, "loss", "%s has a loss of its own; %s, %s, %s and %s take any", f.name, Lasso, ElasticNet, WeightedLasso, Ridge)
	}
	f.about = c.Loss.Name() + " loss, penalty of " + string(f.name)
	f.loss, f.judge, f.judged = c.Loss, criterion.Of, c.Loss.Name()+" loss"
	for _, known := range families() {
		if known.loss == nil || known.classes || !sameLoss(known.loss, c.Loss) {
			continue
		}
		f.judge, f.judged = known.judge, known.judged
		if known.form.name == f.form.name {
			f.name, f.about = known.name, known.about
			break
		}
	}
	return f, nil
}

// sameLoss reports that two losses differ by parameters at most. A caller's own may have the
// name of one of ours.
func sameLoss(a, b loss.Loss) bool { return reflect.TypeOf(a) == reflect.TypeOf(b) }

// quadratic reports the squared loss.
func (f family) quadratic() bool { return f.loss == loss.Loss(loss.Squared{}) }

// lossName returns the name of the loss that is minimised.
func (f family) lossName() string {
	if f.loss == nil {
		return f.machine.name
	}
	return f.loss.Name()
}

// smooth reports that the curvature of the loss has a bound.
func (f family) smooth() bool {
	if f.loss == nil {
		return true
	}
	_, ok := f.loss.Smoothness()
	return ok
}

// iterated reports that the methods that go along iterates know the model.
func (f family) iterated() bool { return !f.classes && !f.tube && f.blocks == nil && f.smooth() }

// coldSample reports that a cold start may solve the problem on a part of the rows first
// (cd/sample.go).
func (f family) coldSample() bool { return f.loss != nil && !f.quadratic() }

// offset reports that predictions may have an offset.
func (f family) offset() bool { return !f.samples && !f.classes }

// nonNegative returns the form with the constraint β ≥ 0.
func (f form) nonNegative() form {
	free := f.penalty
	f.max = (*model.Null).AlphaMaxNonNegative
	f.penalty = func(l []float64) (model.Penalty, error) {
		g, err := free(l)
		if err != nil {
			return g, err
		}
		return g.NonNegative()
	}
	return f
}

// link returns what a score is of the mean of the target.
func (f family) link() loss.Link {
	if f.loss == nil {
		return f.machine.link
	}
	return f.loss.Link()
}
