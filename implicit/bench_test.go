package implicit_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
)

// BenchmarkSolve measures the hypergradient of the loss on every fifth row, which is held out, at a solution with
// a relative gap of 1e-6 whose solver has packed the columns; for the squared loss their Gram matrix is computed
// once, before the first call. nnz/s counts each entry of the columns of the support once.
func BenchmarkSolve(b *testing.B) {
	fixture.EachTask(b, func(b *testing.B, t fixture.Task) {
		b.Helper()
		for _, rough := range []bool{true, false} {
			b.Run(fmt.Sprintf("rough=%t", rough), func(b *testing.B) { differentiate(b, t, rough) })
		}
	})
}

func differentiate(b *testing.B, t fixture.Task, rough bool) {
	b.Helper()
	weights := make([]float64, t.N)
	var held []int32
	for i := range weights {
		if weights[i] = 1; i%5 == 0 {
			weights[i], held = 0, append(held, int32(i))
		}
	}
	fit, g := t.Lasso(b, weights)
	solver := cd.New(fit)
	sol, err := solver.Solve(context.Background(), g, cd.Options{})
	if err != nil {
		b.Fatal(err)
	}
	at := implicit.Point{Support: sol.Support, Coef: sol.Coef, KKT: sol.KKT, State: sol.State, Correlation: solver.Correlations(nil), Clearance: solver.Clearance()}
	outer := implicit.Outer{Slope: make([]float64, t.N), Curvature: make([]float64, t.N)}
	criterion.Of(t.Loss).Eval(held, fit.Target(), sol.Prediction, outer.Slope, outer.Curvature)
	gradient := implicit.NewSharing(fit, solver.Cache())
	for b.Loop() {
		if _, err := gradient.Solve(context.Background(), g, at, outer, implicit.Options{Rough: rough}); err != nil {
			b.Fatal(err)
		}
	}
	var entries float64
	for _, j := range sol.Support {
		_, values := fit.View().Matrix().Column(int(j))
		entries += float64(len(values))
	}
	b.ReportMetric(entries*float64(b.N)/b.Elapsed().Seconds(), "nnz/s")
}
