//go:build !purego

package amd64

// DotTileAVX2 does the dot products of x[0], x[1] with y[0], y[1] over n elements
// from at on, each with the bits of DotAVX2: out[0], out[1] for x[0], out[4],
// out[5] for x[1].
//
//go:noescape
func DotTileAVX2(x, y *[2][]float64, at, n int, out *[6]float64)

// DotTileAVX512 does out[4a+b] ← x[a]·y[b] over n elements from at on, each with the
// bits of DotAVX512.
//
//go:noescape
func DotTileAVX512(x, y *[4][]float64, at, n int, out *[16]float64)
