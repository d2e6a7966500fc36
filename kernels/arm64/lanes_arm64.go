//go:build !purego

package arm64

// DotLanesNEON does out[l] ← Σ values[k]·y[8·(rows[k]−first)+l] for 8 lanes l, each in
// the 4 partial sums of DotIndexedNEON.
//
//go:noescape
func DotLanesNEON(values []float64, rows []int32, y []float64, first int, out *[8]float64)

// AxpyLanesNEON does y[8·rows[k]+l] ← fma(a[l], values[k], y[8·rows[k]+l]) for 8
// lanes l, rows distinct.
//
//go:noescape
func AxpyLanesNEON(a *[8]float64, values []float64, rows []int32, y []float64)

// DotLanesMaskedNEON is DotLanesNEON with rows left out by lane: entry k counts in
// lane l if bit l of mask[rows[k]] is set.
//
//go:noescape
func DotLanesMaskedNEON(values []float64, rows []int32, mask []uint8, y []float64, out *[8]float64)
