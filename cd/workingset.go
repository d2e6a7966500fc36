package cd

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/seed-45b9a24c/pare/support"
)

// workingSet chooses the columns of the inner problem: the support and the columns that violate optimality
// most. The set is kept small, because not working on columns that end at zero saves most in a fit. Such
// columns are included only where they cost next to nothing.
type workingSet struct {
	columns          []int32  // in storage order, so that sweeps visit columns by length
	ascending        []int32  // the same columns by index
	places           []int32  // places of the columns, see certificate
	member           placeSet // the same places as a set
	candidates       []candidate
	candidateColumns []int32  // columns of the candidates
	missed           int      // violators of the last pass that the previous set lacked
	all              bool     // the set is to have all columns
	marks            placeSet // scratch, empty between uses
	duplicates       duplicates
}

// candidate is a place outside the support with the distance of its column to the boundary of the dual feasible
// set, (Nαⱼ − c|c_j|)/‖X̃_j‖: the smaller the distance, the likelier the column is to enter the support.
type candidate struct {
	distance float64
	place    int32
}

const (
	// firstSet is the size of the working set before a support is known, and the least growth allowed
	// afterwards.
	firstSet = 100
	// exactTol is the tolerance at or below which a first set has at most half of the violators, of which at most
	// a third end in the support. Looser tolerances are those of searches, whose steps gain from accurate first
	// solutions.
	exactTol = 1e-5
	// takenShare is the share of a working set that must be in the support for sets to count as too small. It is
	// lower with a ridge, which brings in similar columns together, few of which leave again.
	takenShare      = 0.95
	takenShareRidge = 0.7
	// growthRatio is the largest ratio of the candidates to the support where the support takes up nearly all of
	// the last set. The final size of the support is uncertain then, and a round with too many columns is
	// better than one with too few.
	growthRatio = 7
	// spareShare is the share of the price of a sweep over the support that may be spent on further columns, whether
	// they violate optimality or not: where the support has most of the entries of X, all other columns
	// together cost little, and a round that lacks some of them costs much.
	spareShare = 0.3
	// bulkShare is the share of the entries of X that the support must have for such further columns where a model
	// of the loss rescales columns at every step.
	bulkShare = 0.6
	// allPasses is the number of passes over X that the Gram matrix of all columns may cost for the set to be
	// all columns. A path saves about that many passes.
	allPasses = 24
	// roundPasses is the number of passes over X that the columns a round adds to the Gram matrix may cost
	// where the previous set was not too small; leastMore is the number of further columns allowed in any case.
	roundPasses = 2
	leastMore   = 10
	// unsettledShare is the number of violators that the last set lacked, relative to the support, above which the
	// set will change too much to be worth an accurate solution.
	unsettledShare = 0.15
)

func (w *workingSet) init(columns, places int) {
	w.member, w.marks = newPlaceSet(places), newPlaceSet(max(columns, places))
}

// forget empties the set.
func (w *workingSet) forget() {
	for _, k := range w.places {
		w.member[k/64] = 0
	}
	w.places, w.columns, w.ascending = w.places[:0], w.columns[:0], w.ascending[:0]
}

// next chooses the working set from the last pass, and reports whether it has columns that the previous set
// lacked.
func (w *workingSet) next(s *Solver) (grown bool) {
	support := len(s.active)
	// The candidates are the violators and, for columns still to come, a tenth of the support: at most as many
	// as the support, or a multiple of it where the support has taken up the last set; and at least as many as
	// cost next to nothing.
	most := max(support, firstSet)
	share := takenShare
	if s.pen.Ridge() > 0 {
		share = takenShareRidge
	}
	full := float64(support) / float64(len(w.columns))
	switch {
	case s.curved != nil:
	case full >= takenShare:
		most = max(growthRatio*support, firstSet)
	case full >= share:
		most = max(2*support, firstSet)
	}
	cheap := w.cheapColumns(s)
	most = max(most, cheap)
	violators := w.violators(s)
	size := max(min(most, violators+support/10+leastMore), cheap)
	if support == 0 {
		size = firstSet
		if s.tol <= exactTol {
			size = min(size, violators/2+leastMore)
		}
	}
	if w.all = w.worthAll(s); w.all {
		w.nominateAll(s)
		size = len(w.candidates)
	} else {
		w.score(s, size)
		w.nominate(size)
	}
	for w.mergeDuplicates(s) && len(w.candidates) < size/2 { // other columns replace the copies
		w.score(s, size)
		w.nominate(size)
	}
	if !w.all && full < share {
		w.limitCandidates(s)
	}
	for _, j := range s.active {
		grown = grown || !w.member.has(int(s.cert.place(j)))
	}
	for _, c := range w.candidates {
		grown = grown || !w.member.has(int(c.place))
	}
	if grown || len(s.active)+len(w.candidates) != len(w.places) {
		w.replace(s)
	}
	return grown
}

