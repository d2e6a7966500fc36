package loss

import (
	"math"
	"math/big"
	"testing"
)

// TestEntropyToTheLastDigits: (1 + x)ln(1 + x) − x = Σ (−x)ᵏ/(k(k − 1)) from k = 2 on, with 200 bits, wherever the series
// of the atanh stands for it.
func TestEntropyToTheLastDigits(t *testing.T) {
	for _, x := range []float64{-0.25, -0.2, -0.1, -1e-3, 1e-9, 1e-3, 0.1, 0.2, 0.25} {
		sum, power := new(big.Float).SetPrec(200), new(big.Float).SetPrec(200).SetFloat64(-x)
		minus := new(big.Float).SetPrec(200).SetFloat64(-x)
		for k := int64(2); k < 200; k++ {
			power.Mul(power, minus)
			sum.Add(sum, new(big.Float).SetPrec(200).Quo(power, new(big.Float).SetInt64(k*(k-1))))
		}
		want, _ := sum.Float64()
		if got := entropy(x); math.Abs(got-want) > 4e-16*want {
			t.Errorf("at %g: %.17g, want %.17g", x, got, want)
		}
	}
}
