package bilevel

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Fold ids with a special meaning.
const (
	AlwaysTrain = -1 // the row trains in every fold
	TestOnly    = -2 // the row neither trains nor validates
)

// Folds assigns rows to validation folds: fold Folds[i] validates on row i and all other
// folds, or with [Spec].Forward all later ones, train on it; the ids [AlwaysTrain] and [TestOnly] are
// exceptions. Functions that make folds return an [outcome.Error] of kind BadParameter if there are
// fewer than 2 folds, or more than the rows or groups can fill. Loops over the rows end
// with the set k that they are given, see [kernels.Set.Until]; k may be nil.
type Folds []int

// KFold assigns row i to fold π(i) mod count; π is the identity, or with shuffle the
// Fisher–Yates permutation drawn from SplitMix64 with the given seed.
func KFold(k *kernels.Set, n, count int, shuffle bool, seed uint64) (Folds, error) {
	if err := checkCount(n, count); err != nil {
		return nil, err
	}
	folds := Folds(order(k, n, shuffle, seed))
	for from, to := range k.Pieces(n) {
		for i := from; i < to; i++ {
			folds[i] %= count
		}
	}
	return folds, nil
}

// checkCount returns an error if n rows cannot fill k folds.
func checkCount(n, k int) error {
	if n < 2 {
		return outcome.At(outcome.BadParameter, "folds", "at least 2 rows are needed to hold some out, got %d", n)
	}
	if k < 2 || k > n {
		return outcome.At(outcome.BadParameter, "folds", "%d rows can be split into 2 to %d folds, got %d", n, n, k)
	}
	return nil
}

// order returns the numbers 0 … n − 1, permuted or not.
func order(k *kernels.Set, n int, shuffle bool, seed uint64) []int {
	if shuffle {
		source := random.SplitMix64(seed)
		return source.Permutation(k, n)
	}
	return random.Identity(k, n)
}

// Stratified is [KFold] on rows sorted by target: every fold has its share, up to
// one row, of every class, or of every range of a real target. Rows of equal
// targets are dealt in the order of π.
func Stratified(k *kernels.Set, y []float64, count int, shuffle bool, seed uint64) (Folds, error) {
	if err := checkCount(len(y), count); err != nil {
		return nil, err
	}
	rows, pace := order(k, len(y), shuffle, seed), k.Pace()
	slices.SortStableFunc(rows, func(a, b int) int {
		pace.Did(1)
		return cmp.Compare(y[a], y[b])
	})
	folds := make(Folds, len(y))
	for t, i := range rows {
		pace.Did(1)
		folds[i] = t % count
	}
	return folds, nil
}

// Grouped keeps all rows of a group in the same fold. It assigns groups from the largest to the smallest,
// each to the fold that has the fewest rows so far, the first such fold in a tie. Groups of equal size
// come in the order of their first rows, or with shuffle in that of a random permutation.
func Grouped(k *kernels.Set, groups []int, count int, shuffle bool, seed uint64) (Folds, error) {
	if err := checkCount(len(groups), count); err != nil {
		return nil, err
	}
	number, pace := map[int]int{}, k.Pace() // the number of each group, in the order of first rows
	var size []int
	for _, g := range groups {
		pace.Did(1)
		at, ok := number[g]
		if !ok {
			at = len(size)
			number[g], size = at, append(size, 0)
		}
		size[at]++
	}
	if count > len(size) {
		return nil, outcome.At(outcome.BadParameter, "folds", "%d folds of whole groups need at least as many groups, got %d", count, len(size))
	}
	turns := order(k, len(size), shuffle, seed)
	slices.SortStableFunc(turns, func(a, b int) int {
		pace.Did(1)
		return cmp.Compare(size[b], size[a])
	})
	fold, rows := make([]int, len(size)), make([]int, count)
	for _, g := range turns {
		pace.Did(count)
		least := 0
		for f, held := range rows {
			if held < rows[least] {
				least = f
			}
		}
		fold[g] = least
		rows[least] += size[g]
	}
	folds := make(Folds, len(groups))
	for i, g := range groups {
		pace.Did(1)
		folds[i] = fold[number[g]]
	}
	return folds, nil
}

