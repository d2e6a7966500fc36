package search

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
)

const (
	leastStep = 0.2 // where points are dear

	clearly     = 3.0  // standard errors above the best that a risen point is
	nothing     = 1e-6 // standard errors: a step by the slope gains less where only rounding is left of it
	slightly    = 0.1  // standard errors that a dense solution still has to gain
	hardly      = 0.05 // and under a loss that is not quadratic while work is cheap; what a level path moves at most
	crowded     = 0.8  // share of the largest support at which solutions are dense
	fitted      = 0.01 // training loss at which they fit whatever λ is
	apartFrom   = 0.1  // of the criterion, both relative to the null model, that it is then at most
	twice       = 2    // points in a row that end a path; steps that slopes are followed
	extraWork   = 0.3  // share of the work up to the best point that may follow it
	growthPower = 1.3  // of the support's growth, that of the work
	shallow     = 4.0  // depth up to which points are worth their work where the null model is still the best
	dearest     = 1.4  // ln of the factor by which a falling path's points may grow dearer
	modest      = 0.4  // and up to which they are not held back by where the slope seems to vanish
	halfway     = 0.5  // training loss from which on a path that may climb no longer does, and one that has risen above its rival ends
	few         = 32   // columns that cost about as much as none
	barely      = 0.9  // training loss down to which hardly anything is explained
	manifold    = 3.0  // times what has been spent that a point may cost where columns are still to come
	unsettled   = 0.05 // share of the training loss at the first point that is explained where solutions have begun to move
)

// path goes down from the null model until nothing more is to be seen.
func (l *scan) path(ctx context.Context) error {
	if null := l.o.Null; finite(null.Value) && !l.o.Distant {
		null.LogLambda, null.Final = []float64{l.o.Origin}, true
		l.add(point{&null, 0, math.NaN()})
	}
	depth := l.o.First
	if l.o.Straight {
		depth = 0
	}
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
	here := l.here
	if !finite(here.Value) || here.depth >= l.o.Bottom {
		return 0
	}
	floor, unit := l.floor(), l.unit(here.Evaluation)
	gain := max(0, float64(-here.slope*l.o.Reach)) // what the slope promises
	if math.IsNaN(gain) && l.best.Evaluation == here.Evaluation {
		gain = math.Inf(1)
	}
	falling := gain > 0 && here.Value-gain < floor
	fallsAgain := gain > 0 && here.Value-float64(twice*gain)-l.steepening() < floor // a crest is steeper further on
	if !falling {
		gain = 0
	}
	l.count(gain, fallsAgain, unit)
	if l.exhausted() || l.ended(unit) || l.idle(gain, unit) {
		return 0
	}
	step := l.affordable(falling || fallsAgain, unit)
	return min(step, max(0, l.o.Bottom-here.depth))
}

// count brings the numbers of points in a row up to date, by what the slope here promises.
func (l *scan) count(gain float64, fallsAgain bool, unit float64) {
	here, before := l.here, l.before
	mayFall := l.o.Climb && here.TrainLoss > halfway || l.waits() || here.TrainLoss > barely && l.unseen(unit) // however far it has risen
	inARow(&l.rises, here.Value > l.floor()+float64(clearly*unit) && !fallsAgain && !mayFall)

	full := l.o.Sparse && (here.Saturation >= crowded && !l.waits() && !(l.o.Grouped && l.unseen(unit)) || here.TrainLoss > 0 && l.fits())
	worth := slightly
	if l.o.Relative && l.spare() {
		worth = hardly
	}
	inARow(&l.dense, full && gain < worth*unit && (!l.o.Climb || !fallsAgain))

	moves, movesMuch := l.moving(nothing*unit), l.moving(hardly*unit)
	// Nothing moves before the first row is free, either.
	inARow(&l.still, l.o.Climb && !moves(here) && slices.ContainsFunc(l.points, moves))
	level := !movesMuch(here) && before.Evaluation != nil && math.Abs(here.Value-before.Value) <= hardly*unit
	inARow(&l.level, l.o.Climb && level && here.Evaluation != l.best.Evaluation && slices.ContainsFunc(l.points, movesMuch))
}

// inARow counts one more where a condition holds, and begins at 0 again where not.
func inARow(count *int, holds bool) {
	if *count++; !holds {
		*count = 0
	}
}

// moving tells points at which a step by the slope changes the criterion by more than so much, or may.
func (l *scan) moving(by float64) func(point) bool {
	return func(p point) bool { return !(math.Abs(p.slope)*l.o.Step <= by) }
}

