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
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// TestIterativeVectorsAreTheFactorised checks that conjugate gradients give the slopes and the status that factors
// give, within the bounds of both, at a tight tolerance and at loose ones.
func TestIterativeVectorsAreTheFactorised(t *testing.T) {
	compared := map[string]int{}
	for _, seed := range oracle.Seeds(160, 345, 1045) {
		if seed%4 == 3 {
			continue // the simplex
		}
		v := drawVectors(t, seed)
		s, _ := v.solve(t, 0, 0)
		outer := implicit.Outer{Slope: v.ends, Curvature: make([]float64, len(v.ends))}
		for i, e := range v.ends {
			outer.Curvature[i] = math.Abs(e)
		}
		want, err := implicit.NewVectors(v.fit).Solve(t.Context(), v.at, vectorsPoint(&s), outer, implicit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, tol := range []float64{1e-1, 1e-3, 1e-12} {
			got, err := implicit.NewIterativeVectors(v.fit).Solve(t.Context(), v.at, vectorsPoint(&s), outer, implicit.Options{Tol: tol})
			if err != nil {
				t.Fatal(err)
			}
			for i, g := range got.Gradient {
				if d := math.Abs(g - want.Gradient[i]); !(d <= got.ErrorBound+want.ErrorBound+1e-12*(1+math.Abs(g))) {
					t.Errorf("seed %d, tolerance %g: derivative %d is %g off, bounds %g and %g", seed, tol, i, d, got.ErrorBound, want.ErrorBound)
				}
			}
			if tol > 1e-12 {
				continue
			}
			if got.Status != want.Status {
				t.Errorf("seed %d: %s, factorised %s", seed, got.Status, want.Status)
			}
			if size := len(s.Free); size > 1 && want.Status == outcome.Converged {
				compared[fmt.Sprintf("classes %t, intercept %t", v.o.Classes, v.o.Intercept)]++
				if got.Iterations == 0 || want.Iterations != 0 || !(got.Work > 0) {
					t.Errorf("seed %d: %d iterations, work %g; factorised %d", seed, got.Iterations, got.Work, want.Iterations)
				}
			}
		}
	}
	for _, kind := range []string{"classes true, intercept true", "classes true, intercept false", "classes false, intercept true", "classes false, intercept false"} {
		if compared[kind] < 3 && oracle.Cases(160) == 160 {
			t.Errorf("%s: %d compared, of %v", kind, compared[kind], compared)
		}
	}
}

// TestVectorsOfWrongRowsAreUncertified checks points with a row at the end of its interval that is treated as one
// at 0, or a free row treated as one at its end: such a point satisfies the conditions of the free rows but
// violates those of the other rows.
func TestVectorsOfWrongRowsAreUncertified(t *testing.T) {
	tried := map[string]int{}
	for seed := range oracle.Cases(80) {
		if seed%4 == 3 {
			continue
		}
		v := drawVectors(t, seed)
		s, _ := v.solve(t, 0, 0)
		outer := implicit.Outer{Slope: v.ends, Curvature: make([]float64, len(v.ends))}
		for _, open := range []func() *implicit.Vectors{
			func() *implicit.Vectors { return implicit.NewVectors(v.fit) },
			func() *implicit.Vectors { return implicit.NewIterativeVectors(v.fit) },
		} {
			solve := func(s *cd.VectorsSolution) outcome.Status {
				g, err := open().Solve(t.Context(), v.at, vectorsPoint(s), outer, implicit.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return g.Status
			}
			if len(s.Free) < 2 || len(s.Bound) < 2 || solve(&s) != outcome.Converged {
				continue
			}
			dropped := s
			dropped.Bound, dropped.Dual = s.Bound[1:], slices.Clone(s.Dual)
			dropped.Dual[s.Bound[0]] = 0
			ended := s
			ended.Free, ended.Bound = s.Free[1:], append([]int32{s.Free[0]}, s.Bound...)
			ended.Dual = slices.Clone(s.Dual)
			lower, upper := v.fit.Interval(int(s.Free[0]), s.C)
			if ended.Dual[s.Free[0]] = upper; s.Dual[s.Free[0]] < 0 {
				ended.Dual[s.Free[0]] = lower
			}
			slices.Sort(ended.Bound)
			for name, wrong := range map[string]*cd.VectorsSolution{"dropped": &dropped, "ended": &ended} {
				tried[name]++
				if got := solve(wrong); got == outcome.Converged {
					t.Errorf("seed %d, a row %s: %s", seed, name, got)
				}
			}
		}
	}
	if tried["dropped"] < 4 || tried["ended"] < 4 {
		t.Errorf("%v tried", tried)
	}
}

// TestCopiesOfFreeRowsAreNoKinks checks that two copies of a row have the slopes of one row of weight 2, even if
// one copy has the whole dual variable and the other is on the edge of its tube.
func TestCopiesOfFreeRowsAreNoKinks(t *testing.T) {
	checked := 0
	for _, seed := range oracle.Seeds(60, 260, 364) {
		r := oracle.NewRandom(7700 + seed)
		q := r.Problem(oracle.Shape{N: 24, P: 6, Density: 1})
		o := model.VectorsOptions{Classes: seed%2 == 0, Intercept: seed%4 < 2, Weights: make([]float64, len(q.Y))}
		if o.Classes {
			q.Classes(r)
		}
		n, slope := len(q.Y), make([]float64, len(q.Y))
		twice := q.Clone()
		var copied []int // index in q of the row that each copy repeats
		weights := make([]float64, n)
		for i := range q.Y {
			if o.Weights[i] = float64(i % 3); i%3 == 0 {
				slope[i] = r.Normal()
				continue
			}
			if weights[i] = 1; o.Weights[i] == 2 {
				copied = append(copied, i)
				twice.X, twice.Y, weights = append(twice.X, q.X[i]), append(twice.Y, q.Y[i]), append(weights, 1)
			}
		}
		fit, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, o)
		if err != nil {
			continue
		}
		o.Weights = weights
		of, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, twice, true), twice.Y, o)
		if err != nil {
			t.Fatal(err)
		}
		v := &vectorsCase{fit: fit, at: []float64{math.Log(r.Pick(0.05, 0.3)), -2}[:fit.Hyperparameters()]}
		if v.solver, err = cd.NewVectors(fit); err != nil {
			t.Fatal(err)
		}
		s, _ := v.solve(t, 0, 0)
		longer := func(values []float64) []float64 {
			out := slices.Clone(values)
			for _, i := range copied {
				out = append(out, values[i])
			}
			return out
		}
		outer := implicit.Outer{Slope: slope, Curvature: make([]float64, n)}
		want, err := implicit.NewVectors(fit).Solve(t.Context(), v.at, vectorsPoint(&s), outer, implicit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want.Status != outcome.Converged {
			continue
		}
		outer = implicit.Outer{Slope: append(slope, make([]float64, len(copied))...), Curvature: make([]float64, len(slope)+len(copied))}
		for _, even := range []bool{false, true} {
			at := implicit.VectorsPoint{Dual: longer(s.Dual), Predictions: longer(s.Predictions), W: s.W}
			for k, i := range copied {
				lower, upper := of.Interval(i, s.C)
				if at.Dual[i] /= 2; !even { // the first copy has as much as it may have
					at.Dual[i] = math.Max(lower, math.Min(upper, s.Dual[i]))
				}
				at.Dual[n+k] = s.Dual[i] - at.Dual[i]
			}
			for i, a := range at.Dual {
				lower, upper := of.Interval(i, s.C)
				ends := []float64{0, lower, upper}
				end := slices.IndexFunc(ends, func(end float64) bool { return math.Abs(a-end) <= 1e-12*s.C })
				switch {
				case end < 0:
					at.Free = append(at.Free, int32(i))
				case ends[end] != 0:
					at.Bound = append(at.Bound, int32(i))
				}
				if end >= 0 {
					at.Dual[i] = ends[end]
				}
			}
			for _, solver := range []*implicit.Vectors{implicit.NewVectors(of), implicit.NewIterativeVectors(of)} {
				got, err := solver.Solve(t.Context(), v.at, at, outer, implicit.Options{Tol: 1e-8})
				if err != nil {
					t.Fatal(err)
				}
				if o.Intercept && len(at.Free) == 0 { // both copies are at their ends, and no row determines the intercept
					if got.Status != outcome.NotDifferentiable {
						t.Errorf("seed %d, even %t: %s with no row free", seed, even, got.Status)
					}
					continue
				}
				if got.Status != outcome.Converged || !(got.ErrorBound < 1e-5) {
					t.Errorf("seed %d, even %t: %s, bound %g", seed, even, got.Status, got.ErrorBound)
				}
				for i, g := range got.Gradient {
					if d := math.Abs(g - want.Gradient[i]); d > got.ErrorBound+want.ErrorBound+1e-12*(1+math.Abs(g)) {
						t.Errorf("seed %d, even %t: derivative %d is %g, of rows of weight 2 %g", seed, even, i, g, want.Gradient[i])
					}
				}
			}
		}
		checked++
	}
	if checked < 20 && oracle.Cases(60) == 60 {
		t.Errorf("%d checked", checked)
	}
}

