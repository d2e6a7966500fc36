package cd_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// threeRows is the squared loss of y = (3, 7, 5) on two columns, without intercept.
func threeRows() (*model.Squared, error) {
	k, err := kernels.Active()
	if err != nil {
		return nil, err
	}
	x, err := sparse.NewDense(3, 2, []float64{1, 2, 2, 0, 1, -1})
	if err != nil {
		return nil, err
	}
	view, err := sparse.NewView(k, x, nil, false)
	if err != nil {
		return nil, err
	}
	return model.NewSquared(view, []float64{3, 7, 5})
}

// The Lasso at half of αmax.
func ExampleSolver_Solve() {
	fit, err := threeRows()
	if err != nil {
		log.Fatal(err)
	}
	g, err := model.Lasso(kernels.Log(model.AlphaMax(fit) / 2))
	if err != nil {
		log.Fatal(err)
	}
	sol, err := cd.New(fit).Solve(context.Background(), g, cd.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("columns %v: %.2f, objective %.3f, relative gap below 1e-6: %t\n", sol.Support, sol.Coef, sol.Objective, sol.RelativeGap <= 1e-6)
	// Output:
	// columns [0]: [1.50], objective 10.458, relative gap below 1e-6: true
}

// The second column enters later, and the first shrinks less and less.
func ExampleSolver_Path() {
	fit, err := threeRows()
	if err != nil {
		log.Fatal(err)
	}
	top := kernels.Log(model.AlphaMax(fit))
	penalties := func(yield func(model.Penalty) bool) {
		for _, down := range []float64{0, 2, 4} {
			if g, err := model.Lasso(top - down); err != nil || !yield(g) {
				return
			}
		}
	}
	for sol, err := range cd.New(fit).Path(context.Background(), penalties, cd.Options{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("columns %v: %.3f, %s\n", sol.Support, sol.Coef, sol.Status)
	}
	// Output:
	// columns []: [], converged
	// columns [0]: [2.594], converged
	// columns [0 1]: [2.945 0.753], converged
}
