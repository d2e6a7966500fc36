package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
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
	First, Step   float64
	Floor, Bottom float64
	// Sparse says that solutions become dense as the path goes on, which then ends where
	// they fit the training rows whatever λ is.
	Sparse bool
	// Jumps says that the criterion jumps now and then, with stretches between on which nothing
	// moves: these do not end the path.
	Jumps bool
	// Climb lets the path go on where the criterion has risen clearly above its best, while
	// solutions explain less than half of the training loss.
	Climb bool
	// Rough is how far the criterion is expected to be from a smooth curve half way between two
	// points at distance 1 with many columns coming in, in standard errors; points seen say
	// more. 0 is a smooth one. While work is cheap, points go where such differences may hide
	// the best.
	Rough float64
	// Relative makes tolerances relative to the training loss reached, not to that of
	// the null model: separable classes leave next to nothing of it.
	Relative bool
	// Free is the work, as in [Evaluation].Work, that a path may spend without a promise.
	Free float64
	// Rival, where set, is an evaluation of another objective that the choice will be compared
	// with: of a path that comes nowhere near it the least point is not looked for.
	Rival *Evaluation
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
	scanGap   = 1e-3 // relative gap of the path's points: a value within 0.02 standard errors
	refineGap = 1e-4 // of the points after it

	firstDepth  = 1.25
	pathStep    = 1.5
	floorDepth  = 13.8
	bottomDepth = 20.7
	leastStep   = 0.2 // where points are dear

	enough        = 0.01 // standard errors that are not worth an evaluation
	clearly       = 3.0  // standard errors above the best that a risen point is
	slightly      = 0.1  // standard errors that a dense solution still has to gain
	crowded       = 0.8  // share of the largest support at which solutions are dense
	fitted        = 0.01 // training loss at which they fit whatever λ is
	twice         = 2    // points in a row that end a path
	extraWork     = 0.3  // share of the work up to the best point that may follow it
	growthPower   = 1.3  // of the support's growth, that of the work
	shallow       = 4.0  // depth up to which points are worth their work where the null model is still the best
	apart         = 0.5  // distance of points whose slopes make a secant
	dearest       = 1.4  // ln of the factor by which a falling path's points may grow dearer
	modest        = 0.4  // and up to which they are not held back by where the slope seems to vanish
	precisions    = 5    // steps by the model towards the last digits
	refinements   = 12   // points after the path, at most
	nowhereNear   = 0.5  // standard errors above a rival
	closest       = 0.02 // distance of neighbours between which nothing is looked for
	doubtApart    = 0.1  // and between which nothing is doubted
	worthDoubt    = 0.05 // standard errors that may be hidden without being looked for
	unlikely      = 1.5  // standard deviations that the model is taken to be off by
	nextToNothing = 0.1  // of the free work, up to which it is
	telling       = 2.0  // standard errors from the best up to which points tell how rough the criterion is
	expected      = 2    // points that what is expected of that counts for
	manyKnots     = 12   // columns coming in between two points from which on more make it no rougher
	leastKnots    = 0.3
	blind         = 1.5  // times its length, what an interval without a slope at an end is taken for
	halfway       = 0.5  // training loss from which on a path that may climb no longer does
	farAway       = 30   // how far before the path a point next to a distant null model is
	inside        = 0.05 // share of an interval kept from its ends
	within        = 1.0  // standard errors from the best that a basin's end may be
	leastScale    = 1e-4 // of what the best gains over the null model: the least unit
	noScale       = 0.01 // the unit where there is no standard error
)

