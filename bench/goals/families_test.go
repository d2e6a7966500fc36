package goals

import (
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/bench/studies"
)

// TestTargetsOfFamilies checks that a numerical target becomes two or more classes, counts or amounts, as
// the loss requires.
func TestTargetsOfFamilies(t *testing.T) {
	for _, y := range [][]float64{diabetes(t).Y, {1, -1, 1, 1, -1}, {-1, -1, 1, -1, -1}} {
		for _, f := range otherFamilies() {
			target := f.target(y)
			if c := f.config; c.Loss != nil {
				for _, v := range target {
					if err := c.Loss.Check(v); err != nil {
						t.Errorf("%s: %v", f.name, err)
					}
				}
			}
			distinct := slices.Compact(slices.Sorted(slices.Values(target)))
			if len(distinct) < 2 {
				t.Errorf("%s: targets %v", f.name, distinct)
			}
		}
	}
}

// TestFamiliesEndNearTheBestOfAGrid checks that no choice is worse than the best of 200 points by more
// than a thousandth and a twentieth of a standard error.
func TestFamiliesEndNearTheBestOfAGrid(t *testing.T) {
	if !*long {
		t.Skip("minutes; with -long")
	}
	r, err := Families(t.Context(), studies.Options{Library: studies.Library{Dir: "../../../shared/data"}, Seed: 97})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Tables["O10"].Rows {
		if above, deviations := row[4].(float64), row[5].(float64); above > 1e-3 && deviations > 0.05 {
			t.Errorf("%v", row)
		}
	}
}
