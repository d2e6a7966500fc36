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
	// Origin is the λ at which the path begins: the least penalised one at which every fold has
	// the null model as its solution, ln αmax. Up makes the path go to larger λ, as for ln C of an SVM.
	Origin float64
	Up     bool
	// Null is the evaluation of the null model, which is at Origin or, if Distant is true,
	// infinitely far before it. A Value of NaN means that there is none.
	Null    Evaluation
	Distant bool
	// First and Step are the depth of the first point and the distance between the points that
	// follow; 0 means 1.25 and 1.5. The path ends at depth Floor, unless the criterion still
	// falls, and at Bottom in any case; 0 means 13.8 and 20.7: a millionth and a
	// billionth of αmax.
	First, Step float64
	// Reach is the distance over which a slope predicts a gain; 0 means Step. It is larger than
	// Step where the criterion jumps: steps are then so short that the gain over one says little.
	Reach         float64
	Floor, Bottom float64
	// Sparse says that solutions become dense only along the path, which then ends where they fit
	// the training rows whatever λ is. A sparse solution has the right support long before its gap is
	// small; the value of a solution that is dense anyway may be off by as much as its gap, which is
	// therefore limited to the gain that is worth an evaluation.
	Sparse bool
	// Wide says that the scales of the columns differ so much that the last columns enter the
	// support long after the others.
	Wide bool
	// Grouped says that columns enter the support by groups: if they are Wide, all may be in it
	// long before those of a small scale explain anything.
	Grouped bool
	// Interpolates says that there are enough columns for dense solutions to fit single rows.
	Interpolates bool
	// Jumps says that the criterion jumps, and that there are intervals between its jumps on which
	// nothing changes: these do not end the path.
	Jumps bool
	// Straight, for which Distant and Up must be true, says that up to Origin predictions are those
	// of the null model plus e^λ times a fixed vector, so that the criterion is nearly a parabola in
	// e^λ. The path then begins at Origin.
	Straight bool
	// NonNegative says that the criterion is never below 0, so that nothing can be gained where it is nearly 0.
	NonNegative bool
	// Climb lets the path go on where the criterion has risen clearly above its best, while
	// solutions explain less than half of the training loss.
	Climb bool
	// Rough is the expected distance of the criterion from a smooth curve, in standard errors, half
	// way between two points at distance 1 with many columns entering in between; the points seen
	// correct it. 0 means a smooth criterion. While work is cheap, points are placed where such
	// deviations may hide the best.
	Rough float64
	// Kinks says that the slope jumps now and then, whatever the support is, as where a dual variable
	// leaves its bound: the deviation that Rough describes is then proportional to the distance.
	Kinks bool
	// Fades, if above 0, is the depth from which on a step changes the problem less and less, in
	// proportion to e^−depth, as a step of ln ε does where the tube is narrow. Rough then holds before
	// that depth and decreases in the same proportion beyond it, whatever columns enter.
	Fades float64
	// Relative makes tolerances relative to the training loss reached, not to that of
	// the null model, since hardly any training loss is left on separable classes.
	Relative bool
	// Separable says that the loss is one of classification: on separable classes the criterion falls
	// for ever, and its standard error with it.
	Separable bool
	// Free is the work, in the unit of [Evaluation].Work, that a path may spend without a predicted gain.
	Free float64
	// Rival, if set, is an evaluation of another objective with which the choice will be compared: the
	// path ends where the criterion rises above Rival, and the minimum is not refined if the criterion
	// comes nowhere near Rival.
	Rival *Evaluation
	// Known are evaluations of this objective that the model contains from the beginning.
	Known []Evaluation
	// Earlier are the evaluations of an earlier scan of nearly the same objective, with the point
	// that it chose first: the search goes on from that point instead of down the path.
	Earlier []Evaluation
	// Fresh is the share of the terms of the objective, which is a mean, that the earlier objective did
	// not have, if all other terms are the same: differences between values have then changed by about
	// √(2·Fresh) standard errors. 0 means that all terms may differ.
	Fresh float64
	// Precision continues the search to the last digits, by the model and, where that does not
	// settle, by [Secant] between the neighbours of the best point.
	Precision bool
}

const (
	scanGap          = 1e-3  // relative gap of the points of the path: their values are within 0.02 standard errors
	denseGap         = 1e-5  // the smallest gap that the standard error may require of dense solutions
	largestGapErrors = 0.3   // the largest gap in standard errors; it matters where these are a tiny share of the null model's value
	littleLoss       = 0.03  // training loss, relative to the null model's, below which gaps are at most its square
	finestGap        = 1e-15 // the smallest gap asked for where hardly any training loss is left: smaller ones are rounding error

	firstDepth  = 1.25
	pathStep    = 1.5
	floorDepth  = 13.8
	bottomDepth = 20.7

	leastGain        = 0.01 // gain in standard errors below which a point is not worth an evaluation
	leastGainLoose   = 0.02 // the same where points are solved to scanGap
	farDepth         = 30   // distance before Origin of the point that stands for a distant null model
	leastUnit        = 1e-9 // the least unit, as a share of the best point's gain over the null model
	leastUnitClasses = 1e-4 // the same for losses of classification
	unitWithoutError = 0.01 // the unit, as a share of that gain, where there is no standard error
)

