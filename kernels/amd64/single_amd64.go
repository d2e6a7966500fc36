//go:build !purego

package amd64

// DotSingleAVX2 is DotAVX2 with x stored in 32 bits.
//
//go:noescape
func DotSingleAVX2(x []float32, y []float64) float64

// AxpySingleAVX2 is AxpyAVX2 with x stored in 32 bits.
//
//go:noescape
func AxpySingleAVX2(a float64, x []float32, y []float64)

// DotSingleLanesAVX2 does out[l] ← Σ values[k]·y[16·rows[k]+l] for 16 lanes l,
// stored in 32 bits, each in 2 partial sums.
//
//go:noescape
func DotSingleLanesAVX2(values []float64, rows []int32, y []float32, out *[16]float64)

// DotSingleAVX512 is DotAVX512 with x stored in 32 bits.
//
//go:noescape
func DotSingleAVX512(x []float32, y []float64) float64

// AxpySingleAVX512 is AxpyAVX512 with x stored in 32 bits.
//
//go:noescape
func AxpySingleAVX512(a float64, x []float32, y []float64)

// DotSingleLanesAVX512 is DotSingleLanesAVX2 with AVX-512.
//
//go:noescape
func DotSingleLanesAVX512(values []float64, rows []int32, y []float32, out *[16]float64)
