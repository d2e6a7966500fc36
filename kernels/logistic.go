package kernels

import "math"

// (ln((1+s)/(1−s))/s − 2)/z = log1p0 + log1p1·z + … with z = s² ≤ 1/9, as in
// explog.go.
const (
	log1p0  = 0x1.5555555555555p-1
	log1p1  = 0x1.9999999999944p-2
	log1p2  = 0x1.2492492499d46p-2
	log1p3  = 0x1.c71c71bedea96p-3
	log1p4  = 0x1.745d19937b226p-3
	log1p5  = 0x1.3b13515f6f3f8p-3
	log1p6  = 0x1.111abdc8b4087p-3
	log1p7  = 0x1.e0a2d580cfa89p-4
	log1p8  = 0x1.bc37f01b0340bp-4
	log1p9  = 0x1.32e0d23d6c05cp-4
	log1p10 = 0x1.401d3e8364d62p-3
)

// Log1pExp returns ln(1 + e^x) with an error of at most 2 ulp and the same bits
// on every architecture; nothing overflows on the way.
//
// ln(1 + e^x) = max(x, 0) + ln(1+f) with f = e^−|x| ≤ 1, and
// ln(1+f) = f − s·(f − z·P(z)), s = f/(2+f) ≤ 1/3, z = s².
func Log1pExp(x float64) float64 {
	f := Exp(-math.Abs(x))
	s := f / (2 + f)
	z := float64(s * s)
	z2 := float64(z * z)
	z4 := float64(z2 * z2)
	p01 := math.FMA(log1p1, z, log1p0) // P(z) in pairs, as in Exp
	p23 := math.FMA(log1p3, z, log1p2)
	p45 := math.FMA(log1p5, z, log1p4)
	p67 := math.FMA(log1p7, z, log1p6)
	p89 := math.FMA(log1p9, z, log1p8)
	p0 := math.FMA(p23, z2, p01)
	p4 := math.FMA(p67, z2, p45)
	p8 := math.FMA(log1p10, z2, p89)
	p := math.FMA(math.FMA(p8, z4, p4), z4, p0)
	return max(x, 0) + math.FMA(-s, math.FMA(-z, p, f), f)
}

// Sigmoid returns 1/(1 + e^−x) with an error of at most 2 ulp and the same bits
// on every architecture. Sigmoid(−x) is 1 − Sigmoid(x) without the cancellation.
//
// It is 1/(1+f) or f/(1+f) with f = e^−|x| ≤ 1. One step of refinement takes out
// the errors of the quotient and of the sum 1 + f.
func Sigmoid(x float64) float64 {
	f := Exp(-math.Abs(x))
	numerator := 1.0
	if x < 0 {
		numerator = f
	}
	sum := 1 + f
	rest := (1 - sum) + f // what rounding the sum left behind
	inverse := 1 / sum
	s := float64(numerator * inverse)
	return math.FMA(math.FMA(-s, rest, math.FMA(-s, sum, numerator)), inverse, s)
}
