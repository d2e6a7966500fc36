package choose

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/search"
)

const (
	freeWork       = 15e6 // work, in nanoseconds, that a scan may always spend
	cheapPoint     = 30e6 // work up to which an evaluation at two λ is cheap
	freePasses     = 5    // number of passes over X for all folds that a scan may always spend in addition
	foldsAbove     = 0.5  // the least distance of ln αmax of the folds above that of all rows, as assumed for several λ
	ridgeAbove     = 3    // how far above its αmax the path of a ridge begins
	ridgeStep      = 3    // its step
	ridgeDepth     = 24   // its depth: down to a billionth of αmax
	dualBefore     = 7    // how far before the first C the path of an SVM begins
	dualFloor      = 20   // depth of its floor
	dualFree       = 32   // factor on the free work for C: the path is long, and points placed by doubt follow it
	turnsFree      = 16   // factor for each of several lines along C
	tubeFree       = 8    // factor for a line along ε
	tubeAbove      = 3    // how far above its unit the path of ε begins: at twice the standard deviation of the target
	tubeFirst      = 0.5  // depth of its first point
	tubeFloor      = 7    // depth of its floor
	tubeFades      = 0.7  // depth at which ε is the standard deviation of the target
	tubeRough      = 1    // roughness of the criterion before that depth
	dualKink       = 1e-3 // distance of the first point before the C at which the first row is free, where slopes jump
	dualRough      = 0.2  // roughness along C, without ε
	turnsRough     = 1.4  // roughness along C and ε together
	fixedTubeRough = 0.25 // roughness along C where ε is fixed: the effect of C is far less rough than that of ε
	defaultRough   = 0.25 // roughness of all other criteria that are not smooth
	lossRough      = 0.35 // the same where the loss is not quadratic
	jumpStep       = 0.2  // step where the criterion jumps
	jumpReach      = 1.5  // reach of slopes there, as long as the step of other paths
)

// scan chooses one λ, or one share of αmax for all λ.
func (p *Problem) scan(ctx context.Context, f search.Objective, o Options, options search.Options) (*search.Result, error) {
	l := search.ScanOptions{
		Options: options, Precision: o.Precision, Earlier: o.earlier(f), Fresh: o.Fresh, Null: p.Null(), Free: freeWork + float64(freePasses*p.Pass), Rough: defaultRough,
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

// origin returns the λ at which a scan begins: ln αmax of all rows or, if that is larger, of the folds.
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

// alongCost sets the options of a scan up along C.
func (p *Problem) alongCost(l *search.ScanOptions) {
	l.Origin = kernels.Log(p.Start) - dualBefore
	if s, ok := p.Objective.(withStraight); ok {
		if straight := s.LogStraight() - dualKink; straight >= l.Origin && !math.IsInf(straight, 1) {
			l.Origin, l.Straight = straight, true
		}
	}
	l.Up, l.Distant, l.Climb, l.Floor = true, true, true, dualFloor
	l.Rough, l.Kinks = dualRough, !p.inTurn
	free := float64(dualFree)
	if p.inTurn {
		l.Rough, free = turnsRough, turnsFree
		if len(p.Top) == 1 {
			l.Rough = fixedTubeRough
		}
	}
	l.Free *= free
}
