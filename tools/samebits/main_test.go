package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestDifference(t *testing.T) {
	for _, test := range []struct{ name, a, b, want string }{
		{"equal", `{"value": 1.5, "coef": {"index": [1]}}`, `{"coef": {"index": [1]}, "value": 1.5}`, ""},
		{"seconds do not count, at any depth", `{"seconds": 1, "final": {"seconds": {"solve": 2}, "kernels": "avx2"}}`, `{"final": {"threads": 2}}`, ""},
		{"the last digit", `{"value": 0.1}`, `{"value": 0.10000000000000002}`, ".value: 0.1 and 0.10000000000000002"},
		{"digits no float64 can tell apart", `[0.1]`, `[0.10]`, "[0]: 0.1 and 0.10"},
		{"the sign of zero", `[0]`, `[-0]`, "[0]: 0 and -0"},
		{"a missing member", `{"a": 1, "b": 2}`, `{"a": 1}`, ".b: only in the first"},
		{"a new member", `{"a": 1}`, `{"a": 1, "b": 2}`, ".b: only in the second"},
		{"a longer list", `{"g": [1]}`, `{"g": [1, 2]}`, ".g: lengths 1 and 2"},
		{"another type", `{"g": [1]}`, `{"g": 1}`, ".g: [1] and 1"},
		{"null", `{"g": null}`, `{"g": 1}`, ".g: <nil> and 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, b := write(t, test.a), write(t, test.b)
			want, err := load(a)
			if err != nil {
				t.Fatal(err)
			}
			got, err := load(b)
			if err != nil {
				t.Fatal(err)
			}
			if d := difference("", want, got); d != test.want {
				t.Errorf("got %q, want %q", d, test.want)
			}
			differ, err := compare(io.Discard, a, []string{a, b})
			if err != nil || differ != (test.want != "") {
				t.Errorf("compare: %v, %v", differ, err)
			}
		})
	}
}

// TestBadInputIsAnError checks that a truncated result, or a second result after the first, is
// an error.
func TestBadInputIsAnError(t *testing.T) {
	good := write(t, `{}`)
	for _, text := range []string{``, `{"value": 1`, `{} {}`} {
		if _, err := compare(io.Discard, good, []string{write(t, text)}); err == nil {
			t.Errorf("%q passed", text)
		}
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "result.json")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
