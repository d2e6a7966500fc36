package search

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
)

const (
	leastPathStep = 0.2 // least step where points are expensive

	risenMargin      = 3.0  // standard errors above the best from which on a point counts as risen
	noChange         = 1e-6 // gain of a step, in standard errors, below which a slope is only rounding error
	slightGain       = 0.1  // gain of a step, in standard errors, below which a dense solution ends the path
	hardlyChange     = 0.05 // the same under a loss that is not quadratic while work is cheap; the largest change of a level path
	denseSupport     = 0.8  // share of the largest possible support at which solutions are dense
	fittedLoss       = 0.01 // training loss below which solutions fit the training rows whatever λ is
	fittedRatio      = 0.1  // the largest ratio of that loss to the criterion, both relative to the null model
	twice            = 2    // consecutive points that end a path; number of steps over which a slope is extrapolated
	extraWork        = 0.3  // share of the work up to the best point that may follow it
	growthPower      = 1.3  // power of the support with which the work grows
	shallowDepth     = 4.0  // depth up to which points are worth their work while the null model is still the best
	mostWorkGrowth   = 1.4  // ln of the factor by which the work may grow in one step of a falling path
	modestWorkGrowth = 0.4  // ln of that factor up to which a step may go beyond the point where the slope seems to vanish
	halfLoss         = 0.5  // training loss below which a path may climb no longer, and ends once it has risen above its rival
	cheapColumns     = 32   // columns that cost about as much as none
	unexplainedLoss  = 0.9  // training loss down to which hardly anything is explained
	mostPriceRatio   = 3.0  // how many times the work so far a point may cost while columns are still to enter
	settledShare     = 0.05 // share of the first point's training loss that must be explained for solutions to be settled
)

// path goes down from the null model until [scan.nextStep] ends it.
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
		step := l.nextStep()
		if step == 0 {
			return nil
		}
		depth += step
	}
}

// nextStep returns the length of the next step, 0 where the path ends.
func (l *scan) nextStep() float64 {
	here := l.here
	if !finite(here.Value) || here.depth >= l.o.Bottom {
		return 0
	}
	floor, unit := l.leastValue(), l.unit(here.Evaluation)
	gain := max(0, float64(-here.slope*l.o.Reach)) // predicted by the slope
	if math.IsNaN(gain) && l.best.Evaluation == here.Evaluation {
		gain = math.Inf(1)
	}
	falling := gain > 0 && here.Value-gain < floor
	fallsAgain := gain > 0 && here.Value-float64(twice*gain)-l.steepening() < floor // behind a crest the criterion falls faster and faster
	if !falling {
		gain = 0
	}
	l.updateCounts(gain, fallsAgain, unit)
	if l.exhausted() || l.pathEnds(unit) || l.nothingToGain(gain, unit) {
		return 0
	}
	step := l.affordableStep(falling || fallsAgain, unit)
	return min(step, max(0, l.o.Bottom-here.depth))
}

// updateCounts updates the numbers of consecutive points; gain is what the slope at the last point predicts.
func (l *scan) updateCounts(gain float64, fallsAgain bool, unit float64) {
	here, before := l.here, l.previous
	mayFall := l.o.Climb && here.TrainLoss > halfLoss || l.waitsForColumns() || here.TrainLoss > unexplainedLoss && l.mayFallLater(unit) // however far it has risen
	inARow(&l.risen, here.Value > l.leastValue()+float64(risenMargin*unit) && !fallsAgain && !mayFall)

	full := l.o.Sparse && (here.Saturation >= denseSupport && !l.waitsForColumns() && !(l.o.Grouped && l.mayFallLater(unit)) || here.TrainLoss > 0 && l.fitsTraining())
	worth := slightGain
	if l.o.Relative && l.workIsCheap() {
		worth = hardlyChange
	}
	inARow(&l.dense, full && gain < worth*unit && (!l.o.Climb || !fallsAgain))

	moves, movesMuch := l.moving(noChange*unit), l.moving(hardlyChange*unit)
	// The criterion does not move before the first row is free, either.
	inARow(&l.still, l.o.Climb && !moves(here) && slices.ContainsFunc(l.points, moves))
	level := !movesMuch(here) && before.Evaluation != nil && math.Abs(here.Value-before.Value) <= hardlyChange*unit
	inARow(&l.level, l.o.Climb && level && here.Evaluation != l.best.Evaluation && slices.ContainsFunc(l.points, movesMuch))
}

// inARow increments a count if a condition holds, and else resets it to 0.
func inARow(count *int, holds bool) {
	if *count++; !holds {
		*count = 0
	}
}

// moving returns a function that reports whether a step by the slope at a point changes the criterion
// by more than by, or may do so because the slope is unknown.
func (l *scan) moving(by float64) func(point) bool {
	return func(p point) bool { return !(math.Abs(p.slope)*l.o.Step <= by) }
}

// nothingToGain reports whether there is nothing to gain further on: solutions no longer change, the path is
// deep enough and hardly falls, or dense solutions fit the training rows whatever λ is.
func (l *scan) nothingToGain(gain, unit float64) bool {
	here := l.here
	switch {
	case here.Flat && !l.o.Jumps && l.previous.Evaluation != nil && !l.allFlat():
		return true
	case here.depth >= l.o.Floor && gain <= leastGain*unit:
		return true
	default:
		return !l.o.Sparse && (l.fitsTraining() || l.lossSettled()) && math.Abs(here.slope)*l.o.Step <= leastGain*unit
	}
}

// fitsTraining reports whether the solutions at the last point fit the training rows: hardly any training loss
// is left, and far less than of the criterion, both relative to the null model.
func (l *scan) fitsTraining() bool {
	here, null := l.here, l.o.Null.Value
	return here.TrainLoss < fittedLoss && !(null > 0 && here.Value > 0 && here.TrainLoss >= float64(fittedRatio*(here.Value/null)))
}

