package search

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

const (
	refineGap = 1e-4 // relative gap of the points after the path, while they are cheap

	leastSecant        = 0.5    // least distance of points whose slopes make a secant
	mostRefinements    = 12     // points after the path, at most
	rivalMargin        = 0.5    // standard errors above a rival from which on the minimum is not refined
	leastDistance      = 0.02   // distance of neighbours below which no point is placed between them
	leastDoubtDistance = 0.1    // the same for points placed by doubt
	visibleShare       = 1e-3   // share of the value that is worth an evaluation
	promisingShare     = 1.5e-4 // the same under a loss that is not quadratic, while points are cheap
	leastHiddenGain    = 0.05   // standard errors below which a gain that may be hidden is not looked for
	cheapDeviations    = 1.5    // standard deviations of the model's error that make the doubt while hardly any work is spent
	kinkDeviations     = 4.0    // the same where slopes jump
	hardlySpent        = 0.1    // share of the free work up to which hardly any work is spent
	waitingShare       = 0.3    // share of the free work up to which a path waits for columns of a small scale
	roughnessRange     = 2.0    // standard errors above the best up to which points show how rough the criterion is
	priorWeight        = 2      // weight of the expected roughness, as a number of points
	manyKnots          = 12     // columns entering between two points above which more add no roughness
	addedKnots         = 0.3    // added to their number
	noSlopeFactor      = 1.5    // factor on the length of an interval without a slope at one end
	endMargin          = 0.05   // share of an interval that new points keep from its ends
	minimumRange       = 1.0    // standard errors above the best within which the lower end of an interval has to be
)

// refine evaluates the minimum of the model until that predicts no gain. While work is cheap it
// takes the minimum of the model less its doubt instead, where the best may be hidden: the doubt
// is one standard deviation of the model's error, or, while hardly any work is spent, as much as
// one in seven criteria exceeds.
func (l *scan) refine(ctx context.Context) error {
	for range mostRefinements {
		if l.exhausted() {
			return nil
		}
		value, depth := l.modelMinimum(leastDistance, 0)
		promised := l.leastValue()-value >= l.requiredGain()
		if l.o.Rival != nil && min(value, l.best.Value) > l.o.Rival.Value+float64(rivalMargin*l.unit(l.o.Rival)) {
			return nil
		}
		doubt := l.roughness()
		switch {
		case l.o.Kinks:
			doubt *= kinkDeviations
		case l.spent <= float64(hardlySpent*l.o.Free):
			doubt *= cheapDeviations
		}
		switch cheap := l.o.Rough > 0 && l.workIsCheap(); {
		case cheap && promised:
			_, depth = l.modelMinimum(leastDistance, doubt)
		case cheap:
			value, depth = l.modelMinimum(leastDoubtDistance, doubt)
			promised = l.leastValue()-value >= leastHiddenGain*l.unit(l.best.Evaluation)
		}
		if !promised {
			return nil
		}
		gap := refineGap
		if l.pointsAreExpensive() {
			gap = scanGap
		}
		l.expectsChoice = !l.workIsCheap() // while there is spare work, a point placed by doubt may follow
		if err := l.visit(ctx, depth, gap, l.nearest(depth)); err != nil {
			return err
		}
		l.expectsChoice = false
	}
	return nil
}

// workIsCheap reports whether work is cheap: some of the free work is left, and the scan has not been resumed.
func (l *scan) workIsCheap() bool { return l.spent <= l.o.Free && !l.resumed }

// pointsAreExpensive reports whether points are expensive: the best one took more than the free work, as will those
// that follow.
func (l *scan) pointsAreExpensive() bool { return l.best.Work > l.o.Free }

// requiredGain returns the predicted gain from which on a point is worth an evaluation: a hundredth of the standard
// error, or two hundredths where points are expensive, since loose solutions move values by as much. If there is a
// standard error, requiredGain is at most a thousandth of the value, which is less where rows are few; or a seventh of
// that where the loss is not quadratic and points are cheap, since the model predicts too little there. Criteria of
// support vectors are too rough for the latter. After an earlier scan requiredGain is more if another point would
// exceed the allowed work.
func (l *scan) requiredGain() float64 {
	if l.resumed && l.leastPrediction() > leastGain {
		return leastHiddenGain * l.unit(l.best.Evaluation)
	}
	least := leastGain
	if l.pointsAreExpensive() {
		least = leastGainLoose
	}
	required := float64(least * l.unit(l.best.Evaluation))
	if l.best.StandardError > 0 {
		share := visibleShare
		if l.o.Relative && !l.o.Climb && !l.resumed && !l.pointsAreExpensive() {
			share = promisingShare
		}
		required = min(required, max(share*math.Abs(l.best.Value), leastGain*leastUnit*l.gain()))
	}
	return required
}

