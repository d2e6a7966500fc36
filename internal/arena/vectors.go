package arena

import (
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
)

// vectors holds the slices that are reused from round to round: those used in this round, and spare ones.
type vectors[T float64 | int32] struct{ used, spare [][]T }

// fits is the largest difference between the capacity of a spare vector and the length asked for, relative to
// that length: folds differ by a row.
const fits = 1. / 8

// take returns a vector of zeros: the shortest spare vector that fits. Where none does, it allocates one and
// drops the longest of the spare vectors that are too short by no more than fits.
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
		r.used = append(r.used, v)
		return v
	}
	v := r.spare[best][:n]
	r.spare = slices.Delete(r.spare, best, best+1)
	r.used = append(r.used, v)
	kernels.Clear(k, v)
	return v
}

// reset makes all vectors spare.
func (r *vectors[T]) reset() { r.spare, r.used = append(r.spare, r.used...), nil }

// free makes a vector of this round spare; it ignores other vectors.
func (r *vectors[T]) free(v []T) {
	if at := slices.IndexFunc(r.used, func(w []T) bool { return len(w) > 0 && &w[0] == &v[0] }); at >= 0 {
		r.spare, r.used = append(r.spare, r.used[at]), slices.Delete(r.used, at, at+1)
	}
}
