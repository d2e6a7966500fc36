package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// ScanOptions say how [Scan] goes along its path. Depth is the distance from Origin.
type ScanOptions struct {
	Options
	// Origin is where the path begins, of all folds' null models the least penalised:
	// ln αmax. Up makes the path go to larger λ, as it does for ln C of an SVM.
	Origin float64
	Up     bool
	// Null is the evaluation of the null model, at Origin itself, or where Distant is
	// true infinitely far before it. A value that is NaN stands for none.
	Null    Evaluation
	Distant bool
	// First and Step are the depth of the first point and the distance of those that
	// follow; 0 means 1.25 and 1.5. The path ends at depth Floor, unless the criterion still
	// falls, and at Bottom in any case; 0 means 13.8 and 20.7: a millionth and a
	// billionth of αmax.
	First, Step float64
	// Reach is how far the promise of a slope is believed, 0 is a step: a criterion that jumps takes
	// steps too short for what they promise each.
	Reach         float64
	Floor, Bottom float64
	// Sparse says that solutions become dense as the path goes on, which then ends where
	// they fit the training rows whatever λ is. If they are dense anyway, no support is right long before they
	// are, and a value may be off by as much as their gap: that is to be no more than is worth an evaluation.
	Sparse bool
	// Wide says that columns differ by far in scale, so that the last ones come in long after the
	// others.
	Wide bool
	// Grouped says that columns come in by groups: of Wide ones all may be in long before those of a small scale explain anything.
	Grouped bool
	// Interpolates says that there are enough columns for dense solutions to follow single rows.
	Interpolates bool
	// Jumps says that the criterion jumps now and then, with stretches between on which nothing
	// moves: these do not end the path.
	Jumps bool
	// Straight says that up to Origin, where Distant and Up are true, predictions are those of the null model plus
	// multiples e^λ of fixed ones, so that the criterion is nearly a parabola in e^λ. The path begins at Origin then.
	Straight bool
	// NonNegative says that the criterion is never below 0: there is nothing to be gained where it is next to that.
	NonNegative bool
	// Climb lets the path go on where the criterion has risen clearly above its best, while
	// solutions explain less than half of the training loss.
	Climb bool
	// Rough is how far the criterion is expected to be from a smooth curve half way between two
	// points at distance 1 with many columns coming in, in standard errors; points seen say
	// more. 0 is a smooth one. While work is cheap, points go where such differences may hide
	// the best.
	Rough float64
	// Kinks says that slopes jump once in a while, whatever the supports, as where a row of a dual leaves its bound: Rough
	// is then expected in proportion to distance.
	Kinks bool
	// Fades, where above 0, is the depth from which on a step changes the problem less and less, by e^−depth, as
	// one of ln ε does where the tube is narrow. Rough is then expected before that depth, beyond it less in
	// the same way, and nowhere does it depend on columns coming in.
	Fades float64
	// Relative makes tolerances relative to the training loss reached, not to that of
	// the null model: separable classes leave next to nothing of it.
	Relative bool
	// Separable says that the loss is one of classes: of separable ones it falls for ever, and its standard error as it does.
	Separable bool
	// Free is the work, as in [Evaluation].Work, that a path may spend without a promise.
	Free float64
	// Rival, where set, is an evaluation of another objective that the choice will be compared
	// with: the path ends where it rises above that, and if it comes nowhere near the least point is not looked for.
	Rival *Evaluation
	// Known are evaluations of this objective, which the model has from the beginning.
	Known []Evaluation
	// Earlier are the evaluations of an earlier scan at nearly the same objective, the point
	// it has chosen first: the search goes on from there instead of down the path.
	Earlier []Evaluation
	// Fresh is the share of the terms of the objective, a mean, that the earlier one did not have,
	// where all others are the same: differences of values have moved by about √(2·Fresh) standard
	// errors. 0 means that all may differ.
	Fresh float64
	// Precision continues to the last digits, by [Secant] between the neighbours of the
	// best point.
	Precision bool
}

const (
	scanGap    = 1e-3  // relative gap of the path's points: a value within 0.02 standard errors
	denseGap   = 1e-5  // the least that is asked for of dense solutions by the standard error
	looseShare = 0.3   // standard errors that any gap may be, which matters where they are next to nothing of the null model's value
	littleLeft = 0.03  // of the training loss, where gaps are no more than its square
	scanFinest = 1e-15 // and the least that is asked for where next to no training loss is left: what is less is rounding

	firstDepth  = 1.25
	pathStep    = 1.5
	floorDepth  = 13.8
	bottomDepth = 20.7

	enough        = 0.01 // standard errors that are not worth an evaluation
	looselyEnough = 0.02 // and where points are solved to scanGap
	farAway       = 30   // how far before the path a point next to a distant null model is
	leastScale    = 1e-9 // of what the best gains over the null model: the least unit
	leastClasses  = 1e-4 // and of separable classes
	noScale       = 0.01 // the unit where there is no standard error
)

