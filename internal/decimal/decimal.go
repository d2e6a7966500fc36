// Package decimal reads decimal numbers from text, to the nearest float64.
package decimal

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// MaxLength is the length in bytes of the longest spelling of a number that is read: more than three
// times that of the longest exact decimal expansion of a float64.
const MaxLength = 4096

// Fault says what is wrong with a spelling; None is success.
type Fault uint8

// The faults of a spelling.
const (
	None Fault = iota
	NotNumber
	OutOfRange
	TooLong
)

// Parse reads the longest number at the start of b,
//
//	[+|-] (digits [. [digits]] | . digits) [(e|E) [+|-] digits]
//
// and returns the nearest float64, ties to even, and the number of bytes read. Other
// spellings that strtod and strconv accept (nan, inf, hexadecimal, underscores) are
// not numbers here. A magnitude that would become infinite, or a nonzero one that
// would become 0, is out of range; subnormals are not.
//
// A spelling of more than MaxLength bytes is too long, except where leading zeros pad a number of few digits.
func Parse(b []byte) (v float64, length int, f Fault) {
	if len(b) >= ShortReach {
		if v, length = Short(b); length > 0 {
			return v, length, None
		}
	}
	i := 0
	negative := false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	start := i
	mantissa, i, fits := digits(b, i, 0)
	count, exponent := i-start, 0
	if i < len(b) && b[i] == '.' {
		point := i + 1
		var all bool
		mantissa, i, all = digits(b, point, mantissa)
		fits = fits && all
		exponent = point - i
		count -= exponent
	}
	if count == 0 {
		return 0, i, NotNumber
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		power, n, ok := parseExponent(b[i+1:])
		i += 1 + n
		if !ok {
			return 0, i, NotNumber
		}
		exponent += power
	}
	switch {
	case fits && mantissa <= 1<<53 && -22 <= exponent && exponent <= 22:
		// Both factors are exact, so one rounding gives the nearest float64.
		if v = float64(mantissa); exponent < 0 {
			v /= pow10[-exponent]
		} else {
			v *= pow10[exponent]
		}
	case fits && mantissa > 0 && -27 <= exponent && exponent <= 0:
		v = quotient(mantissa, -exponent)
	case i > MaxLength:
		return 0, i, TooLong
	default:
		return parseSlowly(b[:i])
	}
	if negative {
		v = -v
	}
	return v, i, None
}

// ShortReach is the number of bytes that the argument of Short must have.
const ShortReach = 1 + 8 + 1 + 8

// Short is Parse for the most frequent spellings: an optional minus, one to seven digits, and optionally a point
// followed by digits. The length is 0 for anything else. For up to seven digits after the point, no branch
// depends on what differs from number to number.
func Short(b []byte) (v float64, length int) {
	sign := int((uint32(b[0]^'-') - 1) >> 31)
	whole, n := Eight(b[sign:])
	i := sign + n
	if n == 0 || n == 8 {
		return 0, 0
	}
	if b[i] == '.' {
		fraction, places := Eight(b[i+1:])
		whole = whole*tens[places&15] + fraction
		i += 1 + places
		switch places {
		case 0:
			return 0, 0
		case 8:
			if v, i = behind(b, i, whole, 19-n); i == 0 {
				return 0, 0
			}
		default:
			v = float64(int64(whole)) / pow10[places&15]
		}
	} else {
		v = float64(int64(whole))
	}
	if b[i]|0x20 == 'e' {
		return 0, 0
	}
	return math.Float64frombits(math.Float64bits(v) | uint64(sign)<<63), i
}

// behind continues a number m, which has eight digits after the point, with the digits from b[i]
// on. The length is 0 if there are more than most digits after the point, or if b ends within eight
// bytes of the number.
func behind(b []byte, i int, m uint64, most int) (v float64, length int) {
	for places := 8; len(b)-i > 8; {
		digits, n := Eight(b[i:])
		if places += n; places > most {
			break
		}
		if n > 0 {
			m, i = m*tens[n&15]+digits, i+n
		}
		switch {
		case n == 8:
		case m <= 1<<53:
			return float64(int64(m)) / pow10[places], i
		default:
			return quotient(m, places), i
		}
	}
	return 0, 0
}

