package implicit_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestOtherPenaltiesAgainstDifferences checks β ≥ 0, a ridge alone and unpenalised columns at the coefficients of
// package cd, and that certified supports are right.
func TestOtherPenaltiesAgainstDifferences(t *testing.T) {
	tested, certified := 0, 0
	for seed := range oracle.Cases(80) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 30 + r.Intn(30), P: 3 + r.Intn(20), Density: r.Pick(0.5, 1), Correlation: r.Pick(0, 0.5), Weights: r.Intn(2) == 0})
		q.Intercept = r.Intn(2) == 0
		rows := holdOut(r, q)
		kind := []string{"positive", "positive enet", "positive weighted", "ridge", "unpenalised"}[seed%5]
		q.Positive = kind[0] == 'p'
		top := q.AlphaMax()
		if top == 0 {
			continue
		}
		q.Uniform(top * math.Exp(-1-3*r.Float64()))
		switch kind {
		case "positive enet":
			q.Ridge = math.Exp(-3 * r.Float64())
		case "positive weighted", "unpenalised":
			for j := range q.Alpha {
				q.Alpha[j] *= 0.8 + 0.4*r.Float64()
			}
		case "ridge":
			q.Uniform(0).Ridge = top * math.Exp(2-6*r.Float64())
		}
		if kind == "unpenalised" {
			q.Alpha[0], q.Alpha[2], q.Alpha[1] = 0, 0, math.Inf(1)
		}
		name := fmt.Sprintf("seed %d, %s", seed, kind)
		g := fixture.Penalty(t, q)
		best := q.Solve()
		if out, in := q.Margins(best); !best.Exact || out < 0.05 || in < 0.05 && kind != "ridge" {
			continue
		}
		tested++
		fit := fixture.Squared(t, q, seed%2 == 0)
		sol, err := cd.New(fit).Solve(context.Background(), g, cd.Options{Tol: 1e-13, Polish: true})
		if err != nil {
			t.Fatal(err)
		}
		beta := make([]float64, len(q.Alpha))
		for k, j := range sol.Support {
			beta[j] = sol.Coef[k]
		}
		at := implicit.Point{Support: sol.Support, Coef: sol.Coef, KKT: -1}
		s := implicit.New(fit)
		h, err := s.Solve(context.Background(), g, at, outerOf(q, beta, rows), implicit.Options{Tol: 1e-12})
		if err != nil || h.Status != outcome.Converged {
			t.Fatalf("%s: %v, %+v", name, err, h)
		}
		value := valueAt(q, best.Beta, rows, constant(0, len(beta)), 0)
		check := func(what string, got float64, at func(step float64) float64) {
			t.Helper()
			const step = 1e-4
			if want := (at(step) - at(-step)) / (2 * step); math.Abs(got-want) > 1e-6*math.Max(math.Abs(want), 1e-2*value) {
				t.Errorf("%s: %s is %.10g, differences %.10g", name, what, got, want)
			}
		}
		ridge := func(step float64) float64 { return valueAt(q, best.Beta, rows, constant(0, len(beta)), step) }
		switch {
		case kind == "ridge":
			check("∂/∂λ", h.Gradient[0], ridge)
		case g.Columns() < 0:
			check("∂/∂λ₁", h.Gradient[0], func(step float64) float64 {
				return valueAt(q, best.Beta, rows, constant(step, len(beta)), 0)
			})
			if q.Ridge > 0 {
				check("∂/∂λ₂", h.Gradient[1], ridge)
			}
		default:
			for k, j := range sol.Support {
				if q.Alpha[j] == 0 {
					if h.Gradient[k] != 0 {
						t.Errorf("%s: unpenalised column %d has a derivative of %g", name, j, h.Gradient[k])
					}
					continue
				}
				check(fmt.Sprint("column ", j), h.Gradient[k], func(step float64) float64 {
					each := make([]float64, len(beta))
					each[j] = step
					return valueAt(q, best.Beta, rows, each, 0)
				})
			}
		}
		c, err := s.Certify(context.Background(), g, at)
		if err != nil {
			t.Fatal(err)
		}
		if d := math.Abs(c.Gap - sol.Gap); d > 1e-12*fit.Null() {
			t.Errorf("%s: gap %g, the solver says %g", name, c.Gap, sol.Gap)
		}
		if c.Support {
			certified++
			for j := range beta {
				if (beta[j] != 0) != (best.Beta[j] != 0) || beta[j]*best.Beta[j] < 0 {
					t.Errorf("%s: certified, and column %d has %g where the solution has %g", name, j, beta[j], best.Beta[j])
				}
			}
		}
	}
	if tested < int(oracle.Cases(80))/3 || certified < tested*9/10 {
		t.Errorf("%d problems tested, %d supports certified", tested, certified)
	}
}

// TestPointsOfConstraints checks that a negative coefficient violates β ≥ 0, and that a zero belongs to the
// support if the penalty is smooth there.
func TestPointsOfConstraints(t *testing.T) {
	q := oracle.NewRandom(3).Problem(oracle.Shape{N: 10, P: 3})
	s := implicit.New(fixture.Squared(t, q, true))
	o := implicit.Outer{Slope: make([]float64, 10), Curvature: make([]float64, 10)}
	lasso, _ := model.Lasso(0)
	positive, err := lasso.NonNegative()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Solve(context.Background(), positive, implicit.Point{Support: []int32{1}, Coef: []float64{-1}}, o, implicit.Options{}); outcome.KindOf(err) != outcome.BadParameter {
		t.Errorf("a negative coefficient: %v", err)
	}
	zero := implicit.Point{Support: []int32{1}, Coef: []float64{0}}
	if _, err := s.Solve(context.Background(), lasso, zero, o, implicit.Options{}); outcome.KindOf(err) != outcome.NonFinite {
		t.Errorf("a zero on the support of a Lasso: %v", err)
	}
	free, err := model.WeightedLasso([]float64{0, math.Inf(-1), kernels.Log(2)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Solve(context.Background(), free, zero, o, implicit.Options{}); err != nil {
		t.Errorf("a zero of an unpenalised column: %v", err)
	}
}
