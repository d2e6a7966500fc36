package bilevel

import (
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Merge makes one column, their mean with the signs of the copies, of columns that
// equal one another, up to sign, on the training rows of some fold. With a λ for each
// of such columns a solution would not be unique and have no derivative; with one for
// all, their coefficient shared equally, it is that of the merged matrix. home[j] is
// the merged column of column j of x. Where there is nothing to merge, merged is x.
// With β ≥ 0, positive, copies of the other sign are not the same.
func Merge(k *kernels.Set, x sparse.Matrix, spec Spec, positive bool) (merged sparse.Matrix, home []int32, err error) {
	n, p := x.Dims()
	if err := spec.check(n); err != nil {
		return nil, nil, err
	}
	home = make([]int32, p)
	for j := range home {
		home[j] = int32(j)
	}
	// Means may equal others in their turn.
	for merged = x; ; {
		found, err := findTies(k, merged, spec, positive)
		if err != nil || found == nil {
			return merged, home, err
		}
		var place []int32
		if merged, place, err = found.merge(merged); err != nil {
			return nil, nil, err
		}
		for j, h := range home {
			home[j] = place[h]
		}
	}
}

// ties are sets of columns, as a forest: each column points to another of its set, of
// smaller index, with the sign it copies it with, or to itself.
type ties []sparse.Signed

// findTies returns the ties of all folds, nil where there are none.
func findTies(k *kernels.Set, x sparse.Matrix, spec Spec, positive bool) (ties, error) {
	_, p := x.Dims()
	t := make(ties, p)
	for j := range t {
		t[j] = sparse.Signed{Column: int32(j), Sign: 1}
	}
	some := false
	for fold := range spec.Folds.Count() {
		weights, _ := spec.split(fold)
		view, err := sparse.NewView(k, x, weights, spec.Intercept)
		if err != nil {
			return nil, err
		}
		copies := view.Copies()
		for j := range int32(p) {
			if to := copies.Home(j); copies.Redundant(j) && !(positive && to.Sign < 0) {
				some = t.tie(j, to) || some
			}
		}
	}
	if !some {
		return nil, nil
	}
	return t, nil
}

// root returns the column of smallest index in the set of j, and the sign of j to it.
func (t ties) root(j int32) sparse.Signed {
	at := sparse.Signed{Column: j, Sign: 1}
	for t[at.Column].Column != at.Column {
		up := t[at.Column]
		at = sparse.Signed{Column: up.Column, Sign: at.Sign * up.Sign}
	}
	t[j] = at // the next look is shorter
	return at
}

// tie joins the sets of j and what it copies. Sets that are joined with the other
// sign already, by another fold, stay as they are.
func (t ties) tie(j int32, to sparse.Signed) bool {
	a, b := t.root(j), t.root(to.Column)
	if a.Column == b.Column {
		return false
	}
	sign := a.Sign * to.Sign * b.Sign
	if a.Column < b.Column {
		a, b = b, a
	}
	t[a.Column] = sparse.Signed{Column: b.Column, Sign: sign}
	return true
}

// merge returns the matrix of means, and where each column went.
func (t ties) merge(x sparse.Matrix) (sparse.Matrix, []int32, error) {
	n, p := x.Dims()
	place, members := make([]int32, p), [][]sparse.Signed(nil)
	for j := range int32(p) {
		root := t.root(j)
		if root.Column == j {
			place[j] = int32(len(members))
			members = append(members, nil)
		}
		at := place[root.Column]
		place[j] = at
		members[at] = append(members[at], sparse.Signed{Column: j, Sign: root.Sign})
	}
	colPtr, rows, values := []int64{0}, []int32(nil), []float64(nil)
	sum, seen := make([]float64, n), make([]bool, n)
	var touched []int32
	for _, set := range members {
		touched = touched[:0]
		for _, m := range set {
			at, entries := x.Column(int(m.Column))
			for k, v := range entries {
				i := int32(k)
				if at != nil {
					i = at[k]
				}
				if !seen[i] {
					seen[i], touched = true, append(touched, i)
				}
				sum[i] += float64(m.Sign * v)
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
