package support

import (
	"flag"
	"fmt"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

var _ = flag.Bool("long", false, "ten times as many random problems")

// TestGramAfterAnySequence compares every entry of the Gram matrix with its definition after random
// sequences of what solvers do to the matrix and its store. Columns are added by tiles, lanes and lists,
// few and many at a time, after others, after all were dropped, and after the weights or the rows have
// changed.
func TestGramAfterAnySequence(t *testing.T) {
	met := map[string]int{}
	for seed := range max(12, oracle.Cases(100)) {
		for at, k := range kernels.Available() {
			if oracle.Fewest() && int(seed)%len(kernels.Available()) != at {
				continue // sets take turns
			}
			s := newSequence(t, k, seed, met)
			for step := range 25 {
				did, err := s.act()
				if err == nil {
					err = s.compare()
				}
				if err != nil {
					t.Fatalf("%s, seed %d, step %d, %s: %v", k.Name, seed, step, did, err)
				}
			}
		}
	}
	for _, path := range []string{
		"tiles", "bands of tiles", "counts", "counts beside lanes", "counts after lanes", "lanes", "lanes over long columns held", "lanes in blocks", "lists", "lists in blocks", "lists moved",
		"store emptied", "products in place", "products on a copy",
	} {
		if met[path] == 0 {
			t.Errorf("never met: %s", path)
		}
	}
}

// sequence is a store of columns with its Gram matrix, on which random operations of solvers are
// performed. Values of X, weights and their roots are small integers, so that sums of products are exact
// in any order.
type sequence struct {
	r      *oracle.Random
	met    map[string]int // how often each path was taken
	rows   [][]entry
	view   *sparse.View
	store  *Columns
	gram   *Gram
	system System
	onGram GramSystem

	want []float64 // p × p: the Gram matrix of all columns under the current weights
	size []float64 // p: √Σwx², the scale of rounding errors
	near float64   // the relative tolerance, 0 where sums are exact
}

// entry is an entry of a row of X.
type entry struct {
	column int32
	value  float64
}

// newSequence draws a matrix, weights and a view, and makes an empty store.
func newSequence(t *testing.T, k *kernels.Set, seed uint64, met map[string]int) *sequence {
	t.Helper()
	r := oracle.NewRandom(seed)
	s := &sequence{r: r, met: met}
	x, err := s.matrix(seed)
	if err != nil {
		t.Fatal(err)
	}
	var weights []float64
	if r.Intn(3) > 0 {
		weights = s.weights(func(int) bool { return true })
	}
	centre, standardise := r.Intn(2) == 0, r.Intn(4) == 0
	if s.view, err = sparse.NewView(k, x, weights, centre); err != nil {
		t.Fatal(err)
	}
	if standardise {
		s.view = s.view.Standardised()
	}
	if centre || standardise {
		s.near = 1e-12
	}
	s.define(weights)
	s.store = NewColumns(s.view)
	s.store.budget = int(r.Pick(0, 1, 2, 2) * float64(x.NNZ()))
	s.gram = NewGram(s.store)
	return s
}

// matrix draws X: dense, or, as in text, a few long and many short columns in random order. Some or all
// columns have a single value.
func (s *sequence) matrix(seed uint64) (sparse.Matrix, error) {
	r := s.r
	n, p, dense := 20+r.Intn(400), 5+r.Intn(60), false
	switch {
	case seed%40 == 6: // several blocks of rows, and of entries
		n, p = 17_000+r.Intn(9000), 250+r.Intn(100)
	case seed%40 == 9: // several bands of tiles
		n, p, dense = 10+r.Intn(50), 400+r.Intn(50), true
	case seed%4 < 2:
		n, p = 200+r.Intn(1000), 150+r.Intn(150)
	case seed%4 == 2:
		dense = true
	}
	s.rows, s.want, s.size = make([][]entry, n), make([]float64, p*p), make([]float64, p)
	pointers, rows, values := []int64{0}, []int32(nil), []float64(nil)
	share := 0.5 * float64(seed%3) // of columns of one value
	for j := range int32(p) {
		only, alike := 0.0, share > 0 && r.Float64() < share
		if alike {
			only = r.Pick(-2, 1, 3)
		}
		gap := 1 + r.Intn(n/2) // between entries, on average
		switch {
		case dense:
			gap = 1
		case r.Intn(16) == 0:
			gap = 1 + r.Intn(8)
		}
		for i := r.Intn(gap); i < n; i += 1 + r.Intn(2*gap-1) {
			v := float64(1+r.Intn(4)) * r.Pick(-1, 1)
			if alike {
				v = only
			}
			s.rows[i] = append(s.rows[i], entry{j, v})
			rows, values = append(rows, int32(i)), append(values, v)
		}
		pointers = append(pointers, int64(len(rows)))
	}
	if dense {
		return sparse.NewDense(n, p, values)
	}
	return sparse.NewCSC(n, p, pointers, rows, values)
}

// weights draws squares of integers, or 0 and 1, for the rows that may have a weight.
func (s *sequence) weights(may func(i int) bool) []float64 {
	most, out := 2+s.r.Intn(2)*2, make([]float64, len(s.rows))
	for i := range out {
		if root := float64(s.r.Intn(most)); may(i) {
			out[i] = root * root
		}
	}
	for i := range out { // at least one row has a weight
		if may(i) {
			out[i] = 1
			break
		}
	}
	return out
}

// define computes the Gram matrix of all columns under weights d by its definition.
func (s *sequence) define(d []float64) {
	p := len(s.size)
	clear(s.want)
	sums, total := make([]float64, p), 0.0
	for i, entries := range s.rows {
		weight := 1.0
		if d != nil {
			weight = d[i]
		}
		total += weight
		for k, u := range entries {
			sums[u.column] += weight * u.value
			for _, v := range entries[:k+1] { // columns ascend
				s.want[int(u.column)*p+int(v.column)] += weight * u.value * v.value
			}
		}
	}
	for a := range p {
		s.size[a] = s.view.Scale(a) * math.Sqrt(s.want[a*p+a])
		for b := range a + 1 {
			v := s.want[a*p+b]
			if s.view.Centred() {
				v -= sums[a] / total * sums[b]
			}
			v *= s.view.Scale(a) * s.view.Scale(b)
			s.want[a*p+b], s.want[b*p+a] = v, v
		}
	}
}

// act performs a random operation, and returns a description and any error.
func (s *sequence) act() (did string, err error) {
	weights := s.view.Weights()
	training := func(i int) bool { return weights == nil || weights[i] > 0 }
	switch s.r.Intn(32) {
	case 0:
		s.store.Clear()
		return "after all was dropped", nil
	case 1:
		d := s.weights(training)
		s.define(d)
		s.store.Reweigh(d)
		return "under other weights", nil
	case 2:
		d := s.weights(training)
		s.define(d)
		var rows []int32
		var theirs []float64
		for i, w := range d {
			if w > 0 {
				rows, theirs = append(rows, int32(i)), append(theirs, w)
			}
		}
		s.store.Subsample(rows, theirs)
		return "on other rows", nil
	case 3:
		s.store.Hold(s.some())
		return "after columns of no concern", nil
	case 4, 5, 6, 7:
		return "after products", s.multiply()
	default:
		s.hold(s.some())
		return "after more columns", nil
	}
}

// some returns distinct random columns: one, some or all.
func (s *sequence) some() []int32 {
	p := len(s.size)
	list := make([]int32, p)
	for k := range list {
		at := s.r.Intn(k + 1)
		list[k], list[at] = list[at], int32(k)
	}
	return list[:min(p, 1+s.r.Intn(int(s.r.Pick(1, 4, 20, 20, float64(p), 2*float64(p)))))]
}

// hold makes the matrix hold columns, and notes which paths that took.
func (s *sequence) hold(columns []int32) {
	g, before := s.gram, s.gram.Size()
	s.store.Hold(columns)
	if g.Size() < before {
		s.met["store emptied"]++
		before = g.Size()
	}
	listed, room := g.lists.listed, cap(g.lists.slots)
	if s.r.Intn(3) == 0 {
		g.lists.missedSavings = math.MaxFloat64 // makes the matrix list its columns
	}
	g.Hold(columns)
	note := func(path string, met bool) {
		if met {
			s.met[path]++
		}
	}
	lists := !g.columns.dense && g.lists.listed == g.Size()
	counted := 0
	for _, a := range g.counts.rows {
		if int(a) >= before {
			counted++
		}
	}
	switch {
	case g.Size() == before:
	case g.columns.dense:
		note("tiles", true)
		note("bands of tiles", g.Size()-before > tileBand)
	case lists:
		note("lists", true)
		note("lists in blocks", g.lists.entries > listBlock)
		note("lists moved", listed > 0 && cap(g.lists.slots) > room)
	case counted > 0:
		note("counts", true)
		note("counts beside lanes", counted < g.Size()-before)
		note("counts after lanes", len(g.counts.rows)-counted < before)
	default:
		note("lanes", true)
		for _, c := range g.lanes.chunks {
			note("lanes over long columns held", c.to <= before && c.spread)
		}
		note("lanes in blocks", g.blocks() > 1)
	}
}

// multiply compares products with the system of some columns, from the store and from the Gram matrix,
// with their definition.
func (s *sequence) multiply() error {
	list, ridge := s.some(), 0.25
	s.hold(list)
	v, got, p := make([]float64, len(list)), make([]float64, len(list)), len(s.size)
	products := s.r.Pick(1, 1e6)
	s.system.Reset(s.store, list, ridge)
	s.onGram.Reset(s.gram, list, ridge, products)
	for _, product := range []struct {
		by    string
		a     Operator
		times int
	}{{"columns", &s.system, 1 + s.r.Intn(30)}, {"matrix", &s.onGram, 2}} {
		for range product.times {
			for k := range v {
				v[k] = float64(s.r.Intn(5) - 2)
			}
			product.a.Apply(v, got)
		}
		for a, i := range list {
			want, size := 0.0, 0.0
			for b, j := range list {
				want += s.want[int(i)*p+int(j)] * v[b] / s.view.Total()
				size += s.size[i] * s.size[j] * math.Abs(v[b]) / s.view.Total()
			}
			if want += ridge * v[a]; math.Abs(got[a]-want) > 1e-12*(size+1) {
				return fmt.Errorf("products by the %s: entry %d of %d is %v, want %v", product.by, a, len(list), got[a], want)
			}
		}
	}
	if s.onGram.copied {
		s.met["products on a copy"]++
	} else {
		s.met["products in place"]++
	}
	return nil
}

// compare checks every entry of the matrix.
func (s *sequence) compare() error {
	g, p := s.gram, len(s.size)
	for a, i := range g.list {
		if g.Slot(i) != a {
			return fmt.Errorf("column %d is in slot %d and %d", i, a, g.Slot(i))
		}
		if square, want := s.store.Square(i), s.want[int(i)*p+int(i)]; math.Abs(square-want) > max(s.near, 1e-15)*s.size[i]*s.size[i] { // the store squares the norm
			return fmt.Errorf("‖X̃_%d‖² is %v, want %v", i, square, want)
		}
		row := g.Row(a)
		for b, j := range g.list {
			if want := s.want[int(i)*p+int(j)]; math.Abs(row[b]-want) > s.near*s.size[i]*s.size[j] {
				return fmt.Errorf("G[%d,%d] of columns %d and %d is %v, want %v", a, b, i, j, row[b], want)
			}
			if mirrored := g.Row(b)[a]; row[b] != mirrored {
				return fmt.Errorf("G[%d,%d] is %v, G[%d,%d] %v", a, b, row[b], b, a, mirrored)
			}
		}
	}
	return nil
}
