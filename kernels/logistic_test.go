package kernels_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

// bigLog1p returns ln(1+f) for 0 < f ≤ 1 by the series of artanh.
func bigLog1p(f *big.Float) *big.Float {
	number := func() *big.Float { return new(big.Float).SetPrec(320) }
	s := number().Quo(f, number().Add(f, big.NewFloat(2)))
	z := number().Mul(s, s)
	sum, power := number(), number().Set(s)
	for i := int64(1); i < 150; i += 2 {
		sum.Add(sum, number().Quo(power, number().SetInt64(i)))
		power.Mul(power, z)
	}
	return sum.Mul(sum, big.NewFloat(2))
}

func margins(n int) []float64 {
	rng := rand.New(rand.NewPCG(9, 9))
	x := []float64{0, 36, -36, 40, -40, 709, -709, 710, -710, -708.39, 1e3, 1e300, 1e-17, -1e-17, 0x1p-1074}
	for len(x) < n {
		switch rng.IntN(3) {
		case 0:
			x = append(x, 10*rng.NormFloat64())
		case 1:
			x = append(x, 1490*rng.Float64()-745)
		case 2:
			x = append(x, math.Ldexp(rng.NormFloat64(), -rng.IntN(60)))
		}
	}
	return x
}

func TestLogisticFunctionsAreWithinTwoUlps(t *testing.T) {
	n := 800
	if *long {
		n = 50_000
	}
	number := func() *big.Float { return new(big.Float).SetPrec(320) }
	worstLog, worstSigmoid, worstBell := 0.0, 0.0, 0.0
	for _, x := range margins(n) {
		if math.Abs(x) > 708.39 { // see TestNothingIsSubnormal
			continue
		}
		e := bigExp(-math.Abs(x))
		softplus := bigLog1p(e)
		softplus.Add(softplus, number().SetFloat64(max(x, 0)))
		sigmoid := number().SetInt64(1)
		if x < 0 {
			sigmoid.Set(e)
		}
		sigmoid.Quo(sigmoid, number().Add(e, big.NewFloat(1)))
		worstLog = max(worstLog, ulps(kernels.Log1pExp(x), softplus))
		bell := number().Quo(e, number().Mul(number().Add(e, big.NewFloat(1)), number().Add(e, big.NewFloat(1))))
		worstBell = max(worstBell, ulps(kernels.Bell(x), bell))
		worstSigmoid = max(worstSigmoid, ulps(kernels.Sigmoid(x), sigmoid))
	}
	t.Logf("worst errors: Log1pExp %.3f ulp, Sigmoid %.3f ulp, Bell %.3f ulp", worstLog, worstSigmoid, worstBell)
	if worstLog > 2 || worstSigmoid > 2 || worstBell > 4 {
		t.Errorf("Log1pExp is %.3f ulp off, Sigmoid %.3f, Bell %.3f", worstLog, worstSigmoid, worstBell)
	}
}

func TestLogisticSpecialValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct{ x, softplus, sigmoid float64 }{
		{0, math.Ln2, 0.5},
		{math.Copysign(0, -1), math.Ln2, 0.5},
		{inf, inf, 1},
		{-inf, 0, 0},
		{1e300, 1e300, 1},
		{-1e300, 0, 0},
		{-1000, 0, 0},
		{nan, nan, nan},
	} {
		if got := kernels.Log1pExp(c.x); !sameBits(got, c.softplus) {
			t.Errorf("Log1pExp(%v) = %v, want %v", c.x, got, c.softplus)
		}
		if got := kernels.Sigmoid(c.x); !sameBits(got, c.sigmoid) {
			t.Errorf("Sigmoid(%v) = %v, want %v", c.x, got, c.sigmoid)
		}
	}
}

// TestNothingIsSubnormal checks the functions where e^x falls below the smallest normal
// number, and beyond that: results must be 0, never subnormal.
func TestNothingIsSubnormal(t *testing.T) {
	const (
		least  = -0x1.6232bdd7abcd2p+9 // the first number with a normal exponential, −708.3964185322641
		normal = 0x1p-1022
	)
	inf, nan := math.Inf(1), math.NaN()
	edges := []struct{ x, want float64 }{
		{-708.3, 2.450295530965988e-308},
		{least, normal * (1 + 0x1.fp-46)},
		{math.Nextafter(least, -inf), 0},
		{-708.4, 0},
		{-710, 0},
		{-745, 0},
		{-746, 0},
		{-1e308, 0},
		{-inf, 0},
		{nan, nan},
	}
	sweep := make([]float64, 4096)
	for i := range sweep {
		sweep[i] = -700 - 0.0125*float64(i)
	}
	got := make([]float64, len(sweep))
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for _, f := range []struct {
			name   string
			vector func(dst, x []float64)
			other  func(x float64) float64 // at −x
		}{
			{"exp", k.Exp, kernels.Exp},
			{"log1pexp", k.Log1pExp, func(x float64) float64 { return x }},
			{"sigmoid", k.Sigmoid, func(float64) float64 { return 1 }},
			{"bell", k.Bell, func(x float64) float64 { return kernels.Bell(-x) }},
		} {
			for _, c := range edges {
				x := []float64{c.x, -c.x, c.x, c.x, -c.x, c.x, c.x, -c.x, c.x} // whole vectors and tails
				f.vector(got[:len(x)], x)
				for i, v := range x {
					want := c.want
					if v > 0 {
						want = f.other(v)
					}
					if !sameBits(got[i], want) && !(math.Abs(got[i]-want) <= 2.3e-16*want) {
						t.Errorf("%s(%v) is %v, want %v", f.name, v, got[i], want)
					}
				}
			}
			f.vector(got, sweep)
			for i, v := range got {
				if (v >= normal) != (sweep[i] >= least) || v < normal && !sameBits(v, 0) {
					t.Fatalf("%s(%v) is %v", f.name, sweep[i], v)
				}
			}
		}
	})
}