// Blocks divides the rows, in their order, into count folds of consecutive rows.
func Blocks(k *kernels.Set, n, count int) (Folds, error) {
	if err := checkCount(n, count); err != nil {
		return nil, err
	}
	folds := make(Folds, n)
	for from, to := range k.Pieces(n) {
		for i := from; i < to; i++ {
			folds[i] = i * count / n
		}
	}
	return folds, nil
}

// Chain divides the rows, in their order, into count + 1 blocks. The first block always trains,
// the other blocks are the folds. With [Spec].Forward each fold is predicted from the rows
// before it.
func Chain(k *kernels.Set, n, count int) (Folds, error) {
	if count < 1 || count >= n {
		return nil, outcome.At(outcome.BadParameter, "folds", "%d rows in order can be split into 1 to %d folds, got %d", n, n-1, count)
	}
	folds, err := Blocks(k, n, count+1)
	for from, to := range k.Pieces(len(folds)) {
		for i := from; i < to; i++ {
			folds[i]-- // the first block becomes AlwaysTrain
		}
	}
	return folds, err
}

// HoldOut holds out the last of count folds for validation; all other rows train.
func HoldOut(k *kernels.Set, n, count int, shuffle bool, seed uint64) (Folds, error) {
	folds, err := KFold(k, n, count, shuffle, seed)
	return folds.Last(k), err
}

// Last returns the hold-out in which the rows of the last fold validate and those of all other folds train.
func (f Folds) Last(k *kernels.Set) Folds {
	last, pace := f.Count(k)-1, k.Pace()
	held := make(Folds, len(f))
	for i, id := range f {
		pace.Did(1)
		switch {
		case id == last: // 0
		case id >= 0:
			held[i] = AlwaysTrain
		default:
			held[i] = id
		}
	}
	return held
}

// Newcomers has the options of [Folds.Extended]: how later rows are assigned to existing folds. The zero
// value deals them in their order.
type Newcomers struct {
	Shuffle bool   // deal them in an order drawn from the seed
	Seed    uint64 // the number of earlier rows is added to it
	// Groups has the group of each row, earlier rows included: a row goes to the fold of its group, if any.
	Groups []int
	// Alike has the target of each row, earlier rows included: a row goes to the fold with the fewest rows
	// of its target, and only in a tie does the number of all rows decide.
	Alike []float64
}

// Extended returns the folds of n rows: the rows of f keep their folds, and each later row goes to the
// fold that has the fewest rows so far, the first such fold in a tie, unless how says otherwise.
func (f Folds) Extended(k *kernels.Set, n int, how Newcomers) Folds {
	out, pace := make(Folds, n), k.Pace()
	rows := make([]int, f.Count(k))
	group := map[int]int{}           // the fold of each group
	alike := map[float64][]int{}     // for each target, the number of rows by fold
	nobody := make([]int, len(rows)) // zeros, where targets do not matter
	same := func(i int) []int {
		if how.Alike == nil {
			return nobody
		}
		if alike[how.Alike[i]] == nil {
			alike[how.Alike[i]] = make([]int, len(rows))
		}
		return alike[how.Alike[i]]
	}
	put := func(i, fold int) {
		pace.Did(1)
		if out[i] = fold; fold < 0 {
			return
		}
		rows[fold]++
		if how.Alike != nil {
			same(i)[fold]++
		}
		if how.Groups != nil {
			group[how.Groups[i]] = fold
		}
	}
	for i, fold := range f {
		put(i, fold)
	}
	late := order(k, n-len(f), how.Shuffle, how.Seed+uint64(len(f)))
	if how.Alike != nil {
		slices.SortStableFunc(late, func(a, b int) int {
			pace.Did(1)
			return cmp.Compare(how.Alike[len(f)+a], how.Alike[len(f)+b])
		})
	}
	for _, at := range late {
		i, least := len(f)+at, 0
		if how.Groups != nil {
			if fold, ok := group[how.Groups[i]]; ok {
				put(i, fold)
				continue
			}
		}
		for fold := range rows {
			if c := cmp.Or(cmp.Compare(same(i)[fold], same(i)[least]), cmp.Compare(rows[fold], rows[least])); c < 0 {
				least = fold
			}
		}
		put(i, least)
	}
	return out
}

