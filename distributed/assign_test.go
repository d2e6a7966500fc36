package distributed

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// FuzzAssign checks that every group has a worker, that no worker has more than its share of
// groups by slots, and that the order of the workers does not matter.
func FuzzAssign(f *testing.F) {
	f.Add("job", uint16(5), uint8(2), uint64(1))
	f.Add("", uint16(35), uint8(4), uint64(2))
	f.Add("job", uint16(1), uint8(0), uint64(3))
	f.Fuzz(func(t *testing.T, job string, groups uint16, count uint8, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		workers, slots := make([]Member, count%20), 0
		for i := range workers {
			workers[i] = Member{fmt.Sprint("w", i), 1 + r.IntN(8)}
			slots += workers[i].Slots
		}
		n := int(groups % 500)
		owner, load := assign(job, n, workers), map[string]int{}
		for _, name := range owner {
			load[name]++
			if (name == "") != (len(workers) == 0) {
				t.Fatalf("%d workers, a group of %q", len(workers), name)
			}
		}
		for _, w := range workers {
			if most := (n*w.Slots + slots - 1) / slots; load[w.Name] > most {
				t.Errorf("%s has %d of %d groups, its share is %d", w.Name, load[w.Name], n, most)
			}
		}
		r.Shuffle(len(workers), func(i, j int) { workers[i], workers[j] = workers[j], workers[i] })
		if !slices.Equal(owner, assign(job, n, workers)) {
			t.Error("depends on the order of workers")
		}
	})
}

// TestFewGroupsMove checks that, when a worker dies, few groups move apart from its own: only
// those displaced by the limits on shares.
func TestFewGroupsMove(t *testing.T) {
	workers := []Member{{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}}
	moved := 0
	const groups = 40
	for job := range 50 {
		id := strconv.Itoa(job)
		before, after := assign(id, groups, workers), assign(id, groups, workers[:3])
		for g := range before {
			if before[g] != "d" && before[g] != after[g] {
				moved++
			}
		}
	}
	if share := float64(moved) / (50 * groups); share > 0.15 {
		t.Errorf("%.3f of the groups moved without need", share)
	}
}