// TestVectorFunctionsHaveTheBitsOfTheScalarOnes covers the whole range, and densely the
// points where a function takes another path.
func TestVectorFunctionsHaveTheBitsOfTheScalarOnes(t *testing.T) {
	x := margins(20000)
	for _, centre := range []float64{0, 709.782712893384, 710, -708.3964185322641, -745.1332191019411, -745.14, -746, 709.79, math.Ln2 / 2, -math.Ln2 / 2, 36.7, 37.5} {
		for _, c := range []float64{centre, -centre} {
			for step := -40.0; step <= 40; step++ {
				x = append(x, c+step*1e-15*max(1, math.Abs(c)), c+step*0.01)
			}
		}
	}
	for k := -1080; k <= 1030; k++ {
		x = append(x, float64(k)*math.Ln2, (float64(k)+0.5)*math.Ln2)
	}
	for k := -1080; k <= 1024; k++ { // where the logarithm's k changes, and its argument is 1 and √½
		one, root := math.Ldexp(1, k), math.Ldexp(math.Sqrt2, k)
		x = append(x, one, math.Nextafter(one, 0), -one, root, math.Nextafter(root, 0), math.Nextafter(root, 4*root))
	}
	x = append(x, specials...)
	got := make([]float64, len(x))
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for _, f := range []struct {
			name   string
			vector func(dst, x []float64)
			scalar func(float64) float64
		}{
			{"exp", k.Exp, kernels.Exp},
			{"log", k.Log, kernels.Log},
			{"log1pexp", k.Log1pExp, kernels.Log1pExp},
			{"sigmoid", k.Sigmoid, kernels.Sigmoid},
			{"bell", k.Bell, kernels.Bell},
		} {
			f.vector(got, x)
			for i, v := range x {
				if want := f.scalar(v); !sameBits(got[i], want) {
					t.Fatalf("%s(%v) = %x, want %x", f.name, v, got[i], want)
				}
			}
			inPlace := append([]float64(nil), x...)
			f.vector(inPlace, inPlace)
			compare(t, f.name+" in place", inPlace, got)
		}
	})
}

func BenchmarkExp(b *testing.B) {
	benchmarkElementwise(b, func(k *kernels.Set) func(dst, x []float64) { return k.Exp }, math.Exp)
}

func BenchmarkLog(b *testing.B) {
	benchmarkElementwise(b, func(k *kernels.Set) func(dst, x []float64) { return k.Log }, math.Log)
}

func BenchmarkLog1pExp(b *testing.B) {
	benchmarkElementwise(b, func(k *kernels.Set) func(dst, x []float64) { return k.Log1pExp },
		func(x float64) float64 { return math.Log1p(math.Exp(x)) })
}

func BenchmarkSigmoid(b *testing.B) {
	benchmarkElementwise(b, func(k *kernels.Set) func(dst, x []float64) { return k.Sigmoid },
		func(x float64) float64 { return 1 / (1 + math.Exp(-x)) })
}

func BenchmarkBell(b *testing.B) {
	benchmarkElementwise(b, func(k *kernels.Set) func(dst, x []float64) { return k.Bell },
		func(x float64) float64 { return 1 / (1 + math.Exp(-x)) / (1 + math.Exp(x)) })
}

func BenchmarkDivergence(b *testing.B) {
	y := make([]float64, 1024)
	for i := range y {
		y[i] = float64(1 - 2*(i*7%3/2))
	}
	benchmarkElementwise(b, func(k *kernels.Set) func(dst, x []float64) {
		return func(dst, x []float64) { k.Divergence(dst, y, x, x, 0.01, [2]float64{-4, -5}, [2]float64{-0.01, -0.02}) }
	}, func(x float64) float64 { return math.Log1p(math.Exp(-4 - x)) })
}

// BenchmarkFarOut measures the functions where e^x, its square or its fourth power would be
// subnormal or 0, and where they are normal.
func BenchmarkFarOut(b *testing.B) {
	x, dst := make([]float64, 1024), make([]float64, 1024)
	for _, k := range kernels.Available() {
		for i, of := range []func(dst, x []float64){k.Exp, k.Log1pExp, k.Sigmoid} {
			name := []string{"Exp", "Log1pExp", "Sigmoid"}[i]
			for _, at := range []float64{-1, -180, -360, -720, -1e6, 720} {
				b.Run(fmt.Sprintf("set=%s/%s/x=%g", k.Name, name, at), func(b *testing.B) {
					for i := range x {
						x[i] = at + float64(i)*0.001
					}
					for b.Loop() {
						of(dst, x)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/element")
				})
			}
		}
	}
}

func benchmarkElementwise(b *testing.B, of func(k *kernels.Set) func(dst, x []float64), std func(float64) float64) {
	x, dst := make([]float64, 1024), make([]float64, 1024)
	for i := range x {
		x[i] = float64(i-512) * 0.02
	}
	run := func(name string, f func(dst, x []float64)) {
		b.Run("set="+name+"/n=1024", func(b *testing.B) {
			b.SetBytes(16 * 1024)
			for b.Loop() {
				f(dst, x)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/element")
		})
	}
	run("math", func(dst, x []float64) {
		for i, v := range x {
			dst[i] = std(v)
		}
	})
	for _, k := range kernels.Available() {
		run(k.Name, of(k))
	}
}
