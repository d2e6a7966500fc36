package oracle

import (
	"runtime"
	"testing"
	"time"
)

// GoroutinesEnd waits until no more goroutines run than before, since a goroutine that has done its work may
// take a while to end on a busy machine. It fails the test if the goroutines stay.
func GoroutinesEnd(t *testing.T, before int) {
	t.Helper()
	const patience = time.Minute
	for began := time.Now(); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Since(began) > patience {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}
