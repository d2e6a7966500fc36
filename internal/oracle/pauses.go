package oracle

import (
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// Pauses are the times that garbage collections waited for the world to stop, as upper ends of the buckets of
// the runtime's histogram.
type Pauses struct {
	Collections               int
	Quartile, Median, Longest time.Duration
	Milliseconds              int // number of pauses of a millisecond or longer
}

func (p Pauses) String() string {
	return fmt.Sprintf("%d collections: a quarter %v, half %v, all %v or less, %d of a millisecond or more",
		p.Collections, p.Quartile, p.Median, p.Longest, p.Milliseconds)
}

// PausesBeside runs work repeatedly on the given number of goroutines, and meanwhile collects garbage: at least
// the given number of times, and until every goroutine has run work once.
func PausesBeside(goroutines, collections int, work func(i int)) (p Pauses) {
	sample := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
	read := func() []uint64 {
		metrics.Read(sample)
		return append([]uint64(nil), sample[0].Value.Float64Histogram().Counts...)
	}
	before := read()
	var stop atomic.Bool
	var once atomic.Int64
	var group sync.WaitGroup
	for i := range goroutines {
		group.Go(func() {
			for work(i); ; work(i) {
				once.Add(1)
				if stop.Load() {
					return
				}
			}
		})
	}
	for k := 0; k < collections || once.Load() < int64(goroutines); k++ {
		runtime.GC()
	}
	stop.Store(true)
	group.Wait()
	after := read()
	bounds := sample[0].Value.Float64Histogram().Buckets
	for i, count := range after {
		after[i] = count - before[i]
		p.Collections += int(after[i])
	}
	seen := 0
	for i, count := range after {
		if count == 0 {
			continue
		}
		end := time.Duration(math.MaxInt64)
		if !math.IsInf(bounds[i+1], 1) {
			end = time.Duration(1e9 * bounds[i+1])
		}
		if 4*seen < p.Collections {
			p.Quartile = end
		}
		if 2*seen < p.Collections {
			p.Median = end
		}
		p.Longest = end
		if bounds[i] >= 1e-3 {
			p.Milliseconds += int(count)
		}
		seen += int(count)
	}
	return p
}
