package pare

import (
	"reflect"
	"slices"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Model names an inner problem: a loss and a form of penalty.
type Model string

// The models; their objectives are in the package comment. [Config].Loss replaces the squared
// loss of some of them.
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
	SVR           Model = "svr"         // ε-insensitive support vector regression; its λ's are ln C and ln ε
	SimplexSVR    Model = "simplex_svr" // the same with β ≥ 0, Σβ = 1 and no intercept
	Multiclass    Model = "multiclass"  // one-versus-rest: a logreg for each class against the others
	SVM           Model = "svm"         // linear support vector classification; its λ is ln C

	GroupLasso      Model = "group"           // groups of columns enter the support together
	GroupNet        Model = "group_enet"      // group Lasso and ridge, each with a strength
	SparseGroup     Model = "sparse_group"    // α(τ‖β‖₁ + (1 − τ)Σw_g‖β_g‖₂), τ from [Config].Tau
	SparseGroupPair Model = "sparse_group_l1" // ℓ1 and group Lasso, each with a strength
	MCP             Model = "mcp"             // minimax concave penalty
	SCAD            Model = "scad"            // smoothly clipped absolute deviation

	Multinomial         Model = "multinomial"           // softmax with an ℓ1 penalty
	MultinomialNet      Model = "multinomial_enet"      // softmax with ℓ1 and ridge, each with a strength
	MultinomialGroup    Model = "multinomial_group"     // softmax; a column is used for all classes or for none
	MultinomialPerClass Model = "multinomial_per_class" // softmax with an ℓ1 strength for each class
)

// family is an entry of the table of models: everything that defines a model.
type family struct {
	name  Model
	about string     // a one-line description, for help
	loss  loss.Loss  // nil for support vectors, see svmLoss
	form  inner.Form // the form of the penalty
	// strengths says which strengths the λ's are the logarithms of.
	strengths Strengths
	// judge makes the criterion that judges held-out rows, from the loss; judgeName is its name in
	// words.
	judge     func(loss.Loss) criterion.Criterion
	judgeName string
	// classes says that there is a predictor for each class of the target; samples says that the
	// problem has dual variables of samples instead of coefficients of columns (support vectors).
	classes, samples bool
	// svmLoss is the loss of a problem of samples. tube says that it has a second strength ε, and
	// optionalIntercept that there is no intercept unless one is asked for.
	svmLoss                 svmLoss
	tube, optionalIntercept bool
	simplex                 bool                                          // the coefficients are on the probability simplex, and there is no intercept
	newProblem              func(*inner.Statement) (inner.Problem, error) // makes the inner problem
}

// svmLoss is the loss of support vectors, which is not a datafit: its name and its link.
type svmLoss struct {
	name string
	link loss.Link
}

