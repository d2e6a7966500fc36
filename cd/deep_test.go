package cd_test

import (
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// textLike draws a matrix of counts as of words: column k is in a share 1/(k + 2) of the rows,
// no entry is negative; y is a sign for each row.
func textLike(t testing.TB, n, p int) (sparse.Matrix, []float64) {
	t.Helper()
	draw := random.SplitMix64(1)
	start, rows, values := []int64{0}, []int32{}, []float64{}
	y := make([]float64, n)
	for j := range p {
		weight := draw.Normal()
		for i := range n {
			if draw.Uniform() < 1/float64(j+2) {
				v := 1 + draw.Uniform()
				rows, values = append(rows, int32(i)), append(values, v)
				y[i] += weight * v
			}
		}
		start = append(start, int64(len(rows)))
	}
	for i, v := range y {
		if y[i] = 1; v+3*draw.Normal() < 0 {
			y[i] = -1
		}
	}
	x, err := sparse.NewCSC(n, p, start, rows, values)
	if err != nil {
		t.Fatal(err)
	}
	return x, y
}

// TestLargeSupportsAreFoundInFewRounds: where the support ends up with most of the entries of X,
// sets reach it in a few rounds. With sets of the support and a few columns more they took 7, 10
// and 13 passes, and 51, 139 and 195 ns of work for every entry.
func TestLargeSupportsAreFoundInFewRounds(t *testing.T) {
	x, y := textLike(t, 3000, 1500)
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
