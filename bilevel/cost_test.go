package bilevel

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// BenchmarkGradientAlone compares a cold solve with the gradient at its solution, with half of the rows held out
// and a relative gap of 1e-6. solve-s and gradient-s are medians over b.N in seconds, and ratio is the median of
// gradient over solve; cg is the number of conjugate-gradient iterations, support the number of columns, and MB
// what the last evaluation allocates. The benchmark reads ../shared/data.
//
//	go test ./bilevel -run '^$' -bench GradientAlone -benchtime 5x -cpu 1
func BenchmarkGradientAlone(b *testing.B) {
	for _, data := range []string{"reuters_places", "imdb"} {
		b.Run(data, func(b *testing.B) {
			x, y, err := sparse.OpenSVMLight(b.Context(), "../../shared/data/"+data+".svm.gz", sparse.ReadOptions{})
			if errors.Is(err, fs.ErrNotExist) {
				b.Skip("no ../shared/data")
			} else if err != nil {
				b.Fatal(err)
			}
			k := fixture.Kernels(b)
			half := &halves{k: k, x: x, samples: sparse.Transpose(x), y: y}
			if half.folds, err = HoldOut(nil, len(y), 2, true, 0); err != nil {
				b.Fatal(err)
			}
			for _, kind := range []string{"lasso", "enet", "wlasso", "logreg"} {
				b.Run(kind+"/10", func(b *testing.B) { half.compare(b, kind, 10) })
				b.Run(kind+"/20", func(b *testing.B) { half.compare(b, kind, 20) })
			}
			b.Run("svm", func(b *testing.B) { half.compare(b, "svm", 0) })
		})
	}
}

// halves is a data set with half of its rows held out.
type halves struct {
	k          *kernels.Set
	x, samples sparse.Matrix
	y          []float64
	folds      Folds
}

// open prepares a problem and its λ: αmax of the training half divided by depth, or C = 1 for the SVM.
func (h *halves) open(kind string, depth float64) (*Problem, []float64, error) {
	spec := Spec{Folds: h.folds, Intercept: true, Threads: 1}
	if kind == "svm" {
		p, err := NewSVM(h.k, h.samples, h.y, spec)
		return p, []float64{0}, err
	}
	spec.Penalty = func(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) }
	spec.Datafit = func(view *sparse.View, y []float64) (model.Datafit, error) { return model.NewSquared(view, y) }
	r := 1
	switch kind {
	case "enet":
		r, spec.Penalty = 2, func(l []float64) (model.Penalty, error) { return model.ElasticNet(l[0], l[1]) }
	case "wlasso":
		_, r = h.x.Dims()
		spec.Penalty = model.WeightedLasso
	case "logreg":
		spec.Datafit = func(view *sparse.View, y []float64) (model.Datafit, error) { return model.NewLogistic(view, y) }
		spec.Criterion = criterion.Of(loss.Logistic{})
	}
	weights, _ := spec.Split(nil, 0)
	view, err := sparse.NewView(h.k, h.x, weights, true)
	if err != nil {
		return nil, nil, err
	}
	fit, err := spec.Datafit(view, h.y)
	if err != nil {
		return nil, nil, err
	}
	p, err := New(h.k, h.x, h.y, spec)
	return p, slices.Repeat([]float64{math.Log(model.AlphaMax(fit) / depth)}, r), err
}

func (h *halves) compare(b *testing.B, kind string, depth float64) {
	var solve, gradient, ratio []float64
	var before, after runtime.MemStats
	var allocated uint64
	var report Report
	for range b.N {
		problem, lambda, err := h.open(kind, depth)
		if err != nil {
			b.Fatal(err)
		}
		runtime.ReadMemStats(&before)
		if report, err = problem.Evaluate(context.Background(), search.Request{LogLambda: lambda}); err != nil {
			b.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		allocated = after.TotalAlloc - before.TotalAlloc
		solve = append(solve, report.SecondsSolve)
		gradient = append(gradient, report.SecondsGradient)
		ratio = append(ratio, report.SecondsGradient/report.SecondsSolve)
	}
	median := func(v []float64) float64 {
		slices.Sort(v)
		return v[len(v)/2]
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(solve), "solve-s")
	b.ReportMetric(median(gradient), "gradient-s")
	b.ReportMetric(median(ratio), "ratio")
	b.ReportMetric(float64(report.Iterations), "cg")
	b.ReportMetric(float64(report.Support), "support")
	b.ReportMetric(float64(allocated)/1e6, "MB")
}
