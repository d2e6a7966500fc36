package main

import (
	"strings"
	"testing"
)

// What is said of columns one by one means the same by name, by number and in a file, and comes
// back in the commands that go on from a result.
func TestPenaltyFactors(t *testing.T) {
	table := "../../docs/data/diabetes.csv"
	factors := strings.Repeat("1\n", 10)
	for _, command := range []string{"select", "fit --ratio=0.1", "grad --ratio=0.1", "path --points=5"} {
		args := append(strings.Fields(command), "--target=progression", table)
		plain := pareRun(t, args...)
		named := pareRun(t, append(args, "--penalty-factors=bmi=0,s5=2.5,age=inf")...)
		listed := pareRun(t, append(args, "--penalty-factors="+writeFile(t, "factors", "inf\n1\n0\n1\n1\n1\n1\n1\n2.5\n1\n"))...)
		same := pareRun(t, append(args, "--penalty-factors="+writeFile(t, "ones", factors))...)
		line := func(o outcomeOf) string { // but for its seconds
			line := strings.Split(o.stdout, "\n")[4]
			return line[:min(len(line), 55)]
		}
		if named.code != exitOK || line(named) != line(listed) || line(named) == line(plain) || line(same) != line(plain) {
			t.Errorf("pare %s: exit %d, by name %q, in a file %q, none %q, ones %q\n%s", command, named.code, line(named), line(listed), line(plain), line(same), named.stderr)
		}
		if strings.Contains(plain.stdout, "next") && !strings.Contains(named.stdout, "--penalty-factors='bmi=0,s5=2.5,age=inf'") {
			t.Errorf("what comes next has no factors:\n%s", named.stdout)
		}
	}
	// The embedded data has no names, and --min-nnz leaves columns out of the matrix, not of the numbering.
	if o := pareRun(t, "fit", "--ratio=0.5", "--penalty-factors=3=0", "--min-nnz=2"); !strings.Contains(o.stdout, "3: +") {
		t.Errorf("by number: %s%s", o.stdout, o.stderr)
	}
	short := writeFile(t, "short", "1\n1\n")
	for flag, want := range map[string]string{
		"nothing=1": `no column "nothing"`, "bmi": "cannot be opened", "bmi=one": "not a number", "bmi=1,2": "COLUMN=NUMBER", "bmi=-1": "a factor is 0, +Inf", short: "2 values for 10 columns",
	} {
		if o := pareRun(t, "select", "--target=progression", "--penalty-factors="+flag, table); o.code == exitOK || !strings.Contains(o.stderr, want) {
			t.Errorf("--penalty-factors %s: exit %d, %s", flag, o.code, o.stderr)
		}
	}
	if o := pareRun(t, "select", "--model=wlasso", "--penalty-factors=3=0"); o.code != exitUsage || !strings.Contains(o.stderr, "one strength for all") {
		t.Errorf("wlasso: exit %d, %s", o.code, o.stderr)
	}
}
