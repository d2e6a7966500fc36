//go:build !purego

package amd64

// DotLanesAVX2 does out[l] ← Σ values[k]·y[8·(rows[k]−first)+l] for 8 lanes l, each in
// the 4 partial sums of DotIndexedAVX2.
//
//go:noescape
func DotLanesAVX2(values []float64, rows []int32, y []float64, first int, out *[8]float64)

// DotLanesAVX512 is DotLanesAVX2 with AVX-512.
//
//go:noescape
func DotLanesAVX512(values []float64, rows []int32, y []float64, first int, out *[8]float64)

// AddLanesAVX2 does out[8c+l] ← out[8c+l] + DotLanesAVX2 of the entries from[c] ≤ k < to[c], for
// len(from) columns. It stops where DotSpansAVX2 does.
//
//go:noescape
func AddLanesAVX2(from, to []int64, rows []int32, values, y []float64, first int, out []float64) (done int)

// AddLanesAVX512 is AddLanesAVX2 with AVX-512.
//
//go:noescape
func AddLanesAVX512(from, to []int64, rows []int32, values, y []float64, first int, out []float64) (done int)

// DotLanesMaskedAVX2 is DotLanesAVX2 over the entries whose row has bit l set in
// its mask.
//
//go:noescape
func DotLanesMaskedAVX2(values []float64, rows []int32, mask []uint8, y []float64, out *[8]float64)

// DotLanesMaskedAVX512 is DotLanesMaskedAVX2 with AVX-512.
//
//go:noescape
func DotLanesMaskedAVX512(values []float64, rows []int32, mask []uint8, y []float64, out *[8]float64)

// AxpyLanesAVX2 does y[8·rows[k]+l] ← fma(a[l], values[k], y[8·rows[k]+l]) for 8
// lanes l, rows distinct.
//
//go:noescape
func AxpyLanesAVX2(a *[8]float64, values []float64, rows []int32, y []float64)

// AxpyLanesAVX512 is AxpyLanesAVX2 with AVX-512.
//
//go:noescape
func AxpyLanesAVX512(a *[8]float64, values []float64, rows []int32, y []float64)
