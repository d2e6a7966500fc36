package search

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

const (
	refineGap = 1e-4 // relative gap of the points after the path, while they are cheap

	apart         = 0.5    // distance of points whose slopes make a secant
	refinements   = 12     // points after the path, at most
	nowhereNear   = 0.5    // standard errors above a rival
	closest       = 0.02   // distance of neighbours between which nothing is looked for
	doubtApart    = 0.1    // and between which nothing is doubted
	visible       = 1e-3   // of the value, that is worth an evaluation
	promising     = 1.5e-4 // and under a loss that is not quadratic, while points are cheap
	worthDoubt    = 0.05   // standard errors that may be hidden without being looked for
	unlikely      = 1.5    // standard deviations that the model is taken to be off by
	wary          = 4.0    // and where slopes jump
	nextToNothing = 0.1    // of the free work, up to which it is
	waiting       = 0.3    // and up to which a path waits for columns of a small scale
	telling       = 2.0    // standard errors from the best up to which points tell how rough the criterion is
	expected      = 2      // points that what is expected of that counts for
	manyKnots     = 12     // columns coming in between two points from which on more make it no rougher
	leastKnots    = 0.3
	blind         = 1.5  // times its length, what an interval without a slope at an end is taken for
	inside        = 0.05 // share of an interval kept from its ends
	within        = 1.0  // standard errors from the best that a basin's end may be
)

// refine evaluates the least point of the model until that promises nothing, and while
// work is cheap the point where the model, as far as it may be wrong, hides most: where next
// to nothing has been spent, so far as one in seven criteria is.
func (l *scan) refine(ctx context.Context) error {
	for range refinements {
		if l.exhausted() {
			return nil
		}
		value, depth := l.least(closest, 0)
		promised := l.floor()-value >= l.asked()
		if l.o.Rival != nil && min(value, l.best.Value) > l.o.Rival.Value+float64(nowhereNear*l.unit(l.o.Rival)) {
			return nil
		}
		doubt := l.roughness()
		switch {
		case l.o.Kinks:
			doubt *= wary
		case l.spent <= float64(nextToNothing*l.o.Free):
			doubt *= unlikely
		}
		switch cheap := l.o.Rough > 0 && l.spare(); {
		case cheap && promised:
			_, depth = l.least(closest, doubt)
		case cheap:
			value, depth = l.least(doubtApart, doubt)
			promised = l.floor()-value >= worthDoubt*l.unit(l.best.Evaluation)
		}
		if !promised {
			return nil
		}
		gap := refineGap
		if l.dear() {
			gap = scanGap
		}
		l.expected = !l.spare() // else there may be doubts to look into
		if err := l.visit(ctx, depth, gap, l.nearest(depth)); err != nil {
			return err
		}
		l.expected = false
	}
	return nil
}

// spare reports whether work is cheap: there is some left that needs no promise.
func (l *scan) spare() bool { return l.spent <= l.o.Free && !l.resumed }

// dear reports whether the best point took more than the free work, as those after it will.
func (l *scan) dear() bool { return l.best.Work > l.o.Free }

// asked is what a point has to promise: a hundredth of the standard error, where there is one, and no
// more than a thousandth of the value, which is less where few rows leave that unsure; a seventh of that
// where the loss is not quadratic and points are cheap: the model promises too little there. Criteria
// of support vectors are rougher than that. Where points are dear it is two hundredths, as far as their loose
// solutions move values. After an earlier scan it is more where that makes the work more than is allowed.
func (l *scan) asked() float64 {
	if l.resumed && l.worth() > enough {
		return worthDoubt * l.unit(l.best.Evaluation)
	}
	least := enough
	if l.dear() {
		least = looselyEnough
	}
	asked := float64(least * l.unit(l.best.Evaluation))
	if l.best.StandardError > 0 {
		share := visible
		if l.o.Relative && !l.o.Climb && !l.resumed && !l.dear() {
			share = promising
		}
		asked = min(asked, max(share*math.Abs(l.best.Value), enough*leastScale*l.gain()))
	}
	return asked
}

// roughness is how far the model of its neighbours has been off at every point near the best,
// root mean square, as a multiple of what [scan.rough] expects, which counts for a few points. Where slopes jump,
// so do the slopes and the chord of every interval tell: a jump half way would bend the model by an eighth of
// what they disagree by, times the distance.
func (l *scan) roughness() float64 {
	square, count := float64(expected), float64(expected)
	tell := func(off, rough float64) {
		if off /= rough; rough > 0 && finite(off) {
			square = math.FMA(off, off, square)
			count++
		}
	}
	near := func(p point) bool {
		return finite(p.Value) && p.Value <= l.best.Value+float64(telling*l.unit(p.Evaluation))
	}
	for k := 1; k < len(l.points); k++ {
		a, b := l.points[k-1], l.points[k]
		if h := b.depth - a.depth; l.o.Kinks && h >= apart && (near(a) || near(b)) {
			tell(h/8*(a.slope+b.slope-2*(b.Value-a.Value)/h), l.rough(a, b))
		}
		if k+1 == len(l.points) || !near(b) {
			continue
		}
		if c := l.points[k+1]; finite(a.Value) && finite(c.Value) {
			tell(Interpolate(c.depth-a.depth, a.Value, c.Value, a.slope, c.slope)(b.depth-a.depth)-b.Value, l.rough(a, c))
		}
	}
	return math.Sqrt(square / count)
}

