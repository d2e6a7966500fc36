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

// BellAVX2 does dst_i ← σ(x_i)σ(−x_i); dst may be x.
//
//go:noescape
func BellAVX2(dst, x []float64)

// BellAVX512 is BellAVX2 with wider registers.
//
//go:noescape
func BellAVX512(dst, x []float64)

// DivergenceAVX2 does dst_i ← (1 − c)·ln(1 + e^(rest − y_i·m_i)) + c·whole, c = |scale·t_i|, where the sign
// bit of y_i is the index in rest and whole; dst may be y, m or t.
//
//go:noescape
func DivergenceAVX2(dst, y, m, t []float64, scale float64, rest, whole [2]float64)

// DivergenceAVX512 is DivergenceAVX2 with wider registers.
//
//go:noescape
func DivergenceAVX512(dst, y, m, t []float64, scale float64, rest, whole [2]float64)
