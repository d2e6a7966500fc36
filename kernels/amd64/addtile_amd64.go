//go:build !purego

package amd64

// AddTileAVX2 does t[c·stride+l] ← t[c·stride+l] + Σ x[c][k]·y[8k+l] for c, l < 8, in
// the order of at ≤ k < at+m, m > 0.
//
//go:noescape
func AddTileAVX2(x *[8][]float64, y []float64, at, m, stride int, t []float64)

// AddTileAVX512 is AddTileAVX2 with wider registers, and the same bits.
//
//go:noescape
func AddTileAVX512(x *[8][]float64, y []float64, at, m, stride int, t []float64)
