package kernels

import "math"

// The coefficients below are Chebyshev interpolants computed with 90 digits;
// the truncation error is below 0.02 ulp. Only +, −, ×, ÷ and fused
// multiply–add are used, in one fixed order, so that the result has the same
// bits everywhere and the vector kernels can follow step by step.

const (
	log2e = 0x1.71547652b82fep+0
	ln2Hi = 0x1.62e42fefa3800p-1  // 42 bits, so that k·ln2Hi is exact for |k| < 2¹¹
	ln2Lo = 0x1.ef35793c76730p-45 // ln 2 − ln2Hi

	// Adding roundShift to a number rounds the number to an integer, which is in the low bits of the sum.
	roundShift = 0x1.8p52

	expOverflow = 709.79                // e^x is +Inf from here on
	expLeast    = -0x1.6232bdd7abcd2p+9 // below it e^x is below the smallest normal number
)

// (e^r − 1 − r)/r² = 1/2 + r·(exp0 + exp1·r + …) for |r| ≤ ln 2 / 2.
const (
	exp0 = 0x1.5555555555556p-3
	exp1 = 0x1.5555555555555p-5
	exp2 = 0x1.11111111109b4p-7
	exp3 = 0x1.6c16c16c167e2p-10
	exp4 = 0x1.a01a01a7c327ap-13
	exp5 = 0x1.a01a01a47a78fp-16
	exp6 = 0x1.71de0db21e27fp-19
	exp7 = 0x1.27e4e1f6a6779p-22
	exp8 = 0x1.af38a0d2d9620p-26
	exp9 = 0x1.1f66da6ee7eeap-29
)

// Exp returns e^x with an error of at most 1 ulp and the same bits on every
// architecture. It is 0 where e^x is below the smallest normal number, for x
// below −708.4: subnormal numbers take processors ten times as long.
//
// x = k·ln 2 + r with |r| ≤ ln 2 / 2, and e^x = 2^k·e^r.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > expOverflow:
		return math.Inf(1)
	case x < expLeast:
		return 0
	}
	shifted := math.FMA(x, log2e, roundShift)
	k := shifted - roundShift
	hi := math.FMA(-k, ln2Hi, x) // exact
	lo := float64(k * ln2Lo)
	r := hi - lo
	rest := (hi - r) - lo // the rounding error of r

	// q = 1/2 + exp0·r + … in pairs, so that few steps wait for one another.
	r2 := float64(r * r)
	r4 := float64(r2 * r2)
	q01 := math.FMA(exp0, r, 0.5)
	q23 := math.FMA(exp2, r, exp1)
	q45 := math.FMA(exp4, r, exp3)
	q67 := math.FMA(exp6, r, exp5)
	q89 := math.FMA(exp8, r, exp7)
	q0 := math.FMA(q23, r2, q01)
	q4 := math.FMA(q67, r2, q45)
	q8 := math.FMA(exp9, r2, q89)
	q := math.FMA(math.FMA(q8, r4, q4), r4, q0)
	a := 1 + r
	b := (1 - a) + r // the rounding error of a
	y := a + (math.FMA(r2, q, rest) + b)

	// 2^k in two factors, since 2^1024 is not a float64. Both products are exact.
	n := math.Float64bits(shifted) // ≡ k modulo 2¹²
	half := n >> 1
	return float64(y*pow2(half)) * pow2(n-half)
}

// pow2 returns 2^n, where n is given modulo 2¹², if that is a normal number.
func pow2(n uint64) float64 { return math.Float64frombits((n + 1023) << 52) }

// (ln((1+s)/(1−s))/s − 2)/z = log0 + log1·z + … with z = s² ≤ 0.02944.
const (
	log0 = 0x1.5555555555558p-1
	log1 = 0x1.99999999952c5p-2
	log2 = 0x1.2492492df4807p-2
	log3 = 0x1.c71c62e165bbbp-3
	log4 = 0x1.7462b5d61104fp-3
	log5 = 0x1.39fe3997bbbc7p-3
	log6 = 0x1.2b5a2a3d1b390p-3

	leastNormal = 0x1p-1022
	rootHalf    = 0x3fe6a09e667f3bcd // the bits of √½
)

// Log returns ln x with an error of at most 1 ulp and the same bits on every
// architecture. Log(0) is −Inf, the logarithm of a negative number is NaN.
//
// x = 2^k·(1+f) with √½ ≤ 1+f < √2, s = f/(2+f), and
// ln(1+f) = ln((1+s)/(1−s)) = f − (f²/2 − s·(f²/2 + z·P(z))), z = s².
func Log(x float64) float64 {
	switch {
	case x != x || x > math.MaxFloat64:
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	bits, below := math.Float64bits(x), 0.0
	if x < leastNormal {
		bits, below = math.Float64bits(x*(1<<54)), 54
	}
	exponent := int64(bits-rootHalf) >> 52
	k := float64(exponent) - below
	f := math.Float64frombits(bits-uint64(exponent)<<52) - 1
	s := f / (2 + f)
	z := float64(s * s)
	p := math.FMA(log6, z, log5)
	p = math.FMA(p, z, log4)
	p = math.FMA(p, z, log3)
	p = math.FMA(p, z, log2)
	p = math.FMA(p, z, log1)
	p = math.FMA(p, z, log0)
	half := float64(float64(0.5*f) * f)
	tail := math.FMA(s, math.FMA(p, z, half), float64(k*ln2Lo))
	return math.FMA(k, ln2Hi, f-(half-tail))
}