// rough is how far the criterion is expected to be from the model half way between two points.
// Every column that comes in bends it at random: its slope walks as a Brownian motion does,
// and a cubic between two values and slopes of its integral is off by the distance to the
// power of 3/2; more where a slope is not known. Where slopes jump once in a while it is off in proportion to
// the distance, and nowhere up to where predictions are in proportion to e^λ. Where steps fade it is as they do, whatever
// the support.
func (l *scan) rough(a, b point) float64 {
	h := b.depth - a.depth
	if math.IsNaN(a.slope) || math.IsNaN(b.slope) {
		h *= blind
	}
	bends := 1.0
	switch {
	case l.straight(b):
		return 0
	case l.o.Fades > 0:
		bends = kernels.Exp(min(0, l.o.Fades-float64(0.5*(a.depth+b.depth))))
	case !l.o.Kinks:
		bends = math.Sqrt(min(1, (math.Abs(float64(b.Support-a.Support))+leastKnots)/manyKnots))
	}
	unit := max(l.unit(l.best.Evaluation), 0.5*(a.StandardError+b.StandardError))
	if l.o.Kinks {
		return l.o.Rough * unit * h
	}
	return l.o.Rough * unit * bends * h * math.Sqrt(h)
}

// nearest returns the evaluation with solutions that is closest in depth.
func (l *scan) nearest(depth float64) (e *Evaluation) {
	distance := math.Inf(1)
	for _, p := range l.points {
		if d := math.Abs(p.depth - depth); d < distance && p.depth > 0 {
			e, distance = p.Evaluation, d
		}
	}
	return e
}

// least returns the least value of the model less its doubt between points at least so far
// apart, and where; +Inf where it is least at points. Half way between two points the doubt
// is so many times what [scan.rough] expects.
func (l *scan) least(apart, doubt float64) (value, depth float64) {
	value, depth = l.ray()
	for k := 1; k < len(l.points); k++ {
		a, b := l.points[k-1], l.points[k]
		better := a.Evaluation
		if b.Value < a.Value {
			better = b.Evaluation
		}
		if b.depth-a.depth < apart || doubt == 0 && !(better.Value <= l.best.Value+float64(within*l.unit(better))) {
			continue
		}
		rough := 0.0
		if doubt > 0 {
			rough = doubt * l.rough(a, b)
		}
		if v, t := dip(a, b, rough); v < value {
			margin := float64(inside * (b.depth - a.depth))
			value, depth = v, min(max(t, a.depth+margin), b.depth-margin)
		}
	}
	return value, depth
}

// straight reports whether predictions are in proportion to e^λ up to a point.
func (l *scan) straight(p point) bool { return l.o.Straight && p.depth <= 0 }

// ray returns the least value of the model before the first point, where predictions are in proportion to e^λ up
// to that, and where: there the criterion is nearly a parabola in e^λ that begins at the null model.
func (l *scan) ray() (value, depth float64) {
	first := l.points[0]
	rise := first.Value - l.o.Null.Value
	bend := first.slope - rise
	x := (bend - rise) / (2 * bend)
	if !l.straight(first) || !(bend > 0 && x > 0 && x < 1) {
		return math.Inf(1), 0
	}
	return l.o.Null.Value - float64(bend*x*x), first.depth + min(kernels.Log(x), -closest)
}

// dip returns the least value between two points of their [Interpolate] model less its
// doubt, which half way between them is rough; +Inf where that is at an end.
func dip(a, b point, rough float64) (value, depth float64) {
	h := b.depth - a.depth
	if !finite(a.Value) || !finite(b.Value) || math.IsNaN(a.slope) && math.IsNaN(b.slope) {
		return math.Inf(1), 0
	}
	slope, c, d := cubic(h, a.Value, b.Value, a.slope, b.slope)
	slope, c = slope-float64(4*rough)/h, c+float64(4*rough)/float64(h*h) // less 4·rough·x·(h − x)/h²
	// The root of slope + 2c·x + 3d·x² at which the second derivative is positive.
	root := float64(c*c) - float64(3*d*slope)
	if root < 0 {
		return math.Inf(1), 0
	}
	x := -slope / (c + math.Sqrt(root))
	if !(x > 0 && x < h) {
		return math.Inf(1), 0
	}
	return math.FMA(x, math.FMA(x, math.FMA(x, d, c), slope), a.Value), a.depth + x
}

// Interpolate returns the cubic on [0, h] with the values and slopes given at its ends. A
// slope that is NaN is not known: the curve is a parabola without one, a line without both.
func Interpolate(h, value0, valueH, slope0, slopeH float64) func(x float64) float64 {
	slope, c, d := cubic(h, value0, valueH, slope0, slopeH)
	return func(x float64) float64 { return math.FMA(x, math.FMA(x, math.FMA(x, d, c), slope), value0) }
}

// cubic returns the coefficients of value0 + slope·x + c·x² + d·x³.
func cubic(h, value0, valueH, slope0, slopeH float64) (slope, c, d float64) {
	rise := (valueH - value0) / h
	switch at0, atH := !math.IsNaN(slope0), !math.IsNaN(slopeH); {
	case at0 && atH:
		return slope0, (float64(3*rise) - float64(2*slope0) - slopeH) / h, (slope0 + slopeH - float64(2*rise)) / float64(h*h)
	case at0:
		return slope0, (rise - slope0) / h, 0
	case atH:
		return float64(2*rise) - slopeH, (slopeH - rise) / h, 0
	default:
		return rise, 0, 0
	}
}
