package criterion_test

import (
	"fmt"
	"math"

	"github.com/seed-45b9a24c/pare/criterion"
)

// A loss defined by the caller: a smooth absolute error.
func ExampleFunc() {
	c := criterion.Func("pseudo-huber", func(y, m, slope []float64) (value float64) {
		n := float64(len(y))
		for i := range y {
			r := m[i] - y[i]
			root := math.Sqrt(1 + r*r)
			value += (root - 1) / n
			if slope != nil {
				slope[i] = r / root / n
			}
		}
		return value
	})
	y, m := []float64{1, 2, 3}, []float64{1, 4, 3.5}
	slope, curvature := make([]float64, 3), make([]float64, 3)
	fmt.Printf("%s of rows 1 and 2: %.3f, slopes %.3f\n", c.Name(), c.Eval([]int32{1, 2}, y, m, slope, curvature), slope)
	// Output: pseudo-huber of rows 1 and 2: 0.677, slopes [0.000 0.447 0.224]
}
