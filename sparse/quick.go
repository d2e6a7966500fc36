package sparse

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// quickReach is how far quick may look beyond the space before an entry.
const quickReach = 40

// quick reads entries of the form that nearly all have,
//
//	index:[-]digits[.digits]
//
// with at most 8 digits in each run and fewer than 2²⁷ as their number, no
// leading zero in the index, one space before and a space or newline behind, for as long as they come. It leaves the
// window at the first thing that is anything else, or not plainly valid, or for
// which the journal has no room: the general route then says what it is.
//
// Runs of digits are read eight bytes at once, whatever their length: a loop
// over them would mispredict its end on almost every token.
func (s *scanner) quick(base int, at *rowState) {
	b, pos := s.buf[:s.end], s.pos
	g := &s.rows
	for pos <= len(b)-quickReach && b[pos] == ' ' && len(g.last)-g.at >= recordReach {
		e := b[pos+1 : pos+quickReach]
		digits, n := eightDigits(e)
		j := int(digits) - base
		if e[n] != ':' || e[0] == '0' && (n > 1 || base > 0 || s.detect) || n == 0 || j <= at.named || j >= s.columns {
			break
		}
		i := n + 1
		negative := e[i] == '-'
		if negative {
			i++
		}
		whole, n := eightDigits(e[i:])
		if n == 0 {
			break
		}
		i += n
		places := 0
		if e[i] == '.' {
			fraction, n := eightDigits(e[i+1:])
			if n == 0 {
				break
			}
			whole = whole*tens[n&15] + fraction
			places = n
			i += 1 + n
		}
		if c := e[i]; c != ' ' && c != '\n' || whole >= 1<<27 {
			break
		}
		if whole != 0 {
			if g.nnz == s.opt.MaxEntries {
				break
			}
			g.nnz++
			if whole <= math.MaxInt8 && places == 0 {
				value := int64(whole)
				if negative {
					value = -value
				}
				g.record(j-at.stored, formInteger, uint64(value))
			} else {
				g.record(j-at.stored, formFraction, packFraction(whole, negative, places))
			}
			at.stored = j
		}
		at.named = j
		pos += 1 + i
	}
	s.pos = pos
}

// eightDigits returns the number spelled by the digits at the start of b, up to
// eight of them, and how many they are; for none the number means nothing.
func eightDigits(b []byte) (value uint64, n int) {
	x := binary.LittleEndian.Uint64(b) ^ 0x3030303030303030 // a digit becomes its value
	other := (x + 0x7676767676767676 | x) & 0x8080808080808080
	n = bits.TrailingZeros64(other) / 8 // 8 where every byte is a digit
	// Zeros move in before the digits, then neighbours join: 1, 2, 4 at a time.
	x <<= uint(64-8*n) & 63
	x = x*10 + x>>8
	const low = 0x000000ff000000ff
	return ((x&low)*(100+1000000<<32) + (x>>16&low)*(1+10000<<32)) >> 32, n
}

// tens holds powers of ten as integers; more than eight digits do not occur.
var tens = [16]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}
