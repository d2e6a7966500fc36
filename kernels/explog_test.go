package kernels_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

// bigExp returns e^x to about 200 bits, by halving the argument, a Taylor series, and
// squaring.
func bigExp(x float64) *big.Float {
	const prec, halvings = 320, 40
	r := new(big.Float).SetPrec(prec).SetFloat64(x)
	r.SetMantExp(r, -halvings)
	sum := new(big.Float).SetPrec(prec).SetInt64(1)
	term := new(big.Float).SetPrec(prec).SetInt64(1)
	for i := int64(1); i < 24; i++ {
		term.Mul(term, r)
		term.Quo(term, new(big.Float).SetInt64(i))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// ulps returns |got − want| in units of the last place of want.
func ulps(got float64, want *big.Float) float64 {
	near, _ := want.Float64()
	exponent := max(math.Ilogb(near), -1022) - 52
	d := new(big.Float).SetPrec(320).SetFloat64(got)
	d.Sub(d, want)
	d.SetMantExp(d, -exponent)
	u, _ := d.Float64()
	return math.Abs(u)
}

func TestExpIsWithinOneUlp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	n := 3000
	if *long {
		n = 200_000
	}
	worst, at := 0.0, 0.0
	for range n {
		var x float64
		switch rng.IntN(4) {
		case 0:
			x = -708.39 + 1418*rng.Float64()
		case 1:
			x = rng.NormFloat64()
		case 2:
			x = math.Ldexp(rng.NormFloat64(), -rng.IntN(60))
		case 3: // around the ends of the reduced interval
			x = (float64(rng.IntN(2000)-1000) + 0.5) * math.Ln2 * (1 + 1e-15*rng.NormFloat64())
		}
		if x < -708.39 || x > 709.7 {
			continue
		}
		if u := ulps(kernels.Exp(x), bigExp(x)); u > worst {
			worst, at = u, x
		}
	}
	t.Logf("worst error %.3f ulp at x = %v", worst, at)
	if worst > 1 {
		t.Errorf("Exp(%v) is %.3f ulp off", at, worst)
	}
}

func TestLogIsWithinOneUlp(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	n := 3000
	if *long {
		n = 200_000
	}
	worst, at := 0.0, 0.0
	for range n {
		var x float64
		switch rng.IntN(3) {
		case 0:
			x = math.Float64frombits(rng.Uint64N(0x7ff << 52))
		case 1:
			x = 1 + math.Ldexp(rng.NormFloat64(), -rng.IntN(50))
		case 2:
			x = math.Ldexp(math.Sqrt2*(1+1e-15*rng.NormFloat64()), rng.IntN(20)-10)
		}
		if x <= 0 || x == 1 {
			continue
		}
		got := kernels.Log(x)
		// One Newton step on e^w = x in high precision: w = got + x·e^−got − 1 − ½(…)²
		e := bigExp(-got)
		e.Mul(e, new(big.Float).SetPrec(320).SetFloat64(x))
		e.Sub(e, big.NewFloat(1).SetPrec(320))
		sq := new(big.Float).SetPrec(320).Mul(e, e)
		e.Sub(e, sq.Mul(sq, big.NewFloat(0.5)))
		want := new(big.Float).SetPrec(320).SetFloat64(got)
		want.Add(want, e)
		if u := ulps(got, want); u > worst {
			worst, at = u, x
		}
	}
	t.Logf("worst error %.3f ulp at x = %v", worst, at)
	if worst > 1 {
		t.Errorf("Log(%v) is %.3f ulp off", at, worst)
	}
}

func TestExpLogSpecialValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct{ x, exp, log float64 }{
		{0, 1, -inf},
		{math.Copysign(0, -1), 1, -inf},
		{1, math.E, 0},
		{inf, inf, inf},
		{-inf, 0, nan},
		{nan, nan, nan},
		{-1e300, 0, nan},
		{1e300, inf, math.Log(1e300)},
		{-0x1.6232bdd7abcd2p+9, 0x1p-1022 * (1 + 0x1.fp-46), nan}, // the least x with a normal exponential
		{-0x1.6232bdd7abcd3p+9, 0, nan},
		{-745, 0, nan},
		{709.782712893384, math.Exp(709.782712893384), math.Log(709.782712893384)},
		{709.7827128933841, inf, math.Log(709.7827128933841)},
		{math.SmallestNonzeroFloat64, 1, -1074 * math.Ln2},
	} {
		same := func(got, want float64) bool {
			return got == want || math.IsNaN(got) && math.IsNaN(want) ||
				math.Abs(got-want) <= 1.2e-16*math.Abs(want)*2
		}
		if got := kernels.Exp(c.x); !same(got, c.exp) {
			t.Errorf("Exp(%v) = %v, want %v", c.x, got, c.exp)
		}
		if got := kernels.Log(c.x); !same(got, c.log) {
			t.Errorf("Log(%v) = %v, want %v", c.x, got, c.log)
		}
	}
}

func BenchmarkScalarExp(b *testing.B)     { benchmarkScalar(b, kernels.Exp) }
func BenchmarkScalarExpMath(b *testing.B) { benchmarkScalar(b, math.Exp) }
func BenchmarkScalarLog(b *testing.B)     { benchmarkScalar(b, kernels.Log) }
func BenchmarkScalarLogMath(b *testing.B) { benchmarkScalar(b, math.Log) }

func benchmarkScalar(b *testing.B, f func(float64) float64) {
	var sum float64
	for i := range b.N {
		sum += f(float64(i&1023) * 0.01)
	}
	sink = sum
}

var sink float64
