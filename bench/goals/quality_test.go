package goals

import (
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestColumnsOfASmallScaleAreWaitedFor checks problems whose columns differ in scale by a factor of more than 1,000.
// The last columns enter long after the first local minimum of the criterion, which is 1.7 and 2.3 standard errors
// above the second.
func TestColumnsOfASmallScaleAreWaitedFor(t *testing.T) {
	for turn, k := range []int{17, 207} {
		if !oracle.Turn(turn, 1) {
			continue
		}
		p, err := drawn{model: pare.Lasso}.draw(7331, k)
		if err != nil {
			t.Fatal(err)
		}
		q := quality{status: map[string]int{}}
		if err := q.judge(t.Context(), pare.Lasso, p); err != nil {
			t.Fatal(err)
		}
		if q.percent > 0 {
			t.Errorf("%s is %.2f standard errors above the best of the grid", q.worstName, q.worst)
		}
	}
}

// TestLittleNoiseIsMet checks that choices with a signal many times the noise, and by an information criterion, are
// near the best of the grid.
func TestLittleNoiseIsMet(t *testing.T) {
	for _, d := range []drawn{{model: pare.Ridge, clear: true}, {model: pare.Lasso, criterion: pare.BIC}} {
		q := quality{status: map[string]int{}}
		p, err := d.draw(7331, 2)
		if err == nil {
			err = q.judge(t.Context(), d.model, p)
		}
		if err != nil {
			t.Fatal(err)
		}
		if q.count != 1 || q.thousandth > 0 {
			t.Errorf("%s: %s is %.2f standard errors above the best of the grid", d.name(), q.worstName, q.worst)
		}
	}
}