func families() []family {
	l1 := inner.L1()
	const meanSquares = "mean squared error"
	mse := func(loss.Loss) criterion.Criterion { return criterion.MeanSquaredError{} }
	return []family{
		{name: Lasso, about: "numbers; squared loss, ℓ1 penalty: few columns are used", loss: loss.Squared{}, form: l1, judge: mse, judgeName: meanSquares, newProblem: inner.OnColumns},
		{name: ElasticNet, about: "elastic net: ℓ1 and ridge, two strengths", loss: loss.Squared{}, form: inner.ElasticNet(), strengths: L1AndRidge, judge: mse, judgeName: meanSquares, newProblem: inner.OnColumns},
		{name: WeightedLasso, about: "weighted Lasso: a strength for every column", loss: loss.Squared{}, form: inner.WeightedL1(), strengths: EachColumn, judge: mse, judgeName: meanSquares, newProblem: inner.OnColumns},
		{name: Ridge, about: "numbers; squared loss, all columns are used", loss: loss.Squared{}, form: inner.Ridge(), judge: mse, judgeName: meanSquares, newProblem: inner.OnColumns},
		{name: Logistic, about: "two classes; logistic loss, ℓ1; gives probabilities", loss: loss.Logistic{}, form: l1, judge: criterion.Of, judgeName: "logistic loss", newProblem: inner.OnColumns},
		{name: Poisson, about: "counts; Poisson loss with a log link, ℓ1 penalty", loss: loss.Poisson{}, form: l1, judge: criterion.Deviance, judgeName: "Poisson deviance", newProblem: inner.OnColumns},
		{name: Gamma, about: "numbers above 0; gamma loss with a log link, ℓ1 penalty", loss: loss.Gamma{}, form: l1, judge: criterion.Deviance, judgeName: "gamma deviance", newProblem: inner.OnColumns},
		{name: Tweedie, about: "numbers ≥ 0, many of them 0; log link, ℓ1 penalty", loss: loss.Tweedie{}, form: l1, judge: criterion.Deviance, judgeName: "Tweedie deviance", newProblem: inner.OnColumns},
		{name: Huber, about: "numbers with outliers; Huber's loss, ℓ1 penalty", loss: loss.Huber{}, form: l1, judge: criterion.Of, judgeName: "Huber's loss", newProblem: inner.OnColumns},
		{name: SquaredHinge, about: "two classes; squared hinge, ℓ1 penalty", loss: loss.SquaredHinge{}, form: l1, judge: criterion.Of, judgeName: "squared hinge", newProblem: inner.OnColumns},
		{name: Multiclass, about: "any classes; one logreg for each against the rest", loss: loss.Logistic{}, form: inner.L1OfClasses(), strengths: EachClass, judgeName: "cross-entropy", classes: true, newProblem: inner.OnClasses},
		{name: SVM, about: "two classes; linear support vector machine, strength C", form: inner.Cost(), strengths: Cost, judge: func(loss.Loss) criterion.Criterion { return criterion.Of(loss.SmoothedHinge{}) }, judgeName: "smoothed hinge", samples: true, optionalIntercept: true, svmLoss: svmLoss{"hinge", loss.Margin}, newProblem: inner.OnSamples},
		{name: SVR, about: "numbers; ε-insensitive support vector regression", form: inner.CostAndTube(), strengths: CostAndTube, judge: mse, judgeName: meanSquares, samples: true, tube: true, svmLoss: svmLoss{"epsilon_insensitive", loss.Identity}, newProblem: inner.OnSamples},
		{name: SimplexSVR, about: "numbers; the same with β ≥ 0 and Σβ = 1, no intercept", form: inner.CostAndTube(), strengths: CostAndTube, judge: mse, judgeName: meanSquares, samples: true, tube: true, optionalIntercept: true, simplex: true, svmLoss: svmLoss{"epsilon_insensitive", loss.Identity}, newProblem: inner.OnSamples},
		{name: GroupLasso, about: "group Lasso: groups of columns enter together", loss: loss.Squared{}, form: inner.Groups(), judge: mse, judgeName: meanSquares, newProblem: inner.OnBlocks},
		{name: GroupNet, about: "group Lasso and ridge, two strengths", loss: loss.Squared{}, form: inner.GroupNet(), strengths: GroupAndRidge, judge: mse, judgeName: meanSquares, newProblem: inner.OnBlocks},
		{name: SparseGroup, about: "sparse group Lasso: few groups, few columns of each", loss: loss.Squared{}, form: inner.SparseGroup(), judge: mse, judgeName: meanSquares, newProblem: inner.OnBlocks},
		{name: SparseGroupPair, about: "sparse group Lasso with two strengths", loss: loss.Squared{}, form: inner.SparseGroupPair(), strengths: L1AndGroup, judge: mse, judgeName: meanSquares, newProblem: inner.OnBlocks},
		{name: MCP, about: "minimax concave: large coefficients do not shrink", loss: loss.Squared{}, form: inner.MCP(), judge: mse, judgeName: meanSquares, newProblem: inner.OnBlocks},
		{name: SCAD, about: "smoothly clipped: large coefficients do not shrink", loss: loss.Squared{}, form: inner.SCAD(), judge: mse, judgeName: meanSquares, newProblem: inner.OnBlocks},
		{name: Multinomial, about: "any classes; softmax, ℓ1 penalty", loss: loss.Logistic{}, form: inner.Scores(), judgeName: "cross-entropy", classes: true, newProblem: inner.OnBlocks},
		{name: MultinomialNet, about: "softmax, ℓ1 and ridge: two strengths", loss: loss.Logistic{}, form: inner.ScoresNet(), strengths: L1AndRidge, judgeName: "cross-entropy", classes: true, newProblem: inner.OnBlocks},
		{name: MultinomialGroup, about: "softmax; a column is used for all classes or none", loss: loss.Logistic{}, form: inner.ScoresGroup(), judgeName: "cross-entropy", classes: true, newProblem: inner.OnBlocks},
		{name: MultinomialPerClass, about: "softmax, ℓ1 with a strength for each class", loss: loss.Logistic{}, form: inner.ScoresEach(), strengths: EachClass, judgeName: "cross-entropy", classes: true, newProblem: inner.OnBlocks},
	}
}

