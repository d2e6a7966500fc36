package cd

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/seed-45b9a24c/pare/support"
)

// workingSet chooses the columns of the inner problem: the support and the
// columns that violate optimality most. It stays small, since what counts most in a
// fit is not to work on columns that end at zero, but where those cost next to nothing.
type workingSet struct {
	columns    []int32 // in storage order, so that sweeps meet columns by length
	ascending  []int32 // the same, by index
	places     []int32 // of the columns, see certificate
	member     places  // of the columns
	candidates []candidate
	considered []int32 // columns of candidates
	missed     int     // columns outside the set before that violated optimality in the last pass
	all        bool    // the set is to have all columns
	marks      places  // none, between uses
	duplicates duplicates
}

// candidate is a place outside the support with its distance to the edge of the
// dual feasible set, (Nαⱼ − c|c_j|)/‖X̃_j‖: the smaller, the likelier its column is
// to enter.
type candidate struct {
	distance float64
	place    int32
}

const (
	// firstSet is the size of the working set before a support is known, and the
	// least growth allowed afterwards.
	firstSet = 100
	// exact is the tolerance up to which a first set has no more than half of the violators: of these a
	// third or less are the support. Loose solutions are those of searches, whose steps are the better
	// the more exactly the first of them are met.
	exact = 1e-5
	// taken is the share of a working set in the support that says that sets are too
	// small. A ridge brings in columns that are alike together, and few leave again.
	taken      = 0.95
	takenRidge = 0.7
	// growing is by how much a set may exceed a support that has taken in nearly all of the last
	// one: after so little is known of how large the support will be, a round is better spent
	// on too many columns than on too few.
	growing = 7
	// spare is the share of the price of a sweep over the support that is spent on columns besides
	// it, whether they violate optimality or not: where the support has most of the entries of X,
	// all others together cost little, and a round that lacks some costs much.
	spare = 0.3
	// bulk is the share of the entries of X that the support has to have for that where a model of
	// the loss scales columns anew with every step.
	bulk = 0.6
	// allPasses is how many passes over X the Gram matrix of all columns may cost for them to be one
	// set. A path saves about as many.
	allPasses = 24
	// roundPasses is how many passes over X what a round adds to the Gram matrix may cost where the set
	// before was not too small, and leastMore how many columns it may have besides in any case.
	roundPasses = 2
	leastMore   = 10
	// unsettled is the number of violators that a set has missed, relative to the support, from which
	// on that is about to change too much to be worth a good solution.
	unsettled = 0.15
)

func (w *workingSet) init(columns, places int) {
	w.member, w.marks = newPlaces(places), newPlaces(max(columns, places))
}

// forget empties the set.
func (w *workingSet) forget() {
	for _, k := range w.places {
		w.member[k/64] = 0
	}
	w.places, w.columns, w.ascending = w.places[:0], w.columns[:0], w.ascending[:0]
}

