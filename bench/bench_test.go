package bench_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/synthetic"
	"github.com/seed-45b9a24c/pare/internal/embedded"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// data is a problem to measure on, made when first used.
type data struct {
	name string
	load func() (sparse.Matrix, []float64)
}

var (
	diabetes = data{"diabetes", sync.OnceValues(func() (sparse.Matrix, []float64) {
		x, y, err := embedded.Diabetes(context.Background(), sparse.ReadOptions{})
		if err != nil {
			panic(err)
		}
		return sparse.Compact(x), y
	})}
	text = data{"syn_rcv1", sync.OnceValues(func() (sparse.Matrix, []float64) {
		s, err := synthetic.Named("syn_rcv1")
		if err != nil {
			panic(err)
		}
		x, y, err := s.Generate(context.Background())
		if err != nil {
			panic(err)
		}
		if x, _, err = (sparse.Preparation{MinNNZ: 3}).Apply(x); err != nil {
			panic(err)
		}
		return x, y
	})}
)

// storage returns the bytes that a pass over the matrix reads: 8 per value, and 4 for its row
// if the matrix is sparse.
func storage(x sparse.Matrix) int64 {
	if rows, _ := x.Arrays(); rows == nil {
		return 8 * x.NNZ()
	}
	return 12 * x.NNZ()
}

func eachSet(b *testing.B, all []data, run func(b *testing.B, k *kernels.Set, x sparse.Matrix, y []float64)) {
	b.Helper()
	for _, k := range kernels.Available() {
		for _, d := range all {
			b.Run("set="+k.Name+"/"+d.name, func(b *testing.B) {
				x, y := d.load()
				run(b, k, x, y)
			})
		}
	}
}

// BenchmarkPass measures Xᵀθ: the products of all columns with one vector.
func BenchmarkPass(b *testing.B) {
	eachSet(b, []data{diabetes, text}, func(b *testing.B, k *kernels.Set, x sparse.Matrix, y []float64) {
		view, err := sparse.NewView(k, x, nil, false)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(storage(x))
		largest := 0.0
		for b.Loop() {
			for _, j := range x.Order() {
				largest = max(largest, view.Dot(int(j), y))
			}
		}
	})
}

// BenchmarkView measures the cost of stating a problem: means and norms.
func BenchmarkView(b *testing.B) {
	eachSet(b, []data{diabetes, text}, func(b *testing.B, k *kernels.Set, x sparse.Matrix, y []float64) {
		b.SetBytes(2 * storage(x))
		for b.Loop() {
			view, err := sparse.NewView(k, x, nil, true)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := model.NewSquared(view, y); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// strength returns ln(ratio·αmax) for every hyperparameter.
func strength(b *testing.B, x sparse.Matrix, y []float64, ratio float64, c pare.Config) []float64 {
	b.Helper()
	l, err := pare.LogLambdaMax(x, y, c)
	if err != nil {
		b.Fatal(err)
	}
	for i := range l {
		l[i] += kernels.Log(ratio)
	}
	return l
}

// BenchmarkFit measures a cold fit, including the statement of the problem.
func BenchmarkFit(b *testing.B) {
	for _, test := range []struct {
		model pare.Model
		on    []data
	}{
		{pare.Lasso, []data{diabetes, text}},
		{pare.ElasticNet, []data{text}},
		{pare.Logistic, []data{text}},
	} {
		for _, ratio := range []float64{0.1, 0.01} {
			b.Run(fmt.Sprintf("%s/ratio=%g", test.model, ratio), func(b *testing.B) {
				eachSet(b, test.on, func(b *testing.B, k *kernels.Set, x sparse.Matrix, y []float64) {
					c := pare.Config{Model: test.model, NoIntercept: true, Threads: 1, Kernels: k.Name}
					l := strength(b, x, y, ratio, c)
					var f *pare.Fitted
					for b.Loop() {
						var err error
						if f, err = pare.Fit(context.Background(), x, y, l, c); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(f.Passes), "passes/op")
					b.ReportMetric(float64(f.Epochs), "epochs/op")
					b.ReportMetric(float64(len(f.Support)), "support")
				})
			})
		}
	}
}

// BenchmarkHypergradient measures a value and its gradient by 5 folds, from a cold start.
func BenchmarkHypergradient(b *testing.B) {
	for _, m := range []pare.Model{pare.Lasso, pare.WeightedLasso} {
		b.Run(string(m), func(b *testing.B) {
			eachSet(b, []data{diabetes, text}, func(b *testing.B, k *kernels.Set, x sparse.Matrix, y []float64) {
				c := pare.Config{Model: m, NoIntercept: true, Threads: 1, Kernels: k.Name}
				l := strength(b, x, y, 0.05, c)
				var h *pare.Hypergradient
				for b.Loop() {
					var err error
					if h, err = pare.Gradient(context.Background(), x, y, l, pare.Validation{InOrder: true}, c); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(h.SecondsGradient/(h.SecondsSolve+h.SecondsGradient), "gradient-share")
				b.ReportMetric(float64(h.Iterations), "cg/op")
			})
		})
	}
}

// BenchmarkSelect measures the choice of λ by 5 folds and the refit.
func BenchmarkSelect(b *testing.B) {
	eachSet(b, []data{diabetes, text}, func(b *testing.B, k *kernels.Set, x sparse.Matrix, y []float64) {
		c := pare.Config{NoIntercept: true, Threads: 1, Kernels: k.Name}
		var s *pare.Selection
		for b.Loop() {
			var err error
			if s, err = pare.Select(context.Background(), x, y, pare.SelectOptions{}, c); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(s.Evaluations)), "evaluations/op")
	})
}

// TestTheSmallestProblemSolves checks that the problem of every benchmark can be stated and
// solved.
func TestTheSmallestProblemSolves(t *testing.T) {
	x, y := diabetes.load()
	s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{}, pare.Config{NoIntercept: true})
	if err != nil || s.Final == nil {
		t.Fatalf("%+v, %v", s, err)
	}
	if got := storage(x); got != 8*442*10 {
		t.Errorf("a pass over the diabetes data reads %d bytes, want %d", got, 8*442*10)
	}
}
