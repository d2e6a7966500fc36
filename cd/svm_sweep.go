package cd

import (
	"context"
	"math"
	"math/bits"
)

// sweeper is coordinate descent over the samples that may still move.
//
// Samples at a bound whose gradient points out of the box by more than a share
// of the largest violation of the last sweep are set aside (after Hsieh et al.,
// ICML 2008, section 3.2). That is a guess: every certificate looks at all
// samples again.
//
// Blocks of neighbours are visited in random order: random order converges
// several times faster than cyclic order where neighbours are alike, and blocks
// keep the entries of a visit together in memory.
//
// A step on one sample waits, through memory, for the step on the one before.
// After a few sweeps the products within blocks are computed. From then on the
// margins of a block come from one kernel call and are corrected by the
// products while its samples move. When half of them have been set aside,
// those left are packed together.
type sweeper struct {
	all    pack  // X's own storage
	packed pack  // a copy of the samples left
	spare  pack  // room for the next copy
	here   *pack // the one that is swept

	over, under float64 // mᵢ − 1 beyond which a sample at 0, at Cᵢ, is set aside
	random      uint64  // state of the generator, seeded anew by every solve
	left        float64 // sweeps over all samples that this solve may still cost
	factor      float64 // the estimated gap asked for, relative to the target

	tally             // of the sweep at hand, or the last one
	margins []float64 // of a block

	rented     int     // sweeps since the samples were packed
	spent      float64 // modelled cost of sweeps since a Newton step was last considered
	freeBefore int     // free samples then
	reluctant  float64 // factor on the price of Newton steps
}

const (
	stepShare    = 0.3     // of the cost of sweeps, that Newton steps may cost
	settledShare = 0.9     // of the free samples must remain for a Newton step
	firstTry     = 1       // of the target, before the first certificate
	nextTry      = 0.7     // of the one before
	setAside     = 0.2     // of the largest violation
	leastTry     = 1e-4    // where rounding ends the tightening
	pollEvery    = 1 << 19 // entries between two looks at the context
	packCost     = 5       // sweeps that packing and multiplying cost
	stepGain     = 0.5     // of the gap that a Newton step must take away to be worth while
	fewInABlock  = 2       // live samples of a block that are better taken one by one
)

func (w *sweeper) init(s *SVM) {
	w.all = pack{from: s.from, rows: s.rows, values: s.values, position: make([]int32, s.n)}
	for pos := range w.all.position {
		w.all.position[pos] = int32(pos)
	}
	w.margins = make([]float64, block)
}

func (w *sweeper) start(opts Options) {
	w.random, w.left, w.factor, w.spent, w.reluctant = 0, float64(opts.MaxEpochs), firstTry, 0, 1
	w.freeBefore = math.MaxInt
}

// sweep runs epochs until the gap of the live samples, as met on the way, is a
// fraction of the target. It returns false where ctx ended.
func (s *SVM) sweep(ctx context.Context, target float64) bool {
	w := &s.sweeps
	s.activate()
	goal := w.factor * target
	stepped := math.Inf(1) // the gap before a Newton step that came last
	for w.left > 0 {
		w.left -= float64(w.here.count) / float64(s.n)
		s.sol.Epochs++
		gap, ok := s.epoch(ctx)
		if !ok {
			return false
		}
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
			if settled := float64(w.free) > settledShare*float64(w.freeBefore); settled {
				stepped = 0 // a step that fails is no gain
				if s.newton.step(ctx, budget) {
					s.sol.Steps++
					stepped = gap
				}
			}
			w.spent, w.freeBefore = 0, w.free
		}
		s.repack()
	}
	w.factor = max(leastTry, nextTry*w.factor)
	return true
}

// activate chooses the samples to sweep, given the margins of a certificate.
func (s *SVM) activate() {
	w := &s.sweeps
	var over, under float64
	for pos := range s.at {
		if g := s.margin[pos] - 1; g > 0 && s.at[pos].beta > 0 {
			over = max(over, g)
		} else if g < 0 && s.at[pos].beta < s.at[pos].bound {
			under = min(under, g)
		}
	}
	w.compare(over, under)
	w.here, w.rented = &w.all, 0
	w.all.begin()
	for pos := range s.at {
		v, g := &s.at[pos], s.margin[pos]-1
		aside := v.beta == 0 && g > w.over || v.beta == v.bound && g < w.under
		if !aside && v.bound > 0 && v.inverse > 0 {
			w.all.enliven(pos)
		}
	}
}

// compare sets the thresholds beyond which samples are set aside, given the
// extreme violations. Where there is none to compare with, nobody is.
func (w *sweeper) compare(over, under float64) {
	if w.over = setAside * over; !(over > 0) {
		w.over = math.Inf(1)
	}
	if w.under = setAside * under; !(under < 0) {
		w.under = math.Inf(-1)
	}
}

