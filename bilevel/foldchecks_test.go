package bilevel_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// TestSplits checks what a fold trains on and holds out. It trains on the rows of the other folds (only of earlier
// folds if Forward) and on the rows that always train, with their weights as changed by Training; it holds out its
// own rows except those of weight 0.
func TestSplits(t *testing.T) {
	folds := bilevel.Folds{-1, 0, 1, 2, -2, 1, 0}
	weights := []float64{2, 3, 4, 5, 6, 7, 0}
	doubled := func(w []float64) func(*bilevel.Spec) {
		return func(s *bilevel.Spec) {
			s.Weights = w
			s.Training = func(_ *kernels.Set, own []float64) {
				for i := range own {
					own[i] *= 2
				}
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*bilevel.Spec)
		want   [][]float64
	}{
		"plain":    {func(*bilevel.Spec) {}, [][]float64{{1, 0, 1, 1, 0, 1, 0}, {1, 1, 0, 1, 0, 0, 1}, {1, 1, 1, 0, 0, 1, 1}}},
		"weights":  {func(s *bilevel.Spec) { s.Weights = weights }, [][]float64{{2, 0, 4, 5, 0, 7, 0}, {2, 3, 0, 5, 0, 0, 0}, {2, 3, 4, 0, 0, 7, 0}}},
		"forward":  {func(s *bilevel.Spec) { s.Forward = true }, [][]float64{{1, 0, 0, 0, 0, 0, 0}, {1, 1, 0, 0, 0, 0, 1}, {1, 1, 1, 0, 0, 1, 1}}},
		"training": {doubled(nil), [][]float64{{2, 0, 2, 2, 0, 2, 0}, {2, 2, 0, 2, 0, 0, 2}, {2, 2, 2, 0, 0, 2, 2}}},
		"both":     {doubled(weights), [][]float64{{4, 0, 8, 10, 0, 14, 0}, {4, 6, 0, 10, 0, 0, 0}, {4, 6, 8, 0, 0, 14, 0}}},
	} {
		spec := bilevel.Spec{Folds: folds}
		c.change(&spec)
		for fold, want := range c.want {
			got, rows := spec.Split(nil, fold)
			held := [][]int32{{1, 6}, {2, 5}, {3}}[fold]
			if spec.Weights != nil { // row 6 has weight 0
				held = [][]int32{{1}, {2, 5}, {3}}[fold]
			}
			if !slices.Equal(got, want) || !slices.Equal(rows, held) {
				t.Errorf("%s, fold %d: trains on %v, want %v; holds out %v", name, fold, got, want, rows)
			}
		}
	}
}

// TestTestRowsWithoutWeight checks that test rows of weight 0 are ignored: if there are no others, no test value
// is reported.
func TestTestRowsWithoutWeight(t *testing.T) {
	q := oracle.NewRandom(75).Problem(oracle.Shape{N: 12, P: 3})
	folds, weights := slices.Repeat(bilevel.Folds{0, 1, -2}, 4), slices.Repeat([]float64{1, 2, 0}, 4)
	for _, weight := range []float64{0, 0.5} {
		weights[5] = weight
		p := newProblem(t, q, true, bilevel.Spec{Folds: folds, Weights: weights, Penalty: lasso})
		if r := evaluate(t, p, search.Request{LogLambda: []float64{-2}}); r.Tested != (weight > 0) || (r.Test > 0) != (weight > 0) {
			t.Errorf("weight %g: tested %t, %g", weight, r.Tested, r.Test)
		}
	}
}

// TestSpecsThatCannotBe checks that invalid specs are refused with the reason, and that specs just inside the
// limits are accepted.
func TestSpecsThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		folds   bilevel.Folds
		weights []float64
		forward bool
		says    string
	}{
		"two folds":                   {bilevel.Folds{0, 1}, nil, false, ""},
		"as many folds as rows":       {bilevel.Folds{2, 1, 0}, nil, false, ""},
		"a hold-out":                  {bilevel.Folds{-1, 0, -2}, nil, false, ""},
		"too many":                    {bilevel.Folds{0, 2}, nil, false, "the fold id is 2"},
		"too few":                     {bilevel.Folds{0, -3, 1}, nil, false, "the fold id is -3"},
		"nothing held out":            {bilevel.Folds{-1, -2}, nil, false, "no row is held out"},
		"all held out":                {bilevel.Folds{0, 0}, nil, false, "fold 0 leaves no row to train on"},
		"all but tests":               {bilevel.Folds{0, -2, 0}, nil, false, "fold 0 leaves no row to train on"},
		"an empty fold":               {bilevel.Folds{0, 2, -1}, nil, false, "fold 1 of 3 has no row to validate on"},
		"weights":                     {bilevel.Folds{0, 1, -1, -2}, []float64{1, 2, 0, 0}, false, ""},
		"too few weights":             {bilevel.Folds{0, 1}, []float64{1}, false, "weights"},
		"a fold without weight":       {bilevel.Folds{0, 1, -1}, []float64{1, 0, 1}, false, "fold 1 of 2 has no row of positive weight to validate on"},
		"nothing else with weight":    {bilevel.Folds{0, -1, -1}, []float64{1, 0, 0}, false, "fold 0 leaves no row of positive weight to train on"},
		"a hold-out going forward":    {bilevel.Folds{-1, 0}, nil, true, ""},
		"two folds going forward":     {bilevel.Folds{-1, 0, 1}, nil, true, ""},
		"three, larger ones later":    {bilevel.Folds{-1, 0, 1, 1, 2, 2, 2}, nil, true, ""},
		"nothing before the first":    {bilevel.Folds{0, 1}, nil, true, "fold 0 leaves no row to train on: with split forward, fold 0 trains on the rows with id −1"},
		"a test before the first":     {bilevel.Folds{-2, 0, 1}, nil, true, "fold 0 leaves no row to train on: with split forward, fold 0 trains on the rows with id −1"},
		"no weight before the first":  {bilevel.Folds{-1, 0, 1}, []float64{0, 1, 1}, true, "fold 0 leaves no row of positive weight to train on: with split forward, fold 0 trains on the rows with id −1"},
		"a late row is before, too":   {bilevel.Folds{0, 1, -1}, nil, true, ""},
		"going forward without order": {bilevel.Folds{1, 0, -1, 2}, nil, true, ""},
	} {
		spec := bilevel.Spec{Folds: c.folds, Weights: c.weights, Forward: c.forward}
		err := spec.Check(nil, len(c.folds))
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (&bilevel.Spec{Folds: bilevel.Folds{0, 1}}).Check(nil, 3); outcome.KindOf(err) != outcome.Shape {
		t.Errorf("two ids for three rows: %v", err)
	}
}

