package choose

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/search"
)

const (
	freeWork   = 15e6 // nanoseconds of work that a scan may always spend
	cheapPoint = 30e6 // of a point of two λ up to which it is cheap
	freePasses = 5    // passes over X of all folds, likewise
	foldsAbove = 0.5  // how far above αmax of all rows those of folds are taken to be, at least, where there are several λ
	ridgeAbove = 3    // how far above its αmax a ridge is looked for
	ridgeStep  = 3
	ridgeDepth = 24   // a billionth of αmax
	dualBefore = 7    // how far before the first C an SVM is looked for
	dualFloor  = 20   // from there on
	dualFree   = 32   // times the work that is free: the way up is long, and doubts come after it
	turnsFree  = 16   // of each of several lines along C
	tubeFree   = 8    // likewise, along ε
	tubeAbove  = 3    // how far above its unit ε is looked for: twice the standard deviation of the target
	tubeFirst  = 0.5  // from there to the first point
	tubeFloor  = 7    // and how far below that, at least
	tubeFades  = 0.7  // where it is the standard deviation of the target
	tubeRough  = 1    // and how rough the criterion is above that
	dualKink   = 1e-3 // before the first row is free: there slopes jump
	dualRough  = 0.2  // of C alone
	unitsRough = 1.4  // of C and ε at once
	costRough  = 0.25 // where ε stays: of what C does far less than of what ε does
	rough      = 0.25 // of the others that are not smooth
	lossRough  = 0.35 // where the loss is not quadratic
	jumpStep   = 0.2  // under a penalty that is not convex
	jumpReach  = 1.5  // of its slopes, as that of the others
)

// scan chooses one λ, or the share of αmax for all.
func (p *Problem) scan(ctx context.Context, f search.Objective, o Options, options search.Options) (*search.Result, error) {
	l := search.ScanOptions{
		Options: options, Precision: o.Precision, Earlier: o.earlier(f), Fresh: o.Fresh, Null: p.Null(), Free: freeWork + float64(freePasses*p.Pass), Rough: rough,
		Rival: p.rival, Known: p.known, Sparse: p.Shape != Smooth, Wide: p.Wide, Grouped: p.Grouped, Interpolates: p.Interpolates, Relative: p.Curved, Separable: p.Separable,
	}
	if p.Roughness > 0 {
		l.Rough *= p.Roughness
	}
	if k, ok := p.Objective.(keepsSolutions); ok {
		k.KeepSolutions()
	}
	if c, ok := p.Objective.(isLoss); ok {
		l.NonNegative = c.NonNegative()
	}
	l.Origin = p.origin()
	if p.Curved {
		l.Rough = lossRough
	}
	switch p.Shape { //nolint:exhaustive // the others are as they are
	case Smooth:
		if r := p.rival; r == nil || !(r.Value+r.StandardError < l.Null.Value) { // the best may be next to the null model
			l.Origin += ridgeAbove
		}
		l.Rough = 0
		l.Distant, l.Step, l.Floor, l.Bottom = true, ridgeStep, ridgeDepth, ridgeDepth
	case Dual:
		p.alongCost(&l)
	case Tube:
		l.Origin = p.origins()[0] + tubeAbove
		l.Distant, l.Climb, l.First, l.Floor, l.Bottom = true, true, tubeFirst, tubeFloor, dualFloor
		l.Rough, l.Fades, l.Free = tubeRough, tubeFades, tubeFree*l.Free
	}
	if p.Jumps { // no model reaches beyond the next jump
		l.Jumps, l.First, l.Step, l.Reach, l.Rough = true, jumpStep, jumpStep, jumpReach, 0
	}
	if math.IsInf(l.Origin, -1) || math.IsNaN(l.Origin) {
		l.Origin = 0
	}
	return search.Scan(ctx, f, l)
}

// origin is λ where a scan begins: at αmax, or where the first fold has its own above that.
func (p *Problem) origin() float64 {
	switch t, ok := p.Objective.(withMaximum); {
	case len(p.Top) > 1:
		if t, ok := p.Objective.(withExcess); ok {
			return max(foldsAbove, t.Excess(p.Top))
		}
		return foldsAbove // on the line of shares
	case ok && p.Shape != Smooth:
		return max(p.origins()[0], t.LogLambdaMax())
	default:
		return p.origins()[0]
	}
}

// alongCost has a scan go up along C.
func (p *Problem) alongCost(l *search.ScanOptions) {
	l.Origin = kernels.Log(p.Start) - dualBefore
	if s, ok := p.Objective.(withStraight); ok {
		if straight := s.LogStraight() - dualKink; straight >= l.Origin && !math.IsInf(straight, 1) {
			l.Origin, l.Straight = straight, true
		}
	}
	l.Up, l.Distant, l.Climb, l.Floor = true, true, true, dualFloor
	l.Rough, l.Kinks = dualRough, !p.turns
	free := float64(dualFree)
	if p.turns {
		l.Rough, free = unitsRough, turnsFree
		if len(p.Top) == 1 {
			l.Rough = costRough
		}
	}
	l.Free *= free
}
