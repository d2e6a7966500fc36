package cd_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestCoefficientsLeaveZeroAFewAtATime checks a softmax far below its last strength, where hundreds of coefficients
// violate optimality at 0 at once: a solve must reach the same solution as a path.
func TestCoefficientsLeaveZeroAFewAtATime(t *testing.T) {
	const scores = 6
	for seed := range oracle.Cases(4) {
		r := oracle.NewRandom(9300 + seed)
		q := r.Problem(oracle.Shape{N: 120, P: 60, Density: r.Pick(0.3, 1)})
		q.Intercept = seed%2 == 0
		class := make([]int32, len(q.Y))
		for i := range class {
			class[i] = int32(r.Intn(scores))
		}
		fit, err := model.NewSoftmax(fixture.View(t, q, seed/2%2 == 0), class, []float64{1, 2, 3, 4, 5, 6})
		if err != nil {
			t.Fatal(err)
		}
		_, p := fit.View().Dims()
		solver := func(steps ...float64) *cd.BlockSolution {
			s := cd.NewBlocks(fit, model.Singletons(p))
			_, z := s.Null()
			top := math.Log(fit.View().Kernels().MaxAbs(z))
			var at *cd.BlockSolution
			for _, step := range steps {
				g, err := model.ScoresLasso(scores, []float64{top - step})
				if err != nil {
					t.Fatal(err)
				}
				if at, err = s.Solve(t.Context(), g, cd.Options{Tol: 1e-10}); err != nil || at.Status != outcome.Converged {
					t.Fatalf("seed %d, %g below αmax: %v: %v", seed, step, at, err)
				}
			}
			return at
		}
		far, path := solver(0.05, 3), solver(0.5, 1, 1.5, 2, 2.5, 3)
		if math.Abs(far.Objective/path.Objective-1) > 1e-9 || len(far.Support) < 20 {
			t.Errorf("seed %d: %.12g on %d columns, by a path %.12g", seed, far.Objective, len(far.Support), path.Objective)
		}
	}
}

// TestCoefficientsLeftAtZeroDoNotMove checks a softmax whose Hessian is not written out. Sweeps then move all
// coefficients, so the violation of none may be set to 0: otherwise steps lower only the model, none is accepted, and
// 300 passes do not move the point.
func TestCoefficientsLeftAtZeroDoNotMove(t *testing.T) {
	for _, scores := range []int{2, 3} {
		r := oracle.NewRandom(77)
		q := r.Problem(oracle.Shape{N: 600, P: 3000, Density: 0.01, Active: 150})
		q.Intercept = true
		class, names := make([]int32, len(q.Y)), []float64{1, 2, 3}[:scores]
		for i, y := range q.Y {
			if class[i] = int32(i % 2); y > 0 {
				class[i] = int32(scores - 1)
			}
		}
		fit, err := model.NewSoftmax(fixture.View(t, q, false), class, names)
		if err != nil {
			t.Fatal(err)
		}
		_, p := fit.View().Dims()
		s := cd.NewBlocks(fit, model.Singletons(p))
		_, z := s.Null()
		top := math.Log(fit.View().Kernels().MaxAbs(z))
		for _, step := range []float64{1.2, 4} {
			g, err := model.ScoresLasso(scores, []float64{top - step})
			if err != nil {
				t.Fatal(err)
			}
			if at, err := s.Solve(t.Context(), g, cd.Options{Tol: 1e-4}); err != nil || at.Status != outcome.Converged || at.Passes > 30 {
				t.Errorf("%d scores, %g below αmax: %s after %d passes, %d columns, a gap of %g, %v", scores, step, at.Status, at.Passes, len(at.Support), at.RelativeGap, err)
			}
		}
	}
}
