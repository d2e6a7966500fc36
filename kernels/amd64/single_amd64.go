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

// DotSingleAVX512 is DotAVX512 with x stored in 32 bits.
//
//go:noescape
func DotSingleAVX512(x []float32, y []float64) float64

// AxpySingleAVX512 is AxpyAVX512 with x stored in 32 bits.
//
//go:noescape
func AxpySingleAVX512(a float64, x []float32, y []float64)
