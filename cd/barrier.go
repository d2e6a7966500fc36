package cd

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// barrier is what interior-point methods keep of constraints 0 ≤ β ≤ C: the distances to both
// bounds, their multipliers s and t with βs = μ and (C − β)t = μ, and what a step changes of
// them. Steps are Mehrotra's (SIAM Journal on Optimization 2, 1992): one towards μ = 0 shows how
// far μ can fall, and its curvature, which the second corrects.
type barrier struct {
	k           *kernels.Set
	beta, slack []float64 // β and C − β, each to its own relative precision
	low, high   []float64 // s, t
	inverse     []float64 // 1/D, D = s/β + t/(C − β)
	dLow, dHigh []float64
}

// resize makes all vectors of one length, for steps that end with k.
func (b *barrier) resize(k *kernels.Set, size int) {
	b.k = k
	for _, v := range []*[]float64{&b.beta, &b.slack, &b.low, &b.high, &b.inverse, &b.dLow, &b.dHigh} {
		*v = grow(*v, size)
		k.Look()
	}
}

// start puts βₖ where it is, but no closer to a bound than edge.
func (b *barrier) start(k int, value, bound, edge float64) {
	b.beta[k] = min(max(value, edge), bound-edge)
	b.slack[k] = bound - b.beta[k]
}

// setMultipliers sets those of βₖ, whose difference is to be g, and of which both are so much more than 0.
func (b *barrier) setMultipliers(k int, g, room float64) {
	b.low[k], b.high[k] = max(g, 0)+room, max(-g, 0)+room
}

// scale sets the inverse of D, and leaves its two terms in dLow and dHigh for predict.
func (b *barrier) scale() {
	for k := range b.k.Range(len(b.beta)) {
		b.dLow[k], b.dHigh[k] = b.low[k]/b.beta[k], b.high[k]/b.slack[k]
		b.inverse[k] = 1 / (b.dLow[k] + b.dHigh[k])
	}
}

// complementarity returns Σ βs + (C − β)t. Every step lowers it, and the gap is no
// more; the gap itself may rise on the way.
func (b *barrier) complementarity() float64 {
	var sum float64
	for k, low := range kernels.Each(b.k, b.low) {
		sum = math.FMA(low, b.beta[k], sum)
		sum = math.FMA(b.high[k], b.slack[k], sum)
	}
	return sum
}

// predict takes d, the step to μ = 0, and makes dLow and dHigh what is to be reached for βs
// and (C − β)t by the next.
func (b *barrier) predict(d []float64) {
	for k, d := range kernels.Each(b.k, d) {
		b.dLow[k] = -b.low[k] - float64(b.dLow[k]*d)
		b.dHigh[k] = float64(b.dHigh[k]*d) - b.high[k]
	}
	length := b.reach(d)
	var ahead float64
	for k, d := range kernels.Each(b.k, d) {
		ahead = math.FMA(math.FMA(length, d, b.beta[k]), math.FMA(length, b.dLow[k], b.low[k]), ahead)
		ahead = math.FMA(math.FMA(-length, d, b.slack[k]), math.FMA(length, b.dHigh[k], b.high[k]), ahead)
	}
	size := float64(2 * len(d))
	mu := b.complementarity() / size
	share := max(0, ahead/size/mu)
	centre := float64(float64(share*share*share) * mu)
	for k, d := range kernels.Each(b.k, d) {
		b.dLow[k] = centre - float64(d*b.dLow[k])
		b.dHigh[k] = centre + float64(d*b.dHigh[k])
	}
}

// corrected returns the right-hand side r of βₖ with what predict asks for.
func (b *barrier) corrected(k int, r float64) float64 {
	return r + b.dLow[k]/b.beta[k] - b.dHigh[k]/b.slack[k]
}

// step moves by the corrected step d, almost to the nearest bound, and returns the share of it
// that was possible: 0 where rounding has the last word.
func (b *barrier) step(d []float64) (length float64) {
	for k, d := range kernels.Each(b.k, d) {
		b.dLow[k] = (b.dLow[k]-float64(b.low[k]*d))/b.beta[k] - b.low[k]
		b.dHigh[k] = (b.dHigh[k]+float64(b.high[k]*d))/b.slack[k] - b.high[k]
	}
	length = min(1, toTheWall*b.reach(d))
	for k, d := range kernels.Each(b.k, d) {
		b.beta[k] = math.FMA(length, d, b.beta[k])
		b.slack[k] = math.FMA(-length, d, b.slack[k])
		b.low[k] = math.FMA(length, b.dLow[k], b.low[k])
		b.high[k] = math.FMA(length, b.dHigh[k], b.high[k])
	}
	return length
}

// reach returns the length at which the first of β, C − β, s and t becomes 0, 1/toTheWall
// at most.
func (b *barrier) reach(d []float64) float64 {
	length := 1 / toTheWall
	for k, d := range kernels.Each(b.k, d) {
		room := b.beta[k]
		if d > 0 {
			room = b.slack[k]
		}
		length = shorter(length, room, math.Abs(d))
		length = shorter(length, b.low[k], -b.dLow[k])
		length = shorter(length, b.high[k], -b.dHigh[k])
	}
	return length
}

// shorter returns the lesser of length and room/speed, for a room above 0 and a speed above 0.
func shorter(length, room, speed float64) float64 {
	if room < float64(length*speed) { // rarely: a division would take longer than all the rest
		return room / speed
	}
	return length
}
