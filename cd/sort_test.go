package cd

import (
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestSortOfPlaces checks that places are sorted, few spread over many words and many in few, and
// that no mark is left behind.
func TestSortOfPlaces(t *testing.T) {
	for seed := range uint64(40) {
		r := oracle.NewRandom(seed)
		n := 1 + r.Intn(4000)
		marks := newPlaceSet(n)
		list, share := make([]int32, 0, n), 1+r.Intn(60)
		for k := range n {
			if r.Intn(share) == 0 {
				list = slices.Insert(list, r.Intn(len(list)+1), int32(k))
			}
		}
		want := slices.Sorted(slices.Values(list))
		if marks.sort(list); !slices.Equal(list, want) || marks.count() != 0 {
			t.Fatalf("seed %d: %d of %d places: %d, want %d, %d left", seed, len(list), n, list, want, marks.count())
		}
	}
}
