package bilevel

import (
	"encoding/binary"
	"math"
	"reflect"
	"testing"

	"github.com/seed-45b9a24c/pare/outcome"
)

// TestStatesAreReadAsTheyWereWritten checks that a state is decoded as it was encoded, and that everything else is
// refused: columns outside the lane, too few coefficients, derivatives of another length, several λ's, NaN, or
// bytes at the end.
func TestStatesAreReadAsTheyWereWritten(t *testing.T) {
	const size = 3
	encode := func(columns []uint64, coef, at, moves []float64, behind ...byte) []byte {
		data := binary.AppendUvarint(nil, uint64(len(columns)))
		for _, j := range columns {
			data = binary.AppendUvarint(data, j)
		}
		return append(appendFloats(appendFloats(appendFloats(data, coef), at), moves), behind...)
	}
	nan := []float64{math.NaN()}
	one, two, at := []float64{5}, []float64{5, 6}, []float64{-1}
	for name, c := range map[string]struct {
		data []byte
		ok   bool
	}{
		"nothing":               {nil, false},
		"no column":             {encode(nil, nil, at, nil), true},
		"a column":              {encode([]uint64{0}, one, at, nil), true},
		"the last one":          {encode([]uint64{2}, one, at, one), true},
		"one that moves":        {encode([]uint64{1}, one, at, one), true},
		"two that move":         {encode([]uint64{0, 2}, two, at, two), true},
		"all":                   {encode([]uint64{0, 1, 2}, []float64{1, 2, 3}, at, nil), true},
		"infinite":              {encode([]uint64{1}, []float64{math.Inf(1)}, at, nil), true},
		"no such column":        {encode([]uint64{3}, one, at, nil), false},
		"more columns than are": {encode([]uint64{0, 1, 2, 2}, []float64{1, 2, 3, 4}, at, nil), false},
		"too few coefficients":  {encode([]uint64{0, 1}, one, at, nil), false},
		"too many coefficients": {encode([]uint64{0}, two, at, nil), false},
		"too few move":          {encode([]uint64{0, 1}, two, at, one), false},
		"too many move":         {encode([]uint64{0}, one, at, two), false},
		"moves of nothing":      {encode(nil, nil, at, one), false},
		"no λ":                  {encode([]uint64{0}, one, nil, nil), false},
		"two λ":                 {encode([]uint64{0}, one, two, nil), false},
		"a byte behind":         {encode([]uint64{0}, one, at, nil, 0), false},
		"NaN":                   {encode([]uint64{0}, nan, at, nil), false},
		"NaN for λ":             {encode([]uint64{0}, one, nan, nil), false},
		"NaN moves":             {encode([]uint64{0}, one, at, nan), false},
		"NaN, then a number":    {encode([]uint64{0, 1}, []float64{math.NaN(), 1}, at, nil), false},
	} {
		got, err := decodeState(c.data, size)
		if (err == nil) != c.ok || err != nil && outcome.KindOf(err) != outcome.Parse {
			t.Errorf("%s: %v", name, err)
		}
		if c.ok && !reflect.DeepEqual(got.encode(), c.data) {
			t.Errorf("%s: read as %+v", name, got)
		}
		for end := range c.data {
			if _, err := decodeState(c.data[:end], size); c.ok && outcome.KindOf(err) != outcome.Parse {
				t.Errorf("%s, %d bytes of %d: %v", name, end, len(c.data), err)
			}
		}
	}
	if got, err := decodeState(encode([]uint64{0, 2}, []float64{3, 4}, []float64{-7}, []float64{5, 6}), size); err != nil || got.tangent.lambda != -7 ||
		!reflect.DeepEqual(got.Solution, Solution{[]int32{0, 2}, []float64{3, 4}}) || !reflect.DeepEqual(got.tangent.coef, []float64{5, 6}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := decodeState(encode([]uint64{0}, one, at, nil), 0); err == nil {
		t.Error("a column where there is none")
	}
}

// TestNumbersAreReadWithinTheirBounds checks that decoded numbers are at most the given bound, and that the
// decoder never reads beyond the data.
func TestNumbersAreReadWithinTheirBounds(t *testing.T) {
	for _, c := range []struct {
		data []byte
		most int
		want int
		ok   bool
	}{
		{[]byte{5, 1}, 5, 5, true},
		{[]byte{5, 1}, 6, 5, true},
		{[]byte{5, 1}, 4, 0, false},
		{[]byte{0}, 0, 0, true},
		{[]byte{1}, 0, 0, false},
		{[]byte{0}, -1, 0, false},
		{[]byte{0x80, 1, 9}, 200, 128, true},
		{[]byte{0x80}, 200, 0, false},
		{nil, 3, 0, false},
		{[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, math.MaxInt, 0, false}, // 11 groups of seven bits
		{[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, math.MaxInt, 0, false},       // 2⁶⁴ − 1
	} {
		d := decoder{rest: c.data}
		if got := d.count(c.most); got != c.want || d.failed == c.ok || !c.ok && d.rest != nil {
			t.Errorf("%v of at most %d: %d, failed %t", c.data, c.most, got, d.failed)
		}
	}
	for n := range 4 {
		d := decoder{rest: []byte{byte(n), 'a', 'b', 'c'}}
		if got := d.bytes(); string(got) != "abc"[:n] || string(d.rest) != "abc"[n:] || d.failed {
			t.Errorf("%d bytes: %q, then %q", n, got, d.rest)
		}
	}
	if d := (decoder{rest: []byte{4, 'a', 'b', 'c'}}); d.bytes() != nil || !d.failed {
		t.Error("four bytes of three")
	}
	for n := range 3 {
		d := decoder{rest: append(appendFloats(nil, []float64{1, 2}[:n]), 9)}
		if got := d.floats(); len(got) != n || n == 2 && got[1] != 2 || len(d.rest) != 1 || d.failed {
			t.Errorf("%d numbers: %v, then %v", n, got, d.rest)
		}
		if d := (decoder{rest: append([]byte{byte(n + 1)}, make([]byte, 8*n+7)...)}); d.floats() != nil || !d.failed {
			t.Errorf("%d numbers of %d bytes", n+1, 8*n+7)
		}
	}
}