// TestNumbersOfFolds checks which numbers of folds are accepted by every way to make folds: from 2 up to the
// number of rows, or in a chain from 1 up to one less than the number of rows.
func TestNumbersOfFolds(t *testing.T) {
	for n := range 6 {
		for count := -1; count < 8; count++ {
			good, chain := n >= 2 && count >= 2 && count <= n, count >= 1 && count < n
			groups, y := make([]int, n), make([]float64, n)
			for i := range groups {
				groups[i] = i
			}
			for name, c := range map[string]struct {
				make func() (bilevel.Folds, error)
				good bool
			}{
				"KFold":      {func() (bilevel.Folds, error) { return bilevel.KFold(nil, n, count, false, 0) }, good},
				"Stratified": {func() (bilevel.Folds, error) { return bilevel.Stratified(nil, y, count, false, 0) }, good},
				"Grouped":    {func() (bilevel.Folds, error) { return bilevel.Grouped(nil, groups, count, false, 0) }, good},
				"Blocks":     {func() (bilevel.Folds, error) { return bilevel.Blocks(nil, n, count) }, good},
				"HoldOut":    {func() (bilevel.Folds, error) { return bilevel.HoldOut(nil, n, count, false, 0) }, good},
				"Chain":      {func() (bilevel.Folds, error) { return bilevel.Chain(nil, n, count) }, chain},
			} {
				folds, err := c.make()
				if (err == nil) != c.good || err != nil && outcome.KindOf(err) != outcome.BadParameter {
					t.Errorf("%s, %d folds of %d rows: %v", name, count, n, err)
				}
				if of := map[bool]int{true: 1, false: count}[name == "HoldOut"]; c.good && (len(folds) != n || folds.Count(nil) != of) {
					t.Errorf("%s, %d folds of %d rows: %v", name, count, n, folds)
				}
			}
		}
	}
	if _, err := bilevel.Chain(nil, 4, 4); err == nil || !strings.Contains(err.Error(), "4 rows in order can be split into 1 to 3 folds, got 4") {
		t.Errorf("%v", err)
	}
}

