package bilevel

import (
	"math/bits"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Fold ids with a meaning of their own.
const (
	AlwaysTrain = -1 // the row trains in every fold
	TestOnly    = -2 // the row neither trains nor validates
)

// Folds assigns rows to validation folds: row i validates fold Folds[i] and
// trains the others, but for [AlwaysTrain] and [TestOnly].
type Folds []int

// KFold puts row i into fold π(i) mod k; π is the identity, or with shuffle the
// Fisher–Yates permutation drawn from SplitMix64 with the given seed.
func KFold(n, k int, shuffle bool, seed uint64) (Folds, error) {
	if k < 2 || k > n {
		return nil, outcome.At(outcome.BadParameter, "folds", "need 2 to n = %d folds, got %d", n, k)
	}
	at := make([]int, n)
	for i := range at {
		at[i] = i
	}
	if shuffle {
		for i := n - 1; i > 0; i-- {
			j, _ := bits.Mul64(splitMix64(&seed), uint64(i+1))
			at[i], at[j] = at[j], at[i]
		}
	}
	folds := make(Folds, n)
	for i, pi := range at {
		folds[i] = pi % k
	}
	return folds, nil
}

// splitMix64 returns the next output of SplitMix64 (Steele, Lea and Flood, 2014).
func splitMix64(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// HoldOut keeps the last of k folds for validation; all other rows train.
func HoldOut(n, k int, shuffle bool, seed uint64) (Folds, error) {
	folds, err := KFold(n, k, shuffle, seed)
	for i, f := range folds {
		if f == k-1 {
			folds[i] = 0
		} else {
			folds[i] = AlwaysTrain
		}
	}
	return folds, err
}

// Count returns the number of folds, the largest id plus one.
func (f Folds) Count() int {
	k := 0
	for _, id := range f {
		k = max(k, id+1)
	}
	return k
}

// split returns the row weights of a fold's training set and its validation rows.
func (s *Spec) split(fold int) (weights []float64, validation []int32) {
	weights = make([]float64, len(s.Folds))
	for i, id := range s.Folds {
		switch id {
		case fold:
			validation = append(validation, int32(i))
		case TestOnly:
		default:
			weights[i] = s.weight(i)
		}
	}
	return weights, validation
}

func (s *Spec) weight(i int) float64 {
	if s.Weights == nil {
		return 1
	}
	return s.Weights[i]
}

// check returns the error of an assignment that leaves a fold without
// validation or training rows of positive weight.
func (s *Spec) check(n int) error {
	if err := sparse.CheckWeights(s.Weights, n); err != nil {
		return err
	}
	f := s.Folds
	if len(f) != n {
		return outcome.Errorf(outcome.Shape, "%d fold ids for %d rows", len(f), n)
	}
	k := f.Count()
	if k == 0 {
		return outcome.Errorf(outcome.BadParameter, "no row is held out for validation")
	}
	size := make([]int, k)
	usable := 0
	for i, id := range f {
		switch {
		case id < TestOnly || id >= n:
			return &outcome.Error{Kind: outcome.BadParameter, HasRow: true, Row: i, Message: "fold ids are −2, −1, 0, 1, … and less than n"}
		case s.weight(i) == 0: // the row is absent
			continue
		case id >= 0:
			size[id]++
		}
		if id != TestOnly {
			usable++
		}
	}
	for id, rows := range size {
		switch rows {
		case 0:
			return outcome.Errorf(outcome.BadParameter, "fold %d of %d has no rows", id, k)
		case usable:
			return outcome.Errorf(outcome.BadParameter, "fold %d leaves no row to train on", id)
		}
	}
	return nil
}
