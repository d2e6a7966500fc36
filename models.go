package pare

import (
	"context"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Model names an inner problem.
type Model string

// The models.
const (
	Lasso         Model = "lasso"
	ElasticNet    Model = "enet"
	WeightedLasso Model = "wlasso"
	Ridge         Model = "ridge"
	Logistic      Model = "logreg"
	Multiclass    Model = "multiclass" // one-versus-rest: a logreg for each class against the others
	SVM           Model = "svm"        // without intercept; its λ is ln C
)

// Models lists the models there are.
func Models() []Model {
	return []Model{Lasso, ElasticNet, WeightedLasso, Ridge, Logistic, Multiclass, SVM}
}

// Loss says in words what judges the model on held-out rows; "" where there is
// no such model.
func (m Model) Loss() string { return m.family().loss }

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

// family is what sets a model apart from the others.
type family struct {
	loss            string // on held-out rows, in words
	hyperparameters int    // or perColumn, perClass
	// state makes the inner problem of an engine's data.
	state func(*engine) (problem, error)
	// ranges are those of the search, one per hyperparameter, the last for all that
	// follow.
	ranges   []span
	positive bool // β ≥ 0 can be asked for
	// common says that one share of αmax serves all hyperparameters unless more is
	// asked for.
	common bool
}

// As many hyperparameters as the data has of these.
const (
	perColumn = -1
	perClass  = -2
)

// span is a range of λ around ln αmax, or around 0 where there is none.
type span struct{ below, above float64 }

// problem is the inner problem of a model on all rows.
type problem interface {
	// max returns ln αmax for every hyperparameter, NaN where there is none.
	max() []float64
	// accepts refuses a λ, of the right length, that there is no problem for.
	accepts(logLambda []float64) error
	// solve solves at one λ, from the last solution.
	solve(ctx context.Context, logLambda []float64) (*Fitted, error)
	// outer states the choice of λ.
	outer(bilevel.Spec) (outer, error)
}

// outer is the choice of λ for an inner problem.
type outer interface {
	search.Objective
	Evaluate(context.Context, search.Request) (bilevel.Report, error)
	NullValue() float64
}

// family returns the family of a model, the zero family where there is none.
func (m Model) family() family {
	const squared = "mean squared error"
	mse, alphaMax := criterion.MeanSquaredError{}, (*model.Null).AlphaMax
	switch m {
	case Lasso:
		return family{loss: squared, hyperparameters: 1, state: formula{newSquared, newLasso, mse, alphaMax}.state, positive: true, ranges: []span{{12, 0}}}
	case ElasticNet:
		return family{loss: squared, hyperparameters: 2, state: formula{newSquared, newElasticNet, mse, alphaMax}.state, positive: true, ranges: []span{{9, 0}, {9, 4}}}
	case WeightedLasso:
		return family{loss: squared, hyperparameters: perColumn, state: formula{newSquared, model.WeightedLasso, mse, alphaMax}.state, positive: true, ranges: []span{{12, 0}}}
	case Ridge:
		return family{loss: squared, hyperparameters: 1, state: formula{newSquared, newRidge, mse, (*model.Null).RidgeMax}.state, ranges: []span{{16, 2}}}
	case Logistic:
		return family{loss: "logistic loss", hyperparameters: 1, state: formula{newLogistic, newLasso, criterion.Of(loss.Logistic{}), alphaMax}.state, positive: true, ranges: []span{{12, 0}}}
	case Multiclass:
		return family{loss: "cross-entropy", hyperparameters: perClass, state: newOneVersusRest, positive: true, ranges: []span{{12, 0}}, common: true}
	case SVM:
		return family{loss: "smoothed hinge", hyperparameters: 1, state: newMachine, ranges: []span{{16, 4}}}
	default:
		return family{}
	}
}

func newSquared(view *sparse.View, y []float64) (model.Datafit, error) {
	return model.NewSquared(view, y)
}

func newLogistic(view *sparse.View, y []float64) (model.Datafit, error) {
	return model.NewLogistic(view, y)
}

func newLasso(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) }

func newRidge(l []float64) (model.Penalty, error) { return model.Ridge(l[0]) }

func newElasticNet(l []float64) (model.Penalty, error) { return model.ElasticNet(l[0], l[1]) }
