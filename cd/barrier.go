package cd

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// barrier holds what interior-point methods need for constraints 0 ≤ β ≤ C: the distances to both bounds, their
// multipliers s and t with βs = μ and (C − β)t = μ, and the change of these in a step. Steps are Mehrotra's
// (SIAM Journal on Optimization 2, 1992): a first step towards μ = 0 shows how far μ can fall, and its
// second-order terms, for which the second step corrects.
type barrier struct {
	k           *kernels.Set
	beta, slack []float64 // β and C − β, each to full relative precision
	low, high   []float64 // s, t
	inverse     []float64 // 1/D, D = s/β + t/(C − β)
	dLow, dHigh []float64
}

// resize gives all vectors the same length. Later steps use k, and end with its context.
func (b *barrier) resize(k *kernels.Set, size int) {
	b.k = k
	for _, v := range []*[]float64{&b.beta, &b.slack, &b.low, &b.high, &b.inverse, &b.dLow, &b.dHigh} {
		*v = grow(*v, size)
		k.Look()
	}
}

// start sets βₖ to value, but no closer to a bound than edge.
func (b *barrier) start(k int, value, bound, edge float64) {
	b.beta[k] = min(max(value, edge), bound-edge)
	b.slack[k] = bound - b.beta[k]
}

// setMultipliers sets the multipliers of βₖ so that their difference is g and both are at least room.
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

// complementarity returns Σ βs + (C − β)t. Every step lowers it, and the gap does not exceed it; the gap itself
// may rise between steps.
func (b *barrier) complementarity() float64 {
	var sum float64
	for k, low := range kernels.Each(b.k, b.low) {
		sum = math.FMA(low, b.beta[k], sum)
		sum = math.FMA(b.high[k], b.slack[k], sum)
	}
	return sum
}

// predict takes d, the step to μ = 0, and sets dLow and dHigh to the values that the next step is to give to βs
// and (C − β)t.
func (b *barrier) predict(d []float64) {
	for k, d := range kernels.Each(b.k, d) {
		b.dLow[k] = -b.low[k] - float64(b.dLow[k]*d)
		b.dHigh[k] = float64(b.dHigh[k]*d) - b.high[k]
	}
	length := b.maxStep(d)
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

// corrected returns the right-hand side r of βₖ, corrected for the values that predict has set.
func (b *barrier) corrected(k int, r float64) float64 {
	return r + b.dLow[k]/b.beta[k] - b.dHigh[k]/b.slack[k]
}

// step moves by the corrected step d, or almost to the nearest bound if that is closer, and returns the share
// of d that it could take: 0 where rounding prevents any progress.
func (b *barrier) step(d []float64) (length float64) {
	for k, d := range kernels.Each(b.k, d) {
		b.dLow[k] = (b.dLow[k]-float64(b.low[k]*d))/b.beta[k] - b.low[k]
		b.dHigh[k] = (b.dHigh[k]+float64(b.high[k]*d))/b.slack[k] - b.high[k]
	}
	length = min(1, fractionToBoundary*b.maxStep(d))
	for k, d := range kernels.Each(b.k, d) {
		b.beta[k] = math.FMA(length, d, b.beta[k])
		b.slack[k] = math.FMA(-length, d, b.slack[k])
		b.low[k] = math.FMA(length, b.dLow[k], b.low[k])
		b.high[k] = math.FMA(length, b.dHigh[k], b.high[k])
	}
	return length
}

// maxStep returns the length at which the first of β, C − β, s and t becomes 0, at most 1/fractionToBoundary.
func (b *barrier) maxStep(d []float64) float64 {
	length := 1 / fractionToBoundary
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

// shorter returns the lesser of length and room/speed for a positive room, or length if the speed is not
// positive.
func shorter(length, room, speed float64) float64 {
	if room < float64(length*speed) { // rare: dividing every time would take longer than all the rest
		return room / speed
	}
	return length
}
