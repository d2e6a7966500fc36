package kernels

import "math"

//go:noinline
func newAddTile(
	loop func(x *[Lanes][]float64, y []float64, at, m, stride int, t []float64), s *Set,
) func(x *[Lanes][]float64, y []float64, stride int, t []float64) {
	return func(x *[Lanes][]float64, y []float64, stride int, t []float64) {
		m := len(x[0])
		for c := range x {
			if len(x[c]) != m {
				panic("kernels: AddTile: lengths differ")
			}
			raceRead(x[c])
		}
		if len(y) != Lanes*m {
			panic("kernels: AddTile: y must have 8 elements for each of a vector")
		}
		if stride < Lanes || !rowsFit(t, stride, Lanes, Lanes) {
			panic("kernels: AddTile: stride is less than 8, or t too short")
		}
		raceRead(y)
		raceWriteRows(t, stride, Lanes, Lanes)
		for at := 0; at < m; at += panelBlock {
			loop(x, y, at, min(m-at, panelBlock), stride, t)
			s.between(m - at - panelBlock)
		}
	}
}

func addTileGo(x *[Lanes][]float64, y []float64, at, m, stride int, t []float64) {
	for c := range x {
		sum := (*[Lanes]float64)(t[c*stride:])
		for k := at; k < at+m; k++ {
			row, v := (*[Lanes]float64)(y[Lanes*k:]), x[c][k]
			for l := range sum {
				sum[l] = math.FMA(v, row[l], sum[l])
			}
		}
	}
}
