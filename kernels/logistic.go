package kernels

import "math"

// The functions below reduce their arguments by tables of 16 entries, which two
// registers of AVX-512 hold, and avoid a division where they can. Coefficients
// are Chebyshev interpolants computed with 600 bits.

// powers are 2^(j/16), rounded: 2^(j/16) = powers[j]·e^remnants[j].
var powers = [16]float64{
	1, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
	0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
	0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f09p+0,
	0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0,
}

var remnants = [16]float64{
	0, 0x1.79aa65d837b6cp-54, -0x1.01b15eaa59348p-55, 0x1.68efde3a8a894p-54,
	0x1.34d754db0abb6p-55, 0x1.59f48a72a4c6dp-55, 0x1.690cebb7aafbp-56, 0x1.063e1e21c5409p-54,
	-0x1.3b3efbf5e2229p-54, -0x1.b32dcb94da51dp-56, 0x1.db72fc1f0eab4p-55, 0x1.1affc2b91ce27p-56,
	0x1.c1a7792cb3387p-55, 0x1.36eae30af0cb3p-56, 0x1.4a385a63d07a7p-56, -0x1.ff7128fd391f1p-55,
}

// (e^r − 1 − r)/r² = 1/2 + decay1·r + decay2·r² + … for |r| ≤ ln 2/32.
const (
	decayShift = 0x1.8p48 // adding it rounds to a multiple of 1/16
	negligible = 0x1p-60  // a smaller f does not change 1 + f, and its square may be subnormal

	decay1 = 0x1.5555555555556p-3
	decay2 = 0x1.55555554e90f2p-5
	decay3 = 0x1.11111110e0f1ep-7
	decay4 = 0x1.6c17ed998e52bp-10
	decay5 = 0x1.a01b0c731c4a3p-13
)

// inverses are numbers of 20 bits near 1/(1+f), for f within 1/30 of j/15. They are
// chosen so that their logarithms are within 0.001 ulp of a float64. logs are −ln inverses.
var inverses = [16]float64{
	1, 0x1.e0036p-1, 0x1.c39a2p-1, 0x1.aa25ap-1,
	0x1.93d76p-1, 0x1.80256p-1, 0x1.6d35ep-1, 0x1.5cd24p-1,
	0x1.4e598p-1, 0x1.3f8d4p-1, 0x1.33074p-1, 0x1.2706p-1,
	0x1.1c2e8p-1, 0x1.129a2p-1, 0x1.083e6p-1, 0x1.0014cp-1,
}

var logs = [16]float64{
	0, 0x1.083cbea70239ap-4, 0x1.011255a5122d2p-3, 0x1.77e3fe5cb99e6p-3,
	0x1.e5feeb24a0e94p-3, 0x1.26327b4200bb9p-2, 0x1.59f593b641593p-2, 0x1.88f9aa767226cp-2,
	0x1.b45d5fd4f5763p-2, 0x1.e2b816bbe2046p-2, 0x1.05d434e5f5432p-1, 0x1.1a4009c7900fep-1,
	0x1.2d6b879bb8a98p-1, 0x1.3efa12f40973fp-1, 0x1.52a9f87282e22p-1, 0x1.62bab19e1c5c4p-1,
}

// (ln(1+r) − r)/r² = −1/2 + log1p1·r + log1p2·r² + … for |r| ≤ 1/30.
const (
	log1p1 = 0x1.55555555554f8p-2
	log1p2 = -0x1.fffffffffff54p-3
	log1p3 = 0x1.9999999bb6139p-3
	log1p4 = -0x1.5555555744c89p-3
	log1p5 = 0x1.24922ed99e0ddp-3
	log1p6 = -0x1.ffffcfcb9d92cp-4
	log1p7 = 0x1.c80eeecd82e1p-4
	log1p8 = -0x1.9a77e2996b8a2p-4
)

// decay returns e^−|x| with an error of at most 0.6 ulp, 0 where that is below the
// smallest normal number, NaN for NaN.
//
// −|x| = k·ln 2 + r with k a multiple of 1/16, |r| ≤ ln 2/32, and
// e^−|x| = 2^⌊k⌋·T·e^r, where T = 2^(k−⌊k⌋) is from the table and r makes up for its rounding.
func decay(x float64) float64 {
	t := -math.Abs(x)
	if t < expLeast {
		return 0
	}
	shifted := math.FMA(t, log2e, decayShift)
	k := shifted - decayShift
	bits := math.Float64bits(shifted) // ≡ 16·k modulo 2¹⁶
	r := math.FMA(-k, ln2Hi, t) + math.FMA(-k, ln2Lo, remnants[bits%16])
	r2 := float64(r * r)
	q01 := math.FMA(decay1, r, 0.5)
	q23 := math.FMA(decay3, r, decay2)
	q45 := math.FMA(decay5, r, decay4)
	q := math.FMA(math.FMA(q45, r2, q23), r2, q01)
	power := powers[bits%16]
	return float64(math.FMA(power, math.FMA(r2, q, r), power) * pow2(bits>>4)) // bits/16 ≡ ⌊k⌋ modulo 2¹²
}

// Log1pExp returns ln(1 + e^x) with an error of at most 2 ulp and the same bits
// on every architecture; nothing overflows on the way. Like [Exp], it is 0 for x below −708.4.
//
// ln(1 + e^x) = max(x, 0) + ln(1+f) with f = e^−|x| ≤ 1, and
// ln(1+f) = ln(1+r) − ln c with r = c·(1+f) − 1, c from the table.
func Log1pExp(x float64) float64 {
	f := decay(x)
	if f < negligible {
		return max(x, 0) + f
	}
	j := math.Float64bits(math.FMA(f, 15, roundShift)) % 16
	c := inverses[j]
	r := math.FMA(f, c, c-1)
	r2 := float64(r * r)
	r4 := float64(r2 * r2)
	p01 := math.FMA(log1p1, r, -0.5) // in pairs, as in Exp
	p23 := math.FMA(log1p3, r, log1p2)
	p45 := math.FMA(log1p5, r, log1p4)
	p67 := math.FMA(log1p7, r, log1p6)
	p0 := math.FMA(p23, r2, p01)
	p4 := math.FMA(log1p8, r4, math.FMA(p67, r2, p45))
	p := math.FMA(p4, r4, p0)
	return max(x, 0) + (math.FMA(r2, p, r) + logs[j])
}

// Sigmoid returns 1/(1 + e^−x) with an error of at most 2 ulp and the same bits
// on every architecture. Sigmoid(−x) is 1 − Sigmoid(x) without the cancellation. Like
// [Exp], it is 0 for x below −708.4.
//
// It is s = 1/(1+f) or f/(1+f) with f = e^−|x| ≤ 1, after one step of refinement that
// removes the errors of the quotient and of the sum 1 + f: numerator − s is exact,
// since s is at least half of the numerator.
func Sigmoid(x float64) float64 {
	f := decay(x)
	numerator := 1.0
	if x < 0 {
		numerator = f
	}
	inverse := 1 / (1 + f)
	s := float64(numerator * inverse)
	if f < negligible {
		return s
	}
	return math.FMA(math.FMA(-s, f, numerator-s), inverse, s)
}

// Bell returns σ(x)σ(−x), the slope of [Sigmoid], with an error of at most 4 ulp and the same bits on every
// architecture. Like [Exp], it is 0 for |x| above 708.4.
func Bell(x float64) float64 {
	p := Sigmoid(-math.Abs(x)) // at most ½: nothing cancels
	return p * (1 - p)
}