// next chooses the working set from the last pass, and reports whether it
// holds columns that the one before did not.
func (w *workingSet) next(s *Solver) (grown bool) {
	support := len(s.active)
	// The support plus the violators, a tenth more for those to come, but never more than the
	// support doubled, or a multiple of it where the last set has gone into it; and what costs
	// next to nothing besides.
	most := max(support, firstSet)
	share := taken
	if s.pen.Ridge() > 0 {
		share = takenRidge
	}
	full := float64(support) / float64(len(w.columns))
	switch {
	case s.curved != nil:
	case full >= taken:
		most = max(growing*support, firstSet)
	case full >= share:
		most = max(2*support, firstSet)
	}
	cheap := w.cheap(s)
	most = max(most, cheap)
	violators := w.violators(s)
	size := max(min(most, violators+support/10+leastMore), cheap)
	if support == 0 {
		size = firstSet
		if s.tol <= exact {
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
	for w.mergeDuplicates(s) && len(w.candidates) < size/2 { // others take the places of copies
		w.score(s, size)
		w.nominate(size)
	}
	if !w.all && full < share {
		w.save(s)
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

// save keeps fewer candidates where their rows of the Gram matrix would cost more than a few passes: a
// round more, for those that are needed still, is the better bargain. With more columns than rows it is
// not, since passes show ever others.
func (w *workingSet) save(s *Solver) {
	in, support := &s.in, len(s.active)
	if support == 0 || s.curved != nil || in.engine != &in.quadratic || len(s.cert.order) >= in.store.Rows() {
		return
	}
	w.considered = w.considered[:0]
	for _, c := range w.candidates {
		w.considered = append(w.considered, s.cert.order[c.place])
	}
	if cost := in.gram.BuildCost(in.gram.Missing(w.considered)); cost > float64(roundPasses*s.passed) {
		w.nominate(max(support/10+leastMore, int(float64(roundPasses*s.passed)/cost*float64(len(w.candidates)))))
	}
}

// cheap returns the number of columns that sweeps over the support may have besides it for a
// share of their price. It is none where a column costs a row of the Gram matrix; and with more
// columns than rows many would depend on others.
func (w *workingSet) cheap(s *Solver) int {
	in, support := &s.in, len(s.active)
	rest := len(s.cert.order) - support
	if in.engine != &in.residual || in.store.Dense() || rest == 0 {
		return 0
	}
	values, all := s.entries(s.active), int(s.view.Matrix().NNZ())
	if s.curved != nil && float64(values) < bulk*float64(all) {
		return 0
	}
	each := residualCost(all-values, 2*rest, false) / float64(rest)
	share := spare * in.sweepsExpected() / in.epochs // columns are copied first, for so many sweeps
	columns := float64(share*residualCost(2*values, support, false)) / each
	return max(0, int(min(columns, float64(rest), float64(in.store.Rows()-support))))
}

// worthAll reports that all columns may as well be the set: on the way down a path, where they are
// few beside the rows and their Gram matrix is worth its price. Sets of those that seem to be
// needed lack some after every step, and a pass shows which.
func (w *workingSet) worthAll(s *Solver) bool {
	in, columns := &s.in, len(s.cert.order)
	if s.fewColumns() {
		return true
	}
	if !s.warm || in.engine != &in.quadratic || s.curved != nil || columns <= firstSet || columns >= in.store.Rows() || !in.gram.Fits(columns-in.gram.Size()) {
		return false
	}
	entries := int(s.view.Matrix().NNZ())
	// A point is made of X, too, before its pass.
	pass := 2*residualCost(entries, columns, in.store.Dense()) + float64(rowValue*float64(in.store.Rows()))
	return support.AllCost(columns, entries, in.store.Dense()) <= allPasses*pass
}

// fewColumns reports that there are so few columns beside the rows that models of the loss on all of them cost less than a pass.
func (s *Solver) fewColumns() bool {
	return s.curved != nil && s.in.store.Tall() && len(s.cert.order) <= firstSet
}

// nominateAll makes all columns that may enter the candidates.
func (w *workingSet) nominateAll(s *Solver) {
	c := &s.cert
	w.candidates = w.candidates[:0]
	for k := range int32(len(c.order)) {
		if !c.leftOut(k) && c.threshold(k) != 0 && s.beta[k] == 0 {
			w.candidates = append(w.candidates, candidate{0, k})
		}
	}
}

// settled reports that the set is worth a good solution: it is small, or the support will be much
// as it is.
func (w *workingSet) settled(support int) bool {
	return len(w.columns) <= firstSet || w.whole(support)
}

// whole reports that the set before lacked few columns that violated optimality.
func (w *workingSet) whole(support int) bool {
	return float64(w.missed) <= float64(unsettled*float64(support))
}

// nominate keeps so many candidates.
func (w *workingSet) nominate(size int) {
	if size < len(w.candidates) {
		selectLeast(w.candidates, size)
		w.candidates = w.candidates[:size]
	}
}

// keepAll makes columns the working set that are all or nearly all, in ascending order.
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

// keep makes the support the working set.
func (w *workingSet) keep(s *Solver) {
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

// violators counts the columns that violate optimality but for those active, and notes those that
// the set has missed.
func (w *workingSet) violators(s *Solver) (count int) {
	c := &s.cert
	w.missed = 0
	if len(c.levels) > 0 || s.pen.Positive() || s.pen.Bounded() {
		c.within(0, len(c.order), 0, 1)
		for at, word := range c.near {
			for ; word != 0; word &= word - 1 {
				k := 64*at + bits.TrailingZeros64(word)
				if !(s.pen.Pull(int(c.order[k]), c.corr[k]) > c.threshold(int32(k))) {
					c.near[at] &^= 1 << (k % 64)
				}
			}
		}
	} else { // they pull by |c_j|, all to one threshold
		c.beyond()
	}
	for at, word := range c.near {
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

// score lists the best candidates, in no order and at least as many as most, where there are so
// many. Columns are met from the longest on, among which the best are.
func (w *workingSet) score(s *Solver, most int) {
	c := &s.cert
	w.candidates = slices.Grow(w.candidates[:0], min(2*most, c.fresh.count()))
	cutoff := math.Inf(1)
	if c.largest(2 * most) {
		for at, word := range c.near {
			for ; word != 0; word &= word - 1 {
				w.consider(s, 64*at+bits.TrailingZeros64(word), cutoff)
			}
		}
		if len(w.candidates) >= most {
			cutoff = w.worst(most)
			cutoff += float64((1 - nearly) * math.Abs(cutoff)) // the worst is to be met again
		}
		w.candidates = w.candidates[:0]
	}
	for to := len(c.fresh); to > 0; {
		// As many as reach the worst so far, or all, of some words.
		from := max(0, to-stretch)
		if math.IsInf(cutoff, 1) || !(c.scale > 0) {
			copy(c.near[from:to], c.fresh[from:to])
		} else {
			c.within(64*from, min(64*to, len(c.order)), cutoff/c.scale, nearly/c.scale)
		}
		for ; to > from; to-- {
			for word := c.near[to-1]; word != 0; {
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

// consider makes the column at a place a candidate if it may be one and is not farther off than the
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

// worst keeps the best candidates and returns the distance of the worst of them.
func (w *workingSet) worst(most int) float64 {
	w.nominate(most)
	return slices.MaxFunc(w.candidates, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) }).distance
}

// selectLeast moves the k least candidates to the front (quickselect, median
// of three). Ties are broken by place, so that the choice is unique.
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
