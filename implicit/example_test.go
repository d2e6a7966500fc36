package implicit_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// The derivative of a hold-out error in λ: rows 4 and 5 have weight 0 in the inner
// problem, and the criterion judges the predictions on them.
func ExampleSolver_Solve() {
	k, err := kernels.Active()
	if err != nil {
		log.Fatal(err)
	}
	x, err := sparse.NewDense(6, 2, []float64{1, 2, 3, 4, 5, 6, 1, -1, 1, 1, -1, -1})
	if err != nil {
		log.Fatal(err)
	}
	y, held := []float64{1.2, 1.9, 3.3, 3.8, 5.1, 5.7}, []int32{4, 5}
	view, err := sparse.NewView(k, x, []float64{1, 1, 1, 1, 0, 0}, true)
	if err != nil {
		log.Fatal(err)
	}
	fit, err := model.NewSquared(view, y)
	if err != nil {
		log.Fatal(err)
	}
	solve := func(lambda float64) (model.Penalty, *cd.Solution) {
		g, err := model.Lasso(lambda)
		if err != nil {
			log.Fatal(err)
		}
		sol, err := cd.New(fit).Solve(context.Background(), g, cd.Options{Tol: 1e-12})
		if err != nil {
			log.Fatal(err)
		}
		return g, sol
	}
	g, sol := solve(-2)
	outer := implicit.Outer{Slope: make([]float64, 6), Curvature: make([]float64, 6)}
	value := criterion.MeanSquaredError{}.Eval(held, y, sol.Prediction, outer.Slope, outer.Curvature)
	h, err := implicit.New(fit).Solve(context.Background(), g, implicit.Point{Support: sol.Support, Coef: sol.Coef, KKT: sol.KKT}, outer, implicit.Options{})
	if err != nil {
		log.Fatal(err)
	}
	_, near := solve(-2 + 1e-6)
	difference := (criterion.MeanSquaredError{}.Eval(held, y, near.Prediction, nil, nil) - value) / 1e-6
	fmt.Printf("error %.4f, its derivative %.4f, by a difference %.4f, %s\n", value, h.Gradient[0], difference, h.Status)
	// Output: error 0.1833, its derivative 0.2580, by a difference 0.2580, converged
}
