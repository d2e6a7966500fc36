// Command samebits compares JSON results of pare that must agree to the last digit, except for the seconds they
// took and the names of what computed them (kernels, threads).
//
//	samebits REFERENCE OTHER...
//
// It prints the first difference of each file and exits with 1 if there is one.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: samebits REFERENCE OTHER...")
		os.Exit(2)
	}
	differ, err := compare(os.Stdout, os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "samebits:", err)
		os.Exit(2)
	}
	if differ {
		os.Exit(1)
	}
}

func compare(w io.Writer, reference string, others []string) (differ bool, err error) {
	want, err := load(reference)
	if err != nil {
		return false, err
	}
	for _, name := range others {
		got, err := load(name)
		if err != nil {
			return false, err
		}
		if d := difference("", want, got); d != "" {
			differ = true
			fmt.Fprintf(w, "%s differs from %s: %s\n", name, reference, d)
		}
	}
	return differ, nil
}

// load reads one JSON value. Numbers are kept as text and compared as text.
func load(name string) (any, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s: more than one JSON value", name)
	}
	return v, nil
}

// ignored are the members that say how a result was computed, not what it is.
var ignored = []string{"seconds", "kernels", "threads"}

// difference describes the first difference between two values, or returns "". path is the place of the values
// in the document.
func difference(path string, want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, key := range keys(want, got) {
			at := path + "." + key
			w, inWant := want[key]
			g, inGot := got[key]
			switch {
			case !inWant:
				return at + ": only in the second"
			case !inGot:
				return at + ": only in the first"
			}
			if d := difference(at, w, g); d != "" {
				return d
			}
		}
		return ""
	case []any:
		got, ok := got.([]any)
		if !ok {
			break
		}
		for i := range min(len(want), len(got)) {
			if d := difference(fmt.Sprintf("%s[%d]", path, i), want[i], got[i]); d != "" {
				return d
			}
		}
		if len(want) != len(got) {
			return fmt.Sprintf("%s: lengths %d and %d", path, len(want), len(got))
		}
		return ""
	default:
		if want == got {
			return ""
		}
	}
	return fmt.Sprintf("%s: %v and %v", path, want, got)
}

// keys returns the members of either object that are compared, sorted.
func keys(a, b map[string]any) []string {
	var all []string
	for _, m := range []map[string]any{a, b} {
		for key := range m {
			if !slices.Contains(ignored, key) {
				all = append(all, key)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
