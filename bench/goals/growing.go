package goals

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/studies"
	"github.com/seed-45b9a24c/pare/bench/synthetic"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Growing is S9: Lasso fits at αmax/10 and αmax/20 of seeded text whose rows, columns and nonzeros grow tenfold
// each time, to 10⁸ nonzeros. The time of a fit per nonzero is compared with that of one pass Xᵀθ, which memory
// bandwidth limits once the caches are too small: the ratio of the two should not grow by more than half.
func Growing(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	t.rows.Columns = []string{"data", "rows", "columns", "nonzeros", "strength", "seconds", "passes", "support", "ns_per_nonzero", "pass_ns_per_nonzero", "fit_in_passes", "goal", "note"}
	factors := []float64{0.1, 1, 10, 66}
	if o.Quick {
		factors = factors[:2]
	}
	base, err := synthetic.Named("syn_rcv1")
	if err != nil {
		return nil, err
	}
	first := map[float64]float64{}
	for _, factor := range factors {
		t.say("generating %g × %s", factor, base.Name)
		raw, y, err := base.Scaled(factor).Generate(ctx)
		if err != nil {
			return nil, err
		}
		x, _, err := (sparse.Preparation{MinNNZ: 3}).Apply(raw)
		if err != nil {
			return nil, err
		}
		n, p := x.Dims()
		pass, err := t.pass(x, y)
		if err != nil {
			return nil, err
		}
		c := pare.Config{NoIntercept: true, Threads: 1}
		top, err := pare.LogLambdaMax(x, y, c)
		if err != nil {
			return nil, err
		}
		for _, ratio := range []float64{0.1, 0.05} {
			t.say("%g × %s at %g", factor, base.Name, ratio)
			var f *pare.Fitted
			seconds, err := t.least(func() (err error) {
				f, err = pare.Fit(ctx, x, y, []float64{top[0] + kernels.Log(ratio)}, c)
				return err
			})
			if err != nil {
				return nil, err
			}
			each := 1e9 / float64(x.NNZ())
			passes := seconds / pass
			if first[ratio] == 0 {
				first[ratio] = passes
			}
			t.rows.Add(fmt.Sprintf("%g × %s", factor, base.Name), n, p, int(x.NNZ()), ratio, seconds, f.Passes, len(f.Support),
				seconds*each, pass*each, passes, "≤ 1.5 × the first", fmt.Sprintf("%.2f × the first; %s", passes/first[ratio], f.Status))
		}
	}
	return t.result("S9"), nil
}

// least returns the shortest time of f, as is usual for a rate that memory bandwidth limits.
func (t *table) least(f func() error) (float64, error) {
	best := math.Inf(1)
	for range t.rounds() {
		began := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		best = min(best, time.Since(began).Seconds())
	}
	return best, nil
}

// pass times the products of all columns with one vector.
func (t *table) pass(x sparse.Matrix, y []float64) (float64, error) {
	k, err := kernels.Active()
	if err != nil {
		return 0, err
	}
	view, err := sparse.NewView(k, x, nil, false)
	if err != nil {
		return 0, err
	}
	out := make([]float64, len(x.Order()))
	best := math.Inf(1)
	for range 5 {
		began := time.Now()
		view.Correlate(0, len(out), y, out)
		best = min(best, time.Since(began).Seconds())
	}
	return best, nil
}
