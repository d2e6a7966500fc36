package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFiguresOfAnyFile(t *testing.T) {
	dir := t.TempDir()
	var text bytes.Buffer
	for i := range 60 { // y follows the first column
		line := []string{"1 1:2", "-1 1:-2 3:1", "1 1:1.5 2:1", "-1 1:-1 2:-1"}[i%4]
		text.WriteString(line + " 4:" + []string{"1", "-2", "3"}[i%3] + "\n")
	}
	file := filepath.Join(dir, "any.svm")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs := perf(t, 0, "figures", file, "--quick", "--data", dir, "-o", filepath.Join(dir, "out"))
	if !strings.Contains(errs, "left out") {
		t.Errorf("%s", errs)
	}
	for _, name := range []string{"path-lasso-diabetes.csv", "path-enet-diabetes.svg", "validation-curve.svg", "validation-time.svg", "validation-visits.csv"} {
		if info, err := os.Stat(filepath.Join(dir, "out", name)); err != nil || info.Size() == 0 || !strings.Contains(out, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
