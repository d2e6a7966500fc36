package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
)

const (
	mostResumed            = 6    // evaluations after which the search follows the path after all
	mostRivals             = 2    // other basins that are evaluated, at most
	rivalRange             = 0.25 // standard errors above the best of the earlier scan up to which another basin counts
	longestStep            = 1.0  // longest step
	muchFresh              = 0.1  // fresh share of the objective above which corners have moved, and sparser points are seen first
	rowFitLoss             = 0.03 // training loss below which dense solutions fit single rows
	probeStep              = 0.4  // step where no curvature is known
	extrapolation          = 1.5  // factor on a step to where no slope is known: slopes mostly vanish more and more slowly
	curvatureReach         = 1.5  // largest distance of points whose slopes make a curvature
	leastCurvatureDistance = 0.3  // their least distance: closer slopes differ by the columns that enter between them
	curvatureOffset        = 0.25 // distance from a point, towards where the criterion falls, at which its curvature is taken
)

// resume goes on from the end of an earlier scan of nearly the same objective, by the slope there
// and the curvature that the earlier scan has seen, until the slope predicts a gain of less than a
// hundredth of a standard error or changes sign. It reports false if that leads nowhere, or to no
// point better than the null model: the search then has to follow the path.
func (l *scan) resume(ctx context.Context) (bool, error) {
	if len(l.o.Earlier) == 0 {
		return false, nil
	}
	depth, others := l.startingDepths()
	earlier, curvature := l.earlierPoints(), math.NaN()
	for range mostResumed {
		if leads, err := l.visitResumed(ctx, depth); !leads || err != nil {
			return false, err
		}
		next, done := l.nextResumed(earlier, &curvature)
		if done && len(others) > 0 {
			was := l.best.Evaluation
			if err := l.visitBasins(ctx, others); err != nil {
				return false, err
			}
			others = nil
			if l.best.Evaluation != was && !math.IsNaN(l.best.slope) {
				next, done = l.nextResumed(earlier, &curvature)
			}
		}
		if depth = next; done {
			l.resumed = true
			return true, nil
		}
	}
	return false, nil
}

// startingDepths returns the depth to begin at, that of the earlier choice or of a sparser point that was nearly as
// good, and the depths of other basins to evaluate.
func (l *scan) startingDepths() (depth float64, others []float64) {
	depth = min(l.depth(&l.o.Earlier[0]), l.o.Bottom)
	others, sparser := l.otherBasins(depth)
	work := l.workBetween(0, sparser)
	if sparser > 0 && (l.o.Fresh > muchFresh && 2*work <= l.allowedWork() || work <= l.allowedWork() && l.choiceFitsRows()) {
		return sparser, append([]float64{depth}, others...)
	}
	return depth, others
}

// visitResumed evaluates the point at a depth. It reports whether the best point then has a slope and is better than the
// null model, so that the search can go on from it.
func (l *scan) visitResumed(ctx context.Context, depth float64) (leads bool, err error) {
	if !(depth > 0 && depth <= l.o.Bottom) {
		return false, nil
	}
	var from *Evaluation
	if l.best != nil {
		from = l.nearest(depth)
	}
	if err := l.visit(ctx, depth, scanGap, from); err != nil {
		return false, err
	}
	return l.best != nil && !math.IsNaN(l.best.slope) && !l.nullIsBest(), nil
}

