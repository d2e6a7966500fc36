package implicit_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestBlockBoundIsTheSumOfItsTerms checks penalties on groups, with an ℓ1 term and with a ridge: at points beside
// a solution, gradients, bounds, margins and statuses are as described in blocks.go, written out on dense
// matrices.
func TestBlockBoundIsTheSumOfItsTerms(t *testing.T) {
	const p = 9
	groups := []int{0, 0, 0, 1, 2, 1, 2, 3, 4}
	part, err := model.NewPartition(groups)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[outcome.Status]int{}
	for seed := range uint64(24) {
		r := oracle.NewRandom(6100 + seed)
		q := r.Problem(oracle.Shape{N: 40, P: p, Mean: r.Pick(0, 1), Weights: seed%4 < 2})
		q.Intercept = seed%2 == 0
		of := []string{"squared", "logistic"}[seed/2%2]
		fit, top := drawn(t, r, q, of)
		sparse, l1, whole := seed%3 > 0, 0.0, 0.1*top
		weights := []float64{1.5, 1, 0.7, 1, 2}
		var g model.ConvexBlocks
		if sparse {
			l1 = 0.05 * top
			g, err = model.SparseGroupPair(weights, math.Log(l1), math.Log(whole))
		} else {
			q.Ridge = 0.1 * q.Norm2(0) / q.Total()
			g, err = model.GroupNet(weights, math.Log(whole), math.Log(q.Ridge))
		}
		if err != nil {
			t.Fatal(err)
		}
		scores := fixture.OneScore(t, fit)
		solver := cd.NewBlocks(scores, part)
		best, err := solver.Solve(t.Context(), g, cd.Options{Tol: 1e-13})
		if err != nil || len(best.Support) == 0 {
			t.Fatalf("%v, support %v", err, best.Support)
		}
		for _, off := range []float64{1e-6, 1e-4, 1e-2, 0.1} {
			beta := slices.Clone(best.Beta)
			at := implicit.BlockPoint{Support: slices.Clone(best.Support), Beta: beta, Point: scores.NewPoint(), KKT: math.Exp(3 * r.Normal()), Margin: r.Pick(0, 0.1, 1)}
			var point implicit.Point // restricted to the coefficients that are not 0
			var live []float64
			for _, j := range at.Support {
				beta[j] *= 1 + off*r.Normal()
				if live = append(live, beta[j]); beta[j] != 0 {
					point.Support, point.Coef = append(point.Support, j), append(point.Coef, beta[j])
				}
			}
			scores.Fit(at.Support, live, at.Point)
			largest := 0.0
			for j := range p {
				at.Correlation = append(at.Correlation, fit.View().Dot(j, at.Point.Weighted)/q.Total())
				largest = math.Max(largest, math.Abs(at.Correlation[j]))
			}
			at.KKT *= 0.01 * largest
			var d []float64
			for i, m := range at.Point.Prediction {
				d = append(d, q.Weight(i)*curvatures[of](m))
			}
			outer := implicit.Outer{Slope: make([]float64, len(q.Y)), Curvature: make([]float64, len(q.Y))}
			for i := range q.Y {
				outer.Slope[i], outer.Curvature[i] = r.Normal(), r.Float64()
			}
			w := writeOut(q, point, at.Point.Weighted, d, outer)
			norms := make([]float64, part.Count())
			for j, b := range beta {
				norms[groups[j]] = math.Hypot(norms[groups[j]], b)
			}
			size := len(point.Support)
			lack := make([]float64, size)
			rights := func(coef []float64) (right [2][]float64) { // −∂(penalty's slope)/∂λ at coefficients with the same support
				for k, j := range point.Support {
					norm := 0.0
					for l, other := range point.Support {
						if groups[other] == groups[j] {
							norm = math.Hypot(norm, coef[l])
						}
					}
					group := -whole * weights[groups[j]] / norm * coef[k]
					if sparse {
						right[0], right[1] = append(right[0], -math.Copysign(l1, coef[k])), append(right[1], group)
					} else {
						right[0], right[1] = append(right[0], group), append(right[1], -q.Ridge*coef[k])
					}
				}
				return right
			}
			for k, j := range point.Support {
				b, in := point.Coef[k], groups[j]
				pull := whole * weights[in] / norms[in]
				for l, other := range point.Support {
					if groups[other] == in {
						w.a[k][l] -= pull / (norms[in] * norms[in]) * b * point.Coef[l]
					}
				}
				w.a[k][k] += pull
				lack[k] = at.Correlation[j] - math.Copysign(l1, b) - pull*b - q.Ridge*b
			}
			margin := 0.0
			for k := range w.a {
				unit := make([]float64, size)
				unit[k] = 1
				margin += w.a[k][k] * w.solve(t, unit)[k]
			}
			margin = 1 / margin
			step := w.solve(t, lack)
			_, wander, fastest := w.bend(step)
			moved, change, inside := make([]float64, part.Count()), 0.0, true
			for k, j := range point.Support {
				in := groups[j]
				moved[in] = math.Hypot(moved[in], step[k])
				inside = inside && !(sparse && 10*math.Abs(step[k]) >= math.Abs(point.Coef[k]))
			}
			for in, length := range norms {
				if length == 0 {
					continue
				}
				inside = inside && 10*moved[in] < length
				if len(part.Columns(in)) > 1 {
					change = math.Max(change, 3*moved[in]/length)
				}
			}
			if of != "squared" {
				change += 2 * fastest
			}
			v, want := w.solve(t, w.h), 0.0
			got, err := implicit.NewBlocks(scores, part, solver.System()).Solve(t.Context(), g, at, outer.Slope, outer.Curvature, implicit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("seed %d, off by %g", seed, off)
			there := slices.Clone(point.Coef)
			for k, d := range step {
				there[k] += d
			}
			after := rights(there)
			for i, b := range rights(point.Coef) {
				x, shift := w.solve(t, b), math.Abs(dot(after[i], v)-dot(b, v))
				_, steep, _ := w.bend(x)
				want = math.Max(want, 10*(change*math.Sqrt(dot(w.h, v)*dot(b, x))+math.Sqrt(steep*wander)+shift))
				if gradient := dot(w.h, x); math.Abs(got.Gradient[i]-gradient) > 1e-9*(1+math.Abs(gradient)) {
					t.Errorf("%s: ∂/∂λ%d = %g, on dense matrices %g", name, i, got.Gradient[i], gradient)
				}
			}
			if math.Abs(got.ErrorBound-want) > 1e-3*want || math.Abs(got.InjectivityMargin-margin) > 1e-6*margin {
				t.Errorf("%s: bound %g, its terms %g; margin %g, by the trace %g", name, got.ErrorBound, want, got.InjectivityMargin, margin)
			}
			status := outcome.Converged
			switch {
			case !inside:
				status = outcome.SupportUncertified
			case at.Margin == 0:
				status = outcome.NotDifferentiable
			case at.Margin*largest <= 10*at.KKT:
				status = outcome.SupportUncertified
			}
			if seen[got.Status]++; got.Status != status || got.Bound != implicit.Estimated || got.KKT != at.KKT {
				t.Errorf("%s: %s, %s, want %s; inside %t, margin %g, KKT %g", name, got.Status, got.Bound, status, inside, at.Margin, at.KKT)
			}
		}
	}
	for _, status := range []outcome.Status{outcome.Converged, outcome.SupportUncertified, outcome.NotDifferentiable} {
		if seen[status] < 10 {
			t.Errorf("%s %d times", status, seen[status])
		}
	}
}
