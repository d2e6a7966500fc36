//go:build !purego

package amd64

// ExpAVX2 does dst_i ← e^x_i; dst may be x.
//
//go:noescape
func ExpAVX2(dst, x []float64)

// LogAVX2 does dst_i ← ln x_i; dst may be x.
//
//go:noescape
func LogAVX2(dst, x []float64)

// Log1pExpAVX2 does dst_i ← ln(1 + e^x_i); dst may be x.
//
//go:noescape
func Log1pExpAVX2(dst, x []float64)

// SigmoidAVX2 does dst_i ← 1/(1 + e^−x_i); dst may be x.
//
//go:noescape
func SigmoidAVX2(dst, x []float64)

// ExpAVX512 does dst_i ← e^x_i; dst may be x.
//
//go:noescape
func ExpAVX512(dst, x []float64)

// LogAVX512 does dst_i ← ln x_i; dst may be x.
//
//go:noescape
func LogAVX512(dst, x []float64)

// Log1pExpAVX512 does dst_i ← ln(1 + e^x_i); dst may be x.
//
//go:noescape
func Log1pExpAVX512(dst, x []float64)

// SigmoidAVX512 does dst_i ← 1/(1 + e^−x_i); dst may be x.
//
//go:noescape
func SigmoidAVX512(dst, x []float64)
