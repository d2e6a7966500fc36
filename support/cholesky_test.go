package support_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/support"
)

// definite returns a random s × s matrix XᵀX/n + ridge·I with only its lower
// triangle set: the rest is NaN.
func definite(rng *rand.Rand, s int, ridge float64) []float64 {
	n := 2*s + 3
	x := make([]float64, n*s)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	a := make([]float64, s*s)
	for i := range s {
		for j := range s {
			a[i*s+j] = math.NaN()
			if j > i {
				continue
			}
			var sum oracle.Sum
			for r := range n {
				sum.AddProduct(x[r*s+i], x[r*s+j])
			}
			a[i*s+j] = sum.Value() / float64(n)
		}
		a[i*s+i] += ridge
	}
	return a
}

// TestCholeskyFactorises multiplies the factor out, on every set, for sizes that are multiples of a tile and for
// others. All sets must give the same bits.
func TestCholeskyFactorises(t *testing.T) {
	for _, s := range []int{1, 2, 5, 7, 8, 9, 12, 15, 16, 17, 23, 24, 25, 40, 67, 100} {
		rng := rand.New(rand.NewPCG(uint64(s), 1))
		a := definite(rng, s, 0.1)
		b := make([]float64, s)
		for i := range b {
			b[i] = rng.NormFloat64()
		}
		var first, firstX []float64
		for _, k := range kernels.Available() {
			l, x := slices.Clone(a), slices.Clone(b)
			if rows := support.Cholesky(k, l, s); rows != s {
				t.Fatalf("%s, s = %d: %d rows", k.Name, s, rows)
			}
			support.CholeskySolve(k, l, s, x)
			for i := range s {
				var ax oracle.Sum
				for j := range s {
					if l[i*s+j] != l[j*s+i] {
						t.Fatalf("%s, s = %d: the triangles differ at %d, %d", k.Name, s, i, j)
					}
					var sum oracle.Sum
					for c := range min(i, j) + 1 {
						sum.AddProduct(l[i*s+c], l[j*s+c])
					}
					want := a[max(i, j)*s+min(i, j)]
					if !(math.Abs(sum.Value()-want) < 1e-14*float64(s+3)) {
						t.Fatalf("%s, s = %d: (LLᵀ)[%d,%d] = %v, want %v", k.Name, s, i, j, sum.Value(), want)
					}
					ax.AddProduct(want, x[j])
				}
				if !(math.Abs(ax.Value()-b[i]) < 1e-12) {
					t.Fatalf("%s, s = %d: (Ax)[%d] = %v, want %v", k.Name, s, i, ax.Value(), b[i])
				}
			}
			if first == nil {
				first, firstX = l, x
			}
			if !slices.Equal(l, first) || !slices.Equal(x, firstX) {
				t.Fatalf("%s, s = %d: other bits than %s", k.Name, s, kernels.Available()[0].Name)
			}
		}
	}
}

// TestInverseDiagonal compares the diagonal of the inverse with solves for the columns of the identity, for sizes
// that are multiples of a tile and for others. All sets must give the same bits.
func TestInverseDiagonal(t *testing.T) {
	for _, s := range []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 40, 67} {
		a := definite(rand.New(rand.NewPCG(uint64(s), 2)), s, 0.01)
		var first []float64
		for _, k := range kernels.Available() {
			l, got, unit := slices.Clone(a), make([]float64, s), make([]float64, s)
			if rows := support.Cholesky(k, l, s); rows != s {
				t.Fatalf("%s, s = %d: %d rows", k.Name, s, rows)
			}
			support.InverseDiagonal(k, l, s, got, unit)
			for i := range s {
				clear(unit)
				unit[i] = 1
				support.CholeskySolve(k, l, s, unit)
				if math.Abs(got[i]-unit[i]) > 1e-11*unit[i] {
					t.Errorf("%s, s = %d: entry %d is %g, want %g", k.Name, s, i, got[i], unit[i])
				}
			}
			if first == nil {
				first = got
			} else if !slices.Equal(got, first) {
				t.Errorf("%s, s = %d: other bits", k.Name, s)
			}
		}
	}
}

