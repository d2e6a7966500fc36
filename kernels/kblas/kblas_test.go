package kblas_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/blas/testblas"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/kernels/kblas"
)

// TestGonumsOwnTests runs gonum's tests of BLAS implementations on every set.
func TestGonumsOwnTests(t *testing.T) {
	for _, k := range kernels.Available() {
		b := kblas.New(k)
		for name, f := range map[string]func(t *testing.T){
			"ddot":   func(t *testing.T) { testblas.DdotTest(t, b) },
			"dnrm2":  func(t *testing.T) { testblas.Dnrm2Test(t, b) },
			"dasum":  func(t *testing.T) { testblas.DasumTest(t, b) },
			"idamax": func(t *testing.T) { testblas.IdamaxTest(t, b) },
			"daxpy":  func(t *testing.T) { testblas.DaxpyTest(t, b) },
			"dscal":  func(t *testing.T) { testblas.DscalTest(t, b) },
			"dgemv":  func(t *testing.T) { testblas.DgemvTest(t, b) },
			"dger":   func(t *testing.T) { testblas.DgerTest(t, b) },
			"dsymv":  func(t *testing.T) { testblas.DsymvTest(t, b) },
			"dsyr":   func(t *testing.T) { testblas.DsyrTest(t, b) },
			"dtrsv":  func(t *testing.T) { testblas.DtrsvTest(t, b) },
			"dtrmv":  func(t *testing.T) { testblas.DtrmvTest(t, b) },
			"dtxmv":  func(t *testing.T) { testblas.DtxmvTest(t, b) },
			"dgemm":  func(t *testing.T) { testblas.TestDgemm(t, b) },
		} {
			t.Run(k.Name+"/"+name, f)
		}
	}
}

func vector(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) < 1e-10*(1+math.Abs(want[i]))) {
			t.Fatalf("%s, element %d: %v, gonum has %v", what, i, got[i], want[i])
		}
	}
}

// TestAgreesWithGonum compares results with those of gonum on sizes beyond those of its
// tests, with every increment, triangle and transpose.
func TestAgreesWithGonum(t *testing.T) {
	k, err := kernels.Active()
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := kblas.New(k), gonum.Implementation{}
	for _, n := range []int{1, 2, 9, 33, 70} {
		for _, inc := range []int{1, 2, -1} {
			rng := rand.New(rand.NewPCG(uint64(n), 1))
			m, lda, size := n+3, n+5, 3*(n+3)
			a := vector(rng, (m-1)*lda+n)
			for i := range n { // makes systems with the triangles well conditioned
				a[i*lda+i] = 10 + float64(n)
			}
			x, y := vector(rng, size), vector(rng, size)
			try := func(what string, f func(b blas.Float64, a, x, y []float64)) {
				a1, x1, y1 := append([]float64(nil), a...), append([]float64(nil), x...), append([]float64(nil), y...)
				a2, x2, y2 := append([]float64(nil), a...), append([]float64(nil), x...), append([]float64(nil), y...)
				f(ours, a1, x1, y1)
				f(theirs, a2, x2, y2)
				what = fmt.Sprintf("%s, n = %d, increment %d", what, n, inc)
				near(t, what+": A", a1, a2)
				near(t, what+": x", x1, x2)
				near(t, what+": y", y1, y2)
			}
			for _, beta := range []float64{0, 1, -0.5} {
				for _, tr := range []blas.Transpose{blas.NoTrans, blas.Trans} {
					length := m
					if tr == blas.Trans {
						length = n
					}
					// Gonum without assembly clears all of the slice for beta = 0.
					length = 1 + (length-1)*max(inc, -inc)
					try("dgemv", func(b blas.Float64, a, x, y []float64) {
						b.Dgemv(tr, m, n, 1.5, a, lda, x, inc, beta, y[:length], inc)
					})
				}
			}
			try("dger", func(b blas.Float64, a, x, y []float64) { b.Dger(m, n, 1.5, x, inc, y, inc, a, lda) })
			for _, ul := range []blas.Uplo{blas.Upper, blas.Lower} {
				try("dsymv", func(b blas.Float64, a, x, y []float64) { b.Dsymv(ul, n, 1.5, a, lda, x, inc, -0.5, y, inc) })
				try("dsyr", func(b blas.Float64, a, x, _ []float64) { b.Dsyr(ul, n, 1.5, x, inc, a, lda) })
				for _, tr := range []blas.Transpose{blas.NoTrans, blas.Trans} {
					for _, d := range []blas.Diag{blas.Unit, blas.NonUnit} {
						try("dtrmv", func(b blas.Float64, a, x, _ []float64) { b.Dtrmv(ul, tr, d, n, a, lda, x, inc) })
						if d == blas.NonUnit {
							try("dtrsv", func(b blas.Float64, a, x, _ []float64) { b.Dtrsv(ul, tr, d, n, a, lda, x, inc) })
						}
					}
				}
			}
			try("idamax", func(b blas.Float64, _, x, y []float64) { y[0] = float64(b.Idamax(n, x, inc)) })
			try("daxpy", func(b blas.Float64, _, x, y []float64) { b.Daxpy(n, 0.5, x, inc, y, inc) })
		}
	}
}

// TestOverlapAndNaN checks operands that the kernels refuse and gonum accepts:
// overlapping vectors, and NaN in Idamax.
func TestOverlapAndNaN(t *testing.T) {
	k, err := kernels.Active()
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]kblas.BLAS{"kernels": kblas.New(k), "zero value": {}} {
		x := []float64{1, 1, 1, 1, 1}
		b.Daxpy(4, 1, x, 1, x[1:], 1)
		if i := b.Idamax(3, []float64{math.NaN(), 5, 7}, 1); i != 0 {
			t.Errorf("%s: Idamax with a leading NaN is %d", name, i)
		}
		if i := b.Idamax(3, []float64{5, math.NaN(), 7}, 1); i != 2 {
			t.Errorf("%s: Idamax past a NaN is %d", name, i)
		}
		if v := b.Ddot(3, []float64{1, 2, 3}, 1, []float64{4, 5, 6}, 1); v != 32 {
			t.Errorf("%s: Ddot is %v", name, v)
		}
	}
}
