package loss

import (
	"math"
	"math/big"
	"testing"
)

// series returns Σ xᵏ/term(k) for k = 2, 3, …, computed with 200 bits.
func series(x float64, term func(k int64) *big.Float) float64 {
	float := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	sum, power := float(0), float(x)
	for k := int64(2); k < 200; k++ {
		power.Mul(power, float(x))
		sum.Add(sum, float(0).Quo(power, term(k)))
	}
	value, _ := sum.Float64()
	return value
}

var nearZero = []float64{-0.25, -0.2, -0.1, -1e-3, 1e-9, 1e-3, 0.1, 0.2, 0.25}

// TestEntropyToTheLastDigits checks (1 + x)ln(1 + x) − x = Σ (−x)ᵏ/(k(k − 1)) wherever the implementation uses the
// series of atanh.
func TestEntropyToTheLastDigits(t *testing.T) {
	for _, x := range nearZero {
		want := series(-x, func(k int64) *big.Float { return new(big.Float).SetInt64(k * (k - 1)) })
		if got := entropy(x); math.Abs(got-want) > 4e-16*want {
			t.Errorf("at %g: %.17g, want %.17g", x, got, want)
		}
	}
}

// TestExcessToTheLastDigits checks e^x − 1 − x = Σ xᵏ/k!.
func TestExcessToTheLastDigits(t *testing.T) {
	for _, x := range nearZero {
		want := series(x, func(k int64) *big.Float { return new(big.Float).SetInt(new(big.Int).MulRange(1, k)) })
		if got := half(x) * scaledExpExcess(x); math.Abs(got-want) > 4e-16*want {
			t.Errorf("at %g: %.17g, want %.17g", x, got, want)
		}
	}
}
