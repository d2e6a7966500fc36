package search

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Secant minimises over one λ by the secant method on the slope L′ within a
// bracket. The first step has length 1 against the slope. Each later step leads to
// the root of the line through the last two slopes, or further where the last three
// slopes are bent. It is at most 1 towards small λ, where inner problems are
// expensive, and at most 2 towards large λ or where L is concave.
// Once a minimum is bracketed, steps stay inside the bracket, not too close to its
// ends, and a bracket that shrinks slowly is halved.
//
// On real data L′ is a saw-tooth and L looks smooth: knots carry a large part of
// the curvature. Slopes at the iterates therefore serve better than second
// derivatives between knots, and the minimum may be a kink. A point that is
// clearly higher than the best end of the bracket becomes an end whatever its
// slope is, so that the best point seen stays inside.
//
// The search stops where the predicted gain within the bracket is below
// options.Stop: as Stationary, or as Kink if the slopes at the ends have not shrunk
// with the bracket. It also stops at the border, as Box, or where the objective is
// Flat.
func Secant(ctx context.Context, f Objective, start float64, box Box, options Options) (*Result, error) {
	if err := box.check([]float64{start}); err != nil {
		return nil, err
	}
	r, err := newRecorder(f, options)
	if err != nil {
		return nil, err
	}
	return r.search(ctx, func(ctx context.Context) (outcome.Status, error) {
		return r.secant(ctx, start, box)
	})
}

const (
	longestDown   = 1.0     // longest step towards small λ where L is convex
	longestUp     = 2.0     // longest step towards large λ, or where L is concave
	concaveGrowth = 3.0     // factor from one step to the next where L is concave
	endShare      = 0.05    // share of the bracket that steps keep from its ends
	smoothGrowth  = 1.5     // factor from one bracket's curvature to the next above which there may be a kink
	powerStep     = 1. / 16 // increment of the power in rootDistance
	narrowWidth   = 1e-4    // width of a bracket below which its ends count as one point
	// secantError is the gap for a step, as a share of its predicted gain: values err by ten
	// times the gap and, under a ridge, by a hundred times.
	secantError = 1e-3
)

func (r *recorder) secant(ctx context.Context, start float64, box Box) (outcome.Status, error) {
	here, flat, status, err := r.begin(ctx, []float64{start}, box)
	if status != "" || err != nil {
		return status, err
	}
	b := bracket{lower: box.Lower[0], upper: box.Upper[0]}
	if flat != nil && flat.LogLambda[0] > here.LogLambda[0] {
		b.right = flat
	}
	for {
		b.add(here)
		status, evidence := b.end(r.options.Stop)
		switch {
		case status == "":
			x := b.nextPoint()
			here, err = r.evalWithin(ctx, []float64{x}, secantError*b.predictedDecrease(x))
		case evidence.Final && !evidence.usable():
			return "", unusableError(evidence)
		case evidence.Final:
			return status, nil
		default:
			here, err = r.confirm(ctx, evidence)
		}
		if err != nil {
			return "", err
		}
	}
}

// bracket is an interval that contains a minimum. From its better end L falls into
// the interval; from the other end L falls into it, too, or L is higher there. An
// end that has not been found is nil.
type bracket struct {
	lower, upper                     float64 // the box
	left, right                      *Evaluation
	here, last                       *Evaluation // the last evaluation, and the one before it
	older                            *Evaluation // the one before last
	stalls                           int         // consecutive steps that did not halve the bracket
	firstCurvature                   float64     // curvature over the first bracket, 0 before there is one
	previousCurvature, lastCurvature float64     // curvature over the previous bracket and over this one
}

// add narrows the bracket by a new evaluation.
func (b *bracket) add(e *Evaluation) {
	before := b.width()
	b.here, b.last, b.older = e, b.here, b.last
	x, rising := e.LogLambda[0], slope(e) > 0
	if best := b.betterEnd(); best != nil && x != best.LogLambda[0] {
		if !e.usable() || e.Flat || e.Value-best.Value > valueError*max(e.Tol, best.Tol)*math.Abs(best.Value) {
			rising = x > best.LogLambda[0]
		}
	}
	if rising {
		b.right = e
		if b.left != nil && b.left.LogLambda[0] >= x {
			b.left = nil
		}
	} else {
		b.left = e
		if b.right != nil && b.right.LogLambda[0] <= x {
			b.right = nil
		}
	}
	if b.stalls++; b.width() < 0.5*before {
		b.stalls = 0
	}
	if b.straddles() {
		if b.firstCurvature == 0 {
			b.firstCurvature = b.curvature()
		}
		b.previousCurvature, b.lastCurvature = b.lastCurvature, b.curvature()
	}
}

