//go:build unix

package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestCopiesOfKernelsAreWhole checks that the copy of package kernels is a module that the go
// command accepts, with all imports of its tests.
func TestCopiesOfKernelsAreWhole(t *testing.T) {
	root := filepath.Join(t.TempDir(), "module")
	if err := copyKernels("../..", root); err != nil {
		t.Fatal(err)
	}
	list := exec.Command("go", "list", "-deps", "-test", "./kernels")
	list.Dir = root
	list.Env = append(list.Environ(), "TMPDIR="+filepath.Dir(root)) // as main sets it
	if out, err := list.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestFilesAreChosen(t *testing.T) {
	all, err := changedLines("../..", options{set: "avx512"})
	if err != nil {
		t.Fatal(err)
	}
	some, err := changedLines("../..", options{set: "avx512", files: "kernels/amd64/bell_*"})
	if err != nil || len(some) == 0 || len(some) >= len(all)/10 {
		t.Errorf("%d of %d changes are in one file, %v", len(some), len(all), err)
	}
}
