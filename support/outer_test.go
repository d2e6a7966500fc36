package support_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/support"
)

// TestOuterSums checks that entries are sums of products in the order of the vectors,
// given by rows or by columns, whatever their number and length, and whatever was summed
// before.
func TestOuterSums(t *testing.T) {
	set, err := kernels.Active()
	if err != nil {
		t.Fatal(err)
	}
	var outer support.Outer
	for _, shape := range [][2]int{{300, 9}, {1, 1}, {5, 8}, {128, 17}, {129, 3}, {260, 31}, {0, 4}} {
		count, size := shape[0], shape[1]
		r := oracle.NewRandom(uint64(100*count + size))
		d, v := make([]float64, count), make([]float64, count*size)
		for i := range v {
			v[i] = r.Normal()
		}
		for k := range d {
			d[k] = r.Pick(1, 1e-6, 30)
		}
		a := make([]float64, size*size)
		for i := range a {
			a[i] = math.NaN()
		}
		outer.Sum(set, count, size, func(k int) (float64, []float64) { return d[k], v[k*size:][:size] }, a)
		columns, byColumns := make([]float64, count*size), slices.Clone(a)
		for k := range count {
			for i := range size {
				columns[i*count+k] = v[k*size+i]
			}
		}
		outer.SumColumns(set, d, size, func(j int) []float64 { return columns[j*count:][:count] }, byColumns)
		for i := range size {
			if !slices.Equal(byColumns[i*size:][:i+1], a[i*size:][:i+1]) {
				t.Fatalf("%d vectors of %d: row %d is %g by columns, %g by rows", count, size, i, byColumns[i*size:][:i+1], a[i*size:][:i+1])
			}
		}
		for i := range size {
			for j := range size {
				var want float64
				for k := range count {
					want = math.FMA(float64(d[k]*v[k*size+i]), v[k*size+j], want)
				}
				if got := a[i*size+j]; j <= i && got != want || j > i && !math.IsNaN(got) {
					t.Fatalf("%d vectors of %d: entry %d, %d is %g, want %g", count, size, i, j, got, want)
				}
			}
		}
	}
}
