//go:build !purego

package amd64

// DotLanesAVX2 does out[l] ← Σ values[k]·y[8·rows[k]+l] for 8 lanes l, each in
// the 4 partial sums of DotIndexedAVX2.
//
//go:noescape
func DotLanesAVX2(values []float64, rows []int32, y []float64, out *[8]float64)

// DotLanesAVX512 is DotLanesAVX2 with AVX-512.
//
//go:noescape
func DotLanesAVX512(values []float64, rows []int32, y []float64, out *[8]float64)
