package kernels_test

import (
	"fmt"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// Resolve a set once, then use its functions.
func Example() {
	k, err := kernels.Active()
	if err != nil {
		fmt.Println(err)
		return
	}
	x, y := []float64{1, 2, 3}, []float64{4, 5, 6}
	fmt.Println(k.Dot(x, y))
	k.Axpy(10, x, y)
	fmt.Println(y)
	// Output:
	// 32
	// [14 25 36]
}

// Columns of a sparse matrix, stored one after the other, times a vector.
func ExampleSet_dotColumns() {
	//  1 · ·
	//  · 2 ·
	//  3 · ·
	colPtr := []int64{0, 2, 3, 3}
	rows := []int32{0, 2, 1}
	values := []float64{1, 3, 2}
	y := []float64{1, 10, 100}
	out := make([]float64, 3)

	k := kernels.Available()[0]
	k.DotColumns(colPtr, rows, values, y, out)
	fmt.Println(out)
	// Output: [301 20 0]
}

func ExampleNamed() {
	_, err := kernels.Named("purego")
	fmt.Println(err)
	// Output: <nil>
}

func ExampleAvailable() {
	fmt.Println(kernels.Available()[0].Name)
	// Output: purego
}

// One epoch of the Lasso with two orthogonal columns is its solution.
func ExampleEpoch() {
	e := &kernels.Epoch{
		From: []int64{0, 1}, To: []int64{1, 2},
		Rows: []int32{0, 1}, Values: []float64{1, 1},
		Residual: []float64{3, 0.5},
		Coef:     []float64{0, 0},
		Square:   []float64{1, 1}, Threshold: []float64{1, 1},
		Mean: []float64{0, 0}, Grad: []float64{0, 0},
		Total: 2,
	}
	k := kernels.Available()[0]
	k.Epoch(e)
	fmt.Println(e.Coef, e.Residual)
	// Output: [2 0] [1 0.5]
}

// Two samples on one axis, of opposite classes: the first stops at its bound, the second
// contributes the rest of w = 1.
func ExampleBoxEpoch() {
	e := &kernels.BoxEpoch{
		From: []int64{0, 1}, To: []int64{1, 2},
		Features: []int32{0, 0}, Values: []float64{1, -1},
		W:          []float64{0},
		At:         []kernels.BoxVariable{{Sign: 1, Inverse: 1, Bound: 0.5, Margin: 1}, {Sign: -1, Inverse: 1, Bound: 2, Margin: 1}},
		Live:       []int32{0, 1},
		AsideOver:  math.Inf(1),
		AsideUnder: math.Inf(-1),
	}
	k := kernels.Available()[0]
	kept := k.BoxEpoch(e)
	fmt.Println(kept, e.At[0].Value, e.At[1].Value, e.W)
	// Output: 2 0.5 0.5 [1]
}
