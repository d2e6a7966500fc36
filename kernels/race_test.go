//go:build race

package kernels_test

import (
	"math"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

// TestRacesInsideKernelsAreSeen starts this test binary again, with a write
// that races with a kernel's read, and expects a report. Without annotations the
// race detector sees nothing of what assembly does.
func TestRacesInsideKernelsAreSeen(t *testing.T) {
	const variable = "KERNELS_TEST_RACE"
	if name := os.Getenv(variable); name != "" {
		k, err := kernels.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		x, y := make([]float64, 100), make([]float64, 100)
		rows := []int32{3, 50, 99}
		var group sync.WaitGroup
		group.Go(func() { k.Axpy(1, x, y) })
		group.Go(func() { k.DotIndexed(x[:3], rows, y) })
		group.Wait()
		return
	}
	for _, k := range kernels.Available() {
		command := exec.Command(os.Args[0], "-test.run=^TestRacesInsideKernelsAreSeen$")
		command.Env = append(os.Environ(), variable+"="+k.Name)
		output, err := command.CombinedOutput()
		if err == nil || !strings.Contains(string(output), "DATA RACE") {
			t.Errorf("%s: a race went unnoticed (%v)", k.Name, err)
		}
	}
}

func TestReadersDoNotRace(t *testing.T) {
	x, rows := make([]float64, 5000), []int32{1, 2, 4999}
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				k.Dot(x, x)
				k.Nrm2(x)
				k.MaxAbs(x)
				k.DotIndexed(x[:3], rows, x)
			})
		}
		group.Wait()
	})
}

// TestRaceBuildsSpoilUndefinedNumbers checks that undefined numbers are NaN in race builds, so that
// code which reads them before writing them gives a wrong result.
func TestRaceBuildsSpoilUndefinedNumbers(t *testing.T) {
	for _, n := range []int{1, 100, 1 << 17} {
		for i, x := range kernels.Undefined[float64](n) {
			if !math.IsNaN(x) {
				t.Fatalf("%d of %d numbers is %g", i, n, x)
			}
		}
	}
}
