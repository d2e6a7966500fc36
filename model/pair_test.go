package model_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/model"
)

// TestPairIsTheLeastPenaltyOfADifference checks that, of all pairs of coefficients for two scores that differ by
// w, those with the given share have the least penalty, which is that of w, against a golden-section search.
func TestPairIsTheLeastPenaltyOfADifference(t *testing.T) {
	must := func(g model.Grouped, err error) model.Grouped {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for name, g := range map[string]model.Grouped{
		"l1":              must(model.ScoresLasso(2, []float64{-1})),
		"net":             must(model.ScoresNet(2, -1, 0.5)),
		"group":           must(model.ScoresGroup(2, -1)),
		"first is cheap":  must(model.ScoresLasso(2, []float64{-2, -1})),
		"second is cheap": must(model.ScoresLasso(2, []float64{-1, -2})),
	} {
		of, first, ok := g.Pair()
		if !ok {
			t.Fatalf("%s: none", name)
		}
		for _, w := range []float64{-3, -0.1, 0.4, 7} {
			at := func(first float64) float64 { return g.Value(0, []float64{-first * w, (1 - first) * w}) }
			low, high := -2.0, 3.0
			for range 100 {
				a, b := low+0.382*(high-low), high-0.382*(high-low)
				if at(a) < at(b) {
					high = b
				} else {
					low = a
				}
			}
			least, got := at((low+high)/2), of.Alpha(0)*math.Abs(w)+0.5*of.Ridge()*w*w
			if math.Abs(got-least) > 1e-12*least || math.Abs(at(first)-least) > 1e-12*least {
				t.Errorf("%s, %g: %.15g, %.15g at a share of %g; the least is %.15g", name, w, got, at(first), first, least)
			}
		}
	}
}

// TestPairIsOfTwoScores checks that penalties for other numbers of scores have no pair.
func TestPairIsOfTwoScores(t *testing.T) {
	three, err := model.ScoresLasso(3, []float64{-1})
	if err != nil {
		t.Fatal(err)
	}
	columns, err := model.GroupLasso(nil, -1)
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]model.Grouped{"three scores": three, "groups of columns": columns} {
		if _, _, ok := g.Pair(); ok {
			t.Errorf("%s have one", name)
		}
	}
}
