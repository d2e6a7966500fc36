package cd

import (
	"cmp"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/sparse"
)

// duplicates finds copies among the columns that a working set is about to take. Copies have the same
// correlation and norm but for rounding, so they are sought among the columns whose correlations agree with
// those of the set.
type duplicates struct {
	examined []bool   // by place: the column was in an earlier set
	filter   []uint64 // hashes of the correlations sought
	matches  []hashed // columns that the filter lets pass
	list     []int32  // columns to compare
	known    *sparse.Copies
}

// hashed is a column with its rounded correlation, or norm.
type hashed struct {
	key    uint64
	column int32
}

const (
	filterBits = 15
	// roundedBits drops the bits of a correlation or norm in which copies may differ.
	roundedBits = 52 - 24
)

// rounded returns leading bits of a correlation or norm: copies have the same number, or numbers that differ by
// 1.
func rounded(number float64) uint64 {
	return math.Float64bits(math.Abs(number)) >> roundedBits
}

// bit returns the position of a rounded correlation in the filter.
func bit(key uint64) (word uint64, mask uint64) {
	at := key * 0x9e3779b97f4a7c15 >> (64 - filterBits)
	return at / 64, 1 << (at % 64)
}

// restart forgets the known copies. It returns an empty list to collect new ones in, or nil where the penalty
// distinguishes all columns.
func (w *workingSet) restart(s *Solver) *sparse.Copies {
	equal, opposite := s.pen.Indifferent()
	if !equal {
		return nil
	}
	t := &w.duplicates
	if t.known == nil {
		t.known = s.view.NewCopies(opposite)
		t.examined, t.filter = make([]bool, len(s.cert.order)), make([]uint64, 1<<filterBits/64)
	}
	t.known.Restart(opposite)
	clear(t.examined)
	return t.known
}

// mergeDuplicates makes one column of each group of copies among the candidates, the active columns and all
// others. It reports whether it found copies not known before.
func (w *workingSet) mergeDuplicates(s *Solver) (found bool) {
	if s.copies == nil {
		return false
	}
	t, c := &w.duplicates, &s.cert
	sought := false
	least, most := uint64(math.MaxUint64), uint64(0) // range of the correlations sought
	seek := func(place int32) {
		if t.examined[place] {
			return
		}
		t.examined[place], sought = true, true
		key := rounded(c.corr[place])
		least, most = min(least, key), max(most, key)
		for _, near := range [...]uint64{key - 1, key, key + 1} {
			at, mask := bit(near)
			t.filter[at] |= mask
		}
	}
	for _, j := range s.active {
		seek(c.place(j))
	}
	for _, n := range w.candidates {
		seek(n.place)
	}
	if !sought {
		return false
	}
	t.findMatches(s, least, most)
	clear(t.filter)
	redundant := s.copies.Find(t.list)
	for _, j := range redundant {
		c.leaveOut(j)
	}
	if len(redundant) > 0 {
		w.replaceDuplicates(s)
	}
	return len(redundant) > 0
}

// findMatches lists the columns whose correlations agree with those sought, which lie between least and most.
// Where the set is all columns, some correlations may not be of the current residual, and it lists columns with
// agreeing norms instead.
func (t *duplicates) findMatches(s *Solver, least, most uint64) {
	c := &s.cert
	t.matches, t.list = t.matches[:0], t.list[:0]
	if s.set.all {
		for k, j := range c.order {
			if !c.leftOut(int32(k)) {
				t.matches = append(t.matches, hashed{rounded(c.norm[k]), j})
			}
		}
	} else {
		c.selectAbove(0, len(c.order), 0, math.Float64frombits((max(least, 1)-1)<<roundedBits)/c.level)
		for place := range c.selected.each {
			k := int32(place)
			key := rounded(c.corr[k])
			if key+1 < least || key > most+1 {
				continue
			}
			at, mask := bit(key)
			if t.filter[at]&mask != 0 && !c.leftOut(k) {
				t.matches = append(t.matches, hashed{key, c.order[k]})
			}
		}
	}
	// Comparing long columns is expensive, so columns that agree with no other are dropped.
	slices.SortFunc(t.matches, func(a, b hashed) int { return cmp.Compare(a.key, b.key) })
	for i, a := range t.matches {
		if i > 0 && a.key-t.matches[i-1].key <= 1 || i+1 < len(t.matches) && t.matches[i+1].key-a.key <= 1 {
			t.list = append(t.list, a.column)
		}
	}
	slices.Sort(t.list)
}

// replaceDuplicates replaces candidates and active columns by the columns that stand for them.
func (w *workingSet) replaceDuplicates(s *Solver) {
	c, moved := &s.cert, false
	for k, j := range s.active {
		place := c.place(j)
		if !c.leftOut(place) {
			continue
		}
		rep := s.copies.Representative(j)
		s.active[k], s.beta[place], moved = rep.Column, 0, true
		b := &s.beta[c.place(rep.Column)] // of a lower index, so that it comes first
		*b = math.FMA(rep.Sign, s.coef[k], *b)
	}
	if moved {
		slices.Sort(s.active)
		s.active = slices.Compact(s.active)
		s.coef = s.coef[:0]
		for _, j := range s.active {
			s.coef = append(s.coef, s.beta[c.place(j)])
		}
	}
	for _, j := range s.active {
		w.marks.set(int(c.place(j)))
	}
	kept := w.candidates[:0]
	for _, n := range w.candidates {
		if c.leftOut(n.place) {
			n.place = c.place(s.copies.Representative(c.order[n.place]).Column)
		}
		if !w.marks.has(int(n.place)) {
			w.marks.set(int(n.place))
			kept = append(kept, n)
		}
	}
	w.candidates = kept
	clear(w.marks)
}
