package sparse_test

import (
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestLongColumnsAreCopiesAsAWhole: columns that differ in one entry are none, wherever that is, and the
// negative of a column is one only where it may be.
func TestLongColumnsAreCopiesAsAWhole(t *testing.T) {
	const n = 300
	alternating := func(change func(column []float64)) []float64 {
		column := make([]float64, n)
		for i := range column {
			column[i] = float64(1 + i%2)
		}
		change(column)
		return column
	}
	var flat []float64
	for _, change := range []func([]float64){
		func([]float64) {},
		func(c []float64) { c[0] = 7 },
		func(c []float64) { c[150] = 7 },
		func(c []float64) { c[n-1] = 7 },
		func(c []float64) { c[n-1] = 0 },
		func([]float64) {},
		func(c []float64) {
			for i := range c {
				c[i] = -c[i]
			}
		},
		func(c []float64) { c[150] = 7 },
	} {
		flat = append(flat, alternating(change)...)
	}
	x, err := sparse.NewDense(n, len(flat)/n, flat)
	if err != nil {
		t.Fatal(err)
	}
	view, err := sparse.NewView(kernels.Available()[0], x, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	all := []int32{0, 1, 2, 3, 4, 5, 6, 7}
	for opposite, want := range map[bool][]int32{true: {5, 6, 7}, false: {5, 7}} {
		copies := view.NewCopies(opposite)
		if got := copies.Find(all); !slices.Equal(got, want) {
			t.Errorf("opposite %v: columns %v are copies, want %v", opposite, got, want)
		}
		if got := copies.Representative(7); got != (sparse.Signed{Column: 2, Sign: 1}) {
			t.Errorf("opposite %v: column 7 copies %v", opposite, got)
		}
	}
}