// TestFreeRowsAtTheirEndsAreNotFree checks two rows whose dual variables are at C up to rounding: the intercept
// may then be anywhere between two values, even if one of the rows is listed as free.
func TestFreeRowsAtTheirEndsAreNotFree(t *testing.T) {
	q := &oracle.Problem{X: [][]float64{{1}, {-1}}, Y: []float64{1, -1}, Alpha: []float64{1}}
	fit, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, model.VectorsOptions{Classes: true, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	at := []float64{math.Log(0.25)}
	c, _, err := fit.Strengths(at)
	if err != nil {
		t.Fatal(err)
	}
	outer := implicit.Outer{Slope: []float64{1, 0}, Curvature: make([]float64, 2)}
	for _, a := range []float64{c * (1 - 0x1p-52), c * (1 - 1e-14)} {
		point := implicit.VectorsPoint{Dual: []float64{a, -c}, Free: []int32{0}, Bound: []int32{1}, W: []float64{a + c}, Predictions: []float64{a + c, -a - c}}
		for _, solver := range []*implicit.Vectors{implicit.NewVectors(fit), implicit.NewIterativeVectors(fit)} {
			if g, err := solver.Solve(t.Context(), at, point, outer, implicit.Options{}); err != nil || g.Status != outcome.SupportUncertified {
				t.Errorf("%g below C: %v, %s", c-a, err, g.Status)
			}
		}
	}
}

// TestRoughSlopesOfVectors checks that a rough slope is computed from the motion that conjugate gradients find to
// a tolerance of 1e-2, without checks of the rows, and certifies nothing.
func TestRoughSlopesOfVectors(t *testing.T) {
	for seed := range oracle.Cases(40) {
		if seed%4 == 3 {
			continue // the simplex
		}
		v := drawVectors(t, seed)
		s, _ := v.solve(t, 0, 0)
		outer := implicit.Outer{Slope: v.ends, Curvature: make([]float64, len(v.ends))}
		solve := func(o implicit.Options) implicit.Hypergradient {
			g, err := implicit.NewIterativeVectors(v.fit).Solve(t.Context(), v.at, vectorsPoint(&s), outer, o)
			if err != nil {
				t.Fatal(err)
			}
			return *g
		}
		full, got := solve(implicit.Options{Tol: 1e-2}), solve(implicit.Options{Tol: 1e-9, Rough: true})
		if full.Status == outcome.Flat || len(s.Free) == 0 {
			continue
		}
		for i, g := range got.Gradient {
			if want := v.slope(t, &s, i, 1e-2); !(math.Abs(g-want) <= 1e-12*(1+math.Abs(g))) { // sums in another order
				t.Errorf("seed %d: derivative %d is %g, written out %g", seed, i, g, want)
			}
		}
		if got.Status != outcome.SupportUncertified || !math.IsInf(got.ErrorBound, 1) || got.Iterations > full.Iterations {
			t.Errorf("seed %d: %s, bound %g, %d iterations; in full %d", seed, got.Status, got.ErrorBound, got.Iterations, full.Iterations)
		}
	}
}

// slope returns the derivative of value in hyperparameter i, with the motion of the free rows solved to tol.
func (v *vectorsCase) slope(t *testing.T, s *cd.VectorsSolution, i int, tol float64) float64 {
	n, p := v.fit.Dims()
	a, w, m := make([]float64, n), make([]float64, p), make([]float64, n)
	rhs, x, total := make([]float64, len(s.Free)), make([]float64, len(s.Free)), 0.0
	if i == 0 {
		for _, r := range s.Bound {
			a[r] = s.Dual[r]
			total -= a[r]
		}
		v.fit.SetMotion(a, s.W, w)
		v.fit.Predict(w, 0, m)
	}
	for k, r := range s.Free {
		if rhs[k] = -m[r]; i > 0 {
			rhs[k] = -math.Copysign(s.Epsilon, s.Dual[r])
		}
	}
	system := support.Bordered{Kernels: v.fit.Kernels(), Centred: v.fit.Centred()}
	system.Take(sparse.Transpose(v.fit.Matrix()), s.Free, v.fit.Squares(), v.fit.Scales())
	shift, _ := system.Solve(t.Context(), rhs, total, x, tol, 1000)
	for k, r := range s.Free {
		a[r] = x[k]
	}
	v.fit.SetMotion(a, s.W, w)
	v.fit.Predict(w, shift, m)
	return v.value(&cd.VectorsSolution{Predictions: m})
}
