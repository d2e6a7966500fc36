package cd_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// within returns a penalty with all coefficients between −size and size.
func within(t *testing.T, g model.Penalty, p int, size float64) model.Penalty {
	t.Helper()
	lower, upper := make([]float64, p), make([]float64, p)
	for j := range p {
		lower[j], upper[j] = -size, size
	}
	box, err := model.NewBox(lower, upper)
	if err != nil {
		t.Fatal(err)
	}
	g, err = g.Within(box)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestBoundsFarBelowTheLastStrength checks problems with more columns than rows that are constructed for a known
// solution, in which a third of the nonzero coefficients are at a bound. On the way to it, columns of the support
// depend on one another, and coefficients go to 0 or to a bound.
func TestBoundsFarBelowTheLastStrength(t *testing.T) {
	const n, p, free, held, alpha = 50, 150, 40, 20, 1e-4
	for seed := range uint64(5) {
		r := oracle.NewRandom(70 + seed)
		q := &oracle.Problem{X: make([][]float64, n), Y: make([]float64, n), Alpha: make([]float64, p)}
		residual, size := make([]float64, n), 0.0
		for i := range q.X {
			residual[i] = 3 * alpha * r.Normal()
			size += residual[i] * residual[i]
			q.Y[i], q.X[i] = residual[i], make([]float64, p)
			for j := range q.X[i] {
				q.X[i][j] = r.Normal()
			}
		}
		want := size / (2 * n)
		for j := range p {
			b, z := 0.0, alpha*(2*r.Float64()-1)
			switch {
			case j < free:
				b = math.Copysign(0.1+0.8*r.Float64(), r.Normal())
				z = math.Copysign(alpha, b)
			case j < free+held:
				b = math.Copysign(1, r.Normal())
				z = b * alpha * (1 + r.Float64())
			}
			for i := range q.X {
				z -= q.X[i][j] * residual[i] / n
			}
			for i := range q.X { // give the column the correlation with the residual that the solution requires
				q.X[i][j] += z * n / size * residual[i]
				q.Y[i] += q.X[i][j] * b
			}
			q.Alpha[j] = alpha
			want += alpha * math.Abs(b)
		}
		sol := solve(t, cd.New(fixture.Squared(t, q, true)), within(t, fixture.Penalty(t, q), p, 1), cd.Options{Tol: 1e-8})
		if off := sol.Objective - want; sol.Status != outcome.Converged || sol.Epochs > 1000 || !(off >= -1e-13*want && off <= sol.Gap+1e-13*want) {
			t.Errorf("seed %d: %s after %d sweeps, objective %.15g with a gap of %g, want %.15g", seed, sol.Status, sol.Epochs, sol.Objective, sol.Gap, want)
		}
	}
}

// TestStagesWithinBounds checks that a solve within bounds, under a loss whose curvature jumps, goes through a
// sequence of stronger penalties too: within bounds that no coefficient meets, it reaches the solution without bounds
// in about as many sweeps.
func TestStagesWithinBounds(t *testing.T) {
	const p = 100
	q := oracle.NewRandom(5).Problem(oracle.Shape{N: 60, P: p, Density: 1})
	for i, y := range q.Y {
		q.Y[i] = math.Copysign(1, y)
	}
	fit, err := model.NewRowwise(fixture.View(t, q, true), q.Y, loss.SmoothedHinge{})
	if err != nil {
		t.Fatal(err)
	}
	q.Uniform(1e-5 * model.NewNull(fit).AlphaMax())
	g := fixture.Penalty(t, q)
	free := *solve(t, cd.New(fit), g, cd.Options{})
	sol := solve(t, cd.New(fit), within(t, g, p, 1e3), cd.Options{})
	if sol.Status != outcome.Converged || sol.Epochs > 3*free.Epochs || math.Abs(sol.Objective-free.Objective) > max(sol.Gap, free.Gap) {
		t.Errorf("%s after %d sweeps at %.15g, without bounds %d at %.15g", sol.Status, sol.Epochs, sol.Objective, free.Epochs, free.Objective)
	}
}
