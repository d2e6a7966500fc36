package iterdiff_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/subject"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// bits copies what must not depend on how a result was come by.
func bits(r *iterdiff.Result) []float64 {
	out := slices.Concat(r.Coef, r.Gradient, []float64{r.Value, r.Intercept, r.Gap, r.KKT, r.Change, float64(r.Epochs), float64(r.Identified)})
	for _, j := range r.Support {
		out = append(out, float64(j))
	}
	return out
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// TestCheckpointsChangeNoBit: recomputed from checkpoints, the reverse sweep sees
// the same steps as from the tape.
func TestCheckpointsChangeNoBit(t *testing.T) {
	for _, m := range allModels {
		for _, method := range []iterdiff.Method{iterdiff.BackwardPCD, iterdiff.BackwardPGD} {
			for seed := range uint64(3) {
				q := draw(t, oracle.NewRandom(seed), subject.Kernels(t), m.loss, m.penalty, method)
				for _, epochs := range []int{0, 1, 2, 3, 50, 101} {
					o := iterdiff.Options{Epochs: epochs, MaxEpochs: 2000}
					kept := q.solve(t, o)
					want := bits(kept)
					if kept.Recomputed != 0 {
						t.Errorf("%d epochs recomputed with room for the tape", kept.Recomputed)
					}
					for _, budget := range []int64{1, 2000} {
						o.MemoryBudget = budget
						got := q.solve(t, o)
						if !sameBits(bits(got), want) {
							t.Errorf("%v %s %s, seed %d, %d epochs, budget %d: other bits", m.loss, m.penalty, method, seed, epochs, budget)
						}
						if budget == 1 && len(got.Support) > 0 && got.Recomputed == 0 {
							t.Error("no epoch recomputed, without room for a tape")
						}
						if got.Recomputed > 4*got.Epochs {
							t.Errorf("%d epochs recomputed for %d", got.Recomputed, got.Epochs)
						}
					}
				}
			}
		}
	}
}

func TestSameBitsOnEveryKernelSet(t *testing.T) {
	for _, m := range allModels {
		for _, method := range allMethods {
			var want []float64
			for _, k := range kernels.Available() {
				q := draw(t, oracle.NewRandom(11), k, m.loss, m.penalty, method)
				got := bits(q.solve(t, iterdiff.Options{Tol: 1e-6, MaxEpochs: 300}))
				if want == nil {
					want = got
				}
				if !sameBits(got, want) {
					t.Errorf("%v %s %s: %s has other bits than pure Go", m.loss, m.penalty, method, k.Name)
				}
			}
		}
	}
}

// wide draws a sparse problem with about entries per column.
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
	view, err := sparse.NewView(subject.Kernels(tb), x, nil, true)
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

// TestReverseEpochCostEverywhere: H4 on every model, with nearly all columns active.
func TestReverseEpochCostEverywhere(t *testing.T) {
	for _, m := range allModels {
		for seed := range uint64(4) {
			for _, pair := range [][2]iterdiff.Method{{iterdiff.ForwardPCD, iterdiff.BackwardPCD}, {iterdiff.ForwardPGD, iterdiff.BackwardPGD}} {
				q := draw(t, oracle.NewRandom(20+seed), subject.Kernels(t), m.loss, m.penalty, pair[0])
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

// TestReverseEpochCost: H4. An epoch of the reverse sweep visits at most three times
// the entries of a forward one, whatever the number of hyperparameters; here, where
// few columns are active, far fewer.
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
			q := draw(t, oracle.NewRandom(3), subject.Kernels(t), m.loss, m.penalty, method)
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

// penalty2 is penalty for losses that have one.
func (q *trial) penalty2(tb testing.TB) model.Penalty {
	tb.Helper()
	if q.svm != nil {
		return model.Penalty{}
	}
	return q.penalty(tb)
}

// TestLocalLinearConvergence: theorem 3.2. From the epoch on at which the support is
// found, the Jacobian converges linearly, at the spectral radius of the iteration.
func TestLocalLinearConvergence(t *testing.T) {
	checked := 0
	for _, l := range []loss{squared, logistic} {
		for _, method := range []iterdiff.Method{iterdiff.ForwardPCD, iterdiff.ForwardPGD} {
			for seed := range uint64(6) {
				r := oracle.NewRandom(700 + seed)
				q := draw(t, r, subject.Kernels(t), l, "lasso", method)
				var last []float64
				var distances []float64
				record := func(p *iterdiff.Progress) { last = append(last[:0], p.Jacobian[0]...) }
				best := q.solve(t, iterdiff.Options{Tol: 1e-14, MaxEpochs: 20000, Watch: record})
				limit := slices.Clone(last)
				if len(best.Support) < 2 || best.Change > 1e-12 {
					continue
				}
				rate, err := q.solver.Rate(t.Context(), q.penalty(t), iterdiff.Options{
					Method: method, Start: iterdiff.Point{Support: slices.Clone(best.Support), Coef: slices.Clone(best.Coef), Intercept: best.Intercept},
				})
				if err != nil {
					t.Fatal(err)
				}
				q.solve(t, iterdiff.Options{Epochs: best.Epochs, Watch: func(p *iterdiff.Progress) {
					var d float64
					for j, v := range p.Jacobian[0] {
						d = math.Max(d, math.Abs(v-limit[j]))
					}
					distances = append(distances, d)
				}})
				// The slope over the last stretch above rounding.
				end := 0
				for k, d := range distances {
					if d > 1e-9*distances[0] {
						end = k
					}
				}
				begin := max(best.Identified, end/2)
				if end-begin < 20 {
					continue
				}
				checked++
				slope := math.Pow(distances[end]/distances[begin], 1/float64(end-begin))
				t.Logf("%v %s: support of %d found at epoch %d, slope %.5f, spectral radius %.5f", l, method, len(best.Support), best.Identified, slope, rate)
				// For the logistic loss β's own error, which shrinks at the same rate,
				// adds k·ρᵏ: the slope nears the rate with 1/k.
				if math.Abs(math.Log(slope)-math.Log(rate)) > 0.15*math.Abs(math.Log(rate)) {
					t.Errorf("%v %s, seed %d: slope %.5f, spectral radius %.5f", l, method, seed, slope, rate)
				}
			}
		}
	}
	if checked < 8 {
		t.Errorf("%d problems checked", checked)
	}
}

// TestRateAgainstEigenvalues: for PGD the rate is max|1 − γ·eig(A)| on the support,
// and for PCD that of the dense product of the coordinate maps.
func TestRateAgainstEigenvalues(t *testing.T) {
	for seed := range uint64(10) {
		for _, method := range allMethods {
			q := draw(t, oracle.NewRandom(900+seed), subject.Kernels(t), squared, "lasso", method)
			best := q.solve(t, iterdiff.Options{Tol: 1e-10, MaxEpochs: 20000})
			if len(best.Support) == 0 {
				continue
			}
			cols := slices.Clone(best.Support)
			rate, err := q.solver.Rate(t.Context(), q.penalty(t), iterdiff.Options{
				Method: method, Start: iterdiff.Point{Support: cols, Coef: slices.Clone(best.Coef)},
			})
			if err != nil {
				t.Fatal(err)
			}
			s := len(cols)
			zero := make([]float64, len(q.q.z[0]))
			a := make([][]float64, s)
			for k, j := range cols {
				a[k] = make([]float64, s)
				for l, i := range cols {
					a[k][l] = q.q.hessian(int(j), int(i), zero)
				}
			}
			want := 0.0
			if best.Step > 0 {
				for _, e := range oracle.Eigenvalues(a) {
					want = max(want, math.Abs(1-best.Step*e))
				}
			} else {
				want = growth(q.q.order, cols, a)
			}
			if math.Abs(rate-want) > 0.01*(1-want)+1e-12 {
				t.Errorf("seed %d, %s: rate %.9f, want %.9f", seed, method, rate, want)
			}
		}
	}
}

// growth is the spectral radius of a Gauss–Seidel sweep in the order given, from the
// norm of a high power of its matrix.
func growth(order, cols []int32, a [][]float64) float64 {
	s := len(cols)
	m := make([][]float64, s) // columns: images of unit vectors
	for k := range m {
		v := make([]float64, s)
		v[k] = 1
		for _, j := range order {
			if i := slices.Index(cols, j); i >= 0 {
				var h float64
				for l, x := range v {
					h += a[i][l] * x
				}
				v[i] -= h / a[i][i]
			}
		}
		m[k] = v
	}
	var logNorm float64
	power := 1.0
	for range 14 { // m ← m²/‖m²‖
		next := make([][]float64, s)
		var norm float64
		for k := range m {
			next[k] = make([]float64, s)
			for l, x := range m[k] {
				for i := range s {
					next[k][i] += m[l][i] * x
				}
			}
			for _, x := range next[k] {
				norm = max(norm, math.Abs(x))
			}
		}
		if norm == 0 {
			return 0
		}
		for k := range next {
			for i := range next[k] {
				next[k][i] /= norm
			}
		}
		m = next
		power *= 2
		logNorm = 2*logNorm + math.Log(norm)
	}
	return math.Exp(logNorm / power)
}

// TestIdentifiedEpoch: it is the first from which the supports seen stay the same.
func TestIdentifiedEpoch(t *testing.T) {
	for seed := range uint64(10) {
		q := draw(t, oracle.NewRandom(40+seed), subject.Kernels(t), squared, "lasso", iterdiff.ForwardPCD)
		var seen [][]int32
		got := q.solve(t, iterdiff.Options{Epochs: 60, Watch: func(p *iterdiff.Progress) {
			var s []int32
			for j, b := range p.Coef {
				if b != 0 {
					s = append(s, int32(j))
				}
			}
			if p.Epoch != len(seen)+1 || p.Reverse {
				t.Errorf("progress of epoch %d, reverse %v, after %d", p.Epoch, p.Reverse, len(seen))
			}
			seen = append(seen, s)
		}})
		want := len(seen)
		for want > 1 && slices.Equal(seen[want-2], got.Support) {
			want--
		}
		if len(got.Support) == 0 {
			want = 0
		}
		if got.Identified != want {
			t.Errorf("seed %d: found at epoch %d, want %d", seed, got.Identified, want)
		}
	}
}

// TestWatchBackward: the sums of the reverse sweep end in the gradient, and each
// is the derivative that forgets what came before.
func TestWatchBackward(t *testing.T) {
	q := draw(t, oracle.NewRandom(8), subject.Kernels(t), logistic, "enet", iterdiff.BackwardPCD)
	var epochs []int
	var sums [][]float64
	got := q.solve(t, iterdiff.Options{Epochs: 6, Watch: func(p *iterdiff.Progress) {
		epochs = append(epochs, p.Epoch)
		sums = append(sums, slices.Clone(p.Gradient))
		if !p.Reverse || p.Coef != nil || p.Jacobian != nil {
			t.Error("a reverse sweep has a gradient only")
		}
	}})
	if !slices.Equal(epochs, []int{6, 5, 4, 3, 2, 1}) {
		t.Errorf("epochs %v", epochs)
	}
	if !slices.Equal(sums[5], got.Gradient) || slices.Equal(sums[0], sums[5]) {
		t.Errorf("sums %v, gradient %v", sums, got.Gradient)
	}
}

// slow is a context that ends when asked for the n-th time.
type slow struct {
	context.Context
	asked, ends int
}

func (s *slow) Err() error {
	if s.asked++; s.asked >= s.ends {
		return context.Canceled
	}
	return nil
}

// TestCancellation: the context is asked within epochs, on the way and back, and
// what there is comes back with the status.
func TestCancellation(t *testing.T) {
	fit, outer := wide(t, 200, 2000, 75) // 150,000 entries
	g, err := model.Lasso(math.Log(model.AlphaMax(fit)) - 2)
	if err != nil {
		t.Fatal(err)
	}
	s, err := iterdiff.New(fit)
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range allMethods {
		o := iterdiff.Options{Method: method, Epochs: 2}
		for ends := 1; ; ends++ {
			ctx := &slow{Context: t.Context(), ends: ends}
			got, err := s.Solve(ctx, g, outer, o)
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != outcome.Cancelled {
				if ends < 4 {
					t.Errorf("%s: the context was asked %d times in %d epochs", method, ctx.asked, got.Epochs)
				}
				break
			}
			if ends == 1 && got.Epochs != 0 {
				t.Errorf("%s: %d epochs after the end", method, got.Epochs)
			}
			if !(got.Gap >= 0) {
				t.Errorf("%s: gap %g", method, got.Gap)
			}
		}
	}
}

func TestArguments(t *testing.T) {
	q := draw(t, oracle.NewRandom(1), subject.Kernels(t), squared, "lasso", iterdiff.ForwardPCD)
	g := q.penalty(t)
	short, err := model.WeightedLasso([]float64{0})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		g    model.Penalty
		o    iterdiff.Options
		c    iterdiff.Outer
		kind outcome.Kind
	}{
		"no criterion":         {g, iterdiff.Options{}, nil, outcome.Usage},
		"no penalty":           {model.Penalty{}, iterdiff.Options{}, q.outer, outcome.BadParameter},
		"one strength":         {short, iterdiff.Options{}, q.outer, outcome.Shape},
		"method":               {g, iterdiff.Options{Method: 4}, q.outer, outcome.Usage},
		"tolerance":            {g, iterdiff.Options{Tol: 1e-16}, q.outer, outcome.BadParameter},
		"NaN tolerance":        {g, iterdiff.Options{Tol: math.NaN()}, q.outer, outcome.BadParameter},
		"epochs":               {g, iterdiff.Options{Epochs: -1}, q.outer, outcome.BadParameter},
		"most epochs":          {g, iterdiff.Options{MaxEpochs: -1}, q.outer, outcome.BadParameter},
		"budget":               {g, iterdiff.Options{MemoryBudget: -1}, q.outer, outcome.BadParameter},
		"step":                 {g, iterdiff.Options{Step: math.Inf(1)}, q.outer, outcome.BadParameter},
		"start of two lengths": {g, iterdiff.Options{Start: iterdiff.Point{Support: []int32{1}}}, q.outer, outcome.Shape},
		"start outside":        {g, iterdiff.Options{Start: iterdiff.Point{Support: []int32{99}, Coef: []float64{1}}}, q.outer, outcome.Shape},
		"start descending":     {g, iterdiff.Options{Start: iterdiff.Point{Support: []int32{2, 1}, Coef: []float64{1, 1}}}, q.outer, outcome.Shape},
		"intercept not finite": {g, iterdiff.Options{Start: iterdiff.Point{Intercept: math.NaN()}}, q.outer, outcome.NonFinite},
		"start not finite":     {g, iterdiff.Options{Start: iterdiff.Point{Support: []int32{1}, Coef: []float64{math.NaN()}}}, q.outer, outcome.NonFinite},
	} {
		if _, err := q.solver.Solve(t.Context(), c.g, c.c, c.o); !errors.Is(err, &outcome.Error{Kind: c.kind}) {
			t.Errorf("%s: %v, want an error of kind %s", name, err, c.kind)
		}
	}
	if _, err := iterdiff.New(other{}); !errors.Is(err, &outcome.Error{Kind: outcome.Usage}) {
		t.Errorf("an unknown loss: %v", err)
	}
	svm := draw(t, oracle.NewRandom(1), subject.Kernels(t), box, "svm", iterdiff.ForwardPCD)
	if _, err := svm.svm.Solve(t.Context(), 800, svm.outer, iterdiff.Options{}); !errors.Is(err, &outcome.Error{Kind: outcome.BadParameter}) {
		t.Errorf("C = e^800: %v", err)
	}
}

// other is a loss of somebody else's.
type other struct{ model.Datafit }

func (other) View() *sparse.View {
	x, err := sparse.NewDense(1, 1, []float64{1})
	if err != nil {
		panic(err)
	}
	k, err := kernels.Named("purego")
	if err != nil {
		panic(err)
	}
	view, err := sparse.NewView(k, x, nil, false)
	if err != nil {
		panic(err)
	}
	return view
}

func (other) Target() []float64 { return []float64{1} }

// TestEnds: how runs end that do not converge to a derivative.
func TestEnds(t *testing.T) {
	for _, method := range allMethods {
		q := draw(t, oracle.NewRandom(1), subject.Kernels(t), squared, "lasso", method)
		flat, err := model.Lasso(q.log[0] + 10)
		if err != nil {
			t.Fatal(err)
		}
		got, err := q.solver.Solve(t.Context(), flat, q.outer, iterdiff.Options{Method: method})
		if err != nil || got.Status != outcome.Flat || got.Gradient[0] != 0 || got.Epochs > 2 || got.Identified != 0 {
			t.Errorf("%s above αmax: %+v, %v", method, got, err)
		}
		got = q.solve(t, iterdiff.Options{MaxEpochs: 2})
		if got.Status != outcome.Budget || got.Epochs != 2 || !(got.Gap > 0) || !(got.Change > 0) {
			t.Errorf("%s after 2 epochs: %+v", method, got)
		}
		at := iterdiff.Point{}
		for _, o := range []iterdiff.Options{{Tol: 1e-12}, {}} {
			o.Start = at
			got = q.solve(t, o)
			if got.Status != outcome.Converged {
				t.Errorf("%s: %s", method, got.Status)
			}
			at = iterdiff.Point{Support: slices.Clone(got.Support), Coef: slices.Clone(got.Coef)}
		}
		if got.Identified != 0 {
			t.Errorf("%s from the solution: support found at epoch %d", method, got.Identified)
		}
		got = q.solve(t, iterdiff.Options{Step: 1e6, Epochs: 500})
		if diverges := method == iterdiff.ForwardPGD || method == iterdiff.BackwardPGD; diverges != (got.Status == outcome.NotConverged) {
			t.Errorf("%s with a step of 1e6: %s", method, got.Status)
		}
	}
	q := draw(t, oracle.NewRandom(1), subject.Kernels(t), squared, "wlasso", iterdiff.ForwardPCD)
	if _, err := q.solver.Solve(t.Context(), q.penalty(t), q.outer, iterdiff.Options{MemoryBudget: 8}); !errors.Is(err, &outcome.Error{Kind: outcome.Limit}) {
		t.Errorf("no room for the Jacobian: %v", err)
	}
}

// TestDegenerateColumns: columns that are empty, constant, excluded or copies.
func TestDegenerateColumns(t *testing.T) {
	const n = 12
	r := oracle.NewRandom(2)
	problem := &oracle.Problem{Y: make([]float64, n), Alpha: make([]float64, 6), Intercept: true}
	for i := range n {
		a, b := r.Normal(), r.Normal()
		problem.X = append(problem.X, []float64{a, 0, 1, b, a, r.Normal()}) // 1 empty, 2 constant, 4 a copy of 0
		problem.Y[i] = 2*a + b + 0.1*r.Normal()
	}
	for _, dense := range []bool{true, false} {
		fit := fitOf(t, problem, squared, dense)
		s, err := iterdiff.New(fit)
		if err != nil {
			t.Fatal(err)
		}
		outer := quadratic(make([]float64, n), []int{0, 1, 2})
		for _, method := range allMethods {
			g, err := model.Lasso(math.Log(0.05))
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Solve(t.Context(), g, outer, iterdiff.Options{Method: method, MaxEpochs: 3000})
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != outcome.NotDifferentiable && got.Status != outcome.SupportUncertified {
				t.Errorf("%s with a copy: %s, margin %g", method, got.Status, got.Margin)
			}
			if slices.Contains(got.Support, 1) || slices.Contains(got.Support, 2) {
				t.Errorf("%s: support %v", method, got.Support)
			}
			excluded := slices.Repeat([]float64{math.Log(0.05)}, 6)
			excluded[4] = math.Inf(1)
			if g, err = model.WeightedLasso(excluded); err != nil {
				t.Fatal(err)
			}
			if got, err = s.Solve(t.Context(), g, outer, iterdiff.Options{Method: method}); err != nil {
				t.Fatal(err)
			}
			if got.Status != outcome.Converged || slices.Contains(got.Support, 4) || len(got.Gradient) != len(got.Support) {
				t.Errorf("%s with the copy excluded: %+v", method, got)
			}
		}
	}
}

// TestEmptySample: a sample without features sits at its bound and moves nothing.
func TestEmptySample(t *testing.T) {
	x, err := sparse.NewDense(4, 2, []float64{1, -1, 0, 0.5, 0.5, 0.2, 0, -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, samples := range []sparse.Matrix{sparse.Transpose(x), sparse.Transpose(toCSC(t, x))} {
		fit, err := model.NewSVM(subject.Kernels(t), samples, []float64{1, -1, 1, -1}, []float64{1, 1, 2, 0})
		if err != nil {
			t.Fatal(err)
		}
		s := iterdiff.NewSVM(fit)
		var jacobian []float64
		for _, method := range allMethods {
			got, err := s.Solve(t.Context(), math.Log(0.25), quadratic([]float64{1, -1, 1, -1}, []int{3}), iterdiff.Options{
				Method: method, Watch: func(p *iterdiff.Progress) {
					if p.Jacobian != nil {
						jacobian = append(jacobian[:0], p.Jacobian[0]...)
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != outcome.Converged || !slices.Contains(got.Support, 2) || slices.Contains(got.Support, 3) || jacobian[2] != 0.5 {
				t.Errorf("%s: %+v, ∂β/∂λ %v", method, got, jacobian)
			}
			if rate, err := s.Rate(t.Context(), math.Log(0.25), iterdiff.Options{Method: method}); err != nil || !(rate >= 0 && rate < 1) {
				t.Errorf("%s: rate %g, %v", method, rate, err)
			}
		}
	}
}

func toCSC(tb testing.TB, x sparse.Matrix) sparse.Matrix {
	tb.Helper()
	n, p := x.Dims()
	pointers := []int64{0}
	var rows []int32
	var values []float64
	for j := range p {
		_, column := x.Column(j)
		for i, v := range column {
			if v != 0 {
				rows, values = append(rows, int32(i)), append(values, v)
			}
		}
		pointers = append(pointers, int64(len(rows)))
	}
	c, err := sparse.NewCSC(n, p, pointers, rows, values)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestMethodNames(t *testing.T) {
	if got := fmt.Sprint(allMethods, iterdiff.Method(9)); got != "[forward PCD backward PCD forward PGD backward PGD] unknown" {
		t.Error(got)
	}
}

// BenchmarkEpoch: an epoch of PCD on 2,000 × 20,000 with 40 entries per column, plain,
// with its forward derivative, and with its reverse.
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

// TestSolverHasNoMemory: a result does not depend on what the solver did before.
func TestSolverHasNoMemory(t *testing.T) {
	for _, m := range allModels {
		q := draw(t, oracle.NewRandom(17), subject.Kernels(t), m.loss, m.penalty, 0)
		want := map[iterdiff.Method][]float64{}
		for range 2 {
			for _, q.method = range allMethods {
				got := bits(q.solve(t, iterdiff.Options{MaxEpochs: 500}))
				if before, ok := want[q.method]; ok && !sameBits(got, before) {
					t.Errorf("%v %s %s: other bits the second time", m.loss, m.penalty, q.method)
				}
				want[q.method] = got
				q.solve(t, iterdiff.Options{Epochs: 3, MemoryBudget: 4096})
			}
		}
	}
}

// TestColumnsThatReturn: the weighted forward Jacobian is exact for columns that
// leave the support and come back, as the reverse sweep has it.
func TestColumnsThatReturn(t *testing.T) {
	returns := 0
	for seed := range uint64(30) {
		r := oracle.NewRandom(3000 + seed)
		problem := r.Problem(oracle.Shape{N: 20, P: 12, Correlation: 0.9})
		fit := fitOf(t, problem, squared, true)
		each := make([]float64, 12)
		for j := range each {
			each[j] = math.Log(model.AlphaMax(fit)) - 2 - 3*r.Float64()
		}
		g, err := model.WeightedLasso(each)
		if err != nil {
			t.Fatal(err)
		}
		s, err := iterdiff.New(fit)
		if err != nil {
			t.Fatal(err)
		}
		outer := quadratic(make([]float64, 20), []int{0, 1, 2})
		for _, pair := range [][2]iterdiff.Method{{iterdiff.ForwardPCD, iterdiff.BackwardPCD}, {iterdiff.ForwardPGD, iterdiff.BackwardPGD}} {
			var was, left [12]bool
			watch := func(p *iterdiff.Progress) {
				for j, b := range p.Coef {
					left[j] = left[j] || was[j] && b == 0
					if was[j] = b != 0; was[j] && left[j] {
						returns++
						left[j] = false
					}
				}
			}
			solve := func(o iterdiff.Options) []float64 {
				got, err := s.Solve(t.Context(), g, outer, o)
				if err != nil {
					t.Fatal(err)
				}
				return slices.Clone(got.Gradient)
			}
			for _, epochs := range []int{5, 9, 15, 25} {
				was, left = [12]bool{}, [12]bool{}
				forward := solve(iterdiff.Options{Method: pair[0], Epochs: epochs, Watch: watch})
				backward := solve(iterdiff.Options{Method: pair[1], Epochs: epochs})
				if d := apart(forward, backward); d > 1e-11 {
					t.Errorf("seed %d, %s, %d epochs: off by %.1e", seed, pair[0], epochs, d)
				}
			}
		}
	}
	if returns < 10 {
		t.Errorf("%d columns returned", returns)
	}
}

// TestColumnOnTheEdge: where |zⱼ| = αⱼ and βⱼ = 0 there are one-sided derivatives only.
func TestColumnOnTheEdge(t *testing.T) {
	fit := fitOf(t, &oracle.Problem{X: [][]float64{{1, 0}, {0, 1}}, Y: []float64{2, 1}, Alpha: make([]float64, 2)}, squared, true)
	s, err := iterdiff.New(fit)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		alpha float64
		want  outcome.Status
	}{{0.5, outcome.SupportUncertified}, {0.51, outcome.Converged}} {
		g, err := model.Lasso(math.Log(c.alpha))
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range allMethods {
			got, err := s.Solve(t.Context(), g, quadratic([]float64{1, 1}, []int{0, 1}), iterdiff.Options{Method: method})
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != c.want {
				t.Errorf("%s: %s, margin %g, want %s", method, got.Status, got.Margin, c.want)
			}
		}
	}
}
