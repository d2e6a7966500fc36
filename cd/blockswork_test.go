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

// TestBlocksOnManyRowsAreSweptOnTheGramMatrix: under one score sweeps over a few columns do not go over all of their
// rows each time.
func TestBlocksOnManyRowsAreSweptOnTheGramMatrix(t *testing.T) {
	const below, most = 3, 1e6
	r := oracle.NewRandom(3)
	q := r.Problem(oracle.Shape{N: 1500, P: 25, Density: 0.5})
	for _, x := range q.X { // neighbours have much in common
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