// digits continues a number m with the digits from b[i] on, and returns where they end. fits
// reports whether the number is below 2⁶⁴; if not, the number is meaningless.
func digits(b []byte, i int, m uint64) (number uint64, end int, fits bool) {
	fits = true
	for len(b)-i >= 8 {
		v, n := Eight(b[i:])
		if n == 0 {
			return m, i, fits
		}
		fits = fits && m <= most[n&15]
		m = m*tens[n&15] + v
		if i += n; n < 8 {
			return m, i, fits
		}
	}
	for ; i < len(b); i++ {
		d := uint64(b[i]) - '0'
		if d > 9 {
			break
		}
		fits = fits && m <= most[1]
		m = m*10 + d
	}
	return m, i, fits
}

// Eight returns the number spelled by the digits at the start of b, at most eight, and how many
// they are; if there are none, the number is meaningless. b must have at least eight bytes.
//
// Counting the digits needs no loop, whose end would be mispredicted for almost every number.
func Eight(b []byte) (value uint64, n int) {
	x := binary.LittleEndian.Uint64(b) ^ 0x3030303030303030 // a digit becomes its value
	other := (x + 0x7676767676767676 | x) & 0x8080808080808080
	n = bits.TrailingZeros64(other) / 8 // 8 where every byte is a digit
	return join(x, n), n
}

// join returns the number spelled by the first n digits, one per byte.
func join(x uint64, n int) uint64 {
	return joined(x << (uint(64-8*n) & 63)) // zeros move in before them
}

// BriefReach is the number of bytes that the argument of Brief must have.
const BriefReach = 1 + 8

// Brief returns the number that the first n bytes of b spell if these are an optional minus and
// up to eight bytes of digits, optionally with a point; ok reports whether they are. b must have at
// least BriefReach bytes.
func Brief(b []byte, n int) (v float64, ok bool) {
	sign := int((uint32(b[0]^'-') - 1) >> 31)
	if n -= sign; uint(n-1) > 7 {
		return 0, false
	}
	x := binary.LittleEndian.Uint64(b[sign:]) ^ 0x3030303030303030
	other := (x + 0x7676767676767676 | x) & 0x8080808080808080
	whole := bits.TrailingZeros64(other) / 8
	if whole >= n {
		v = float64(int64(join(x, n)))
	} else {
		// Removing the point joins the digits before and after it.
		before := uint64(1)<<(8*whole&63) - 1
		if n--; n == 0 || byte(x>>(8*whole&63)) != '.'^'0' || bits.TrailingZeros64(other&(other-1))/8 <= n {
			return 0, false
		}
		v = float64(int64(join(x&before|x>>8&^before, n))) / pow10[(n-whole)&15]
	}
	return math.Float64frombits(math.Float64bits(v) | uint64(sign)<<63), true
}

// LongReach is the number of bytes before the end of a cell that Long reads.
const LongReach = 24

// Long returns the number that text[at:end] spells if that is an optional minus, one to seven digits, a
// point, and at least eight digits after it, with at most 19 digits in all; ok reports whether it is. end must be at
// least LongReach, and text must have at least eight bytes from at+1 on.
//
// Since the end of the number is known, its last 24 bytes are read at once.
func Long(text []byte, at, end int) (v float64, ok bool) {
	head := text[at : at+9]
	sign := int((uint32(head[0]^'-') - 1) >> 31)
	whole, n := Eight(head[sign : sign+8])
	point := at + sign + n
	places := end - point - 1
	if uint(n-1) > 6 || text[point] != '.' || uint(places-8) > uint(19-8-n) {
		return 0, false
	}
	const zero = 0x3030303030303030
	tail := text[end-LongReach : end]
	keep := &lasting[places&31]
	a := (binary.LittleEndian.Uint64(tail) ^ zero) & keep[0]
	b := (binary.LittleEndian.Uint64(tail[8:]) ^ zero) & keep[1]
	c := binary.LittleEndian.Uint64(tail[16:]) ^ zero
	const high, nine = 0x8080808080808080, 0x7676767676767676
	if ((a+nine)|a|(b+nine)|b|(c+nine)|c)&high != 0 {
		return 0, false
	}
	m := whole*wide[places&31] + ((a>>48&15)*10+a>>56)*1e16 + joined(b)*1e8 + joined(c)
	if m != 0 {
		v = quotient(m, places)
	}
	return math.Float64frombits(math.Float64bits(v) | uint64(sign)<<63), true
}

