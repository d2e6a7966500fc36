package oracle

import (
	"flag"
	"testing"
)

// Long reports whether the test binary has a flag -long, and it is set.
func Long() bool {
	f := flag.Lookup("long")
	return f != nil && f.Value.String() == "true"
}

// Few reports whether tests should be brief: with -short, or under the race
// detector.
func Few() bool { return raceEnabled || testing.Short() }

// Cases scales a number of random cases: ten times as many with -long, one in
// eight, at least two, where there should be [Few].
func Cases(n int) uint64 {
	switch {
	case Long():
		n *= 10
	case Few():
		n = max(2, n/8)
	}
	return uint64(n)
}

// Turn reports whether the kth of many cases alike is to be looked at: each is, but every nth
// alone where there should be [Few].
func Turn(k, n int) bool { return !Few() || k%n == 0 }