// TestCholeskyStopsAtADependentRow checks that a factorisation stops at a row that depends on the rows before it,
// wherever in a tile it is, and at a NaN.
func TestCholeskyStopsAtADependentRow(t *testing.T) {
	const s = 19
	k := fixture.Kernels(t)
	for bad := 1; bad < s; bad++ {
		a := definite(rand.New(rand.NewPCG(uint64(bad), 2)), s, 0)
		for j := range bad { // row bad is a copy of the row before
			a[bad*s+j] = a[(bad-1)*s+j]
		}
		a[bad*s+bad] = a[(bad-1)*s+bad-1]
		for i := bad + 1; i < s; i++ {
			a[i*s+bad] = a[i*s+bad-1]
		}
		if rows := support.Cholesky(k, a, s); rows != bad {
			t.Errorf("row %d depends on the one before: %d rows done", bad, rows)
		}
	}
	a := definite(rand.New(rand.NewPCG(1, 2)), s, 0)
	a[5*s+5] = math.NaN()
	if rows := support.Cholesky(k, a, s); rows != 5 {
		t.Errorf("a NaN in row 5: %d rows done", rows)
	}
}

// dotByDot is the Cholesky factorisation with one dot product for every entry.
func dotByDot(k *kernels.Set, a []float64, s int) {
	for i := range s {
		row := a[i*s:][:i+1]
		for j := range i {
			other := a[j*s:][:j+1]
			row[j] = (row[j] - k.Dot(row[:j], other[:j])) / other[j]
		}
		row[i] = math.Sqrt(row[i] - k.Dot(row[:i], row[:i]))
	}
}

// BenchmarkCholesky measures, per set and size, factorisations by tiles and by dot products, and the solution of one
// system.
func BenchmarkCholesky(b *testing.B) {
	for _, s := range []int{8, 20, 50, 100, 200, 400, 512, 1000} {
		rng := rand.New(rand.NewPCG(1, 1))
		a := make([]float64, s*s)
		for i := range s {
			for j := range i {
				a[i*s+j] = rng.NormFloat64()
			}
			a[i*s+i] = float64(4 * s)
		}
		l, x := slices.Clone(a), make([]float64, s)
		for _, k := range kernels.Available()[1:] {
			for name, run := range map[string]func(){
				"tiles": func() { copy(l, a); support.Cholesky(k, l, s) },
				"dots":  func() { copy(l, a); dotByDot(k, l, s) },
			} {
				b.Run(fmt.Sprintf("%s/set=%s/s=%d", name, k.Name, s), func(b *testing.B) {
					for b.Loop() {
						run()
					}
				})
			}
			copy(l, a)
			support.Cholesky(k, l, s)
			b.Run(fmt.Sprintf("solve/set=%s/s=%d", k.Name, s), func(b *testing.B) {
				for b.Loop() {
					x[0] = 1
					support.CholeskySolve(k, l, s, x)
				}
			})
		}
	}
}

// TestForwardTiles multiplies the solutions by the factor, on every set, for sizes and numbers of columns that are
// multiples of a tile and for others. All sets must give the same bits.
func TestForwardTiles(t *testing.T) {
	for _, s := range []int{1, 7, 8, 9, 16, 21, 40} {
		for _, columns := range []int{1, 7, 8, 9, s} {
			rng := rand.New(rand.NewPCG(uint64(s), uint64(columns)))
			a := definite(rng, s, 0.1)
			var first []float64
			for _, k := range kernels.Available() {
				factor := slices.Clone(a)
				if rows := support.Cholesky(k, factor, s); rows != s {
					t.Fatalf("%s, s = %d: %d rows", k.Name, s, rows)
				}
				l, size := support.Padded(k, factor, s)
				if size%kernels.Lanes != 0 || size < s {
					t.Fatalf("s = %d: padded to %d", s, size)
				}
				columns := min(columns, size)
				b := make([]float64, size*size)
				random := rand.New(rand.NewPCG(3, uint64(s)))
				for i := range s {
					for c := range columns {
						b[i*size+c] = random.NormFloat64()
					}
				}
				x := slices.Clone(b)
				support.ForwardTiles(k, l, x, size, columns)
				for i := range size {
					for c := range columns {
						var sum oracle.Sum
						for j := range min(i+1, s) {
							if i < s {
								sum.AddProduct(factor[i*s+j], x[j*size+c])
							}
						}
						if got := sum.Value(); math.Abs(got-b[i*size+c]) > 1e-13*float64(s) {
							t.Errorf("%s, s = %d, %d columns: %g in row %d of column %d, want %g", k.Name, s, columns, got, i, c, b[i*size+c])
						}
					}
				}
				if first == nil {
					first = x
				}
				if !slices.Equal(x, first) {
					t.Errorf("%s, s = %d, %d columns: not the bits of others", k.Name, s, columns)
				}
			}
		}
	}
}
