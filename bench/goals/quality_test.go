package goals

import (
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// Columns of these problems differ by more than a factor of 1,000 in scale: the last ones come in
// long after the first valley of the criterion, whose floor is 1.7 and 2.3 standard errors higher
// than that of the second.
func TestColumnsOfASmallScaleAreWaitedFor(t *testing.T) {
	for turn, k := range []int{17, 207} {
		if !oracle.Turn(turn, 1) {
			continue
		}
		p, err := draw(pare.Lasso, 7331, k)
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
