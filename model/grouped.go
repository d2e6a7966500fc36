package model

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Grouped is the convex penalty on blocks
//
//	g(β) = Σ_B [Σ α₁ₖ|b| + α·w_B‖b‖₂ + ½α₂‖b‖²],
//
// a group Lasso, optionally with a ridge and with an ℓ1 term, which makes it a sparse group Lasso
// and may have one strength for each score k. The constructor determines which strength each λ is
// the logarithm of. It implements [ConvexBlocks].
type Grouped struct {
	scores  int
	l1      []float64 // α₁ by score; nil: no ℓ1 term
	group   float64   // α
	weights []float64 // w_B; nil: all 1
	ridge   float64   // α₂

	lambdas          int   // number of hyperparameters
	l1Of             []int // the index of the λ of each ℓ1 strength, -1: none
	groupOf, ridgeOf int   // the same for α and α₂
}

// RootSizes returns the usual weights of groups, the square roots of their sizes.
func RootSizes(part *Partition) []float64 {
	w := make([]float64, part.Count())
	for b := range w {
		w[b] = math.Sqrt(float64(len(part.Columns(b))))
	}
	return w
}

// CheckGroupWeights refuses weights that are not positive and finite, one for each group. The
// error is an [outcome.Error] of kind Shape or BadParameter.
func CheckGroupWeights(weights []float64, part *Partition) error {
	if len(weights) != part.Count() {
		return outcome.At(outcome.Shape, "group-weights", "%d weights for %d groups", len(weights), part.Count())
	}
	for b, w := range weights {
		if !(w > 0) || math.IsInf(w, 1) {
			return outcome.At(outcome.BadParameter, "group-weights", "group %d: a weight must be positive and finite, got %g", b, w)
		}
	}
	return nil
}

// GroupLasso is α Σ w_B‖β_B‖, α = e^λ. weights nil: all 1.
func GroupLasso(weights []float64, logLambda float64) (Grouped, error) {
	alpha, err := strength(logLambda, -1)
	return Grouped{scores: 1, group: alpha, weights: weights, lambdas: 1, ridgeOf: -1}, err
}

// GroupNet is α Σ w_B‖β_B‖ + ½α₂‖β‖² with λ = (ln α, ln α₂).
func GroupNet(weights []float64, group, ridge float64) (Grouped, error) {
	g, err := GroupLasso(weights, group)
	if err != nil {
		return g, err
	}
	g.lambdas, g.ridgeOf = 2, 1
	g.ridge, err = strength(ridge, -1)
	return g, err
}

// SparseGroup is α(τ‖β‖₁ + (1 − τ)Σ w_B‖β_B‖), α = e^λ and 0 ≤ τ ≤ 1.
func SparseGroup(weights []float64, tau, logLambda float64) (Grouped, error) {
	alpha, err := strength(logLambda, -1)
	if !(tau >= 0 && tau <= 1) {
		return Grouped{}, outcome.At(outcome.BadParameter, "tau", "the share of the ℓ1 term must be between 0 and 1, got %g", tau)
	}
	return Grouped{
		scores: 1, l1: []float64{tau * alpha}, group: (1 - tau) * alpha, weights: weights,
		lambdas: 1, l1Of: []int{0}, ridgeOf: -1,
	}, err
}

// SparseGroupPair is α₁‖β‖₁ + α Σ w_B‖β_B‖ with λ = (ln α₁, ln α).
func SparseGroupPair(weights []float64, l1, group float64) (Grouped, error) {
	alpha, err := strength(l1, -1)
	if err != nil {
		return Grouped{}, err
	}
	of, err := strength(group, -1)
	return Grouped{
		scores: 1, l1: []float64{alpha}, group: of, weights: weights,
		lambdas: 2, l1Of: []int{0}, groupOf: 1, ridgeOf: -1,
	}, err
}

// ScoresLasso is Σₖ αₖ‖β·ₖ‖₁ over the scores of q classes, with one λ for all or one for
// each.
func ScoresLasso(q int, logLambda []float64) (Grouped, error) {
	g := Grouped{scores: q, lambdas: len(logLambda), groupOf: -1, ridgeOf: -1}
	if len(logLambda) != 1 && len(logLambda) != q {
		return g, outcome.At(outcome.Shape, "log-lambda", "give one λ for all %d classes or one for each, got %d", q, len(logLambda))
	}
	for k := range q {
		of := min(k, len(logLambda)-1)
		alpha, err := strength(logLambda[of], -1)
		if err != nil {
			return g, err
		}
		g.l1, g.l1Of = append(g.l1, alpha), append(g.l1Of, of)
	}
	return g, nil
}

