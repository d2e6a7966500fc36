package support_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

func denseColumns(t testing.TB, k *kernels.Set, n, p int) (*support.Columns, [][]float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), uint64(p)))
	x := make([]float64, n*p)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	m, err := sparse.NewDense(n, p, x)
	if err != nil {
		t.Fatal(err)
	}
	view, err := sparse.NewView(k, m, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	list := make([][]float64, p)
	for j := range list {
		list[j] = x[j*n:][:n]
	}
	return support.NewColumns(view), list
}

// TestDenseGramAddsRowAfterRow checks that the entries of a dense Gram matrix are sums in
// the order of the rows, however many columns are held at once and before, and that the
// matrix is symmetric.
func TestDenseGramAddsRowAfterRow(t *testing.T) {
	for _, c := range []struct{ n, p, before int }{{37, 23, 10}, {256, 9, 9}, {1100, 23, 6}, {600, 150, 2}, {60, 300, 2}} {
		for _, k := range kernels.Available() {
			columns, list := denseColumns(t, k, c.n, c.p)
			want := make([]float64, c.p*c.p)
			for i := range c.p {
				for j := range c.p {
					for row, v := range list[i] {
						want[i*c.p+j] = math.FMA(v, list[j][row], want[i*c.p+j])
					}
				}
			}
			for before := range c.before {
				if !oracle.Turn(before, 1) {
					continue
				}
				gram := support.NewGram(columns)
				held := hold(columns, gram, nil, before, func(j int) int32 { return int32(c.p - 1 - j) })
				held = hold(columns, gram, held, c.p-before, func(j int) int32 { return int32(j) })
				for a, i := range held {
					for b, j := range held {
						got, want := gram.Row(a)[b], want[int(i)*c.p+int(j)]
						if math.Float64bits(got) != math.Float64bits(want) {
							t.Fatalf("%s, %d rows, %d before: G[%d,%d] = %v, want %v", k.Name, c.n, before, a, b, got, want)
						}
					}
				}
			}
		}
	}
}

// TestDenseGramTakesMemoryByNeed checks that the Gram matrix of a few short columns
// allocates little more than its entries.
func TestDenseGramTakesMemoryByNeed(t *testing.T) {
	const n, size = 40, 8
	columns, _ := denseColumns(t, kernels.Available()[0], n, size)
	gram := support.NewGram(columns)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	hold(columns, gram, nil, size, func(j int) int32 { return int32(j) })
	runtime.ReadMemStats(&after)
	// There is room for a stride of 136 and for copies of the columns: those of the store, and one interleaved by eights.
	if used, most := after.TotalAlloc-before.TotalAlloc, uint64(8*(136*136+8*n*size)); used > most {
		t.Errorf("%d bytes allocated for %d columns of %d rows, at most %d are needed", used, size, n, most)
	}
	runtime.KeepAlive(gram)
}

// hold makes a store and a Gram matrix hold n more columns besides those held.
func hold(columns *support.Columns, gram *support.Gram, held []int32, n int, column func(int) int32) []int32 {
	for j := range n {
		held = append(held, column(j))
	}
	columns.Hold(held)
	gram.Hold(held)
	return held
}

// TestSparseGramIsThatOfDenseColumns checks the Gram matrix of long and short sparse columns
// against that of the same columns stored densely, with one block of rows and with several,
// however many columns are added at once.
func TestSparseGramIsThatOfDenseColumns(t *testing.T) {
	const p = 8*18 + 1 // more than 16 chunks, which are processed together
	for _, n := range []int{300, 20_000} {
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		x := make([]float64, n*p)
		ptr, rows, values := []int64{0}, []int32(nil), []float64(nil)
		for j := range p {
			share := math.Pow(2, -float64(j)/12) // of rows with entries
			for i := range n {
				if rng.Float64() < share {
					x[j*n+i] = rng.NormFloat64()
					rows, values = append(rows, int32(i)), append(values, x[j*n+i])
				}
			}
			ptr = append(ptr, int64(len(rows)))
		}
		dense, err := sparse.NewDense(n, p, x)
		if err != nil {
			t.Fatal(err)
		}
		csc, err := sparse.NewCSC(n, p, ptr, rows, values)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range kernels.Available() {
			for _, centre := range []bool{false, true} {
				want := gramOf(t, k, dense, centre, []int{p})
				for _, batches := range [][]int{{p}, {24, p - 24}, {3, 13, 20, 1, 1, p - 38}} {
					gram := gramOf(t, k, csc, centre, batches)
					for i := range p {
						for j := range p {
							got, want := gram[i*p+j], want[i*p+j]
							if math.Abs(got-want) > 1e-12*float64(n) {
								t.Fatalf("%s, %d rows, centred %v: G[%d,%d] = %v, want %v", k.Name, n, centre, i, j, got, want)
							}
							if got != gram[j*p+i] {
								t.Fatalf("%s, %d rows, centred %v: G[%d,%d] = %v, but G[%d,%d] = %v", k.Name, n, centre, i, j, got, j, i, gram[j*p+i])
							}
						}
					}
				}
			}
		}
	}
}

