package bilevel

import (
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Merge replaces columns that are equal up to sign on the training rows of some fold, or on
// all rows of a [Risk], by their signed mean. If each of them had its own λ, the solution
// would not be unique and would have no derivative; if they share one λ and split their
// coefficient equally, the solution is that of the merged matrix. group[j] is the merged
// column that stands for column j of x. If there is nothing to merge, merged is x itself.
// With β ≥ 0 (positive), columns of opposite sign are not merged. With bounds no columns are,
// since the bounds of equal columns may differ.
func Merge(k *kernels.Set, x sparse.Matrix, spec Spec, positive bool) (merged sparse.Matrix, group []int32, err error) {
	n, p := x.Dims()
	if spec.Risk == nil {
		if err := spec.Check(k, n); err != nil {
			return nil, nil, err
		}
	}
	group = make([]int32, p)
	for j := range group {
		group[j] = int32(j)
	}
	if spec.Box != nil {
		return x, group, nil
	}
	// Means may in turn be equal to other columns.
	for merged = x; ; {
		found, err := findTies(k, merged, spec, positive)
		if err != nil || found == nil {
			return merged, group, err
		}
		var place []int32
		if merged, place, err = found.merge(merged); err != nil {
			return nil, nil, err
		}
		for j, h := range group {
			group[j] = place[h]
		}
	}
}

// ties are sets of equal columns, as a forest: each column points to a column of its set with a
// smaller index, or to itself.
type ties []tie

// tie says that a column times factor equals another column. The factor is ±1 except in standardised views.
type tie struct {
	column int32 // the other one
	factor float64
}

// trainingWeights yields the row weights of every training set.
func (s *Spec) trainingWeights(k *kernels.Set) iter.Seq[[]float64] {
	return func(yield func([]float64) bool) {
		if s.Risk != nil {
			yield(nil) // all rows, in both lanes
			return
		}
		for fold := range s.Folds.Count(k) {
			if weights, _ := s.Split(k, fold); !yield(weights) {
				return
			}
		}
	}
}

// findTies returns the ties of the columns on all training sets, nil if there are none.
func findTies(k *kernels.Set, x sparse.Matrix, spec Spec, positive bool) (ties, error) {
	_, p := x.Dims()
	t := make(ties, p)
	for j := range t {
		t[j] = tie{int32(j), 1}
	}
	some := false
	for weights := range spec.trainingWeights(k) {
		view, err := spec.View(k, x, weights)
		if err != nil {
			return nil, err
		}
		copies := view.NewCopies(!positive)
		for _, j := range copies.Find(equalNorms(view)) {
			to := copies.Representative(j)
			some = t.join(j, tie{to.Column, to.Sign * view.Scale(int(j)) / view.Scale(int(to.Column))}) || some
		}
	}
	if !some {
		return nil, nil
	}
	return t, nil
}

// equalNorms returns the columns, ascending, whose norm is not 0 and agrees to seven digits with
// that of another column, and a few more, whose hashes collide. All copies are among them.
func equalNorms(view *sparse.View) (columns []int32) {
	const digits = 52 - 24 // bits of a norm left out
	order := view.Matrix().Order()
	free := 64 - bits.Len(uint(len(order))) - 4
	seen := make([]uint8, 1<<(64-free)) // by hash of the remaining bits: 0, 1, or 2 for more columns
	at := func(key uint64) *uint8 { return &seen[key*0x9e3779b97f4a7c15>>free] }
	for _, j := range order {
		n := at(math.Float64bits(view.Norm(int(j))) >> digits)
		*n = min(2, *n+1)
	}
	for _, j := range order {
		if key := math.Float64bits(view.Norm(int(j))) >> digits; key > 0 && *at(key - 1)+*at(key)+*at(key + 1) > 1 {
			columns = append(columns, j)
		}
	}
	slices.Sort(columns)
	return columns
}

// root returns the tie of j to the column of smallest index in its set.
func (t ties) root(j int32) tie {
	at := tie{j, 1}
	for t[at.column].column != at.column {
		up := t[at.column]
		at = tie{up.column, at.factor * up.factor}
	}
	t[j] = at // path compression
	return at
}

// join unites the set of j with the set of the column that j is tied to, and reports whether these were
// different. A set that has been united on another fold stays as it is, even if the signs differ here.
func (t ties) join(j int32, to tie) bool {
	a, b := t.root(j), t.root(to.column)
	if a.column == b.column {
		return false
	}
	factor := to.factor * b.factor / a.factor // ties the root of a to the root of b
	if a.column < b.column {
		a, b, factor = b, a, 1/factor
	}
	t[a.column] = tie{b.column, factor}
	return true
}

// merge returns the matrix of the means of all sets, and the index of each column's mean in it.
func (t ties) merge(x sparse.Matrix) (sparse.Matrix, []int32, error) {
	n, p := x.Dims()
	place, members := make([]int32, p), [][]tie(nil)
	for j := range int32(p) {
		root := t.root(j)
		if root.column == j {
			place[j] = int32(len(members))
			members = append(members, nil)
		}
		at := place[root.column]
		place[j] = at
		members[at] = append(members[at], tie{j, root.factor})
	}
	colPtr := make([]int64, 1, len(members)+1)
	var rows []int32
	var values []float64
	sum, seen := make([]float64, n), make([]bool, n)
	var touched []int32
	for _, set := range members {
		touched = touched[:0]
		for _, m := range set {
			at, entries := x.Column(int(m.column))
			for k, v := range entries {
				i := int32(k)
				if at != nil {
					i = at[k]
				}
				if !seen[i] {
					seen[i], touched = true, append(touched, i)
				}
				sum[i] += float64(m.factor * v)
			}
		}
		slices.Sort(touched)
		for _, i := range touched {
			if sum[i] != 0 {
				rows, values = append(rows, i), append(values, sum[i]/float64(len(set)))
			}
			sum[i], seen[i] = 0, false
		}
		colPtr = append(colPtr, int64(len(rows)))
	}
	merged, err := sparse.NewCSC(n, len(members), colPtr, rows, values)
	if err != nil {
		return nil, nil, err
	}
	return sparse.Compact(merged), place, nil
}