// limitCandidates keeps fewer candidates where their rows of the Gram matrix would cost more than a few passes: another
// round for the columns still needed is then cheaper. It keeps all where X has more columns than rows, since
// then every pass finds other violators.
func (w *workingSet) limitCandidates(s *Solver) {
	in, support := &s.in, len(s.active)
	if support == 0 || s.curved != nil || in.engine != &in.quadratic || len(s.cert.order) >= in.store.Rows() {
		return
	}
	w.candidateColumns = w.candidateColumns[:0]
	for _, c := range w.candidates {
		w.candidateColumns = append(w.candidateColumns, s.cert.order[c.place])
	}
	if cost := in.gram.BuildCost(in.gram.Missing(w.candidateColumns)); cost > float64(roundPasses*s.passCost) {
		w.nominate(max(support/10+leastMore, int(float64(roundPasses*s.passCost)/cost*float64(len(w.candidates)))))
	}
}

// cheapColumns returns the number of columns outside the support that sweeps may include for a share of the price of
// the support. It is 0 where each column costs a row of the Gram matrix, and it is limited so that the set does
// not exceed the number of rows, beyond which columns would depend on one another.
func (w *workingSet) cheapColumns(s *Solver) int {
	in, support := &s.in, len(s.active)
	rest := len(s.cert.order) - support
	if in.engine != &in.residual || in.store.Dense() || rest == 0 {
		return 0
	}
	values, all := s.entries(s.active), int(s.view.Matrix().NNZ())
	if s.curved != nil && float64(values) < bulkShare*float64(all) {
		return 0
	}
	each := residualCost(all-values, 2*rest, false) / float64(rest)
	share := spareShare * in.sweepsExpected() / in.epochs // copying the columns pays off over the sweeps expected
	columns := float64(share*residualCost(2*values, support, false)) / each
	return max(0, int(min(columns, float64(rest), float64(in.store.Rows()-support))))
}

// worthAll reports whether the set should be all columns: further down a path, where the columns are few
// compared with the rows and their Gram matrix is worth its price. A smaller set would lack columns after every
// step of the path, which only another pass shows.
func (w *workingSet) worthAll(s *Solver) bool {
	in, columns := &s.in, len(s.cert.order)
	if s.fewColumns() {
		return true
	}
	if !s.warm || in.engine != &in.quadratic || s.curved != nil || columns <= firstSet || columns >= in.store.Rows() || !in.gram.Fits(columns-in.gram.Size()) {
		return false
	}
	entries := int(s.view.Matrix().NNZ())
	// The residual of the point is computed from X before the pass.
	pass := 2*residualCost(entries, columns, in.store.Dense()) + float64(rowValue*float64(in.store.Rows()))
	return support.AllCost(columns, entries, in.store.Dense()) <= allPasses*pass
}

// fewColumns reports whether X has so few columns for its rows that a model of the loss on all of them costs
// less than a pass.
func (s *Solver) fewColumns() bool {
	return s.curved != nil && s.in.store.Tall() && len(s.cert.order) <= firstSet
}

// nominateAll makes candidates of all columns that may enter.
func (w *workingSet) nominateAll(s *Solver) {
	c := &s.cert
	w.candidates = w.candidates[:0]
	for k := range int32(len(c.order)) {
		if !c.leftOut(k) && c.threshold(k) != 0 && s.beta[k] == 0 {
			w.candidates = append(w.candidates, candidate{0, k})
		}
	}
}

// settled reports whether the set is worth an accurate solution: it is small, or the support is unlikely to
// change much.
func (w *workingSet) settled(support int) bool {
	return len(w.columns) <= firstSet || w.nearlyComplete(support)
}

// nearlyComplete reports whether the previous set lacked few violators.
func (w *workingSet) nearlyComplete(support int) bool {
	return float64(w.missed) <= float64(unsettledShare*float64(support))
}

// nominate keeps the best candidates, as many as size.
func (w *workingSet) nominate(size int) {
	if size < len(w.candidates) {
		selectLeast(w.candidates, size)
		w.candidates = w.candidates[:size]
	}
}

// keepAll makes the columns given, in ascending order and all or nearly all of X, the working set.
func (w *workingSet) keepAll(s *Solver, columns []int32) {
	if len(w.places) == len(columns) {
		return
	}
	w.forget()
	w.ascending = append(w.ascending, columns...)
	for _, j := range columns {
		w.member.set(int(s.cert.place(j)))
	}
	w.places, w.columns = slices.Grow(w.places, len(columns)), slices.Grow(w.columns, len(columns))
	for k, j := range s.cert.order {
		if w.member.has(k) {
			w.places, w.columns = append(w.places, int32(k)), append(w.columns, j)
		}
	}
}

// keepSupport makes the support the working set.
func (w *workingSet) keepSupport(s *Solver) {
	w.candidates = w.candidates[:0]
	w.replace(s)
}

