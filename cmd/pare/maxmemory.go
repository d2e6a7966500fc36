package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
)

// The memory of the whole program, as --max-memory bounds it.

// baseline is the memory that the program takes before it reads anything and that it keeps free, in bytes.
const baseline = 16 << 20

// room returns what a limit leaves for the work on data that have been read; 0: there is no limit.
func (f limitFlags) room(d *dataset) (int64, error) {
	if f.MaxMemory == 0 {
		return 0, nil
	}
	taken := int64(baseline)
	if x, values := d.x.Arrays(); !d.Mapped() || d.x != d.X {
		taken += int64(4*len(x) + 8*len(values))
	}
	left := int64(f.MaxMemory) - taken
	if left <= 0 {
		return 0, outcome.At(outcome.Limit, "max-memory", "the data and the program need %d bytes, but the limit is %d: raise the limit, or map the data (pare convert)", taken, f.MaxMemory)
	}
	return left, nil
}

// pool returns a pool with an equal share of d.room for each of the given number of concurrent calls; nil if
// there is no limit.
func (d *dataset) pool(threads, calls int) *pare.Pool {
	if d.room == 0 {
		return nil
	}
	p, err := pare.NewPool(pare.PoolOptions{MaxBytes: max(1, d.room/int64(calls)), Threads: threads})
	if err != nil {
		panic(err) // only for negative numbers
	}
	return p
}

// memoryLimited is a command with these flags.
type memoryLimited interface {
	within(ctx context.Context, work func(context.Context) (result, error)) (result, error)
}

// within runs work, and makes it end with an error of kind Limit if it exceeds the memory limit. The garbage
// collector is told to keep to the limit, and the memory in use is checked twenty times a second.
func (f limitFlags) within(ctx context.Context, work func(context.Context) (result, error)) (result, error) {
	if f.MaxMemory <= baseline { // there is no limit, or work itself refuses it
		return work(ctx)
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(f.MaxMemory)))
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		f.watch(stop, end)
	}()
	res, err := work(ctx)
	close(stop)
	<-stopped
	if e, ok := errors.AsType[*outcome.Error](context.Cause(ctx)); ok {
		return nil, e
	}
	if e, ok := errors.AsType[*outcome.Error](err); ok && e.Kind == outcome.Limit && e.Flag == "max-bytes" {
		named, reading := *e, e.File != ""
		if reading && 0 < f.MaxBytes && f.MaxBytes <= f.MaxMemory-baseline {
			return res, err
		}
		if named.Flag = "max-memory"; reading {
			named.Message += fmt.Sprintf(": of the %d allowed, the program itself needs %d", f.MaxMemory, baseline)
		}
		return nil, &named
	}
	return res, err
}

func (f limitFlags) watch(stop <-chan struct{}, end context.CancelCauseFunc) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		bytes := inUse()
		for look := 0; look < 2 && bytes > int64(f.MaxMemory); look++ {
			debug.FreeOSMemory() // garbage does not count; the second time frees what became garbage meanwhile
			bytes = inUse()
		}
		if bytes > int64(f.MaxMemory) {
			end(outcome.At(outcome.Limit, "max-memory", "%d bytes are in use, but the limit is %d: raise the limit, or use fewer folds or a larger --min-ratio", bytes, f.MaxMemory))
			return
		}
	}
}

// inUse is the memory that the Go runtime has from the system; mapped files do not count.
func inUse() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}
