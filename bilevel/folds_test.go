package bilevel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestStratifiedFoldsShareOutEveryClass checks that stratified folds differ by at most one row, in the rows of
// each class and in all.
func TestStratifiedFoldsShareOutEveryClass(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 50 {
		n, k, q := 20+rng.IntN(200), 2+rng.IntN(8), 1+rng.IntN(5)
		y := make([]float64, n)
		for i := range y {
			y[i] = float64(rng.IntN(q) * rng.IntN(q))
		}
		folds, err := bilevel.Stratified(nil, y, k, true, rng.Uint64())
		if err != nil {
			t.Fatal(err)
		}
		count := map[float64][]int{}
		size := make([]int, k)
		for i, f := range folds {
			if count[y[i]] == nil {
				count[y[i]] = make([]int, k)
			}
			count[y[i]][f]++
			size[f]++
		}
		for class, of := range count {
			if slices.Max(of)-slices.Min(of) > 1 {
				t.Fatalf("class %g by fold: %v", class, of)
			}
		}
		if slices.Max(size)-slices.Min(size) > 1 {
			t.Fatalf("rows by fold: %v", size)
		}
	}
	y := []float64{1, 0, 1, 0, 1, 0, 0, 0}
	if folds, err := bilevel.Stratified(nil, y, 2, false, 0); err != nil || fmt.Sprint(folds) != "[1 0 0 1 1 0 1 0]" {
		t.Errorf("%v, %v", folds, err)
	}
}

func TestGroupsStayTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 50 {
		n, k := 40+rng.IntN(200), 2+rng.IntN(4)
		groups := make([]int, n)
		for i := range groups {
			groups[i] = rng.IntN(12) - 3
		}
		folds, err := bilevel.Grouped(nil, groups, k, true, rng.Uint64())
		if err != nil {
			t.Fatal(err)
		}
		fold, largest, count := map[int]int{}, map[int]int{}, make([]int, k)
		for i, g := range groups {
			if f, ok := fold[g]; ok && f != folds[i] {
				t.Fatalf("group %d is in folds %d and %d", g, f, folds[i])
			}
			fold[g] = folds[i]
			largest[g]++
			count[folds[i]]++
		}
		// Groups of equal size go to the smallest fold in turn, so that fold sizes differ by at most one group.
		most := 0
		for _, size := range largest {
			most = max(most, size)
		}
		if slices.Max(count)-slices.Min(count) > most {
			t.Errorf("rows by fold %v, groups of %d and less", count, most)
		}
	}
	if folds, err := bilevel.Grouped(nil, []int{7, 7, 7, 2, 2, 9, 4}, 2, false, 0); err != nil || fmt.Sprint(folds) != "[0 0 0 1 1 1 0]" {
		t.Errorf("%v, %v", folds, err)
	}
	if folds, err := bilevel.Grouped(nil, []int{1, 2, 3, 3}, 2, false, 0); err != nil || fmt.Sprint(folds) != "[1 1 0 0]" {
		t.Errorf("the largest group is not dealt first: %v, %v", folds, err)
	}
	if _, err := bilevel.Grouped(nil, []int{1, 1, 2, 2}, 3, false, 0); outcome.KindOf(err) != outcome.BadParameter {
		t.Errorf("three folds of two groups: %v", err)
	}
}

func TestBlocksAndChains(t *testing.T) {
	if folds, err := bilevel.Blocks(nil, 7, 3); err != nil || fmt.Sprint(folds) != "[0 0 0 1 1 2 2]" {
		t.Errorf("%v, %v", folds, err)
	}
	if folds, err := bilevel.Chain(nil, 8, 3); err != nil || fmt.Sprint(folds) != "[-1 -1 0 0 1 1 2 2]" {
		t.Errorf("%v, %v", folds, err)
	}
	if folds, err := bilevel.Chain(nil, 3, 1); err != nil || fmt.Sprint(folds.Last(nil)) != "[-1 -1 0]" {
		t.Errorf("%v, %v", folds, err)
	}
	for _, k := range []int{0, 8} {
		if _, err := bilevel.Chain(nil, 8, k); outcome.KindOf(err) != outcome.BadParameter {
			t.Errorf("%d folds of 8 rows in order: %v", k, err)
		}
	}
}

// TestForwardIsAMeanOfPrefixes checks that with Forward the criterion is the mean of hold-outs, in each of which a
// fold is predicted from the rows before it. Test rows are evaluated beside these and change nothing else.
func TestForwardIsAMeanOfPrefixes(t *testing.T) {
	q, _, lambda := draw(oracle.NewRandom(3), "lasso")
	n := len(q.Y)
	chain, err := bilevel.Chain(nil, n, 3)
	if err != nil {
		t.Fatal(err)
	}
	chain[0] = bilevel.TestOnly
	run := func(folds bilevel.Folds, forward bool) bilevel.Report {
		t.Helper()
		p := newProblem(t, q, false, bilevel.Spec{Folds: folds, Forward: forward, Penalty: penalties["lasso"]})
		return evaluate(t, p, search.Request{LogLambda: lambda, Tol: 1e-12})
	}
	got := run(chain, true)
	var value, slope, test float64
	for fold := range 3 {
		prefix := slices.Clone(chain)
		for i, id := range chain {
			switch {
			case id == fold:
				prefix[i] = 0
			case id > fold:
				prefix[i] = bilevel.TestOnly
			case id >= 0:
				prefix[i] = bilevel.AlwaysTrain
			}
		}
		r := run(prefix, false)
		value += r.Value / 3
		slope += r.Gradient[0] / 3
		only := slices.Repeat(bilevel.Folds{bilevel.AlwaysTrain}, n)
		for i, id := range prefix {
			switch {
			case i == 0:
				only[i] = 0
			case id == 0 || id == bilevel.TestOnly:
				only[i] = bilevel.TestOnly
			}
		}
		test += run(only, false).Value / 3
	}
	if !(math.Abs(got.Value/value-1) <= 1e-9) || !(math.Abs(got.Gradient[0]/slope-1) <= 1e-6) {
		t.Errorf("value %g, slope %g; by prefixes %g, %g", got.Value, got.Gradient[0], value, slope)
	}
	if !got.Tested || !(math.Abs(got.Test/test-1) <= 1e-9) {
		t.Errorf("on the row kept for testing %g, want %g", got.Test, test)
	}
}

