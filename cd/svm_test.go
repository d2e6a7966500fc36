package cd_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestSVMCertificateIsHonest recomputes certificates from X: the gap must be that of the
// β returned and, if converged, within the tolerance, and w must be near that of a slow
// solver, ‖w − ŵ‖² ≤ gap.
func TestSVMCertificateIsHonest(t *testing.T) {
	for seed := range oracle.Cases(120) {
		r := oracle.NewRandom(seed)
		q := svmShape(r, oracle.Shape{
			N: 2 + r.Intn(30), P: 1 + r.Intn(40), Density: r.Pick(0.05, 0.3, 1), Correlation: r.Pick(0, 0.9),
			Weights: seed%3 == 1, Mean: r.Pick(0, 0, 1),
		})
		n, _ := q.Dims()
		fit := q.fit(t, nil, seed%2 == 0)
		s := cd.NewSVM(fit)
		tol := r.Pick(1e-3, 1e-6, 1e-12)
		sol, err := s.Solve(t.Context(), r.Pick(-8, -3, 0, 2), cd.Options{Tol: tol})
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("seed %d, n %d, p %d, C %g, tol %g", seed, n, len(sol.W), sol.C, tol)
		null := fit.Null(sol.C)
		beta := spread(n, sol, fit)
		gap := q.gap(sol.C, beta)
		if math.Abs(gap-sol.Gap) > 1e-12*null {
			t.Errorf("%s: gap %g, recomputed %g, P₀ %g", name, sol.Gap, gap, null)
		}
		if sol.Status != outcome.Converged || sol.Gap > tol*null || sol.RelativeGap != sol.Gap/null {
			t.Errorf("%s: %s with a gap of %g", name, sol.Status, sol.RelativeGap)
		}
		if math.Abs(sol.Primal+sol.Objective-sol.Gap) > 1e-12*null {
			t.Errorf("%s: primal %g, objective %g, gap %g", name, sol.Primal, sol.Objective, sol.Gap)
		}
		w := q.primal(beta)
		for j := range w {
			if math.Abs(w[j]-sol.W[j]) > 1e-11*(1+math.Abs(w[j])) {
				t.Errorf("%s: w[%d] = %g, from β %g", name, j, sol.W[j], w[j])
			}
		}
		worst := 0.0
		for i, b := range beta {
			m := q.margin(i, w)
			if math.Abs(m-q.Y[i]*sol.Predictions[i]) > 1e-11*(1+math.Abs(m)) {
				t.Errorf("%s: prediction %d is %g, want %g", name, i, sol.Predictions[i], m*q.Y[i])
			}
			bound := sol.C * q.Weight(i)
			if b < 0 || b > bound {
				t.Errorf("%s: β[%d] = %g outside [0, %g]", name, i, b, bound)
			}
			if l := fit.Square(i); l > 0 && bound > 0 {
				rho := l * math.Abs(b-math.Min(bound, math.Max(0, b-(m-1)/l)))
				worst = math.Max(worst, rho)
				if limit := math.Sqrt(2 * l * (sol.Gap + 1e3*0x1p-53*null)); rho > limit {
					t.Errorf("%s: ρ[%d] = %g > %g", name, i, rho, limit)
				}
			}
		}
		if math.Abs(worst-sol.KKT) > 1e-9*(1+worst) {
			t.Errorf("%s: KKT %g, want %g", name, sol.KKT, worst)
		}
		exact, best := q.solve(sol.C)
		rest := math.Max(0, q.gap(sol.C, exact))
		var distance float64
		for j := range w {
			distance += (w[j] - best[j]) * (w[j] - best[j])
		}
		if limit := math.Sqrt(sol.Gap) + math.Sqrt(rest); math.Sqrt(distance) > limit*(1+1e-9)+1e-9 {
			t.Errorf("%s: ‖w − ŵ‖ = %g > √gap = %g (oracle %g)", name, math.Sqrt(distance), math.Sqrt(sol.Gap), math.Sqrt(rest))
		}
	}
}

