//go:build !purego

package amd64

// SubPanelAVX2 does t[l] ← t[l] − Σ x[k]·y[k·stride+l] for 8 lanes l, in 4 partial
// sums.
//
//go:noescape
func SubPanelAVX2(x, y []float64, stride int, t []float64)

// SubTileAVX2 does t[c·stride+l] ← t[c·stride+l] − Σ x[c·stride+k]·y[k·stride+l]
// for c, l < 8, in the order of k < m.
//
//go:noescape
func SubTileAVX2(x, y []float64, stride, m int, t []float64)

// SolveTileAVX2 solves L·X = T in place of the 8 × 8 tile at t, with the lower
// triangle at l.
//
//go:noescape
func SolveTileAVX2(l []float64, stride int, t []float64)

// SubPanelAVX512 is SubPanelAVX2 with wider registers, and the same bits.
//
//go:noescape
func SubPanelAVX512(x, y []float64, stride int, t []float64)

// SubTileAVX512 is SubTileAVX2 with wider registers, and the same bits.
//
//go:noescape
func SubTileAVX512(x, y []float64, stride, m int, t []float64)

// SolveTileAVX512 is SolveTileAVX2 with wider registers, and the same bits.
//
//go:noescape
func SolveTileAVX512(l []float64, stride int, t []float64)
