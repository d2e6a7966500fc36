package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
)

const (
	resumptions = 6    // evaluations before the path is gone after all
	rivals      = 2    // other basins looked into, at most
	rivalling   = 0.25 // standard errors above the best that the earlier scan has seen them at most
	longest     = 1.0  // step
	much        = 0.1  // of the objective that is fresh, from which on corners have moved, and what comes cheaper is seen first
	nearlyAll   = 0.03 // training loss that dense solutions leave which follow single rows
	probe       = 0.4  // step where no curvature is known
	eager       = 1.5  // times a step into where no slope is known: slopes mostly die away ever more slowly
	nearby      = 1.5  // how far away points may be whose slopes make a curvature
	distinct    = 0.3  // how far at least: slopes nearby differ by the columns that come in between
	ahead       = 0.25 // of a point is where its curvature counts: towards where the criterion falls
)

// resume goes on from where an earlier scan at nearly the same objective has ended, by
// the slope there and the curvature that the earlier one has seen, until the slope promises
// less than a hundredth of a standard error or changes sign. It reports false where that
// leads nowhere, or to nothing better than the null model: the path has to be gone.
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
// and those of other basins to look into.
func (l *scan) beginnings() (depth float64, others []float64) {
	depth = min(l.depth(&l.o.Earlier[0]), l.o.Bottom)
	others, sparser := l.rivals(depth)
	way := l.priceBetween(0, sparser)
	if sparser > 0 && (l.o.Fresh > much && 2*way <= l.allowance() || way <= l.allowance() && l.choiceFits()) {
		return sparser, append([]float64{depth}, others...)
	}
	return depth, others
}

// enter evaluates the point at a depth. It reports false where there is none to go on from.
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

// onwards returns the depth of the next point, by the slope of the best one and the curvature, which
// it brings up to date; done where that promises too little, or what lies there is known.
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
		// The criterion has corners, which a slope does not see; where little is fresh the
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

// tail returns what is left to fall of a criterion that falls by a constant rate, as the excess over the noise does where next to
// nothing else is left of the training loss, and the rate: by the slopes at the best point and at the nearest before it that was steeper.
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

// choiceFits reports whether solutions at the earlier choice are dense and fit nearly every row: with
// others they are others, and it is as far to there as from nothing.
func (l *scan) choiceFits() bool {
	return l.o.Sparse && l.o.Interpolates && slices.ContainsFunc(l.o.Earlier, func(e Evaluation) bool {
		return slices.Equal(e.LogLambda, l.o.Earlier[0].LogLambda) && e.Saturation >= crowded && e.TrainLoss < nearlyAll
	})
}

// worth is what a slope has to promise, in standard errors, for another point: more where that
// would make the work more than is allowed.
func (l *scan) worth() float64 {
	if l.spent+l.here.Work > l.allowance() {
		return worthDoubt
	}
	return enough
}

// rivals returns the depths of other basins that the earlier scan has seen to be nearly as
// deep as the one it has chosen, the best first, and the least depth at which it was nearly as
// good, 0 where that is next to the one chosen.
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

// allowance is the work up to which points are evaluated that promise little: half of what a scan
// from nothing takes, by that of the earlier one.
func (l *scan) allowance() (work float64) {
	for i := range l.o.Earlier {
		work += l.o.Earlier[i].Work
	}
	return 0.5 * work / (1 - l.o.Fresh)
}

// compare evaluates other basins that nothing has been seen of, as long as that is allowed.
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

// priceBetween returns the work of the earlier scan between two depths, the second of which is one
// of its points: about what it takes to go there from the first.
func (l *scan) priceBetween(from, to float64) (work float64) {
	for i := range l.o.Earlier {
		if e, depth := &l.o.Earlier[i], l.depth(&l.o.Earlier[i]); depth == to || (depth-from)*(depth-to) < 0 {
			work += e.Work
		}
	}
	return work
}

// depth is the inverse of lambda.
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

// bendAt returns the second derivative a little off a depth by the slopes of two points near that,
// on either side if there are such, as near as they are distinct; NaN where no two have slopes that
// grow with the depth.
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

// descent returns the Newton step of a slope and what it promises, of a curvature that is
// not known or no minimum's a step to find out.
func descent(slope, curvature float64) (step, promise float64) {
	if !(curvature > 0) {
		return math.Copysign(probe, -slope), math.Inf(1)
	}
	step = min(longest, math.Abs(slope)/curvature)
	return math.Copysign(step, -slope), 0.5 * math.Abs(slope) * step
}

// lies reports whether a point of known slope lies ahead of a depth in the direction of a
// step, and not too far: the minimum between them is the model's.
func lies(points []point, depth, step float64) bool {
	return slices.ContainsFunc(points, func(p point) bool {
		away := (p.depth - depth) * math.Copysign(1, step)
		return away > 0 && away <= nearby && !math.IsNaN(p.slope)
	})
}
