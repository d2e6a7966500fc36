package iterdiff_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/iterdiff"
)

// TestLocalLinearConvergence checks theorem 3.2: from the epoch at which the support is found, the Jacobian
// converges linearly, at the spectral radius of the iteration.
func TestLocalLinearConvergence(t *testing.T) {
	checked := 0
	for _, l := range []kind{squared, logistic} {
		for _, method := range []iterdiff.Method{iterdiff.ForwardPCD, iterdiff.ForwardPGD} {
			for seed := range uint64(6) {
				r := oracle.NewRandom(700 + seed)
				q := draw(t, r, fixture.Kernels(t), l, "lasso", method)
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
				// The slope over the last part that is above rounding.
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
				// For the logistic loss the error of β, which shrinks at the same rate, adds a term k·ρᵏ, so that the slope
				// approaches the rate like 1/k.
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

// TestRateAgainstEigenvalues checks that the rate of PGD is max|1 − γ·eig(A)| on the support, and that of PCD the
// spectral radius of the dense product of the coordinate maps.
func TestRateAgainstEigenvalues(t *testing.T) {
	for seed := range uint64(10) {
		for _, method := range allMethods {
			q := draw(t, oracle.NewRandom(900+seed), fixture.Kernels(t), squared, "lasso", method)
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

// growth returns the spectral radius of a Gauss–Seidel sweep in the given order, computed from the norm of a high
// power of its matrix.
func growth(order, cols []int32, a [][]float64) float64 {
	s := len(cols)
	m := make([][]float64, s) // columns are the images of unit vectors
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

// TestIdentifiedEpoch checks that Identified is the first epoch from which on the support no longer changes.
func TestIdentifiedEpoch(t *testing.T) {
	for seed := range uint64(10) {
		q := draw(t, oracle.NewRandom(40+seed), fixture.Kernels(t), squared, "lasso", iterdiff.ForwardPCD)
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

// TestWatchBackward checks that the partial sums of the reverse sweep end at the gradient, and that each of them
// is the derivative that ignores the earlier epochs.
func TestWatchBackward(t *testing.T) {
	q := draw(t, oracle.NewRandom(8), fixture.Kernels(t), logistic, "enet", iterdiff.BackwardPCD)
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
