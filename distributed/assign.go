package distributed

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"
)

// Member is a worker that groups can be assigned to.
type Member struct {
	Name  string
	Slots int // inner problems at once, at least 1
}

// assign returns the name of the worker for each group of a job, "" if there are no workers. It is
// rendezvous hashing with bounded loads: a group goes to the worker with the largest hash of group
// and worker, among the workers that have less than their share of the groups, which is
// proportional to their slots. The result does not depend on the order of workers, and few groups
// move when a worker comes or goes.
func assign(job string, groups int, workers []Member) []string {
	workers = slices.Clone(workers)
	slices.SortFunc(workers, func(a, b Member) int { return cmp.Compare(a.Name, b.Name) })
	slots := 0
	for _, w := range workers {
		slots += max(1, w.Slots)
	}
	owner, load := make([]string, groups), make([]int, len(workers))
	for group := range owner {
		best, highest := -1, uint64(0)
		for i, w := range workers {
			share := (groups*max(1, w.Slots) + slots - 1) / slots // rounded up
			if score := score(job, group, w.Name); load[i] < share && (best < 0 || score > highest) {
				best, highest = i, score
			}
		}
		if best >= 0 {
			owner[group] = workers[best].Name
			load[best]++
		}
	}
	return owner
}

// score returns the hash of a group and a worker: FNV-1a, mixed as in SplitMix64.
func score(job string, group int, worker string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(job + "\x00" + strconv.Itoa(group) + "\x00" + worker))
	z := h.Sum64()
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
