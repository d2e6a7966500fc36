package model_test

import (
	"fmt"
	"log"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// The loss of a logistic regression, the strength from which on it has no
// coefficients, and a penalty of a tenth of that.
func ExampleNewLogistic() {
	k, err := kernels.Active()
	if err != nil {
		log.Fatal(err)
	}
	x, err := sparse.NewDense(4, 2, []float64{1, 2, 3, 4, 1, -1, 1, -1})
	if err != nil {
		log.Fatal(err)
	}
	view, err := sparse.NewView(k, x, nil, true)
	if err != nil {
		log.Fatal(err)
	}
	fit, err := model.NewLogistic(view, []float64{-1, -1, 1, 1})
	if err != nil {
		log.Fatal(err)
	}
	top := model.AlphaMax(fit)
	g, err := model.Lasso(kernels.Log(top / 10))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("P₀ = %.4f, αmax = %.4f, g(2, 0) = %.2f\n", fit.Null(), top, g.Value([]int32{0}, []float64{2}))
	// Output: P₀ = 0.6931, αmax = 0.5000, g(2, 0) = 0.10
}
