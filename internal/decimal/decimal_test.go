package decimal

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
)

var numberGrammar = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?`)

// TestNumbersAreNearest compares every route with big.Float at 4096 bits, on random spellings and on
// midpoints between two neighbours, exact or with the last digit changed either way, where one wrong
// rounding shows.
func TestNumbersAreNearest(t *testing.T) {
	check := func(text string) {
		t.Helper()
		wide, _, err := big.ParseFloat(text, 10, 4096, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := wide.Float64()
		v, length, f := Parse([]byte(text + " "))
		if again, size, g := Parse([]byte(text + ",12345678")); math.Float64bits(again) != math.Float64bits(v) || size != length || g != f {
			t.Errorf("%s: %v (%d bytes, fault %d) with more behind it, %v without", text, again, size, g, v)
		}
		switch {
		case math.IsInf(want, 0) || want == 0 && wide.Sign() != 0:
			if f != OutOfRange {
				t.Errorf("%s: %v, want out of range", text, v)
			}
		case f != None || length != len(text) || math.Float64bits(v) != math.Float64bits(want):
			t.Errorf("%s: %v (%d bytes, fault %d), want %v", text, v, length, f, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range oracle.Draws(20_000) {
		digits := strconv.FormatUint(r.Uint64()>>r.IntN(64), 10)
		point := r.IntN(len(digits) + 1)
		check(digits[:point] + "." + digits[point:])
		check(digits + "e" + strconv.Itoa(r.IntN(60)-30))
		check(strconv.FormatFloat(r.NormFloat64(), 'e', r.IntN(20), 64))
		check(strconv.FormatFloat(math.Float64frombits(r.Uint64()%0x7ff0000000000000), 'e', 1+r.IntN(20), 64))
	}
	for range oracle.Draws(5_000) { // halfway between neighbours, or next to that, with a number of digits for which one quotient decides
		places := r.IntN(5)
		number := 1<<53 + r.Uint64N(1<<52)
		for range places {
			number *= 5
		}
		for _, n := range []uint64{number - 1, number, number + 1} {
			check(strconv.FormatUint(n, 10) + "e-" + strconv.Itoa(places))
		}
		check(strconv.FormatUint(r.Uint64(), 10) + "e-" + strconv.Itoa(r.IntN(28)))
	}
	for range 300 {
		v := math.Float64frombits(r.Uint64() % 0x7fe0000000000000)
		next := math.Nextafter(v, math.MaxFloat64)
		middle := new(big.Float).SetPrec(4096).SetFloat64(v)
		middle.Add(middle, new(big.Float).SetFloat64(next))
		middle.Quo(middle, big.NewFloat(2))
		text := middle.Text('e', 1000)
		text, exponent, _ := strings.Cut(text, "e")
		text = strings.TrimRight(text, "0")
		check(text + "e" + exponent)
		check(text + "1e" + exponent)
		check(text[:len(text)-1] + string(text[len(text)-1]-1) + "9e" + exponent)
	}
	for _, text := range []string{
		"0", "-0", "+0.0", "1", "9007199254740992", "9007199254740993", "9007199254740994", "9007199254740993e0",
		"9007199254740993.00000000000000000000000000000000001", "1e22", "1e23", "1e-22", "1e-23", "8.5e22",
		"18446744073709551615", "18446744073709551616", "99999999999999999999", "100000000000000000000",
		"5e-324", "2.4703282292062327208e-324", "2.4703282292062328e-324", "2.47e-324",
		"2.2250738585072011e-308", "2.2250738585072014e-308", "1.7976931348623157e308", "1.7976931348623158e308",
		"1.7976931348623159e308", "1.797693134862315807e308", "1.797693134862315808e308", "1e308", "1e309",
		"0." + strings.Repeat("0", 330) + "1", "0." + strings.Repeat("0", 307) + "1",
		strings.Repeat("9", 309), strings.Repeat("9", 308), "1" + strings.Repeat("0", 400) + "e-400",
		"0e99999", "0.00e-99999", "000000000000000000000000.5", "1.e1", ".1e1",
	} {
		check(text)
		check("-" + strings.TrimLeft(text, "+-"))
	}
}

// TestNumbersOfAnyExponent checks exponents beyond the range of every integer type.
func TestNumbersOfAnyExponent(t *testing.T) {
	huge := strings.Repeat("9", 100)
	for text, want := range map[string]Fault{
		"1e" + huge: OutOfRange, "1e-" + huge: OutOfRange, "0e" + huge: None, "0e-" + huge: None,
		"1e0" + huge: OutOfRange, "1e" + strings.Repeat("0", 100): None, "1e18446744073709551616": OutOfRange,
		"1e-18446744073709551616": OutOfRange, "1e9223372036854775808": OutOfRange, "1e4294967296": OutOfRange,
	} {
		if _, _, got := Parse([]byte(text + "\n")); got != want {
			t.Errorf("%.20s…: fault %d, want %d", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"1", "-0.5e3", "1e400", "1e-400", "nan", "0x1p3", "1_0", ".", "1.", ".5", "1e+", "9007199254740993", "123456789012345678901", "4.9e-324"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 500 {
			return
		}
		v, length, got := Parse([]byte(text))
		spelled := numberGrammar.FindString(text)
		if rest := text[len(spelled):]; spelled == "" || spelled == strings.TrimRight(spelled, "eE+-") && rest != "" && rest[0]|0x20 == 'e' && !strings.ContainsAny(spelled, "eE") {
			if got != NotNumber { // "1e" is not the number 1 followed by an e
				t.Fatalf("%q: %v, fault %d; it is no number", text, v, got)
			}
			return
		}
		want, err := strconv.ParseFloat(spelled, 64)
		zero := !strings.ContainsAny(strings.FieldsFunc(spelled, func(r rune) bool { return r|0x20 == 'e' })[0], "123456789")
		if err != nil || want == 0 && !zero {
			if got != OutOfRange {
				t.Fatalf("%q: %v, fault %d, want out of range", text, v, got)
			}
			return
		}
		if got != None || length != len(spelled) || math.Float64bits(v) != math.Float64bits(want) {
			t.Fatalf("%q: %v of %d bytes, fault %d, want %v of %d", text, v, length, got, want, len(spelled))
		}
	})
}

// TestEight checks every number of digits, followed by every byte that is not a digit.
func TestEight(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 9 {
		for c := range 256 {
			if '0' <= c && c <= '9' {
				continue
			}
			random := make([]byte, n)
			for k := range random {
				random[k] = byte('0' + r.IntN(10))
			}
			for _, digits := range []string{string(random), strings.Repeat("9", n), strings.Repeat("0", n)} {
				text := digits + string([]byte{byte(c)}) + "\xff\x00909\x80\x2f\x3a9999"
				value, got := Eight([]byte(text))
				want, _ := strconv.ParseUint(digits, 10, 64)
				if got != n || n > 0 && value != want {
					t.Fatalf("%q: %d in %d digits, want %d in %d", text, value, got, want, n)
				}
			}
		}
	}
}

// TestQuotient compares quotients by the reciprocal with those by division, also close to numbers for
// which the reciprocal alone does not decide the rounding.
func TestQuotient(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for round := range 2_000_000 {
		k := r.IntN(28)
		m := r.Uint64()>>r.IntN(60) | 1
		if round%2 == 0 { // close to a float64, or to the midpoint of two
			v := float64(r.Uint64N(1<<54)|1) / 2 * math.Pow10(k)
			if v = math.Ldexp(v, -r.IntN(40)); v >= 1<<63 {
				continue
			}
			m = uint64(v) + r.Uint64N(5)
		}
		if m == 0 {
			continue
		}
		up := bits.LeadingZeros64(m)
		if got, want := quotient(m, k), ratio(m<<up, up, k); got != want {
			t.Fatalf("%d/10^%d: %v, want %v", m, k, got, want)
		}
	}
}

// TestLong checks that the number which Long reads is the one that Parse finds, whatever is before and
// behind it, and that Long reads most of the shortest spellings of float64.
func TestLong(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	check := func(text string) bool {
		b := []byte("1234567890.123456789012345" + text + ",.5-78912")
		at := len(b) - 9 - len(text)
		v, ok := Long(b, at, at+len(text))
		want, length, fault := Parse([]byte(text))
		if ok && (fault != None || length != len(text) || math.Float64bits(v) != math.Float64bits(want)) {
			t.Fatalf("%q: %v, want %v of %d bytes, fault %d", text, v, want, length, fault)
		}
		return ok
	}
	read := 0
	for range 100_000 {
		v := r.NormFloat64() * math.Pow10(r.IntN(9)-3)
		v = math.Abs(v)
		if shortest := strconv.FormatFloat(v, 'f', -1, 64); check(shortest) != check("-"+shortest) {
			t.Fatalf("%s is read with one sign only", shortest)
		} else if check(shortest) {
			read++
		} else if v >= 1e-2 && v < 1e6 && len(shortest) >= 18 {
			t.Fatalf("%s is not read", shortest)
		}
		text := []byte(strconv.FormatFloat(v, 'f', 6+r.IntN(14), 64))
		check(string(text))
		for range 1 + r.IntN(2) {
			text[r.IntN(len(text))] = "0.-+e,\n\x00\x8a\xff/:"[r.IntN(12)]
		}
		check(string(text))
	}
	if read < 50_000 {
		t.Errorf("only %d are read", read)
	}
	for _, text := range []string{"0.00000000", "-0.0000000000", "0.000000000000000001", "9.99999999999999999", "0.12345678", "1234567.12345678", "9999999.999999999999"} {
		if !check(text) {
			t.Errorf("%s is not read", text)
		}
	}
	for _, text := range []string{"", "-", ".123456789", "1.2345678e10", "12345678.12345678", "0.1234567", "0.01234567890123456789", "1,23456789", "0.12345678.1"} {
		if check(text) {
			t.Errorf("%s is read", text)
		}
	}
}

// TestBrief checks that Brief reads the number that Parse finds in the whole text, or none, for every
// text of up to four bytes of some kinds, and for longer random ones.
func TestBrief(t *testing.T) {
	const kinds = "0197.-+e,\n\x00\x8a\xff/:"
	check := func(text string) (brief bool) {
		b := []byte(text + ",123456789")
		v, ok := Brief(b, len(text))
		want, length, fault := Parse([]byte(text))
		if ok && (fault != None || length != len(text) || math.Float64bits(v) != math.Float64bits(want)) {
			t.Fatalf("%q: %v, want %v of %d bytes, fault %d", text, v, want, length, fault)
		}
		if plain := strings.Trim(strings.TrimPrefix(text, "-"), "0123456789."); !ok && fault == None && length == len(text) && plain == "" && len(strings.TrimPrefix(text, "-")) <= 8 {
			t.Fatalf("%q is left out", text)
		}
		return ok
	}
	text := make([]byte, 4)
	for length := range 5 {
		for code := range int(math.Pow(float64(len(kinds)), float64(length))) {
			for k := range length {
				text[k], code = kinds[code%len(kinds)], code/len(kinds)
			}
			check(string(text[:length]))
		}
	}
	r := rand.New(rand.NewPCG(5, 5))
	read := 0
	for range 100_000 {
		text := make([]byte, 1+r.IntN(10))
		for k := range text {
			text[k] = byte('0' + r.IntN(10))
		}
		text[r.IntN(len(text))], text[0] = kinds[r.IntN(7)], kinds[r.IntN(6)]
		if check(string(text)) {
			read++
		}
	}
	if read < 10_000 {
		t.Errorf("%d numbers", read)
	}
}
