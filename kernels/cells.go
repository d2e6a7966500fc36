package kernels

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/seed-45b9a24c/pare/internal/decimal"
)

// The two loops for reading numbers from text: one finds where cells end, the other reads their
// numbers. They are exact, so that there is no order of operations to agree on.

const (
	markedBlock = 8 * Block // bytes of text at a time
	cellReach   = 16        // bytes of the longest cell that Numbers reads
)

//go:noinline
func newMarks(
	loop func(text []byte, a, b, c byte, base int, at []int32) (n int), s *Set,
) func(text []byte, a, b, c byte, at []int32) (n int) {
	return func(text []byte, a, b, c byte, at []int32) (n int) {
		if len(at) < len(text) || len(text) > math.MaxInt32 {
			panic("kernels: Marks: at is shorter than the text, or the text longer than an int32 can say")
		}
		raceRead(text)
		raceWrite(at)
		base := 0
		for len(text)-base >= markedWidth {
			size := min(len(text)-base, markedBlock) / markedWidth * markedWidth
			n += loop(text[base:base+size], a, b, c, base, at[n:])
			base += size
			s.between(len(text) - base)
		}
		return n + marksGo(text[base:], a, b, c, base, at[n:])
	}
}

// markedWidth is the number of bytes that the primitives look at together.
const markedWidth = 64

// marksGo looks at eight bytes at once, XORed with each of the bytes it looks for.
func marksGo(text []byte, a, b, c byte, base int, at []int32) (n int) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	as, bs, cs := uint64(a)*ones, uint64(b)*ones, uint64(c)*ones
	i := 0
	for ; i+8 <= len(text); i += 8 {
		word := binary.LittleEndian.Uint64(text[i:])
		x, y, z := word^as, word^bs, word^cs
		// In each of the three factors, the high bit of a byte is 0 only where the byte is the one looked for.
		found := ((x&^high+^uint64(high))|x)&((y&^high+^uint64(high))|y)&((z&^high+^uint64(high))|z)&high ^ high
		for ; found != 0; found &= found - 1 {
			at[n] = int32(base + i + bits.TrailingZeros64(found)/8)
			n++
		}
	}
	for ; i < len(text); i++ {
		if x := text[i]; x == a || x == b || x == c {
			at[n] = int32(base + i)
			n++
		}
	}
	return n
}

//go:noinline
func newNumbers(
	loop func(text []byte, ends []int32, out []float64) (done, unread int), s *Set,
) func(text []byte, ends []int32, out []float64) (unread int) {
	return func(text []byte, ends []int32, out []float64) (unread int) {
		if len(ends) != len(out)+1 {
			panic("kernels: Numbers: ends must be one more than out")
		}
		raceRead(text)
		raceRead(ends)
		raceWrite(out)
		step := func(loop func(text []byte, ends []int32, out []float64) (done, unread int), size int) {
			done, left := loop(text, ends[:size+1], out[:size])
			if done < size {
				panic("kernels: Numbers: a cell ends outside the text")
			}
			ends, out, unread = ends[size:], out[size:], unread+left
		}
		for len(out) > 0 && ends[1] < cellReach { // the primitives read that many bytes before an end
			step(numbersGo, 1)
		}
		for len(out) >= 2 {
			step(loop, min(len(out), Block/8)&^1)
			s.between(len(out))
		}
		step(numbersGo, len(out))
		return unread
	}
}

func numbersGo(text []byte, ends []int32, out []float64) (done, unread int) {
	for k := range out {
		from, to := int(ends[k])+1, int(ends[k+1])
		if to > len(text) || to < 0 {
			return k, unread
		}
		v := math.NaN()
		if from <= to && to-from <= cellReach {
			v = shortNumber(text[from:], to-from)
		}
		if out[k] = v; math.IsNaN(v) {
			unread++
		}
	}
	return len(out), unread
}

// shortNumber returns the number that the first n bytes of a text spell, at most cellReach; NaN if they spell none.
func shortNumber(text []byte, n int) float64 {
	if len(text) >= decimal.ShortReach {
		if v, ok := decimal.Brief(text, n); ok {
			return v
		}
		if v, length := decimal.Short(text); length == n && n > 0 {
			return v
		}
	}
	cell, sign := text[:n], 1.0
	if n > 0 && cell[0] == '-' {
		sign, cell = -1, cell[1:]
	}
	number, digits, point := int64(0), 0, -1
	for k, c := range cell {
		switch {
		case c-'0' <= 9:
			number = 10*number + int64(c-'0')
			digits++
		case c == '.' && point < 0:
			point = len(cell) - 1 - k
		default:
			return math.NaN()
		}
	}
	if digits == 0 || number >= 1e15 {
		return math.NaN()
	}
	return math.Copysign(float64(number)/powersOfTen[max(point, 0)], sign)
}

var powersOfTen = [cellReach]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}
