package kernels_test

import (
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
// runtime can interrupt anywhere. On a busy machine single waits say little, so
// the median decides. Without stack checks in the assembly it is milliseconds.
func TestTheWorldStopsQuickly(t *testing.T) {
	if !*long || raceEnabled {
		t.Skip("needs -kernels.long and some seconds of quiet")
	}
	const size, collections = 8 << 20, 200
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	x, y := make([]float64, size), make([]float64, size)
	control, worstControl := waits(collections, func() { plainLoops.Dot(x, y) })
	t.Logf("plain Go: median %.3g ms, longest %.3g ms", 1e3*control, 1e3*worstControl)
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		median, worst := waits(collections, func() {
			k.Axpy(0, x, y)
			k.Dot(x, y)
		})
		t.Logf("median %.3g ms, longest %.3g ms", 1e3*median, 1e3*worst)
		if median > max(1e-3, 2*control) {
			t.Errorf("half of the collections waited for more than %.3g ms", 1e3*median)
		}
	})
}

// waits returns the median and the longest wait of garbage collections, in
// seconds, while two goroutines ran work: upper ends of the metric's buckets.
func waits(collections int, work func()) (median, longest float64) {
	sample := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
	read := func() []uint64 {
		metrics.Read(sample)
		return slices.Clone(sample[0].Value.Float64Histogram().Counts)
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
	var total, seen uint64
	for i, count := range after {
		total += count - before[i]
	}
	for i, count := range after {
		if count == before[i] {
			continue
		}
		longest = bounds[i+1]
		if 2*seen < total {
			median = longest
		}
		seen += count - before[i]
	}
	return median, longest
}
