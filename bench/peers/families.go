package peers

import (
	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/loss"
)

// family describes a model. Support vectors have no rowLoss and are certified differently.
type family struct {
	loss rowLoss
	kind penaltyKind
	ours pare.Model
	own  loss.Loss // replaces the loss of the model ours; nil: that model's own loss
	// classes says that targets are ±1; together says that they are class numbers, with one score per class;
	// draw draws targets for the columns of a file, for models whose targets no file has: see [Problem.Draw].
	classes, together bool
	draw              draw
}

// penaltyKind says which strengths there are, and what they apply to.
type penaltyKind int

const (
	l1Alone penaltyKind = iota
	l1AndRidge
	ridgeAlone
	eachColumn // ℓ1 with weights
	ofGroups
	ofSparseGroups
	concave // nonconvex
	ofVectors
)

func families() map[Model]family {
	return map[Model]family{
		Lasso:         {loss: squaredLoss, ours: pare.Lasso},
		WeightedLasso: {loss: squaredLoss, kind: eachColumn, ours: pare.WeightedLasso},
		ElasticNet:    {loss: squaredLoss, kind: l1AndRidge, ours: pare.ElasticNet},
		Group:         {loss: squaredLoss, kind: ofGroups, ours: pare.GroupLasso},
		SparseGroup:   {loss: squaredLoss, kind: ofSparseGroups, ours: pare.SparseGroup},
		MCP:           {loss: squaredLoss, kind: concave, ours: pare.MCP},
		SCAD:          {loss: squaredLoss, kind: concave, ours: pare.SCAD},
		Huber:         {loss: huberLoss, ours: pare.Lasso, own: loss.Huber{Delta: delta}, draw: drawOutlier},

		Logistic:          {loss: logisticLoss, ours: pare.Logistic, classes: true},
		LogisticNet:       {loss: logisticLoss, kind: l1AndRidge, ours: pare.ElasticNet, own: loss.Logistic{}, classes: true},
		LogisticRidge:     {loss: logisticLoss, kind: ridgeAlone, ours: pare.Ridge, own: loss.Logistic{}, classes: true},
		SquaredHinge:      {loss: squaredHingeLoss, ours: pare.SquaredHinge, classes: true},
		SquaredHingeRidge: {loss: squaredHingeLoss, kind: ridgeAlone, ours: pare.Ridge, own: loss.SquaredHinge{}, classes: true},
		SVM:               {kind: ofVectors, ours: pare.SVM, classes: true},
		SVR:               {kind: ofVectors, ours: pare.SVR, draw: drawOutlier},

		Multinomial:      {loss: softmaxLoss, ours: pare.Multinomial, together: true},
		MultinomialGroup: {loss: softmaxLoss, kind: ofGroups, ours: pare.MultinomialGroup, together: true},

		Poisson:      {loss: poissonLoss, ours: pare.Poisson, draw: drawCount},
		PoissonRidge: {loss: poissonLoss, kind: ridgeAlone, ours: pare.Ridge, own: loss.Poisson{}, draw: drawCount},
		Gamma:        {loss: gammaLoss, ours: pare.Gamma, draw: drawAmount},
		GammaRidge:   {loss: gammaLoss, kind: ridgeAlone, ours: pare.Ridge, own: loss.Gamma{}, draw: drawAmount},
		Tweedie:      {loss: tweedieLoss, ours: pare.Lasso, own: loss.Tweedie{Power: power}, draw: drawTotal},
		TweedieRidge: {loss: tweedieLoss, kind: ridgeAlone, ours: pare.Ridge, own: loss.Tweedie{Power: power}, draw: drawTotal},
	}
}

// family returns the description of the model.
func (m Model) family() family { return families()[m] }

// parameter returns the parameter of the loss, 0 if it has none.
func (p *Problem) parameter() float64 {
	switch p.Model {
	case Huber:
		return delta
	case Tweedie, TweedieRidge:
		return power
	case SVR:
		return tube
	default:
		return 0
	}
}
