package pare_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestChoicesOnLargeDenseMatricesDoNotDependOnTheirCopy checks choices on dense matrices of at least 262,144 values,
// which first use a copy in 32 bits unless memory is capped. With and without the copy, the criterion is the same to a
// small fraction of the standard error, for tall matrices, where the models are fitted to some of the rows, and for
// wide ones.
func TestChoicesOnLargeDenseMatricesDoNotDependOnTheirCopy(t *testing.T) {
	turn := 0
	for _, m := range []pare.Model{pare.Lasso, pare.Logistic, pare.Poisson, pare.SquaredHinge, pare.Multiclass, pare.Huber} {
		for _, shape := range []oracle.Shape{{N: 5300, P: 50, Active: 5}, {N: 90, P: 3000, Active: 5}} {
			turn++
			if !oracle.Turn(turn, 2) {
				continue
			}
			r := oracle.NewRandom(uint64(900 + turn))
			q := r.Problem(shape)
			for i, y := range q.Y {
				switch m {
				case pare.Logistic, pare.SquaredHinge:
					q.Y[i] = math.Copysign(1, y)
				case pare.Poisson:
					q.Y[i] = math.Floor(math.Exp(min(2, 0.5*y)))
				case pare.Multiclass:
					q.Y[i] = min(2, max(0, math.Floor(y+1)))
				}
			}
			var found [2]*pare.Selection
			for k, most := range []int64{0, 1 << 40} {
				x, err := sparse.NewDense(shape.N, shape.P, q.ColumnMajor())
				if err != nil {
					t.Fatal(err)
				}
				if found[k], err = pare.Select(t.Context(), x, q.Y, pare.SelectOptions{}, pare.Config{Model: m, Threads: 1, MaxBytes: most}); err != nil {
					t.Fatalf("%s, %d × %d, at most %d bytes: %v", m, shape.N, shape.P, most, err)
				}
			}
			a, b := found[0], found[1]
			if a.Status != b.Status || math.Abs(a.Value-b.Value) > 0.02*b.StandardError || a.Final.Status != outcome.Converged && m != pare.Multiclass {
				t.Errorf("%s, %d × %d: %s, %g and a refit %s, without a copy %s, %g", m, shape.N, shape.P, a.Status, a.Value, a.Final.Status, b.Status, b.Value)
			}
		}
	}
}
