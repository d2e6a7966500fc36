package kernels

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// TestTheAssemblyHasTheSameNumbers compares the constants of the assembly with
// those of the Go code.
func TestTheAssemblyHasTheSameNumbers(t *testing.T) {
	text, err := os.ReadFile("amd64/numbers_amd64.h")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]uint64{}
	for _, m := range regexp.MustCompile(`(?m)^DATA .*\$0x([0-9a-f]{16}) // (\w+):`).FindAllStringSubmatch(string(text), -1) {
		bits, err := strconv.ParseUint(m[1], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		got[m[2]] = bits
	}
	want := map[string]uint64{"BIAS": 1023, "SIGN": 1 << 63}
	for name, v := range map[string]float64{
		"LOG2E": log2e, "SHIFT": roundShift, "LN2HI": ln2Hi, "LN2LO": ln2Lo, "HIGHEST": 710, "LOWEST": -746, "HALF": 0.5, "ONE": 1, "TWO": 2,
		"EXP0": exp0, "EXP1": exp1, "EXP2": exp2, "EXP3": exp3, "EXP4": exp4, "EXP5": exp5, "EXP6": exp6, "EXP7": exp7, "EXP8": exp8, "EXP9": exp9,
		"LOG1P0": log1p0, "LOG1P1": log1p1, "LOG1P2": log1p2, "LOG1P3": log1p3, "LOG1P4": log1p4, "LOG1P5": log1p5, "LOG1P6": log1p6,
		"LOG1P7": log1p7, "LOG1P8": log1p8, "LOG1P9": log1p9, "LOG1P10": log1p10,
	} {
		want[name] = math.Float64bits(v)
	}
	for name, bits := range want {
		if got[name] != bits {
			t.Errorf("%s: %#x in the assembly, %#x in Go", name, got[name], bits)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d numbers in the assembly, %d here", len(got), len(want))
	}
}
