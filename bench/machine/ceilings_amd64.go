//go:build !purego

package machine

import "github.com/seed-45b9a24c/pare/kernels"

//go:noescape
func fmaAVX2(iterations int)

//go:noescape
func readAVX2(x []float64)

//go:noescape
func triadAVX2(a, b, c []float64)

//go:noescape
func fmaAVX512(iterations int)

//go:noescape
func readAVX512(x []float64)

//go:noescape
func triadAVX512(a, b, c []float64)

// fastest returns the loops for the best instruction set that the kernels have found.
func fastest() loops {
	l := portable()
	for _, k := range kernels.Available() {
		switch k.Name {
		case "avx2":
			l = loops{"avx2", fmaAVX2, 12 * 4 * 2, readAVX2, triadAVX2}
		case "avx512":
			l = loops{"avx512", fmaAVX512, 12 * 8 * 2, readAVX512, triadAVX512}
		}
	}
	return l
}
