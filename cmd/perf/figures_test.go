package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFiguresOfAnyFile(t *testing.T) {
	dir := t.TempDir()
	var text bytes.Buffer
	for i := range 60 { // y depends on the first column
		line := []string{"1 1:2", "-1 1:-2 3:1", "1 1:1.5 2:1", "-1 1:-1 2:-1"}[i%4]
		text.WriteString(line + " 4:" + []string{"1", "-2", "3"}[i%3] + "\n")
	}
	file := filepath.Join(dir, "any.svm")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := perf(t, 0, "figures", "paths", "cv-lasso", "--file", file, "--quick", "--data", dir, "-o", filepath.Join(dir, "out"))
	for _, name := range []string{"path-lasso-diabetes.csv", "path-enet-diabetes.svg", "cv-lasso.csv", "cv-lasso.svg", "cv-lasso-visits.csv"} {
		if info, err := os.Stat(filepath.Join(dir, "out", name)); err != nil || info.Size() == 0 || !strings.Contains(out, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var note record
	if b, err := os.ReadFile(filepath.Join(dir, "out", "cv-lasso.json")); err != nil || json.Unmarshal(b, &note) != nil || !strings.Contains(note.Command, "perf figures cv-lasso --quick --file") {
		t.Errorf("%v, %+v", err, note)
	}
}

func TestFiguresGoOnWhereTheyWere(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, "state.json")
	if _, errs := perf(t, 0, "figures", "multiclass", "--quick", "--data", dir, "-o", dir); !strings.Contains(errs, "multiclass left out") {
		t.Errorf("%s", errs)
	}
	args := []string{"figures", "paths", "time-lasso", "--quick", "--data", dir, "-o", dir, "--state", state}
	// Without the gina data the second figure is left out, which is not a failure.
	if _, errs := perf(t, 0, args...); !strings.Contains(errs, "time-lasso left out") {
		t.Errorf("%s", errs)
	}
	if _, err := os.Stat(state); err == nil {
		t.Error("a finished run leaves a state behind")
	}
	// A run that fails on the way does not repeat the parts that are done.
	if err := os.WriteFile(filepath.Join(dir, "gina_like.svm"), []byte("not svmlight\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _ := perf(t, 1, args...); !strings.Contains(out, "path-lasso-diabetes.csv") {
		t.Errorf("%s", out)
	}
	if out, _ := perf(t, 1, args...); strings.Contains(out, "path-lasso-diabetes.csv") {
		t.Errorf("it did what was done: %s", out)
	}
}

func TestFiguresByName(t *testing.T) {
	if out, _ := perf(t, 0, "figures", "--list"); !strings.Contains(out, "figure 10") {
		t.Errorf("%s", out)
	}
	if _, errs := perf(t, 2, "figures", "everything"); !strings.Contains(errs, "convergence-lasso") {
		t.Errorf("%s", errs)
	}
}
