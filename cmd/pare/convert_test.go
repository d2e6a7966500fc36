package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestOutputsAreApart checks that a command does not overwrite one of its outputs with another.
func TestOutputsAreApart(t *testing.T) {
	for _, args := range [][]string{
		{"select", "--save=x.html", "--report=x.html"},
		{"report", "-o", "x.html", "--save=./x.html"},
		{"fit", "--ratio=.1", "--save=x.html", "--report=x.html"},
		{"select", "--save=x.svg", "--plot=x.svg"},
		{"select", "--save=x", "--checkpoint=x"},
		{"report", "--checkpoint=report.html"},
	} {
		if o := pareRun(t, args...); o.code != exitUsage || !strings.Contains(o.stderr, "is also the file of") || o.stdout != "" {
			t.Errorf("%v: exit %d, %s", args, o.code, o.stderr)
		}
	}
}

// TestInputsAreNotWrittenOver checks that a command does not overwrite its inputs.
func TestInputsAreNotWrittenOver(t *testing.T) {
	data := writeFile(t, "diabetes.svm", readDiabetes(t))
	model := filepath.Join(t.TempDir(), "model")
	if o := pareRun(t, "fit", "--ratio=0.1", "--save", model, data); o.code != exitOK {
		t.Fatal(o.stderr)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(data, link); err != nil {
		t.Skip(err)
	}
	for _, args := range [][]string{
		{"convert", data, data}, {"convert", data, link}, {"predict", model, data, "--output", data}, {"predict", model, link, "--output", data}, {"predict", model, data, "--output", model},
	} {
		if o := pareRun(t, args...); o.code != exitUsage || !strings.Contains(o.stderr, "is read, and would be overwritten") {
			t.Errorf("%q: exit %d: %s", args, o.code, o.stderr)
		}
	}
	if text, err := os.ReadFile(data); err != nil || string(text) != readDiabetes(t) {
		t.Error("the data have changed")
	}
}

// TestConvertedDataAreTheSame checks that converted data give the choice of the original file, with its names and
// labels, and that the resulting models read rows of that file.
func TestConvertedDataAreTheSame(t *testing.T) {
	people := writeFile(t, "people.csv", people)
	lines := writeFile(t, "diabetes.svm", readDiabetes(t))
	for _, c := range []struct {
		file        string
		read, model []string
	}{
		{lines, nil, nil},
		{people, []string{"--target=outcome", "--drop=id", "--one-hot", "--missing=mean"}, []string{"--model=logreg", "--folds=3"}},
	} {
		out := filepath.Join(t.TempDir(), "data.pare")
		r := decoded[convertResult](t, exitOK, append([]string{"convert", c.file, out}, c.read...)...)
		if info, err := os.Stat(out); err != nil || info.Size() != r.Bytes || r.N == 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		kept := filepath.Join(t.TempDir(), "model")
		want := decoded[selectResult](t, exitOK, append(append([]string{"select", "--coef", c.file}, c.read...), c.model...)...)
		got := decoded[selectResult](t, exitOK, append([]string{"select", "--coef", "--save=" + kept, out}, c.model...)...)
		if got.Value != want.Value || !reflect.DeepEqual(got.LogLambda, want.LogLambda) || !reflect.DeepEqual(got.Final.Coef, want.Final.Coef) || !reflect.DeepEqual(got.Final.Labels, want.Final.Labels) {
			t.Errorf("%s: %+v, want %+v", c.file, got.Final, want.Final)
		}
		fromFile, fromMap := pareRun(t, "predict", "--quiet", kept, c.file), pareRun(t, "predict", "--quiet", kept, out)
		if fromFile.code != exitOK || fromFile.stdout != fromMap.stdout || strings.Count(fromMap.stdout, "\n") != r.N {
			t.Errorf("%s: predictions\n%s%s%s%s", c.file, fromFile.stdout, fromFile.stderr, fromMap.stdout, fromMap.stderr)
		}
	}
	cut := filepath.Join(t.TempDir(), "cut.pare")
	if o := pareRun(t, "convert", lines, cut); o.code != exitOK {
		t.Fatal(o.stderr)
	}
	if err := os.Truncate(cut, 4096); err != nil {
		t.Fatal(err)
	}
	if o := pareRun(t, "select", cut); o.code != exitFailed || !strings.Contains(o.stderr, "damaged") {
		t.Errorf("exit %d\n%s", o.code, o.stderr)
	}
	if o := pareRun(t, "convert", lines); o.code != exitUsage {
		t.Errorf("exit %d\n%s", o.code, o.stderr)
	}
	if o := pareRun(t, "convert", lines, filepath.Join(cut, "inside")); o.code != exitFailed || !strings.Contains(o.stderr, "cannot write") {
		t.Errorf("exit %d\n%s", o.code, o.stderr)
	}
}

// TestDamagedDataAreRefused checks that every command that reads data notices a flipped bit of a number in the file,
// and prints no result.
func TestDamagedDataAreRefused(t *testing.T) {
	lines, model := writeFile(t, "diabetes.svm", readDiabetes(t)), filepath.Join(t.TempDir(), "model")
	out := filepath.Join(t.TempDir(), "data.pare")
	if o := pareRun(t, "convert", lines, out); o.code != exitOK {
		t.Fatal(o.stderr)
	}
	if o := pareRun(t, "fit", "--ratio=0.1", "--save", model, out); o.code != exitOK {
		t.Fatal(o.stderr)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)*2/3] ^= 1
	if err := os.WriteFile(out, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"fit", "--ratio=0.1", out}, {"select", out}, {"path", out}, {"info", out}, {"predict", model, out}, {"convert", out, out + "2"}} {
		if o := pareRun(t, args...); o.code != exitFailed || !strings.Contains(o.stderr, "checksum") || o.stdout != "" {
			t.Errorf("%q: exit %d, %s%s", args[0], o.code, o.stdout, o.stderr)
		}
	}
}
