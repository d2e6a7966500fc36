package support_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// curvedColumns returns dense columns, from the third on far from 0, and weights, some of which are 0. A few rows,
// outliers in the last two columns, have nearly all of the weight.
func curvedColumns(t *testing.T, n, p int) (x [][]float64, weights []float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), uint64(p)))
	x, weights = make([][]float64, p), make([]float64, n)
	for i := range weights {
		weights[i] = max(0, rng.Float64()-0.2)
	}
	for j := range x {
		x[j] = make([]float64, n)
		for i := range x[j] {
			x[j][i] = rng.NormFloat64() + 50*float64(j/2)
		}
	}
	for i := 0; i < n; i += 97 {
		x[p-1][i], x[p-2][i] = x[p-1][i]+1000, x[p-2][i]-1000
		weights[i] += 1e9
	}
	return x, weights
}

// centredProducts returns Σw·(xₐ − x̄ₐ)·(x_b − x̄_b) over the rows listed, and x̄ₐ, in two passes.
func centredProducts(a, b, weights []float64, rows []int32, centred bool) (product, mean float64) {
	var sums [2]float64
	var total float64
	for _, i := range rows {
		w := weights[i]
		total, sums[0], sums[1] = total+w, sums[0]+w*a[i], sums[1]+w*b[i]
	}
	if !centred {
		sums = [2]float64{}
	}
	for _, i := range rows {
		product += weights[i] * (a[i] - sums[0]/total) * (b[i] - sums[1]/total)
	}
	return product, sums[0] / total
}

// TestTallGramIsOfWeightedCentredColumns checks the Gram matrix of weighted columns, centred and scaled or not, on
// all rows or some, whatever was held before. The store must have their means and norms, and every kernel set and any
// number of threads must give the same bits.
func TestTallGramIsOfWeightedCentredColumns(t *testing.T) {
	before := runtime.GOMAXPROCS(4)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	const p = 11
	for _, c := range []struct {
		n                      int
		centred, scaled, drawn bool
	}{{900, true, false, false}, {900, true, true, true}, {70_000, true, false, false}, {900, false, false, false}, {900, false, true, true}} {
		x, weights := curvedColumns(t, c.n, p)
		m, err := sparse.NewDense(c.n, p, slices.Concat(x...))
		if err != nil {
			t.Fatal(err)
		}
		own := make([]float64, c.n) // 0 where the weights of the loss are 0, otherwise 1
		rows, theirs := []int32(nil), []float64(nil)
		for i, w := range weights {
			if w > 0 {
				own[i] = 1
				if !c.drawn || i%3 == 0 {
					rows, theirs = append(rows, int32(i)), append(theirs, w)
				}
			}
		}
		var bits [][]float64
		for at, k := range append(kernels.Available(), kernels.Available()[0]) {
			view, err := sparse.NewView(k, m, own, c.centred)
			if err != nil {
				t.Fatal(err)
			}
			if c.scaled {
				view = view.Standardised()
			}
			if at == len(kernels.Available()) {
				view = view.With(team.NewThreads(4, nil).Team())
			}
			store := support.NewColumns(view)
			gram := support.NewGram(store)
			if c.drawn {
				store.Subsample(rows, theirs)
			} else {
				store.Reweigh(weights)
			}
			gram.Hold([]int32{7, 2, 9})
			gram.Hold([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
			bits = append(bits, nil)
			for a := range int32(p) {
				for b := range int32(p) {
					scale := view.Scale(int(a)) * view.Scale(int(b))
					want, mean := centredProducts(x[a], x[b], weights, rows, c.centred)
					square, _ := centredProducts(x[b], x[b], weights, rows, c.centred)
					own, _ := centredProducts(x[a], x[a], weights, rows, c.centred)
					got := gram.Row(gram.Slot(a))[gram.Slot(b)]
					bits[at] = append(bits[at], got)
					if tol := 1e-12 * math.Sqrt(square*own) * scale; math.Abs(got-want*scale) > tol {
						t.Fatalf("%+v: G[%d,%d] = %g, want %g", c, a, b, got, want*scale)
					}
					if a == b && (store.Square(a) != got || math.Abs(store.Centre(a)-mean*view.Scale(int(a))) > 1e-12*math.Sqrt(1+mean*mean)*view.Scale(int(a))) {
						t.Fatalf("%+v: column %d has the mean %g and the norm %g, want %g and %g", c, a, store.Centre(a), store.Square(a), mean*view.Scale(int(a)), got)
					}
				}
			}
			if !slices.Equal(bits[at], bits[0]) {
				t.Errorf("%+v: %s has other bits, or threads have", c, k.Name)
			}
		}
	}
}
