package kernels_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

// grid has the first and other entries with which Anderson (TOMS 978) tests nrm2.
var grid = func() []float64 {
	const (
		small = 0x1p-1022 // the smallest normal number
		ulp   = 0x1p-52
	)
	return []float64{
		0, 2 * small, 0x1p-1000, ulp, 1, 1 / ulp, 0x1p1000, math.MaxFloat64 / 2,
		math.Inf(1), math.NaN(), math.Sqrt(small), math.Nextafter(math.Sqrt(small), 0),
	}
}()

func gridVector(n, position int, first, others float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = others
		if i%2 == 1 {
			x[i] = -others
		}
	}
	x[position] = first
	return x
}

// TestSpecialValuesInReductions puts every value of the grid into every lane,
// among every other value of the grid.
func TestSpecialValuesInReductions(t *testing.T) {
	lengths := []int{1, 2, 3, 5, 9, 33, 70}
	if raceEnabled {
		lengths = lengths[:5]
	}
	sets := everySet(t)
	for _, n := range lengths {
		rows := make([]int32, n)
		for i := range rows {
			rows[i] = int32(n - 1 - i)
		}
		for position := range n {
			for _, first := range grid {
				for _, others := range grid {
					x := gridVector(n, position, first, others)
					y := gridVector(n, n/2, others, first)
					all := func(k *kernels.Set) [5]float64 {
						return [...]float64{k.Nrm2(x), k.Asum(x), k.MaxAbs(x), k.Dot(x, y), k.DotIndexed(x, rows, y)}
					}
					wants := all(reference)
					for _, k := range sets {
						for i, got := range all(k) {
							if !sameBits(got, wants[i]) {
								name := [...]string{"nrm2", "asum", "maxabs", "dot", "dotindexed"}[i]
								t.Fatalf("%s %s, n = %d, %v at %d among %v: %v, want %v", k.Name, name, n, first, position, others, got, wants[i])
							}
						}
					}
				}
			}
		}
	}
}

// TestNrm2OverTheWholeRange compares Nrm2 with √(first² + (n−1)·others²), computed by
// Hypot, whose squares neither overflow nor underflow.
func TestNrm2OverTheWholeRange(t *testing.T) {
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for _, n := range []int{1, 2, 10, 100, 9000} {
			for _, first := range grid {
				for _, others := range grid {
					if n == 1 {
						others = 0
					}
					got := k.Nrm2(gridVector(n, n-1, first, others))
					want := math.Hypot(first, math.Sqrt(float64(n-1))*others)
					if math.IsNaN(first) || math.IsNaN(others) {
						want = math.NaN() // Hypot returns Inf if the other argument is NaN
					}
					switch {
					case math.IsNaN(want) || math.IsInf(want, 0):
						if !sameBits(got, want) {
							t.Errorf("n = %d, %v among %v: %v, want %v", n, first, others, got, want)
						}
					case math.Abs(got-want) > 10*float64(n)*0x1p-52*want+5e-324:
						t.Errorf("n = %d, %v among %v: %v, want %v", n, first, others, got, want)
					}
				}
			}
		}
	})
}

// TestScalarFactors checks that there is no short cut for a = 0, that NaN propagates, and
// that zeros keep their sign.
func TestScalarFactors(t *testing.T) {
	factors := []float64{0, math.Copysign(0, -1), 1, math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, -3e-310}
	values := append([]float64{3, -3, 1e-310, -1e-310}, specials...)
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for _, a := range factors {
			for n := 1; n < 40; n++ {
				x, y, rows := make([]float64, n), make([]float64, n), make([]int32, n)
				for i := range x {
					x[i], y[i] = values[(i+n)%len(values)], values[i*n%len(values)]
					rows[i] = int32((i + 1) % n)
				}
				z := append([]float64(nil), x...)
				u, v := append([]float64(nil), y...), append([]float64(nil), y...)
				k.Axpy(a, x, u)
				k.AxpyIndexed(a, x, rows, v)
				k.Scal(a, z)
				for i := range x {
					if want := math.FMA(a, x[i], y[i]); !sameBits(u[i], want) {
						t.Fatalf("axpy: %v·%v + %v = %v, want %v", a, x[i], y[i], u[i], want)
					}
					if want := math.FMA(a, x[i], y[rows[i]]); !sameBits(v[rows[i]], want) {
						t.Fatalf("axpyindexed: %v·%v + %v = %v, want %v", a, x[i], y[rows[i]], v[rows[i]], want)
					}
					if want := a * x[i]; !sameBits(z[i], want) {
						t.Fatalf("scal: %v·%v = %v, want %v", a, x[i], z[i], want)
					}
				}
			}
		}
	})
}

// TestNaNIsNeverLost puts one NaN into each position of vectors of each length.
func TestNaNIsNeverLost(t *testing.T) {
	nans := []float64{math.NaN(), specials[7], specials[8]}
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for n := 1; n < 100; n++ {
			x, ones, rows := make([]float64, n), make([]float64, n), make([]int32, n)
			for i := range ones {
				ones[i], rows[i] = 1, int32(i)
			}
			for i := range x {
				x[i] = nans[i%3]
				for name, v := range map[string]float64{
					"dot": k.Dot(x, ones), "dot y": k.Dot(ones, x), "nrm2": k.Nrm2(x), "asum": k.Asum(x), "maxabs": k.MaxAbs(x),
					"dotindexed": k.DotIndexed(x, rows, ones), "dotindexed y": k.DotIndexed(ones, rows, x),
				} {
					if !math.IsNaN(v) {
						t.Fatalf("%s: NaN at %d of %d is lost: %v", name, i, n, v)
					}
				}
				x[i] = 2
			}
		}
	})
}

// TestSumsAreNeverNegativeZero checks that sums are +0 even if all products underflow to
// −0, which makes the padding of tails harmless.
func TestSumsAreNeverNegativeZero(t *testing.T) {
	tiny := math.SmallestNonzeroFloat64
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for n := range 70 {
			x, y, rows := make([]float64, n), make([]float64, n), make([]int32, n)
			for i := range x {
				x[i], y[i], rows[i] = -tiny, tiny, int32(i)
			}
			if d := k.Dot(x, y); math.Float64bits(d) != 0 {
				t.Errorf("n = %d: Dot = %v", n, d)
			}
			if d := k.DotIndexed(x, rows, y); math.Float64bits(d) != 0 {
				t.Errorf("n = %d: DotIndexed = %v", n, d)
			}
		}
	})
}

func TestEmptyOperands(t *testing.T) {
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		k.Axpy(math.NaN(), nil, nil)
		k.Scal(math.NaN(), nil)
		k.AxpyIndexed(1, nil, nil, nil)
		k.DotColumns([]int64{0}, nil, nil, nil, nil)
		k.Epoch(&kernels.Epoch{})
		for _, v := range []float64{k.Dot(nil, nil), k.Nrm2(nil), k.Asum(nil), k.MaxAbs(nil), k.DotIndexed(nil, nil, nil)} {
			if math.Float64bits(v) != 0 {
				t.Errorf("the sum of nothing is %v", v)
			}
		}
		out := []float64{math.NaN(), math.NaN()}
		k.DotColumns([]int64{0, 0, 0}, nil, nil, nil, out)
		if out[0] != 0 || out[1] != 0 {
			t.Errorf("empty columns: %v", out)
		}
	})
}
