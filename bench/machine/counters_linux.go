package machine

import (
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Counted runs f and counts events of the whole process while it runs. Virtual machines often have no hardware
// counters; then the count says so.
func Counted(f func() error) ([]Count, error) {
	events := []struct {
		name   string
		kind   uint32
		config uint64
	}{
		{"cpu nanoseconds", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK},
		{"page faults", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS},
		{"context switches", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CONTEXT_SWITCHES},
		{"cycles", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES},
		{"instructions", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS},
		{"cache misses", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_MISSES},
		{"branch misses", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_BRANCH_MISSES},
	}
	counts := make([]Count, len(events))
	opened := make([][]int, len(events))
	for i, e := range events {
		counts[i].Name = e.name
		files, err := openCounter(e.kind, e.config)
		if err != nil {
			counts[i].Unavailable = err.Error()
		}
		opened[i] = files
	}
	failure := f()
	for i, files := range opened {
		for _, file := range files {
			value, err := readCounter(file)
			if err != nil && counts[i].Unavailable == "" {
				counts[i].Unavailable = err.Error()
			}
			counts[i].Value += value
			err = unix.Close(file)
			if err != nil && counts[i].Unavailable == "" {
				counts[i].Unavailable = err.Error()
			}
		}
	}
	return counts, failure
}

// openCounter starts a counter on every existing thread; threads that these start later are counted too.
func openCounter(kind uint32, config uint64) ([]int, error) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	attr := unix.PerfEventAttr{
		Type: kind, Config: config,
		Bits: unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	attr.Size = uint32(unsafe.Sizeof(attr))
	var files []int
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			return files, err
		}
		file, err := unix.PerfEventOpen(&attr, id, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		switch {
		case errors.Is(err, unix.ESRCH): // the thread has ended
		case err != nil:
			return files, err
		default:
			files = append(files, file)
		}
	}
	return files, nil
}

func readCounter(file int) (uint64, error) {
	var value [8]byte
	if _, err := unix.Read(file, value[:]); err != nil {
		return 0, err
	}
	return binary.NativeEndian.Uint64(value[:]), nil
}
