package sparse_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestUniform checks that constant columns are distinguished from columns that differ in any one
// place, by any number of goroutines, also if empty columns are not in the table of columns.
func TestUniform(t *testing.T) {
	const n = 200
	k := kernels.Available()[0]
	pointers, rows, values := []int64{0}, []int32(nil), []float64(nil)
	odd := []int{-1, 0, 1, 63, 64, 100, n - 1} // the row with another value in each column; −1 for none
	for _, at := range odd {
		for i := range n {
			rows, values = append(rows, int32(i)), append(values, 2.5)
			if i == at {
				values[len(values)-1] = -2.5
			}
		}
		pointers = append(pointers, int64(len(rows)))
	}
	rows, values = append(rows, 7), append(values, 3) // a column with a single entry
	pointers = append(pointers, int64(len(rows)), int64(len(rows)))
	want := []bool{true, false, false, false, false, false, false, true, true} // the last column has no entries
	x, err := sparse.NewCSC(n, len(want), pointers, rows, values)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 2 {
				for j, want := range want {
					if got := x.Uniform(k, j); got != want {
						t.Errorf("column %d: %v", j, got)
					}
				}
			}
		})
	}
	all.Wait()
}

// TestUniformEnds checks that the result of a pass that was cancelled is not cached.
func TestUniformEnds(t *testing.T) {
	const n = 1 << 17
	rows, values := make([]int32, n), make([]float64, n)
	for i := range rows {
		rows[i], values[i] = int32(i), 1
	}
	x, err := sparse.NewCSC(n, 1, []int64{0, n}, rows, values)
	if err != nil {
		t.Fatal(err)
	}
	k := kernels.Available()[0]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = func() (err error) {
		defer kernels.Caught(&err)
		x.Uniform(k.Until(ctx), 0)
		return nil
	}()
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if !x.Uniform(k, 0) {
		t.Error("all values are the same")
	}
}
