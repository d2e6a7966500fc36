//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSignaturesAreOutsideOfBodies checks that numbers in a function's signature, such as array lengths, are not part
// of its body, so that mutated copies of the body leave them unchanged.
func TestSignaturesAreOutsideOfBodies(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f.go")
	text := "package f\n\nfunc f(a [3]int) (b [4]int) {\n\tb[0] = a[1] + 2\n\treturn b\n}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	changes, err := changesOfFile(dir, file)
	if err != nil {
		t.Fatal(err)
	}
	var inside []change
	outside := 0
	for _, c := range changes {
		switch {
		case c.body == (section{}):
			outside++
		case c.part.from < c.body.from || c.part.to > c.body.to:
			t.Errorf("%s is not in the body", c.name())
		default:
			inside = append(inside, c)
		}
	}
	if outside != 2 || len(inside) != 4 {
		t.Errorf("%d changes in the signature and %d in the body, not 2 and 4", outside, len(inside))
	}
	if _, err := weave(dir, inside); err != nil {
		t.Error(err)
	}
}
