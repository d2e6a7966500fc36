package kernels

import "math"

// The two loops that reading a table of text consists of: where cells end, and which numbers
// they spell. They are exact, so that there is no order of operations to agree on.

const (
	markedBlock = 8 * Block // bytes of text at a time
	cellReach   = 16        // bytes of the longest cell that Numbers reads
)

//go:noinline
func newMarks(
	loop func(text []byte, a, b byte, base int, at []int32) (n int), s *Set,
) func(text []byte, a, b byte, at []int32) (n int) {
	return func(text []byte, a, b byte, at []int32) (n int) {
		if len(at) < len(text) || len(text) > math.MaxInt32 {
			panic("kernels: Marks: at is shorter than the text, or the text longer than an int32 can say")
		}
		raceRead(text)
		raceWrite(at)
		base := 0
		for len(text)-base >= markedWidth {
			size := min(len(text)-base, markedBlock) / markedWidth * markedWidth
			n += loop(text[base:base+size], a, b, base, at[n:])
			base += size
			s.between(len(text) - base)
		}
		return n + marksGo(text[base:], a, b, base, at[n:])
	}
}

// markedWidth is how many bytes the primitives look at together.
const markedWidth = 64

func marksGo(text []byte, a, b byte, base int, at []int32) (n int) {
	for i, c := range text {
		if c == a || c == b {
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
		for len(out) > 0 && ends[1] < cellReach { // the primitives look at so many bytes before an end
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
		out[k] = math.NaN()
		if from <= to && to-from <= cellReach {
			out[k] = shortNumber(text[from:to])
		}
		if math.IsNaN(out[k]) {
			unread++
		}
	}
	return len(out), unread
}

// shortNumber returns the number that a cell of few bytes spells, NaN if it is not one.
func shortNumber(cell []byte) float64 {
	negative := len(cell) > 0 && cell[0] == '-'
	if negative {
		cell = cell[1:]
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
	v := float64(number) / powersOfTen[max(point, 0)]
	if negative {
		return -v
	}
	return v
}

var powersOfTen = [cellReach]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}
