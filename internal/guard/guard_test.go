//go:build linux || darwin

package guard_test

import (
	"testing"
	"unsafe"

	"github.com/seed-45b9a24c/pare/internal/guard"
)

func TestBothSidesOfASliceAreForbidden(t *testing.T) {
	for _, n := range []int{1, 3, 512, 513, 2000} {
		s := guard.Slice[float64](t, n, guard.End)
		if guard.Faults(func() { s[0], s[n-1] = 1, 1 }) {
			t.Errorf("n = %d: the slice itself faults", n)
		}
		if !guard.Faults(func() { read(&s[n-1], 1) }) {
			t.Errorf("n = %d: reading behind the end is not caught", n)
		}
		s = guard.Slice[float64](t, n, guard.Start)
		if !guard.Faults(func() { read(&s[0], -1) }) {
			t.Errorf("n = %d: reading before the start is not caught", n)
		}
	}
}

// read returns the element at the given offset, in elements, from p.
//
//go:noinline
func read(p *float64, offset int) {
	sink = *(*float64)(unsafe.Add(unsafe.Pointer(p), offset*8))
}

var sink float64
