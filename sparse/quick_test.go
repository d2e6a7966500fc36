package sparse

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// TestEightDigits: every count of digits, before every byte that is not one.
func TestEightDigits(t *testing.T) {
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
				value, got := eightDigits([]byte(text))
				want, _ := strconv.ParseUint(digits, 10, 64)
				if got != n || value != want {
					t.Fatalf("%q: %d in %d digits, want %d in %d", text, value, got, want, n)
				}
			}
		}
	}
}

// TestQuickEntryIsExact: whatever quickEntry takes is what strconv makes of it.
func TestQuickEntryIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	taken := 0
	for range 200_000 {
		index := strconv.Itoa(r.IntN(1 << r.IntN(31)))
		value := strconv.FormatFloat(r.NormFloat64()*math.Pow10(r.IntN(12)-4), 'f', r.IntN(10), 64)
		end := []string{" ", "\n", "#", "\r\n", "e5 ", "_"}[r.IntN(6)]
		text := index + ":" + value + end
		j, v, n := quickEntry([]byte(text + strings.Repeat("7", quickReach)))
		if n == 0 {
			continue
		}
		taken++
		want, _ := strconv.ParseFloat(value, 64)
		if strconv.Itoa(j) != index || math.Float64bits(v) != math.Float64bits(want) || text[:n] != index+":"+value || end != " " && end != "\n" {
			t.Fatalf("%q: %d:%v of %d bytes, want %v", text, j, v, n, want)
		}
	}
	if taken < 20_000 {
		t.Errorf("only %d entries were taken", taken)
	}
}
