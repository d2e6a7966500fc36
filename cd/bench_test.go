package cd_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// BenchmarkPass is a solve that ends at its first certificate. nnz/s are entries of X.
func BenchmarkPass(b *testing.B) {
	for _, s := range benchmarkShapes {
		b.Run(s.name(), func(b *testing.B) { s.run(b, "lasso", 1.01) })
	}
}

// BenchmarkSolve is a cold solve to a relative gap of 1e-6. nnz/s are entries of X, each counted
// once; model is what it costs by the cost model, see [cd.Solution], relative to the time.
func BenchmarkSolve(b *testing.B) {
	for _, loss := range []string{"lasso", "logreg"} {
		for _, s := range benchmarkShapes {
			for _, over := range []float64{10, 100} {
				b.Run(fmt.Sprintf("%s/%s/ratio=%g", loss, s.name(), 1/over), func(b *testing.B) { s.run(b, loss, 1/over) })
			}
		}
	}
}

// benchmarkShape is a problem by its size and density, about; dense ones are normal, others as of
// words.
type benchmarkShape struct {
	n, p    int
	density float64
}

var benchmarkShapes = []benchmarkShape{{1000, 4000, 0.002}, {4000, 1000, 0.006}, {100, 1000, 1}, {1000, 300, 1}}

func (s benchmarkShape) name() string {
	return fmt.Sprintf("n=%d/p=%d/density=%g", s.n, s.p, s.density)
}

// draw returns the shape's matrix and a sign for each row.
func (s benchmarkShape) draw(b *testing.B) (sparse.Matrix, []float64) {
	b.Helper()
	if s.density < 1 {
		return textLike(b, s.n, s.p)
	}
	draw := random.SplitMix64(1)
	values, y := make([]float64, s.n*s.p), make([]float64, s.n)
	for k := range values {
		values[k] = draw.Normal()
	}
	for i := range y {
		y[i] = 1
		if sum := values[i] + values[s.n+i] - values[2*s.n+i] + draw.Normal(); sum < 0 {
			y[i] = -1
		}
	}
	x, err := sparse.NewDense(s.n, s.p, values)
	if err != nil {
		b.Fatal(err)
	}
	return x, y
}

// run solves at a share of αmax, from cold.
func (s benchmarkShape) run(b *testing.B, loss string, share float64) {
	x, y := s.draw(b)
	k, err := kernels.Active()
	if err != nil {
		b.Fatal(err)
	}
	view, err := sparse.NewView(k, x, nil, true)
	if err != nil {
		b.Fatal(err)
	}
	var fit model.Datafit
	if fit, err = model.NewSquared(view, y); loss == "logreg" {
		fit, err = model.NewLogistic(view, y)
	}
	if err != nil {
		b.Fatal(err)
	}
	g, err := model.Lasso(kernels.Log(share * model.AlphaMax(fit)))
	if err != nil {
		b.Fatal(err)
	}
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
	b.ReportMetric(1e9*float64(x.NNZ())*float64(b.N)/nanoseconds, "nnz/s")
	b.ReportMetric(work/nanoseconds, "model")
}
