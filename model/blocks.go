package model

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Blocks is a penalty Σ g_B(β_B) over disjoint blocks of coefficients at one λ: groups of
// columns, the coefficients of a column for the scores of all classes, or single coefficients. A
// block has the coefficients of its columns one after the other, for every column one per score.
// The penalty need not be convex; a convex one implements [ConvexBlocks], for duality gaps.
type Blocks interface {
	// Hyperparameters returns r, the number of λ's.
	Hyperparameters() int
	// Value returns g_B(b).
	Value(block int, b []float64) float64
	// Prox sets out to prox_{γg_B}(z), the minimiser of ‖b − z‖²/2γ + g_B(b) for the step γ.
	// out may be z.
	Prox(block int, z []float64, step float64, out []float64)
	// Lack sets out to the smallest element of z − ∂g_B(b): with z = −∂f/∂b it is 0 where the
	// block is stationary.
	Lack(block int, b, z, out []float64)
	// Curvature adds ∇²g_B(b) to h, d × d row by row, in the rows and columns of the nonzero
	// entries of b.
	Curvature(block int, b, h []float64)
	// Sensitivity sets out to −∂²g_B/∂λᵢ∂b, the right-hand side of the implicit system; 0 for
	// entries where b is 0.
	Sensitivity(block, i int, b, out []float64)
	// Kinked reports whether g_B has a kink wherever entry k is 0, for any values of the other
	// entries.
	Kinked(block, k int) bool
	// Clearance returns the least distance of the zero entries of a block from leaving 0, relative
	// to the threshold that holds them there: 1 − |z|/α; 1 if no entry is 0.
	Clearance(block int, b, z []float64) float64
	// Concavity returns an upper bound of −∇²g_B, which the curvature of the loss in every
	// coefficient has to exceed; 0 if the penalty is convex.
	Concavity() float64
}

// ConvexBlocks is a convex penalty on blocks.
type ConvexBlocks interface {
	Blocks
	// Reach returns the largest c for which c·a is in the domain of the conjugate of g_B
	// without its ridge; +Inf if every c is.
	Reach(block int, a []float64) float64
	// Stronger returns the penalty with all strengths, except that of the ridge, multiplied by a
	// factor.
	Stronger(times float64) ConvexBlocks
	// Ridge returns α₂.
	Ridge() float64
	// Excess returns the conjugate of g_B at z; only with a ridge.
	Excess(block int, z []float64) float64
}

// Partition divides the columns into blocks.
type Partition struct {
	of      []int32 // the block of each column
	columns []int32 // the columns of the blocks, one block after the other
	start   []int32 // block b has columns[start[b]:start[b+1]]
}

// Singletons is the partition of p columns in which every column is a block.
func Singletons(p int) *Partition {
	in := make([]int32, p+1)
	for j := range in {
		in[j] = int32(j)
	}
	return &Partition{of: in[:p:p], columns: in[:p:p], start: in}
}

// NewPartition makes a block of all columns with the same group number. Blocks are numbered in the
// order of their first columns. The error is an [outcome.Error] of kind BadParameter if a number is
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

// All returns the columns of all blocks, one block after the other. Read only.
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

// BlockMax returns αmax of a penalty whose strengths are all proportional to one α: the smallest α
// at which the null model, with correlations z, one for each column and score, is the solution. unit
// is the penalty at α = 1.
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

// Entries returns the entries of a block from a vector by column and score, read only. If the block is
// a single column, it returns a slice of the vector; otherwise it copies them to to, as [Gather] does.
func Entries(part *Partition, block, scores int, from, to []float64) []float64 {
	if columns := part.Columns(block); len(columns) == 1 {
		return from[int(columns[0])*scores:][:scores:scores]
	}
	return Gather(part, block, scores, from, to)
}

// norm returns ‖v‖ without overflow.
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
