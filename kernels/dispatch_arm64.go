//go:build !purego

package kernels

import "github.com/seed-45b9a24c/pare/kernels/arm64"

// native lists the sets besides pure Go: every arm64 CPU has NEON.
func native() []*Set {
	return []*Set{newSet("neon", &primitives{
		dot:            arm64.DotNEON,
		dotDense:       dotDenseBy(arm64.DotNEON),
		dotDenseSingle: dotDenseBy(arm64.DotSingleNEON),
		axpy:           arm64.AxpyNEON,
		scal:           arm64.ScalNEON,
		product:        productGo,
		asum:           arm64.AsumNEON,
		maxAbs:         arm64.MaxAbsNEON,
		countAnd:       arm64.CountAndNEON,
		pick:           pickGo,
		dotIndexed:     arm64.DotIndexedNEON,
		axpyIndexed:    arm64.AxpyIndexedNEON,
		scaleIndexed:   arm64.ScaleIndexedNEON,
		dotSpans:       arm64.DotSpansNEON,
		axpySpans:      arm64.AxpySpansNEON,
		dotLanes:       arm64.DotLanesNEON,
		addLanes:       addLanesBy(arm64.DotLanesNEON),
		dotLanesMasked: arm64.DotLanesMaskedNEON,
		axpyLanes:      arm64.AxpyLanesNEON,
		subPanel:       arm64.SubPanelNEON,
		subTile:        arm64.SubTileNEON,
		solveTile:      arm64.SolveTileNEON,
		addTile:        arm64.AddTileNEON,

		// In Go, because Go's assembler lacks the vector instructions that these need:
		// conversion of 32 bits, and sums, products, maxima and comparisons of
		// floating-point numbers.
		squaresDense:  squaresDenseGo,
		reach:         reachGo,
		margin:        marginGo,
		moments:       momentsGo,
		columnMoments: columnMomentsGo,
		marks:         marksGo,
		numbers:       numbersGo,
		exp:           expGo,
		log:           logGo,
		log1pExp:      log1pExpGo,
		sigmoid:       sigmoidGo,
		bell:          bellGo,
		divergence:    divergenceGo,

		epoch: func(e *Epoch, from, to int) int {
			return arm64.EpochNEON((*arm64.Epoch)(e), from, to)
		},
		gramEpoch: func(e *GramEpoch, from, to, moves int) (next, moved int) {
			return arm64.GramEpochNEON((*arm64.GramEpoch)(e), from, to, moves)
		},
		boxEpoch: func(e *BoxEpoch, from, to, kept int) int {
			return arm64.BoxEpochNEON((*arm64.BoxEpoch)(e), from, to, kept)
		},
	})}
}

// relax waits for a moment.
func relax() { arm64.Relax(1) }