// Scan minimises over one λ by a scan and a model. A path from the null model
// towards weaker penalties meets the criterion at few points, loosely solved, each from
// the solutions before it, and with slopes; it ends by what it has seen and by the work
// counted. One cubic Hermite model through all points then names the point of least
// value over all basins, which is evaluated from its nearest neighbour's solutions, until
// the model promises less than a hundredth of the criterion's standard error, or two where points are dear, or a thousandth
// of its value.
//
// The status is Converged, or NullModel where nothing beats the null model: Best is then
// at Origin, or where the null model is Distant, next to it.
func Scan(ctx context.Context, f Objective, o ScanOptions) (*Result, error) {
	o.First, o.Step = cmp.Or(o.First, firstDepth), cmp.Or(o.Step, pathStep)
	o.Reach = cmp.Or(o.Reach, o.Step)
	o.Floor, o.Bottom = cmp.Or(o.Floor, floorDepth), cmp.Or(o.Bottom, bottomDepth)
	options := o.Options
	if o.Schedule != Exact { // what is loosest counts as final
		options.Tol, options.Schedule = max(cmp.Or(o.Tol, defaultFinal), scanGap), Exact
	}
	r, err := newRecorder(f, options)
	if err != nil {
		return nil, err
	}
	l := &scan{recorder: r, o: o}
	result, err := r.search(ctx, l.run)
	l.conclude(result)
	if !o.Precision || err != nil || !result.Status.OK() || result.Status == outcome.NullModel {
		return result, err
	}
	return l.sharpen(ctx, f, result)
}

// run goes on from an earlier scan or down a path, and then looks into what has been seen.
func (l *scan) run(ctx context.Context) (outcome.Status, error) {
	l.know()
	resumed, err := l.resume(ctx)
	if err == nil && !resumed {
		err = l.anew(ctx)
	}
	if err == nil && l.best == nil {
		err = outcome.Errorf(outcome.NonFinite, "the criterion is not finite at any λ that was tried")
	}
	if err == nil && !resumed && l.o.Jumps && !l.exhausted() {
		err = l.halve(ctx)
	}
	if err == nil {
		err = l.refine(ctx)
	}
	if err != nil {
		return "", err
	}
	return outcome.Converged, l.approach(ctx)
}

// know takes what is known into the model.
func (l *scan) know() {
	for i := range l.o.Known {
		l.add(l.pointOf(l.depth(&l.o.Known[i]), &l.o.Known[i]))
	}
}

// anew goes down the path as if nothing had been tried, which does not end it that way, and then takes that into the model.
func (l *scan) anew(ctx context.Context) error {
	tried := l.points
	l.points, l.best, l.here, l.before = nil, nil, point{}, point{}
	l.know()
	err := l.path(ctx)
	for _, p := range tried {
		if !slices.ContainsFunc(l.points, func(q point) bool { return q.Evaluation == p.Evaluation }) {
			l.add(p)
		}
	}
	return err
}

// scan is a path and what it has seen.
type scan struct {
	*recorder
	o      ScanOptions
	points []point // by depth
	best   *point
	here   point // evaluated last
	before point // and before it
	spent  float64
	atBest float64 // spent up to the best point
	rises  int     // points in a row clearly above the best, which the criterion will not be below two steps on
	dense  int     // points in a row whose solutions are dense
	still  int     // points in a row at which nothing moves
	level  int     // points in a row above the best, between which and at which it hardly moves

	resumed  bool // from an earlier scan: there was no path
	expected bool // the next point will be the choice, as far as the model goes
}

// point is an evaluation by its depth. slope is by the depth, NaN where it is not known.
type point struct {
	*Evaluation
	depth, slope float64
}

func (l *scan) lambda(depth float64) float64 {
	if l.o.Up {
		return l.o.Origin + depth
	}
	return l.o.Origin - depth
}

// LargestGap returns how large the relative gaps of points may be that are judged by a standard error, both that and the null
// model's value positive: they say nothing where it is next to nothing beside that.
func LargestGap(standardError, null float64) float64 {
	return max(scanFinest, float64(looseShare*(standardError/null)))
}

// visit evaluates the point at a depth, from the solutions of the point at from.
func (l *scan) visit(ctx context.Context, depth, gap float64, from *Evaluation) error {
	tol := l.options.Tol
	if l.o.Schedule != Exact {
		tol = max(gap, l.o.Tol)
		if here := l.here; here.Evaluation != nil && here.TrainLoss > 0 {
			switch {
			case l.o.Relative:
				tol = max(scanFinest, tol*min(1, here.TrainLoss))
			case here.TrainLoss < littleLeft: // or the solution there would do at this point, too
				step := depth - here.depth
				tol = max(scanFinest, min(tol, float64(here.TrainLoss*here.TrainLoss*min(1, float64(step*step)))))
			}
		}
		if null, standardError := l.o.Null.Value, l.standardError(); standardError > 0 && null > 0 {
			if tol = min(tol, LargestGap(standardError, null)); !l.o.Sparse {
				tol = min(tol, max(denseGap, float64(enough*(standardError/null))))
			}
		}
	}
	request := Request{LogLambda: []float64{l.lambda(depth)}, Tol: tol, Rough: !l.o.Precision, Expected: l.expected && !l.o.Precision}
	if from != nil {
		request.From = from.LogLambda
	}
	e, err := l.once(ctx, request)
	if err != nil {
		return err
	}
	l.spent += e.Work
	l.before, l.here = l.here, l.pointOf(depth, e)
	l.add(l.here)
	return nil
}

