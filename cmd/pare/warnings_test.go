package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestColumnsOfDifferentScaleAreAWarning checks that columns of very different scales give a warning with a code, and
// none once they are standardised.
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
		if o := pareRun(t, command, file); !strings.Contains(o.stdout, "--standardize puts") {
			t.Errorf("%s prints\n%s", command, o.stdout)
		}
	}
	if r := decoded[struct{ Warnings []warning }](t, exitOK, "info"); len(r.Warnings) > 0 {
		t.Errorf("the diabetes data: warnings %+v", r.Warnings)
	}
}

// TestTargetAmongTheColumnsIsAWarning checks that a column equal to the target, in any unit, gives a warning. This
// happens when the target comes from another file, which does not remove the column of the table.
func TestTargetAmongTheColumnsIsAWarning(t *testing.T) {
	target := func(i int) float64 { return float64(i*i%17) + 0.25 }
	rows := lines("x,price,z\n", 20, func(i int) string { return fmt.Sprintf("%d,%g,%d\n", i*7%13, 10*target(i)-3, i*i*i%11) })
	table := writeFile(t, "table.csv", rows)
	own := writeFile(t, "y.txt", lines("", 20, func(i int) string { return fmt.Sprintf("%g\n", target(i)) }))
	for _, command := range []string{"info", "select"} {
		args := []string{command, "--target=" + own, table}
		r := decoded[struct{ Warnings []warning }](t, exitOK, args...)
		if len(r.Warnings) != 1 || r.Warnings[0].Code != "target_column" || !strings.Contains(r.Warnings[0].Message, ": price equals") {
			t.Errorf("%s: %+v", command, r.Warnings)
		}
		if r := decoded[struct{ Warnings []warning }](t, exitOK, append(args, "--drop=price")...); len(r.Warnings) > 0 {
			t.Errorf("%s without it: %+v", command, r.Warnings)
		}
	}
	classes := lines("", 20, func(i int) string {
		return fmt.Sprintf("%d 1:%d 2:%d", i%3/2, i*7%13, i*i%5) + []string{"", "", " 3:4"}[i%3] + "\n"
	})
	r := decoded[struct{ Warnings []warning }](t, exitOK, "info", "--model=logreg", writeFile(t, "classes.svm", classes))
	if len(r.Warnings) != 1 || r.Warnings[0].Code != "target_column" || !strings.Contains(r.Warnings[0].Message, ": column 3 equals") {
		t.Errorf("classes: %+v", r.Warnings)
	}
}

// TestIdentifiersAreAWarning checks that a column with a category for every row, such as an identifier, gives a
// warning, and that one with few categories does not.
func TestIdentifiersAreAWarning(t *testing.T) {
	rows := lines("id,kind,x,y\n", 40, func(i int) string { return fmt.Sprintf("u%d,k%d,%d,%d.5\n", i, i%10, i*i%11, i*7%13) })
	args := []string{"select", "--one-hot", "--target=y", writeFile(t, "ids.csv", rows)}
	r := decoded[selectResult](t, exitOK, args...)
	if len(r.Warnings) != 1 || r.Warnings[0].Code != "many_categories" || !strings.HasPrefix(r.Warnings[0].Message, "column \"id\": more than half") {
		t.Errorf("%+v", r.Warnings)
	}
	if r := decoded[selectResult](t, exitOK, append(args, "--drop=id")...); len(r.Warnings) > 0 {
		t.Errorf("without it: %+v", r.Warnings)
	}
}

// TestEveryCommandSaysHowItReadTheFile checks that every command that reads a file reports the decisions it made by
// default.
func TestEveryCommandSaysHowItReadTheFile(t *testing.T) {
	rows := lines(",x,y\n", 20, func(i int) string { return fmt.Sprintf("%d,%d,%d.5\n", 7*i%20, i*i%11, i*i*i%13) })
	file := writeFile(t, "frame.csv", rows)
	for _, command := range []string{"info", "select", "fit --ratio=0.1", "grad --ratio=0.1", "path --points=3", "convert"} {
		args := append(strings.Fields(command), "--target=y", file)
		if command == "convert" {
			args = append(args, filepath.Join(t.TempDir(), "out"))
		}
		r := decoded[struct{ Warnings []warning }](t, exitOK, args...)
		if len(r.Warnings) != 1 || r.Warnings[0].Code != "row_labels" {
			t.Errorf("%s: %+v", command, r.Warnings)
		}
		if o := pareRun(t, args...); !strings.Contains(flat(o.stdout), "column 1: row labels") {
			t.Errorf("%s prints\n%s", command, o.stdout)
		}
	}
}

// TestUntrustedChoicesAreAWarning checks that an untrusted choice gives a warning with advice that fits the reason.
// Here the choice, computed to the last digits, lies at a λ where columns enter.
func TestUntrustedChoicesAreAWarning(t *testing.T) {
	rows := lines("a,b,copy,y\n", 60, func(i int) string {
		return fmt.Sprintf("%d,%d,%d,%d.5\n", i*i%11, i*7%5, i*i%11, 2*(i*i%11)+3*(i*i*i%29))
	})
	loosely := []string{"select", "--model=group", "--column-groups=size:1", "--target=y", writeFile(t, "copies.csv", rows)}
	args := append(slices.Clone(loosely), "--precision")
	r := decoded[selectResult](t, exitUntrusted, args...)
	if len(r.Warnings) != 1 || r.Warnings[0].Code != "untrusted" || !strings.Contains(r.Warnings[0].Message, "--search halton uses values only") {
		t.Errorf("%+v", r.Warnings)
	}
	if o := pareRun(t, args...); strings.Contains(o.stdout, "raise --tol") || !strings.Contains(flat(o.stdout), "cannot be trusted: a column is about to enter or leave") {
		t.Errorf("%s", o.stdout)
	}
	if r := decoded[selectResult](t, exitOK, append(loosely, "--search=halton", "--evaluations=10")...); r.Warnings != nil {
		t.Errorf("by values alone: %+v", r.Warnings)
	}
}

// TestInfoSaysWhyThereIsNoAlphaMax checks that info explains a missing αmax in the words of select.
func TestInfoSaysWhyThereIsNoAlphaMax(t *testing.T) {
	rows := lines("tiny,big,y\n", 30, func(i int) string { return fmt.Sprintf("%de-200,%de200,%d.5\n", i*i%7, i*i%11, i%13) })
	file := writeFile(t, "huge.csv", rows)
	const want = "\"tiny\": the squared norm underflows"
	r := decoded[infoResult](t, exitOK, "info", "--target=y", file)
	if len(r.Warnings) != 1 || r.Warnings[0].Code != "no_alpha_max" || !strings.Contains(r.Warnings[0].Message, want) {
		t.Errorf("%+v", r.Warnings)
	}
	if o := pareRun(t, "info", "--target=y", file); !strings.Contains(flat(o.stdout), want) || strings.Contains(o.stdout, "no row") {
		t.Errorf("%s", o.stdout)
	}
	if o := pareRun(t, "select", "--target=y", file); !strings.Contains(o.stderr, want) {
		t.Errorf("select says %s", o.stderr)
	}
}