// TestNewcomersAreDealtByDefinition checks how new rows are assigned to folds: one after the other, in their order
// or in that of a permutation, sorted by target if folds are to be alike. A row joins the fold of its group, or
// else the fold with the fewest rows of its target, then with the fewest rows of all, then the first.
func TestNewcomersAreDealtByDefinition(t *testing.T) {
	for seed := range uint64(40) {
		r := oracle.NewRandom(800 + seed)
		n, more, k := 6+r.Intn(8), 1+r.Intn(20), 2+r.Intn(3)
		first := make(bilevel.Folds, n)
		for i := range first {
			if first[i] = r.Intn(k+2) - 2; i < k {
				first[i] = i
			}
		}
		var how bilevel.Newcomers
		how.Shuffle, how.Seed = r.Intn(2) == 0, seed
		if r.Intn(2) == 0 {
			for range n + more {
				how.Alike = append(how.Alike, float64(r.Intn(3)))
			}
		}
		if r.Intn(2) == 0 {
			for range n + more {
				how.Groups = append(how.Groups, r.Intn(12))
			}
		}
		late := make([]int, more)
		for i := range late {
			late[i] = i
		}
		if how.Shuffle && more > 1 {
			order, err := bilevel.KFold(nil, more, more, true, seed+uint64(n))
			if err != nil {
				t.Fatal(err)
			}
			late = order
		}
		if how.Alike != nil {
			slices.SortStableFunc(late, func(a, b int) int { return cmp.Compare(how.Alike[n+a], how.Alike[n+b]) })
		}
		want := append(slices.Clone(first), make(bilevel.Folds, more)...)
		dealt := make([]bool, n+more)
		for i := range first {
			dealt[i] = true
		}
		for _, at := range late {
			i, best, fewest := n+at, -1, [2]int{}
			for fold := range k {
				var rows [2]int
				for j, id := range want {
					if dealt[j] && id == fold {
						rows[1]++
						if how.Alike != nil && how.Alike[j] == how.Alike[i] {
							rows[0]++
						}
					}
				}
				if best < 0 || slices.Compare(rows[:], fewest[:]) < 0 {
					best, fewest = fold, rows
				}
			}
			if how.Groups != nil {
				for j, id := range want {
					if dealt[j] && id >= 0 && how.Groups[j] == how.Groups[i] {
						best = id
					}
				}
			}
			want[i], dealt[i] = best, true
		}
		if how.Groups != nil && mixed(first, how.Groups) { // a group is in two folds: the definition does not cover this
			continue
		}
		if got := first.Extended(nil, n+more, how); !slices.Equal(got, want) {
			t.Errorf("seed %d: %v\nby definition %v", seed, got, want)
		}
	}
}

// TestGroupsAreDealtByDefinition checks how groups are assigned to folds: from the largest to the smallest, groups
// of equal size in the order of their first rows or of a permutation of it, each to the first of the folds with
// the fewest rows.
func TestGroupsAreDealtByDefinition(t *testing.T) {
	for seed := range uint64(60) {
		r := oracle.NewRandom(850 + seed)
		n, count := 20+r.Intn(30), 2+r.Intn(3)
		groups := make([]int, n)
		for i := range groups {
			groups[i] = r.Intn(4+int(seed%8)) * r.Intn(3) // of different sizes
		}
		rows := map[int]int{}
		var names []int
		for _, g := range groups {
			if rows[g] == 0 {
				names = append(names, g)
			}
			rows[g]++
		}
		if len(names) < count {
			continue
		}
		turns, shuffle := make([]int, len(names)), seed%2 == 0
		for i := range turns {
			turns[i] = i
		}
		if shuffle {
			order, err := bilevel.KFold(nil, len(names), len(names), true, seed)
			if err != nil {
				t.Fatal(err)
			}
			turns = order
		}
		slices.SortStableFunc(turns, func(a, b int) int { return rows[names[b]] - rows[names[a]] })
		size, fold := make([]int, count), map[int]int{}
		for _, i := range turns {
			fold[names[i]] = slices.Index(size, slices.Min(size))
			size[fold[names[i]]] += rows[names[i]]
		}
		got, err := bilevel.Grouped(nil, groups, count, shuffle, seed)
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range groups {
			if got[i] != fold[g] {
				t.Fatalf("seed %d: row %d of group %d is in fold %d, by definition in %d", seed, i, g, got[i], fold[g])
			}
		}
		// Stratified uses the same order: rows sorted by target, dealt to the folds in turn.
		y := make([]float64, n)
		for i, g := range groups {
			y[i] = -float64(g)
		}
		late := make([]int, n)
		for i := range late {
			late[i] = i
		}
		if shuffle {
			if late, err = bilevel.KFold(nil, n, n, true, seed); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortStableFunc(late, func(a, b int) int { return cmp.Compare(y[a], y[b]) })
		stratified, err := bilevel.Stratified(nil, y, count, shuffle, seed)
		if err != nil {
			t.Fatal(err)
		}
		for at, i := range late {
			if stratified[i] != at%count {
				t.Fatalf("seed %d: row %d of target %g is in fold %d, by definition in %d", seed, i, y[i], stratified[i], at%count)
			}
		}
	}
}

// mixed reports whether rows of one group are in several folds.
func mixed(folds bilevel.Folds, groups []int) bool {
	of := map[int]int{}
	for i, fold := range folds {
		if other, ok := of[groups[i]]; fold >= 0 && ok && other != fold {
			return true
		}
		if fold >= 0 {
			of[groups[i]] = fold
		}
	}
	return false
}
