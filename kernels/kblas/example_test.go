package kblas_test

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/kernels/kblas"
)

func Example() {
	k, err := kernels.Active()
	if err != nil {
		fmt.Println(err)
		return
	}
	blas64.Use(kblas.New(k))
	defer blas64.Use(gonum.Implementation{})

	x := blas64.Vector{N: 3, Data: []float64{1, 2, 3}, Inc: 1}
	y := blas64.Vector{N: 3, Data: []float64{4, 5, 6}, Inc: 1}
	fmt.Println(blas64.Dot(x, y))
	// Output: 32
}
