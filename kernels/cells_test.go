package kernels_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

// TestMarks checks that marks are the places of the three bytes, in texts of every length, and
// of several blocks.
func TestMarks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for n := range 400 {
			if n > 390 {
				n = 65_536*(n-390)/4 + rng.IntN(200)
			}
			text, at := make([]byte, n), make([]int32, n)
			rare := 1 + rng.IntN(40)
			var want []int32
			for i := range text {
				if text[i] = byte(rng.IntN(256)); rng.IntN(rare) == 0 {
					text[i] = ",\n:"[rng.IntN(3)]
				}
				if text[i] == ',' || text[i] == '\n' || text[i] == ':' {
					want = append(want, int32(i))
				}
			}
			if got := at[:k.Marks(text, ',', '\n', ':', at)]; !slices.Equal(got, want) {
				t.Fatalf("%d bytes, %.20q…: marks at %v, want %v", n, text, got, want)
			}
		}
	})
}

// cells returns a text of cells with a byte after each, and where they end, preceded by −1.
func cells(list []string) (text []byte, ends []int32) {
	ends = append(ends, -1)
	for _, cell := range list {
		text = append(text, cell...)
		ends = append(ends, int32(len(text)))
		text = append(text, ',')
	}
	return text, ends
}

// spelled returns what Numbers has to give for a cell, by strconv: NaN if Numbers does not
// read such a cell.
func spelled(cell string) float64 {
	rest := strings.TrimPrefix(cell, "-")
	whole, fraction, _ := strings.Cut(rest, ".")
	digits := whole + fraction
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil || len(cell) > 16 || strings.Trim(digits, "0123456789") != "" || len(strings.TrimLeft(digits, "0")) > 15 {
		return math.NaN()
	}
	return v
}

func checkNumbers(t *testing.T, k *kernels.Set, list []string) {
	t.Helper()
	text, ends := cells(list)
	out := make([]float64, len(list))
	unread := k.Numbers(text, ends, out)
	for _, got := range out {
		if math.IsNaN(got) {
			unread--
		}
	}
	if unread != 0 {
		t.Fatalf("%q: %d cells more are counted as not read than are not", list, unread)
	}
	for i, got := range out {
		if want := spelled(list[i]); math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%q is %v, want %v", list[i], got, want)
		}
	}
}

// TestNumbers compares numbers with those of strconv: for every cell of up to four bytes of
// some kinds, and for longer random ones, wherever they are in a text and whatever surrounds
// them.
func TestNumbers(t *testing.T) {
	const kinds = "09.-+e,/:\x00"
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		var all []string
		for length := range 5 {
			for code := range int(math.Pow(float64(len(kinds)), float64(length))) {
				cell := make([]byte, length)
				for i := range cell {
					cell[i], code = kinds[code%len(kinds)], code/len(kinds)
				}
				all = append(all, string(cell))
			}
		}
		checkNumbers(t, k, all)
		for i, cell := range all { // among cells that are numbers, as most are in a file
			list := []string{"a cell to begin with", "1", "-23.5", "12345678", "-.5"}
			list[1+i%4] = cell
			checkNumbers(t, k, list)
		}
		rng := rand.New(rand.NewPCG(2, 2))
		for range 200 {
			list := make([]string, rng.IntN(60))
			for i := range list {
				cell := make([]byte, rng.IntN(19))
				for c := range cell {
					cell[c] = byte('0' + rng.IntN(10))
				}
				for range rng.IntN(3) {
					if len(cell) > 0 {
						cell[rng.IntN(len(cell))] = ".0"[rng.IntN(2)]
					}
				}
				if len(cell) > 0 && rng.IntN(2) == 0 {
					cell[0] = kinds[rng.IntN(len(kinds))]
				}
				if len(cell) > 0 && rng.IntN(9) == 0 {
					cell[rng.IntN(len(cell))] = byte(rng.IntN(256))
				}
				list[i] = string(cell)
			}
			checkNumbers(t, k, list)
		}
		for range 5_000 { // every place of the point, 15 digits
			cell := strconv.FormatFloat(rng.NormFloat64()*math.Pow10(rng.IntN(12)), 'f', rng.IntN(14), 64)
			checkNumbers(t, k, []string{"a cell to begin with", cell, cell})
			cell = strconv.FormatFloat(rng.NormFloat64()*math.Pow10(rng.IntN(4)), 'f', rng.IntN(6), 64)
			checkNumbers(t, k, []string{"a cell to begin with", cell, "7", cell, "-0", "-12.25", cell})
		}
	})
}

// TestCellsOutsideOfTheText checks that Numbers and Marks panic at mistakes of the caller: a
// cell that ends outside the text, or an output of the wrong length.
func TestCellsOutsideOfTheText(t *testing.T) {
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		text, ends := cells([]string{"12345678901234567890", "1", "2", "3"})
		for at := 1; at < len(ends); at++ {
			for _, place := range []int32{int32(len(text)) + 1, math.MaxInt32, math.MinInt32} {
				wrong := slices.Clone(ends)
				wrong[at] = place
				mustPanic(t, func() { k.Numbers(text, wrong, make([]float64, len(wrong)-1)) })
			}
		}
		mustPanic(t, func() { k.Numbers(text, ends, make([]float64, len(ends))) })
		mustPanic(t, func() { k.Marks(text, ',', ',', ',', make([]int32, len(text)-1)) })
	})
}

func mustPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "kernels: ") {
			t.Errorf("no panic of the front: %v", s)
		}
	}()
	f()
}
