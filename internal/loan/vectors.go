package loan

import (
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
)

// vectors are those that go from round to round.
type vectors[T float64 | int32] struct{ lent, spare [][]T }

// fits is how much longer a spare vector may be than one that is asked for: folds differ by a row.
const fits = 1. / 8

// take returns a vector, all 0: of the spare ones that fit the shortest. Where none does, the longest of
// those that are as little too short makes way for a new one.
func (r *vectors[T]) take(k *kernels.Set, n int) []T {
	best, short := -1, -1
	for at, v := range r.spare {
		near := max(cap(v)-n, n-cap(v)) <= int(fits*float64(n))
		switch {
		case near && cap(v) >= n && (best < 0 || cap(v) < cap(r.spare[best])):
			best = at
		case near && cap(v) < n && (short < 0 || cap(v) > cap(r.spare[short])):
			short = at
		}
	}
	if best < 0 {
		if short >= 0 {
			r.spare = slices.Delete(r.spare, short, short+1)
		}
		v := kernels.Zeros[T](k, n)
		r.lent = append(r.lent, v)
		return v
	}
	v := r.spare[best][:n]
	r.spare = slices.Delete(r.spare, best, best+1)
	r.lent = append(r.lent, v)
	kernels.Clear(k, v)
	return v
}

// again makes all vectors spare ones.
func (r *vectors[T]) again() { r.spare, r.lent = append(r.spare, r.lent...), nil }

// back makes a vector a spare one, if it is lent.
func (r *vectors[T]) back(v []T) {
	if at := slices.IndexFunc(r.lent, func(w []T) bool { return len(w) > 0 && &w[0] == &v[0] }); at >= 0 {
		r.spare, r.lent = append(r.spare, r.lent[at]), slices.Delete(r.lent, at, at+1)
	}
}
