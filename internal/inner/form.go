package inner

import (
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
)

// Form is a form of penalty: how to make the penalty at a λ, and what a search needs to know about it.
type Form struct {
	Name            string
	Hyperparameters int  // their number, or [PerColumn] or [PerClass]
	Dense           bool // no strength makes a coefficient zero
	Round           bool // the penalty depends on ‖β‖ alone
	Penalty         func(k *kernels.Set, logLambda []float64) (model.Penalty, error)
	Max             func(*model.Null) float64 // αmax
	// Ranges are the ranges of a search around ln αmax, or around 0 where there is none: one per
	// hyperparameter, the last one for all further hyperparameters.
	Ranges []Range
	// NonNegative says that β ≥ 0, and bounds, can be asked for.
	NonNegative bool
	// Blocks is set for a penalty on blocks of coefficients, which has no Penalty and no Max.
	Blocks *BlockForm
	// Common says that one share of αmax serves all hyperparameters unless more is asked for.
	Common bool
	// Rescale turns a penalty factor other than 0 and +Inf into a scale of its column and a weight of its ℓ1
	// strength, see factors.go; nil where the form has no factors. Free says that factors may be 0.
	Rescale func(factor float64) (times, weight float64)
	Free    bool
}

// Numbers of hyperparameters that depend on the data: one per column, and one per class.
const (
	PerColumn = -1
	PerClass  = -2
)

// Range is a range of ln λ, below and above its centre.
type Range struct{ Below, Above float64 }

// L1 is α‖β‖₁.
func L1() Form {
	return Form{
		Name: "l1", Hyperparameters: 1, Max: (*model.Null).AlphaMax, NonNegative: true, Ranges: []Range{{12, 0}}, Rescale: rescaleL1, Free: true,
		Penalty: func(_ *kernels.Set, l []float64) (model.Penalty, error) { return model.Lasso(l[0]) },
	}
}

// ElasticNet is α₁‖β‖₁ + ½α₂‖β‖².
func ElasticNet() Form {
	return Form{
		Name: "enet", Hyperparameters: 2, Max: (*model.Null).AlphaMax, NonNegative: true, Ranges: []Range{{9, 0}, {9, 4}}, Rescale: rescaleBoth,
		Penalty: func(_ *kernels.Set, l []float64) (model.Penalty, error) { return model.ElasticNet(l[0], l[1]) },
	}
}

// WeightedL1 is Σαⱼ|βⱼ|.
func WeightedL1() Form {
	return Form{
		Name: "weighted l1", Hyperparameters: PerColumn, Max: (*model.Null).AlphaMax, NonNegative: true, Ranges: []Range{{12, 0}},
		Penalty: model.WeightedLassoBy,
	}
}

// Ridge is ½α‖β‖².
func Ridge() Form {
	return Form{
		Name: "ridge", Dense: true, Round: true, Hyperparameters: 1, Max: (*model.Null).RidgeMax, Ranges: []Range{{16, 2}}, Rescale: rescaleRidge,
		Penalty: func(_ *kernels.Set, l []float64) (model.Penalty, error) { return model.Ridge(l[0]) },
	}
}

// L1OfClasses is αₖ‖βₖ‖₁ of the problem of each class against the rest.
func L1OfClasses() Form {
	return Form{
		Name: "l1 of each class", Hyperparameters: PerClass, Max: (*model.Null).AlphaMax, NonNegative: true, Ranges: []Range{{12, 0}}, Common: true, Rescale: rescaleL1,
		Penalty: L1().Penalty,
	}
}

// Cost is the ridge ½‖β‖² of an SVM, whose hinges are multiplied by C: λ is ln C.
func Cost() Form { return Form{Name: "ridge", Hyperparameters: 1, Ranges: []Range{{16, 4}}} }

// CostAndTube is the ridge ½‖β‖² of a support vector regression, whose ε-insensitive losses are multiplied by
// C: the λs are ln C and ln ε.
func CostAndTube() Form {
	return Form{Name: "ridge", Hyperparameters: 2, Ranges: []Range{{16, 12}, {12, 3}}}
}

// nonNegative returns the form with the constraint β ≥ 0.
func (f Form) nonNegative() Form {
	free := f.Penalty
	f.Max = (*model.Null).AlphaMaxNonNegative
	f.Penalty = func(k *kernels.Set, l []float64) (model.Penalty, error) {
		g, err := free(k, l)
		if err != nil {
			return g, err
		}
		return g.NonNegative()
	}
	return f
}

// weighted returns the form with the ℓ1 strength of every column multiplied by its weight.
func (f Form) weighted(weights []float64) Form {
	alike, most := f.Penalty, f.Max
	f.Max = func(z *model.Null) float64 { return most(z.Weighted(weights)) }
	f.Penalty = func(k *kernels.Set, l []float64) (model.Penalty, error) {
		g, err := alike(k, l)
		if err != nil {
			return g, err
		}
		return g.Weighted(weights), nil
	}
	return f
}
