package bilevel_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestKFold checks that the permutation is a Fisher–Yates shuffle by SplitMix64, computed here from the oracle's
// stream, whose outputs are checked against published ones, and that fold sizes differ by at most one.
func TestKFold(t *testing.T) {
	for _, c := range []struct {
		n, k int
		seed uint64
	}{{10, 5, 0}, {442, 5, 0}, {37, 10, 1234567}, {2, 2, 9}, {5, 5, 1 << 63}} {
		at := make([]int, c.n)
		for i := range at {
			at[i] = i
		}
		stream := oracle.NewRandom(c.seed)
		for i := c.n - 1; i > 0; i-- {
			// ⌊u·(i+1)/2⁶⁴⌋, computed in two halves.
			u, m := stream.Uint64(), uint64(i+1)
			j := int((u>>32*m + (u&0xffffffff)*m>>32) >> 32)
			at[i], at[j] = at[j], at[i]
		}
		plain, err := bilevel.KFold(nil, c.n, c.k, false, c.seed)
		if err != nil {
			t.Fatal(err)
		}
		shuffled, err := bilevel.KFold(nil, c.n, c.k, true, c.seed)
		if err != nil {
			t.Fatal(err)
		}
		size := make([]int, c.k)
		for i := range at {
			if plain[i] != i%c.k || shuffled[i] != at[i]%c.k {
				t.Fatalf("n %d, k %d, row %d: %d plain, %d shuffled, want %d and %d", c.n, c.k, i, plain[i], shuffled[i], i%c.k, at[i]%c.k)
			}
			size[shuffled[i]]++
		}
		if slices.Max(size)-slices.Min(size) > 1 || shuffled.Count(nil) != c.k {
			t.Errorf("n %d, k %d: sizes %v", c.n, c.k, size)
		}
	}
	// A fixed result, which reveals any change of the random stream.
	if folds, err := bilevel.KFold(nil, 10, 5, true, 0); err != nil || fmt.Sprint(folds) != wantFolds {
		t.Errorf("10 rows in 5 folds, seed 0: %v, want %s", folds, wantFolds)
	}
}

func TestHoldOut(t *testing.T) {
	folds, err := bilevel.HoldOut(nil, 11, 3, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range folds {
		if want := map[bool]int{true: 0, false: bilevel.AlwaysTrain}[i%3 == 2]; id != want {
			t.Errorf("row %d: %d, want %d", i, id, want)
		}
	}
	k, err := bilevel.KFold(nil, 30, 4, true, 8)
	if err != nil {
		t.Fatal(err)
	}
	h, err := bilevel.HoldOut(nil, 30, 4, true, 8)
	if err != nil {
		t.Fatal(err)
	}
	for i := range k {
		if (k[i] == 3) != (h[i] == 0) {
			t.Errorf("row %d: fold %d, hold-out %d", i, k[i], h[i])
		}
	}
	if h.Count(nil) != 1 {
		t.Errorf("%d folds", h.Count(nil))
	}
}

// TestFoldsAreChecked checks that impossible assignments are refused, and that the error names the row if one is
// to blame.
func TestFoldsAreChecked(t *testing.T) {
	for _, c := range [][2]int{{10, 1}, {10, 0}, {10, -3}, {10, 11}, {1, 2}, {0, 2}} {
		if _, err := bilevel.KFold(nil, c[0], c[1], true, 0); outcome.KindOf(err) != outcome.BadParameter {
			t.Errorf("KFold(%d, %d): %v", c[0], c[1], err)
		}
		if _, err := bilevel.HoldOut(nil, c[0], c[1], true, 0); outcome.KindOf(err) != outcome.BadParameter {
			t.Errorf("HoldOut(%d, %d): %v", c[0], c[1], err)
		}
	}
	r := oracle.NewRandom(1)
	q := r.Problem(oracle.Shape{N: 4, P: 2})
	x := fixture.Matrix(t, q, true)
	k := fixture.Kernels(t)
	for _, c := range []struct {
		folds bilevel.Folds
		kind  outcome.Kind
		row   int
	}{
		{nil, outcome.Shape, -1},
		{bilevel.Folds{0, 1, 0}, outcome.Shape, -1},
		{bilevel.Folds{-1, -1, -1, -1}, outcome.BadParameter, -1},
		{bilevel.Folds{-2, -2, -2, -2}, outcome.BadParameter, -1},
		{bilevel.Folds{0, 1, -3, 1}, outcome.BadParameter, 2},
		{bilevel.Folds{0, 4, 1, 1}, outcome.BadParameter, 1},
		{bilevel.Folds{0, math.MaxInt, 1, 1}, outcome.BadParameter, 1},
		{bilevel.Folds{0, math.MaxInt / 2, 1, 1}, outcome.BadParameter, 1},
		{bilevel.Folds{-1, -1, -3, -1}, outcome.BadParameter, 2},
		{bilevel.Folds{0, 0, 2, 2}, outcome.BadParameter, -1},
		{bilevel.Folds{0, 0, 0, 0}, outcome.BadParameter, -1},
		{bilevel.Folds{0, 0, -2, -2}, outcome.BadParameter, -1},
	} {
		_, err := bilevel.New(k, x, q.Y, bilevel.Spec{Folds: c.folds, Penalty: penalties["lasso"]})
		e, ok := errors.AsType[*outcome.Error](err)
		if !ok || e.Kind != c.kind || (c.row >= 0) != e.HasRow || (c.row >= 0 && e.Row != c.row) {
			t.Errorf("folds %v: %v", c.folds, err)
		}
	}
	if _, err := bilevel.New(k, x, q.Y, bilevel.Spec{Folds: bilevel.Folds{0, 0, 1, 1}}); outcome.KindOf(err) != outcome.BadParameter {
		t.Errorf("no penalty: %v", err)
	}
	if _, err := bilevel.New(k, x, q.Y[:3], bilevel.Spec{Folds: bilevel.Folds{0, 0, 1, 1}, Penalty: penalties["lasso"]}); outcome.KindOf(err) != outcome.Shape {
		t.Errorf("3 targets for 4 rows: %v", err)
	}
}

// wantFolds is KFold(10, 5, true, 0).
const wantFolds = "[4 4 2 0 1 2 1 0 3 3]"
