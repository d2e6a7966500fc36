package implicit_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// scaled returns a criterion times a power of two.
func scaled(o implicit.Outer, times float64) implicit.Outer {
	out := implicit.Outer{Slope: make([]float64, len(o.Slope)), Curvature: make([]float64, len(o.Curvature))}
	for i := range o.Slope {
		out.Slope[i], out.Curvature[i] = times*o.Slope[i], times*o.Curvature[i]
	}
	return out
}

// TestGradientAndBoundAreHomogeneousInTheCriterion checks that multiplying the criterion by a power of two
// multiplies gradient and bound by it, to the last bit, also where slopes and curvatures are exactly 1.
func TestGradientAndBoundAreHomogeneousInTheCriterion(t *testing.T) {
	compare := func(name string, solve func(implicit.Outer) *implicit.Hypergradient, o implicit.Outer) {
		t.Helper()
		g := solve(o)
		gradient, bound := append([]float64(nil), g.Gradient...), g.ErrorBound
		for _, times := range []float64{2, 0.25, 1024} {
			g := solve(scaled(o, times))
			if g.ErrorBound != times*bound {
				t.Errorf("%s: bound %g at %g times the criterion, %g at once", name, g.ErrorBound, times, bound)
			}
			for i, v := range g.Gradient {
				if v != times*gradient[i] {
					t.Errorf("%s: derivative %d is %g at %g times the criterion, %g at once", name, i, v, times, gradient[i])
				}
			}
		}
	}
	ones := func(n int, rows []int) implicit.Outer {
		o := implicit.Outer{Slope: make([]float64, n), Curvature: make([]float64, n)}
		for k, i := range rows {
			o.Slope[i], o.Curvature[i] = float64(k%3-1), 1
		}
		return o
	}
	for seed := range uint64(6) {
		r := oracle.NewRandom(900 + seed)
		q, best, rows := smooth(r)
		g, s := scalar(t, q), implicit.New(fixture.Squared(t, q, true))
		beta := append([]float64(nil), best.Beta...)
		for j := range beta {
			beta[j] *= 1 + 1e-6*r.Normal()
		}
		cols, coef := (&oracle.Solution{Beta: beta}).Support()
		compare("penalty", func(o implicit.Outer) *implicit.Hypergradient {
			h, err := s.Solve(t.Context(), g, implicit.Point{Support: cols, Coef: coef}, o, implicit.Options{Tol: 1e-12})
			if err != nil {
				t.Fatal(err)
			}
			return h
		}, ones(len(q.Y), rows))
		b := drawBox(r, 30, 12, 1, false)
		fit := b.fit(t, nil, true)
		logC := -3.0
		beta, free, bound := b.solve(t, math.Exp(logC))
		for _, i := range free {
			beta[i] *= 1 - 1e-6
		}
		var held []int
		for _, i := range b.held {
			held = append(held, int(i))
		}
		svm := implicit.NewSVM(fit)
		compare("SVM", func(o implicit.Outer) *implicit.Hypergradient {
			h, err := svm.Solve(t.Context(), logC, pointOf(beta, free, bound), o, implicit.Options{Tol: 1e-12})
			if err != nil {
				t.Fatal(err)
			}
			return &implicit.Hypergradient{Gradient: h.Gradient, ErrorBound: h.ErrorBound}
		}, ones(30, held))
	}
}
