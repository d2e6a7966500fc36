package support_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

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

// TestDenseGramHasTheBitsOfDot, whatever the number of columns held at once and
// before, and it is symmetric.
func TestDenseGramHasTheBitsOfDot(t *testing.T) {
	const n, p = 37, 23
	for _, k := range kernels.Available() {
		columns, list := denseColumns(t, k, n, p)
		for before := range 10 {
			gram := support.NewGram(columns)
			var held []int32
			for j := range before {
				held = append(held, int32(p-1-j))
			}
			columns.Hold(held)
			gram.Hold(held)
			for j := range p - before {
				held = append(held, int32(j))
			}
			columns.Hold(held)
			gram.Hold(held)
			for a, i := range held {
				for b, j := range held {
					want := k.Dot(list[i], list[j])
					if got := gram.Row(a)[b]; math.Float64bits(got) != math.Float64bits(want) {
						t.Fatalf("%s, %d before: G[%d,%d] = %v, want %v", k.Name, before, a, b, got, want)
					}
				}
			}
		}
	}
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
				b.Run(fmt.Sprintf("%s/%s/n=%d", name, k.Name, c.n), func(b *testing.B) {
					for b.Loop() {
						run()
					}
				})
			}
		}
	}
}
