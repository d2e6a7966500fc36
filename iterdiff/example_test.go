package iterdiff_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// The derivative of a Lasso's hold-out error in λ = ln α, after three epochs of
// coordinate descent and at convergence.
func ExampleSolver_Solve() {
	k, err := kernels.Active()
	if err != nil {
		log.Fatal(err)
	}
	x, err := sparse.NewDense(4, 2, []float64{1, 2, 3, 4, 1, -1, 1, 0})
	if err != nil {
		log.Fatal(err)
	}
	y := []float64{1, 2, 3.5, 5}
	view, err := sparse.NewView(k, x, []float64{1, 1, 1, 0}, false) // the last row is held out
	if err != nil {
		log.Fatal(err)
	}
	fit, err := model.NewSquared(view, y)
	if err != nil {
		log.Fatal(err)
	}
	penalty, err := model.Lasso(math.Log(0.1))
	if err != nil {
		log.Fatal(err)
	}
	solver, err := iterdiff.New(fit)
	if err != nil {
		log.Fatal(err)
	}
	curvature := make([]float64, 4)
	held := func(m, slope []float64) float64 {
		return criterion.MeanSquaredError{}.Eval([]int32{3}, y, m, slope, curvature)
	}
	for _, o := range []iterdiff.Options{{Epochs: 3}, {}, {Method: iterdiff.BackwardPCD}} {
		r, err := solver.Solve(context.Background(), penalty, held, o)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("β = %.4f on columns %v, error %.4f, derivative %.4f: %s\n", r.Coef, r.Support, r.Value, r.Gradient[0], r.Status)
	}
	// Output:
	// β = [1.0842 0.0105] on columns [0 1], error 0.4397, derivative 0.0425: budget
	// β = [1.0842 0.0105] on columns [0 1], error 0.4398, derivative 0.0419: converged
	// β = [1.0842 0.0105] on columns [0 1], error 0.4398, derivative 0.0419: converged
}
