package sparse_test

import (
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestLongColumnsAreCopiesAsAWhole checks that columns which differ in a single entry, wherever it is,
// are not copies, and that the negative of a column counts as a copy only if that is allowed.
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

// TestMultiplesAreCopiesWhereTheyAreScaledAlike checks that scaled columns are compared after scaling.
func TestMultiplesAreCopiesWhereTheyAreScaledAlike(t *testing.T) {
	x, err := sparse.NewDense(3, 4, []float64{1, 0, 2, 2, 0, 4, -1, 0, -2, 3, 0, 6})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := sparse.NewView(kernels.Available()[0], x, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		standardise bool
		times       []float64
		want        []int32
	}{
		{false, []float64{1, 1, 1, 1}, []int32{2}},
		{false, []float64{6, 3, 1, 2}, []int32{1, 3}},
		{true, []float64{1, 1, 1, 1}, []int32{1, 2, 3}},
		{true, []float64{1, 5, 5, 1}, []int32{2, 3}},
	} {
		view := plain
		if c.standardise {
			view = view.Standardised()
		}
		if view, err = view.Rescaled(c.times); err != nil {
			t.Fatal(err)
		}
		if got := view.NewCopies(true).Find([]int32{0, 1, 2, 3}); !slices.Equal(got, c.want) {
			t.Errorf("standardised %t, times %v: columns %v are copies, want %v", c.standardise, c.times, got, c.want)
		}
	}
}
