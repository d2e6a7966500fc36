package pare

import (
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
)

// The entries of the table of penalties for those on blocks of coefficients.

func groupForm() form {
	return oneOfBlocks("group", func(b *blocked, l float64) (model.Grouped, error) {
		return model.GroupLasso(b.weights, l)
	}, true)
}

// oneOfBlocks is a convex form with one strength.
func oneOfBlocks(name string, of func(b *blocked, lambda float64) (model.Grouped, error), grouped bool) form {
	return form{name: name, hyperparameters: 1, ranges: []span{{12, 0}}, blocks: &blockForm{
		penalty: func(b *blocked, l []float64) (model.Blocks, error) { return of(b, l[0]) },
		unit:    func(b *blocked) (model.ConvexBlocks, error) { return of(b, 0) },
		grouped: grouped,
	}}
}

func groupNetForm() form {
	f := groupForm()
	f.name, f.strengths, f.hyperparameters, f.ranges = "group_enet", GroupAndRidge, 2, []span{{9, 0}, {9, 4}}
	f.blocks.penalty = func(b *blocked, l []float64) (model.Blocks, error) { return model.GroupNet(b.weights, l[0], l[1]) }
	return f
}

func sparseGroupForm(tau shape) form {
	f := oneOfBlocks("sparse_group", func(b *blocked, l float64) (model.Grouped, error) {
		return model.SparseGroup(b.weights, b.parameter(), l)
	}, true)
	f.blocks.shaped = tau
	return f
}

// sparseGroupPairForm has the αmax of both strengths being the same.
func sparseGroupPairForm() form {
	f := oneOfBlocks("sparse_group_l1", func(b *blocked, l float64) (model.Grouped, error) {
		return model.SparseGroupPair(b.weights, l, l)
	}, true)
	f.strengths, f.hyperparameters, f.ranges = L1AndGroup, 2, []span{{9, 3}, {9, 3}}
	f.blocks.penalty = func(b *blocked, l []float64) (model.Blocks, error) {
		return model.SparseGroupPair(b.weights, l[0], l[1])
	}
	return f
}

func mcpForm(gamma shape) form {
	return separableForm("mcp", gamma, func(l, parameter float64) (model.Separable, error) { return model.NewMCP(l, parameter) })
}

func scadForm(a shape) form {
	return separableForm("scad", a, func(l, parameter float64) (model.Separable, error) { return model.NewSCAD(l, parameter) })
}

// separableForm is a form that is not convex; of takes the logarithm of its parameter.
func separableForm(name string, parameter shape, of func(lambda, parameter float64) (model.Separable, error)) form {
	return form{name: name, hyperparameters: 1, ranges: []span{{7, 0}}, blocks: &blockForm{
		shaped: parameter,
		penalty: func(b *blocked, l []float64) (model.Blocks, error) {
			g, err := of(l[0], kernels.Log(b.parameter()))
			return model.Elementwise{Of: g}, err
		},
	}}
}

func scoresForm() form {
	return oneOfBlocks("l1 of all classes", func(b *blocked, l float64) (model.Grouped, error) {
		return model.ScoresLasso(len(b.classes), []float64{l})
	}, false)
}

func scoresNetForm() form {
	f := scoresForm()
	f.name, f.strengths, f.hyperparameters, f.ranges = "enet of all classes", L1AndRidge, 2, []span{{9, 0}, {9, 4}}
	f.blocks.penalty = func(b *blocked, l []float64) (model.Blocks, error) {
		return model.ScoresNet(len(b.classes), l[0], l[1])
	}
	return f
}

func scoresGroupForm() form {
	return oneOfBlocks("group of classes", func(b *blocked, l float64) (model.Grouped, error) {
		return model.ScoresGroup(len(b.classes), l)
	}, false)
}

func scoresEachForm() form {
	f := scoresForm()
	f.name, f.strengths, f.hyperparameters, f.common = "l1 of each class together", EachClass, perClass, true
	f.blocks.penalty = func(b *blocked, l []float64) (model.Blocks, error) { return model.ScoresLasso(len(b.classes), l) }
	return f
}
