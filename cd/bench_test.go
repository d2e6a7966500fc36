package cd_test

import (
	"context"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/loss"
)

// BenchmarkPass measures a solve of the Lasso that ends at its first certificate, in the units
// of [BenchmarkSolve].
func BenchmarkPass(b *testing.B) {
	fixture.EachShape(b, func(b *testing.B, t fixture.Task) {
		b.Helper()
		t.Loss, t.Share = loss.Squared{}, 1.01
		measure(b, t)
	})
}

// BenchmarkSolve measures a cold solve to a relative gap of 1e-6. The unit nnz/s counts the
// entries of X, each once, per second of a solve; model is the modelled cost, see [cd.Solution],
// divided by the measured time.
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