// Scan minimises over one λ by a scan and a model. A path from the null model towards weaker
// penalties evaluates the criterion and its slope at few points, loosely solved, each from the
// solutions of the point before. It ends by what it has seen and by the counted work. A
// piecewise cubic Hermite model through all points then predicts the point of least value over
// all basins. Scan evaluates this point from the solutions of its nearest neighbour, and repeats
// that until the predicted gain is below a hundredth of the criterion's standard error (two
// hundredths where points are expensive), or below a thousandth of its value if that is less.
//
// The status is Converged, or NullModel if no point is better than the null model: Best is then
// at Origin or, if the null model is Distant, next to the null model.
func Scan(ctx context.Context, f Objective, o ScanOptions) (*Result, error) {
	o.First, o.Step = cmp.Or(o.First, firstDepth), cmp.Or(o.Step, pathStep)
	o.Reach = cmp.Or(o.Reach, o.Step)
	o.Floor, o.Bottom = cmp.Or(o.Floor, floorDepth), cmp.Or(o.Bottom, bottomDepth)
	options := o.Options
	if o.Schedule != Exact { // the loosest gap of the scan counts as final
		options.Tol, options.Schedule = max(cmp.Or(o.Tol, defaultTol), scanGap), Exact
	}
	r, err := newRecorder(f, options)
	if err != nil {
		return nil, err
	}
	l := &scan{recorder: r, o: o}
	result, err := r.search(ctx, l.run)
	l.fillResult(result)
	if !o.Precision || err != nil || !result.Status.OK() || result.Status == outcome.NullModel {
		return result, err
	}
	return l.polish(ctx, f, result)
}

// run continues an earlier scan or follows the path, and then refines the model of the points seen.
func (l *scan) run(ctx context.Context) (outcome.Status, error) {
	l.addKnown()
	resumed, err := l.resume(ctx)
	if err == nil && !resumed {
		err = l.followPath(ctx)
	}
	if err == nil && l.best == nil {
		err = outcome.Errorf(outcome.NonFinite, "the criterion is not finite at any λ that was tried")
	}
	if err == nil && !resumed && l.o.Jumps && !l.exhausted() {
		err = l.halveIntervals(ctx)
	}
	if err == nil {
		err = l.refine(ctx)
	}
	if err != nil {
		return "", err
	}
	return outcome.Converged, l.visitNextToNull(ctx)
}

// addKnown adds the evaluations of [ScanOptions].Known to the model.
func (l *scan) addKnown() {
	for i := range l.o.Known {
		l.add(l.pointOf(l.depth(&l.o.Known[i]), &l.o.Known[i]))
	}
}

// followPath follows the path as if no points had been tried before, so that those do not end it, and then
// adds them to the model.
func (l *scan) followPath(ctx context.Context) error {
	tried := l.points
	l.points, l.best, l.here, l.previous = nil, nil, point{}, point{}
	l.addKnown()
	err := l.path(ctx)
	for _, p := range tried {
		if !slices.ContainsFunc(l.points, func(q point) bool { return q.Evaluation == p.Evaluation }) {
			l.add(p)
		}
	}
	return err
}

// scan is the state of [Scan].
type scan struct {
	*recorder
	o        ScanOptions
	points   []point // in order of depth
	best     *point
	here     point   // the point evaluated last
	previous point   // the point evaluated before here
	spent    float64 // work so far
	atBest   float64 // work up to the best point
	risen    int     // consecutive points clearly above the best, from which two steps by the slope do not lead below it
	dense    int     // consecutive points with dense solutions
	still    int     // consecutive points at which the criterion does not move
	level    int     // consecutive points above the best at which, and between which, the criterion hardly moves

	resumed       bool // continues an earlier scan, without a path
	expectsChoice bool // the model predicts that the next point will be the choice
}

// point is an evaluation at a depth. slope is the derivative of the value by the depth, NaN if unknown.
type point struct {
	*Evaluation
	depth, slope float64
}

// lambda returns the λ at a depth.
func (l *scan) lambda(depth float64) float64 {
	if l.o.Up {
		return l.o.Origin + depth
	}
	return l.o.Origin - depth
}

// LargestGap returns the largest relative gap at which values can be compared in units of a standard
// error; both arguments must be positive. Gaps are relative to the null model's value, so that larger
// ones make values useless where the standard error is a tiny share of it.
func LargestGap(standardError, null float64) float64 {
	return max(finestGap, float64(largestGapErrors*(standardError/null)))
}

