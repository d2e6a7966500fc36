package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestReport checks that every command with a report writes one for each model it supports,
// with the charts of the model, and prints where it is.
func TestReport(t *testing.T) {
	file := relabelled(t, above(140))
	classes := relabelled(t, thirds)
	dir := t.TempDir()
	for _, test := range []struct {
		line string
		want []string
	}{
		{"report", []string{"criterion-curve", "coefficient-path", "residual-histogram", "one-SE rule", "5 folds"}},
		{"report --model=enet", []string{"level-sets", "visits"}},
		{"report --model=wlasso", []string{"visits", "coefficients-original", "predicted"}},
		{"report --model=ridge", []string{"criterion-curve", "coefficient-path"}},
		{"report --criterion=sure", []string{"criterion-curve", "predicted"}},
		{"select --split=forward", []string{"criterion-curve", "predicted"}},
		{"select --min-nnz=1 " + file, []string{"criterion-curve", "column 3"}},
		{"select --model=logreg --criterion=holdout " + file, []string{"roc", "calibration", "Confusion"}},
		{"select --model=svm " + file, []string{"criterion-curve", "roc", "Confusion"}},
		{"select --model=multiclass " + classes, []string{"criterion-curve", "The classes", "Confusion"}},
		{"select --model=multiclass --per-class " + classes, []string{"visits", "The classes", "Confusion"}},
		{"fit --ratio=0.1", []string{"criterion-curve", "coefficient-path", "residual-histogram"}},
		{"fit --ratio=1", []string{"criterion-curve", "0 of 10 columns"}},
		{"fit --model=enet --ratio=0.1", []string{"level-sets"}},
		{"path --points=5", []string{"criterion-curve", "the point marked"}},
		{"select --one-se", []string{"criterion-curve", "minimum", "residual-histogram"}},
		{"fit --model=enet --log-lambda=-inf,-8", []string{"criterion-curve", "level-sets", "ridge strength α₂ as a share"}},
		{"select --loss=poisson --penalty=enet", []string{"criterion-curve", "level-sets"}},
	} {
		line, want := test.line, test.want
		page := filepath.Join(dir, strings.Map(func(r rune) rune {
			if r == '/' || r == ' ' {
				return '-'
			}
			return r
		}, line)+".html")
		flag := "--report=" + page
		if strings.HasPrefix(line, "report") {
			flag = "--output=" + page
		}
		o := pareRun(t, append(strings.Fields(line), flag)...)
		if o.code != exitOK {
			t.Errorf("pare %s: exit %d\n%s%s", line, o.code, o.stdout, o.stderr)
			continue
		}
		if !strings.Contains(o.stdout, "report") || !strings.Contains(flat(o.stdout), "KiB") {
			t.Errorf("pare %s does not say where the page is\n%s", line, o.stdout)
		}
		text := read(t, page)
		for _, part := range append(want, "How to repeat it", "pare "+strings.Fields(line)[0]) {
			if !strings.Contains(text, part) {
				t.Errorf("pare %s: no %q in the page", line, part)
			}
		}
		if strings.Contains(text, "NaN") || strings.Contains(text, "missing") || len(text) > 1<<20 {
			t.Errorf("pare %s: a page of %d bytes, with parts that are no numbers or are missing", line, len(text))
		}
	}
}

// TestReportGoesToAPage checks that a page which cannot be written is reported before the work,
// and that no other file is overwritten.
func TestReportGoesToAPage(t *testing.T) {
	for _, test := range []struct{ path, want string }{
		{filepath.Join(t.TempDir(), "no", "page.html"), "cannot write the page"},
		{filepath.Join(t.TempDir(), "data.svm"), "ends in .html"},
	} {
		o := pareRun(t, "select", "--report", test.path)
		if o.code == exitOK || !strings.Contains(o.stderr, test.want) {
			t.Errorf("%s: exit %d, %s", test.path, o.code, o.stderr)
		}
		if o := pareRun(t, "report", "-o", test.path); o.code == exitOK || !strings.Contains(o.stderr, "--output: ") || !strings.Contains(o.stderr, test.want) {
			t.Errorf("%s: exit %d, %s", test.path, o.code, o.stderr)
		}
	}
	if o := pareRun(t, "report", "--report", "a.html", "-o", "b.html"); o.code != exitUsage || !strings.Contains(o.stderr, "give only one of them") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}

// TestInterruptedReportHasTheRest checks that an interrupt while the page is made does not lose
// the result, and that the page says which parts are missing.
func TestInterruptedReportHasTheRest(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	for after := time.Millisecond; after < time.Minute; after *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		o := pareRunWith(ctx, "", "select", "--report", page)
		cancel()
		text, err := os.ReadFile(page)
		if err == nil && o.code == exitOK {
			if done := !strings.Contains(string(text), "Interrupted: charts"); done && !strings.Contains(string(text), "residual-histogram") {
				t.Errorf("after %v the page is not whole and does not say so", after)
			} else if done {
				return
			}
		}
	}
	t.Error("no page in a minute")
}

// TestReportCountsWeights checks that the page of a selection weights rows as the selection
// does.
func TestReportCountsWeights(t *testing.T) {
	draw := oracle.NewRandom(3)
	var text strings.Builder
	total := 0
	text.WriteString("y,x,w\n")
	for i := range 200 {
		x, weight := draw.Normal(), i*i%3*(i%5%3)
		label := "no"
		if x+draw.Normal() > 0 {
			label = "yes"
		}
		fmt.Fprintf(&text, "%s,%g,%d\n", label, x, weight)
		total += weight
	}
	page := filepath.Join(t.TempDir(), "page.html")
	o := pareRun(t, "select", "--model=logreg", "--target=y", "--sample-weights=w", "--report="+page, writeFile(t, "w.csv", text.String()))
	written, err := os.ReadFile(page)
	if want := fmt.Sprintf(" of %d rows are right", total); o.code != exitOK || err != nil || !strings.Contains(string(written), want) {
		t.Errorf("exit %d, %v, without %q: %s", o.code, err, want, o.stderr)
	}
}
