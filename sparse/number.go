package sparse

import (
	"math"
	"strconv"
)

// maxNumber is the longest spelling of a number that is read, in bytes: the
// exact decimal expansion of any float64 fits four times over.
const maxNumber = 4096

// fault says what is wrong with a token; noFault is success.
type fault uint8

const (
	noFault fault = iota
	notNumber
	outOfRange
	tooLong
)

// parseNumber reads the longest number at the start of b,
//
//	[+|-] (digits [. [digits]] | . digits) [(e|E) [+|-] digits]
//
// and returns the nearest float64, ties to even, and the bytes looked at. The
// spellings that strtod and strconv accept beyond this (nan, inf, hexadecimal,
// underscores) are not numbers here. A magnitude that would become infinite,
// or a nonzero one that would become 0, is out of range; subnormals are not.
//
// More than maxNumber bytes are no number either.
func parseNumber(b []byte) (v float64, length int, f fault) {
	i := 0
	negative := false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}

	// The digits as one integer, wrapping past 19 of them: then it is not used.
	var mantissa uint64
	start := i
	for ; i < len(b); i++ {
		d := uint64(b[i]) - '0'
		if d > 9 {
			break
		}
		mantissa = mantissa*10 + d
	}
	digits, exponent := i-start, 0
	if i < len(b) && b[i] == '.' {
		i++
		point := i
		for ; i < len(b); i++ {
			d := uint64(b[i]) - '0'
			if d > 9 {
				break
			}
			mantissa = mantissa*10 + d
		}
		exponent = point - i
		digits -= exponent
	}
	if digits == 0 {
		return 0, i, notNumber
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		power, n, ok := parseExponent(b[i+1:])
		i += 1 + n
		if !ok {
			return 0, i, notNumber
		}
		exponent += power
	}

	// Both factors are exact, so one rounding gives the nearest float64.
	if digits <= 19 && mantissa <= 1<<53 && exponent >= -22 && exponent <= 22 {
		v = float64(mantissa)
		if exponent < 0 {
			v /= pow10[-exponent]
		} else {
			v *= pow10[exponent]
		}
		if negative {
			v = -v
		}
		return v, i, noFault
	}
	if i > maxNumber {
		return 0, i, tooLong
	}
	return parseSlowly(b[:i])
}

// parseExponent reads [+|-] digits, n bytes of them, saturating; ok says
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

// parseSlowly is parseNumber for a spelling that is known to be well formed
// but is too long or too large for the exact route.
func parseSlowly(b []byte) (v float64, length int, f fault) {
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsInf(v, 0) || (v == 0 && !spellsZero(b)) {
		return 0, len(b), outOfRange
	}
	return v, len(b), noFault
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
