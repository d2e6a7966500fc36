//go:build unix

package pare_test

import (
	"context"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// No call keeps the world from stopping for a millisecond: on a dense column of 2²⁴ rows, of which
// a copy in one piece takes 15 ms, hardly more of the garbage collections beside it wait so long than
// beside a loop in plain Go that fills a vector of its own every time: the runtime interrupts it
// anywhere, but not while the system finds a page, which may take milliseconds. A busy machine makes
// some wait for either, and now more than then: twice as many are let be, and one in twenty.
func TestCallsLetTheWorldStop(t *testing.T) {
	if !oracle.Long() {
		t.Skip("-long: it goes by clocks; kernels have frames that are checked, and loops over rows are cut in pieces (TestCancelWithinPasses)")
	}
	const n, collections = 1 << 24, 150
	x, y := tall(t, 12, n)
	_, column := x.Column(0)
	var sum float64
	plain := func() oracle.Pauses {
		return oracle.PausesBeside(1, collections, func(int) {
			twice := make([]float64, n)
			for i, v := range column {
				twice[i] = 2 * v
			}
			sum += twice[n/2]
		})
	}
	scratch := make([]float64, n)
	copies := oracle.PausesBeside(1, collections, func(int) { copy(scratch, y) })
	t.Logf("copies in one piece: %v", copies)
	if copies.Milliseconds < copies.Collections/4 {
		t.Errorf("copies of 128 MB held up only %d of %d collections: the measure does not see them", copies.Milliseconds, copies.Collections)
	}
	for _, c := range callsOn(t, x, y, pare.Validation{Folds: 2}, pare.Lasso, pare.Ridge, pare.Logistic) {
		loop := plain()
		got := oracle.PausesBeside(1, collections, func(int) {
			if err := c.call(context.Background()); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		})
		t.Logf("%s: %v; beside a loop in Go %v", c.name, got, loop)
		if let := 2*loop.Milliseconds*got.Collections/loop.Collections + got.Collections/20; got.Milliseconds > let {
			t.Errorf("%s: %d of %d collections waited for a millisecond or longer, up to %d are let be", c.name, got.Milliseconds, got.Collections, let)
		}
	}
	t.Logf("sum %g", sum)
}