// ScoresNet is α₁‖B‖₁ + ½α₂‖B‖² over the scores of q classes, λ = (ln α₁, ln α₂).
func ScoresNet(q int, l1, ridge float64) (Grouped, error) {
	g, err := ScoresLasso(q, []float64{l1})
	if err != nil {
		return g, err
	}
	g.lambdas, g.ridgeOf = 2, 1
	g.ridge, err = strength(ridge, -1)
	return g, err
}

// ScoresGroup is α Σⱼ‖βⱼ·‖₂: the coefficients of a column for all classes are a group.
func ScoresGroup(q int, logLambda float64) (Grouped, error) {
	g, err := GroupLasso(nil, logLambda)
	g.scores = q
	return g, err
}

// Pair returns the penalty for two scores as a penalty on the difference w of the two coefficients of a column: the minimum over
// all pairs of coefficients with that difference. At the minimum the first coefficient is −first·w: first is a half or, if the
// scores have different strengths, 1 or 0. ok is false if there is no such penalty.
func (g Grouped) Pair() (of Penalty, first float64, ok bool) {
	if g.scores != 2 || g.weights != nil {
		return Penalty{}, 0, false
	}
	switch a, b := g.l1At(0), g.l1At(1); {
	case a == b:
		return Penalty{alpha: a + g.group/math.Sqrt2, ridge: g.ridge / 2, lambdas: 1}, 0.5, true
	case g.group > 0 || g.ridge > 0:
		return Penalty{}, 0, false
	case a < b:
		return Penalty{alpha: a, lambdas: 1}, 1, true
	default:
		return Penalty{alpha: b, lambdas: 1}, 0, true
	}
}

// Hyperparameters implements [Blocks].
func (g Grouped) Hyperparameters() int { return g.lambdas }

// Stronger implements [ConvexBlocks].
func (g Grouped) Stronger(times float64) ConvexBlocks {
	g.l1, g.group = slices.Clone(g.l1), times*g.group
	for k := range g.l1 {
		g.l1[k] *= times
	}
	return g
}

// Ridge implements [ConvexBlocks].
func (g Grouped) Ridge() float64 { return g.ridge }

// Concavity implements [Blocks].
func (g Grouped) Concavity() float64 { return 0 }

// l1At returns the ℓ1 strength α₁ of entry k of a block.
func (g Grouped) l1At(k int) float64 {
	if g.l1 == nil {
		return 0
	}
	return g.l1[k%len(g.l1)]
}

// groupAt returns αw_B, the strength of the group norm of a block.
func (g Grouped) groupAt(block int) float64 {
	if g.weights == nil {
		return g.group
	}
	return float64(g.group * g.weights[block])
}

// Value implements [Blocks].
func (g Grouped) Value(block int, b []float64) float64 {
	size := norm(b)
	value := float64(g.groupAt(block)*size) + float64(0.5*float64(g.ridge*size)*size)
	for k, v := range b {
		value = math.FMA(g.l1At(k), math.Abs(v), value)
	}
	return value
}

// Prox implements [Blocks]: soft thresholds, then the block shrinks (Simon et al., Journal of
// Computational and Graphical Statistics 22, 2013).
func (g Grouped) Prox(block int, z []float64, step float64, out []float64) {
	for k, v := range z {
		out[k] = SoftThreshold(v, float64(step*g.l1At(k)))
	}
	shrink := 1.0
	if threshold := float64(step * g.groupAt(block)); threshold > 0 {
		if size := norm(out); size > threshold {
			shrink = 1 - threshold/size
		} else {
			shrink = 0
		}
	}
	shrink /= 1 + float64(step*g.ridge)
	for k := range out {
		out[k] *= shrink
	}
}

// Lack implements [Blocks].
func (g Grouped) Lack(block int, b, z, out []float64) {
	whole, size := g.groupAt(block), norm(b)
	if size == 0 {
		for k, v := range z {
			out[k] = SoftThreshold(v, g.l1At(k))
		}
		over := 1.0
		if pull := norm(out); pull > whole {
			over -= whole / pull
		} else {
			over = 0
		}
		for k := range out {
			out[k] *= over
		}
		return
	}
	for k, v := range b {
		if v == 0 {
			out[k] = SoftThreshold(z[k], g.l1At(k))
			continue
		}
		out[k] = z[k] - math.Copysign(g.l1At(k), v) - float64(whole/size*v) - float64(g.ridge*v)
	}
}