// roughness returns the root mean square of the model's errors near the best, as multiples of what [scan.expectedError]
// expects, with this expectation counted as a few points. The error at a point is that of the cubic between its
// neighbours. Where slopes jump, intervals count as well, by the difference between their slopes and their chord:
// a jump half way would move the model by an eighth of that difference times the distance.
func (l *scan) roughness() float64 {
	square, count := float64(priorWeight), float64(priorWeight)
	addError := func(deviation, rough float64) { // adds an error of the model where rough is expected
		if deviation /= rough; rough > 0 && finite(deviation) {
			square = math.FMA(deviation, deviation, square)
			count++
		}
	}
	near := func(p point) bool {
		return finite(p.Value) && p.Value <= l.best.Value+float64(roughnessRange*l.unit(p.Evaluation))
	}
	for k := 1; k < len(l.points); k++ {
		a, b := l.points[k-1], l.points[k]
		if h := b.depth - a.depth; l.o.Kinks && h >= leastSecant && (near(a) || near(b)) {
			addError(h/8*(a.slope+b.slope-2*(b.Value-a.Value)/h), l.expectedError(a, b))
		}
		if k+1 == len(l.points) || !near(b) {
			continue
		}
		if c := l.points[k+1]; finite(a.Value) && finite(c.Value) {
			addError(Interpolate(c.depth-a.depth, a.Value, c.Value, a.slope, c.slope)(b.depth-a.depth)-b.Value, l.expectedError(a, c))
		}
	}
	return math.Sqrt(square / count)
}

// expectedError returns the expected distance of the criterion from the model half way between two points.
// Every column that enters bends the criterion at random: its slope is like a Brownian motion, and
// the error of a cubic through two values and slopes of the integral grows as the distance to the
// power of 3/2; it is larger where a slope is unknown. Where slopes jump now and then, the error is
// proportional to the distance. It is 0 as long as predictions are proportional to e^λ. Where steps
// fade, it fades with them, whatever the support is.
func (l *scan) expectedError(a, b point) float64 {
	h := b.depth - a.depth
	if math.IsNaN(a.slope) || math.IsNaN(b.slope) {
		h *= noSlopeFactor
	}
	growth := 1.0
	switch {
	case l.onRay(b):
		return 0
	case l.o.Fades > 0:
		growth = kernels.Exp(min(0, l.o.Fades-float64(0.5*(a.depth+b.depth))))
	case !l.o.Kinks:
		growth = math.Sqrt(min(1, (math.Abs(float64(b.Support-a.Support))+addedKnots)/manyKnots))
	}
	unit := max(l.unit(l.best.Evaluation), 0.5*(a.StandardError+b.StandardError))
	if l.o.Kinks {
		return l.o.Rough * unit * h
	}
	return l.o.Rough * unit * growth * h * math.Sqrt(h)
}

// nearest returns the evaluation that is closest in depth among those with solutions, at depths above 0.
func (l *scan) nearest(depth float64) (e *Evaluation) {
	distance := math.Inf(1)
	for _, p := range l.points {
		if d := math.Abs(p.depth - depth); d < distance && p.depth > 0 {
			e, distance = p.Evaluation, d
		}
	}
	return e
}

// modelMinimum returns the least value of the model less its doubt, and its depth; +Inf if no interval
// has its least value inside. It leaves out points that are closer to each other than minDistance.
// The doubt half way between two points is doubt times what [scan.expectedError] expects.
func (l *scan) modelMinimum(minDistance, doubt float64) (value, depth float64) {
	value, depth = l.rayMinimum()
	for k := 1; k < len(l.points); k++ {
		a, b := l.points[k-1], l.points[k]
		better := a.Evaluation
		if b.Value < a.Value {
			better = b.Evaluation
		}
		if b.depth-a.depth < minDistance || doubt == 0 && !(better.Value <= l.best.Value+float64(minimumRange*l.unit(better))) {
			continue
		}
		rough := 0.0
		if doubt > 0 {
			rough = doubt * l.expectedError(a, b)
		}
		if v, t := intervalMinimum(a, b, rough); v < value {
			margin := float64(endMargin * (b.depth - a.depth))
			value, depth = v, min(max(t, a.depth+margin), b.depth-margin)
		}
	}
	return value, depth
}

// onRay reports whether predictions are proportional to e^λ up to a point.
func (l *scan) onRay(p point) bool { return l.o.Straight && p.depth <= 0 }

// rayMinimum returns the least value of the model before the first point, and its depth, if predictions are
// proportional to e^λ up to that point: the criterion is then nearly a parabola in e^λ that begins at the null model.
// It returns +Inf if there is no such minimum.
func (l *scan) rayMinimum() (value, depth float64) {
	first := l.points[0]
	rise := first.Value - l.o.Null.Value
	bend := first.slope - rise
	x := (bend - rise) / (2 * bend)
	if !l.onRay(first) || !(bend > 0 && x > 0 && x < 1) {
		return math.Inf(1), 0
	}
	return l.o.Null.Value - float64(bend*x*x), first.depth + min(kernels.Log(x), -leastDistance)
}

// intervalMinimum returns the least value, and its depth, of the [Interpolate] model between two points less
// its doubt, which is rough half way between them; +Inf if the least value is at an end.
func intervalMinimum(a, b point, rough float64) (value, depth float64) {
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
