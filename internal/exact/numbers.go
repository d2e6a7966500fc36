// Package exact is the oracle for problems on which floating point fails: it computes the solution of an inner
// problem, its implicit system and the hypergradient to about a hundred digits, by an active-set Newton method
// in big floats. It is written from the formulas and shares no code with the library; its input are the
// problems of package oracle.
//
// The intercept is a column of ones, standardised columns are formed explicitly, and the whole system is
// factorised: nothing is eliminated, cached or approximated.
package exact

import "math/big"

// precision is the precision of all numbers, in bits.
const precision = 384

// Number is a number of that precision.
type Number = big.Float

func zero() *Number { return new(Number).SetPrec(precision) }

// of returns v, exactly.
func of(v float64) *Number { return zero().SetFloat64(v) }

func vector(n int) []*Number {
	v := make([]*Number, n)
	for i := range v {
		v[i] = zero()
	}
	return v
}

func dot(a, b []*Number) *Number {
	sum, t := zero(), zero()
	for i, v := range a {
		sum.Add(sum, t.Mul(v, b[i]))
	}
	return sum
}

// axpy adds t·x to y.
func axpy(t *Number, x, y []*Number) {
	product := zero()
	for i, v := range x {
		y[i].Add(y[i], product.Mul(t, v))
	}
}

// below reports whether |a| ≤ 2^−bits·|b|.
func below(a, b *Number, bits int) bool {
	limit := zero().Abs(b)
	limit.SetMantExp(limit, -bits)
	return zero().Abs(a).Cmp(limit) <= 0
}

func float(v *Number) float64 {
	f, _ := v.Float64()
	return f
}

func floats(v []*Number) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float(x)
	}
	return out
}

const (
	halvings = 24 // of the argument of exp, once it is below 1
	terms    = 20 // of the series: the remainder is below 2^−480
)

// exp returns e^x: the series of x/2^k, squared k times.
func exp(x *Number) *Number {
	if x.Sign() == 0 {
		return of(1)
	}
	const guard = 64
	wide := func() *Number { return new(Number).SetPrec(precision + guard) }
	k := max(0, x.MantExp(nil)) + halvings
	small := wide().SetMantExp(wide().Set(x), -k)
	sum := wide().SetInt64(1)
	for t := terms; t > 0; t-- { // Horner: 1 + x/t·(…)
		sum.Mul(sum, small)
		sum.Quo(sum, wide().SetInt64(int64(t)))
		sum.Add(sum, wide().SetInt64(1))
	}
	for range k {
		sum.Mul(sum, sum)
	}
	return zero().Set(sum)
}

// sigmoid returns σ(m) and σ(−m).
func sigmoid(m *Number) (up, down *Number) {
	e := exp(zero().Neg(zero().Abs(m)))
	rest := zero().Add(of(1), e)
	small, large := zero().Quo(e, rest), zero().Quo(of(1), rest)
	if m.Sign() >= 0 {
		return large, small
	}
	return small, large
}
