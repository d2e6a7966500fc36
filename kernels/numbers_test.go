package kernels

import (
	"fmt"
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
	want := map[string]uint64{"BIAS": 1023, "SIGN": 1 << 63, "SPLIT": 1024<<52 - rootHalf, "SPLITTOP": 1024 << 52}
	for name, v := range map[string]float64{
		"LOG2E": log2e, "SHIFT": roundShift, "LN2HI": ln2Hi, "LN2LO": ln2Lo, "HIGHEST": 710, "LEAST": expLeast, "NEGLIGIBLE": negligible, "HALF": 0.5, "ONE": 1,
		"MINUSHALF": -0.5, "MINUSONE": -1, "FIFTEEN": 15, "DECAYSHIFT": decayShift,
		"DECAY1": decay1, "DECAY2": decay2, "DECAY3": decay3, "DECAY4": decay4, "DECAY5": decay5,
		"EXP0": exp0, "EXP1": exp1, "EXP2": exp2, "EXP3": exp3, "EXP4": exp4, "EXP5": exp5, "EXP6": exp6, "EXP7": exp7, "EXP8": exp8, "EXP9": exp9,
		"LOG1P1": log1p1, "LOG1P2": log1p2, "LOG1P3": log1p3, "LOG1P4": log1p4, "LOG1P5": log1p5, "LOG1P6": log1p6,
		"LOG1P7": log1p7, "LOG1P8": log1p8,
		"LOG0": log0, "LOG1": log1, "LOG2": log2, "LOG3": log3, "LOG4": log4, "LOG5": log5, "LOG6": log6,
		"TWO": 2, "LEASTNORMAL": leastNormal, "MOST": math.MaxFloat64, "RAISE": 1 << 54, "RAISED": 54, "EXPONENT": 1 << 52, "EXPONENTZERO": 1<<52 + 1024,
		"MINUSINF": math.Inf(-1), "NAN": math.NaN(),
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

	tables := map[string][16]float64{"powers": powers, "remnants": remnants, "inverses": inverses, "logs": logs}
	for _, path := range []string{"amd64/tables_amd64.h", "amd64/pairs_amd64.h"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rows := regexp.MustCompile(`(?m)^DATA .*\$0x([0-9a-f]{16}) // (\w+) (\d+)$`).FindAllStringSubmatch(string(text), -1)
		for _, m := range rows {
			i, _ := strconv.Atoi(m[3])
			if want := fmt.Sprintf("%016x", math.Float64bits(tables[m[2]][i])); m[1] != want {
				t.Errorf("%s: %s should be %s", path, m[0], want)
			}
		}
		if len(rows) != 64 {
			t.Errorf("%s has %d rows, want 64", path, len(rows))
		}
	}
}

// TestTheTablesAreWhatTheyStandFor compares the tables with their definitions, as closely
// as float64 arithmetic can.
func TestTheTablesAreWhatTheyStandFor(t *testing.T) {
	for j := range powers {
		if got, want := powers[j], math.Exp2(float64(j)/16); math.Abs(got-want) > 0x1p-52 {
			t.Errorf("powers[%d] is %g, want %g", j, got, want)
		}
		if math.Abs(remnants[j]) > 0x1p-53 {
			t.Errorf("remnants[%d] is %g", j, remnants[j])
		}
		if got, want := inverses[j]*(1+float64(j)/15), 1.0; math.Abs(got-want) > 0.003 || inverses[j]*0x1p20 != math.Trunc(inverses[j]*0x1p20) {
			t.Errorf("inverses[%d] is %x", j, inverses[j])
		}
		if got, want := logs[j], -math.Log(inverses[j]); math.Abs(got-want) > 0x1p-53 {
			t.Errorf("logs[%d] is %g, want %g", j, got, want)
		}
	}
}
