package inner

import (
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
)

// Groups is α Σ w_g‖β_g‖₂ over groups g of columns.
func Groups() Form {
	return oneOfBlocks("group", func(b *blockProblem, l float64) (model.Grouped, error) {
		return model.GroupLasso(b.weights, l)
	}, true)
}

// oneOfBlocks returns a convex form with one strength.
func oneOfBlocks(name string, of func(b *blockProblem, lambda float64) (model.Grouped, error), grouped bool) Form {
	return Form{Name: name, Hyperparameters: 1, Ranges: []Range{{12, 0}}, Blocks: &BlockForm{
		penalty: func(b *blockProblem, l []float64) (model.Blocks, error) { return of(b, l[0]) },
		unit:    func(b *blockProblem) (model.ConvexBlocks, error) { return of(b, 0) },
		Grouped: grouped,
	}}
}

// GroupNet is α₁ Σ w_g‖β_g‖₂ + ½α₂‖β‖².
func GroupNet() Form {
	f := Groups()
	f.Name, f.Hyperparameters, f.Ranges = "group_enet", 2, []Range{{9, 0}, {9, 4}}
	f.Blocks.penalty = func(b *blockProblem, l []float64) (model.Blocks, error) { return model.GroupNet(b.weights, l[0], l[1]) }
	return f
}

// SparseGroup is α(τ‖β‖₁ + (1 − τ)Σ w_g‖β_g‖₂).
func SparseGroup() Form {
	f := oneOfBlocks("sparse_group", func(b *blockProblem, l float64) (model.Grouped, error) {
		return model.SparseGroup(b.weights, b.statement.Parameter, l)
	}, true)
	f.Blocks.Shape = Shape{Flag: Tau, Usual: 0.5}
	return f
}

// SparseGroupPair is α₁‖β‖₁ + α₂ Σ w_g‖β_g‖₂. Its αmax is that of two equal strengths.
func SparseGroupPair() Form {
	f := oneOfBlocks("sparse_group_l1", func(b *blockProblem, l float64) (model.Grouped, error) {
		return model.SparseGroupPair(b.weights, l, l)
	}, true)
	f.Hyperparameters, f.Ranges = 2, []Range{{9, 3}, {9, 3}}
	f.Blocks.penalty = func(b *blockProblem, l []float64) (model.Blocks, error) {
		return model.SparseGroupPair(b.weights, l[0], l[1])
	}
	return f
}

// MCP is the minimax concave penalty (Zhang, Annals of Statistics 38, 2010).
func MCP() Form {
	return notConvex("mcp", Shape{Flag: Gamma, Usual: 3, Concave: true}, func(l, parameter float64) (model.Separable, error) { return model.NewMCP(l, parameter) })
}

// SCAD is the smoothly clipped absolute deviation (Fan and Li, JASA 96, 2001).
func SCAD() Form {
	return notConvex("scad", Shape{Flag: A, Usual: 3.7, Concave: true}, func(l, parameter float64) (model.Separable, error) { return model.NewSCAD(l, parameter) })
}

// notConvex returns a form that is not convex; of takes the logarithm of its parameter.
func notConvex(name string, parameter Shape, of func(lambda, parameter float64) (model.Separable, error)) Form {
	return Form{Name: name, Hyperparameters: 1, Ranges: []Range{{7, 0}}, Blocks: &BlockForm{
		Shape: parameter,
		penalty: func(b *blockProblem, l []float64) (model.Blocks, error) {
			g, err := of(l[0], kernels.Log(b.statement.Parameter))
			return model.Elementwise{Of: g}, err
		},
	}}
}

// Scores is α Σ|βⱼₖ| over columns j and classes k.
func Scores() Form {
	return oneOfBlocks("l1 of all classes", func(b *blockProblem, l float64) (model.Grouped, error) {
		return model.ScoresLasso(len(b.classes), []float64{l})
	}, false)
}

// ScoresNet is α₁ Σ|βⱼₖ| + ½α₂ Σβⱼₖ².
func ScoresNet() Form {
	f := Scores()
	f.Name, f.Hyperparameters, f.Ranges = "enet of all classes", 2, []Range{{9, 0}, {9, 4}}
	f.Blocks.penalty = func(b *blockProblem, l []float64) (model.Blocks, error) {
		return model.ScoresNet(len(b.classes), l[0], l[1])
	}
	return f
}

// ScoresGroup is α Σⱼ‖βⱼ‖₂ over the coefficients of a column for all classes.
func ScoresGroup() Form {
	return oneOfBlocks("group of classes", func(b *blockProblem, l float64) (model.Grouped, error) {
		return model.ScoresGroup(len(b.classes), l)
	}, false)
}

// ScoresEach is Σₖ αₖ Σⱼ|βⱼₖ|.
func ScoresEach() Form {
	f := Scores()
	f.Name, f.Hyperparameters, f.Common = "l1 of each class together", PerClass, true
	f.Blocks.penalty = func(b *blockProblem, l []float64) (model.Blocks, error) { return model.ScoresLasso(len(b.classes), l) }
	return f
}
