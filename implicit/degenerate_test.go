package implicit_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestKKTOfForeignCoefficients checks coefficients from any solver: the KKT residual is computed, unless the
// caller provides it.
func TestKKTOfForeignCoefficients(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(4000 + seed)
		q, best, rows := smooth(r)
		s, g := implicit.New(fixture.Squared(t, q, seed%2 == 0)), scalar(t, q)
		beta := append([]float64(nil), best.Beta...)
		for j := range beta {
			if beta[j] != 0 {
				beta[j] += 0.01 * r.Normal()
			} else if r.Intn(4) == 0 {
				beta[j] = 0.01
			}
		}
		rho, _ := q.KKT(beta, q.BestIntercept(beta))
		worst := 0.0
		for _, v := range rho {
			worst = math.Max(worst, v)
		}
		h := gradientAt(t, s, g, q, beta, rows, implicit.Options{})
		if math.Abs(h.KKT-worst) > 1e-12*(1+worst) {
			t.Errorf("seed %d: KKT residual %.12g, want %.12g", seed, h.KKT, worst)
		}
		outer := outerOf(q, beta, rows)
		sol := oracle.Solution{Beta: beta}
		cols, coef := sol.Support()
		h, err := s.Solve(context.Background(), g, implicit.Point{Support: cols, Coef: coef, KKT: 0.125}, outer, implicit.Options{})
		if err != nil || h.KKT != 0.125 {
			t.Errorf("seed %d: %v, %v", seed, h, err)
		}
	}
}

// TestFlatOnAnEmptySupport checks that nothing depends on λ if the support is empty.
func TestFlatOnAnEmptySupport(t *testing.T) {
	r := oracle.NewRandom(1)
	q := r.Problem(oracle.Shape{N: 20, P: 5})
	rows := holdOut(r, q)
	zero := make([]float64, 5)
	for _, ratio := range []float64{1, 1 + 0x1p-40, 2, 1e3} {
		q.Uniform(q.AlphaMax() * ratio)
		s := implicit.New(fixture.Squared(t, q, true))
		h := gradientAt(t, s, scalar(t, q), q, zero, rows, implicit.Options{})
		if h.Status != outcome.Flat || len(h.Gradient) != 1 || h.Gradient[0] != 0 || h.ErrorBound != 0 {
			t.Errorf("Lasso at %g·αmax: %+v", ratio, h)
		}
		if h = gradientAt(t, s, weighted(t, q), q, zero, rows, implicit.Options{}); h.Status != outcome.Flat || len(h.Gradient) != 0 {
			t.Errorf("weighted Lasso at %g·αmax: %+v", ratio, h)
		}
		c := q.Clone()
		c.Ridge = 1
		if h = gradientAt(t, s, scalar(t, c), c, zero, rows, implicit.Options{}); h.Status != outcome.Flat || len(h.Gradient) != 2 || h.Gradient[1] != 0 {
			t.Errorf("elastic net at %g·αmax: %+v", ratio, h)
		}
	}
}

