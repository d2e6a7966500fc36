package cd_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestWideDenseProblemsAreFollowed checks that problems with more dense columns than rows are solved by following
// their solutions, without a sweep, down a path of λ and up again, with and without row weights, an intercept, a
// ridge and a strength for each column, and that solutions are the oracle's. If the support has as many columns as
// there are rows, a column that joins replaces another; under a ridge the support may be larger.
func TestWideDenseProblemsAreFollowed(t *testing.T) {
	for seed := range oracle.Draws(40) {
		r := oracle.NewRandom(4100 + seed)
		n := 8 + r.Intn(25)
		q := r.Problem(oracle.Shape{N: n, P: 2*n + r.Intn(60), Correlation: r.Pick(0, 0.5, 0.9), Mean: r.Pick(0, 2), Weights: seed%3 == 0})
		q.Intercept = seed%2 == 0
		if seed%5 == 4 {
			q.Ridge = r.Pick(0.01, 0.3)
		}
		top, fit := q.AlphaMax(), fixture.Squared(t, q, true)
		s, full := cd.New(fit), false
		for _, ratio := range []float64{0.4, 0.1, 0.03, 0.06, 0.5} {
			q.Uniform(ratio * top)
			if seed%7 == 3 {
				for j := range q.Alpha {
					q.Alpha[j] *= 0.5 + r.Float64()
				}
			}
			sol, want := solve(t, s, fixture.Penalty(t, q), cd.Options{Tol: 1e-12}), q.Solve()
			if full = full || q.Ridge > 0 && len(sol.Support) > 3*n/5; full { // the support on a working set may be full even if this one is not
				break
			}
			if sol.Status != outcome.Converged || sol.Epochs > 0 || sol.Steps == 0 {
				t.Errorf("seed %d at %g: %s after %d sweeps and %d steps", seed, ratio, sol.Status, sol.Epochs, sol.Steps)
			}
			for j, b := range scatter(sol, len(q.Alpha)) {
				if math.Abs(b-want.Beta[j]) > 1e-6*(1+math.Abs(want.Beta[j])) {
					t.Errorf("seed %d at %g: coefficient %d is %g, the oracle's %g", seed, ratio, j, b, want.Beta[j])
				}
			}
		}
	}
}

// TestFollowedFromAnywhere checks starts from arbitrary columns and signs. Such coefficients are the solution for
// another target, from which a solve gets to its own target, and then to other strengths, without sweeps; under a
// ridge it may need some.
func TestFollowedFromAnywhere(t *testing.T) {
	for seed := range oracle.Draws(40) {
		r := oracle.NewRandom(4700 + seed)
		n := 8 + r.Intn(25)
		q := r.Problem(oracle.Shape{N: n, P: 2*n + r.Intn(60), Correlation: r.Pick(0, 0.5, 0.9), Weights: seed%3 == 0})
		q.Intercept = seed%2 == 0
		if seed%5 == 4 {
			q.Ridge = r.Pick(0.001, 0.1)
		}
		top, s := q.AlphaMax(), cd.New(fixture.Squared(t, q, true))
		columns, coef := []int32(nil), []float64(nil)
		for j := 0; j < len(q.Alpha) && len(columns) < n/2; j += 1 + r.Intn(4) {
			columns, coef = append(columns, int32(j)), append(coef, r.Normal())
		}
		s.Start(columns, coef)
		for _, ratio := range []float64{0.1, 0.01} {
			q.Uniform(ratio * top)
			sol, want := solve(t, s, fixture.Penalty(t, q), cd.Options{Tol: 1e-12}), q.Solve()
			if sol.Status != outcome.Converged || q.Ridge == 0 && sol.Epochs > 0 || sol.Steps == 0 {
				t.Errorf("seed %d at %g: %s after %d sweeps and %d steps", seed, ratio, sol.Status, sol.Epochs, sol.Steps)
			}
			for j, b := range scatter(sol, len(q.Alpha)) {
				if math.Abs(b-want.Beta[j]) > 1e-6*(1+math.Abs(want.Beta[j])) {
					t.Errorf("seed %d at %g: coefficient %d is %g, the oracle's %g", seed, ratio, j, b, want.Beta[j])
				}
			}
		}
	}
}

// TestFirstPassIsOfASolutionOnTheSupport checks that a solve that begins at the solution for other rows moves to the
// solution on its support before its first pass over all columns, and that a solve that continues from its own
// solution makes the pass there.
func TestFirstPassIsOfASolutionOnTheSupport(t *testing.T) {
	q := oracle.NewRandom(4).Problem(oracle.Shape{N: 40, P: 120})
	before := q.Clone()
	before.X, before.Y = q.X[:36], q.Y[:36]
	ratio := 0.1
	before.Uniform(ratio * before.AlphaMax())
	earlier := solve(t, cd.New(fixture.Squared(t, before, true)), fixture.Penalty(t, before), cd.Options{})
	first := func(s *cd.Solver, ratio float64) (at cd.Progress) {
		q.Uniform(ratio * q.AlphaMax())
		sol := solve(t, s, fixture.Penalty(t, q), cd.Options{Tol: 1e-10, Watch: func(p cd.Progress) {
			if at.Stage == "" {
				at = p
			}
		}})
		certified(t, "after the first pass", q, sol, 1e-10)
		return at
	}
	s := cd.New(fixture.Squared(t, q, true))
	s.MoveTo(earlier.Support, earlier.Coef)
	if p := first(s, ratio); p.Stage != cd.Certified || p.Steps == 0 || p.Support > len(earlier.Support) {
		t.Errorf("the first pass came after %d steps, at a support of %d of %d columns", p.Steps, p.Support, len(earlier.Support))
	}
	if p := first(s, 0.9*ratio); p.Steps > 0 {
		t.Errorf("the first pass at the last solution came after %d steps", p.Steps)
	}
}