// replace makes the support and the candidates the working set.
func (w *workingSet) replace(s *Solver) {
	w.forget()
	for _, j := range s.active {
		w.places = append(w.places, s.cert.place(j))
	}
	for _, c := range w.candidates {
		w.places = append(w.places, c.place)
	}
	w.marks.sort(w.places)
	for _, k := range w.places {
		w.member.set(int(k))
		w.columns = append(w.columns, s.cert.order[k])
	}
	w.ascending = append(w.ascending, w.columns...)
	w.marks.sort(w.ascending)
}

// violators counts the columns that violate optimality, except active ones, and stores in missed how many of
// them the set lacked.
func (w *workingSet) violators(s *Solver) (count int) {
	c := &s.cert
	w.missed = 0
	if len(c.levels) > 0 || s.pen.Positive() || s.pen.Bounded() {
		c.selectAbove(0, len(c.order), 0, 1)
		for at, word := range c.selected {
			for ; word != 0; word &= word - 1 {
				k := 64*at + bits.TrailingZeros64(word)
				if !(s.pen.Pull(int(c.order[k]), c.corr[k]) > c.threshold(int32(k))) {
					c.selected[at] &^= 1 << (k % 64)
				}
			}
		}
	} else { // all columns pull by |c_j| against one threshold
		c.selectViolators()
	}
	for at, word := range c.selected {
		count += bits.OnesCount64(word)
		w.missed += bits.OnesCount64(word &^ w.member[at])
	}
	for _, j := range s.active {
		if k := c.place(j); s.pen.Pull(int(j), c.corr[k]) > c.threshold(k) {
			count--
		}
	}
	return count
}

// score lists the best candidates, unordered: at least as many as most, if there are that many. It visits the
// columns with the most entries first, since the best candidates are among them.
func (w *workingSet) score(s *Solver, most int) {
	c := &s.cert
	w.candidates = slices.Grow(w.candidates[:0], min(2*most, c.survivors.count()))
	cutoff := math.Inf(1)
	if c.selectLargest(2 * most) {
		for at, word := range c.selected {
			for ; word != 0; word &= word - 1 {
				w.consider(s, 64*at+bits.TrailingZeros64(word), cutoff)
			}
		}
		if len(w.candidates) >= most {
			cutoff = w.worst(most)
			cutoff += float64((1 - nearly) * math.Abs(cutoff)) // so that the worst candidate is found again
		}
		w.candidates = w.candidates[:0]
	}
	for to := len(c.survivors); to > 0; {
		// Of some words, the columns that reach the worst candidate so far, or all columns.
		from := max(0, to-wordsPerBound)
		if math.IsInf(cutoff, 1) || !(c.scale > 0) {
			copy(c.selected[from:to], c.survivors[from:to])
		} else {
			c.selectAbove(64*from, min(64*to, len(c.order)), cutoff/c.scale, nearly/c.scale)
		}
		for ; to > from; to-- {
			for word := c.selected[to-1]; word != 0; {
				k := highest(to-1, word)
				word &^= 1 << (k % 64)
				w.consider(s, k, cutoff)
				if len(w.candidates) == 4*most {
					cutoff = w.worst(most)
				}
			}
		}
	}
}

// consider makes the column at place k a candidate if it may be one and its distance does not exceed the
// cutoff.
func (w *workingSet) consider(s *Solver, k int, cutoff float64) {
	c := &s.cert
	level, norm := c.level, c.norm[k]
	if len(c.levels) > 0 {
		level = c.levels[k]
	}
	slack := level - float64(c.scale*s.pen.Pull(int(c.order[k]), c.corr[k]))
	if !(slack <= cutoff*norm) || level == 0 || c.leftOut(int32(k)) || s.beta[k] != 0 {
		return
	}
	w.candidates = append(w.candidates, candidate{slack / norm, int32(k)})
}

// worst keeps the best candidates, as many as most, and returns the largest distance among them.
func (w *workingSet) worst(most int) float64 {
	w.nominate(most)
	return slices.MaxFunc(w.candidates, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) }).distance
}

// selectLeast moves the k least candidates to the front (quickselect, median of three). Ties are broken by
// place, so that the choice is unique.
func selectLeast(c []candidate, k int) {
	less := func(a, b candidate) bool {
		return a.distance < b.distance || (a.distance == b.distance && a.place < b.place)
	}
	lo, hi := 0, len(c)-1
	for lo < hi {
		mid := lo + (hi-lo)/2
		if less(c[mid], c[lo]) {
			c[mid], c[lo] = c[lo], c[mid]
		}
		if less(c[hi], c[lo]) {
			c[hi], c[lo] = c[lo], c[hi]
		}
		if less(c[hi], c[mid]) {
			c[hi], c[mid] = c[mid], c[hi]
		}
		pivot := c[mid]
		i, j := lo, hi
		for i <= j {
			for less(c[i], pivot) {
				i++
			}
			for less(pivot, c[j]) {
				j--
			}
			if i <= j {
				c[i], c[j] = c[j], c[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return
		}
	}
}
