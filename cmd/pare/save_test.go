package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/random"
)

// TestSaveLeavesABetterModelAlone checks that --save does not replace a model by one that has
// not converged, such as an SVM on columns of very different scales, unless --save-anyway asks
// for it. Symbolic links are kept, and files left behind by a killed process are removed.
func TestSaveLeavesABetterModelAlone(t *testing.T) {
	source := random.SplitMix64(1)
	var data strings.Builder
	for i := range 60 {
		fmt.Fprintf(&data, "%d", 1-2*(i%2))
		for j := range 9 {
			fmt.Fprintf(&data, " %d:%g", j+1, (source.Uniform()-0.5)*math.Pow10(2*j-8))
		}
		data.WriteString("\n")
	}
	file := writeFile(t, "data.svm", data.String())
	model := filepath.Join(t.TempDir(), "model")
	link := model + ".link"
	if err := os.Symlink("model", link); err != nil {
		t.Skip("no links here")
	}
	left := model + ".tmp1-1"
	if err := os.WriteFile(left, []byte("half a model"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := pareRun(t, "fit", "--ratio=0.1", "--save="+link, file); o.code != exitOK {
		t.Fatal(o)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("what a killed process left is still there")
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is none any more: %v", err)
	}
	read := func() string {
		text, err := os.ReadFile(model)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	old := read()
	bad := []string{"fit", "--model=svm", "--C=1e6", "--tol=1e-12", "--save=" + link, file}
	r := decoded[fitResult](t, exitUntrusted, bad...)
	if r.Status != "not_converged" || len(r.Warnings) != 1 || r.Warnings[0].Code != "not_saved" || read() != old {
		t.Errorf("%s, warnings %v, the model is the old one: %t", r.Status, r.Warnings, read() == old)
	}
	if o := pareRun(t, bad...); !strings.Contains(flat(o.stdout), "is left as it was") {
		t.Error(o.stdout)
	}
	r = decoded[fitResult](t, exitUntrusted, append(bad, "--save-anyway")...)
	if len(r.Warnings) != 0 || read() == old {
		t.Errorf("%v, the model is the old one: %t", r.Warnings, read() == old)
	}
	if o := pareRun(t, "fit", "--ratio=0.1", "--save-anyway"); o.code != exitUsage {
		t.Error(o)
	}
}