// TestStepsAreChangesOfTheSupport checks the number of steps on orthogonal columns: one for each column that leaves,
// one for each that joins except the first, and one for the rest of the path.
func TestStepsAreChangesOfTheSupport(t *testing.T) {
	const n = 20
	q := &oracle.Problem{Alpha: make([]float64, n+3)} // and three columns of zeros
	r := oracle.NewRandom(7)
	for i := range n {
		q.X = append(q.X, make([]float64, n+3))
		q.X[i][i] = 1 + r.Float64()
		q.Y = append(q.Y, r.Normal())
	}
	s, before := cd.New(fixture.Squared(t, q, true)), 0
	for _, ratio := range []float64{0.5, 0.1, 0.02, 0.2, 0.7} {
		q.Uniform(ratio * q.AlphaMax())
		sol := solve(t, s, fixture.Penalty(t, q), cd.Options{Tol: 1e-12})
		size := 0
		for j, b := range scatter(sol, n+3) {
			want := 0.0
			if j < n {
				x := q.X[j][j]
				want = math.Copysign(max(0, math.Abs(x*q.Y[j])-n*q.Alpha[j]), q.Y[j]) / (x * x)
			}
			if want != 0 {
				size++
			}
			if math.Abs(b-want) > 1e-14 {
				t.Errorf("at %g: coefficient %d is %g, want %g", ratio, j, b, want)
			}
		}
		steps := max(size-before, before-size+1)
		if before = size; sol.Steps != steps || sol.Epochs > 0 {
			t.Errorf("at %g: %d steps and %d sweeps, want %d", ratio, sol.Steps, sol.Epochs, steps)
		}
	}
}

// dependent returns a problem whose columns from rank on are each a combination of two of the first rank columns.
func dependent(seed uint64, n, p, rank int) *oracle.Problem {
	r := oracle.NewRandom(seed)
	q := r.Problem(oracle.Shape{N: n, P: p})
	for j := rank; j < p; j++ {
		a, b, by := r.Intn(rank), r.Intn(rank), r.Normal()
		for i := range n {
			q.X[i][j] = q.X[i][a] + by*q.X[i][b]
		}
	}
	return q
}

// TestDependentColumnsAreLeftToSweeps checks wide problems of low rank: no support can have more independent columns
// than the rank, and sweeps must find a solution all the same.
func TestDependentColumnsAreLeftToSweeps(t *testing.T) {
	swept := 0
	for seed := range uint64(20) {
		const p = 40
		q := dependent(5200+seed, 15, p, 6)
		q.Intercept = seed%2 == 0
		s := cd.New(fixture.Squared(t, q, true))
		for _, ratio := range []float64{0.3, 0.03, 0.003, 0.1} {
			q.Uniform(ratio * q.AlphaMax())
			sol := solve(t, s, fixture.Penalty(t, q), cd.Options{Tol: 1e-10})
			swept += sol.Epochs
			beta := scatter(sol, p)
			if gap := q.Gap(beta, sol.Intercept); sol.Status != outcome.Converged || gap > 2e-10*q.Null() {
				t.Errorf("seed %d at %g: %s, gap %g", seed, ratio, sol.Status, gap)
			}
		}
	}
	if swept == 0 {
		t.Error("no sweeps")
	}
}