// tally is what a sweep gathers.
type tally struct {
	over, under float64 // extremes of mᵢ − 1 where no bound excuses them
	gap         float64 // Σ(Cᵢ−βᵢ)(1−mᵢ)₊ + βᵢ(mᵢ−1)₊, each as it was when visited
	values      int     // entries met
	free        int
	freeEntries int
}

// epoch visits the live samples once, βᵢ ← clip(βᵢ − (mᵢ−1)/‖xᵢ‖², 0, Cᵢ), and
// returns their gap as met on the way; ok is false where ctx ended.
func (s *SVM) epoch(ctx context.Context) (gap float64, ok bool) {
	w, p := &s.sweeps, s.sweeps.here
	w.random = p.shuffle(w.random)
	w.tally = tally{}
	t := &w.tally
	kept, polled, count := 0, 0, p.count
	for _, b := range p.blocks {
		if t.values-polled > pollEvery {
			if polled = t.values; ctx.Err() != nil {
				return 0, false
			}
		}
		if live := p.live[b]; len(p.products) > 0 && bits.OnesCount8(live) > fewInABlock {
			s.visitBlock(p, int(b))
		} else {
			s.visitEach(p, int(b))
		}
		if p.live[b] != 0 {
			p.blocks[kept] = b
			kept++
		}
	}
	p.blocks = p.blocks[:kept]
	w.spent += residualCost(t.values, count, s.rows == nil)
	w.rented++
	w.compare(t.over, t.under)
	return t.gap, ctx.Err() == nil
}

// visitEach visits the live samples of a block one after the other.
func (s *SVM) visitEach(p *pack, b int) {
	for live := p.live[b]; live != 0; live &= live - 1 {
		slot := b*block + bits.TrailingZeros8(live)
		pos := int(p.position[slot])
		entries := s.entries(pos)
		s.sweeps.values += entries
		if d := s.visit(p, slot, entries, s.dot(pos, s.w)); d != 0 {
			s.add(pos, d, s.w)
		}
	}
}

// visitBlock visits the live samples of a block whose products are known.
func (s *SVM) visitBlock(p *pack, b int) {
	first, last := b*block, min((b+1)*block, len(p.position))
	from := p.from[first : last+1]
	dots := s.sweeps.margins[:last-first]
	s.k.DotColumns(from, p.rows, p.values, s.w, dots)
	s.sweeps.values += int(from[len(dots)] - from[0])
	products := p.products[b*block*block:]
	for live := p.live[b]; live != 0; live &= live - 1 {
		a := bits.TrailingZeros8(live)
		d := s.visit(p, first+a, int(from[a+1]-from[a]), dots[a])
		if d == 0 {
			continue
		}
		row := products[a*block:][:len(dots)]
		for c := a + 1; c < len(dots); c++ {
			dots[c] = math.FMA(d, row[c], dots[c])
		}
		s.k.AxpyIndexed(d, p.values[from[a]:from[a+1]], p.rows[from[a]:from[a+1]], s.w)
	}
}

// visit updates βᵢ for a sample with xᵢw = dot and returns yᵢ times the change, or
// sets the sample aside.
func (s *SVM) visit(p *pack, slot, entries int, dot float64) (d float64) {
	v, w := &s.at[p.position[slot]], &s.sweeps
	g := float64(v.y*dot) - 1
	if g > 0 {
		if v.beta == 0 {
			if g > w.over {
				p.drop(slot)
			}
			return 0
		}
		w.tally.over = max(w.tally.over, g)
		w.gap = math.FMA(v.beta, g, w.gap)
	} else {
		if v.beta == v.bound {
			if g < w.under {
				p.drop(slot)
			}
			return 0
		}
		w.tally.under = min(w.tally.under, g)
		w.gap = math.FMA(v.beta-v.bound, g, w.gap)
	}
	next := v.beta - float64(g*v.inverse)
	switch {
	case next >= v.bound:
		next = v.bound
	case next > 0:
		w.free++
		w.freeEntries += entries
	default:
		next = 0
	}
	d = next - v.beta
	if d == 0 {
		return 0
	}
	w.values += entries
	v.beta = next
	return d * v.y
}

// repack rents or buys: once as many sweeps as that costs have been made, it
// computes the products of the samples being swept, or packs what is left of
// them.
func (s *SVM) repack() {
	w, p := &s.sweeps, s.sweeps.here
	most := 2*p.count > len(p.position)
	if s.rows == nil || w.rented < packCost || most && len(p.products) > 0 {
		return
	}
	w.rented = 0
	if !most {
		if p == &w.packed { // a copy of a copy
			w.spare, w.packed = w.packed, w.spare
			p = &w.spare
		}
		w.packed.copyLive(p)
		w.here = &w.packed
	}
	w.here.multiply(s.k, s.newton.zeros())
}
