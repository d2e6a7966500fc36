package kernels

import (
	"strings"
	"unsafe"
)

// freshLeast is how many numbers are worth the trouble: to clear fewer takes a moment.
const freshLeast = 1 << 16

// flat are the numbers that can be left uncleared, and what is made of them alone.
type flat interface {
	float64 | int | int32 | int64 | uint64 | BoxVariable
}

// Undefined returns n numbers of any value. The runtime clears what it makes, and a gigabyte takes
// it 70 ms in which no call can end.
func Undefined[T flat](n int) []T {
	if n < freshLeast {
		x := make([]T, n)
		spoil(x)
		return x
	}
	const ahead = 64 // the builder's string, which must not change
	var zero T
	var memory strings.Builder // does not clear what it grows by
	memory.Grow(ahead + n*int(unsafe.Sizeof(zero)))
	memory.WriteByte(0)
	x := unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(unsafe.StringData(memory.String())), ahead)), n)
	spoil(x)
	return x
}

// Zeros returns n zeros, cleared in pieces.
func Zeros[T flat](s *Set, n int) []T {
	if n < freshLeast {
		return make([]T, n)
	}
	x := Undefined[T](n)
	Clear(s, x)
	return x
}