// joined returns the number spelled by eight digits, one per byte: it joins neighbouring groups of 1, 2 and 4 digits.
func joined(x uint64) uint64 {
	x = x*10 + x>>8
	const low = 0x000000ff000000ff
	return ((x&low)*(100+1000000<<32) + (x>>16&low)*(1+10000<<32)) >> 32
}

// lasting[k] has masks for the two groups of eight digits that end 16 and eight places before the last digit,
// which keep the digits among the last k. wide[k] is 10ᵏ, below 2⁶⁴.
var lasting, wide = func() (masks [32][2]uint64, powers [32]uint64) {
	power := uint64(1)
	for places := range 20 {
		for k, behind := range []int{16, 8} {
			masks[places][k] = ^(1<<(8*min(max(8+behind-places, 0), 8)) - 1)
		}
		powers[places] = power
		power *= 10
	}
	return masks, powers
}()

// quotient returns the float64 nearest to m/10ᵏ, for 0 < m and k ≤ 27: m/5ᵏ times a power of two,
// by the reciprocal of 5ᵏ where its precision suffices to round correctly.
func quotient(m uint64, k int) float64 {
	up := bits.LeadingZeros64(m)
	m <<= up
	five := &fives[k&31]
	q, _ := bits.Mul64(m, five.reciprocal) // the exact quotient is at least q and less than q + 2
	if (q+2)&(1<<9-1) <= 2 {
		return ratio(m, up, k) // a float64, or the midpoint of two, may lie in between
	}
	return float64(int64(q>>1|1)) * math.Float64frombits(uint64(1023-62-up+five.shift-k)<<52)
}

// ratio is quotient by division, for an m shifted up by up bits: the integer division of the shifted m by
// the shifted 5ᵏ gives at least 62 bits and tells whether the quotient has more.
func ratio(m uint64, up, k int) float64 {
	q, rest := bits.Div64(m>>1, m<<63, fives[k].number)
	q = q>>1 | q&1 // below 2⁶³; the last bit, far below half a unit of the result, records whether bits were lost
	if rest != 0 {
		q |= 1
	}
	return float64(int64(q)) * math.Float64frombits(uint64(1023-62-up+fives[k].shift-k)<<52)
}

// parseExponent reads [+|-] digits, n bytes in all, and saturates. ok reports
// whether there are digits.
func parseExponent(b []byte) (power, n int, ok bool) {
	i := 0
	negative := false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	start := i
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		power = min(power*10+int(b[i]-'0'), 1<<20)
	}
	if negative {
		power = -power
	}
	return power, i, i > start
}

// parseSlowly is Parse for a spelling that is known to be well formed but is too
// long or too large for the fast paths.
func parseSlowly(b []byte) (v float64, length int, f Fault) {
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsInf(v, 0) || (v == 0 && !spellsZero(b)) {
		return 0, len(b), OutOfRange
	}
	return v, len(b), None
}

// spellsZero reports whether every digit before the exponent is 0.
func spellsZero(b []byte) bool {
	for _, c := range b {
		switch {
		case c|0x20 == 'e':
			return true
		case '1' <= c && c <= '9':
			return false
		}
	}
	return true
}

// pow10 holds the powers of ten that float64 represents exactly.
var pow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// tens[k] is 10ᵏ as an integer, and most[k] bounds the numbers to which k digits can be appended
// below 2⁶⁴; k is at most eight.
var (
	tens = [16]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}
	most = [16]uint64{
		1<<64 - 2, (1<<64-1)/10 - 1, (1<<64-1)/100 - 1, (1<<64-1)/1000 - 1, (1<<64-1)/10000 - 1,
		(1<<64-1)/100000 - 1, (1<<64-1)/1000000 - 1, (1<<64-1)/10000000 - 1, (1<<64-1)/100000000 - 1,
	}
)

// fives holds, for k ≤ 27, number = 5ᵏ·2^shift ≥ 2⁶³ and reciprocal = 2¹²⁷/number less at most 1.
var fives = func() (table [32]struct {
	number, reciprocal uint64
	shift              int
},
) {
	power := uint64(1)
	for k := range 28 {
		five := &table[k]
		five.shift = bits.LeadingZeros64(power)
		five.number, five.reciprocal = power<<five.shift, math.MaxUint64
		if k > 0 {
			five.reciprocal, _ = bits.Div64(1<<63, 0, five.number)
		}
		power *= 5
	}
	return table
}()