// nextResumed updates the curvature and returns the depth of the next point, by the curvature and the slope of the best
// point. done is true if the predicted gain is too small, or if a known point lies there.
func (l *scan) nextResumed(earlier []point, curvature *float64) (depth float64, done bool) {
	for _, seen := range [][]point{earlier, l.points} {
		if found := curvatureAt(l.best.depth, -math.Copysign(curvatureOffset, l.best.slope), seen); found > 0 {
			*curvature = found
		}
	}
	step, predicted := newtonStep(l.best.slope, *curvature)
	smallGain := predicted < l.leastPrediction()*l.deviation(l.best.Evaluation)
	if smallGain && l.best.TrainLoss > 0 && l.best.TrainLoss < littleLoss {
		if remaining, rate := l.tail(); remaining >= l.leastPrediction()*l.deviation(l.best.Evaluation) {
			depth = min(l.best.depth+math.Copysign(min(longestStep, 1/rate), -l.best.slope), l.o.Bottom)
			return depth, l.best.depth >= depth || pointAhead(l.points, l.best.depth, depth-l.best.depth)
		}
	}
	if !pointAhead(earlier, l.best.depth, step) {
		step = math.Copysign(min(longestStep, extrapolation*math.Abs(step)), step)
	}
	switch {
	case smallGain && len(l.points) == 1 && l.spent <= l.o.Free && (l.o.Fresh == 0 || l.o.Fresh > muchFresh && 2*l.spent <= l.allowedWork()):
		// The criterion has corners, which a slope does not show; if little is fresh, the
		// earlier scan has seen them.
		step = math.Copysign(probeStep, step)
	case smallGain, pointAhead(l.points, l.best.depth, step):
		return 0, true
	}
	if depth = l.best.depth + step; depth >= l.o.Bottom {
		depth = l.o.Bottom
		done = l.best.depth >= depth // as far as a path goes
	}
	return depth, done
}

// tail returns the remaining fall of a criterion that decays at a constant rate, and the rate. The excess over the
// noise decays in this way where hardly anything else is left of the training loss. The rate is that of the slopes at
// the best point and at the nearest steeper point before it; both results are 0 if there is none.
func (l *scan) tail() (remaining, rate float64) {
	slope, nearest := l.best.slope, math.Inf(1)
	for _, p := range l.points {
		away := (l.best.depth - p.depth) * math.Copysign(1, -slope)
		if steeper := p.slope / slope; away >= leastCurvatureDistance && away < nearest && steeper > 1 {
			nearest, rate = away, kernels.Log(steeper)/away
		}
	}
	if rate == 0 {
		return 0, 0
	}
	return math.Abs(slope) / rate, rate
}

// choiceFitsRows reports whether the solutions at the earlier choice are dense and fit nearly every row. On
// other rows such solutions are different, so that a warm start from them saves nothing.
func (l *scan) choiceFitsRows() bool {
	return l.o.Sparse && l.o.Interpolates && slices.ContainsFunc(l.o.Earlier, func(e Evaluation) bool {
		return slices.Equal(e.LogLambda, l.o.Earlier[0].LogLambda) && e.Saturation >= denseSupport && e.TrainLoss < rowFitLoss
	})
}

// leastPrediction returns the predicted gain, in standard errors, from which on another point is evaluated: it is
// larger where that point would exceed the allowed work.
func (l *scan) leastPrediction() float64 {
	if l.spent+l.here.Work > l.allowedWork() {
		return leastHiddenGain
	}
	return leastGain
}

// otherBasins returns the depths of other basins of the earlier scan that were nearly as deep as the
// chosen one, the best first. least is the least depth apart from the chosen one at which the
// criterion was nearly as good, 0 if there is none.
func (l *scan) otherBasins(chosen float64) (depths []float64, least float64) {
	earlier := scan{recorder: l.recorder, o: l.o}
	for _, p := range l.earlierPoints() {
		earlier.add(p)
	}
	points := earlier.points
	reach := max(rivalRange, math.Sqrt(2*l.o.Fresh))
	value := map[float64]float64{}
	for k, p := range points {
		if !(p.Value <= earlier.best.Value+float64(reach*earlier.deviation(p.Evaluation))) || math.Abs(p.depth-chosen) < leastSecant {
			continue
		}
		if least == 0 && p.depth > 0 && p.depth < chosen {
			least = p.depth
		}
		if k > 0 && k+1 < len(points) && p.Value < points[k-1].Value && p.Value <= points[k+1].Value {
			value[p.depth] = p.Value
			depths = append(depths, p.depth)
		}
	}
	slices.SortFunc(depths, func(a, b float64) int { return cmp.Compare(value[a], value[b]) })
	return depths[:min(len(depths), mostRivals)], least
}

