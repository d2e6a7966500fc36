package synthetic

import (
	"context"

	"github.com/seed-45b9a24c/pare/sparse"
)

const (
	categorical = 12 // columns of a table
	categories  = 10 // of each
	numeric     = 4
)

// Categories generates a table whose text columns have been one-hot encoded: many rows, 12 × 10 columns of
// zeros and ones, where each row has one of every ten, the first more often than the last, and four numeric
// columns. Half of the categories carry information about the target y.
func Categories(ctx context.Context, rows int) (x *sparse.CSC, y []float64, err error) {
	const seed = 207
	lists, numbers, y := make([][]int32, categorical*categories), make([]float64, numeric*rows), make([]float64, rows)
	base := mix(seed)
	effect := func(k int) float64 {
		if e := at(base, k); e%2 == 0 {
			return bell(mix(e))
		}
		return 0
	}
	for i := range rows {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		state := at(mix(base), i)
		for k := range categorical {
			u := unit(at(state, k))
			list := categories*k + int(categories*float64(u*u))
			lists[list] = append(lists[list], int32(i))
			y[i] += effect(list)
		}
		for k := range numeric {
			v := bell(at(state, categorical+k))
			numbers[k*rows+i] = 40 + float64(12*v)
			y[i] += float64(float64(k) * 0.2 * v)
		}
		y[i] += float64(3 * bell(at(state, categorical+numeric)))
	}
	pointers, of, values := make([]int64, 1, len(lists)+numeric+1), make([]int32, 0, (categorical+numeric)*rows), make([]float64, 0, (categorical+numeric)*rows)
	for _, list := range lists {
		of = append(of, list...)
		for range list {
			values = append(values, 1)
		}
		pointers = append(pointers, int64(len(of)))
	}
	for k := range numeric {
		for i := range rows {
			of = append(of, int32(i))
		}
		values = append(values, numbers[k*rows:][:rows]...)
		pointers = append(pointers, int64(len(of)))
	}
	x, err = sparse.NewCSC(rows, len(lists)+numeric, pointers, of, values)
	return x, y, err
}
