package synthetic

import (
	"context"

	"github.com/seed-45b9a24c/pare/sparse"
)

// measured is the number of columns of [Measurements].
const measured = 30

// Measurements generates data like many tables of measurements: many rows of 30 columns. The first 20 columns
// share a common component, one column has a long tail, five are zeros and ones, and 12 carry information about
// the target y.
func Measurements(ctx context.Context, rows int) (x *sparse.Dense, y []float64, err error) {
	const seed = 106
	values, y := make([]float64, measured*rows), make([]float64, rows)
	column := func(j int) []float64 { return values[j*rows:][:rows] }
	base := mix(seed)
	for i := range rows {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		state := at(base, i)
		common := bell(at(state, measured))
		for j := range measured {
			v := bell(at(state, j))
			if j < 20 {
				v += float64(0.6 * common)
			}
			switch {
			case j == 3:
				v = 1 / (0.02 + unit(at(state, j)))
			case j >= 5 && j < 10:
				if v = 0; unit(at(state, j)) < 0.2 {
					v = 1
				}
			}
			column(j)[i] = v
			if j < 12 {
				y[i] += float64(float64(j%5-2) * 0.1 * v)
			}
		}
		y[i] += float64(1.5 * bell(at(state, measured+1)))
	}
	x, err = sparse.NewDense(rows, measured, values)
	return x, y, err
}

// bell maps a random x to an approximately normal number of mean 0 and variance 1: a sum of four parts of x.
func bell(x uint64) float64 {
	var sum float64
	for range 4 {
		sum += float64(x & 0xffff)
		x >>= 16
	}
	const mean, deviation = 2 * 0xffff, 37837.2 // 0x10000·√(4/12)
	return (sum - mean) / deviation
}