// allowedWork returns the work up to which points of little predicted gain are evaluated: half of the
// work of a scan without an earlier one, estimated from that of the earlier scan.
func (l *scan) allowedWork() (work float64) {
	for i := range l.o.Earlier {
		work += l.o.Earlier[i].Work
	}
	return 0.5 * work / (1 - l.o.Fresh)
}

// visitBasins evaluates other basins that are apart from all points seen, as long as the allowance is not exceeded.
func (l *scan) visitBasins(ctx context.Context, depths []float64) error {
	for _, depth := range depths {
		from := l.nearest(depth)
		if away := l.depth(from); math.Abs(away-depth) < leastSecant || l.spent+l.workBetween(away, depth) > l.allowedWork() {
			continue
		}
		if err := l.visit(ctx, depth, scanGap, from); err != nil {
			return err
		}
	}
	return nil
}

// workBetween returns the work of the earlier scan between two depths, including that of the point at
// the second: an estimate of the work of going from the first to the second.
func (l *scan) workBetween(from, to float64) (work float64) {
	for i := range l.o.Earlier {
		if e, depth := &l.o.Earlier[i], l.depth(&l.o.Earlier[i]); depth == to || (depth-from)*(depth-to) < 0 {
			work += e.Work
		}
	}
	return work
}

// depth returns the depth of an evaluation, the inverse of [scan.lambda]; NaN unless it has one λ.
func (l *scan) depth(e *Evaluation) float64 {
	if len(e.LogLambda) != 1 {
		return math.NaN()
	}
	if l.o.Up {
		return e.LogLambda[0] - l.o.Origin
	}
	return l.o.Origin - e.LogLambda[0]
}

// earlierPoints returns the points of the earlier scan.
func (l *scan) earlierPoints() (points []point) {
	for i := range l.o.Earlier {
		points = append(points, l.pointOf(l.depth(&l.o.Earlier[i]), &l.o.Earlier[i]))
	}
	return points
}

// curvatureAt returns the second derivative at depth + off from the slopes of two points near that depth: the
// closest two that are distinct, preferably on both sides of it. It returns NaN if no two points have
// slopes that grow with the depth.
func curvatureAt(depth, off float64, points []point) float64 {
	curvature, least := math.NaN(), math.Inf(1)
	for i := range points {
		for j := range points {
			a, b := &points[i], &points[j]
			if b.depth-a.depth < leastCurvatureDistance || !(b.slope > a.slope) {
				continue
			}
			if max(math.Abs(a.depth-depth), math.Abs(b.depth-depth)) > curvatureReach {
				continue
			}
			at := depth + off
			reach := max(math.Abs(a.depth-at), math.Abs(b.depth-at))
			if a.depth > at || b.depth < at {
				reach += curvatureReach + curvatureOffset
			}
			if reach < least {
				curvature, least = (b.slope-a.slope)/(b.depth-a.depth), reach
			}
		}
	}
	return curvature
}

// newtonStep returns the Newton step for a slope and the gain that it predicts. If the curvature is unknown
// or not positive, it returns a step to find out, and +Inf.
func newtonStep(slope, curvature float64) (step, predicted float64) {
	if !(curvature > 0) {
		return math.Copysign(probeStep, -slope), math.Inf(1)
	}
	step = min(longestStep, math.Abs(slope)/curvature)
	return math.Copysign(step, -slope), 0.5 * math.Abs(slope) * step
}

// pointAhead reports whether a point of known slope lies beyond a depth in the direction of a step, and nearby:
// the model then predicts the minimum between them.
func pointAhead(points []point, depth, step float64) bool {
	return slices.ContainsFunc(points, func(p point) bool {
		away := (p.depth - depth) * math.Copysign(1, step)
		return away > 0 && away <= curvatureReach && !math.IsNaN(p.slope)
	})
}
