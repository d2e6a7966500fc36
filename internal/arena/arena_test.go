package arena_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/arena"
)

// TestMemoryIsReused checks that slices are 0 whatever the memory held before, do not overlap, and
// reuse memory after it was given back.
func TestMemoryIsReused(t *testing.T) {
	pool := arena.NewPool(1 << 20)
	var first *float64
	for round := range 3 {
		memory := pool.Arena()
		var all [][]float64
		var mu sync.Mutex
		var calls sync.WaitGroup
		for k := range 4 {
			calls.Go(func() {
				for n := range 100 {
					v := memory.Floats(nil, n)
					if len(v) != n || cap(v) != n || slices.ContainsFunc(v, func(x float64) bool { return x != 0 }) {
						t.Errorf("%d numbers: %v of capacity %d", n, v, cap(v))
					}
					for i := range v {
						v[i] = float64(100*k + n + 1)
					}
					mu.Lock()
					all = append(all, v)
					mu.Unlock()
				}
			})
		}
		calls.Wait()
		for _, v := range all {
			if len(v) > 0 && slices.Min(v) != slices.Max(v) {
				t.Fatalf("two have the same memory: %v", v)
			}
		}
		memory.Release()
		again := pool.Arena()
		switch at := &again.Floats(nil, 1)[0]; {
		case round == 0:
			first = at
		case at != first:
			t.Error("memory that was given back is not reused")
		}
		again.Release()
	}
}

// TestReuseIsBounded checks that a pool keeps at most its limit, that a call gets at most its
// share, and that long slices are allocated separately, as are all slices without a pool.
func TestReuseIsBounded(t *testing.T) {
	memory := arena.NewPool(0).Arena()
	a := &memory.Floats(nil, 1)[0]
	memory.Release()
	if again := memory.Floats(nil, 1); a == &again[0] {
		t.Error("a pool of no bytes has kept some")
	}
	pool := arena.NewPool(1 << 30)
	allocated := func(l *arena.Arena, n int) float64 { return testing.AllocsPerRun(20, func() { _ = l.Floats(nil, n) }) }
	if n := allocated(pool.Arena(), 1<<20); n != 1 {
		t.Errorf("a million numbers: %g allocations", n)
	}
	large := pool.Arena()
	for range 1 << 10 { // beyond its share
		large.Floats(nil, 1<<12)
	}
	if n := allocated(large, 1<<10); n != 1 {
		t.Errorf("beyond the share of a call: %g allocations", n)
	}
	if n := allocated(nil, 8); n != 1 {
		t.Errorf("without a pool: %g allocations", n)
	}
}

// TestRounds checks that the vectors of one round are reused in the next, set to 0, unless somebody
// keeps them, and that a vector given back is the next one returned.
func TestRounds(t *testing.T) {
	const size = 100
	m := arena.ForRounds(size)
	dirty := func(v []float64) *float64 {
		if slices.ContainsFunc(v, func(x float64) bool { return x != 0 }) {
			t.Errorf("%d numbers that are not 0", len(v))
		}
		for i := range v {
			v[i] = 1
		}
		return &v[0]
	}
	a, b := m.Floats(nil, size), m.Floats(nil, size)
	if dirty(a) == dirty(b) {
		t.Error("two of a round are one")
	}
	m.Free(b)
	m.Free(m.Floats(nil, size/2)) // too short to be kept
	if c := m.Floats(nil, size); dirty(c) != &b[0] {
		t.Error("a vector that was given back is not the next one")
	}
	m.Reset()
	first, second := dirty(m.Floats(nil, size)), dirty(m.Floats(nil, size))
	if first == second || first != &a[0] && first != &b[0] || second != &a[0] && second != &b[0] {
		t.Error("a round does not have the memory of the last one")
	}
	m.Reset()
	if shorter := dirty(m.Floats(nil, size-1)); shorter != first && shorter != second {
		t.Error("a vector of a row less does not have the memory of the last round")
	}
	room, ints := m.Reserve(nil, 10*size), m.Ints(nil, 10*size)
	dirty(room)
	ints[0] = 1
	m.Reset()
	if again := m.Reserve(nil, 10*size-1); dirty(again) != &room[0] {
		t.Error("room does not have the memory of the last round")
	}
	if again := m.Ints(nil, 10*size); &again[0] != &ints[0] || again[0] != 0 {
		t.Error("integers do not have the memory of the last round, or are not 0")
	}
	m.Detach()
	m.Reset()
	if kept := dirty(m.Floats(nil, size)); kept == first || kept == second {
		t.Error("a vector has two owners")
	}
	none := (*arena.Arena)(nil)
	none.Reset()
	none.Free(none.Floats(nil, size))
	if len(none.Reserve(nil, size)) != size || len(none.Ints(nil, size)) != size {
		t.Error("there is no room without rounds")
	}
	none.Detach()
}

// TestLongerVectorsReplaceShorterOnes checks that, if vectors are longer in a later round, those
// that are too short are dropped rather than kept beside the longer ones.
func TestLongerVectorsReplaceShorterOnes(t *testing.T) {
	const size = 100
	m := arena.ForRounds(size)
	short := &m.Floats(nil, size-1)[0]
	m.Reset()
	long := &m.Floats(nil, size)[0]
	m.Reset()
	if a, b := &m.Floats(nil, size-1)[0], &m.Floats(nil, size-1)[0]; a != long || b == short {
		t.Error("a vector that was too short is kept beside the longer one")
	}
}
