package support

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// oneHot returns a store of one-hot columns, ten for each category. Their entries are ones, or, if numbered is
// true, ones and twos.
func oneHot(t testing.TB, k *kernels.Set, n, categories int, numbered bool, m *team.Team) *Columns {
	t.Helper()
	const levels = 10
	r := oracle.NewRandom(uint64(n))
	columns := make([][]int32, levels*categories)
	for i := range int32(n) {
		for c := range categories {
			j := levels*c + min(r.Intn(levels), r.Intn(levels))
			columns[j] = append(columns[j], i)
		}
	}
	pointers, rows, values := []int64{0}, []int32(nil), []float64(nil)
	for _, column := range columns {
		rows = append(rows, column...)
		for i := range column {
			value := 1.0
			if numbered {
				value = float64(1 + i%2)
			}
			values = append(values, value)
		}
		pointers = append(pointers, int64(len(rows)))
	}
	x, err := sparse.NewCSC(n, len(columns), pointers, rows, values)
	if err != nil {
		t.Fatal(err)
	}
	view, err := sparse.NewView(k, x, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	return NewColumns(view.With(m))
}

// TestTeamsOfCounts checks that a team counts with the bits of one thread, and shares the work.
func TestTeamsOfCounts(t *testing.T) {
	before := runtime.GOMAXPROCS(4)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	m := team.NewThreads(4, nil).Team()
	var grams [2]*Gram
	for at, m := range []*team.Team{nil, m} {
		columns := oneHot(t, kernels.Available()[0], 30_000, 12, false, m)
		grams[at] = NewGram(columns)
		hold := func(from, to int32) {
			var list []int32
			for j := from; j < to; j++ {
				list = append(list, j)
			}
			columns.Hold(list)
			grams[at].Hold(list)
		}
		hold(0, 50)
		hold(50, 120)
		if counted := len(grams[at].counts.rows); counted != 120 {
			t.Fatalf("%d of 120 columns are counted", counted)
		}
	}
	for a := range 120 {
		if !slices.Equal(grams[0].Row(a), grams[1].Row(a)) {
			t.Fatalf("row %d has other bits", a)
		}
	}
	if m.Rest(); !(m.Shared() > 0) {
		t.Error("nothing was shared")
	}
}

// TestCountsStandBack checks that columns are not counted where most words would be 0, where rows have weights
// other than 0 and 1, and where memory is bounded.
func TestCountsStandBack(t *testing.T) {
	const n = 6400
	counted := func(weights []float64, entries int, bound int64) bool {
		rows, values := make([]int32, entries), slices.Repeat([]float64{2}, entries)
		for i := range rows {
			rows[i] = int32(i)
		}
		x, err := sparse.NewCSC(n, 1, []int64{0, int64(entries)}, rows, values)
		if err != nil {
			t.Fatal(err)
		}
		view, err := sparse.NewView(kernels.Available()[0], x, weights, false)
		if err != nil {
			t.Fatal(err)
		}
		columns := NewColumns(view)
		columns.Bound(bound)
		gram := NewGram(columns)
		columns.Hold([]int32{0})
		gram.Hold([]int32{0})
		return len(gram.counts.rows) > 0
	}
	half := make([]float64, n)
	for i := range half {
		half[i] = float64(i % 2)
	}
	for _, c := range []struct {
		name    string
		weights []float64
		entries int
		bound   int64
		want    bool
	}{
		{"an entry a word", nil, n / 64, 0, true},
		{"fewer", nil, n/64 - 1, 0, false},
		{"half of the rows", half, n / 64, 0, true},
		{"rows that count twice", slices.Repeat([]float64{2}, n), n / 64, 0, false},
		{"bounded memory", nil, n / 64, 1 << 20, false},
	} {
		if got := counted(c.weights, c.entries, c.bound); got != c.want {
			t.Errorf("%s: counted is %v", c.name, got)
		}
	}
}

// BenchmarkGramOfOneHotColumns measures 120 columns of 12 categories: columns of ones, which are counted, and
// columns of ones and twos, which are not.
func BenchmarkGramOfOneHotColumns(b *testing.B) {
	for _, k := range kernels.Available() {
		for _, numbered := range []bool{false, true} {
			b.Run(fmt.Sprintf("set=%s/numbered=%v", k.Name, numbered), func(b *testing.B) {
				columns := oneHot(b, k, 30_000, 12, numbered, nil)
				gram, list := NewGram(columns), make([]int32, 120)
				for j := range list {
					list[j] = int32(j)
				}
				for b.Loop() {
					gram.clear()
					gram.Hold(list)
				}
			})
		}
	}
}
