package kernels_test

import (
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

var (
	long = flag.Bool("kernels.long", false, "run the long versions: 10⁶ cases per kernel, large operands")
	only = flag.String("kernels.set", "", "test this set alone")
)

// testedSets are the available sets, or the one that -kernels.set names.
func testedSets() []*kernels.Set {
	return slices.DeleteFunc(kernels.Available(), func(k *kernels.Set) bool { return *only != "" && *only != k.Name })
}

// eachSet runs f once per available set. A set that PARE_CI_SETS or -kernels.set
// names must be available.
func eachSet(t *testing.T, f func(t *testing.T, k *kernels.Set)) {
	t.Helper()
	for _, k := range everySet(t) {
		t.Run(k.Name, func(t *testing.T) { f(t, k) })
	}
}

// everySet returns the sets to test, for tests that compute their reference once for all
// sets.
func everySet(t *testing.T) []*kernels.Set {
	t.Helper()
	if want := os.Getenv("PARE_CI_SETS"); want != "" {
		for name := range strings.SplitSeq(want, ",") {
			if _, err := kernels.Named(name); err != nil {
				t.Errorf("PARE_CI_SETS: %v", err)
			}
		}
	}
	sets := testedSets()
	if len(sets) == 0 {
		t.Errorf("there is no set %q", *only)
	}
	return sets
}

func TestSetsAreFoundByName(t *testing.T) {
	all := kernels.Available()
	if all[0].Name != "purego" {
		t.Errorf("the first set is %q", all[0].Name)
	}
	for _, s := range all {
		if got, err := kernels.Named(s.Name); got != s || err != nil {
			t.Errorf("Named(%q) = %v, %v", s.Name, got, err)
		}
		t.Setenv(kernels.EnvVar, s.Name)
		if got, err := kernels.Active(); got != s || err != nil {
			t.Errorf("%s=%s: Active() = %v, %v", kernels.EnvVar, s.Name, got, err)
		}
	}
	t.Setenv(kernels.EnvVar, "")
	if got, err := kernels.Active(); got != all[len(all)-1] || err != nil {
		t.Errorf("Active() = %v, %v", got, err)
	}
	t.Setenv(kernels.EnvVar, "mmx")
	_, err := kernels.Active()
	var unknown *kernels.UnknownSetError
	if !errors.As(err, &unknown) || unknown.Name != "mmx" || !slices.Contains(unknown.Available, "purego") {
		t.Errorf("unknown set: %v", err)
	}
	all[0] = nil
	if kernels.Available()[0] == nil {
		t.Error("Available shares its slice")
	}
}

// TestTheBestSet checks the best set on machines and emulators whose features are known.
func TestTheBestSet(t *testing.T) {
	want := os.Getenv("PARE_CI_BEST")
	if want == "" {
		t.Skip("PARE_CI_BEST does not name the set that this CPU should pick")
	}
	all := kernels.Available()
	if got := all[len(all)-1].Name; got != want {
		t.Errorf("the best set is %q, want %q", got, want)
	}
}
