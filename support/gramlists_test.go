package support

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// listed returns the Gram matrix of p columns, some long and most short, which are added in
// batches. It also returns the columns, and how many of them are in lists as well.
func listed(t *testing.T, k *kernels.Set, n, p int, weights []float64, centre bool, batches []int, m *team.Team) (g *Gram, x [][]float64, inLists int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), uint64(p)))
	ptr, rows, values := []int64{0}, []int32(nil), []float64(nil)
	x = make([][]float64, p)
	for j := range x {
		x[j] = make([]float64, n)
		share := 0.3 / (1 + float64(j)/8)
		for i := range n {
			if rng.Float64() < share {
				x[j][i] = rng.NormFloat64()
				rows, values = append(rows, int32(i)), append(values, x[j][i])
			}
		}
		ptr = append(ptr, int64(len(rows)))
	}
	csc, err := sparse.NewCSC(n, p, ptr, rows, values)
	if err != nil {
		t.Fatal(err)
	}
	view, err := sparse.NewView(k, csc, weights, centre)
	if err != nil {
		t.Fatal(err)
	}
	columns := NewColumns(view.With(m))
	g = NewGram(columns)
	var held []int32
	for _, more := range batches {
		for range more {
			held = append(held, int32(len(held)*7%p))
		}
		columns.Hold(held)
		g.Hold(held)
	}
	return g, x, g.lists.listed
}

// TestListsMakeTheGramMatrix checks the rows of short columns, which are computed from lists,
// however the columns before were added: on all rows and on some, centred and not, with lists
// that stay in place and lists that move, all at once or whenever room is made for a few
// columns.
func TestListsMakeTheGramMatrix(t *testing.T) {
	const n, p = 20_000, 300
	some := make([]float64, n)
	for i := range some {
		some[i] = float64(i % 3)
	}
	turn := -1
	for _, k := range kernels.Available() {
		for _, weights := range [][]float64{nil, some} {
			for _, centre := range []bool{false, true} {
				for _, batches := range [][]int{{100, 150, 1, 1, 3, 45}, slices.Repeat([]int{6}, p/6), {300}} {
					if turn++; !oracle.Turn(turn, 5) { // of 12 for each set
						continue
					}
					g, x, inLists := listed(t, k, n, p, weights, centre, batches, nil)
					if blocks := g.lists.entries / listBlock; len(batches) > 1 && (inLists != p || blocks == 0) {
						t.Errorf("%d of %d columns are in lists, %d blocks: not all was tested", inLists, p, blocks)
					}
					for a := range p {
						for b := range a + 1 {
							got := g.Row(a)[b]
							if got != g.Row(b)[a] {
								t.Fatalf("%s: G[%d,%d] = %v, but G[%d,%d] = %v", k.Name, a, b, got, b, a, g.Row(b)[a])
							}
							if (a+31*b)%101 > 0 {
								continue // a sample of them is enough
							}
							want := product(x[g.list[a]], x[g.list[b]], weights, centre)
							if math.Abs(got-want) > 1e-11*n {
								t.Fatalf("%s, centred %v, batches %v: G[%d,%d] = %v, want %v", k.Name, centre, batches, a, b, got, want)
							}
						}
					}
				}
			}
		}
	}
}

