package cd_test

import (
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestLargeSupportsAreFoundInFewRounds checks that a few rounds of working sets reach a support
// that has most of the entries of X. Sets of the support and a few more columns took 7, 10 and
// 13 passes, and 51, 139 and 195 ns of work per entry.
func TestLargeSupportsAreFoundInFewRounds(t *testing.T) {
	x, y := fixture.TextLike(t, 3000, 1500)
	for _, c := range []struct {
		logistic     bool
		over, passes int
		work         float64
	}{{over: 100, passes: 6, work: 45}, {over: 500, passes: 8, work: 125}, {logistic: true, over: 300, passes: 10, work: 160}} {
		view, err := sparse.NewView(kernels.Available()[0], x, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		var fit model.Datafit
		if fit, err = model.NewSquared(view, y); c.logistic {
			fit, err = model.NewLogistic(view, y)
		}
		if err != nil {
			t.Fatal(err)
		}
		g, err := model.Lasso(kernels.Log(model.AlphaMax(fit) / float64(c.over)))
		if err != nil {
			t.Fatal(err)
		}
		sol := solve(t, cd.New(fit), g, cd.Options{})
		work := sol.Work / float64(x.NNZ())
		if sol.Status != outcome.Converged || sol.Passes > c.passes || work > c.work {
			t.Errorf("logistic %v, αmax/%d: %s after %d passes and %.0f ns of work for every entry, with %d columns in the support", c.logistic, c.over, sol.Status, sol.Passes, work, len(sol.Support))
		}
	}
}
