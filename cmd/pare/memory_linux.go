package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// arena is the step by which the heap of a 64-bit program grows in address space, including bookkeeping: a
// smaller remainder is of no use.
const arena = 66 << 20

// memoryLeft returns how many more bytes this process may take: by its limit of address space, by the limit of
// its control group, and by the memory of the machine. known is false if the system reports none of these.
func memoryLeft() (bytes int64, known bool) {
	least := func(v int64) {
		if !known || v < bytes {
			bytes, known = max(0, v), true
		}
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err == nil && limit.Cur < 1<<62 {
		if pages, ok := firstNumber("/proc/self/statm"); ok {
			least((int64(limit.Cur) - pages*int64(os.Getpagesize())) / arena * arena)
		}
	}
	if group, ok := controlGroup(); ok {
		most, limited := firstNumber(filepath.Join(group, "memory.max"))
		used, ok := firstNumber(filepath.Join(group, "memory.current"))
		if limited && ok {
			least(most - used)
		}
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		if _, after, ok := strings.Cut(string(text), "MemAvailable:"); ok {
			if words := strings.Fields(after); len(words) > 0 {
				if kilobytes, err := strconv.ParseInt(words[0], 10, 64); err == nil {
					least(kilobytes * 1024)
				}
			}
		}
	}
	return bytes, known
}

// controlGroup returns the folder of the control group (version 2) of this process.
func controlGroup() (string, bool) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return filepath.Join("/sys/fs/cgroup", path), true
		}
	}
	return "", false
}

// firstNumber returns the number at the beginning of a file.
func firstNumber(path string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	words := strings.Fields(string(text))
	if len(words) == 0 {
		return 0, false
	}
	v, err := strconv.ParseInt(words[0], 10, 64)
	return v, err == nil
}