// Curvature implements [Blocks]: (αw/‖b‖)(I − uuᵀ) + α₂I, u = b/‖b‖.
func (g Grouped) Curvature(block int, b, h []float64) {
	size, d := norm(b), len(b)
	if size == 0 {
		return
	}
	bend := g.groupAt(block) / size
	for k, v := range b {
		if v == 0 {
			continue
		}
		h[k*d+k] += bend + g.ridge
		for l, w := range b {
			h[k*d+l] -= float64(bend * float64(v/size) * float64(w/size))
		}
	}
}

// Sensitivity implements [Blocks]: the sum of −α₁ sign(b), −αw·b/‖b‖ and −α₂b over the strengths
// that λᵢ is the logarithm of.
func (g Grouped) Sensitivity(block, i int, b, out []float64) {
	clear(out)
	size := norm(b)
	for k, v := range b {
		if v == 0 {
			continue
		}
		if g.l1 != nil && g.l1Of[k%len(g.l1)] == i {
			out[k] -= math.Copysign(g.l1At(k), v)
		}
		if g.groupOf == i {
			out[k] -= float64(g.groupAt(block) * float64(v/size))
		}
		if g.ridgeOf == i {
			out[k] -= float64(g.ridge * v)
		}
	}
}

// Kinked implements [Blocks]: it is true for entries with an ℓ1 term.
func (g Grouped) Kinked(_, k int) bool { return g.l1At(k) > 0 }

// Clearance implements [Blocks]. With an ℓ1 term and an even number of classes, adding a constant to
// all coefficients of a column changes neither the predictions nor the penalty while half of the
// coefficients grow and half shrink. A coefficient that is 0 at the end of that range has no
// clearance at any λ, which is not a kink.
func (g Grouped) Clearance(block int, b, z []float64) float64 {
	if norm(b) == 0 && g.groupAt(block) > 0 {
		return 1 - 1/g.Reach(block, z)
	}
	least := 1.0
	for k, v := range b {
		if v != 0 || g.l1At(k) == 0 {
			continue
		}
		apart := 1 - math.Abs(z[k])/g.l1At(k)
		if g.scores > 1 && g.scores%2 == 0 && math.Abs(apart) < shiftTol {
			continue
		}
		least = min(least, apart)
	}
	return least
}

// shiftTol is the clearance below which [Grouped.Clearance] takes an entry, with an even number of
// classes, to be at the end of the range of a shift.
const shiftTol = 1e-9

// Reach implements [ConvexBlocks]: the largest c with ‖ST(c·a, α₁)‖ ≤ αw_B.
func (g Grouped) Reach(block int, a []float64) float64 {
	whole := g.groupAt(block)
	if whole == 0 {
		reach := math.Inf(1)
		for k, v := range a {
			if v != 0 {
				reach = min(reach, g.l1At(k)/math.Abs(v))
			}
		}
		return reach
	}
	size := norm(a)
	if size == 0 {
		return math.Inf(1)
	}
	if g.l1 == nil || g.l1At(0) == 0 {
		return whole / size
	}
	return uniformReach(a, size, g.l1At(0), whole)
}

// uniformReach returns the root c of ‖ST(c·a, α₁)‖ = w. The equation is quadratic in c between the
// values of c at which two successive entries of the sorted |a| exceed the threshold.
func uniformReach(a []float64, size, alpha, whole float64) float64 {
	sorted := make([]float64, len(a))
	for k, v := range a {
		sorted[k] = math.Abs(v) / size
	}
	slices.Sort(sorted)
	slices.Reverse(sorted)
	var sum, square, c float64
	for k, v := range sorted {
		if v == 0 || k > 0 && float64(c*v) <= alpha {
			break // this entry stays below its threshold, as do those after it
		}
		sum += v
		square = math.FMA(v, v, square)
		count := float64(k + 1)
		// c²S₂ − 2cα₁S₁ + kα₁² − w² = 0
		inner := float64(float64(alpha*sum)*float64(alpha*sum)) - float64(square*(float64(float64(count*alpha)*alpha)-float64(whole*whole)))
		c = (float64(alpha*sum) + math.Sqrt(max(0, inner))) / square
	}
	return c / size
}

// Excess implements [ConvexBlocks]: (‖ST(z, α₁)‖ − αw)₊²/2α₂.
func (g Grouped) Excess(block int, z []float64) float64 {
	o := make([]float64, len(z))
	for k, v := range z {
		o[k] = SoftThreshold(v, g.l1At(k))
	}
	over := max(0, norm(o)-g.groupAt(block))
	return float64(over/(2*g.ridge)) * over
}
