package oracle

import (
	"flag"
	"iter"
	"maps"
	"os"
	"slices"
	"testing"
)

// Long reports whether the test binary has a flag -long and it is set.
func Long() bool {
	f := flag.Lookup("long")
	return f != nil && f.Value.String() == "true"
}

// Few reports whether tests should be brief: with -short, or under the race
// detector.
func Few() bool { return raceEnabled || testing.Short() }

// Fewest reports whether one case of each kind is enough: whether PARE_CI_CASES is fewest. Continuous
// integration sets it where tests run again ten times slower, to find races or on another architecture; the
// first case shows these as well as the hundredth.
func Fewest() bool { return os.Getenv("PARE_CI_CASES") == "fewest" }

// Once skips a test of counts, such as steps and memory, where the [Fewest] cases are enough: neither the
// architecture nor the race detector changes a count, since results have the same bits.
func Once(t testing.TB) {
	t.Helper()
	if Fewest() {
		t.Skip("counted once, by the tests in full")
	}
}

// Cases scales a number of random cases: ten times as many with -long, one in eight (at least two) for [Few],
// one in forty for [Fewest].
func Cases(n int) uint64 {
	switch {
	case Long():
		n *= 10
	case Few() && Fewest():
		n = max(2, n/40)
	case Few():
		n = max(2, n/8)
	}
	return uint64(n)
}

// Draws returns n, also where tests should be brief, but a tenth of it (at least two) where the [Fewest] cases
// are enough.
func Draws(n int) uint64 {
	if Fewest() {
		n = max(2, n/10)
	}
	return uint64(n)
}

// Kinds yields all kinds in the order of their names, only the first where the [Fewest] cases are enough.
func Kinds[Name ~string, T any](kinds map[Name]T) iter.Seq2[Name, T] {
	return func(yield func(Name, T) bool) {
		for _, name := range slices.Sorted(maps.Keys(kinds)) {
			if !yield(name, kinds[name]) || Fewest() {
				return
			}
		}
	}
}

// Seeds returns the numbers below [Cases], and those of others that are not below it: seeds of cases that
// failed once.
func Seeds(n int, others ...uint64) (seeds []uint64) {
	for seed := range Cases(n) {
		seeds = append(seeds, seed)
	}
	for _, seed := range others {
		if seed >= Cases(n) {
			seeds = append(seeds, seed)
		}
	}
	return seeds
}

// Turn reports whether to test the kth of many similar cases: every case, only every nth for [Few], and only
// every third of these for [Fewest].
func Turn(k, n int) bool {
	if Fewest() {
		n *= 3
	}
	return !Few() || k%n == 0
}
