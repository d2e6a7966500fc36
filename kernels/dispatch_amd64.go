//go:build !purego

package kernels

import (
	"runtime"

	"github.com/klauspost/cpuid/v2"

	"github.com/seed-45b9a24c/pare/kernels/amd64"
)

// native lists the sets that this CPU and operating system support, slowest
// first. cpuid reports a feature only if the operating system saves the
// registers that it needs.
func native() []*Set { //nolint:funlen // a table
	if !cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.POPCNT) {
		return nil
	}
	avx2 := primitives{
		dot:            amd64.DotAVX2,
		dotDense:       amd64.DotDenseAVX2,
		dotDenseSpans:  amd64.DotDenseSpansAVX2,
		axpyDenseSpans: amd64.AxpyDenseSpansAVX2,
		squaresDense:   amd64.SquaresDenseAVX2,
		axpy:           amd64.AxpyAVX2,
		scal:           amd64.ScalAVX2,
		product:        amd64.ProductAVX2,
		asum:           amd64.AsumAVX2,
		maxAbs:         amd64.MaxAbsAVX2,
		reach:          amd64.ReachAVX2,
		margin:         amd64.MarginAVX2,
		countAnd:       amd64.CountAndAVX2,
		pick:           pickGo,
		dotIndexed:     amd64.DotIndexedAVX2,
		axpyIndexed:    amd64.AxpyIndexedAVX2,
		scaleIndexed:   amd64.ScaleIndexedAVX2,
		dotSpans:       amd64.DotSpansAVX2,
		axpySpans:      amd64.AxpySpansAVX2,
		moments:        amd64.MomentsAVX2,
		columnMoments: func(rows []int32, values, pairs []float64) (square, sum, dot float64) {
			span, out := [2]int64{0, int64(len(rows))}, [3]float64{}
			amd64.MomentsAVX2(span[:], rows, values, pairs, out[:1], out[1:2], out[2:])
			return out[0], out[1], out[2]
		},
		dotLanes:       amd64.DotLanesAVX2,
		addLanes:       amd64.AddLanesAVX2,
		dotLanesMasked: amd64.DotLanesMaskedAVX2,
		axpyLanes:      amd64.AxpyLanesAVX2,
		dotDenseSingle: amd64.DotDenseSingleAVX2,
		subPanel:       amd64.SubPanelAVX2,
		subTile:        amd64.SubTileAVX2,
		solveTile:      amd64.SolveTileAVX2,
		addTile:        amd64.AddTileAVX2,
		marks:          amd64.MarksAVX2,
		numbers:        amd64.NumbersAVX2,
		exp:            amd64.ExpAVX2,
		log:            amd64.LogAVX2,
		log1pExp:       amd64.Log1pExpAVX2,
		sigmoid:        amd64.SigmoidAVX2,
		bell:           amd64.BellAVX2,
		divergence:     amd64.DivergenceAVX2,
		epoch: func(e *Epoch, from, to int) int {
			return amd64.EpochAVX2((*amd64.Epoch)(e), from, to)
		},
		gramEpoch: func(e *GramEpoch, from, to, moves int) (next, moved int) {
			return amd64.GramEpochAVX2((*amd64.GramEpoch)(e), from, to, moves)
		},
		denseEpoch: func(e *DenseEpoch, from, to int) (moved int) {
			return amd64.DenseEpochAVX2((*amd64.DenseEpoch)(e), from, to)
		},
		boxEpoch: func(e *BoxEpoch, from, to, kept int) int {
			return amd64.BoxEpochAVX2((*amd64.BoxEpoch)(e), from, to, kept)
		},
	}
	// Darwin loses mask registers to signals (golang.org/issue/49233).
	if runtime.GOOS == "darwin" ||
		!cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512VL) {
		return []*Set{newSet("avx2", &avx2)}
	}
	avx512 := avx2 // indexed loops gain nothing from wide registers
	avx512.dot = amd64.DotAVX512
	avx512.dotDense = amd64.DotDenseAVX512
	avx512.squaresDense = amd64.SquaresDenseAVX512
	avx512.axpy = amd64.AxpyAVX512
	avx512.scal = amd64.ScalAVX512
	avx512.product = amd64.ProductAVX512
	avx512.asum = amd64.AsumAVX512
	avx512.maxAbs = amd64.MaxAbsAVX512
	avx512.reach = amd64.ReachAVX512
	if cpuid.CPU.Supports(cpuid.AVX512VPOPCNTDQ) { // the first CPUs with AVX-512 lack it
		avx512.countAnd = amd64.CountAndAVX512
	}
	avx512.pick = amd64.PickAVX512
	avx512.dotLanes = amd64.DotLanesAVX512
	avx512.addLanes = amd64.AddLanesAVX512
	avx512.dotLanesMasked = amd64.DotLanesMaskedAVX512
	avx512.axpyLanes = amd64.AxpyLanesAVX512
	avx512.dotDenseSingle = amd64.DotDenseSingleAVX512
	avx512.subPanel = amd64.SubPanelAVX512
	avx512.subTile = amd64.SubTileAVX512
	avx512.solveTile = amd64.SolveTileAVX512
	avx512.addTile = amd64.AddTileAVX512
	avx512.exp = amd64.ExpAVX512
	avx512.log = amd64.LogAVX512
	avx512.log1pExp = amd64.Log1pExpAVX512
	avx512.sigmoid = amd64.SigmoidAVX512
	avx512.bell = amd64.BellAVX512
	avx512.divergence = amd64.DivergenceAVX512
	avx512.denseEpoch = func(e *DenseEpoch, from, to int) (moved int) {
		return amd64.DenseEpochAVX512((*amd64.DenseEpoch)(e), from, to)
	}
	return []*Set{newSet("avx2", &avx2), newSet("avx512", &avx512)}
}

// relax waits for a moment.
func relax() { amd64.Relax(1) }
