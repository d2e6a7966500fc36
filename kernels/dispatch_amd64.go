//go:build !purego

package kernels

import (
	"github.com/klauspost/cpuid/v2"

	"github.com/seed-45b9a24c/pare/kernels/amd64"
)

// native lists the sets that this CPU and operating system support, slowest
// first. cpuid reports a feature only if the operating system saves the
// registers that it needs.
func native() []*Set {
	var sets []*Set
	if cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3) {
		sets = append(sets, newSet("avx2", primitives{
			dot:         amd64.DotAVX2,
			axpy:        amd64.AxpyAVX2,
			scal:        amd64.ScalAVX2,
			asum:        amd64.AsumAVX2,
			maxAbs:      amd64.MaxAbsAVX2,
			dotIndexed:  amd64.DotIndexedAVX2,
			axpyIndexed: amd64.AxpyIndexedAVX2,
			dotColumns:  amd64.DotColumnsAVX2,
			epoch: func(e *Epoch, from, to int) int {
				return amd64.EpochAVX2((*amd64.Epoch)(e), from, to)
			},
		}))
	}
	return sets
}
