package random_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/random"
)

// TestOutputsAreTheReference checks the first outputs of the reference implementation (Vigna,
// splitmix64.c).
func TestOutputsAreTheReference(t *testing.T) {
	s := random.SplitMix64(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := s.Next(); got != want {
			t.Errorf("output %d: %d, want %d", i, got, want)
		}
	}
}

func TestDistributions(t *testing.T) {
	const n = 100_000
	s := random.SplitMix64(3)
	var mean, square, uniform float64
	seen := make([]int, 7)
	for range n {
		z := s.Normal()
		mean += z / n
		square += z * z / n
		u := s.Uniform()
		if u < 0 || u >= 1 {
			t.Fatalf("uniform number %g", u)
		}
		uniform += u / n
		seen[s.Below(7)]++
	}
	if math.Abs(mean) > 0.02 || math.Abs(square-1) > 0.02 || math.Abs(uniform-0.5) > 0.005 {
		t.Errorf("mean %g, square %g, uniform %g", mean, square, uniform)
	}
	for k, count := range seen {
		if math.Abs(float64(count)-n/7.0) > 600 {
			t.Errorf("%d drawn %d times", k, count)
		}
	}
	p := s.Permutation(nil, 50)
	if slices.IsSorted(p) {
		t.Error("not shuffled")
	}
	slices.Sort(p)
	for i, v := range p {
		if i != v {
			t.Fatalf("not a permutation: %v", p)
		}
	}
}
