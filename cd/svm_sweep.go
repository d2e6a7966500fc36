package cd

import (
	"context"
	"math"
	"math/bits"

	"github.com/seed-45b9a24c/pare/model"
)

// sweeper is coordinate descent over the samples that may still move.
//
// Samples at a bound whose gradient points out of the box by more than the
// largest violation of the last sweep are set aside (Hsieh et al., ICML 2008,
// section 3.2). That is a guess: every certificate looks at all samples again.
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

	over, under float64 // extremes of mᵢ − 1 in the last sweep, where no bound excuses them
	random      uint64  // state of the generator, seeded anew by every solve
	left        int     // epochs left in this solve
	factor      float64 // the estimated gap asked for, relative to the target

	margins     []float64 // of a block
	free        int       // samples that were free in the last sweep
	freeEntries int
	rented      int     // sweeps since the samples were packed
	spent       float64 // modelled cost of sweeps since the last Newton step
	reluctant   float64 // factor on the price of Newton steps
}

const (
	firstReluctant = 4       // so that the free samples have settled
	firstTry       = 1       // of the target, before the first certificate
	nextTry        = 0.7     // of the one before
	leastTry       = 1e-4    // where rounding ends the tightening
	pollEvery      = 1 << 19 // entries between two looks at the context
	packCost       = 5       // sweeps that packing and multiplying cost
	stepGain       = 0.5     // of the gap that a Newton step must take away to be worth while
	fewInABlock    = 2       // live samples of a block that are better taken one by one
)

func (w *sweeper) init(s *SVM) {
	w.all = pack{from: s.from, rows: s.rows, values: s.values, position: make([]int32, s.n)}
	for pos := range w.all.position {
		w.all.position[pos] = int32(pos)
	}
	w.margins = make([]float64, block)
}

func (w *sweeper) start(opts Options) {
	w.random, w.left, w.factor, w.spent, w.reluctant = 0, opts.MaxEpochs, firstTry, 0, firstReluctant
}

// sweep runs epochs until the gap of the live samples, as met on the way, is a
// fraction of the target. It returns false where ctx ended.
func (s *SVM) sweep(ctx context.Context, target float64) bool {
	w := &s.sweeps
	s.activate()
	goal := w.factor * target
	stepped := math.Inf(1) // the gap before a Newton step that came last
	for w.left > 0 {
		w.left--
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
		}
		stepped = math.Inf(1)
		if w.spent > w.reluctant*s.newton.price() {
			stepped = 0 // a step that fails is no gain
			if s.newton.step(ctx, w.spent) {
				s.sol.Steps++
				stepped = gap
			}
			w.spent = 0
		}
		s.repack()
	}
	w.factor = max(leastTry, nextTry*w.factor)
	return true
}

// activate chooses the samples to sweep, given the margins of a certificate.
func (s *SVM) activate() {
	w := &s.sweeps
	w.over, w.under = 0, 0
	for pos, bound := range s.bound {
		if g := s.margin[pos] - 1; g > 0 && s.beta[pos] > 0 {
			w.over = max(w.over, g)
		} else if g < 0 && s.beta[pos] < bound {
			w.under = min(w.under, g)
		}
	}
	w.widen()
	w.here, w.rented = &w.all, 0
	w.all.begin()
	for pos, bound := range s.bound {
		if bound > 0 && s.square[pos] > 0 && !w.aside(s.beta[pos], bound, s.margin[pos]-1) {
			w.all.enliven(pos)
		}
	}
}

// aside reports whether a sample can be left out of the sweeps.
func (w *sweeper) aside(b, bound, g float64) bool {
	return b == 0 && g > w.over || b == bound && g < w.under
}

// widen sets nobody aside where there was no violation to compare with.
func (w *sweeper) widen() {
	if w.over <= 0 {
		w.over = math.Inf(1)
	}
	if w.under >= 0 {
		w.under = math.Inf(-1)
	}
}

// tally is what a sweep gathers.
type tally struct {
	over, under float64
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
	t := tally{over: math.Inf(-1), under: math.Inf(1)}
	kept, polled, count := 0, 0, p.count
	for _, b := range p.blocks {
		if t.values-polled > pollEvery {
			if polled = t.values; ctx.Err() != nil {
				return 0, false
			}
		}
		live := p.live[b]
		if len(p.products) > 0 && bits.OnesCount8(live) > fewInABlock {
			s.visitBlock(p, int(b), &t)
		} else {
			for ; live != 0; live &= live - 1 {
				slot := int(b)*block + bits.TrailingZeros8(live)
				pos := int(p.position[slot])
				g := float64(s.y[pos]*s.dot(pos, s.w)) - 1
				t.values += s.entries(pos)
				if d := s.visit(p, slot, g, &t); d != 0 {
					s.add(pos, d, s.w)
				}
			}
		}
		if p.live[b] != 0 {
			p.blocks[kept] = b
			kept++
		}
	}
	p.blocks = p.blocks[:kept]
	w.spent += residualCost(t.values, count, s.rows == nil)
	w.rented++
	w.free, w.freeEntries = t.free, t.freeEntries
	w.over, w.under = t.over, t.under
	w.widen()
	return t.gap, ctx.Err() == nil
}

// visitBlock visits the live samples of a block whose products are known.
func (s *SVM) visitBlock(p *pack, b int, t *tally) {
	first, last := b*block, min((b+1)*block, len(p.position))
	dots := s.sweeps.margins[:last-first]
	s.k.DotColumns(p.from[first:last+1], p.rows, p.values, s.w, dots)
	t.values += int(p.from[last] - p.from[first])
	products := p.products[b*block*block:]
	for live := p.live[b]; live != 0; live &= live - 1 {
		a := bits.TrailingZeros8(live)
		pos := int(p.position[first+a])
		d := s.visit(p, first+a, float64(s.y[pos]*dots[a])-1, t)
		if d == 0 {
			continue
		}
		row := products[a*block:][:len(dots)]
		for c := a + 1; c < len(dots); c++ {
			dots[c] = math.FMA(d, row[c], dots[c])
		}
		from, to := p.from[first+a], p.from[first+a+1]
		s.k.AxpyIndexed(d, p.values[from:to], p.rows[from:to], s.w)
	}
}

// visit updates βᵢ for a sample with g = mᵢ − 1 and returns yᵢ times the change,
// or sets the sample aside.
func (s *SVM) visit(p *pack, slot int, g float64, t *tally) (d float64) {
	pos := p.position[slot]
	b, bound := s.beta[pos], s.bound[pos]
	switch {
	case g > 0 && b == 0:
		if g > s.sweeps.over {
			p.drop(slot)
		}
		return 0
	case g < 0 && b == bound:
		if g < s.sweeps.under {
			p.drop(slot)
		}
		return 0
	case g > 0:
		t.over = max(t.over, g)
		t.gap = math.FMA(b, g, t.gap)
	default:
		t.under = min(t.under, g)
		t.gap = math.FMA(bound-b, -g, t.gap)
	}
	next := model.Clip(b-g/s.square[pos], bound)
	entries := int(p.from[slot+1] - p.from[slot])
	if next > 0 && next < bound {
		t.free++
		t.freeEntries += entries
	}
	if next == b {
		return 0
	}
	t.values += entries
	s.beta[pos] = next
	return (next - b) * s.y[pos]
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
