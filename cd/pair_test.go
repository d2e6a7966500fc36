package cd_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestTwoClassesTakeHardlyMoreThanTheirDifference checks that a softmax of two classes is solved for the difference
// of its scores: it takes the work of the logistic loss plus the certificates of two scores, at most three times as
// much in all.
func TestTwoClassesTakeHardlyMoreThanTheirDifference(t *testing.T) {
	const share, most = 0.01, 3
	r := oracle.NewRandom(7)
	q := r.Problem(oracle.Shape{N: 600, P: 150, Density: 0.1})
	class, y := make([]int32, len(q.Y)), make([]float64, len(q.Y))
	for i, v := range q.Y {
		if y[i] = -1; v > 0 {
			class[i], y[i] = 1, 1
		}
	}
	fit, err := model.NewSoftmax(fixture.View(t, q, true), class, []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	blocks := cd.NewBlocks(fit, model.Singletons(150))
	_, z := blocks.Null()
	lambda := kernels.Log(share * fit.View().Kernels().MaxAbs(z))
	both, err := model.ScoresLasso(2, []float64{lambda})
	if err != nil {
		t.Fatal(err)
	}
	two, err := blocks.Solve(t.Context(), both, cd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	logistic, err := model.NewLogistic(fixture.View(t, q, true), y)
	if err != nil {
		t.Fatal(err)
	}
	g, err := model.Lasso(lambda)
	if err != nil {
		t.Fatal(err)
	}
	one, err := cd.New(logistic).Solve(t.Context(), g, cd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if two.Status != outcome.Converged || math.Abs(two.Objective-one.Objective) > 1e-6*fit.Null() {
		t.Errorf("%s, Φ = %g, of the difference %g", two.Status, two.Objective, one.Objective)
	}
	if two.Work > most*one.Work {
		t.Errorf("%g counted, of the difference %g", two.Work, one.Work)
	}
}
