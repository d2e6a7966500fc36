package oracle

import (
	"flag"
	"iter"
	"maps"
	"os"
	"slices"
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

// Fewest reports whether one case of a kind is enough: where PARE_CI_CASES is fewest. The
// continuous integration says so where it runs tests again, ten times slower, for what the
// first case shows as well as the hundredth: races, and another architecture.
func Fewest() bool { return os.Getenv("PARE_CI_CASES") == "fewest" }

// Once skips a test of what is counted, as steps and memory are, where the [Fewest] cases are
// enough: neither an architecture nor the race detector changes a count, since results have the same bits.
func Once(t testing.TB) {
	t.Helper()
	if Fewest() {
		t.Skip("counted once, by the tests in full")
	}
}

// Cases scales a number of random cases: ten times as many with -long, one in
// eight, at least two, where there should be [Few], one in forty where the [Fewest].
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

// Draws is n, also where tests should be brief, but a tenth, at least two, where the [Fewest] cases are enough.
func Draws(n int) uint64 {
	if Fewest() {
		n = max(2, n/10)
	}
	return uint64(n)
}

// Kinds are all of them in the order of their names, and the first alone where the [Fewest] cases are enough.
func Kinds[Name ~string, T any](kinds map[Name]T) iter.Seq2[Name, T] {
	return func(yield func(Name, T) bool) {
		for _, name := range slices.Sorted(maps.Keys(kinds)) {
			if !yield(name, kinds[name]) || Fewest() {
				return
			}
		}
	}
}

// Seeds are the numbers below [Cases], and of those beyond it the others: what has failed once.
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

// Turn reports whether the kth of many cases alike is to be looked at: each is, but every nth
// alone where there should be [Few], and every third of those where the [Fewest].
func Turn(k, n int) bool {
	if Fewest() {
		n *= 3
	}
	return !Few() || k%n == 0
}