func TestAClassMissingOnATrainingSideIsSaid(t *testing.T) {
	r := oracle.NewRandom(6)
	q := r.Problem(oracle.Shape{N: 30, P: 4, Density: 1}).Classes(r)
	k, x := fixture.Kernels(t), fixture.Matrix(t, q, false)
	folds := make(bilevel.Folds, len(q.Y))
	for i, y := range q.Y {
		if y < 0 {
			folds[i] = 1
		}
	}
	spec := bilevel.Spec{Folds: folds, Penalty: penalties["lasso"]}
	if _, err := bilevel.NewMulticlass(k, x, q.Y, spec); outcome.KindOf(err) != outcome.SingleClass {
		t.Errorf("multiclass: %v", err)
	}
	if _, err := bilevel.NewSVM(k, sparse.Transpose(x), q.Y, spec); outcome.KindOf(err) != outcome.SingleClass {
		t.Errorf("svm: %v", err)
	}
	spec.Datafit = func(view *sparse.View, y []float64) (model.Datafit, error) { return model.NewLogistic(view, y) }
	if _, err := bilevel.New(k, x, q.Y, spec); outcome.KindOf(err) != outcome.SingleClass {
		t.Errorf("logreg: %v", err)
	}
	all := bilevel.Spec{Folds: make(bilevel.Folds, len(q.Y)), Forward: true, Penalty: penalties["lasso"]}
	if _, err := bilevel.New(k, x, q.Y, all); outcome.KindOf(err) != outcome.BadParameter {
		t.Errorf("nothing before the first fold: %v", err)
	}
	// If all rows are in two folds the first fold has no earlier rows to train on; with one row before it, it has.
	for i := range all.Folds {
		all.Folds[i] = 2 * i / len(q.Y)
	}
	if _, err := bilevel.New(k, x, q.Y, all); outcome.KindOf(err) != outcome.BadParameter {
		t.Errorf("nothing before the first of two folds: %v", err)
	}
	all.Folds[0] = bilevel.AlwaysTrain
	if _, err := bilevel.New(k, x, q.Y, all); err != nil {
		t.Errorf("one row before the first fold: %v", err)
	}
}

// TestExtendedDealsNewRowsOnly checks that new rows are distributed so that folds have equal sizes, for every
// target if asked for, that groups stay together, and that no earlier row changes its fold.
func TestExtendedDealsNewRowsOnly(t *testing.T) {
	for seed := range uint64(20) {
		const n, more, k = 23, 31, 4
		first, err := bilevel.KFold(nil, n, k, true, seed)
		if err != nil {
			t.Fatal(err)
		}
		target, groups := make([]float64, n+more), make([]int, n+more)
		for i := range target {
			target[i], groups[i] = float64(i%3), i/2
		}
		for name, how := range map[string]bilevel.Newcomers{
			"in order": {}, "shuffled": {Shuffle: true, Seed: seed}, "alike": {Shuffle: true, Seed: seed, Alike: target},
		} {
			all := first.Extended(nil, n+more, how)
			if !slices.Equal(all[:n], first) || !slices.Equal(all, first.Extended(nil, n+more, how)) {
				t.Fatalf("%s: %v became %v", name, first, all)
			}
			size, late := make([]int, k), make([][3]int, k)
			for i, fold := range all {
				size[fold]++
				if how.Alike != nil && i >= n {
					late[fold][int(target[i])]++
				}
			}
			if how.Alike == nil && slices.Max(size)-slices.Min(size) > 1 {
				t.Errorf("%s: sizes %v", name, size)
			}
		}
		for i, fold := range first { // whole groups start in one fold
			if i%2 == 1 {
				first[i] = first[i-1]
			}
			_ = fold
		}
		all := first.Extended(nil, n+more, bilevel.Newcomers{Groups: groups})
		for i := 1; i < n+more; i += 2 {
			if all[i] != all[i-1] {
				t.Errorf("row %d is in fold %d, the other one of its group in %d", i, all[i], all[i-1])
			}
		}
	}
	same, err := bilevel.KFold(nil, 12, 3, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := bilevel.KFold(nil, 20, 3, false, 0); !slices.Equal(same.Extended(nil, 20, bilevel.Newcomers{}), want) {
		t.Errorf("in order %v, dealt at once %v", same.Extended(nil, 20, bilevel.Newcomers{}), want)
	}
}