// Models lists the models.
func Models() (names []Model) {
	for _, f := range families() {
		names = append(names, f.name)
	}
	return names
}

// family returns the entry of a model, or the zero family if there is no such model.
func (m Model) family() family {
	all := families()
	if i := slices.IndexFunc(all, func(f family) bool { return f.name == m }); i >= 0 {
		return all[i]
	}
	return family{}
}

// About describes the model in one line; "" if there is no such model.
func (m Model) About() string { return m.family().about }

// Traits describe a model: its loss, its penalty, and the options that apply to it.
type Traits struct {
	// Model is the name of the model. With [Config].Loss it is the name of the model that has that
	// loss and this penalty, if there is one.
	Model     Model
	About     string    // the model in one line
	Loss      string    // the name of the loss that is minimised
	Link      loss.Link // how a score is related to the mean of the target
	Judged    string    // the criterion that judges held-out rows, in words
	Strengths Strengths // which strengths the λ's are the logarithms of
	Grouped   bool      // [Config].Groups applies
	Convex    bool      // the inner problem is convex and has a duality gap
	Shape     string    // the parameter of a penalty that is not convex, such as "gamma"; else ""
	Positive  bool      // [Config].Positive, Lower and Upper apply
	Intercept bool      // an intercept is possible
	Bare      bool      // there is no intercept unless [Config].Intercept is set
	Samples   bool      // support vectors: no αmax, and dual variables of rows
	Offset    bool      // [Config].Offset applies
	Certified bool      // supports can be proved, see [Config].Certify
	Dense     bool      // no strength makes a coefficient zero
	Classes   bool      // each class of the target has a predictor of its own
	Factors   bool      // [Config].PenaltyFactors applies
	Iterated  bool      // methods other than [Implicit] apply
}

// Strengths says which strengths the λ's of a model are the logarithms of.
type Strengths int

// The kinds of strengths.
const (
	OneStrength   Strengths = iota // one α for all columns
	L1AndRidge                     // α of the ℓ1 penalty, then of the ridge
	EachColumn                     // one α per column
	EachClass                      // one α per class
	Cost                           // C of support vectors
	CostAndTube                    // C, then ε, half the width of the tube without loss
	GroupAndRidge                  // α of the groups, then of the ridge
	L1AndGroup                     // α of the ℓ1 penalty, then of the groups
)

// Traits returns the traits of the Config's model with its loss. The error is an [outcome.Error]
// of kind Usage if there is no such model, or if the model does not take that loss.
func (c Config) Traits() (_ Traits, err error) {
	defer outcome.Caught(&err) // a loss that the caller has written may panic
	if c.Model == "" {
		c.Model = Lasso
	}
	f, err := c.family()
	if err != nil {
		return Traits{}, err
	}
	shape := ""
	if f.shape().Concave {
		shape = f.shape().Flag
	}
	return Traits{
		Model: f.name, About: f.about, Loss: f.lossName(), Link: f.link(), Judged: f.judgeName, Strengths: f.strengths,
		Positive: f.form.NonNegative, Intercept: !f.simplex, Bare: f.optionalIntercept, Samples: f.samples, Offset: f.offset(), Certified: !f.samples && f.form.Blocks == nil, Dense: f.form.Dense, Classes: f.classes,
		Factors: f.form.Rescale != nil, Iterated: f.iterated(),
		Grouped: f.grouped(), Convex: shape == "", Shape: shape,
	}, nil
}

// Traits returns the traits of the model with its own loss; they are zero if there is no such model.
func (m Model) Traits() Traits {
	traits, err := Config{Model: m}.Traits()
	if err != nil || m == "" {
		return Traits{}
	}
	return traits
}

