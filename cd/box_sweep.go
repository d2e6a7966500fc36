package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
)

// sweeper is coordinate descent over the variables of a box that may still move: those of the samples of an
// SVM, or of the two sides of the tubes of regression.
//
// Samples at a bound are set aside if their gradient points out of the box by more than a share of the largest
// violation of the last sweep (after Hsieh et al., ICML 2008, section 3.2). That is a guess: every certificate
// covers all samples again.
//
// Runs of the list are visited in random order: it converges several times faster than cyclic order where
// neighbours are alike, and runs keep the entries of neighbours together.
type sweeper struct {
	k      *kernels.Set
	e      kernels.BoxEpoch
	margin []float64 // of each variable, at the last certificate
	live   []int32   // variables still swept
	chunk  int       // samples between two checks of the context
	random uint64    // state of the generator, seeded anew by every solve

	sweepsLeft float64 // sweeps over all variables left in this solve
	factor     float64 // the estimated gap to reach, relative to the target

	cost         float64 // modelled cost of the last epoch
	total        float64 // modelled cost of the sweeps of this solve since the interior point last took over
	checkedTotal float64 // total when tooCostly last looked at the gap, and that gap
	checkedGap   float64
	spent        float64 // modelled cost of sweeps since a Newton step was last considered
	freeBefore   int     // free samples when a step was last considered
	priceFactor  float64 // factor on the price of Newton steps
}

const (
	stepShare        = 0.3     // of the cost of sweeps: what a Newton step may cost
	settledShare     = 0.9     // of the free samples must remain free for a Newton step
	firstFactor      = 1       // initial factor, before the first certificate
	factorDecay      = 0.7     // of the factor before
	setAside         = 0.2     // of the largest violation
	leastSweepFactor = 1e-4    // least factor, where rounding makes tightening useless
	pollEvery        = 1 << 19 // entries between two checks of the context
	pollSample       = 16      // cost of a sample, in entries
	firstCheck       = 1. / 16 // of the price of the interior point: cost of sweeps at which the two are first compared
	stepGain         = 0.5     // of the gap: a Newton step that leaves more was not worth its cost
	runLength        = 8       // samples visited one after another
)

func (w *sweeper) init(k *kernels.Set, e kernels.BoxEpoch, margin []float64) {
	w.k, w.e, w.margin = k, e, margin
	w.live = kernels.Undefined[int32](len(e.At))[:0]
	samples := int64(len(e.At))
	w.chunk = max(runLength, int(pollEvery*samples/max(1, int64(len(e.Values))+pollSample*samples)))
}

func (w *sweeper) start(opts Options) {
	w.random, w.sweepsLeft, w.factor, w.spent, w.priceFactor = 0, float64(opts.MaxEpochs), firstFactor, 0, 1
	w.freeBefore, w.total, w.checkedTotal = math.MaxInt, 0, 0
}

// tooCostly reports whether sweeps have cost as much as the interior point would, or will at the rate at which
// the gap has fallen since they had cost half as much.
func (w *sweeper) tooCostly(gap, goal, price float64) bool {
	switch {
	case w.total > price:
		return true
	case w.total < max(firstCheck*price, 2*w.checkedTotal):
		return false
	}
	before, cost := w.checkedGap, w.total-w.checkedTotal
	first := w.checkedTotal == 0
	w.checkedTotal, w.checkedGap = w.total, gap
	return !first && w.total+cost*kernels.Log(gap/goal)/kernels.Log(before/gap) > price || !first && gap >= before
}

// activate chooses the samples to sweep, given the margins of a certificate.
func (w *sweeper) activate() {
	var over, under float64
	for pos := range w.k.Range(len(w.e.At)) {
		v := &w.e.At[pos]
		if g := w.margin[pos] - v.Margin; g > 0 && v.Value > 0 {
			over = max(over, g)
		} else if g < 0 && v.Value < v.Bound {
			under = min(under, g)
		}
	}
	w.setAsideThresholds(over, under)
	w.live = w.live[:0]
	for pos := range w.k.Range(len(w.e.At)) {
		v := &w.e.At[pos]
		g := w.margin[pos] - v.Margin
		aside := v.Value == 0 && g > w.e.AsideOver || v.Value == v.Bound && g < w.e.AsideUnder
		if !aside && v.Bound > 0 && v.Inverse > 0 {
			w.live = append(w.live, int32(pos))
		}
	}
}

// setAsideThresholds sets the thresholds beyond which samples are set aside, given the extreme violations. Without a
// violation no sample is set aside.
func (w *sweeper) setAsideThresholds(over, under float64) {
	if w.e.AsideOver = setAside * over; !(over > 0) {
		w.e.AsideOver = math.Inf(1)
	}
	if w.e.AsideUnder = setAside * under; !(under < 0) {
		w.e.AsideUnder = math.Inf(-1)
	}
}

// epoch visits the live samples once and keeps those that are not set aside. It
// returns false where ctx ended.
func (w *sweeper) epoch(ctx context.Context) bool {
	e := &w.e
	w.shuffle()
	e.MostOver, e.MostUnder, e.Gap, e.Visited, e.Moved, e.Free, e.FreeEntries = 0, 0, 0, 0, 0, 0, 0
	visits, kept := len(w.live), 0
	for from := 0; from < visits; from += w.chunk {
		if ctx.Err() != nil {
			return false
		}
		e.Live = w.live[from:min(from+w.chunk, visits)]
		var stay int
		if e.Features == nil {
			stay = w.denseEpoch()
		} else {
			stay = w.k.BoxEpoch(e)
		}
		copy(w.live[kept:], e.Live[:stay])
		kept += stay
	}
	w.live = w.live[:kept]
	w.cost = visitCost(e.Visited+e.Moved, visits, e.Features == nil)
	w.spent += w.cost
	w.total += w.cost
	w.setAsideThresholds(e.MostOver, e.MostUnder)
	return true
}

// shuffle puts runs of the list in random order (SplitMix64 and Fisher–Yates). Samples after the last whole run
// stay in place.
func (w *sweeper) shuffle() {
	runs := len(w.live) / runLength
	for done := range w.k.Range(runs - 1) {
		i := runs - 1 - done
		w.random += 0x9e3779b97f4a7c15
		z := w.random
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		j := int(z % uint64(i+1))
		a, b := (*[runLength]int32)(w.live[i*runLength:]), (*[runLength]int32)(w.live[j*runLength:])
		*a, *b = *b, *a
	}
}

// denseEpoch is [kernels.Set.BoxEpoch] for dense samples.
func (w *sweeper) denseEpoch() (kept int) {
	e := &w.e
	for _, pos := range e.Live {
		v, x := &e.At[pos], e.Values[e.From[pos]:e.To[pos]]
		g := math.FMA(v.Sign, w.k.Dot(x, e.W), -v.Margin)
		share := v.Value // times g: the contribution to the gap
		if !(g > 0) {
			share -= v.Bound
		}
		e.Gap = math.FMA(share, g, e.Gap)
		e.Visited += len(x)
		if share != 0 {
			e.MostOver, e.MostUnder = max(e.MostOver, g), min(e.MostUnder, g)
		}
		if share != 0 || !(g > e.AsideOver || g < e.AsideUnder) {
			e.Live[kept] = pos
			kept++
		}
		next := model.Clip(math.FMA(-g, v.Inverse, v.Value), v.Bound)
		if next > 0 && next < v.Bound {
			e.Free++
			e.FreeEntries += len(x)
		}
		if d := next - v.Value; d != 0 {
			v.Value = next
			e.Moved += len(x)
			w.k.Axpy(d*v.Sign, x, e.W)
		}
	}
	return kept
}
