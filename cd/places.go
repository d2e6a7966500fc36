package cd

import (
	"math/bits"
	"slices"
)

// places is a set of places, a bit each.
type places []uint64

const all = ^uint64(0)

func newPlaces(n int) places { return make(places, (n+63)/64) }

func (p places) has(place int) bool { return p[place/64]>>(place%64)&1 != 0 }

func (p places) set(place int) { p[place/64] |= 1 << (place % 64) }

// count returns how many there are.
func (p places) count() (n int) {
	for _, word := range p {
		n += bits.OnesCount64(word)
	}
	return n
}

// sort sorts a list of different places by an empty set.
func (p places) sort(list []int32) {
	if len(p) > manyWords*len(list) {
		slices.Sort(list)
		return
	}
	for _, k := range list {
		p.set(int(k))
	}
	n := 0
	for w, word := range p {
		for ; word != 0; word &= word - 1 {
			list[n] = int32(64*w + bits.TrailingZeros64(word))
			n++
		}
	}
	clear(p)
}

// manyWords is how many words of a set there are to a place from which on comparisons sort a list sooner.
const manyWords = 16

// highest returns the last place that a word w has.
func highest(w int, word uint64) int { return 64*w + 63 - bits.LeadingZeros64(word) }

// stretch is how many words are looked at by the same bound, where what is found makes it tighter.
const stretch = 8

// inRange returns the bits of word w that stand for places from one to before another.
func inRange(w, from, to int) uint64 {
	mask := all
	if from > 64*w {
		mask <<= from - 64*w
	}
	if to < 64*w+64 {
		mask &= all >> (64*w + 64 - to)
	}
	return mask
}

// reach adds to out the places of a range whose x + a·norm, of ‖X̃_j‖, reaches a bound, as the
// kernel given has it.
func (c *certificate) reach(kernel func(a float64, x, y []float64, least float64, out []uint64), from, to int, x []float64, a, least float64, out places) {
	for from < to {
		// Up to the next whole word, and the rest, apart.
		end := to
		if from%64 != 0 {
			end = min(to, from/64*64+64)
		} else if whole := to / 64 * 64; whole > from {
			end = whole
		}
		if from%64 == 0 && end%64 == 0 {
			kernel(a, x[from:end], c.norm[from:end], least, out[from/64:end/64])
		} else {
			kernel(a, x[from:end], c.norm[from:end], least, c.near[:1])
			out[from/64] |= c.near[0] << (from % 64)
		}
		from = end
	}
}

// largest makes near those columns of the last pass, a good number of which |c_j| is largest. It
// returns false where they are all, or as good as all.
func (c *certificate) largest(number int) bool {
	const less = 0.75
	if len(c.levels) > 0 || c.fresh.count() <= 2*number || !(c.scale > 0) {
		return false
	}
	for least := less * c.level / c.scale; least > 0.1*c.level/c.scale; least *= less {
		c.within(0, len(c.order), 0, least)
		if c.near.count() >= number {
			return true
		}
	}
	return false
}

// crowd is how many places of a word there are to be for all to be looked at by a kernel.
const crowd = 8

// within sets near, for words of a range, to places of the last pass among which are all
// with |c_j| + a·‖X̃_j‖ of at least a bound. Where strengths differ these are all of it.
func (c *certificate) within(from, to int, a, least float64) {
	first, last := from/64, (to+63)/64
	copy(c.near[first:last], c.fresh[first:last])
	if len(c.levels) > 0 {
		return
	}
	for w := first; w < last; {
		end := w
		for end < last && bits.OnesCount64(c.fresh[end]) >= crowd {
			end++
		}
		if end == w {
			w++
			continue
		}
		n := min(64*end, len(c.corr))
		c.k.ReachAbs(a, c.corr[64*w:n], c.norm[64*w:n], least, c.near[w:end])
		for ; w < end; w++ {
			c.near[w] &= c.fresh[w]
		}
	}
}
