//go:build !purego

package arm64

// DotTileNEON does the dot products of x[0], x[1] with y[0], y[1] over n elements
// from at on, each with the bits of DotNEON: out[0], out[1] for x[0], out[4],
// out[5] for x[1].
//
//go:noescape
func DotTileNEON(x, y *[2][]float64, at, n int, out *[6]float64)
