package cd_test

import (
	"context"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/loss"
)

// BenchmarkPass is a solve of the lasso that ends at its first certificate. Units are those of
// [BenchmarkSolve].
func BenchmarkPass(b *testing.B) {
	fixture.EachShape(b, func(b *testing.B, t fixture.Task) {
		b.Helper()
		t.Loss, t.Share = loss.Squared{}, 1.01
		measure(b, t)
	})
}

// BenchmarkSolve is a cold solve to a relative gap of 1e-6. nnz/s are entries of X, each counted
// once; model is what it costs by the cost model, see [cd.Solution], relative to the time.
func BenchmarkSolve(b *testing.B) { fixture.EachTask(b, measure) }

func measure(b *testing.B, t fixture.Task) {
	b.Helper()
	fit, g := t.Lasso(b, nil)
	solver := cd.New(fit)
	var work float64
	for b.Loop() {
		solver.Reset()
		sol, err := solver.Solve(context.Background(), g, cd.Options{})
		if err != nil {
			b.Fatal(err)
		}
		work += sol.Work
	}
	nanoseconds := float64(b.Elapsed().Nanoseconds())
	b.ReportMetric(1e9*float64(fit.View().Matrix().NNZ())*float64(b.N)/nanoseconds, "nnz/s")
	b.ReportMetric(work/nanoseconds, "model")
}