// TestTeamsOfListsAndCopies checks that a team gives the bits of one thread for rows from
// lists, products on the matrix and products by bands, and shares the work.
func TestTeamsOfListsAndCopies(t *testing.T) {
	before := runtime.GOMAXPROCS(4)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	const n, p = 24_000, 300
	some := make([]float64, n)
	for i := range some {
		some[i] = float64(i % 3)
	}
	m := team.NewThreads(4, nil).Team()
	for _, weights := range [][]float64{nil, some} {
		batches := []int{100, 150, 1, 1, 3, 45}
		alone, _, _ := listed(t, kernels.Available()[0], n, p, weights, true, batches, nil)
		shared := m.Shared()
		together, _, inLists := listed(t, kernels.Available()[0], n, p, weights, true, batches, m)
		if inLists != p || len(together.lists.team.ranks) == 0 {
			t.Errorf("%d of %d columns are in lists, %d ranks: not all was tested", inLists, p, len(together.lists.team.ranks))
		}
		for a := range p {
			if !slices.Equal(together.Row(a), alone.Row(a)) {
				t.Fatalf("weights %v: row %d has other bits", weights != nil, a)
			}
		}
		v, products := make([]float64, p), [2][][]float64{}
		for k := range v {
			v[k] = float64(k%7) - 2.5
		}
		for at, g := range []*Gram{alone, together} {
			var onGram GramSystem
			onGram.Reset(g, g.list, 0.1, 1)
			onGram.cost = 1e6 // worth sharing
			out := make([]float64, p)
			onGram.Apply(v, out)
			products[at] = append(products[at], out)
			var a System
			a.Reset(g.columns, g.list, 0.1)
			for g.columns.bands.entries == 0 {
				a.Apply(v, out)
			}
			last := make([]float64, p)
			a.Apply(v, last)
			products[at] = append(products[at], last, g.columns.bands.values)
		}
		for k := range products[0] {
			if !slices.Equal(products[0][k], products[1][k]) {
				t.Errorf("weights %v: product %d has other bits", weights != nil, k)
			}
		}
		m.Rest()
		if !(m.Shared() > shared) {
			t.Error("nothing was shared")
		}
	}
}

// product returns Σ s(u − ū)(v − v̄) by definition, with s-weighted means if centred.
func product(u, v, s []float64, centre bool) float64 {
	var total, meanU, meanV, sum float64
	weight := func(i int) float64 {
		if s == nil {
			return 1
		}
		return s[i]
	}
	if centre {
		for i := range u {
			total += weight(i)
			meanU += weight(i) * u[i]
			meanV += weight(i) * v[i]
		}
		meanU, meanV = meanU/total, meanV/total
	}
	for i := range u {
		sum += weight(i) * (u[i] - meanU) * (v[i] - meanV)
	}
	return sum
}

// TestListsAreEmptiedWithTheMatrix checks that lists are emptied with the store, and filled
// again to the same bits in the same memory.
func TestListsAreEmptiedWithTheMatrix(t *testing.T) {
	k := kernels.Available()[0]
	batches := []int{100, 100, 10, 90}
	g, _, _ := listed(t, k, 20_000, 300, nil, false, batches, nil)
	held := append([]int32(nil), g.list...)
	want := make([][]float64, len(held)) // values between the rows are undefined
	for k := range want {
		want[k] = slices.Clone(g.Row(k))
	}
	g.columns.Clear()
	if g.lists.listed != 0 || g.lists.entries != 0 {
		t.Fatalf("%d columns of %d entries are left", g.lists.listed, g.lists.entries)
	}
	room := cap(g.lists.slots)
	for from := 0; len(batches) > 0; batches = batches[1:] {
		from += batches[0]
		g.columns.Hold(held[:from])
		g.Hold(held[:from])
	}
	for k, row := range want {
		if !slices.Equal(g.Row(k), row) {
			t.Errorf("row %d of the Gram matrix has other bits", k)
		}
	}
	if cap(g.lists.slots) != room {
		t.Errorf("lists have moved to %d entries from %d", cap(g.lists.slots), room)
	}
}

func BenchmarkGramOfShortColumns(b *testing.B) {
	for _, k := range kernels.Available() {
		b.Run("set="+k.Name, func(b *testing.B) {
			g, _, _ := listed(new(testing.T), k, 20_000, 600, nil, false, []int{600}, nil)
			held := append([]int32(nil), g.list...)
			for b.Loop() {
				g.columns.Clear()
				for _, size := range []int{100, 230, 474, 475, 600} {
					g.Hold(held[:size])
				}
			}
		})
	}
}
