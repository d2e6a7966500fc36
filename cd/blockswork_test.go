package cd_test

import (
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestBlocksOnManyRowsAreSweptOnTheGramMatrix checks by its work that a solve with one score and few columns sweeps
// on the Gram matrix: sweeps do not visit all rows of the columns each time.
func TestBlocksOnManyRowsAreSweptOnTheGramMatrix(t *testing.T) {
	const below, most = 3, 1e6
	r := oracle.NewRandom(3)
	q := r.Problem(oracle.Shape{N: 1500, P: 25, Density: 0.5})
	for _, x := range q.X { // neighbouring columns are correlated
		for j := 1; j < len(x); j++ {
			x[j] += 2 * x[j-1]
		}
	}
	one, err := model.NewSquared(fixture.View(t, q, false).Standardised(), q.Y)
	if err != nil {
		t.Fatal(err)
	}
	solver := cd.NewBlocks(fixture.OneScore(t, one), model.Singletons(25))
	_, z := solver.Null()
	top := kernels.Log(one.View().Kernels().MaxAbs(z))
	s, err := cd.NewDescent(solver, func(lambda float64) (model.Blocks, error) {
		g, err := model.NewSCAD(lambda, kernels.Log(3.7))
		return model.Elementwise{Of: g}, err
	}, top).Solve(t.Context(), top-below, cd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Status != outcome.Stationary || s.Work > most {
		t.Errorf("%s, %g counted", s.Status, s.Work)
	}
}

// TestNearlyDependentBlocksTakeFewSweeps checks a working set whose columns have nearly the same direction: Newton
// steps on the quadratic model replace hundreds of sweeps.
func TestNearlyDependentBlocksTakeFewSweeps(t *testing.T) {
	const share, most = 1e-4, 400
	r := oracle.NewRandom(5)
	q := r.Problem(oracle.Shape{N: 300, P: 12, Density: 1})
	for _, x := range q.X {
		common := 30 * r.Normal()
		for j := range x {
			x[j] += common
		}
	}
	partition, err := model.NewPartition([]int{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5})
	if err != nil {
		t.Fatal(err)
	}
	for name, part := range map[string]*model.Partition{"single columns": model.Singletons(12), "pairs": partition} {
		one, err := model.NewSquared(fixture.View(t, q, true), q.Y)
		if err != nil {
			t.Fatal(err)
		}
		solver := cd.NewBlocks(fixture.OneScore(t, one), part)
		_, z := solver.Null()
		g, err := model.GroupLasso(nil, kernels.Log(share*one.View().Kernels().MaxAbs(z)))
		if err != nil {
			t.Fatal(err)
		}
		s, err := solver.Solve(t.Context(), g, cd.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Status != outcome.Converged || s.Epochs > most {
			t.Errorf("%s: %s after %d sweeps, a gap of %g", name, s.Status, s.Epochs, s.RelativeGap)
		}
	}
}
