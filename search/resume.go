package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
)

const (
	resumptions = 6    // evaluations after which the search follows the path after all
	rivals      = 2    // other basins that are evaluated, at most
	rivalling   = 0.25 // standard errors above the best of the earlier scan up to which another basin counts
	longest     = 1.0  // longest step
	much        = 0.1  // fresh share of the objective above which corners have moved, and sparser points are seen first
	nearlyAll   = 0.03 // training loss below which dense solutions fit single rows
	probe       = 0.4  // step where no curvature is known
	eager       = 1.5  // factor on a step to where no slope is known: slopes mostly vanish more and more slowly
	nearby      = 1.5  // largest distance of points whose slopes make a curvature
	distinct    = 0.3  // their least distance: closer slopes differ by the columns that enter between them
	ahead       = 0.25 // distance from a point, towards where the criterion falls, at which its curvature is taken
)

// resume goes on from the end of an earlier scan of nearly the same objective, by the slope there
// and the curvature that the earlier scan has seen, until the slope predicts a gain of less than a
// hundredth of a standard error or changes sign. It reports false if that leads nowhere, or to no
// point better than the null model: the search then has to follow the path.
func (l *scan) resume(ctx context.Context) (bool, error) {
	if len(l.o.Earlier) == 0 {
		return false, nil
	}
	depth, others := l.beginnings()
	earlier, curvature := l.earlier(), math.NaN()
	for range resumptions {
		if leads, err := l.enter(ctx, depth); !leads || err != nil {
			return false, err
		}
		next, done := l.onwards(earlier, &curvature)
		if done && len(others) > 0 {
			was := l.best.Evaluation
			if err := l.compare(ctx, others); err != nil {
				return false, err
			}
			others = nil
			if l.best.Evaluation != was && !math.IsNaN(l.best.slope) {
				next, done = l.onwards(earlier, &curvature)
			}
		}
		if depth = next; done {
			l.resumed = true
			return true, nil
		}
	}
	return false, nil
}

// beginnings returns the depth to begin at, that of the earlier choice or of a sparser point that was nearly as good,
// and the depths of other basins to evaluate.
func (l *scan) beginnings() (depth float64, others []float64) {
	depth = min(l.depth(&l.o.Earlier[0]), l.o.Bottom)
	others, sparser := l.rivals(depth)
	way := l.priceBetween(0, sparser)
	if sparser > 0 && (l.o.Fresh > much && 2*way <= l.allowance() || way <= l.allowance() && l.choiceFits()) {
		return sparser, append([]float64{depth}, others...)
	}
	return depth, others
}

// enter evaluates the point at a depth. It reports whether the best point then has a slope and is better than the
// null model, so that the search can go on from it.
func (l *scan) enter(ctx context.Context, depth float64) (leads bool, err error) {
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
	return l.best != nil && !math.IsNaN(l.best.slope) && !l.beaten(), nil
}