// TestSingularSystemsAreNotDifferentiable checks a support that contains two copies of a column that differ on the
// validation rows: the derivative with respect to the λ of each copy does not exist, and the status must say so.
// With one λ the forward system is consistent.
func TestSingularSystemsAreNotDifferentiable(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(5000 + seed)
		q := r.Problem(oracle.Shape{N: 40, P: 8})
		q.Intercept = seed%2 == 0
		rows := holdOut(r, q)
		for i := range q.X { // column 1 repeats column 0 on the training rows only
			if q.Weight(i) > 0 {
				q.X[i][1] = q.X[i][0]
			}
		}
		q.Uniform(0.05 * q.AlphaMax())
		best := q.Clone()
		best.Alpha[1] = math.Inf(1)
		beta := best.Solve().Beta
		if beta[0] == 0 {
			continue
		}
		beta[0], beta[1] = beta[0]/2, beta[0]/2
		s := implicit.New(fixture.Squared(t, q, seed%3 == 0))
		h := gradientAt(t, s, weighted(t, q), q, beta, rows, implicit.Options{Tol: 1e-10})
		if h.Status == outcome.Converged || h.Status == outcome.Flat {
			t.Errorf("seed %d: adjoint on a singular system: %s, margin %g, gradient %v", seed, h.Status, h.InjectivityMargin, h.Gradient)
		}
		for _, v := range h.Gradient {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("seed %d: gradient %v", seed, h.Gradient)
			}
		}
		// From any start, including that of the previous call: the minimal solution of the consistent system is the limit
		// of the elastic net as its ridge vanishes.
		for name, s := range map[string]*implicit.Solver{"cold": implicit.New(fixture.Squared(t, q, true)), "warm": s} {
			h = gradientAt(t, s, scalar(t, q), q, beta, rows, implicit.Options{Tol: 1e-10})
			if h.Status != outcome.Converged {
				continue
			}
			c := q.Clone()
			c.Ridge = 1e-7
			outer := outerOf(c, beta, rows)
			if want, _, _, ok := c.Hypergradient(beta, outer.Slope); ok && math.Abs(h.Gradient[0]-want) > 1e-4*math.Abs(want)+1e-6 {
				t.Errorf("seed %d, %s: %g, as limit of the elastic net %g", seed, name, h.Gradient[0], want)
			}
		}
	}
}

// TestStalledSystemsSaySo checks that too few iterations for the tolerance are reported.
func TestStalledSystemsSaySo(t *testing.T) {
	r := oracle.NewRandom(3)
	q := r.Problem(oracle.Shape{N: 60, P: 30, Correlation: 0.9})
	rows := holdOut(r, q)
	q.Uniform(1e-3 * q.AlphaMax())
	best := q.Solve()
	s := implicit.NewIterative(fixture.Squared(t, q, true))
	for _, g := range []model.Penalty{scalar(t, q), weighted(t, q)} {
		if h := gradientAt(t, s, g, q, best.Beta, rows, implicit.Options{Tol: 1e-12, MaxIterations: 2}); h.Status != outcome.LinearSystemStalled {
			t.Errorf("%s after %d iterations", h.Status, h.Iterations)
		}
	}
}

func TestCancelled(t *testing.T) {
	r := oracle.NewRandom(3)
	q, best, rows := smooth(r)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	outer := outerOf(q, best.Beta, rows)
	cols, coef := best.Support()
	h, err := implicit.New(fixture.Squared(t, q, true)).Solve(ctx, scalar(t, q), implicit.Point{Support: cols, Coef: coef}, outer, implicit.Options{})
	if err != nil || h.Status != outcome.Cancelled {
		t.Errorf("%v, %+v", err, h)
	}
}

// TestWarmStartsChangeNothing checks that a solver that was used before with another support and another penalty
// returns the same result, up to its tolerance.
func TestWarmStartsChangeNothing(t *testing.T) {
	r := oracle.NewRandom(12)
	q, _, rows := smooth(r)
	q.Ridge = 0
	top := q.AlphaMax()
	warm := implicit.New(fixture.Squared(t, q, true))
	for step := range 12 {
		c := q.Clone().Uniform(top * math.Exp(-4*r.Float64()))
		best := c.Solve()
		for _, g := range []model.Penalty{scalar(t, c), weighted(t, c)} {
			a := gradientAt(t, warm, g, c, best.Beta, rows, implicit.Options{Tol: 1e-12})
			b := gradientAt(t, implicit.New(fixture.Squared(t, c, true)), g, c, best.Beta, rows, implicit.Options{Tol: 1e-12})
			for k := range b.Gradient {
				if math.Abs(a.Gradient[k]-b.Gradient[k]) > 1e-9*(1e-3+math.Abs(b.Gradient[k])) {
					t.Errorf("step %d: %g warm, %g cold", step, a.Gradient[k], b.Gradient[k])
				}
			}
		}
	}
}
