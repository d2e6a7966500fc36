package goals

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/studies"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// recordedGradient is the recorded time of sparse-ho for a hold-out value and its gradient at a tolerance of
// 1e-6, with its own solver and with celer; NaN if unknown.
type recordedGradient struct {
	data       string
	model      pare.Model
	share      float64 // of αmax; C for the SVM
	own, celer float64
}

func recordedGradients() []recordedGradient {
	none := math.NaN()
	return []recordedGradient{
		{"reuters_places", pare.Lasso, 0.1, 0.144, none},
		{"imdb", pare.Lasso, 0.1, 0.68, none},
		{"syn_rcv1", pare.Lasso, 0.05, 0.13, 0.07},
		{"syn_rcv1", pare.ElasticNet, 0.05, 0.083, none},
		{"syn_rcv1", pare.Logistic, 0.05, 0.50, none},
		{"syn_rcv1", pare.SVM, 0.2, 0.10, none},
	}
}

// Hypergradients is H1 and H2. The time covers all of [pare.Gradient], from the matrix in memory on, including
// the preparation of the problem.
func Hypergradients(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	factor, scaled, err := t.factor(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range recordedGradients() {
		how := scaled
		err := t.each(ctx, within(o.Choose([]string{"reuters_places", "syn_rcv1", "imdb"}, 2), r.data), func(d studies.Data) error {
			x, y, err := prepared(d)
			if err != nil {
				return err
			}
			if r.model.Traits().Link.Classes() {
				y = studies.Signs(y)
			}
			c := pare.Config{Model: r.model, NoIntercept: true, Threads: 1}
			l, err := at(x, y, r.share, c)
			if err != nil {
				return err
			}
			v := pare.Validation{FoldIDs: halves(len(y))}
			var h *pare.Hypergradient
			var part []float64
			t.say("%s, %s", d.Name, r.model)
			seconds, err := t.seconds(func() (err error) {
				h, err = pare.Gradient(ctx, x, y, l, v, c)
				if err == nil {
					part = append(part, h.SecondsGradient/h.SecondsSolve)
				}
				return err
			})
			if err != nil {
				return err
			}
			what := fmt.Sprintf("%s, %g", r.model, r.share)
			if r.model.Traits().Strengths == pare.Cost {
				how = "the C of the record is not known, this one is figure 6's; " + how
			}
			t.add(d.Name, what, seconds, "sparse-ho (recorded)", r.own*factor, "≥ 20", fmt.Sprintf("%s, support %d; %s", h.Status, h.Support, how))
			if !math.IsNaN(r.celer) {
				t.add(d.Name, what, seconds, "sparse-ho with celer (recorded)", r.celer*factor, "≥ 10", how)
			}
			t.rows.Add(d.Name, what+": gradient over solve", h.SecondsGradient, "solve", h.SecondsSolve, median(part), "≤ 0.3 (H2)", "the ratio is ours to ours, β given")
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return t.result("H1"), nil
}

// prepared drops rare columns and scales columns to unit norm for the seeded set; data from files are left as
// they are.
func prepared(d studies.Data) (sparse.Matrix, []float64, error) {
	x := d.X.(*sparse.CSC)
	if d.Name == "syn_rcv1" {
		var err error
		if x, _, err = (sparse.Preparation{MinNNZ: 3, UnitColumns: true}).Apply(x); err != nil {
			return nil, nil, err
		}
	}
	return sparse.Compact(x), d.Y, nil
}

// at returns λ at a fraction of αmax; for the SVM ln C.
func at(x sparse.Matrix, y []float64, share float64, c pare.Config) ([]float64, error) {
	if c.Model.Traits().Strengths == pare.Cost {
		return []float64{kernels.Log(share)}, nil
	}
	l, err := pare.LogLambdaMax(x, y, c)
	for i := range l {
		l[i] += kernels.Log(share)
	}
	return l, err
}

// WeightedHypergradients is H3. There is no recorded time to compare with. Memory is the amount allocated,
// compared with the problem's own size: 12 bytes per nonzero and 8 per row and column.
func WeightedHypergradients(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	err := t.each(ctx, o.Choose([]string{"syn_rcv1", "reuters_places", "imdb"}, 2), func(d studies.Data) error {
		x, y, err := prepared(d)
		if err != nil {
			return err
		}
		c := pare.Config{Model: pare.WeightedLasso, NoIntercept: true, Threads: 1}
		l, err := at(x, y, 0.1, c)
		if err != nil {
			return err
		}
		n, p := x.Dims()
		size := 12*float64(x.NNZ()) + 8*float64(n+p)
		var h *pare.Hypergradient
		var before, after runtime.MemStats
		t.say("%s", d.Name)
		runtime.ReadMemStats(&before)
		rounds := 0
		seconds, err := t.seconds(func() (err error) {
			rounds++
			h, err = pare.Gradient(ctx, x, y, l, pare.Validation{FoldIDs: halves(n)}, c)
			return err
		})
		if err != nil {
			return err
		}
		runtime.ReadMemStats(&after)
		allocated := float64(after.TotalAlloc-before.TotalAlloc) / float64(rounds)
		t.note(d.Name, fmt.Sprintf("%d λ, αmax/10", len(l)), seconds, "≥ 20 × sparse-ho; O(nnz + n + p) memory",
			fmt.Sprintf("%s; allocates %.2f × the problem's size; sparse-ho has no recorded time", h.Status, allocated/size))
		return nil
	})
	return t.result("H3"), err
}

// Epochs is H4: fifty epochs of proximal coordinate descent from β = 0, with one λ and with one λ per column.
func Epochs(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	err := t.each(ctx, o.Choose([]string{"syn_rcv1", "leukemia"}, 2), func(d studies.Data) error {
		x, y, err := prepared(d)
		if err != nil {
			return err
		}
		for _, weighted := range []bool{false, true} {
			run := func(method iterdiff.Method) func() error {
				return func() error {
					_, err := studies.EpochCost(ctx, x, y, weighted, method, 50)
					return err
				}
			}
			t.say("%s, weighted %v", d.Name, weighted)
			began := time.Now()
			// The time to state the problem is subtracted from both; it is found from a run of one epoch.
			idle, err := studies.EpochCost(ctx, x, y, weighted, iterdiff.ForwardPCD, 1)
			if err != nil {
				return err
			}
			start := time.Since(began).Seconds() - idle.Seconds
			forward, backward, err := t.inTurn(run(iterdiff.ForwardPCD), run(iterdiff.BackwardPCD))
			if err != nil {
				return err
			}
			forward, backward = (forward-start)/50, (backward-start)/50
			what := "one λ"
			if weighted {
				what = "one λ per column"
			}
			t.rows.Add(d.Name, "backward epoch, "+what, backward, "forward epoch", forward, backward/forward, "≤ 3", "the ratio is backward over forward")
		}
		return nil
	})
	return t.result("H4"), err
}
