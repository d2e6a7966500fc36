package cd

import (
	"math"
	"math/bits"
	"slices"
)

// placeSet is a set of places, positions in the storage order of the columns, as a bit set.
type placeSet []uint64

const allBits = ^uint64(0)

func newPlaceSet(n int) placeSet { return make(placeSet, (n+63)/64) }

func (p placeSet) has(place int) bool { return p[place/64]>>(place%64)&1 != 0 }

func (p placeSet) set(place int) { p[place/64] |= 1 << (place % 64) }

// each yields the places in the set, ascending.
func (p placeSet) each(yield func(place int) bool) {
	for w, word := range p {
		for ; word != 0; word &= word - 1 {
			if !yield(64*w + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}

// count returns the number of places in the set.
func (p placeSet) count() (n int) {
	for _, word := range p {
		n += bits.OnesCount64(word)
	}
	return n
}

// sort sorts a list of distinct places. The set must be empty, and is empty afterwards.
func (p placeSet) sort(list []int32) {
	if len(p) > manyWords*len(list) {
		slices.Sort(list)
		return
	}
	for _, k := range list {
		p.set(int(k))
	}
	n := 0
	for k := range p.each {
		list[n] = int32(k)
		n++
	}
	clear(p)
}

// manyWords is the number of words of the set per listed place above which sorting by comparisons is faster.
const manyWords = 16

// highest returns the last place in word, which is word w of a set.
func highest(w int, word uint64) int { return 64*w + 63 - bits.LeadingZeros64(word) }

// wordsPerBound is the number of words that a loop examines with one bound before it tightens the bound.
const wordsPerBound = 8

// inRange returns the bits of word w for the places from ≤ place < to.
func inRange(w, from, to int) uint64 {
	mask := allBits
	if from > 64*w {
		mask <<= from - 64*w
	}
	if to < 64*w+64 {
		mask &= allBits >> (64*w + 64 - to)
	}
	return mask
}

// selectKernel is a kernel that sets the bits of out where x + a·y, or |x| + a·y, is at least a bound.
type selectKernel = func(a float64, x, y []float64, least float64, out []uint64)

// selectAtLeast sets out, one word per 64 places of a range, to the places where x + a·‖X̃_j‖, or |x| + a·‖X̃_j‖,
// depending on the kernel, is at least a share of Nαⱼ.
func (c *certificate) selectAtLeast(kernel selectKernel, from, to int, x []float64, a, share float64, out placeSet) {
	switch {
	case len(c.levels) == 0:
		kernel(a, x[from:to], c.norm[from:to], share*c.level, out)
	case a == 0:
		kernel(-share, x[from:to], c.levels[from:to], 0, out)
	default:
		for from < to {
			n := min(len(c.scratch), to-from)
			lacks, words := c.scratch[:n], (n+63)/64
			copy(lacks, c.levels[from:])
			c.k.Scal(-share, lacks)
			c.k.Axpy(a, c.norm[from:from+n], lacks)
			kernel(1, x[from:from+n], lacks, 0, out[:words])
			from, out = from+n, out[words:]
		}
	}
}

// screen adds to survivors the columns of a range that no bound proves inactive.
func (c *certificate) screen(run columnRange) {
	for from, to := run.from, run.to; from < to; {
		// Places of incomplete words at either end are handled separately from whole words.
		end := to
		if from%64 != 0 {
			end = min(to, from/64*64+64)
		} else if whole := to / 64 * 64; whole > from {
			end = whole
		}
		if from%64 == 0 && end%64 == 0 {
			c.selectAtLeast(c.k.Reach, from, end, c.bound, float64(run.length*beyondRounding), lazy, c.survivors[from/64:end/64])
		} else {
			c.selectAtLeast(c.k.Reach, from, end, c.bound, float64(run.length*beyondRounding), lazy, c.selected[:1])
			c.survivors[from/64] |= c.selected[0] << (from % 64)
		}
		from = end
	}
}

// selectLargest selects columns of the last pass for which |c_j| is largest relative to Nαⱼ, at least number of
// them. It returns false if that would be nearly all columns of the pass.
func (c *certificate) selectLargest(number int) bool {
	const less = 0.75
	if c.survivors.count() <= 2*number || !(c.scale > 0) {
		return false
	}
	for share := less; share > 0.1; share *= less {
		c.selectAbove(0, len(c.order), 0, share/c.scale)
		if c.selected.count() >= number {
			return true
		}
	}
	return false
}

// minPerWord is the number of places in a word from which on a kernel examines the whole word.
const minPerWord = 8

// selectAbove sets selected, for the words of a range, to a superset of the places of the last pass where
// |c_j| + a·‖X̃_j‖ is at least a share of Nαⱼ, up to rounding.
func (c *certificate) selectAbove(from, to int, a, share float64) {
	c.selectByWord(from, to, func(from, to int, out placeSet) { c.selectAtLeast(c.k.ReachAbs, from, to, c.corr, a, share, out) })
}

// selectViolators sets selected to the places of the last pass with |c_j| > Nα, the same threshold for all columns.
func (c *certificate) selectViolators() {
	least := math.Nextafter(c.level, math.Inf(1))
	c.selectByWord(0, len(c.order), func(from, to int, out placeSet) { c.k.ReachAbs(0, c.corr[from:to], c.norm[from:to], least, out) })
	for w, word := range c.selected {
		if bits.OnesCount64(c.survivors[w]) >= minPerWord {
			continue
		}
		for ; word != 0; word &= word - 1 {
			if k := bits.TrailingZeros64(word); !(math.Abs(c.corr[64*w+k]) > c.level) {
				c.selected[w] &^= 1 << k
			}
		}
	}
}

// selectByWord sets selected, for the words of a range, to the places of the last pass that a kernel selects in words
// with at least minPerWord of them, and to all places of the last pass in other words.
func (c *certificate) selectByWord(from, to int, kernel func(from, to int, out placeSet)) {
	first, last := from/64, (to+63)/64
	copy(c.selected[first:last], c.survivors[first:last])
	for w := first; w < last; {
		end := w
		for end < last && bits.OnesCount64(c.survivors[end]) >= minPerWord {
			end++
		}
		if end == w {
			w++
			continue
		}
		kernel(64*w, min(64*end, len(c.corr)), c.selected[w:end])
		for ; w < end; w++ {
			c.selected[w] &= c.survivors[w]
		}
	}
}