// Count returns the number of folds, the largest id plus one.
func (f Folds) Count(k *kernels.Set) int {
	count := 0
	for from, to := range k.Pieces(len(f)) {
		most := count
		for _, id := range f[from:to] {
			most = max(most, id+1)
		}
		count = most
	}
	return count
}

// Split returns the row weights of a fold's training set, n numbers, and the fold's validation rows of
// positive weight.
func (s *Spec) Split(k *kernels.Set, fold int) (weights []float64, validation []int32) {
	held := 0
	for from, to := range k.Pieces(len(s.Folds)) {
		for _, id := range s.Folds[from:to] {
			if id == fold {
				held++
			}
		}
	}
	weights, validation = s.Memory.Floats(k, len(s.Folds)), kernels.Undefined[int32](held)[:0]
	for from, to := range k.Pieces(len(s.Folds)) {
		train, rows := weights[from:to], validation
		for i, id := range s.Folds[from:to] {
			switch w := s.weight(from + i); {
			case id == fold && w > 0:
				rows = append(rows, int32(from+i))
			case id == fold:
			case id == TestOnly, s.Forward && id > fold:
			default:
				train[i] = w
			}
		}
		validation = rows
	}
	if s.Training != nil {
		s.Training(k, weights)
	}
	return weights, validation
}

func (s *Spec) weight(i int) float64 {
	if s.Weights == nil {
		return 1
	}
	return s.Weights[i]
}

// testRows returns the rows that neither train nor validate.
func (s *Spec) testRows(k *kernels.Set) (rows []int32) {
	for from, to := range k.Pieces(len(s.Folds)) {
		for i, id := range s.Folds[from:to] {
			if id == TestOnly && s.weight(from+i) > 0 {
				rows = append(rows, int32(from+i))
			}
		}
	}
	return rows
}

// Check returns an error if the folds or weights are invalid for n rows, or if a fold has no
// validation or no training rows of positive weight. Every function that takes a spec with folds
// checks it, too.
func (s *Spec) Check(k *kernels.Set, n int) error {
	if s.Risk != nil {
		return outcome.Errorf(outcome.Usage, "SURE, AIC and BIC need the squared loss")
	}
	if err := sparse.CheckWeights(k, s.Weights, n); err != nil {
		return err
	}
	f := s.Folds
	if len(f) != n {
		return outcome.Errorf(outcome.Shape, "%d fold ids for %d rows", len(f), n)
	}
	pace := k.Pace()
	for i, id := range f {
		pace.Did(1)
		if id < TestOnly || id >= n {
			return &outcome.Error{Kind: outcome.BadParameter, HasRow: true, Row: i, Message: fmt.Sprintf("the fold id is %d; it must be −2, −1, or 0 or more and less than the number of rows", id)}
		}
	}
	count := f.Count(k)
	if count == 0 {
		return outcome.Errorf(outcome.BadParameter, "no row is held out for validation")
	}
	row := "row"
	if s.Weights != nil {
		row = "row of positive weight"
	}
	size := make([]int, count)
	usable := 0
	for i, id := range f {
		pace.Did(1)
		switch {
		case s.weight(i) == 0: // the row is absent
			continue
		case id >= 0:
			size[id]++
		}
		if id != TestOnly {
			usable++
		}
	}
	before := usable // less the rows of all folds: those that train the first fold with Forward
	for _, rows := range size {
		before -= rows
	}
	for id, rows := range size {
		switch {
		case rows == 0:
			return outcome.Errorf(outcome.BadParameter, "fold %d of %d has no %s to validate on", id, count, row)
		case s.Forward && before == 0:
			return outcome.Errorf(outcome.BadParameter, "fold %d leaves no %s to train on: with split forward, fold 0 trains on the rows with id −1", id, row)
		case rows == usable:
			return outcome.Errorf(outcome.BadParameter, "fold %d leaves no %s to train on", id, row)
		}
		before += rows
	}
	return nil
}
