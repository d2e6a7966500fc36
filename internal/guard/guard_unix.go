//go:build linux || darwin

package guard

import (
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"
)

// Edge is the end of a slice at which the forbidden page lies.
type Edge int

// The edges.
const (
	End   Edge = iota // the page behind the last element is forbidden
	Start             // the page before the first element is forbidden
)

// Slice returns n zero elements that lie directly at a forbidden page. The memory is unmapped when the test
// ends. T must not contain pointers.
func Slice[T any](tb testing.TB, n int, edge Edge) []T {
	tb.Helper()
	var zero T
	size := n * int(unsafe.Sizeof(zero))
	page := syscall.Getpagesize()
	room := (size + page - 1) / page * page
	region, err := syscall.Mmap(-1, 0, room+2*page,
		syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		tb.Fatalf("guard: mmap: %v", err)
	}
	tb.Cleanup(func() {
		if err := syscall.Munmap(region); err != nil {
			tb.Errorf("guard: munmap: %v", err)
		}
	})
	for _, forbidden := range [][]byte{region[:page], region[page+room:]} {
		if err := syscall.Mprotect(forbidden, syscall.PROT_NONE); err != nil {
			tb.Fatalf("guard: mprotect: %v", err)
		}
	}
	first := page
	if edge == End {
		first = page + room - size
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&region[first])), n)
}

// Faults reports whether f accesses memory that it must not. A fault inside assembly becomes a panic here,
// and the rest of f is skipped.
func Faults(f func()) (fault bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(interface{ Addr() uintptr }); !ok {
				panic(r)
			}
			fault = true
		}
	}()
	f()
	return false
}