// Loss names, in words, the criterion that judges held-out rows, see [Traits].Judged; "" if there is
// no such model.
func (m Model) Loss() string { return m.family().judgeName }

// Hyperparameters returns the number of λ's that the model has for x and y: a constant of the
// model, the number of columns of x, or the number of classes of y. It is 0 if there is no such
// model.
func (m Model) Hyperparameters(x sparse.Matrix, y []float64) int {
	return m.family().hyperparameters(x, y)
}

func (f family) hyperparameters(x sparse.Matrix, y []float64) int {
	switch r := f.form.Hyperparameters; r {
	case inner.PerColumn:
		if !isMatrix(x) {
			return 0
		}
		_, p := x.Dims()
		return p
	case inner.PerClass:
		classes, _, _ := bilevel.Classes(nil, y)
		return len(classes)
	default:
		return r
	}
}

// family returns the entry of the Config's model, with the Config's loss in place of the squared
// loss if it is set.
func (c Config) family() (family, error) {
	f := c.Model.family()
	switch {
	case f.newProblem == nil:
		return f, outcome.At(outcome.Usage, "model", "unknown model %q; the models are %v", c.Model, Models())
	case c.Loss == nil:
		return f, nil
	case isNil(c.Loss):
		return f, outcome.At(outcome.BadParameter, "loss", "must not be a nil %T", c.Loss)
	case f.classes || f.samples || !f.quadratic() && !sameLoss(f.loss, c.Loss):
		return f, outcome.At(outcome.Usage, "loss", "the loss of %s cannot be replaced; models with the squared loss, such as %s and %s, take any loss", f.name, Lasso, GroupLasso)
	}
	f.about = c.Loss.Name() + " loss, penalty of " + string(f.name)
	f.loss, f.judge, f.judgeName = c.Loss, criterion.Of, c.Loss.Name()+" loss"
	for _, known := range families() {
		if known.loss == nil || known.classes || !sameLoss(known.loss, c.Loss) {
			continue
		}
		f.judge, f.judgeName = known.judge, known.judgeName
		if known.form.Name == f.form.Name {
			f.name, f.about = known.name, known.about
			break
		}
	}
	return f, nil
}

// sameLoss reports whether two losses differ in their parameters at most. It compares types, because a
// loss that the caller has written may have the name of a loss of package loss.
func sameLoss(a, b loss.Loss) bool { return reflect.TypeOf(a) == reflect.TypeOf(b) }

// isNil reports whether a loss is a nil pointer.
func isNil(l loss.Loss) bool {
	of := reflect.ValueOf(l)
	return of.Kind() == reflect.Pointer && of.IsNil()
}

// quadratic reports whether the loss is the squared loss.
func (f family) quadratic() bool { return f.loss == loss.Loss(loss.Squared{}) }

// lossName returns the name of the loss that is minimised.
func (f family) lossName() string {
	if f.loss == nil {
		return f.svmLoss.name
	}
	return f.loss.Name()
}

// smooth reports whether the curvature of the loss is bounded.
func (f family) smooth() bool {
	if f.loss == nil {
		return true
	}
	_, ok := f.loss.Smoothness()
	return ok
}

// iterated reports whether the methods that differentiate iterates support the model.
func (f family) iterated() bool { return !f.classes && !f.tube && f.form.Blocks == nil && f.smooth() }

// offset reports whether predictions may have an offset.
func (f family) offset() bool { return !f.samples && !f.classes }

// link returns how a score is related to the mean of the target.
func (f family) link() loss.Link {
	if f.loss == nil {
		return f.svmLoss.link
	}
	return f.loss.Link()
}

// shape returns the parameter that the penalty has besides its strengths.
func (f family) shape() inner.Shape {
	if f.form.Blocks == nil {
		return inner.Shape{}
	}
	return f.form.Blocks.Shape
}

// grouped reports whether the penalty is on groups of columns.
func (f family) grouped() bool { return f.form.Blocks != nil && f.form.Blocks.Grouped }

// parameter returns the value that the Config gives to a parameter of penalties; 0 if it gives none.
func (c Config) parameter(flag string) float64 {
	switch flag {
	case inner.Gamma:
		return c.Gamma
	case inner.A:
		return c.A
	case inner.Tau:
		return c.Tau
	default:
		return 0
	}
}
