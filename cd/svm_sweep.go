package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
)

// sweeper is coordinate descent over the samples that may still move.
//
// Samples at a bound whose gradient points out of the box by more than a share
// of the largest violation of the last sweep are set aside (after Hsieh et al.,
// ICML 2008, section 3.2). That is a guess: every certificate covers all
// samples again.
//
// Runs of the list are visited in random order: random order converges several
// times faster than cyclic order where neighbours are alike, and runs keep the
// entries of neighbours together.
type sweeper struct {
	e      kernels.BoxEpoch
	live   []int32 // samples still swept, by position
	chunk  int     // samples between two checks of the context
	random uint64  // state of the generator, seeded anew by every solve

	left   float64 // sweeps over all samples that this solve may still cost
	factor float64 // the estimated gap asked for, relative to the target

	total      float64 // modelled cost of the sweeps of this solve since help was last asked for
	checked    float64 // what it was when the gap was last looked at, and that gap
	gap        float64
	spent      float64 // modelled cost of sweeps since a Newton step was last considered
	freeBefore int     // free samples when a step was last considered
	reluctant  float64 // factor on the price of Newton steps
}

const (
	stepShare    = 0.3     // of the cost of sweeps, that Newton steps may cost
	settledShare = 0.9     // of the free samples must remain for a Newton step
	firstTry     = 1       // of the target, before the first certificate
	nextTry      = 0.7     // of the one before
	setAside     = 0.2     // of the largest violation
	leastTry     = 1e-4    // where rounding ends the tightening
	pollEvery    = 1 << 19 // entries between two checks of the context
	firstCheck   = 1. / 16 // of the price of the interior point, from where on sweeps are compared with it
	stepGain     = 0.5     // of the gap that a Newton step must take away to be worth while
	swath        = 8       // samples that are visited one after the other
)

func (w *sweeper) init(s *SVM) {
	w.e.At, w.e.W = s.at, s.w
	w.e.From, w.e.To, w.e.Features, w.e.Values = s.from[:s.n], s.from[1:], s.rows, s.values
	w.live = make([]int32, 0, s.n)
	w.chunk = max(swath, int(pollEvery*int64(s.n)/max(1, s.from[s.n])))
}

func (w *sweeper) start(opts Options) {
	w.random, w.left, w.factor, w.spent, w.reluctant = 0, float64(opts.MaxEpochs), firstTry, 0, 1
	w.freeBefore, w.total, w.checked = math.MaxInt, 0, 0
}

// hopeless reports whether sweeps have cost the price of the interior point, or will have at
// the rate at which the gap has fallen since they had cost half as much.
func (w *sweeper) hopeless(gap, goal, price float64) bool {
	switch {
	case w.total > price:
		return true
	case w.total < max(firstCheck*price, 2*w.checked):
		return false
	}
	before, cost := w.gap, w.total-w.checked
	first := w.checked == 0
	w.checked, w.gap = w.total, gap
	return !first && w.total+cost*kernels.Log(gap/goal)/kernels.Log(before/gap) > price || !first && gap >= before
}

// sweep runs epochs until the gap of the live samples, as met on the way, is a
// fraction of the target. It returns false where ctx ended.
func (s *SVM) sweep(ctx context.Context, target float64) bool {
	w := &s.sweeps
	s.activate()
	goal := w.factor * target
	stepped := math.Inf(1) // the gap before a Newton step that came last
	for w.left > 0 {
		w.left -= float64(len(w.live)) / float64(s.n)
		s.sol.Epochs++
		if !s.epoch(ctx) {
			return false
		}
		gap := w.e.Gap
		if gap <= goal {
			break
		}
		if gap > stepGain*stepped {
			w.reluctant = min(2*w.reluctant, mostReluctant)
		} else if !math.IsInf(stepped, 1) {
			w.reluctant = max(1, 0.5*w.reluctant)
		}
		stepped = math.Inf(1)
		if budget := stepShare * w.spent; budget > w.reluctant*s.newton.price() {
			if settled := float64(w.e.Free) > settledShare*float64(w.freeBefore); settled {
				stepped = 0 // a step that fails is no gain
				if s.newton.step(ctx, budget) {
					s.sol.Steps++
					stepped = gap
				}
			}
			w.spent, w.freeBefore = 0, w.e.Free
		}
		if s.inside.helped < mostHelp && w.hopeless(gap, goal, s.inside.price()) {
			w.total, w.checked = 0, 0
			return s.inside.help(ctx)
		}
	}
	w.factor = max(leastTry, nextTry*w.factor)
	return true
}

