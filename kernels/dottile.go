package kernels

// TileColumns is the number of vectors on either side of DotTile.
const TileColumns = 4

//go:noinline
func newDotTile(
	loop func(x, y *[TileColumns][]float64, at, n int, out *[TileColumns * TileColumns]float64),
) func(x, y *[TileColumns][]float64, out *[TileColumns * TileColumns]float64) {
	return func(x, y *[TileColumns][]float64, out *[TileColumns * TileColumns]float64) {
		n := len(x[0])
		for a := range TileColumns {
			if len(x[a]) != n || len(y[a]) != n {
				panic("kernels: DotTile: lengths differ")
			}
			raceRead(x[a])
			raceRead(y[a])
		}
		var sum [TileColumns * TileColumns]float64
		for at := 0; at < n; at += Block {
			loop(x, y, at, min(n-at, Block), out)
			for i := range sum {
				sum[i] += out[i]
			}
		}
		*out = sum
	}
}

func dotTileGo(x, y *[TileColumns][]float64, at, n int, out *[TileColumns * TileColumns]float64) {
	for a := range x {
		for b := range y {
			out[TileColumns*a+b] = dotGo(x[a][at:at+n], y[b][at:at+n])
		}
	}
}

// byQuarters makes a tile of four quarters of 2 × 2.
func byQuarters(
	quarter func(x, y *[2][]float64, at, n int, out *[6]float64),
) func(x, y *[TileColumns][]float64, at, n int, out *[TileColumns * TileColumns]float64) {
	return func(x, y *[TileColumns][]float64, at, n int, out *[TileColumns * TileColumns]float64) {
		for a := 0; a < TileColumns; a += 2 {
			for b := 0; b < TileColumns; b += 2 {
				quarter((*[2][]float64)(x[a:]), (*[2][]float64)(y[b:]), at, n, (*[6]float64)(out[TileColumns*a+b:]))
			}
		}
	}
}
