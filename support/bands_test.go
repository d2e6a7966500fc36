package support

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
)

// TestProductsByBands compares products with lists of columns, one list after another, with their definition: before
// there is a copy by bands, with a copy of exactly these columns, and with a copy that lacks some of them and has
// others, until its extra columns cost too much. The last band of rows is not full, and some rows have weight 0.
func TestProductsByBands(t *testing.T) {
	const n, p, ridge = 3*bandRows + 123, 24, 0.1
	some := make([]float64, n)
	for i := range some {
		some[i] = float64(i % 4)
	}
	for turn, weights := range [][]float64{nil, some} {
		k := kernels.Available()[0]
		g, x, _ := listed(t, k, n, p, weights, true, []int{p}, nil)
		c, r := g.columns, oracle.NewRandom(uint64(turn))
		var gram [p][p]float64
		for i := range p {
			for j := range p {
				gram[i][j] = product(x[i], x[j], weights, true) / c.view.Total()
			}
		}
		apart := func(from, to int) (list []int32) {
			for j := from; j < to; j++ {
				list = append(list, int32(j))
			}
			return list
		}
		var a System
		for _, of := range []struct {
			list     []int32
			products int
			banded   bool // whether the last product is by bands
		}{
			{apart(0, p), 2, false},
			{apart(0, p), 20, true},
			{apart(2, p), 1, true},  // fewer columns
			{apart(2, 4), 1, false}, // few columns
			{apart(1, 12), 40, true},
			{apart(1, 14), 1, true}, // more columns
		} {
			a.Reset(c, of.list, ridge)
			v, got := make([]float64, len(of.list)), make([]float64, len(of.list))
			for range of.products {
				for at := range v {
					v[at] = r.Normal()
				}
				a.Apply(v, got)
			}
			if a.banded != of.banded {
				t.Fatalf("weights %v: columns %d to %d after %d products: by bands %v, want %v", weights != nil, of.list[0], of.list[len(of.list)-1], of.products, a.banded, of.banded)
			}
			for at, i := range of.list {
				want, size := ridge*v[at], math.Abs(v[at])
				for other, j := range of.list {
					share := gram[i][j] * v[other]
					want, size = want+share, size+math.Abs(share)
				}
				if math.Abs(got[at]-want) > 1e-13*size {
					t.Fatalf("weights %v: columns %d to %d: entry %d is %v, want %v", weights != nil, of.list[0], of.list[len(of.list)-1], at, got[at], want)
				}
			}
		}
		entries := c.bands.entries
		if c.Clear(); entries == 0 || c.bands.entries != 0 || c.bands.position[3] >= 0 {
			t.Errorf("weights %v: a copy of %d entries is not forgotten with the columns", weights != nil, entries)
		}
	}
}
