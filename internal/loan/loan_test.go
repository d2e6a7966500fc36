package loan_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/loan"
)

// Numbers are 0 whatever was in them before, are nobody else's, and are of the same memory again
// once it is given back.
func TestLoans(t *testing.T) {
	store := loan.NewStore(1 << 20)
	var first *float64
	for round := range 3 {
		lent := store.Borrow()
		var all [][]float64
		var mu sync.Mutex
		var calls sync.WaitGroup
		for k := range 4 {
			calls.Go(func() {
				for n := range 100 {
					v := lent.Floats(n)
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
		lent.Return()
		again := store.Borrow()
		switch at := &again.Floats(1)[0]; {
		case round == 0:
			first = at
		case at != first:
			t.Error("memory that was given back is not lent again")
		}
		again.Return()
	}
}

// A store keeps no more than it may, a call has no more than a share of it, and many numbers are
// of their own, as all are without a store.
func TestLoansAreBounded(t *testing.T) {
	lent := loan.NewStore(0).Borrow()
	a := &lent.Floats(1)[0]
	lent.Return()
	if again := lent.Floats(1); a == &again[0] {
		t.Error("a store of no bytes has kept some")
	}
	store := loan.NewStore(1 << 30)
	allocated := func(l *loan.Memory, n int) float64 { return testing.AllocsPerRun(20, func() { _ = l.Floats(n) }) }
	if n := allocated(store.Borrow(), 1<<20); n != 1 {
		t.Errorf("a million numbers: %g allocations", n)
	}
	large := store.Borrow()
	for range 1 << 10 { // beyond its share
		large.Floats(1 << 12)
	}
	if n := allocated(large, 1<<10); n != 1 {
		t.Errorf("beyond the share of a call: %g allocations", n)
	}
	if n := allocated(nil, 8); n != 1 {
		t.Errorf("without a store: %g allocations", n)
	}
}
