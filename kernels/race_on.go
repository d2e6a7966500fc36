//go:build race

package kernels

import (
	"runtime"
	"unsafe"
)

func raceRead[T any](x []T) {
	if len(x) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(&x[0]), len(x)*int(unsafe.Sizeof(x[0])))
	}
}

func raceWrite[T any](x []T) {
	if len(x) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(&x[0]), len(x)*int(unsafe.Sizeof(x[0])))
	}
}

func raceGather[T any](rows []int32, y []T) {
	for _, r := range rows {
		runtime.RaceRead(unsafe.Pointer(&y[r]))
	}
}

func raceLanes(rows []int32, y []float64, first int) {
	for _, r := range rows {
		runtime.RaceReadRange(unsafe.Pointer(&y[Lanes*(int(r)-first)]), 8*Lanes)
	}
}

// raceEach reports columns as read, and calls meet with the rows of each.
func raceEach(from, to []int64, rows []int32, values []float64, meet func(rows []int32)) {
	raceRead(from)
	raceRead(to)
	for c := range from {
		if i, j := from[c], to[c]; 0 <= i && i <= j && j <= int64(len(rows)) {
			raceRead(values[i:j])
			raceRead(rows[i:j])
			meet(rows[i:j])
		}
	}
}

// raceDense reports dense columns of n elements as read.
func raceDense(from []int64, values []float64, n int) {
	raceRead(from)
	for _, at := range from {
		raceRead(values[at:][:n])
	}
}

func raceAddLanes(from, to []int64, rows []int32, values, y []float64, first int, out []float64) {
	raceWrite(out)
	raceEach(from, to, rows, values, func(rows []int32) { raceLanes(rows, y, first) })
}

func raceSpans(from, to []int64, rows []int32, values, y, out []float64) {
	raceWrite(out)
	raceEach(from, to, rows, values, func(rows []int32) { raceGather(rows, y) })
}

func raceScatterSpans(a []float64, from, to []int64, rows []int32, values, y []float64) {
	raceRead(a)
	raceEach(from, to, rows, values, func(rows []int32) { raceScatter(rows, y) })
}

func raceScatterLanes(rows []int32, y []float64) {
	for _, r := range rows {
		runtime.RaceWriteRange(unsafe.Pointer(&y[Lanes*int(r)]), 8*Lanes)
	}
}

func raceScatter(rows []int32, y []float64) {
	for _, r := range rows {
		runtime.RaceWrite(unsafe.Pointer(&y[r]))
	}
}

func raceReadRows(x []float64, stride, rows, width int) {
	for i := range rows {
		raceRead(x[i*stride:][:width])
	}
}

func raceWriteRows(x []float64, stride, rows, width int) {
	for i := range rows {
		raceWrite(x[i*stride:][:width])
	}
}

// spoil fills x with values that make results wrong: NaN, or −1 for integers.
//
//go:norace
func spoil[T any](x []T) {
	if len(x) == 0 {
		return
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))
	bytes[0] = 0xff
	for n := 1; n < len(bytes); n *= 2 {
		copy(bytes[n:], bytes[:n])
	}
}
