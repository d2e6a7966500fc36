package cd_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestGroupsUnderHubersLossWithTargetsFarOff checks residuals of a thousand times δ, where the loss is nearly linear:
// steps that use only its largest curvature would number thousands. The objective must be that of the solver for
// single columns.
func TestGroupsUnderHubersLossWithTargetsFarOff(t *testing.T) {
	const share, most = 0.3, 10000
	r := oracle.NewRandom(9)
	q := r.Problem(oracle.Shape{N: 40, P: 30, Density: 0.3})
	for i, x := range q.X {
		q.Y[i] *= 1000
		for j := range x {
			x[j] *= 1000
		}
	}
	fit, err := model.NewRowwise(fixture.View(t, q, false), q.Y, loss.Huber{Delta: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	q.Uniform(share * model.NewNull(fit).AlphaMax())
	alone := solve(t, cd.New(fit), fixture.Penalty(t, q), cd.Options{})
	g, err := model.GroupLasso(nil, kernels.Log(q.Alpha[0]))
	if err != nil {
		t.Fatal(err)
	}
	s, err := cd.NewBlocks(fixture.OneScore(t, fit), model.Singletons(30)).Solve(t.Context(), g, cd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Status != outcome.Converged || s.Epochs > most || math.Abs(s.Objective-alone.Objective) > max(s.Gap, alone.Gap) {
		t.Errorf("%s after %d sweeps, objective %.12g, of single columns %.12g", s.Status, s.Epochs, s.Objective, alone.Objective)
	}
}

// TestSoftmaxOfFewRowsFarBelowTheLastStrength checks a softmax with fewer rows than coefficients, in which equal rows
// have different classes: a Newton step on a model is far too long and ends at a kink, and so do the next fifty.
func TestSoftmaxOfFewRowsFarBelowTheLastStrength(t *testing.T) {
	const share, most = 1e-6, 5000
	r := oracle.NewRandom(10)
	q := r.Problem(oracle.Shape{N: 40, P: 22, Density: 1})
	q.Intercept = true
	class := make([]int32, 40)
	for i := range q.X {
		if i%3 == 2 {
			copy(q.X[i], q.X[i-1])
		}
		class[i] = int32(r.Intn(4))
	}
	fit, err := model.NewSoftmax(fixture.View(t, q, true), class, []float64{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	solver := cd.NewBlocks(fit, model.Singletons(22))
	_, z := solver.Null()
	g, err := model.ScoresLasso(4, []float64{kernels.Log(share * fit.View().Kernels().MaxAbs(z))})
	if err != nil {
		t.Fatal(err)
	}
	s, err := solver.Solve(t.Context(), g, cd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Status != outcome.Converged || s.Epochs > most {
		t.Errorf("%s after %d sweeps, a gap of %g", s.Status, s.Epochs, s.RelativeGap)
	}
}

// TestNearCopiesUnderANormOfTheClasses checks two nearly equal columns. A step that transfers the coefficients of one
// column to the other must end where their norm is 0, or sweeps number hundreds of thousands. The objective must be
// that without one of the two columns.
func TestNearCopiesUnderANormOfTheClasses(t *testing.T) {
	const share, near, tol, most = 0.05, 1e-6, 1e-9, 1000
	for seed := range oracle.Cases(12) {
		r := oracle.NewRandom(20 + seed)
		q := r.Problem(oracle.Shape{N: 40, P: 6, Density: 1})
		q.Intercept = true
		class := make([]int32, 40)
		for i, x := range q.X {
			class[i] = int32(r.Intn(3))
			x[2] += float64(class[i])
			x[5] = x[2] + near*r.Normal()
		}
		solve := func(q *oracle.Problem, lambda float64) (*cd.BlockSolution, float64) {
			fit, err := model.NewSoftmax(fixture.View(t, q, true), class, []float64{1, 2, 3})
			if err != nil {
				t.Fatal(err)
			}
			_, p := q.Dims()
			part := model.Singletons(p)
			solver := cd.NewBlocks(fit, part)
			if lambda == 0 {
				_, z := solver.Null()
				lambda = kernels.Log(share * fit.View().Kernels().MaxAbs(z))
			}
			g, err := model.GroupLasso(nil, lambda)
			if err != nil {
				t.Fatal(err)
			}
			s, err := solver.Solve(t.Context(), g, cd.Options{Tol: tol})
			if err != nil {
				t.Fatal(err)
			}
			return s, lambda
		}
		s, lambda := solve(q, 0)
		without := math.Inf(1)
		for _, left := range []int{2, 5} {
			one := *q
			one.X = nil
			for _, x := range q.X {
				one.X = append(one.X, slices.Delete(slices.Clone(x), left, left+1))
			}
			one.Alpha = q.Alpha[1:]
			alone, _ := solve(&one, lambda)
			without = min(without, alone.Objective)
		}
		if s.Status != outcome.Converged || s.Epochs > most || math.Abs(s.Objective-without) > 1e-8*without {
			t.Errorf("seed %d: %s after %d sweeps, objective %.12g, without one of the two %.12g", seed, s.Status, s.Epochs, s.Objective, without)
		}
	}
}

// TestEqualColumnsUnderHubersLossInGroups checks problems in which a few rows have all the curvature, and there is
// none along the difference of two equal columns. Models that mislead must be damped, but not so much that they lie
// above the loss: steps would then number thousands. The objectives must be those of the solver for single columns.
func TestEqualColumnsUnderHubersLossInGroups(t *testing.T) {
	const share, most = 0.003, 60000
	sweeps := 0
	for seed := range uint64(120) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 15, P: 3, Density: 1})
		q.Intercept = true
		for _, x := range q.X {
			x[2] = x[0]
		}
		fit, err := model.NewRowwise(fixture.View(t, q, true), q.Y, loss.Huber{Delta: 0.1})
		if err != nil {
			t.Fatal(err)
		}
		q.Uniform(share * model.NewNull(fit).AlphaMax())
		alone := solve(t, cd.New(fit), fixture.Penalty(t, q), cd.Options{})
		g, err := model.GroupLasso(nil, kernels.Log(q.Alpha[0]))
		if err != nil {
			t.Fatal(err)
		}
		s, err := cd.NewBlocks(fixture.OneScore(t, fit), model.Singletons(3)).Solve(t.Context(), g, cd.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Status != outcome.Converged || math.Abs(s.Objective-alone.Objective) > max(s.Gap, alone.Gap) {
			t.Errorf("seed %d: %s, objective %.12g, of single columns %.12g", seed, s.Status, s.Objective, alone.Objective)
		}
		sweeps += s.Epochs
	}
	if sweeps > most {
		t.Errorf("%d sweeps", sweeps)
	}
}
