package bilevel_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// twoColumns has a target that follows the first column, with noise.
func twoColumns() (sparse.Matrix, []float64, error) {
	x, err := sparse.NewDense(6, 2, []float64{1, 2, 3, 4, 5, 6, 1, -1, 1, 1, -1, -1})
	return x, []float64{1.2, 1.9, 3.3, 3.8, 5.1, 5.7}, err
}

func lasso(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) }

// Value and slope of the cross-validation error of a Lasso, and where a search for
// less of it ends.
func ExampleNew() {
	k, err := kernels.Active()
	if err != nil {
		log.Fatal(err)
	}
	x, y, err := twoColumns()
	if err != nil {
		log.Fatal(err)
	}
	folds, err := bilevel.KFold(nil, 6, 3, false, 0)
	if err != nil {
		log.Fatal(err)
	}
	problem, err := bilevel.New(k, x, y, bilevel.Spec{Folds: folds, Penalty: lasso, Intercept: true})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	at, err := problem.Evaluate(ctx, search.Request{LogLambda: []float64{-1}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("λ = -1: %.4f, slope %.4f, %s\n", at.Value, at.Gradient[0], at.Status)
	found, err := search.Secant(ctx, problem, -1, search.Box{Lower: []float64{-9}, Upper: []float64{1}}, search.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("λ = %.2f: %.4f, %s\n", found.Best.LogLambda[0], found.Best.Value, found.Status)
	// Output:
	// λ = -1: 0.1256, slope 0.1462, converged
	// λ = -2.30: 0.0587, kink
}

// Stein's unbiased estimate of the risk needs no held-out rows, but the noise level.
func ExampleRisk() {
	k, err := kernels.Active()
	if err != nil {
		log.Fatal(err)
	}
	x, y, err := twoColumns()
	if err != nil {
		log.Fatal(err)
	}
	const sigma = 0.2
	risk := bilevel.Risk{Information: bilevel.SURE(len(y), sigma), Sigma: sigma, Seed: 1}
	problem, err := bilevel.New(k, x, y, bilevel.Spec{Risk: &risk, Penalty: lasso, Intercept: true})
	if err != nil {
		log.Fatal(err)
	}
	at, err := problem.Evaluate(context.Background(), search.Request{LogLambda: []float64{-3}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f, of the null model %.2f\n", at.Value, problem.NullValue())
	// Output: -0.0248, of the null model 15.14
}

// Three classes, a λ each, judged together by the cross-entropy of their scores.
func ExampleNewMulticlass() {
	k, err := kernels.Active()
	if err != nil {
		log.Fatal(err)
	}
	x, err := sparse.NewDense(9, 2, []float64{0, 4, 0, 1, 5, 1, 0, 4, 1, 0, 0, 4, 1, 0, 5, 0, 1, 4})
	if err != nil {
		log.Fatal(err)
	}
	folds, err := bilevel.Blocks(nil, 9, 3)
	if err != nil {
		log.Fatal(err)
	}
	problem, err := bilevel.NewMulticlass(k, x, []float64{1, 2, 3, 1, 2, 3, 1, 2, 3}, bilevel.Spec{Folds: folds, Penalty: lasso, Intercept: true})
	if err != nil {
		log.Fatal(err)
	}
	at, err := problem.Evaluate(context.Background(), search.Request{LogLambda: []float64{-3, -3, -3}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("classes %v: %.4f, slopes %.4f, of the null model %.4f\n", problem.Classes(), at.Value, at.Gradient, problem.NullValue())
	// Output: classes [1 2 3]: 0.0226, slopes [0.0032 0.0088 0.0105], of the null model 1.0986
}
