package main

import (
	"math"
	"strings"
	"testing"
)

// TestClassWeights checks that class weights are weights of the rows of the class, and that
// balanced weights give all classes the same total.
func TestClassWeights(t *testing.T) {
	file := relabelled(t, above(200))
	var own, balanced strings.Builder
	positive, all := 0.0, 0.0
	for line := range strings.Lines(read(t, file)) {
		if all++; !strings.HasPrefix(line, "-") {
			positive++
		}
	}
	for line := range strings.Lines(read(t, file)) {
		w, b := "1\n", number(all/(2*(all-positive)))
		if !strings.HasPrefix(line, "-") {
			w, b = "3\n", number(all/(2*positive))
		}
		own.WriteString(w)
		balanced.WriteString(short(float64(b)) + "\n")
	}
	for flag, weights := range map[string]string{"1:3": own.String(), "-1:1,1:3": own.String(), "balanced": balanced.String()} {
		for _, command := range []string{"select", "fit --ratio=0.1", "grad --ratio=0.1"} {
			args := append(strings.Fields(command), "--model=logreg", file)
			plain := pareRun(t, args...)
			classes := pareRun(t, append(args, "--class-weight="+flag)...)
			rows := pareRun(t, append(args, "--sample-weights="+writeFile(t, "weights", weights))...)
			line := func(o outcomeOf) string { return strings.Split(o.stdout, "\n")[4] }
			if classes.code != exitOK || line(classes) != line(rows) || line(classes) == line(plain) {
				t.Errorf("pare %s --class-weight %s: exit %d, %q, with weights of rows %q, with none %q\n%s", command, flag, classes.code, line(classes), line(rows), line(plain), classes.stderr)
			}
			if !strings.Contains(classes.stdout, "--class-weight="+quote(flag)) {
				t.Errorf("what comes next has no weights:\n%s", classes.stdout)
			}
		}
	}
	for flag, want := range map[string]string{"2:1": "the classes are -1, 1", "heavy": "balanced, or CLASS:WEIGHT", "1:0": "positive", "1:much": "positive", "1:" + short(math.Inf(1)): "finite"} {
		if o := pareRun(t, "select", "--model=logreg", "--class-weight", flag, file); o.code == exitOK || !strings.Contains(o.stderr, want) {
			t.Errorf("--class-weight %s: exit %d, %s", flag, o.code, o.stderr)
		}
	}
	if o := pareRun(t, "select", "--class-weight=balanced"); o.code != exitUsage || !strings.Contains(o.stderr, "this target is a number") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}
