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

func raceGather(rows []int32, y []float64) {
	for _, r := range rows {
		runtime.RaceRead(unsafe.Pointer(&y[r]))
	}
}

func raceLanes(rows []int32, y []float64) {
	for _, r := range rows {
		runtime.RaceReadRange(unsafe.Pointer(&y[Lanes*int(r)]), 8*Lanes)
	}
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
