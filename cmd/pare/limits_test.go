package main

import (
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/outcome"
)

// TestReadingLimits checks that flags and the environment limit rows and memory, for data in
// every format, before there is a matrix.
func TestReadingLimits(t *testing.T) {
	csv := writeFile(t, "data.csv", "y,a,b\n"+strings.Repeat("1,2,3\n", 5000))
	svm := writeFile(t, "data.svm", strings.Repeat("1 1:2 2:3\n", 5000))
	wide := writeFile(t, "wide.svm", "1 67000000:1\n")
	market := writeFile(t, "data.mtx", "%%MatrixMarket matrix coordinate real general\n5000 2 9999999\n1 1 1\n")
	array := writeFile(t, "array.mtx", "%%MatrixMarket matrix array real general\n5000 1\n"+strings.Repeat("1\n", 5000))
	for _, c := range []struct {
		file, flag, value string
		refused           bool
	}{
		{csv, "max-rows", "4999", true},
		{csv, "max-rows", "5000", false},
		{svm, "max-rows", "4999", true},
		{svm, "max-rows", "5000", false},
		{market, "max-rows", "10", true},
		{csv, "max-bytes", "100K", true},
		{csv, "max-bytes", "1M", false},
		{svm, "max-bytes", "100kb", true},
		{svm, "max-bytes", "1M", false},
		{wide, "max-bytes", "1G", true},
		{market, "max-bytes", "0.1G", true},
		{array, "max-bytes", "200K", true},
		{array, "max-bytes", "1M", false},
	} {
		args := []string{"info", "--json", c.file, "--" + c.flag + "=" + c.value}
		o := pareRun(t, args...)
		if refused := strings.Contains(o.stdout, `"kind":"limit"`) && strings.Contains(o.stdout, `"flag":"`+c.flag); refused != c.refused || refused != (o.code == exitFailed) && c.refused {
			t.Errorf("%q: exit %d, %s", args, o.code, o.stdout)
		}
	}
	t.Setenv("PARE_MAX_ROWS", "7")
	if o := pareRun(t, "info", "--json", csv); o.code != exitFailed || !strings.Contains(o.stdout, "more than 7 rows") {
		t.Errorf("exit %d, %s", o.code, o.stdout)
	}
	for _, size := range []string{"0", "-1", "1X", "NaN", "1e40", ""} {
		if o := pareRun(t, "info", "--max-bytes="+size, csv); o.code != exitUsage {
			t.Errorf("--max-bytes=%s: exit %d", size, o.code)
		}
	}
	if o := pareRun(t, "info", "--json", "--max-rows=-1", csv); o.code != exitUsage && !strings.Contains(o.stdout, string(outcome.BadParameter)) {
		t.Error(o)
	}
}

// TestAMomentIsALimit checks that any positive time limit, however short, is a limit, and that
// 0 is none.
func TestAMomentIsALimit(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		limited bool
	}{{0, false}, {1e-12, true}, {1e-9, true}, {2, true}} {
		if d := (searchFlags{MaxSeconds: c.seconds}).options().MaxDuration; (d > 0) != c.limited {
			t.Errorf("%g s: %v", c.seconds, d)
		}
	}
}
