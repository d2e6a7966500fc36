package iterdiff_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// wide returns a random sparse problem with about the given number of entries per column.
func wide(tb testing.TB, n, p, entries int) (model.Datafit, iterdiff.Outer) {
	tb.Helper()
	r := oracle.NewRandom(5)
	pointers := []int64{0}
	var rows []int32
	var values []float64
	y, target := make([]float64, n), make([]float64, n)
	for j := range p {
		w := 0.0
		if j%40 == 0 {
			w = r.Normal()
		}
		for i := range n {
			if r.Intn(n) < entries {
				rows = append(rows, int32(i))
				values = append(values, r.Normal())
				y[i] += w * values[len(values)-1]
			}
		}
		pointers = append(pointers, int64(len(rows)))
	}
	for i := range y {
		y[i] += r.Normal()
		target[i] = y[i] + r.Normal()
	}
	x, err := sparse.NewCSC(n, p, pointers, rows, values)
	if err != nil {
		tb.Fatal(err)
	}
	view, err := sparse.NewView(fixture.Kernels(tb), x, nil, true)
	if err != nil {
		tb.Fatal(err)
	}
	fit, err := model.NewSquared(view, y)
	if err != nil {
		tb.Fatal(err)
	}
	held := make([]int, 0, n/2)
	for i := range n / 2 {
		held = append(held, i)
	}
	return fit, quadratic(target, held)
}

// TestReverseEpochCostEverywhere checks the bound of TestReverseEpochCost for every model, with nearly all
// columns active.
func TestReverseEpochCostEverywhere(t *testing.T) {
	for _, m := range allModels {
		for seed := range uint64(4) {
			for _, pair := range [][2]iterdiff.Method{{iterdiff.ForwardPCD, iterdiff.BackwardPCD}, {iterdiff.ForwardPGD, iterdiff.BackwardPGD}} {
				q := draw(t, oracle.NewRandom(20+seed), fixture.Kernels(t), m.loss, m.penalty, pair[0])
				for j := range q.log {
					q.log[j] -= 4
				}
				forward := q.solve(t, iterdiff.Options{Epochs: 20}).ForwardEntries
				q.method = pair[1]
				got := q.solve(t, iterdiff.Options{Epochs: 20})
				if got.ReverseEntries > 3*min(forward, got.ForwardEntries) {
					t.Errorf("%v %s, seed %d: %d entries forward, %d with the derivative, %d back", m.loss, m.penalty, seed, got.ForwardEntries, forward, got.ReverseEntries)
				}
			}
		}
	}
}

// TestReverseEpochCost checks that an epoch of the reverse sweep visits at most three times the entries of a
// forward epoch, whatever the number of hyperparameters; here, with few active columns, it visits far fewer.
func TestReverseEpochCost(t *testing.T) {
	fit, outer := wide(t, 200, 1500, 12)
	s, err := iterdiff.New(fit)
	if err != nil {
		t.Fatal(err)
	}
	top := math.Log(model.AlphaMax(fit))
	for _, depth := range []float64{0.5, 3, 6} {
		lasso, err := model.Lasso(top - depth)
		if err != nil {
			t.Fatal(err)
		}
		_, p := fit.View().Dims()
		weighted, err := model.WeightedLasso(slices.Repeat([]float64{top - depth}, p))
		if err != nil {
			t.Fatal(err)
		}
		count := func(g model.Penalty, m iterdiff.Method) (forward, reverse int64, size int) {
			r, err := s.Solve(t.Context(), g, outer, iterdiff.Options{Method: m, Epochs: 30})
			if err != nil {
				t.Fatal(err)
			}
			return r.ForwardEntries, r.ReverseEntries, len(r.Support)
		}
		forward, _, _ := count(lasso, iterdiff.ForwardPCD)
		plain, reverse, size := count(lasso, iterdiff.BackwardPCD)
		_, each, _ := count(weighted, iterdiff.BackwardPCD)
		t.Logf("αmax·e^−%g, support %d: a plain epoch visits %d entries, one with its forward derivative %d, the reverse of one %d", depth, size, plain/30, forward/30, reverse/30)
		if reverse > 3*forward || plain > forward {
			t.Errorf("%d entries forward, %d plain, %d back", forward, plain, reverse)
		}
		if each != reverse {
			t.Errorf("%d entries back for one hyperparameter, %d for %d", reverse, each, p)
		}
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	for _, m := range allModels {
		for _, method := range allMethods {
			q := draw(t, oracle.NewRandom(3), fixture.Kernels(t), m.loss, m.penalty, method)
			g := q.penalty2(t)
			for _, budget := range []int64{0, 1} {
				if budget == 1 && (method == iterdiff.ForwardPCD || method == iterdiff.ForwardPGD) {
					continue
				}
				run := func(epochs int) float64 {
					return testing.AllocsPerRun(3, func() {
						o := iterdiff.Options{Method: method, Epochs: epochs, MemoryBudget: budget}
						var err error
						if q.svm != nil {
							_, err = q.svm.Solve(t.Context(), q.log[0], q.outer, o)
						} else {
							_, err = q.solver.Solve(t.Context(), g, q.outer, o)
						}
						if err != nil {
							t.Fatal(err)
						}
					})
				}
				run(200)
				if few, many := run(20), run(200); many > few {
					t.Errorf("%v %s %s: %g allocations in 20 epochs, %g in 200", m.loss, m.penalty, method, few, many)
				}
			}
		}
	}
}

// penalty2 returns penalty, or an empty penalty for an SVM, which has none.
func (q *trial) penalty2(tb testing.TB) model.Penalty {
	tb.Helper()
	if q.svm != nil {
		return model.Penalty{}
	}
	return q.penalty(tb)
}

// BenchmarkEpoch measures an epoch of PCD on 2,000 × 20,000 with 40 entries per column: plain, with its forward
// derivative, and with its reverse derivative.
func BenchmarkEpoch(b *testing.B) {
	fit, outer := wide(b, 2000, 20000, 40)
	s, err := iterdiff.New(fit)
	if err != nil {
		b.Fatal(err)
	}
	g, err := model.Lasso(math.Log(model.AlphaMax(fit)) - 3)
	if err != nil {
		b.Fatal(err)
	}
	at, err := s.Solve(b.Context(), g, outer, iterdiff.Options{Tol: 1e-6, MaxEpochs: 50})
	if err != nil {
		b.Fatal(err)
	}
	start := iterdiff.Point{Support: slices.Clone(at.Support), Coef: slices.Clone(at.Coef)}
	for _, method := range []iterdiff.Method{iterdiff.ForwardPCD, iterdiff.BackwardPCD} {
		b.Run(method.String(), func(b *testing.B) {
			got, err := s.Solve(b.Context(), g, outer, iterdiff.Options{Method: method, Epochs: b.N, Start: start})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(got.ForwardEntries)/float64(b.N), "entries/epoch")
			b.ReportMetric(float64(got.ReverseEntries)/float64(b.N), "entries/reverse")
		})
	}
}
