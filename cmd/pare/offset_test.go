package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOffset checks that the predicted mean count is that at exposure 1 times the exposure,
// that offsets from a file and from a column are equivalent, and that invalid offsets are
// refused under the name of the flag.
func TestOffset(t *testing.T) {
	var table, logs strings.Builder
	table.WriteString("count,a,b,log_exposure\n")
	const n = 60
	for i := range n {
		o := math.Log(1 + float64(i%4)/4)
		fmt.Fprintf(&table, "%d,%g,%g,%.17g\n", (i*i)%7, math.Sin(float64(i)), float64(i%5), o)
		fmt.Fprintf(&logs, "%.17g\n", o)
	}
	data, file := writeFile(t, "counts.csv", table.String()), writeFile(t, "logs", logs.String())
	model := filepath.Join(t.TempDir(), "model")
	fitted := func(args ...string) (objective float64) {
		return decoded[struct{ Objective float64 }](t, exitOK, append([]string{"fit", "--model=poisson", "--ratio=0.1", "--target=count", data}, args...)...).Objective
	}
	byColumn := fitted("--offset=log_exposure", "--save="+model)
	if byFile := fitted("--drop=log_exposure", "--offset="+file); byFile != byColumn {
		t.Errorf("Φ = %g by column, %g by file", byColumn, byFile)
	}
	if without := fitted("--drop=log_exposure"); without == byColumn {
		t.Errorf("Φ = %g with offset and without", without)
	}
	type predicted struct {
		Predictions []float64
		Warnings    []struct{ Code string }
	}
	plain := decoded[predicted](t, exitOK, "predict", model, data)
	if len(plain.Warnings) != 1 || plain.Warnings[0].Code != "no_offset" {
		t.Errorf("warnings %v", plain.Warnings)
	}
	exposed := decoded[predicted](t, exitOK, "predict", model, data, "--offset="+file)
	if len(exposed.Warnings) > 0 {
		t.Errorf("warnings %v", exposed.Warnings)
	}
	if named := decoded[predicted](t, exitOK, "predict", model, data, "--offset=log_exposure"); !slices.Equal(named.Predictions, exposed.Predictions) || len(named.Warnings) > 0 {
		t.Errorf("by column %v, %v, by file %v", named.Predictions, named.Warnings, exposed.Predictions)
	}
	for i, mean := range exposed.Predictions {
		if want := plain.Predictions[i] * (1 + float64(i%4)/4); math.Abs(mean-want) > 1e-12*want {
			t.Errorf("row %d: %g, want %g", i, mean, want)
		}
	}
	short := writeFile(t, "short", "0\n1\n")
	bad := writeFile(t, "bad.csv", "a,b,log_exposure\n1,2,0\n1,2,many\n")
	for _, args := range [][]string{
		{"predict", model, bad, "--offset=log_exposure"},
		{"predict", model, data, "--offset=" + short},
		{"fit", "--model=poisson", "--ratio=0.1", "--target=count", data, "--offset=" + short},
	} {
		if e := decoded[failure](t, exitFailed, append([]string{args[0], "--json"}, args[1:]...)...).Error; e.Flag != "offset" {
			t.Errorf("%v: flag %q, %s", args, e.Flag, e.Message)
		}
	}
	if e := decoded[failure](t, exitUsage, "predict", "--json", model, data, "--offset=log_exposures").Error; e.Flag != "offset" {
		t.Errorf("neither a column nor a file: flag %q, %s", e.Flag, e.Message)
	}
}