// idle reports whether the path goes on in vain: nothing moves any more, it is deep enough and hardly falls, or
// training rows are met, whatever λ is.
func (l *scan) idle(gain, unit float64) bool {
	here := l.here
	switch {
	case here.Flat && !l.o.Jumps && l.before.Evaluation != nil && !l.allFlat():
		return true
	case here.depth >= l.o.Floor && gain <= enough*unit:
		return true
	default:
		return !l.o.Sparse && (l.fits() || l.settled()) && math.Abs(here.slope)*l.o.Step <= enough*unit
	}
}

// fits reports whether solutions here fit the training rows: next to nothing of their loss is left, and far less than of the criterion.
func (l *scan) fits() bool {
	here, null := l.here, l.o.Null.Value
	return here.TrainLoss < fitted && !(null > 0 && here.Value > 0 && here.TrainLoss >= float64(apartFrom*(here.Value/null)))
}

// waits reports whether the path waits for columns of a small scale, which may come in far behind the others and
// explain more than all of them: while little has been spent, and some are out, or may be in by their groups alone.
func (l *scan) waits() bool {
	return l.o.Wide && l.spent <= float64(waiting*l.o.Free) && (l.here.Saturation < 1 || l.o.Grouped)
}

// unseen reports whether the criterion may fall again although it does not here, as it does where a column of a large
// scale has come in far ahead of the others: solutions leave half of the training loss, and columns out, and have not risen
// clearly above the best; or next to no columns are in, and all that does not count.
func (l *scan) unseen(unit float64) bool {
	here := l.here
	many := !l.o.Sparse || here.Support > few
	switch {
	case l.fits(), many && here.TrainLoss < halfway, many && here.Value > l.floor()+float64(clearly*unit):
		return false
	case l.o.Climb:
		return true
	case l.o.Sparse:
		return here.Saturation < crowded || l.o.Grouped && !l.settled()
	default:
		return !l.settled()
	}
}

// steepening returns what the criterion loses over twice the reach of a slope besides what that promises,
// where it falls faster than at the point before.
func (l *scan) steepening() float64 {
	here, before := l.here, l.before
	if before.Evaluation == nil || math.IsNaN(before.slope) || here.depth <= before.depth {
		return 0
	}
	length := twice * l.o.Reach
	return max(0, (before.slope-here.slope)/(here.depth-before.depth)*length*length/2)
}

// ended reports whether the last points end the path: two that have risen, or one that is dense
// and not the best, but two of those where paths may climb, whose criteria dip more often; one that has lost
// to its rival; two at which nothing moves, one where that is for good: C alone moves, and no row is at its bound; or two
// above the best between which it hardly moves.
func (l *scan) ended(unit float64) bool {
	dense, still := 1, twice
	if l.o.Climb {
		dense = twice
	}
	if l.o.Kinks && l.here.TrainLoss < halfway {
		still = 1
	}
	return l.rises >= twice || l.dense >= dense && l.best.Evaluation != l.here.Evaluation || l.lost(unit) || l.still >= still || l.level >= twice
}

// lost reports whether a path that has not met its rival rises, above that, where solutions explain more than half of
// the training loss.
func (l *scan) lost(unit float64) bool {
	rival, here := l.o.Rival, l.here
	return rival != nil && l.best.Value > rival.Value && here.TrainLoss < halfway && here.slope > 0 &&
		here.Value > rival.Value+float64(within*max(unit, l.unit(rival)))
}

// settled reports whether solutions fit the training rows clearly better than the first point's, but hardly better
// than those of the point before.
func (l *scan) settled() bool {
	before := l.before.Evaluation
	return before != nil && before.TrainLoss-l.here.TrainLoss <= fitted && l.here.TrainLoss < (1-unsettled)*l.points[0].TrainLoss
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
	more := l.unseen(unit) && float64(here.Work*kernels.Exp(l.growthBySupport(few)*step)) <= float64(manifold*l.spent)
	if !falling {
		if !more && (l.best.depth > 0 || here.depth >= shallow) && l.spent-l.atBest+price > l.o.Free+float64(extraWork*l.atBest) {
			return 0
		}
		return step
	}
	if price <= l.o.Free || price <= extraWork*l.spent {
		return step
	}
	root := l.root()
	if !more && math.Abs(here.slope)*root/2 < enough*unit {
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
	bySupport = l.growthBySupport(0)
	mean = bySupport
	if before.Work > 0 && here.Work > 0 {
		mean = 0.5 * (bySupport + max(0, kernels.Log(here.Work/before.Work)/(here.depth-before.depth)))
	}
	return bySupport, mean
}

// growthBySupport is the growth by what the support has done on the last step, so many columns more at both ends.
func (l *scan) growthBySupport(besides int) float64 {
	here, before := l.here, l.before
	if before.Evaluation == nil || here.Support <= before.Support {
		return 0
	}
	return growthPower * kernels.Log(float64(here.Support+besides)/float64(max(1, before.Support+besides))) / (here.depth - before.depth)
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
