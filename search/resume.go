package search

import (
	"cmp"
	"context"
	"math"
	"slices"
)

const (
	resumptions = 6    // evaluations before the path is gone after all
	rivals      = 2    // other basins looked into, at most
	rivalling   = 0.25 // standard errors above the best that the earlier scan has seen them at most
	longest     = 1.0  // step
	much        = 0.1  // of the objective that is fresh, from which on corners have moved, and what comes cheaper is seen first
	probe       = 0.4  // step where no curvature is known
	eager       = 1.5  // times a step into where no slope is known: slopes mostly die away ever more slowly
	nearby      = 1.5  // how far away points may be whose slopes make a curvature
	distinct    = 0.3  // how far at least: slopes nearby differ by the columns that come in between
)

// resume goes on from where an earlier scan at nearly the same objective has ended, by
// the slope there and the curvature that the earlier one has seen, until the slope promises
// less than a hundredth of a standard error or changes sign. It reports false where that
// leads nowhere, or to nothing better than the null model: the path has to be gone.
func (l *scan) resume(ctx context.Context) (bool, error) {
	if len(l.o.Earlier) == 0 {
		return false, nil
	}
	depth, earlier := min(l.depth(&l.o.Earlier[0]), near(l.o.Bottom)), l.earlier()
	curvature := bendAt(depth, earlier)
	rival, sparser := l.rivals(depth)
	if l.o.Fresh > much && sparser > 0 {
		if err := l.visit(ctx, sparser, scanGap, nil); err != nil {
			return false, err
		}
	}
	for range resumptions {
		if !(depth > 0 && depth < l.o.Bottom) {
			return false, nil
		}
		var from *Evaluation
		if l.best != nil {
			from = l.nearest(depth)
		}
		if err := l.visit(ctx, depth, scanGap, from); err != nil {
			return false, err
		}
		if l.best == nil || math.IsNaN(l.best.slope) || l.beaten() {
			return false, nil
		}
		if bend := bendAt(l.best.depth, l.points); bend > 0 {
			curvature = bend
		}
		step, promise := descent(l.best.slope, curvature)
		content := promise < enough*l.unit(l.best.Evaluation)
		if !lies(earlier, l.best.depth, step) {
			step = math.Copysign(min(longest, eager*math.Abs(step)), step)
		}
		switch {
		case content && len(l.points) == 1 && l.spent <= l.o.Free && (l.o.Fresh == 0 || l.o.Fresh > much && 2*l.spent <= l.allowance()):
			// The criterion has corners, which a slope does not see; where little is fresh the
			// earlier scan has seen them.
			step = math.Copysign(probe, step)
		case content, lies(l.points, l.best.depth, step):
			l.resumed = true
			return true, l.compare(ctx, rival)
		}
		if depth = l.best.depth + step; depth >= l.o.Bottom {
			if depth = near(l.o.Bottom); l.best.depth >= depth { // as far as a path goes
				l.resumed = true
				return true, l.compare(ctx, rival)
			}
		}
	}
	return false, nil
}

// near is a depth just above the bottom of a path.
func near(bottom float64) float64 { return bottom - 0.1*distinct }

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
		if !(p.Value <= earlier.best.Value+float64(reach*earlier.unit(p.Evaluation))) || math.Abs(p.depth-chosen) < apart {
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

// allowance is the work up to which points are evaluated that promise nothing: half of the
// earlier scan's.
func (l *scan) allowance() (work float64) {
	for i := range l.o.Earlier {
		work += float64(0.5 * l.o.Earlier[i].Work)
	}
	return work
}

// compare evaluates other basins, as long as that is allowed.
func (l *scan) compare(ctx context.Context, depths []float64) error {
	for _, depth := range depths {
		from := l.nearest(depth)
		if away := l.depth(from); away == depth || l.spent+l.priceBetween(away, depth) > l.allowance() {
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

// bendAt returns the second derivative near a depth by the slopes of the two points next to
// it on either side, or of the two nearest; NaN where there are not two.
func bendAt(depth float64, points []point) float64 {
	var near [2]*point // shallower or there, deeper
	for i := range points {
		p := &points[i]
		away := math.Abs(p.depth - depth)
		if math.IsNaN(p.slope) || !(away <= nearby) {
			continue
		}
		side := 0
		if p.depth > depth {
			side = 1
		}
		if near[side] == nil || away < math.Abs(near[side].depth-depth) {
			near[side] = p
		}
	}
	a, b := near[0], near[1]
	for i := range points { // the next to the only one
		p := &points[i]
		if math.IsNaN(p.slope) || !(math.Abs(p.depth-depth) <= nearby) {
			continue
		}
		switch {
		case a == nil && b != nil && p.depth-b.depth >= distinct:
			a = p
		case b == nil && a != nil && a.depth-p.depth >= distinct:
			b = p
		}
	}
	if a == nil || b == nil || math.Abs(b.depth-a.depth) < distinct {
		return math.NaN()
	}
	return (b.slope - a.slope) / (b.depth - a.depth)
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
		ahead := (p.depth - depth) * math.Copysign(1, step)
		return ahead > 0 && ahead <= nearby && !math.IsNaN(p.slope)
	})
}
