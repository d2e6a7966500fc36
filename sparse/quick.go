package sparse

import (
	"math"

	"github.com/seed-45b9a24c/pare/internal/decimal"
)

// quickReach is how far quick may look beyond the space before an entry.
const quickReach = 64

// quick reads entries of the form that nearly all have,
//
//	index:number
//
// with at most 8 digits in the index, no leading zero in it, one space before and a space
// or newline behind, for as long as they come. It leaves the window at the first thing that
// is anything else, or not plainly valid, or for which the journal has no room: the general
// route then says what it is.
func (s *scanner) quick(base int, at *rowState) {
	b, pos := s.buf[:s.end], s.pos
	g := &s.rows
	for pos <= len(b)-quickReach && b[pos] == ' ' && len(g.last)-g.at >= recordReach {
		e := b[pos+1 : pos+quickReach]
		digits, n := decimal.Eight(e)
		j := int(digits) - base
		if e[n] != ':' || e[0] == '0' && (n > 1 || base > 0 || s.detect) || n == 0 || j <= at.named || j >= s.columns {
			break
		}
		form, value, length := quickValue(e[n+1:])
		if i := n + 1 + length; length == 0 || e[i] != ' ' && e[i] != '\n' {
			break
		}
		if value != 0 {
			if g.nnz == s.opt.MaxEntries {
				break
			}
			g.nnz++
			g.record(j-at.stored, form, value)
			at.stored = j
		}
		at.named = j
		pos += 2 + n + length
	}
	s.pos = pos
}

// quickValue reads the number at the start of b, which has eight bytes or more after the
// longest that it takes, as the journal keeps it. Its length is 0 where there is none here,
// or it is 0 in another spelling than 0 and 0.0.
//
// What has up to eight digits before a point and after it, and is below 2²⁷ without the
// point, stays as it is spelled.
func quickValue(b []byte) (form int, value uint64, length int) {
	i, negative := 0, b[0] == '-'
	if negative {
		i = 1
	}
	whole, n := decimal.Eight(b[i:])
	i += n
	places := 0
	if n > 0 && b[i] == '.' {
		var fraction uint64
		if fraction, places = decimal.Eight(b[i+1:]); places > 0 {
			whole = whole*tens[places&15] + fraction
			i += 1 + places
		} else {
			n = 0
		}
	}
	if n > 0 && (b[i] == ' ' || b[i] == '\n') && whole < 1<<27 {
		switch {
		case whole <= math.MaxInt8 && places == 0:
			small := int64(whole)
			if negative {
				small = -small
			}
			return formInteger, uint64(small), i
		case whole == 0:
			return formInteger, 0, i
		}
		return formFraction, packFraction(whole, negative, places), i
	}
	v, length, fault := decimal.Parse(b[:quickNumber])
	if fault != decimal.None || length == quickNumber || v == 0 {
		return 0, 0, 0
	}
	return formFloat, math.Float64bits(v), length
}

// quickNumber is the length of the numbers that are left to the general route.
const quickNumber = quickReach - 20

// tens holds powers of ten as integers; more than eight digits do not occur.
var tens = [16]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}
