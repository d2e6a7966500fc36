package kernels_test

import (
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

// TestTheWorldStopsQuickly runs long kernels on two goroutines and looks at how
// long garbage collections waited for them, beside a loop in plain Go, which the
// runtime can interrupt anywhere. The machine may be busy: the bound is loose,
// and still two orders below what assembly without a stack check does.
func TestTheWorldStopsQuickly(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("needs a few seconds of quiet")
	}
	size, collections := 1<<20, 6
	if *long {
		size, collections = 8<<20, 200
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	x, y := make([]float64, size), make([]float64, size)
	control := worstPause(collections, func() { plainLoops.Dot(x, y) })
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		pause := worstPause(collections, func() {
			k.Axpy(0, x, y)
			k.Dot(x, y)
		})
		t.Logf("longest wait: %.3g ms; plain Go: %.3g ms", 1e3*pause, 1e3*control)
		if pause > max(10e-3, 2*control) {
			t.Errorf("a collection waited for %.3g ms; for plain Go: %.3g ms", 1e3*pause, 1e3*control)
		}
	})
}

// worstPause is the upper end of the highest bucket in which a collection's wait
// fell while two goroutines ran work, in seconds.
func worstPause(collections int, work func()) float64 {
	sample := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
	read := func() []uint64 {
		metrics.Read(sample)
		return append([]uint64(nil), sample[0].Value.Float64Histogram().Counts...)
	}
	before := read()
	var stop atomic.Bool
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for !stop.Load() {
				work()
			}
		})
	}
	for range collections {
		runtime.GC()
	}
	stop.Store(true)
	group.Wait()
	after := read()
	bounds := sample[0].Value.Float64Histogram().Buckets
	for i, count := range slices.Backward(after) {
		if count > before[i] {
			if end := bounds[i+1]; !math.IsInf(end, 1) {
				return end
			}
			return bounds[i]
		}
	}
	return 0
}
