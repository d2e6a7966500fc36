//go:build !purego

package arm64

// SubPanelNEON does t[l] ← t[l] − Σ x[k]·y[k·stride+l] for 8 lanes l, in 4 partial
// sums.
//
//go:noescape
func SubPanelNEON(x, y []float64, stride int, t []float64)

// SubTileNEON does t[c·stride+l] ← t[c·stride+l] − Σ x[c·stride+k]·y[k·stride+l]
// for c, l < 8, in the order of k < m.
//
//go:noescape
func SubTileNEON(x, y []float64, stride, m int, t []float64)

// SolveTileNEON solves L·X = T in place of the 8 × 8 tile at t, with the lower
// triangle at l.
//
//go:noescape
func SolveTileNEON(l []float64, stride int, t []float64)
