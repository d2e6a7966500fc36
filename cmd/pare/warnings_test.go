package main

import (
	"strings"
	"testing"
)

// Columns of very different scale are a warning with a code, and none once they are taken
// at the same scale.
func TestColumnsOfDifferentScaleAreAWarning(t *testing.T) {
	file := writeFile(t, "scales.svm", "1 1:1 2:0.0001\n2 1:2 2:0.0005\n3 1:3 2:0.0002\n4 1:5 2:0.0003\n5 1:4 2:0.0004\n6 1:6 2:0.0009\n")
	for _, command := range []string{"info", "select"} {
		r := decoded[struct{ Warnings []warning }](t, exitOK, command, file)
		if len(r.Warnings) != 1 || r.Warnings[0].Code != "column_scales" || !strings.Contains(r.Warnings[0].Message, "column 2") {
			t.Errorf("%s: warnings %+v", command, r.Warnings)
		}
		if r := decoded[struct{ Warnings []warning }](t, exitOK, command, file, "--standardize"); len(r.Warnings) > 0 {
			t.Errorf("%s --standardize: warnings %+v", command, r.Warnings)
		}
		if o := pareRun(t, command, file); !strings.Contains(o.stdout, "--standardize takes") {
			t.Errorf("%s prints\n%s", command, o.stdout)
		}
	}
	if r := decoded[struct{ Warnings []warning }](t, exitOK, "info"); len(r.Warnings) > 0 {
		t.Errorf("the diabetes data: warnings %+v", r.Warnings)
	}
}
