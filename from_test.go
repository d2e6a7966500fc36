package pare_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// days makes the same noisy data of n rows every time, and more of them the longer it is
// asked for: rows of yesterday are rows of today.
func days(t *testing.T, model pare.Model, n, p int) (*sparse.Dense, []float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 1))
	values, y := make([]float64, n*p), make([]float64, n)
	for i := range n {
		for j := range p {
			values[j*n+i] = rng.NormFloat64()
			if j%4 == 0 {
				y[i] += values[j*n+i] / float64(1+j)
			}
		}
		y[i] += 0.7 * rng.NormFloat64()
		if model == pare.Multiclass {
			y[i] = math.Round(min(max(y[i], -1), 1))
		}
	}
	x, err := sparse.NewDense(n, p, values)
	if err != nil {
		t.Fatal(err)
	}
	return x, targetsFor(model, y)
}

func totalWork(all []search.Evaluation) (work float64) {
	for _, e := range all {
		work += e.Work
	}
	return work
}

// With few rows more than yesterday's, a selection that goes on from it is as good as one
// from nothing, to a few hundredths of a standard error, and takes much less work.
func TestSelectFrom(t *testing.T) {
	const n, p = 400, 60
	for i, model := range []pare.Model{pare.Lasso, pare.ElasticNet, pare.Ridge, pare.Logistic, pare.Multiclass} {
		for j, standardize := range []bool{false, true} {
			if !oracle.Turn(i+j, 2) {
				continue
			}
			c := pare.Config{Model: model, Standardize: standardize}
			x, y := days(t, model, n, p)
			yesterday, err := pare.Select(context.Background(), x, y, pare.SelectOptions{}, c)
			if err != nil {
				t.Fatal(err)
			}
			for k, more := range []int{n / 100, n / 20, n / 5} {
				if !oracle.Turn(i+k, 3) {
					continue
				}
				x, y := days(t, model, n+more, p)
				cold, err := pare.Select(context.Background(), x, y, pare.SelectOptions{}, c)
				if err != nil {
					t.Fatal(err)
				}
				warm, err := pare.Select(context.Background(), x, y, pare.SelectOptions{From: yesterday}, c)
				if err != nil {
					t.Fatal(err)
				}
				apart := (warm.Value - cold.Value) / cold.StandardError
				share := totalWork(warm.Evaluations) / totalWork(cold.Evaluations)
				t.Logf("%s, %d more rows: %d evaluations of %d, %.2f of the work, %+.4f standard errors", model, more, len(warm.Evaluations), len(cold.Evaluations), share, apart)
				if warm.Final.Status != outcome.Converged || !warm.Status.OK() || !(apart <= 0.03) || !(share <= 0.6) {
					t.Errorf("%s, standardised %v, %d more rows: %s, %.2f of the work, %+.4f standard errors", model, standardize, more, warm.Status, share, apart)
				}
			}
		}
	}
}

// From anything else the choice is that from nothing, or there is an error that says why not.
func TestSelectFromElsewhere(t *testing.T) {
	x, y := days(t, pare.Lasso, 200, 20)
	ctx := context.Background()
	earlier, err := pare.Select(ctx, x, y, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	noise := slices.Clone(y)
	rng := rand.New(rand.NewPCG(9, 9))
	for i := range noise {
		noise[i] = rng.NormFloat64()
	}
	cold, err := pare.Select(ctx, x, noise, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	warm, err := pare.Select(ctx, x, noise, pare.SelectOptions{From: earlier}, pare.Config{})
	if err != nil || warm.Value > cold.Value+0.03*cold.StandardError {
		t.Errorf("of noise: %v, %g, from nothing %g", err, warm.Value, cold.Value)
	}
	narrow, _ := days(t, pare.Lasso, 200, 19)
	broken := *earlier
	fit := *earlier.Final
	fit.Support = slices.Repeat(fit.Support[:1], len(fit.Support))
	broken.Final = &fit
	ended := *earlier
	ended.Final = nil
	for name, refused := range map[string]struct {
		x    sparse.Matrix
		o    pare.SelectOptions
		c    pare.Config
		kind outcome.Kind
	}{
		"fewer columns":    {narrow, pare.SelectOptions{From: earlier}, pare.Config{}, outcome.Shape},
		"another model":    {x, pare.SelectOptions{From: earlier}, pare.Config{Model: pare.Ridge}, outcome.Usage},
		"samples":          {x, pare.SelectOptions{From: earlier}, pare.Config{Model: pare.SVM}, outcome.Usage},
		"another search":   {x, pare.SelectOptions{From: earlier, Search: pare.Grid}, pare.Config{}, outcome.Usage},
		"no model":         {x, pare.SelectOptions{From: &ended}, pare.Config{}, outcome.Usage},
		"columns repeated": {x, pare.SelectOptions{From: &broken}, pare.Config{}, outcome.BadParameter},
	} {
		if _, err := pare.Select(ctx, refused.x, targetsFor(refused.c.Model, y), refused.o, refused.c); outcome.KindOf(err) != refused.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
}
