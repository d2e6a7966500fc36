package cd_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestSaturatedModelsHaveTheirCurvature checks rows at a margin of 24, where the curvature is
// 4e-11: steps must be Newton steps with this curvature. A floor of 1e-9 would make them 25
// times too short.
func TestSaturatedModelsHaveTheirCurvature(t *testing.T) {
	q := &oracle.Problem{X: [][]float64{{1}, {-1}}, Y: []float64{1, -1}, Alpha: []float64{0}}
	q.Uniform(4e-11)
	g := fixture.Penalty(t, q)
	sol := solve(t, cd.New(fixture.Logistic(t, q, true)), g, cd.Options{Tol: 1e-15})
	want := math.Log((1 - q.Alpha[0]) / q.Alpha[0])
	if sol.Status != outcome.Converged || math.Abs(sol.Coef[0]-want) > 0.01 || sol.Steps > 60 {
		t.Errorf("%s at %v after %d steps, the solution is %.12g", sol.Status, sol.Coef, sol.Steps, want)
	}
}
