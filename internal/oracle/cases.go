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

// Cases scales a number of random cases: ten times as many with -long, one in
// eight, at least two, with -short or under the race detector.
func Cases(n int) uint64 {
	switch {
	case Long():
		n *= 10
	case raceEnabled || testing.Short():
		n = max(2, n/8)
	}
	return uint64(n)
}