// TestSVMReachesTheLastDigits checks a tolerance of 1e-14, with a polish to working
// precision, on well-conditioned and on dependent samples.
func TestSVMReachesTheLastDigits(t *testing.T) {
	for seed := range oracle.Cases(12) {
		r := oracle.NewRandom(seed)
		q := svmShape(r, oracle.Shape{N: 300, P: 20 + int(seed)*60, Density: r.Pick(0.1, 1), Correlation: r.Pick(0, 0.5)})
		fit := q.fit(t, nil, false)
		sol, err := cd.NewSVM(fit).Solve(t.Context(), r.Pick(-4, 0), cd.Options{Tol: 1e-14, Polish: true})
		if err != nil {
			t.Fatal(err)
		}
		if sol.Status != outcome.Converged || sol.RelativeGap > 1e-14 {
			t.Errorf("seed %d: %s, gap %g after %d epochs, %d steps", seed, sol.Status, sol.RelativeGap, sol.Epochs, sol.Steps)
		}
	}
}

// TestSVMTrivialCases checks a C so small that all samples are at their bounds, a row of
// zeros, rows that are all alike, and X = 0.
func TestSVMTrivialCases(t *testing.T) {
	r := oracle.NewRandom(4)
	q := svmShape(r, oracle.Shape{N: 20, P: 5})
	clear(q.X[7])
	fit := q.fit(t, nil, false)
	s := cd.NewSVM(fit)
	sol, err := s.Solve(t.Context(), -12, cd.Options{Tol: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	// C·max(Qs) ≤ 1: every sample is at its bound.
	if len(sol.Bound) != 20 || len(sol.Free) != 0 || sol.Status != outcome.Converged {
		t.Errorf("tiny C: %d at the bound, %d free, %s", len(sol.Bound), len(sol.Free), sol.Status)
	}
	sol, err = s.Solve(t.Context(), 3, cd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b := spread(20, sol, fit)[7]; b != sol.C {
		t.Errorf("an empty row has β = %g, want C = %g", b, sol.C)
	}
	for i := range q.X {
		for j := range q.X[i] {
			q.X[i][j] = q.Y[i] // all alike
		}
	}
	sol, err = cd.NewSVM(q.fit(t, nil, true)).Solve(t.Context(), 0, cd.Options{Tol: 1e-12})
	if err != nil || sol.Status != outcome.Converged || math.Abs(sol.W[0]-0.2) > 1e-9 {
		t.Errorf("rows all alike: %v, w = %v", err, sol.W)
	}
	for i := range q.X {
		clear(q.X[i])
	}
	sol, err = cd.NewSVM(q.fit(t, nil, false)).Solve(t.Context(), 0, cd.Options{})
	if err != nil || sol.Status != outcome.Converged || sol.Gap != 0 || sol.Epochs != 0 || len(sol.Bound) != 20 {
		t.Errorf("X = 0: %v, %+v", err, sol)
	}
}

// TestSVMWeights checks that a row of weight k counts as k rows, and that a row of weight
// 0 has no dual variable.
func TestSVMWeights(t *testing.T) {
	for seed := range uint64(10) {
		r := oracle.NewRandom(seed)
		q := svmShape(r, oracle.Shape{N: 15, P: 6})
		q.Weights = make([]float64, 15)
		repeated := &svmProblem{Problem: &oracle.Problem{Alpha: q.Alpha}}
		for i := range q.Y {
			q.Weights[i] = float64(r.Intn(4))
			if i < 2 {
				q.Weights[i] = 2
			}
			for range int(q.Weights[i]) {
				repeated.X, repeated.Y = append(repeated.X, q.X[i]), append(repeated.Y, q.Y[i])
			}
		}
		opts := cd.Options{Tol: 1e-13}
		a, err := cd.NewSVM(q.fit(t, nil, false)).Solve(t.Context(), -1, opts)
		if err != nil {
			t.Fatal(err)
		}
		b, err := cd.NewSVM(repeated.fit(t, nil, false)).Solve(t.Context(), -1, opts)
		if err != nil {
			t.Fatal(err)
		}
		for j := range a.W {
			if math.Abs(a.W[j]-b.W[j]) > 1e-6 {
				t.Errorf("seed %d: w[%d] = %g with weights, %g with repeated rows", seed, j, a.W[j], b.W[j])
			}
		}
		for _, i := range append(append([]int32(nil), a.Free...), a.Bound...) {
			if q.Weights[i] == 0 {
				t.Errorf("seed %d: row %d of weight 0 has a dual variable", seed, i)
			}
		}
	}
}

// TestSVMWarmStarts checks that the solves of a path converge, that a start at the
// solution needs no sweep, and that Reset gives the bits of a fresh solver.
func TestSVMWarmStarts(t *testing.T) {
	q := svmShape(oracle.NewRandom(8), oracle.Shape{N: 120, P: 30})
	fit := q.fit(t, nil, false)
	s := cd.NewSVM(fit)
	for l := -6.0; l <= 2; l++ {
		sol, err := s.Solve(t.Context(), l, cd.Options{Tol: 1e-8})
		if err != nil || sol.Status != outcome.Converged {
			t.Fatalf("λ = %g: %v, %+v", l, err, sol)
		}
	}
	again, err := s.Solve(t.Context(), 2, cd.Options{Tol: 1e-8})
	if err != nil || again.Epochs != 0 || again.Passes != 1 {
		t.Errorf("from the solution: %v, %d epochs, %d passes", err, again.Epochs, again.Passes)
	}
	s.Reset()
	warm, err := s.Solve(t.Context(), 0, cd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cold, err := cd.NewSVM(fit).Solve(t.Context(), 0, cd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bitsOf(warm), bitsOf(cold)) {
		t.Error("a solver that was reset differs from a fresh one")
	}
}

func bitsOf(sol *cd.SVMSolution) []byte {
	return fmt.Appendf(nil, "%x %v %x %v %x %x", sol.W, sol.Free, sol.Dual, sol.Bound, sol.Gap, sol.Predictions)
}

// TestSVMBitsDoNotDependOnTheKernels checks that every kernel set gives the same bits.
func TestSVMBitsDoNotDependOnTheKernels(t *testing.T) {
	for seed := range uint64(6) {
		r := oracle.NewRandom(seed)
		q := svmShape(r, oracle.Shape{N: 150, P: 25, Density: r.Pick(0.3, 1), Weights: seed%2 == 0})
		var want []byte
		for _, k := range kernels.Available() {
			sol, err := cd.NewSVM(q.fit(t, k, seed%3 == 0)).Solve(t.Context(), 0, cd.Options{Tol: 1e-10})
			if err != nil {
				t.Fatal(err)
			}
			if got := bitsOf(sol); want == nil {
				want = got
			} else if !bytes.Equal(got, want) {
				t.Errorf("seed %d: %s differs from purego", seed, k.Name)
			}
		}
	}
}

// TestSVMStopsWhereItIsTold checks that a solve ends with a certified point when its
// epochs are used up and when its context ends.
func TestSVMStopsWhereItIsTold(t *testing.T) {
	r := oracle.NewRandom(3)
	q := svmShape(r, oracle.Shape{N: 400, P: 60, Correlation: 0.9})
	fit := q.fit(t, nil, false)
	for _, epochs := range []int{1, 2, 5} {
		sol, err := cd.NewSVM(fit).Solve(t.Context(), 3, cd.Options{Tol: 1e-12, MaxEpochs: epochs})
		if err != nil {
			t.Fatal(err)
		}
		if sol.Status != outcome.NotConverged || !(sol.RelativeGap > 1e-12) {
			t.Errorf("%d epochs: %s, gap %g", epochs, sol.Status, sol.RelativeGap)
		}
		if gap := q.gap(sol.C, spread(400, sol, fit)); math.Abs(gap-sol.Gap) > 1e-12*fit.Null(sol.C) {
			t.Errorf("%d epochs: gap %g, recomputed %g", epochs, sol.Gap, gap)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	sol, err := cd.NewSVM(fit).Solve(ended, 0, cd.Options{})
	if err != nil || sol.Status != outcome.Cancelled || math.Abs(sol.RelativeGap-1) > 1e-12 {
		t.Errorf("ended before the start: %v, %+v", err, sol)
	}
	// The context ends during the solve: the solver returns at once, and what it returns
	// is certified. It can be used again.
	s := cd.NewSVM(fit)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
	defer cancel()
	sol, err = s.Solve(ctx, 6, cd.Options{Tol: 1e-15})
	if err != nil {
		t.Fatal(err)
	}
	if gap := q.gap(sol.C, spread(400, sol, fit)); math.Abs(gap-sol.Gap) > 1e-12*fit.Null(sol.C) {
		t.Errorf("cancelled: gap %g, recomputed %g", sol.Gap, gap)
	}
	if sol, err = s.Solve(t.Context(), 0, cd.Options{}); err != nil || sol.Status != outcome.Converged {
		t.Errorf("after a cancelled solve: %v, %v", err, sol.Status)
	}
	// A warm start that ends before its first certificate falls back on β = 0.
	sol, err = s.Solve(ended, 1, cd.Options{})
	if err != nil || sol.Status != outcome.Cancelled || math.Abs(sol.RelativeGap-1) > 1e-12 || len(sol.Free)+len(sol.Bound) != 0 {
		t.Errorf("ended before a warm start: %v, %+v", err, sol)
	}
}

func TestSVMRefusesArguments(t *testing.T) {
	s := cd.NewSVM(svmShape(oracle.NewRandom(1), oracle.Shape{N: 10, P: 3}).fit(t, nil, false))
	bad := &outcome.Error{Kind: outcome.BadParameter}
	for _, tol := range []float64{-1, 1e-16, math.NaN(), math.Inf(1)} {
		if _, err := s.Solve(t.Context(), 0, cd.Options{Tol: tol}); !errors.Is(err, bad) && err == nil {
			t.Errorf("tol %g: %v", tol, err)
		}
	}
	for _, logC := range []float64{math.NaN(), math.Inf(1), 800, -800} {
		if _, err := s.Solve(t.Context(), logC, cd.Options{}); err == nil {
			t.Errorf("C = e^%g was accepted", logC)
		}
	}
}

// TestSVMScalesByPowersOfTwo checks that X·2ᵏ with C·2⁻²ᵏ is the same problem, to the
// bit.
func TestSVMScalesByPowersOfTwo(t *testing.T) {
	r := oracle.NewRandom(2)
	q := svmShape(r, oracle.Shape{N: 80, P: 15, Weights: true})
	// The factor on C is in the weights, which scale C without rounding.
	scaled := &svmProblem{Problem: q.Clone()}
	scaled.X, scaled.Weights = make([][]float64, 80), make([]float64, 80)
	for i := range q.X {
		for _, x := range q.X[i] {
			scaled.X[i] = append(scaled.X[i], math.Ldexp(x, 37))
		}
		scaled.Weights[i] = math.Ldexp(q.Weights[i], -74)
	}
	a, err := cd.NewSVM(q.fit(t, nil, false)).Solve(t.Context(), 0, cd.Options{Tol: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	b, err := cd.NewSVM(scaled.fit(t, nil, false)).Solve(t.Context(), 0, cd.Options{Tol: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	for j := range a.W {
		if a.W[j] != math.Ldexp(b.W[j], 37) {
			t.Fatalf("w[%d] is %x, scaled %x", j, a.W[j], math.Ldexp(b.W[j], 37))
		}
	}
	if a.RelativeGap != b.RelativeGap || a.Epochs != b.Epochs {
		t.Errorf("gap %x and %x, epochs %d and %d", a.RelativeGap, b.RelativeGap, a.Epochs, b.Epochs)
	}
}

// TestSVMAllocatesNothingWhenWarm checks that a path that was solved before is solved
// again without an allocation.
func TestSVMAllocatesNothingWhenWarm(t *testing.T) {
	q := svmShape(oracle.NewRandom(5), oracle.Shape{N: 200, P: 40, Density: 0.3})
	s := cd.NewSVM(q.fit(t, nil, false))
	path := func() {
		s.Reset()
		for _, l := range []float64{-3, 0, 1, -1} {
			if _, err := s.Solve(context.Background(), l, cd.Options{Tol: 1e-9}); err != nil {
				t.Fatal(err)
			}
		}
	}
	path()
	path()
	if n := testing.AllocsPerRun(5, path); n != 0 {
		t.Errorf("%g allocations a path", n)
	}
}

func ExampleSVM() {
	// Four samples on a line; the two in the middle hold the margin.
	x, err := sparse.NewDense(4, 1, []float64{-3, -1, 1, 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	k, err := kernels.Active()
	if err != nil {
		fmt.Println(err)
		return
	}
	fit, err := model.NewSVM(k, sparse.Transpose(x), []float64{-1, -1, 1, 1}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	sol, err := cd.NewSVM(fit).Solve(context.Background(), 0, cd.Options{Tol: 1e-12})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("w = %.3f, ½‖w‖² − Σβ = %.3f: %s\n", sol.W[0], sol.Objective, sol.Status)
	// Output: w = 1.000, ½‖w‖² − Σβ = -0.500: converged
}
