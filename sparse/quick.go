package sparse

import (
	"encoding/binary"
	"math/bits"
)

// quickReach is how many bytes quickEntry may look at.
const quickReach = 40

// quickEntry reads the entry at the start of b, followed by a space or a
// newline, in the form that nearly all take:
//
//	index:[-]digits[.digits]
//
// with at most 8 digits in each run and no leading zero in the index. It
// returns the bytes taken, not counting what follows, or 0: then the entry may
// still be a valid one. b has at least quickReach bytes.
//
// Runs of digits are read eight bytes at once, whatever their length: a loop
// over them would mispredict its end on almost every token.
func quickEntry(b []byte) (index int, v float64, taken int) {
	_ = b[quickReach-1]
	digits, n := eightDigits(b)
	if n == 0 || b[n] != ':' || b[0] == '0' && n > 1 {
		return 0, 0, 0
	}
	index = int(digits)
	i := n + 1

	negative := b[i] == '-'
	if negative {
		i++
	}
	mantissa, n := eightDigits(b[i:])
	if n == 0 {
		return 0, 0, 0
	}
	i += n
	v = float64(mantissa)
	if b[i] == '.' {
		fraction, n := eightDigits(b[i+1:])
		// At most 16 digits, so below 2⁶³; exact in float64 below 2⁵³, and then
		// the quotient of two exact numbers is rounded once.
		whole := mantissa*uint64(pow10[n&15]) + fraction
		if whole > 1<<53 {
			return 0, 0, 0
		}
		v = float64(whole) / pow10[n&15]
		i += 1 + n
	}
	if c := b[i]; c != ' ' && c != '\n' {
		return 0, 0, 0
	}
	if negative {
		v = -v
	}
	return index, v, i
}

// eightDigits returns the number spelled by the digits at the start of b, up to
// eight of them, and how many they are.
func eightDigits(b []byte) (value uint64, n int) {
	x := binary.LittleEndian.Uint64(b) ^ 0x3030303030303030 // a digit becomes its value
	other := (x + 0x7676767676767676 | x) & 0x8080808080808080
	n = bits.TrailingZeros64(other) / 8 // 8 where every byte is a digit
	// Zeros move in before the digits, then neighbours join: 1, 2, 4 at a time.
	x <<= uint(64 - 8*n)
	x = x*10 + x>>8
	const low = 0x000000ff000000ff
	return ((x&low)*(100+1000000<<32) + (x>>16&low)*(1+10000<<32)) >> 32, n
}
