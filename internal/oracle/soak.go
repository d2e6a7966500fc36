package oracle

import (
	"runtime"
	"testing"
	"time"
)

// Soak calls round with 0, 1, …: at least rounds times, and for at least the duration long. After every
// thousand rounds, and at the end, it fails the test if goroutines remain, or if memory in use exceeds that
// after the first thousand rounds by more than room. It logs how long it took.
func Soak(t *testing.T, rounds uint64, long time.Duration, room uint64, round func(uint64)) {
	t.Helper()
	goroutines, first := runtime.NumGoroutine(), uint64(0)
	began := time.Now()
	for k := uint64(0); k < rounds || time.Since(began) < long; k++ {
		round(k)
		if t.Failed() {
			t.Fatalf("round %d", k)
		}
		if k%1000 != 999 {
			continue
		}
		GoroutinesEnd(t, goroutines)
		kept := heap()
		if first == 0 {
			first = kept
		}
		if kept > first+room {
			t.Fatalf("%d bytes are kept after %d rounds, %d after the first thousand", kept, k+1, first)
		}
	}
	GoroutinesEnd(t, goroutines)
	t.Logf("%v: %d bytes after the first thousand rounds, %d now", time.Since(began).Round(time.Second), first, heap())
}

// heap returns the memory in use after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
