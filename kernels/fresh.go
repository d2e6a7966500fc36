package kernels

import (
	"strings"
	"unsafe"
)

// freshLeast is the least number of elements that are left uncleared: to clear fewer takes hardly any time.
const freshLeast = 1 << 16

// flat has the types that can be left uncleared: numbers, and structs of numbers.
type flat interface {
	float64 | int | int32 | int64 | uint64 | BoxVariable
}

// Undefined returns n elements whose values are undefined. make would clear them, which takes 70 ms
// for a gigabyte, during which no call can be cancelled.
func Undefined[T flat](n int) []T {
	if n < freshLeast {
		x := make([]T, n)
		spoil(x)
		return x
	}
	const ahead = 64 // bytes before x, for the builder's string, which must not change
	var zero T
	var memory strings.Builder // does not clear the memory that it grows by
	memory.Grow(ahead + n*int(unsafe.Sizeof(zero)))
	memory.WriteByte(0)
	x := unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(unsafe.StringData(memory.String())), ahead)), n)
	spoil(x)
	return x
}

// Zeros returns n zeros, which are cleared in pieces.
func Zeros[T flat](s *Set, n int) []T {
	if n < freshLeast {
		return make([]T, n)
	}
	x := Undefined[T](n)
	Clear(s, x)
	return x
}