// TestFollowingEnds checks that following a solution ends when the sweeps allowed, among which its steps count, are
// used up, and when the context ends.
func TestFollowingEnds(t *testing.T) {
	r := oracle.NewRandom(61)
	q := r.Problem(oracle.Shape{N: 30, P: 90, Active: 20})
	q.Uniform(0.02 * q.AlphaMax())
	g := fixture.Penalty(t, q)
	fit := fixture.Squared(t, q, true)
	for _, most := range []int{1, 4} {
		sol := solve(t, cd.New(fit), g, cd.Options{MaxEpochs: most})
		if sol.Status != outcome.NotConverged || sol.Steps+sol.Epochs != most || len(sol.Support) == 0 {
			t.Errorf("%d allowed: %s after %d steps and %d sweeps, %d columns", most, sol.Status, sol.Steps, sol.Epochs, len(sol.Support))
		}
		if beta := scatter(sol, len(q.Alpha)); math.Abs(q.Objective(beta, 0)-sol.Objective) > 1e-12*q.Null() || sol.Objective >= q.Null() {
			t.Errorf("%d allowed: objective %g, null model %g", most, sol.Objective, q.Null())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := cd.New(fit)
	sol, err := s.Solve(ctx, g, cd.Options{Watch: func(p cd.Progress) {
		if p.Stage == cd.Chosen {
			cancel()
		}
	}})
	if err != nil || sol.Status != outcome.Cancelled || sol.Steps != 0 || len(sol.Support) != 0 {
		t.Fatalf("%v, %+v", err, sol)
	}
	if again := solve(t, s, g, cd.Options{}); again.Status != outcome.Converged || again.Epochs > 0 {
		t.Errorf("after it: %s after %d sweeps", again.Status, again.Epochs)
	}
}

// TestFewColumnsAreFollowed checks that problems with few columns and more rows are solved by following their
// solutions on the Gram matrix, for sparse and dense columns, down a path of λ and up again, and that solutions are
// the oracle's.
func TestFewColumnsAreFollowed(t *testing.T) {
	for seed := range uint64(40) {
		r := oracle.NewRandom(6100 + seed)
		p := 3 + r.Intn(25)
		q := r.Problem(oracle.Shape{N: 300 + r.Intn(100), P: p, Correlation: r.Pick(0, 0.5, 0.9), Mean: r.Pick(0, 2), Density: r.Pick(0.3, 1), Weights: seed%3 == 0})
		q.Intercept = seed%2 == 0
		if seed%5 == 4 {
			q.Ridge = r.Pick(0.01, 0.3)
		}
		top, fit := q.AlphaMax(), fixture.Squared(t, q, seed%4 < 2)
		s := cd.New(fit)
		for at, ratio := range []float64{0.4, 0.1, 0.003, 0.03, 0.5} {
			q.Uniform(ratio * top)
			if seed%7 == 3 {
				for j := range q.Alpha {
					q.Alpha[j] *= 0.5 + r.Float64()
				}
			}
			sol, want := solve(t, s, fixture.Penalty(t, q), cd.Options{Tol: 1e-10}), q.Solve()
			if sol.Status != outcome.Converged || sol.Epochs > 0 || at > 0 && sol.Steps == 0 {
				t.Errorf("seed %d at %g: %s after %d sweeps and %d steps", seed, ratio, sol.Status, sol.Epochs, sol.Steps)
			}
			if swept := solve(t, cd.New(fit), fixture.Penalty(t, q), cd.Options{SweepFew: true}); swept.Epochs == 0 && len(sol.Support) > 0 {
				t.Errorf("seed %d at %g: followed all the same", seed, ratio)
			}
			for j, b := range scatter(sol, p) {
				if math.Abs(b-want.Beta[j]) > 1e-7*(1+math.Abs(want.Beta[j])) {
					t.Errorf("seed %d at %g: coefficient %d is %g, the oracle's %g", seed, ratio, j, b, want.Beta[j])
				}
			}
		}
	}
}

// TestFewColumnsAreFollowedFromAnywhere checks the same for starts from arbitrary columns and signs.
func TestFewColumnsAreFollowedFromAnywhere(t *testing.T) {
	for seed := range uint64(20) {
		r := oracle.NewRandom(6200 + seed)
		q := r.Problem(oracle.Shape{N: 200, P: 12, Correlation: r.Pick(0, 0.5, 0.9)})
		q.Intercept = seed%2 == 0
		s := cd.New(fixture.Squared(t, q, seed%4 < 2))
		s.Start([]int32{0, 2, 3, 7}, []float64{r.Normal(), r.Normal(), r.Normal(), r.Normal()})
		q.Uniform(0.02 * q.AlphaMax())
		sol, want := solve(t, s, fixture.Penalty(t, q), cd.Options{Tol: 1e-10}), q.Solve()
		if sol.Status != outcome.Converged || sol.Epochs > 0 || sol.Steps == 0 {
			t.Errorf("seed %d: %s after %d sweeps and %d steps", seed, sol.Status, sol.Epochs, sol.Steps)
		}
		for j, b := range scatter(sol, 12) {
			if math.Abs(b-want.Beta[j]) > 1e-7*(1+math.Abs(want.Beta[j])) {
				t.Errorf("seed %d: coefficient %d is %g, the oracle's %g", seed, j, b, want.Beta[j])
			}
		}
	}
}

// TestFewDependentColumns checks problems on the Gram matrix with columns that depend on one another: a support has
// only independent columns, and solves must find a solution all the same.
func TestFewDependentColumns(t *testing.T) {
	for seed := range uint64(10) {
		const p = 12
		q := dependent(6300+seed, 200, p, 5)
		q.Intercept = seed%2 == 0
		s := cd.New(fixture.Squared(t, q, true))
		for _, ratio := range []float64{0.3, 0.03, 0.003, 0.1} {
			q.Uniform(ratio * q.AlphaMax())
			sol := solve(t, s, fixture.Penalty(t, q), cd.Options{Tol: 1e-10})
			if gap := q.Gap(scatter(sol, p), sol.Intercept); sol.Status != outcome.Converged || gap > 2e-10*q.Null() {
				t.Errorf("seed %d at %g: %s, gap %g", seed, ratio, sol.Status, gap)
			}
		}
	}
}
