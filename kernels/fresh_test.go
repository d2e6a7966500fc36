package kernels

import (
	"context"
	"errors"
	"runtime"
	"testing"
)

// TestZeros checks that new memory is cleared, whatever it held before, and keeps its contents
// while it is in use, and that a call that has ended does not clear it to the end.
func TestZeros(t *testing.T) {
	for _, n := range []int{0, 1, freshLeast - 1, freshLeast, freshLeast + 3, 1 << 21} {
		testZeros[float64](t, n)
		testZeros[int32](t, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	k := Available()[0].Until(ctx)
	cancel()
	err := func() (err error) {
		defer Caught(&err)
		Zeros[float64](k, 1<<21)
		return nil
	}()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, of a call that has ended", err)
	}
}

func testZeros[T float64 | int32](t *testing.T, n int) {
	for range 3 {
		x := Zeros[T](Available()[0], n)
		if len(x) != n {
			t.Fatalf("%d numbers, want %d", len(x), n)
		}
		for i := range x {
			if x[i] != 0 {
				t.Fatalf("%d numbers: %v at %d", n, x[i], i)
			}
			x[i] = T(i) + 1
		}
		runtime.GC()
		beside := Undefined[T](n)
		for i := range beside {
			beside[i] = -1
		}
		for i := range x {
			if x[i] != T(i)+1 {
				t.Fatalf("%d numbers: %v at %d, of those held", n, x[i], i)
			}
		}
	}
}