// Scan minimises over one λ by a scan and a model. A path from the null model
// towards weaker penalties meets the criterion at few points, loosely solved, each from
// the solutions before it, and with slopes; it ends by what it has seen and by the work
// counted. One cubic Hermite model through all points then names the point of least
// value over all basins, which is evaluated from its nearest neighbour's solutions, until
// the model promises less than a hundredth of the criterion's standard error.
//
// The status is Converged, or NullModel where nothing beats the null model: Best is then
// at Origin, or where the null model is Distant, next to it.
func Scan(ctx context.Context, f Objective, o ScanOptions) (*Result, error) {
	o.First, o.Step = cmp.Or(o.First, firstDepth), cmp.Or(o.Step, pathStep)
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
	result, err := r.search(ctx, func(ctx context.Context) (outcome.Status, error) {
		done, err := l.resume(ctx)
		if err == nil && !done {
			err = l.path(ctx)
		}
		if err == nil && !done && o.Jumps {
			err = l.halve(ctx)
		}
		if err != nil {
			return "", err
		}
		if err := l.refine(ctx); err != nil {
			return "", err
		}
		return outcome.Converged, l.approach(ctx)
	})
	l.conclude(result)
	if !o.Precision || err != nil || !result.Status.OK() || result.Status == outcome.NullModel {
		return result, err
	}
	return l.sharpen(ctx, f, result)
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

	resumed bool // from an earlier scan: there was no path
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

// visit evaluates the point at a depth, from the solutions of the point at from.
func (l *scan) visit(ctx context.Context, depth, gap float64, from *Evaluation) error {
	tol := l.options.Tol
	if l.o.Schedule != Exact {
		tol = max(gap, l.o.Tol)
		if l.o.Relative && l.here.Evaluation != nil && l.here.TrainLoss > 0 {
			tol *= min(1, l.here.TrainLoss)
		}
	}
	request := Request{LogLambda: []float64{l.lambda(depth)}, Tol: tol, Rough: !l.o.Precision}
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
	gain := math.Abs(l.best.Value)
	if null := l.o.Null.Value; finite(null) && null > l.best.Value {
		gain = null - l.best.Value
	}
	if unit := max(e.StandardError, l.best.StandardError); unit > 0 {
		return max(unit, leastScale*gain)
	}
	return noScale * gain
}

// path goes down from the null model until nothing more is to be seen.
func (l *scan) path(ctx context.Context) error {
	if null := l.o.Null; finite(null.Value) && !l.o.Distant {
		null.LogLambda, null.Final = []float64{l.o.Origin}, true
		l.add(point{&null, 0, math.NaN()})
	}
	depth := l.o.First
	for {
		if err := l.visit(ctx, depth, scanGap, nil); err != nil {
			return err
		}
		step := l.next()
		if step == 0 {
			return nil
		}
		depth += step
	}
}

// next returns the length of the next step, 0 where the path ends.
func (l *scan) next() float64 {
	here, unit := l.here, l.unit(l.here.Evaluation)
	if !finite(here.Value) || here.depth >= l.o.Bottom {
		return 0
	}
	gain := max(0, float64(-here.slope*l.o.Step)) // what the slope promises over a step
	if math.IsNaN(gain) && l.best.Evaluation == here.Evaluation {
		gain = math.Inf(1)
	}
	falling := gain > 0 && here.Value-gain < l.best.Value
	fallsAgain := gain > 0 && here.Value-float64(twice*gain)-l.steepening() < l.best.Value // a crest is steeper further on
	if !falling {
		gain = 0
	}
	if l.rises++; fallsAgain || l.o.Climb && here.TrainLoss > halfway || !(here.Value > l.best.Value+float64(clearly*unit)) {
		l.rises = 0
	}
	full := l.o.Sparse && (here.Saturation >= crowded || here.TrainLoss > 0 && here.TrainLoss < fitted)
	if l.dense++; !full || gain >= slightly*unit {
		l.dense = 0
	}
	switch {
	case l.ended():
		return 0
	case here.Flat && !l.o.Jumps && l.before.Evaluation != nil && !l.allFlat(): // nothing moves any more
		return 0
	case here.depth >= l.o.Floor && gain <= enough*unit:
		return 0
	case !l.o.Sparse && here.TrainLoss < fitted && math.Abs(here.slope)*l.o.Step <= enough*unit: // training rows are met, whatever λ is
		return 0
	}
	step := l.affordable(falling || fallsAgain, unit)
	return min(step, max(0, l.o.Bottom-here.depth))
}

// steepening returns what the criterion loses over two steps besides what its slope promises,
// where it falls faster than at the point before.
func (l *scan) steepening() float64 {
	here, before := l.here, l.before
	if before.Evaluation == nil || math.IsNaN(before.slope) || here.depth <= before.depth {
		return 0
	}
	length := twice * l.o.Step
	return max(0, (before.slope-here.slope)/(here.depth-before.depth)*length*length/2)
}

// ended reports whether the last points end the path: two that have risen, or one that is dense
// and not the best, but two of those where paths may climb, whose criteria dip more often.
func (l *scan) ended() bool {
	dense := 1
	if l.o.Climb {
		dense = twice
	}
	return l.rises >= twice || l.dense >= dense && l.best.Evaluation != l.here.Evaluation
}

// allFlat reports whether the path has been flat from its beginning, as it is above αmax.
func (l *scan) allFlat() bool {
	for _, p := range l.points {
		if p.Gradient != nil && !p.Flat {
			return false
		}
	}
	return true
}

// affordable returns the step that the work up to now allows, 0 for none. Work grows with
// the support.
func (l *scan) affordable(falling bool, unit float64) float64 {
	here, step := l.here, l.o.Step
	bySupport, rate := l.growth()
	price := float64(here.Work * kernels.Exp(bySupport*step))
	if !falling {
		if (l.best.depth > 0 || here.depth >= shallow) && l.spent-l.atBest+price > l.o.Free+float64(extraWork*l.atBest) {
			return 0
		}
		return step
	}
	if price <= l.o.Free || price <= extraWork*l.spent {
		return step
	}
	root := l.root()
	if math.Abs(here.slope)*root/2 < enough*unit {
		return 0
	}
	return max(leastStep, min(step, max(root, modest/rate), dearest/rate))
}

// growth returns by how much ln work grows with the depth, by what the support has done on
// the last step, and the mean of that and of what the work itself has done, since a support
// that is still small costs next to nothing.
func (l *scan) growth() (bySupport, mean float64) {
	here, before := l.here, l.before
	if before.Evaluation == nil || here.Support <= before.Support {
		return 0, 0
	}
	distance := here.depth - before.depth
	bySupport = growthPower * kernels.Log(float64(here.Support)/float64(max(1, before.Support))) / distance
	mean = bySupport
	if before.Work > 0 && here.Work > 0 {
		mean = 0.5 * (bySupport + max(0, kernels.Log(here.Work/before.Work)/distance))
	}
	return bySupport, mean
}

// root returns how far below here the slope vanishes, by the last point far enough away;
// +Inf where it does not.
func (l *scan) root() float64 {
	here := l.here
	for _, p := range slices.Backward(l.points) {
		if here.depth-p.depth < apart || math.IsNaN(p.slope) {
			continue
		}
		if curvature := (here.slope - p.slope) / (here.depth - p.depth); curvature > 0 {
			return -here.slope / curvature
		}
		break
	}
	return math.Inf(1)
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
	if l.o.Distant && l.points[0].depth < 0 {
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
	if l.resumed {
		from = l.lambda(l.points[0].depth)
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

// sharpen goes on to the last digits: by the model, whose steps ask for what they promise,
// and where those do not settle, as at a corner, by [Secant] between the neighbours of the
// best point.
func (l *scan) sharpen(ctx context.Context, f Objective, seen *Result) (*Result, error) {
	l.options.Tol = cmp.Or(l.o.Tol, defaultFinal) // what was final is loose from here on
	l.loose, l.recorder.best = l.recorder.best, ranked{}
	for _, p := range l.points {
		p.Final = false
	}
	for i := range l.result.Evaluations {
		l.result.Evaluations[i].Final = false
	}
	settled := false
	result, err := l.search(ctx, func(ctx context.Context) (outcome.Status, error) {
		for range precisions {
			value, depth := l.least(narrow, 0)
			promise := l.best.Value - value
			if !(promise >= l.options.Stop*math.Abs(l.best.Value)) {
				settled = !(l.chord() >= l.options.Stop*math.Abs(l.best.Value)) && (l.best.depth < l.points[len(l.points)-1].depth || !(l.best.slope < 0))
				break
			}
			gap := min(refineGap, secantError*promise/math.Abs(l.best.Value))
			if err := l.visit(ctx, depth, gap, l.nearest(depth)); err != nil {
				return "", err
			}
		}
		return outcome.Stationary, nil
	})
	result.Seen = seen.Seen
	if settled || err != nil || !result.Status.OK() || l.left() == 0 {
		return result, err
	}
	return l.bracketed(ctx, f, result)
}

// chord is what slopes alone promise between the best point and the next one downhill, whose
// value may be a loose one that the model believes; 0 where they do not straddle a minimum.
func (l *scan) chord() float64 {
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

// bracketed ends a search between the neighbours of the best point.
func (l *scan) bracketed(ctx context.Context, f Objective, seen *Result) (*Result, error) {
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
	o.Schedule = Exact // its start is the best there is
	o.Evaluations = l.left()
	o.Logged += len(seen.Evaluations)
	r, err := Secant(ctx, f, l.best.LogLambda[0], box, o)
	if r == nil {
		return seen, err
	}
	if r.Status == outcome.Box && deep < l.o.Bottom { // its borders have been seen
		r.Status = outcome.Stationary
	}
	if !(r.Best.Value <= seen.Best.Value) && seen.Best.Final {
		r.Best = seen.Best
	}
	r.Seen = seen.Seen
	r.Evaluations = append(seen.Evaluations, r.Evaluations...)
	return r, err
}