// waitsForColumns reports whether the path waits for columns of a small scale, which may enter long after the others and
// explain more than all of them. It waits while little work is spent and some columns are outside the support, or
// may be in it only because of their groups.
func (l *scan) waitsForColumns() bool {
	return l.o.Wide && l.spent <= float64(waitingShare*l.o.Free) && (l.here.Saturation < 1 || l.o.Grouped)
}

// mayFallLater reports whether the criterion may fall again although it does not fall here, as where a column of a large
// scale has entered long before the others: half of the training loss is left, some columns are outside the support,
// and the criterion has not risen clearly above the best. While hardly any columns are in the support, neither the
// training loss nor the rise counts.
func (l *scan) mayFallLater(unit float64) bool {
	here := l.here
	many := !l.o.Sparse || here.Support > cheapColumns
	switch {
	case l.fitsTraining(), many && here.TrainLoss < halfLoss, many && here.Value > l.leastValue()+float64(risenMargin*unit):
		return false
	case l.o.Climb:
		return true
	case l.o.Sparse:
		return here.Saturation < denseSupport || l.o.Grouped && !l.lossSettled()
	default:
		return !l.lossSettled()
	}
}

// steepening returns by how much more than its slope predicts the criterion falls over twice the reach, by the
// curvature between the last two points; 0 unless it falls faster than at the point before.
func (l *scan) steepening() float64 {
	here, before := l.here, l.previous
	if before.Evaluation == nil || math.IsNaN(before.slope) || here.depth <= before.depth {
		return 0
	}
	length := twice * l.o.Reach
	return max(0, (before.slope-here.slope)/(here.depth-before.depth)*length*length/2)
}

// pathEnds reports whether the last points end the path: two that have risen; one that is dense and not the best (two
// where the path may climb, since such criteria dip more often); one that has lost to its rival; two at which the
// criterion does not move (one if it never will: C alone varies, and no row is at its bound); or two above the best
// between which it hardly moves.
func (l *scan) pathEnds(unit float64) bool {
	dense, still := 1, twice
	if l.o.Climb {
		dense = twice
	}
	if l.o.Kinks && l.here.TrainLoss < halfLoss {
		still = 1
	}
	return l.risen >= twice || l.dense >= dense && l.best.Evaluation != l.here.Evaluation || l.lostToRival(unit) || l.still >= still || l.level >= twice
}

// lostToRival reports whether a path that has not come down to its rival rises above the rival, while solutions explain
// more than half of the training loss.
func (l *scan) lostToRival(unit float64) bool {
	rival, here := l.o.Rival, l.here
	return rival != nil && l.best.Value > rival.Value && here.TrainLoss < halfLoss && here.slope > 0 &&
		here.Value > rival.Value+float64(minimumRange*max(unit, l.unit(rival)))
}

// lossSettled reports whether the solutions at the last point fit the training rows clearly better than those of the
// first point, but hardly better than those of the point before.
func (l *scan) lossSettled() bool {
	before := l.previous.Evaluation
	return before != nil && before.TrainLoss-l.here.TrainLoss <= fittedLoss && l.here.TrainLoss < (1-settledShare)*l.points[0].TrainLoss
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

// affordableStep returns the step that the work so far allows, or 0 for none. The work of a point is
// predicted from the growth of the support.
func (l *scan) affordableStep(falling bool, unit float64) float64 {
	here, step := l.here, l.o.Step
	bySupport, rate := l.growth()
	price := float64(here.Work * kernels.Exp(bySupport*step))
	mayPay := l.mayFallLater(unit) && float64(here.Work*kernels.Exp(l.growthBySupport(cheapColumns)*step)) <= float64(mostPriceRatio*l.spent)
	if !falling {
		if !mayPay && (l.best.depth > 0 || here.depth >= shallowDepth) && l.spent-l.atBest+price > l.o.Free+float64(extraWork*l.atBest) {
			return 0
		}
		return step
	}
	if price <= l.o.Free || price <= extraWork*l.spent {
		return step
	}
	root := l.rootDistance()
	if !mayPay && math.Abs(here.slope)*root/2 < leastGain*unit {
		return 0
	}
	return max(leastPathStep, min(step, max(root, modestWorkGrowth/rate), mostWorkGrowth/rate))
}

// growth returns the expected growth of ln work per unit of depth: from the growth of the support
// on the last step, and the mean of that and the growth of the work itself, since a support that
// is still small costs hardly anything.
func (l *scan) growth() (bySupport, mean float64) {
	here, before := l.here, l.previous
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

// growthBySupport returns the growth of ln work per unit of depth that is expected from the growth of the support on
// the last step, with besides columns added to both supports.
func (l *scan) growthBySupport(extra int) float64 {
	here, before := l.here, l.previous
	if before.Evaluation == nil || here.Support <= before.Support {
		return 0
	}
	return growthPower * kernels.Log(float64(here.Support+extra)/float64(max(1, before.Support+extra))) / (here.depth - before.depth)
}

// rootDistance returns how far beyond the last point the slope vanishes, by the secant through the nearest
// point that is far enough away; +Inf if it does not vanish.
func (l *scan) rootDistance() float64 {
	here := l.here
	for _, p := range slices.Backward(l.points) {
		if here.depth-p.depth < leastSecant || math.IsNaN(p.slope) {
			continue
		}
		if curvature := (here.slope - p.slope) / (here.depth - p.depth); curvature > 0 {
			return -here.slope / curvature
		}
		break
	}
	return math.Inf(1)
}