func slope(e *Evaluation) float64 { return e.Gradient[0] }

// width returns the length of the bracket, +Inf while an end is missing.
func (b *bracket) width() float64 {
	if b.left == nil || b.right == nil {
		return math.Inf(1)
	}
	return b.right.LogLambda[0] - b.left.LogLambda[0]
}

// betterEnd returns the end from which L falls into the bracket, the lower one if it
// falls from both; nil if no end has been found.
func (b *bracket) betterEnd() *Evaluation {
	if b.left == nil || (b.right != nil && hasDirection(b.right) && (!hasDirection(b.left) || b.right.Value < b.left.Value)) {
		return b.right
	}
	return b.left
}

// hasDirection reports whether the slope of e shows a direction: it is finite, and e is not flat.
func hasDirection(e *Evaluation) bool { return e.usable() && !e.Flat }

// straddles reports whether the slopes at both ends point into the bracket.
func (b *bracket) straddles() bool {
	return b.left != nil && b.right != nil && slope(b.left) < 0 && slope(b.right) > 0 && hasDirection(b.left) && hasDirection(b.right)
}

// curvature returns the mean second derivative over the bracket: from the slopes
// at its ends, or from both values and the slope at the better end, where the
// other slope does not point into the bracket. It may be NaN or not positive.
func (b *bracket) curvature() float64 {
	width := b.width()
	if b.straddles() {
		return (slope(b.right) - slope(b.left)) / width
	}
	best, other := b.betterEnd(), b.left
	if best == b.left {
		other = b.right
	}
	return 2 * (other.Value - best.Value + float64(math.Abs(slope(best))*width)) / float64(width*width)
}

// end returns the status with which the search ends, and the evaluation that has to
// be at the final tolerance for that; "" if the search goes on.
func (b *bracket) end(stop float64) (outcome.Status, *Evaluation) {
	here := b.here
	x, g := here.LogLambda[0], slope(here)
	switch {
	case (here == b.left && g < 0 && x >= b.upper) || (here == b.right && g > 0 && x <= b.lower):
		return outcome.Box, here
	case math.Abs(g) <= zeroNorm && here.usable() && here == b.betterEnd():
		return outcome.Stationary, here
	case math.IsInf(b.width(), 0):
		// A smooth minimum can be reached from one side alone.
		if b.unresolved() || b.remainingGain() < stop*math.Abs(here.Value) {
			return outcome.Stationary, here
		}
		return "", nil
	}
	best := b.betterEnd()
	if b.width() >= narrowWidth && !b.unresolved() && !(b.predictedGain() < stop*math.Abs(best.Value)) {
		return "", nil
	}
	status := outcome.Stationary
	if b.straddles() {
		status = endStatus(b.curvature(), b.firstCurvature)
	}
	if !best.Final || status != outcome.Kink {
		return status, best
	}
	// A kink counts only if both of its sides are at the final tolerance.
	if !b.left.Final {
		return status, b.left
	}
	return status, b.right
}

// unresolved reports whether the last step was too short for the objective: the
// solution of the point before met the tolerance, so that both values are equal, bit
// for bit, although both slopes say that the value should have changed.
func (b *bracket) unresolved() bool {
	return b.last != nil && b.here.Final && b.last.Final && b.here.Value == b.last.Value &&
		b.here.LogLambda[0] != b.last.LogLambda[0] && slope(b.here)*slope(b.last) > 0
}

// remainingGain returns a bound of the remaining gain while no minimum is bracketed: the
// gain that the slope predicts over another step as long as the last or, if that is
// longer, over the next step; +Inf where L is not convex.
func (b *bracket) remainingGain() float64 {
	if b.last == nil || !hasDirection(b.here) || !hasDirection(b.last) || !(b.secantCurvature() > 0) {
		return math.Inf(1)
	}
	return math.Abs(slope(b.here)) * max(b.stepLength(), b.rootDistance())
}

