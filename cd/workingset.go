package cd

import (
	"cmp"
	"math"
	"slices"
)

// workingSet chooses the columns of the inner problem: the support and the
// columns that violate optimality most. It stays small: what counts most in a
// fit is not to work on columns that end at zero.
type workingSet struct {
	columns    []int32 // in storage order, so that sweeps meet columns by length
	ascending  []int32 // the same, by index
	places     []int32 // of the columns, see certificate
	member     []bool  // by place
	candidates []candidate
	twins      twins
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
	// taken is the share of a working set in the support that says that sets are too
	// small. A ridge brings in columns that are alike together, and few leave again.
	taken      = 0.95
	takenRidge = 0.7
)

func (w *workingSet) init(places int) { w.member = make([]bool, places) }

// forget empties the set.
func (w *workingSet) forget() {
	for _, k := range w.places {
		w.member[k] = false
	}
	w.places, w.columns, w.ascending = w.places[:0], w.columns[:0], w.ascending[:0]
}

// next chooses the working set from the last pass, and reports whether it
// holds columns that the one before did not.
func (w *workingSet) next(s *Solver) (grown bool) {
	support := len(s.active)
	// The support plus the violators, a tenth more for those to come, but never
	// more than the support doubled, or tripled where the last set has gone into it.
	most := max(support, firstSet)
	share := taken
	if s.pen.Ridge() > 0 {
		share = takenRidge
	}
	if s.curved == nil && float64(support) >= float64(share*float64(len(w.columns))) {
		most = max(2*support, firstSet)
	}
	violators := w.score(s, most)
	size := min(most, violators+support/10+10)
	if support == 0 {
		size = firstSet
	}
	w.nominate(size)
	for w.unite(s) && len(w.candidates) < size/2 { // others take the places of copies
		w.score(s, size)
		w.nominate(size)
	}
	for _, j := range s.active {
		grown = grown || !w.member[s.cert.place(j)]
	}
	for _, c := range w.candidates {
		grown = grown || !w.member[c.place]
	}
	if grown || len(s.active)+len(w.candidates) != len(w.places) {
		w.replace(s)
	}
	return grown
}

// nominate keeps so many candidates.
func (w *workingSet) nominate(size int) {
	if size < len(w.candidates) {
		selectLeast(w.candidates, size)
		w.candidates = w.candidates[:size]
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
	slices.Sort(w.places)
	for _, k := range w.places {
		w.member[k] = true
		w.columns = append(w.columns, s.cert.order[k])
	}
	w.ascending = append(w.ascending, w.columns...)
	slices.Sort(w.ascending)
}

// score counts the columns that violate optimality and lists the best candidates, in no
// order and at least as many as most, where there are so many. Columns are met from the
// longest on, among which the best are.
func (w *workingSet) score(s *Solver, most int) (violators int) {
	c := &s.cert
	room, cutoff := 4*most, math.Inf(1)
	w.candidates = slices.Grow(w.candidates[:0], min(room, len(c.fresh)))
	for _, k := range slices.Backward(c.fresh) {
		threshold, norm, size := c.threshold(k), c.norm[k], s.pen.Pull(c.corr[k])
		if size > threshold {
			violators++
		}
		slack := threshold - float64(c.scale*size)
		if !(slack <= cutoff*norm) || threshold == 0 || c.out(k) || s.beta[k] != 0 {
			continue
		}
		if len(w.candidates) == room {
			w.nominate(most)
			cutoff = slices.MaxFunc(w.candidates, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) }).distance
		}
		w.candidates = append(w.candidates, candidate{slack / norm, k})
	}
	for _, j := range s.active {
		if k := c.place(j); s.pen.Pull(c.corr[k]) > c.threshold(k) {
			violators--
		}
	}
	return violators
}

// sorted returns the columns of the set by index.
func (w *workingSet) sorted() []int32 { return w.ascending }

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