// standardError is that of the best point or, before there is one, of an earlier choice; 0 where it is not known.
func (l *scan) standardError() float64 {
	switch {
	case l.best != nil:
		return l.best.StandardError
	case len(l.o.Earlier) > 0:
		return l.o.Earlier[0].StandardError
	default:
		return 0
	}
}

// pointOf makes a point of an evaluation. A gradient that is not to be trusted is none, but where
// its system has stalled on dependent columns, next to its solution: that is good enough for the
// model, which the next value corrects.
func (l *scan) pointOf(depth float64, e *Evaluation) point {
	p := point{e, depth, math.NaN()}
	if e.usable() && len(e.Gradient) == 1 && (e.Trusted || e.Flat || e.Status == outcome.LinearSystemStalled) {
		if p.slope = -e.Gradient[0]; l.o.Up {
			p.slope = e.Gradient[0]
		}
	}
	return p
}

// add takes a point into the model.
func (l *scan) add(p point) {
	at, _ := slices.BinarySearchFunc(l.points, p.depth, func(q point, depth float64) int { return cmp.Compare(q.depth, depth) })
	l.points = slices.Insert(l.points, at, p)
	if !finite(p.Value) {
		return
	}
	if l.best == nil {
		l.best, l.atBest = &p, l.spent
		return
	}
	least := l.best.Value
	if l.best.Trusted && !p.Trusted { // it has to be clearly better
		least -= float64(slightly * l.unit(p.Evaluation))
	}
	if p.Value < least {
		l.best, l.atBest = &p, l.spent
	}
}

// unit is the scale on which values differ: the standard error of the criterion, of the
// better known of two points, but not less than a share of what the best gains over the
// null model.
func (l *scan) unit(e *Evaluation) float64 {
	least := leastScale
	if l.o.Separable {
		least = leastClasses
	}
	return max(l.deviation(e), least*l.gain())
}

// deviation is unit without its least: of slopes and of an earlier scan's values, whose solutions know them better.
func (l *scan) deviation(e *Evaluation) float64 {
	if deviation := max(e.StandardError, l.best.StandardError); deviation > 0 {
		return deviation
	}
	return noScale * l.gain()
}

// gain is what the best gains over the null model; its size where that is not known or better.
func (l *scan) gain() float64 {
	if null := l.o.Null.Value; finite(null) && null > l.best.Value {
		return null - l.best.Value
	}
	return math.Abs(l.best.Value)
}

// floor is the least value that there is: a distant null model is no point, but has one.
func (l *scan) floor() float64 {
	if null := l.o.Null.Value; l.o.Distant && null < l.best.Value {
		return null
	}
	return l.best.Value
}

// exhausted reports whether no point can be better than the best by as much as is worth an evaluation, wherever it is.
func (l *scan) exhausted() bool {
	return l.o.NonNegative && l.best != nil && l.best.Value <= enough*l.unit(l.best.Evaluation)
}

// beaten reports whether nothing that was seen is better than the null model.
func (l *scan) beaten() bool {
	null := l.o.Null.Value
	return finite(null) && l.best != nil && !(l.best.Value < null)
}

// approach evaluates a point next to a distant null model that nothing beats.
func (l *scan) approach(ctx context.Context) error {
	if !l.o.Distant || !l.beaten() {
		return nil
	}
	return l.visit(ctx, -farAway, scanGap, nil)
}

// conclude says what was seen, and names the null model where nothing beats it.
func (l *scan) conclude(r *Result) {
	if r == nil || len(r.Evaluations) == 0 || l.best == nil {
		return
	}
	r.Seen = l.seen()
	r.Best = *l.best.Evaluation
	if !l.beaten() {
		return
	}
	if l.o.Distant && l.points[0].depth <= -farAway {
		r.Best = *l.points[0].Evaluation
	}
	if r.Status == outcome.Converged {
		r.Status = outcome.NullModel
	}
}

// seen sums up the path: its range, and how many basins of its points are deeper than a
// tenth of a standard error.
func (l *scan) seen() Seen {
	from := l.o.Origin
	if first := l.points[0].depth; l.resumed || first < 0 && first > -farAway {
		from = l.lambda(first)
	}
	s := Seen{From: from, To: l.lambda(l.points[len(l.points)-1].depth)}
	crest, valley, falling := l.points[0].Value, l.points[0].Value, true
	for _, p := range l.points {
		deep := float64(slightly * l.unit(p.Evaluation))
		switch {
		case falling:
			if valley = min(valley, p.Value); p.Value > valley+deep { // the valley is left
				if valley < crest-deep {
					s.Basins++
				}
				crest, falling = p.Value, false
			}
		default:
			if crest = max(crest, p.Value); p.Value < crest-deep {
				valley, falling = p.Value, true
			}
		}
	}
	if falling && valley < crest {
		s.Basins++
	}
	s.Basins = max(1, s.Basins)
	return s
}
