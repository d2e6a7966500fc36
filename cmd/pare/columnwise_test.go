package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestPenaltyFactors checks that options for single columns mean the same by name, by number and in a file,
// and are repeated in the commands suggested after a result.
func TestPenaltyFactors(t *testing.T) {
	table := "../../docs/data/diabetes.csv"
	factors := strings.Repeat("1\n", 10)
	for _, command := range []string{"select", "fit --ratio=0.1", "grad --ratio=0.1", "path --points=5"} {
		args := append(strings.Fields(command), "--target=progression", table)
		plain := pareRun(t, args...)
		named := pareRun(t, append(args, "--penalty-factors=bmi=0,s5=2.5,age=inf")...)
		listed := pareRun(t, append(args, "--penalty-factors="+writeFile(t, "factors", "inf\n1\n0\n1\n1\n1\n1\n1\n2.5\n1\n"))...)
		same := pareRun(t, append(args, "--penalty-factors="+writeFile(t, "ones", factors))...)
		line := func(o outcomeOf) string { // without its seconds
			line := strings.Split(o.stdout, "\n")[4]
			return line[:min(len(line), 46)]
		}
		if named.code != exitOK || line(named) != line(listed) || line(named) == line(plain) || line(same) != line(plain) {
			t.Errorf("pare %s: exit %d, by name %q, in a file %q, none %q, ones %q\n%s", command, named.code, line(named), line(listed), line(plain), line(same), named.stderr)
		}
		if strings.Contains(plain.stdout, "next") && !strings.Contains(named.stdout, "--penalty-factors='bmi=0,s5=2.5,age=inf'") {
			t.Errorf("what comes next has no factors:\n%s", named.stdout)
		}
	}
	// The embedded data have no names; --min-nnz drops columns from the matrix but does not renumber them.
	if o := pareRun(t, "fit", "--ratio=0.5", "--penalty-factors=3=0", "--min-nnz=2"); !strings.Contains(o.stdout, "3: +") {
		t.Errorf("by number: %s%s", o.stdout, o.stderr)
	}
	// In a file with names, a number still is the position of the column in the file, as for --drop.
	byName := pareRun(t, "fit", "--ratio=0.5", "--target=progression", table, "--penalty-factors=bmi=0")
	position := slices.Index(strings.Split(strings.SplitN(read(t, table), "\n", 2)[0], ","), "bmi") + 1
	for _, number := range []int{position, position - 12} {
		o := pareRun(t, "fit", "--ratio=0.5", "--target=progression", table, fmt.Sprintf("--penalty-factors=%d=0", number))
		if support := func(o outcomeOf) string { return strings.Split(o.stdout, "\n")[4] }; o.code != exitOK || support(o) != support(byName) {
			t.Errorf("column %d: %s%s", number, o.stdout, o.stderr)
		}
	}
	short := writeFile(t, "short", "1\n1\n")
	for flag, want := range map[string]string{
		"nothing=1": `no column "nothing"`, "bmi": "cannot be opened", "bmi=one": "not a number", "bmi=1,2": "COLUMN=NUMBER", "bmi=-1": "a factor must be 0, +Inf", short: "2 values for 10 columns",
	} {
		if o := pareRun(t, "select", "--target=progression", "--penalty-factors="+flag, table); o.code == exitOK || !strings.Contains(o.stderr, want) {
			t.Errorf("--penalty-factors %s: exit %d, %s", flag, o.code, o.stderr)
		}
	}
	if o := pareRun(t, "select", "--model=wlasso", "--penalty-factors=3=0"); o.code != exitUsage || !strings.Contains(o.stderr, "one strength for all") {
		t.Errorf("wlasso: exit %d, %s", o.code, o.stderr)
	}
}

// TestBounds checks that bounds apply to the printed coefficients, and that a single number bounds all
// penalised columns.
func TestBounds(t *testing.T) {
	table := "../../docs/data/diabetes.csv"
	type fit struct {
		Status  string
		AtBound int `json:"at_bound"`
		Coef    struct {
			Name  []string
			Value []float64
		}
	}
	flags := []string{"--target=progression", "--standardize", "--coef", "--penalty-factors=age=0", table}
	for _, command := range []string{"fit --ratio=0.05", "select"} {
		for bounds, want := range map[string]int{"--lower=-100 --upper=300": 3, "--upper=bmi=250,s5=0": 1} {
			args := append(append(strings.Fields(command), strings.Fields(bounds)...), flags...)
			var r fit
			if command == "select" {
				r = decoded[struct{ Final fit }](t, exitOK, args...).Final
			} else {
				r = decoded[fit](t, exitOK, args...)
			}
			at := 0
			for k, b := range r.Coef.Value {
				switch {
				case r.Coef.Name[k] == "age":
				case strings.Contains(bounds, "lower") && (b < -100 || b > 300), r.Coef.Name[k] == "s5" && strings.Contains(bounds, "s5"):
					t.Errorf("%s %s: %s has %g", command, bounds, r.Coef.Name[k], b)
				case b == -100 || b == 300, b == 250 && r.Coef.Name[k] == "bmi":
					at++
				}
			}
			if r.Status != "converged" || r.AtBound != at || at < want {
				t.Errorf("%s %s: %s, %d at a bound, %d counted, %d wanted: %+v", command, bounds, r.Status, r.AtBound, at, want, r.Coef)
			}
		}
	}
	for flags, want := range map[string]string{
		"--lower=1": "must allow a coefficient of 0", "--upper=bmi=-1": "must allow a coefficient of 0", "--lower=nothing=0": `no column "nothing"`,
		"--upper=1 --model=ridge": "ridge does not support bounds", "--upper=bmi=1 --penalty-factors=bmi=0": "needs an ℓ1 strength",
	} {
		args := append([]string{"select", "--target=progression", table}, strings.Fields(flags)...)
		if o := pareRun(t, args...); o.code == exitOK || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: exit %d, %s", flags, o.code, o.stderr)
		}
	}
}

// TestRelaxed checks that --relaxed prints and saves the refit without penalty.
func TestRelaxed(t *testing.T) {
	table, model := "../../docs/data/diabetes.csv", t.TempDir()+"/model"
	type result struct {
		Value   float64
		Relaxed struct {
			Value, Intercept float64
			Coef             struct{ Value []float64 }
		}
	}
	chosen := decoded[result](t, exitOK, "select", "--relaxed", "--coef", "--target=progression", "--save="+model, table)
	if r := chosen.Relaxed; !(r.Value > 0) || r.Value == chosen.Value || len(r.Coef.Value) == 0 {
		t.Errorf("%+v", chosen)
	}
	kept := decoded[inspectResult](t, exitOK, "inspect", model).Scores[0].Coef.Value
	if len(kept) != len(chosen.Relaxed.Coef.Value) || float64(kept[0]) != chosen.Relaxed.Coef.Value[0] {
		t.Errorf("kept %v, the refit has %v", kept, chosen.Relaxed.Coef)
	}
	if o := pareRun(t, "fit", "--ratio=0.1", "--relaxed"); !strings.Contains(o.stdout, "relaxed        without penalty on these columns:") {
		t.Errorf("%s%s", o.stdout, o.stderr)
	}
	if o := pareRun(t, "select", "--model=ridge", "--relaxed"); o.code != exitUsage || !strings.Contains(o.stderr, "--relaxed") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}
