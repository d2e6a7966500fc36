//go:build !purego

package amd64

// DotDenseSingleAVX2 is DotDenseAVX2 with values stored in 32 bits.
//
//go:noescape
func DotDenseSingleAVX2(values []float32, y, out []float64)

// DotDenseSingleAVX512 is DotDenseAVX512 with values stored in 32 bits.
//
//go:noescape
func DotDenseSingleAVX512(values []float32, y, out []float64)