// predictedGain returns the predicted gain below the better end of the bracket: that of a
// parabola fitted to the bracket. If the curvature has grown since the previous
// bracket there may be a kink, and the gain is at least that of the point where the
// tangents at both ends meet.
func (b *bracket) predictedGain() float64 {
	best, curvature := b.betterEnd(), b.curvature()
	if !(curvature > 0) {
		return math.Inf(1)
	}
	parabola := 0.5 * slope(best) * slope(best) / curvature
	if !b.straddles() || curvature <= smoothGrowth*b.previousCurvature {
		return parabola
	}
	width, down, up := b.width(), -slope(b.left), slope(b.right)
	meet := (float64(up*width) - (b.right.Value - b.left.Value)) / (down + up)
	kink := best.Value - b.left.Value + float64(down*min(max(meet, 0), width))
	return max(parabola, kink)
}

// predictedDecrease returns the predicted relative decrease of L on a step to x if the slope vanishes at x.
func (b *bracket) predictedDecrease(x float64) float64 {
	from := b.here
	if !math.IsInf(b.width(), 0) {
		from = b.betterEnd()
	}
	return 0.5 * math.Abs(slope(from)*(x-from.LogLambda[0])/from.Value)
}

// nextPoint returns where to evaluate.
func (b *bracket) nextPoint() float64 {
	width := b.width()
	if math.IsInf(width, 0) {
		return b.stepOutward()
	}
	left, right := b.left.LogLambda[0], b.right.LogLambda[0]
	if b.stalls >= 2 {
		b.stalls = 0
		return 0.5 * (left + right)
	}
	best, curvature := b.betterEnd(), b.curvature()
	if !(curvature > 0 && curvature <= math.MaxFloat64) {
		return 0.5 * (left + right)
	}
	step := -slope(best) / curvature
	x := min(max(best.LogLambda[0]+step, left+float64(endShare*width)), right-float64(endShare*width))
	return min(max(x, best.LogLambda[0]-longestDown), best.LogLambda[0]+longestUp)
}

// stepOutward steps against the slope while no minimum is bracketed.
func (b *bracket) stepOutward() float64 {
	length, down := 1.0, longestDown
	if b.last != nil {
		moved, convex := b.stepLength(), b.secantCurvature() > 0
		switch {
		case moved == 0: // a tighter tolerance has opened the bracket again
			if length = concaveGrowth * narrowWidth; b.firstCurvature > 0 {
				length = min(math.Abs(slope(b.here))/b.firstCurvature, mostGrowth*narrowWidth)
			}
		case convex:
			length = min(b.rootDistance(), mostGrowth*moved)
		default: // the slope has to turn before it can vanish
			length, down = concaveGrowth*moved, longestUp
		}
	}
	x := b.here.LogLambda[0]
	if b.here == b.right {
		return max(b.lower, x-min(length, down))
	}
	return min(b.upper, x+min(length, longestUp))
}

// stepLength returns the length of the last step, and secantCurvature the mean second derivative
// along it.
func (b *bracket) stepLength() float64 { return math.Abs(b.here.LogLambda[0] - b.last.LogLambda[0]) }

func (b *bracket) secantCurvature() float64 {
	return (slope(b.here) - slope(b.last)) / (b.here.LogLambda[0] - b.last.LogLambda[0])
}

// rootDistance returns the distance from the last point to the root of the line through the
// last two slopes. Towards small λ slopes vanish like powers of α, and such steps would
// fall short again and again. There rootDistance first divides the slopes by the least power of
// α, up to α itself, that leaves the last three on a line or bent the other way.
func (b *bracket) rootDistance() float64 {
	x, g := b.here.LogLambda[0], slope(b.here)
	curvature := b.secantCurvature()
	if b.older == nil || b.here != b.right || b.older.LogLambda[0] == b.last.LogLambda[0] {
		return math.Abs(g / curvature)
	}
	x1, x2 := b.older.LogLambda[0]-x, b.last.LogLambda[0]-x
	for k := 0.0; k <= 1; k += powerStep {
		g1, g2 := float64(slope(b.older)*kernels.Exp(-k*x1)), float64(slope(b.last)*kernels.Exp(-k*x2))
		before, now := (g1-g2)/(x1-x2), (g2-g)/x2
		if now > 0 {
			curvature = now
		}
		if !(now > 0 && now < math.Abs(before)) {
			break
		}
	}
	return math.Abs(g / curvature)
}
