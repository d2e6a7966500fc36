package bilevel_test

import (
	"context"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// BenchmarkEvaluate measures the value and the hypergradient over five folds in one thread, starting from the
// solutions at a λ that is 0.25 away, as in a search. nnz/s is the number of entries of X times folds per second.
func BenchmarkEvaluate(b *testing.B) {
	fixture.EachTask(b, func(b *testing.B, t fixture.Task) {
		b.Helper()
		x, y := t.Draw(b)
		folds, err := bilevel.KFold(nil, t.N, 5, false, 0)
		if err != nil {
			b.Fatal(err)
		}
		problem, err := bilevel.New(fixture.Kernels(b), x, y, bilevel.Spec{
			Folds: folds, Intercept: true, Threads: 1, AlphaMax: (*model.Null).AlphaMax, Criterion: criterion.Of(t.Loss),
			Penalty: func(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) },
			Datafit: func(view *sparse.View, y []float64) (model.Datafit, error) { return model.NewDatafit(view, y, t.Loss) },
		})
		if err != nil {
			b.Fatal(err)
		}
		at, step := problem.LogLambdaMax()+kernels.Log(t.Share), 0.25
		evaluate := func() {
			if _, err := problem.Evaluate(context.Background(), search.Request{LogLambda: []float64{at}}); err != nil {
				b.Fatal(err)
			}
			at, step = at+step, -step
		}
		evaluate()
		evaluate()
		for b.Loop() {
			evaluate()
		}
		b.ReportMetric(5*float64(x.NNZ())*float64(b.N)/b.Elapsed().Seconds(), "nnz/s")
	})
}
