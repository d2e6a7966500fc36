package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// mostPolishSteps is the maximum number of steps by the model in [scan.polish].
const mostPolishSteps = 5

// polish continues to the last digits: by steps of the model, each solved to a tolerance in
// proportion to its predicted gain, and, if these do not settle, as at a corner, by [Secant]
// between the neighbours of the best point.
func (l *scan) polish(ctx context.Context, f Objective, seen *Result) (*Result, error) {
	l.options.Tol = cmp.Or(l.o.Tol, defaultTol) // evaluations that were final are loose from here on
	l.loose, l.recorder.best = l.recorder.best, ranked{}
	for _, p := range l.points {
		p.Final = false
	}
	for i := range l.result.Evaluations {
		l.result.Evaluations[i].Final = false
	}
	settled := false
	result, err := l.search(ctx, func(ctx context.Context) (outcome.Status, error) {
		for range mostPolishSteps {
			value, depth := l.modelMinimum(narrowWidth, 0)
			predicted := l.best.Value - value
			if !(predicted >= l.options.Stop*math.Abs(l.best.Value)) {
				settled = !(l.secantGain() >= l.options.Stop*math.Abs(l.best.Value)) && (l.best.depth < l.points[len(l.points)-1].depth || !(l.best.slope < 0))
				break
			}
			gap := min(refineGap, secantError*predicted/math.Abs(l.best.Value))
			if err := l.visit(ctx, depth, gap, l.nearest(depth)); err != nil {
				return "", err
			}
		}
		return outcome.Stationary, nil
	})
	result.Seen = seen.Seen
	if settled || err != nil || !result.Status.OK() || l.evaluationsLeft() == 0 {
		return result, err
	}
	return l.finishBySecant(ctx, f, result)
}

// secantGain returns the gain that slopes alone predict between the best point and its neighbour downhill,
// whose value in the model may be loose; 0 if the two slopes do not straddle a minimum.
func (l *scan) secantGain() float64 {
	at := slices.IndexFunc(l.points, func(p point) bool { return p.Evaluation == l.best.Evaluation })
	next := at + 1
	if l.best.slope > 0 {
		next = at - 1
	}
	if at < 0 || next < 0 || next >= len(l.points) || !(l.points[next].slope*l.best.slope < 0) {
		return 0
	}
	other := l.points[next]
	return 0.5 * l.best.slope * l.best.slope * (other.depth - l.best.depth) / (other.slope - l.best.slope)
}

// finishBySecant finishes a search by [Secant] between the neighbours of the best point.
func (l *scan) finishBySecant(ctx context.Context, f Objective, seen *Result) (*Result, error) {
	at := slices.IndexFunc(l.points, func(p point) bool { return p.Evaluation == l.best.Evaluation })
	shallow, deep := l.best.depth-l.o.Step, max(l.o.Bottom, l.best.depth+l.o.Step)
	if at > 0 {
		shallow = l.points[at-1].depth
	}
	if at+1 < len(l.points) {
		deep = l.points[at+1].depth
	}
	box := Box{Lower: []float64{l.lambda(deep)}, Upper: []float64{l.lambda(shallow)}}
	if l.o.Up {
		box.Lower, box.Upper = box.Upper, box.Lower
	}
	o := l.o.Options
	o.Schedule = Exact // it starts at the best point
	o.Evaluations = l.evaluationsLeft()
	o.Logged += len(seen.Evaluations)
	r, err := Secant(ctx, f, l.best.LogLambda[0], box, o)
	if r == nil {
		return seen, err
	}
	if r.Status == outcome.Box && deep < l.o.Bottom { // the borders of its box have been evaluated
		r.Status = outcome.Stationary
	}
	if !(r.Best.Value <= seen.Best.Value) && seen.Best.Final {
		r.Best = seen.Best
	}
	r.Seen = seen.Seen
	r.Evaluations = append(seen.Evaluations, r.Evaluations...)
	return r, err
}