// visit evaluates the point at a depth from the solutions of from, or of the last evaluation if from
// is nil, and adds it to the model. gap is the relative gap to ask for, unless a smaller one is needed.
func (l *scan) visit(ctx context.Context, depth, gap float64, from *Evaluation) error {
	tol := l.options.Tol
	if l.o.Schedule != Exact {
		tol = max(gap, l.o.Tol)
		if here := l.here; here.Evaluation != nil && here.TrainLoss > 0 {
			switch {
			case l.o.Relative:
				tol = max(finestGap, tol*min(1, here.TrainLoss))
			case here.TrainLoss < littleLoss: // else the solution at here might meet the tolerance at this point, too
				step := depth - here.depth
				tol = max(finestGap, min(tol, float64(here.TrainLoss*here.TrainLoss*min(1, float64(step*step)))))
			}
		}
		if null, standardError := l.o.Null.Value, l.standardError(); standardError > 0 && null > 0 {
			if tol = min(tol, LargestGap(standardError, null)); !l.o.Sparse {
				tol = min(tol, max(denseGap, float64(leastGain*(standardError/null))))
			}
		}
	}
	request := Request{LogLambda: []float64{l.lambda(depth)}, Tol: tol, Rough: !l.o.Precision, Expected: l.expectsChoice && !l.o.Precision}
	if from != nil {
		request.From = from.LogLambda
	}
	e, err := l.evaluate(ctx, request)
	if err != nil {
		return err
	}
	l.spent += e.Work
	l.previous, l.here = l.here, l.pointOf(depth, e)
	l.add(l.here)
	return nil
}

// standardError returns the standard error of the best point or, before there is one, of an earlier
// choice; 0 if unknown.
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

// pointOf makes a point of an evaluation. It ignores a gradient that is not trusted, unless its
// linear system has stalled on dependent columns: such a gradient is close enough for the model,
// which the next value corrects.
func (l *scan) pointOf(depth float64, e *Evaluation) point {
	p := point{e, depth, math.NaN()}
	if e.usable() && len(e.Gradient) == 1 && (e.Trusted || e.Flat || e.Status == outcome.LinearSystemStalled) {
		if p.slope = -e.Gradient[0]; l.o.Up {
			p.slope = e.Gradient[0]
		}
	}
	return p
}

// add adds a point to the model and updates the best point.
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
	if l.best.Trusted && !p.Trusted { // p has to be clearly better
		least -= float64(slightGain * l.unit(p.Evaluation))
	}
	if p.Value < least {
		l.best, l.atBest = &p, l.spent
	}
}

// unit returns the scale on which values differ: the standard error of e or of the best point,
// whichever is larger, but at least a share of the best point's gain over the null model.
func (l *scan) unit(e *Evaluation) float64 {
	least := leastUnit
	if l.o.Separable {
		least = leastUnitClasses
	}
	return max(l.deviation(e), least*l.gain())
}

// deviation is unit without its lower bound. It is for slopes and for the values of an earlier scan,
// which are known better.
func (l *scan) deviation(e *Evaluation) float64 {
	if deviation := max(e.StandardError, l.best.StandardError); deviation > 0 {
		return deviation
	}
	return unitWithoutError * l.gain()
}

// gain returns by how much the best point is below the null model, or the absolute value of the best
// point if the null model's value is unknown or not higher.
func (l *scan) gain() float64 {
	if null := l.o.Null.Value; finite(null) && null > l.best.Value {
		return null - l.best.Value
	}
	return math.Abs(l.best.Value)
}

// leastValue returns the least value seen, including that of a distant null model, which is not a point.
func (l *scan) leastValue() float64 {
	if null := l.o.Null.Value; l.o.Distant && null < l.best.Value {
		return null
	}
	return l.best.Value
}

// exhausted reports whether the criterion is never negative and the best value so close to 0 that no
// point can gain as much as is worth an evaluation.
func (l *scan) exhausted() bool {
	return l.o.NonNegative && l.best != nil && l.best.Value <= leastGain*l.unit(l.best.Evaluation)
}

// nullIsBest reports whether no point seen is better than the null model.
func (l *scan) nullIsBest() bool {
	null := l.o.Null.Value
	return finite(null) && l.best != nil && !(l.best.Value < null)
}

// visitNextToNull evaluates a point next to the null model if that is distant and no point is better.
func (l *scan) visitNextToNull(ctx context.Context) error {
	if !l.o.Distant || !l.nullIsBest() {
		return nil
	}
	return l.visit(ctx, -farDepth, scanGap, nil)
}

// fillResult sets Seen and Best, and the status NullModel if no point is better than the null model.
func (l *scan) fillResult(r *Result) {
	if r == nil || len(r.Evaluations) == 0 || l.best == nil {
		return
	}
	r.Seen = l.summary()
	r.Best = *l.best.Evaluation
	if !l.nullIsBest() {
		return
	}
	if l.o.Distant && l.points[0].depth <= -farDepth {
		r.Best = *l.points[0].Evaluation
	}
	if r.Status == outcome.Converged {
		r.Status = outcome.NullModel
	}
}

// summary returns the range of the path and the number of basins among its points that are deeper
// than a tenth of a standard error.
func (l *scan) summary() Seen {
	from := l.o.Origin
	if first := l.points[0].depth; l.resumed || first < 0 && first > -farDepth {
		from = l.lambda(first)
	}
	s := Seen{From: from, To: l.lambda(l.points[len(l.points)-1].depth)}
	crest, valley, falling := l.points[0].Value, l.points[0].Value, true
	for _, p := range l.points {
		deep := float64(slightGain * l.unit(p.Evaluation))
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
