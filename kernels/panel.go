package kernels

import "math"

// The three operations of a Cholesky factorisation by tiles of 8 × 8. Their operands
// are parts of matrices stored row by row; stride is the distance between two rows.

// rowsFit reports whether v is long enough for rows of the given width, stride apart.
func rowsFit(v []float64, stride, rows, width int) bool {
	return rows == 0 || (rows-1)*stride+width <= len(v)
}

//go:noinline
func newSubPanel(
	loop func(x, y []float64, stride int, t []float64), s *Set,
) func(x, y []float64, stride int, t []float64) {
	return func(x, y []float64, stride int, t []float64) {
		if stride < Lanes {
			panic("kernels: SubPanel: stride is less than 8")
		}
		if len(t) < Lanes || !rowsFit(y, stride, len(x), Lanes) {
			panic("kernels: SubPanel: t or y is too short")
		}
		raceRead(x)
		raceReadRows(y, stride, len(x), Lanes)
		raceWrite(t[:Lanes])
		for len(x) > panelBlock {
			loop(x[:panelBlock], y, stride, t)
			x, y = x[panelBlock:], y[panelBlock*stride:]
			s.between(len(x))
		}
		if len(x) > 0 {
			loop(x, y, stride, t)
		}
	}
}

// panelBlock is the number of rows of 8 elements in a block.
const panelBlock = Block / Lanes

//go:noinline
func newSubTile(
	loop func(x, y []float64, stride, m int, t []float64), s *Set,
) func(x, y []float64, stride, m int, t []float64) {
	return func(x, y []float64, stride, m int, t []float64) {
		if m < 0 || stride < Lanes {
			panic("kernels: SubTile: m is negative, or stride less than 8")
		}
		if !rowsFit(x, stride, Lanes, m) || !rowsFit(y, stride, m, Lanes) || !rowsFit(t, stride, Lanes, Lanes) {
			panic("kernels: SubTile: x, y or t is too short")
		}
		raceReadRows(x, stride, Lanes, m)
		raceReadRows(y, stride, m, Lanes)
		raceWriteRows(t, stride, Lanes, Lanes)
		for ; m > panelBlock; m -= panelBlock {
			loop(x, y, stride, panelBlock, t)
			x, y = x[panelBlock:], y[panelBlock*stride:]
			s.between(m)
		}
		if m > 0 {
			loop(x, y, stride, m, t)
		}
	}
}

//go:noinline
func newSolveTile(loop func(l []float64, stride int, t []float64)) func(l []float64, stride int, t []float64) {
	return func(l []float64, stride int, t []float64) {
		if stride < Lanes {
			panic("kernels: SolveTile: stride is less than 8")
		}
		if !rowsFit(l, stride, Lanes, Lanes) || !rowsFit(t, stride, Lanes, Lanes) {
			panic("kernels: SolveTile: l or t is too short")
		}
		raceReadRows(l, stride, Lanes, Lanes)
		raceWriteRows(t, stride, Lanes, Lanes)
		loop(l, stride, t)
	}
}

func subPanelGo(x, y []float64, stride int, t []float64) {
	var s [4][Lanes]float64
	for k, v := range x {
		row, sum := (*[Lanes]float64)(y[k*stride:]), &s[k%4]
		for l := range sum {
			sum[l] = math.FMA(v, row[l], sum[l])
		}
	}
	for l := range s[0] {
		t[l] -= (s[0][l] + s[2][l]) + (s[1][l] + s[3][l])
	}
}

func subTileGo(x, y []float64, stride, m int, t []float64) {
	for c := range Lanes {
		sum := (*[Lanes]float64)(t[c*stride:])
		for k, v := range x[c*stride:][:m] {
			row := (*[Lanes]float64)(y[k*stride:])
			for l := range sum {
				sum[l] = math.FMA(-v, row[l], sum[l])
			}
		}
	}
}

func solveTileGo(l []float64, stride int, t []float64) {
	for c := range Lanes {
		solved := (*[Lanes]float64)(t[c*stride:])
		inverse := 1 / l[c*stride+c]
		for i := range solved {
			solved[i] = float64(solved[i] * inverse)
		}
		for d := c + 1; d < Lanes; d++ {
			row, v := (*[Lanes]float64)(t[d*stride:]), l[d*stride+c]
			for i := range row {
				row[i] = math.FMA(-v, solved[i], row[i])
			}
		}
	}
}
