package model

import (
	"math"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Box is a constraint lⱼ ≤ βⱼ ≤ uⱼ with lⱼ ≤ 0 ≤ uⱼ on every column, some of them infinite. It
// is immutable.
type Box struct {
	lower, upper []float64
}

// NewBox returns the box with these lower and upper bounds, one number per column; nil means no
// bounds on that side. The slices are not kept. The error is an [outcome.Error] of kind BadParameter
// with the column if a bound is NaN, or 0 is not between the two.
func NewBox(lower, upper []float64) (*Box, error) {
	p := max(len(lower), len(upper))
	b := &Box{make([]float64, p), make([]float64, p)}
	for j := range p {
		b.lower[j], b.upper[j] = math.Inf(-1), math.Inf(1)
		if lower != nil {
			b.lower[j] = lower[j]
		}
		if upper != nil {
			b.upper[j] = upper[j]
		}
		if !(b.lower[j] <= 0 && b.upper[j] >= 0) {
			return nil, &outcome.Error{Kind: outcome.BadParameter, HasColumn: true, Column: j, Message: "the bounds must allow a coefficient of 0: the lower bound must be 0 or less, the upper bound 0 or more"}
		}
	}
	return b, nil
}

// In returns the box for the coefficients of a view, which are the coefficients of its matrix divided
// by [sparse.View.Scale].
func (b *Box) In(view *sparse.View) *Box {
	if b == nil || !view.Scaled() {
		return b
	}
	own := &Box{make([]float64, len(b.lower)), make([]float64, len(b.upper))}
	for j := range own.lower {
		own.lower[j], own.upper[j] = math.Inf(-1), math.Inf(1)
		if scale := view.Scale(j); scale > 0 { // else the column is all zeros
			own.lower[j], own.upper[j] = b.lower[j]/scale, b.upper[j]/scale
		}
	}
	return own
}

// isBounded reports whether column j has a bound.
func (b *Box) isBounded(j int) bool {
	return b != nil && (b.lower[j] > math.Inf(-1) || b.upper[j] < math.Inf(1))
}

// Within returns the penalty with the constraint of a box; nil means no constraint. It refuses
// bounds on columns without an ℓ1 strength, whose coefficients are computed in closed form.
func (g Penalty) Within(b *Box) (Penalty, error) {
	if b == nil {
		return g, nil
	}
	for j := range b.lower {
		if b.isBounded(j) && g.Alpha(j) == 0 {
			return Penalty{}, &outcome.Error{Kind: outcome.BadParameter, HasColumn: true, Column: j, Message: "a bound needs an ℓ1 strength on its column: leave the bound out, or penalise the column"}
		}
	}
	g.box = b
	return g, nil
}

// Bounded reports whether there is a box.
func (g *Penalty) Bounded() bool { return g.box != nil }

// Clip returns the point nearest to b within the bounds of column j.
func (g *Penalty) Clip(j int, b float64) float64 {
	switch {
	case g.box != nil:
		return max(g.box.lower[j], min(g.box.upper[j], b))
	case g.positive:
		return max(0, b)
	default:
		return b
	}
}

// Held reports whether b is a nonzero coefficient at a bound of column j: it does not move with λ.
func (g *Penalty) Held(j int, b float64) bool {
	return g.box != nil && b != 0 && (b == g.box.lower[j] || b == g.box.upper[j])
}

// DistanceToBound returns the distance of the coefficient b of column j from its bound in the
// direction of the sign of direction.
func (g *Penalty) DistanceToBound(j int, b, direction float64) float64 {
	switch {
	case g.positive && direction < 0 && g.box == nil:
		return b
	case g.box == nil:
		return math.Inf(1)
	case direction < 0:
		return b - g.box.lower[j]
	default:
		return g.box.upper[j] - b
	}
}

// blocked reports whether a bound keeps a zero coefficient of column j from moving in the direction
// of the sign of z.
func (b *Box) blocked(j int, z float64) bool {
	return z > 0 && b.upper[j] == 0 || z < 0 && b.lower[j] == 0
}

// Within returns the null model for a penalty in a box, for [Null.AlphaMax]: it sets correlations to
// zero whose direction the bounds block.
func (z *Null) Within(b *Box) *Null {
	if b == nil {
		return z
	}
	w := *z
	w.Correlation = make([]float64, len(z.Correlation))
	for k, j := range z.Fit.View().Matrix().Order() {
		if !b.blocked(int(j), z.Correlation[k]) {
			w.Correlation[k] = z.Correlation[k]
		}
	}
	return &w
}

// violation is a column with a = |aⱼ| > αⱼ and a finite bound v in the direction of s = sign(aⱼ). Its dual
// point needs no scaling, since the conjugate of the penalty is finite there, v(a − α); scaling may still
// give a smaller gap. At the scale c the column contributes to the gap
//
//	(v − sβ)(ca − α) + α(|β| − sβ), or α|β| − ca·sβ where ca ≤ α.
type violation struct {
	a, alpha, signedCoef float64 // signedCoef is sβ
	size, toBound        float64 // |β|; v − sβ
}

// gapAt returns the contribution of the column to the gap at the scale c.
func (o violation) gapAt(c float64) float64 {
	if over := math.FMA(c, o.a, -o.alpha); over > 0 {
		return math.FMA(o.toBound, over, float64(o.alpha*(o.size-o.signedCoef)))
	}
	return float64(o.alpha*o.size) - float64(float64(c*o.a)*o.signedCoef)
}

// shrinkScale returns the scale c or, if that gives a smaller gap, a smaller scale: the one that makes those columns feasible for which the
// violation contributes more than scaling costs. If a bound is far off, even a violation |aⱼ| − αⱼ by rounding, times that bound,
// would be a large contribution.
func (d *Dual) shrinkScale(c float64) float64 {
	worst := 0.0
	for _, o := range d.violations {
		if rest := 1 - o.alpha/o.a; o.toBound*(o.a-o.alpha) > rest*max(0, d.product+float64(rest*d.Loss)) {
			worst = max(worst, o.a/o.alpha*(1+0x1p-51)) // c|aⱼ| is not above αⱼ by rounding
		}
	}
	if worst*c > 1 && d.gapOfScale(1/worst) < d.gapOfScale(c) {
		return 1 / worst
	}
	return c
}

// gapOfScale returns the part of the gap that depends on the scale, for the squared loss.
func (d *Dual) gapOfScale(c float64) float64 {
	rest := 1 - c
	sum := rest * (d.product + float64(rest*(d.Loss+float64(0.5*d.l2))))
	for _, o := range d.violations {
		sum += o.gapAt(c)
	}
	return sum
}

// addBounded is [Dual.Add] for a column with a bound.
func (d *Dual) addBounded(j int, z, b, norm float64) {
	g := &d.Penalty
	alpha, ridge := g.Alpha(j), g.ridge
	if math.IsInf(alpha, 1) {
		return
	}
	if lipschitz := d.lipschitz(norm); lipschitz > 0 {
		moved := b - g.Prox(j, b+z/lipschitz, 1/lipschitz)
		d.kkt = max(d.kkt, lipschitz*math.Abs(moved))
	}
	a, size := z-float64(ridge*b), math.Abs(b)
	d.l1 = math.FMA(alpha, size, d.l1)
	d.l2 = math.FMA(ridge*b, b, d.l2)
	if ridge > 0 {
		d.unscaled += d.bregman(j, z, b)
	}
	bound, sign := g.box.upper[j], 1.0
	if math.Signbit(a) {
		bound, sign = -g.box.lower[j], -1
	}
	if math.Abs(a) > alpha && !math.IsInf(bound, 1) {
		d.violations = append(d.violations, violation{a: math.Abs(a), alpha: alpha, signedCoef: sign * b, size: size, toBound: bound - float64(sign*b)})
		return
	}
	d.worst = max(d.worst, math.Abs(a)/alpha) // max keeps NaN
	d.product = math.FMA(a, b, d.product)
	d.slack = math.FMA(alpha-float64(math.Copysign(1, b)*a), size, d.slack)
}

// bregman returns h(β) − min h, where h(β) = α|β| + α₂β²/2 − zβ within the bounds: the contribution of
// a column to the gap at the unscaled dual point.
func (d *Dual) bregman(j int, z, b float64) float64 {
	g := &d.Penalty
	alpha, ridge := g.Alpha(j), g.ridge
	best := g.Clip(j, SoftThreshold(z, alpha)/ridge)
	value := func(b float64) float64 {
		return float64(alpha*math.Abs(b)) + float64(b*(float64(0.5*ridge*b)-z))
	}
	if best != 0 && b != 0 && math.Signbit(best) != math.Signbit(b) {
		return value(b) - value(best)
	}
	slope := math.Copysign(alpha, b+best) - z // slope of the linear part; b and best have the same sign
	return (b - best) * (slope + float64(0.5*ridge*(b+best)))
}