// onwards updates the curvature and returns the depth of the next point, by the curvature and the slope of the best
// point. done is true if the predicted gain is too small, or if a known point lies there.
func (l *scan) onwards(earlier []point, curvature *float64) (depth float64, done bool) {
	for _, seen := range [][]point{earlier, l.points} {
		if bend := bendAt(l.best.depth, -math.Copysign(ahead, l.best.slope), seen); bend > 0 {
			*curvature = bend
		}
	}
	step, promise := descent(l.best.slope, *curvature)
	content := promise < l.worth()*l.deviation(l.best.Evaluation)
	if content && l.best.TrainLoss > 0 && l.best.TrainLoss < littleLeft {
		if rest, rate := l.tail(); rest >= l.worth()*l.deviation(l.best.Evaluation) {
			depth = min(l.best.depth+math.Copysign(min(longest, 1/rate), -l.best.slope), l.o.Bottom)
			return depth, l.best.depth >= depth || lies(l.points, l.best.depth, depth-l.best.depth)
		}
	}
	if !lies(earlier, l.best.depth, step) {
		step = math.Copysign(min(longest, eager*math.Abs(step)), step)
	}
	switch {
	case content && len(l.points) == 1 && l.spent <= l.o.Free && (l.o.Fresh == 0 || l.o.Fresh > much && 2*l.spent <= l.allowance()):
		// The criterion has corners, which a slope does not show; if little is fresh, the
		// earlier scan has seen them.
		step = math.Copysign(probe, step)
	case content, lies(l.points, l.best.depth, step):
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
func (l *scan) tail() (rest, rate float64) {
	slope, nearest := l.best.slope, math.Inf(1)
	for _, p := range l.points {
		away := (l.best.depth - p.depth) * math.Copysign(1, -slope)
		if steeper := p.slope / slope; away >= distinct && away < nearest && steeper > 1 {
			nearest, rate = away, kernels.Log(steeper)/away
		}
	}
	if rate == 0 {
		return 0, 0
	}
	return math.Abs(slope) / rate, rate
}

// choiceFits reports whether the solutions at the earlier choice are dense and fit nearly every row. On
// other rows such solutions are different, so that a warm start from them saves nothing.
func (l *scan) choiceFits() bool {
	return l.o.Sparse && l.o.Interpolates && slices.ContainsFunc(l.o.Earlier, func(e Evaluation) bool {
		return slices.Equal(e.LogLambda, l.o.Earlier[0].LogLambda) && e.Saturation >= crowded && e.TrainLoss < nearlyAll
	})
}

// worth returns the predicted gain, in standard errors, from which on another point is evaluated: it is
// larger where that point would exceed the allowed work.
func (l *scan) worth() float64 {
	if l.spent+l.here.Work > l.allowance() {
		return worthDoubt
	}
	return enough
}

// rivals returns the depths of other basins of the earlier scan that were nearly as deep as the
// chosen one, the best first. least is the least depth apart from the chosen one at which the
// criterion was nearly as good, 0 if there is none.
func (l *scan) rivals(chosen float64) (depths []float64, least float64) {
	earlier := scan{recorder: l.recorder, o: l.o}
	for _, p := range l.earlier() {
		earlier.add(p)
	}
	points := earlier.points
	reach := max(rivalling, math.Sqrt(2*l.o.Fresh))
	value := map[float64]float64{}
	for k, p := range points {
		if !(p.Value <= earlier.best.Value+float64(reach*earlier.deviation(p.Evaluation))) || math.Abs(p.depth-chosen) < apart {
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
	return depths[:min(len(depths), rivals)], least
}

// allowance returns the work up to which points of little predicted gain are evaluated: half of the
// work of a scan without an earlier one, estimated from that of the earlier scan.
func (l *scan) allowance() (work float64) {
	for i := range l.o.Earlier {
		work += l.o.Earlier[i].Work
	}
	return 0.5 * work / (1 - l.o.Fresh)
}

// compare evaluates other basins that are apart from all points seen, as long as the allowance is not exceeded.
func (l *scan) compare(ctx context.Context, depths []float64) error {
	for _, depth := range depths {
		from := l.nearest(depth)
		if away := l.depth(from); math.Abs(away-depth) < apart || l.spent+l.priceBetween(away, depth) > l.allowance() {
			continue
		}
		if err := l.visit(ctx, depth, scanGap, from); err != nil {
			return err
		}
	}
	return nil
}

// priceBetween returns the work of the earlier scan between two depths, including that of the point at
// the second: an estimate of the work of going from the first to the second.
func (l *scan) priceBetween(from, to float64) (work float64) {
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

// earlier returns the points of the earlier scan.
func (l *scan) earlier() (points []point) {
	for i := range l.o.Earlier {
		points = append(points, l.pointOf(l.depth(&l.o.Earlier[i]), &l.o.Earlier[i]))
	}
	return points
}

// bendAt returns the second derivative at depth + off from the slopes of two points near that depth: the
// closest two that are distinct, preferably on both sides of it. It returns NaN if no two points have
// slopes that grow with the depth.
func bendAt(depth, off float64, points []point) float64 {
	bend, least := math.NaN(), math.Inf(1)
	for i := range points {
		for j := range points {
			a, b := &points[i], &points[j]
			if b.depth-a.depth < distinct || !(b.slope > a.slope) {
				continue
			}
			if max(math.Abs(a.depth-depth), math.Abs(b.depth-depth)) > nearby {
				continue
			}
			at := depth + off
			reach := max(math.Abs(a.depth-at), math.Abs(b.depth-at))
			if a.depth > at || b.depth < at {
				reach += nearby + ahead
			}
			if reach < least {
				bend, least = (b.slope-a.slope)/(b.depth-a.depth), reach
			}
		}
	}
	return bend
}

// descent returns the Newton step for a slope and the gain that it predicts. If the curvature is unknown
// or not positive, it returns a step to find out, and +Inf.
func descent(slope, curvature float64) (step, promise float64) {
	if !(curvature > 0) {
		return math.Copysign(probe, -slope), math.Inf(1)
	}
	step = min(longest, math.Abs(slope)/curvature)
	return math.Copysign(step, -slope), 0.5 * math.Abs(slope) * step
}

// lies reports whether a point of known slope lies beyond a depth in the direction of a step, and nearby:
// the model then predicts the minimum between them.
func lies(points []point, depth, step float64) bool {
	return slices.ContainsFunc(points, func(p point) bool {
		away := (p.depth - depth) * math.Copysign(1, step)
		return away > 0 && away <= nearby && !math.IsNaN(p.slope)
	})
}
