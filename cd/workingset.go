package cd

import (
	"math"
	"slices"
)

// workingSet chooses the columns of the inner problem: the support and the
// columns that violate optimality most. It stays small: what counts most in a
// fit is not to work on columns that end at zero.
type workingSet struct {
	columns    []int32 // in storage order, so that sweeps meet columns by length
	ascending  []int32 // the same, by index
	member     []bool  // p
	candidates []candidate
}

// candidate is a column outside the support with its distance to the edge of
// the dual feasible set, (Nαⱼ − c|c_j|)/‖X̃_j‖: the smaller, the likelier it is
// to enter.
type candidate struct {
	distance float64
	column   int32
}

// firstSet is the size of the working set before a support is known, and the
// least growth allowed afterwards.
const firstSet = 100

func (w *workingSet) init(p int) { w.member = make([]bool, p) }

// forget empties the set.
func (w *workingSet) forget() {
	for _, j := range w.columns {
		w.member[j] = false
	}
	w.columns, w.ascending = w.columns[:0], w.ascending[:0]
}

// next chooses the working set from the last pass, and reports whether it
// holds columns that the one before did not.
func (w *workingSet) next(s *Solver) (grown bool) {
	support := len(s.active)
	violators := w.score(s)
	// The support plus the violators, a tenth more for those to come, but never
	// more than the support doubled.
	size := min(max(support, firstSet), violators+support/10+10)
	if s.cert.passes == 1 {
		size = firstSet
	}
	if size < len(w.candidates) {
		selectLeast(w.candidates, size)
		w.candidates = w.candidates[:size]
	}
	for _, j := range s.active {
		if !w.member[j] {
			grown = true
		}
	}
	for _, c := range w.candidates {
		if !w.member[c.column] {
			grown = true
		}
	}
	w.replace(s)
	return grown
}

// keep makes the support the working set.
func (w *workingSet) keep(s *Solver) {
	w.candidates = w.candidates[:0]
	w.replace(s)
}

// replace makes the support and the candidates the working set.
func (w *workingSet) replace(s *Solver) {
	for _, j := range w.columns {
		w.member[j] = false
	}
	for _, j := range s.active {
		w.member[j] = true
	}
	for _, c := range w.candidates {
		w.member[c.column] = true
	}
	w.columns, w.ascending = w.columns[:0], w.ascending[:0]
	for _, j := range s.view.Matrix().Order() {
		if w.member[j] {
			w.columns = append(w.columns, j)
		}
	}
	w.ascending = append(w.ascending, w.columns...)
	slices.Sort(w.ascending)
}

// score lists the candidates and counts those that violate optimality.
func (w *workingSet) score(s *Solver) (violators int) {
	w.candidates = w.candidates[:0]
	c, total := &s.cert, s.view.Total()
	for _, j := range s.view.Matrix().Order() {
		norm, alpha := s.view.Norm(int(j)), s.pen.Alpha(int(j))
		if (s.copies != nil && s.copies.Redundant(j)) || !c.fresh[j] || s.beta[j] != 0 || norm == 0 || math.IsInf(alpha, 1) {
			continue
		}
		size, threshold := math.Abs(c.corr[j]), total*alpha
		if size > threshold {
			violators++
		}
		w.candidates = append(w.candidates, candidate{(threshold - float64(c.scale*size)) / norm, j})
	}
	return violators
}

// sorted returns the columns of the set by index.
func (w *workingSet) sorted() []int32 { return w.ascending }

// selectLeast moves the k least candidates to the front (quickselect, median
// of three). Ties are broken by column, so that the choice is unique.
func selectLeast(c []candidate, k int) {
	less := func(a, b candidate) bool {
		return a.distance < b.distance || (a.distance == b.distance && a.column < b.column)
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
