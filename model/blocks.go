package model

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Blocks is a penalty Σ g_B(β_B) over disjoint blocks of coefficients at one λ: groups of
// columns, the coefficients of a column for the scores of all classes, or single ones. The
// coefficients of a block are those of its columns in turn, for every column one for each
// score. It need not be convex; where it is, [ConvexBlocks] has what a duality gap takes.
type Blocks interface {
	// Hyperparameters returns r, the number of λ's that [Blocks.Sensitivity] knows.
	Hyperparameters() int
	// Value returns g_B(b).
	Value(block int, b []float64) float64
	// Prox sets out to prox_{γg_B}(z), the minimiser of ‖b − z‖²/2γ + g_B(b) for the step γ.
	// out may be z.
	Prox(block int, z []float64, step float64, out []float64)
	// Lack sets out to the smallest element of z − ∂g_B(b): with z = −∂f/∂b it is 0 where the
	// block is stationary.
	Lack(block int, b, z, out []float64)
	// Curvature adds ∇²g_B(b) to h, d × d row by row, in the rows and columns of entries that
	// are not 0.
	Curvature(block int, b, h []float64)
	// Sensitivity sets out to −∂²g_B/∂λᵢ∂b, the right-hand side of the implicit system, 0
	// where b is 0.
	Sensitivity(block, i int, b, out []float64)
	// Kinked reports that g_B has a kink wherever entry k is 0, whatever the others are.
	Kinked(block, k int) bool
	// Clearance returns how far from leaving it the entries of a block are that are 0, as a
	// share of what holds them there: 1 − |z|/α; 1 where there are none.
	Clearance(block int, b, z []float64) float64
	// Concavity returns a bound of −∇²g_B that the curvature of the loss in every coefficient
	// has to exceed; 0 where the penalty is convex.
	Concavity() float64
}

// ConvexBlocks is a convex penalty on blocks.
type ConvexBlocks interface {
	Blocks
	// Reach returns the largest c for which c·a is in the domain of the conjugate of g_B
	// without its ridge; +Inf where there is none.
	Reach(block int, a []float64) float64
	// Stronger returns the penalty with all strengths but that of the ridge times a factor.
	Stronger(times float64) ConvexBlocks
	// Ridge returns α₂.
	Ridge() float64
	// Excess returns the conjugate of g_B at z; only with a ridge.
	Excess(block int, z []float64) float64
}

// Partition says which columns make a block.
type Partition struct {
	of      []int32 // by column
	columns []int32 // of the blocks in turn
	start   []int32 // of every block in columns, and the end
}

// Singletons is the partition of p columns in which every column is a block.
func Singletons(p int) *Partition {
	in := make([]int32, p+1)
	for j := range in {
		in[j] = int32(j)
	}
	return &Partition{of: in[:p:p], columns: in[:p:p], start: in}
}

// NewPartition makes blocks of the columns that have the same number; blocks are numbered by
// their first columns. The error is an [outcome.Error] of kind BadParameter: a number is
// negative.
func NewPartition(group []int) (*Partition, error) {
	p := &Partition{of: make([]int32, len(group)), columns: make([]int32, len(group))}
	number := map[int]int32{}
	var size []int32
	for j, g := range group {
		if g < 0 {
			return nil, &outcome.Error{Kind: outcome.BadParameter, HasColumn: true, Column: j, Flag: "column-groups", Message: "the number of a group must not be negative"}
		}
		at, known := number[g]
		if !known {
			at = int32(len(size))
			number[g], size = at, append(size, 0)
		}
		p.of[j] = at
		size[at]++
	}
	p.start = make([]int32, len(size)+1)
	for b, count := range size {
		p.start[b+1] = p.start[b] + count
	}
	next := slices.Clone(p.start)
	for j, b := range p.of {
		p.columns[next[b]] = int32(j)
		next[b]++
	}
	return p, nil
}

// Count returns the number of blocks.
func (p *Partition) Count() int { return len(p.start) - 1 }

// Columns returns the columns of a block, ascending. Read only.
func (p *Partition) Columns(block int) []int32 { return p.columns[p.start[block]:p.start[block+1]] }

// All returns the columns of all blocks in turn. Read only.
func (p *Partition) All() []int32 { return p.columns }

// Of returns the block of a column.
func (p *Partition) Of(column int32) int { return int(p.of[column]) }

// Largest returns the number of columns of the largest block.
func (p *Partition) Largest() (most int) {
	for b := range p.Count() {
		most = max(most, len(p.Columns(b)))
	}
	return most
}

// BlockMax returns the αmax of a penalty whose strengths are all proportional to one α, and
// which is unit at α = 1: the smallest at which the null model with the correlations
// z, one for each column and score, is the solution.
func BlockMax(unit ConvexBlocks, part *Partition, scores int, z []float64) float64 {
	var largest float64
	block := make([]float64, part.Largest()*scores)
	for b := range part.Count() {
		own := Gather(part, b, scores, z, block)
		largest = max(largest, 1/unit.Reach(b, own))
	}
	return largest
}

// Gather copies the entries of a block from a vector by column and score.
func Gather(part *Partition, block, scores int, from, to []float64) []float64 {
	columns := part.Columns(block)
	for at, j := range columns {
		copy(to[at*scores:][:scores], from[int(j)*scores:])
	}
	return to[:len(columns)*scores]
}

// Entries returns the entries of a block in a vector by column and score, read only: where they lie, if
// the block is a single column, otherwise as [Gather] does.
func Entries(part *Partition, block, scores int, from, to []float64) []float64 {
	if columns := part.Columns(block); len(columns) == 1 {
		return from[int(columns[0])*scores:][:scores:scores]
	}
	return Gather(part, block, scores, from, to)
}

// norm returns ‖v‖, at no risk of overflow.
func norm(v []float64) float64 {
	if len(v) == 1 {
		return math.Abs(v[0])
	}
	most, sum := 0.0, 0.0
	for _, x := range v {
		most = max(most, math.Abs(x))
	}
	if !(most > 0) || math.IsInf(most, 1) {
		return most
	}
	for _, x := range v {
		sum = math.FMA(x/most, x/most, sum)
	}
	return most * math.Sqrt(sum)
}
