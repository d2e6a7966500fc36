package cd

import (
	"context"
	"math"
	"math/bits"

	"github.com/seed-45b9a24c/pare/model"
)

// sweeper is coordinate descent over the samples that may still move.
//
// Samples at a bound whose gradient points out of the box by more than the
// largest violation of the last sweep are set aside (Hsieh et al., ICML 2008,
// section 3.2). That is a guess: every certificate looks at all samples again.
//
// Blocks of 8 neighbours are visited in random order: random order converges
// several times faster than cyclic order where neighbouring samples are alike,
// and blocks keep the entries of a visit together in memory.
//
// A step on one sample waits for that on the one before, through memory. Where
// the sweeps so far have cost as much as the products within blocks would,
// those are computed, and from then on the margins of a block come from one
// kernel call, corrected by its 8 × 8 products while its samples move. The
// samples left are packed together again as they become fewer.
type sweeper struct {
	here   pack  // the samples being swept: all of X, or what is packed
	all    pack  // X's own storage
	packed pack  // a copy of the samples left
	over   float64 // largest mᵢ − 1 of the last sweep that a bound does not excuse
	under  float64 // smallest
	random uint64  // state of SplitMix64, seeded anew by every solve
	left   int     // epochs left in this solve
	factor float64 // the estimated gap asked for, relative to the target

	margins     [block]float64 // of the block at hand
	free        int            // samples that were free in the last sweep
	freeEntries int
	spent       float64 // modelled cost of sweeps since the last Newton step
	rent        float64 // and since the samples were packed
	reluctant   float64 // factor on the price of Newton steps after failures
}

const (
	block      = 8
	firstTry   = 1       // of the target, before the first certificate
	leastTry   = 1e-4    // where rounding ends the tightening
	pollEvery  = 1 << 19 // entries between two looks at the context
	fewInBlock = 2       // samples of a block that are better taken one by one
)

// pack is a list of samples in blocks.
type pack struct {
	position []int32 // of each sample, in the solver's order
	from     []int64
	rows     []int32
	values   []float64
	products []float64 // 8 × 8 for each block; empty: not computed

	blocks []int32 // with samples that may move
	live   []uint8 // block → which of its samples those are
	count  int     // of them
	length int     // their entries
}
