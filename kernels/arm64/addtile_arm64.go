//go:build !purego

package arm64

// AddTileNEON does t[c·stride+l] ← t[c·stride+l] + Σ x[c][k]·y[8k+l] for c, l < 8, in
// the order of at ≤ k < at+m, m > 0.
//
//go:noescape
func AddTileNEON(x *[8][]float64, y []float64, at, m, stride int, t []float64)