// gramOf returns the Gram matrix of the columns, which are added in batches.
func gramOf(t *testing.T, k *kernels.Set, x sparse.Matrix, centre bool, batches []int) []float64 {
	t.Helper()
	view, err := sparse.NewView(k, x, nil, centre)
	if err != nil {
		t.Fatal(err)
	}
	_, p := x.Dims()
	columns := support.NewColumns(view)
	gram := support.NewGram(columns)
	var held []int32
	for _, more := range batches {
		held = hold(columns, gram, held, more, func(j int) int32 { return int32(len(held) + j) })
	}
	out := make([]float64, p*p)
	for a, i := range held {
		for b, j := range held {
			out[int(i)*p+int(j)] = gram.Row(a)[b]
		}
	}
	return out
}

func BenchmarkDenseGram(b *testing.B) {
	for _, c := range []struct{ n, p int }{{72, 200}, {3468, 200}} {
		for _, k := range kernels.Available()[1:] {
			columns, list := denseColumns(b, k, c.n, c.p)
			held := make([]int32, c.p)
			for j := range held {
				held[j] = int32(j)
			}
			columns.Hold(held)
			gram := support.NewGram(columns)
			g := make([]float64, c.p*c.p)
			for name, run := range map[string]func(){
				"tiles": func() { columns.Clear(); columns.Hold(held); gram.Hold(held) },
				"dots": func() {
					for i := range c.p {
						for j := range i + 1 {
							v := k.Dot(list[j], list[i])
							g[i*c.p+j], g[j*c.p+i] = v, v
						}
					}
				},
			} {
				b.Run(fmt.Sprintf("%s/set=%s/n=%d", name, k.Name, c.n), func(b *testing.B) {
					for b.Loop() {
						run()
					}
				})
			}
		}
	}
}

// TestGramSystemIsTheSystem checks that products and diagonal on the Gram matrix are those
// of System, in place and on a copy, for all columns that the matrix holds and for a few.
func TestGramSystemIsTheSystem(t *testing.T) {
	for seed := range uint64(6) {
		r := oracle.NewRandom(seed)
		const p = 90
		view := text(t, r, 120, p, seed%2 == 0)
		columns := support.NewColumns(view)
		gram := support.NewGram(columns)
		all := make([]int32, p)
		for k := range all {
			all[k] = int32(37 * k % p)
		}
		columns.Hold(all)
		gram.Hold(all)
		for _, size := range []int{1, 30, p} {
			list := slices.Sorted(slices.Values(all[:size]))
			var want support.System
			want.Reset(columns, list, 0.3)
			v, out, expected := make([]float64, size), make([]float64, size), make([]float64, size)
			for _, products := range []float64{0, 1e6} {
				var got support.GramSystem
				got.Reset(gram, list, 0.3, products)
				for range 2 {
					for k := range v {
						v[k] = r.Normal()
					}
					got.Apply(v, out)
					want.Apply(v, expected)
					for k := range out {
						if math.Abs(out[k]-expected[k]) > 1e-11*(1+math.Abs(expected[k])) {
							t.Fatalf("seed %d, %d columns, %g products: entry %d is %g, want %g", seed, size, products, k, out[k], expected[k])
						}
					}
				}
				got.Diagonal(out)
				want.Diagonal(expected)
				for k := range out {
					if math.Abs(out[k]-expected[k]) > 1e-12*expected[k] {
						t.Errorf("seed %d, %d columns, %g products: diagonal %d is %g, want %g", seed, size, products, k, out[k], expected[k])
					}
				}
			}
		}
	}
}
