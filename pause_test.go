//go:build unix

package pare_test

import (
	"context"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestCallsLetTheWorldStop checks that no call delays a stop of the world by the garbage collector
// for a millisecond. The data are a dense column of 2²⁴ rows; copying it in one piece takes 15 ms.
// The reference is a loop in plain Go that fills a new vector each time: the runtime can preempt it
// anywhere except while the system provides a page, which may take milliseconds. A busy machine
// delays some collections in either case, so the test allows twice the reference's number of long
// waits plus one collection in twenty.
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
