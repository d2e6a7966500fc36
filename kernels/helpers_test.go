package kernels_test

import "unsafe"

// moved copies v to where its address is the given number of bytes past a
// multiple of 128.
func moved(v []float64, bytes int) []float64 {
	return movedTo(v, bytes)
}

func movedRows(v []int32, bytes int) []int32 {
	return movedTo(v, bytes)
}

func movedTo[T float64 | float32 | int32](v []T, bytes int) []T {
	if len(v) == 0 {
		return v
	}
	size := len(v) * int(unsafe.Sizeof(v[0]))
	room := make([]byte, size+256)
	start := -uintptr(unsafe.Pointer(&room[0]))%128 + uintptr(bytes)
	at := room[start : int(start)+size]
	copy(at, unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), size))
	return unsafe.Slice((*T)(unsafe.Pointer(&at[0])), len(v))
}

// bytesApart copies v, byte by byte, to where a float64 belongs.
func bytesApart(v []float64) []float64 {
	if len(v) == 0 {
		return v
	}
	w := make([]float64, len(v))
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), 8*len(w)), unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), 8*len(v)))
	return w
}