// activate chooses the samples to sweep, given the margins of a certificate.
func (s *SVM) activate() {
	w := &s.sweeps
	var over, under float64
	for pos := range s.at {
		if g := s.margin[pos] - 1; g > 0 && s.at[pos].Value > 0 {
			over = max(over, g)
		} else if g < 0 && s.at[pos].Value < s.at[pos].Bound {
			under = min(under, g)
		}
	}
	w.compare(over, under)
	w.live = w.live[:0]
	for pos := range s.at {
		v, g := &s.at[pos], s.margin[pos]-1
		aside := v.Value == 0 && g > w.e.AsideOver || v.Value == v.Bound && g < w.e.AsideUnder
		if !aside && v.Bound > 0 && v.Inverse > 0 {
			w.live = append(w.live, int32(pos))
		}
	}
}

// compare sets the thresholds beyond which samples are set aside, given the
// extreme violations. Where there is none to compare with, nobody is.
func (w *sweeper) compare(over, under float64) {
	if w.e.AsideOver = setAside * over; !(over > 0) {
		w.e.AsideOver = math.Inf(1)
	}
	if w.e.AsideUnder = setAside * under; !(under < 0) {
		w.e.AsideUnder = math.Inf(-1)
	}
}

// epoch visits the live samples once and keeps those that are not set aside. It
// returns false where ctx ended.
func (s *SVM) epoch(ctx context.Context) bool {
	w, e := &s.sweeps, &s.sweeps.e
	w.shuffle()
	e.MostOver, e.MostUnder, e.Gap, e.Visited, e.Moved, e.Free, e.FreeEntries = 0, 0, 0, 0, 0, 0, 0
	visits, kept := len(w.live), 0
	for from := 0; from < visits; from += w.chunk {
		if ctx.Err() != nil {
			return false
		}
		e.Live = w.live[from:min(from+w.chunk, visits)]
		var stay int
		if s.rows == nil {
			stay = s.denseEpoch()
		} else {
			stay = s.k.BoxEpoch(e)
		}
		copy(w.live[kept:], e.Live[:stay])
		kept += stay
	}
	w.live = w.live[:kept]
	cost := s.visits(e.Visited+e.Moved, visits)
	w.spent += cost
	w.total += cost
	s.work += cost
	w.compare(e.MostOver, e.MostUnder)
	return true
}

// shuffle puts runs of the list in random order (SplitMix64 and Fisher–Yates). What
// is left behind the last whole run stays there.
func (w *sweeper) shuffle() {
	for i := len(w.live)/swath - 1; i > 0; i-- {
		w.random += 0x9e3779b97f4a7c15
		z := w.random
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		j := int(z % uint64(i+1))
		a, b := (*[swath]int32)(w.live[i*swath:]), (*[swath]int32)(w.live[j*swath:])
		*a, *b = *b, *a
	}
}

// denseEpoch is [kernels.Set.BoxEpoch] for dense samples.
func (s *SVM) denseEpoch() (kept int) {
	e := &s.sweeps.e
	for _, pos := range e.Live {
		v, x := &e.At[pos], e.Values[e.From[pos]:e.To[pos]]
		g := math.FMA(v.Sign, s.k.Dot(x, e.W), -1)
		share := v.Value // of the gap
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
			s.k.Axpy(d*v.Sign, x, e.W)
		}
	}
	return kept
}
