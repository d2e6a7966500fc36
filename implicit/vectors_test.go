package implicit_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// vectorsCase is a support vector machine at given strengths, with every third row held out.
type vectorsCase struct {
	o      model.VectorsOptions
	fit    *model.Vectors
	solver *cd.Vectors
	at     []float64 // λ
	ends   []float64 // the vector v of the criterion Σ vᵢmᵢ, of length n; 0 on rows that are not held out
}

func drawVectors(t *testing.T, seed uint64) *vectorsCase {
	t.Helper()
	r := oracle.NewRandom(seed)
	q := r.Problem(oracle.Shape{N: 18 + r.Intn(15), P: 2 + r.Intn(8), Density: 1, Mean: r.Pick(0, 1)})
	v := &vectorsCase{o: model.VectorsOptions{Classes: seed%4 == 1, Intercept: seed%4 > 1 || seed%8 == 5, Simplex: seed%4 == 3, Weights: make([]float64, len(q.Y))}}
	if v.o.Simplex {
		v.o.Intercept = false
	}
	if v.o.Classes {
		q.Classes(r)
	}
	v.ends = make([]float64, len(q.Y))
	for i := range q.Y {
		if i%3 == 2 {
			v.ends[i] = r.Normal()
		} else {
			v.o.Weights[i] = r.Pick(1, 2)
		}
	}
	fit, err := model.NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, seed%2 == 0), q.Y, v.o)
	if err != nil {
		t.Fatal(err)
	}
	if v.solver, err = cd.NewVectors(fit); err != nil {
		t.Fatal(err)
	}
	v.fit, v.at = fit, []float64{math.Log(r.Pick(0.05, 0.3, 2)), math.Log(r.Pick(0.1, 0.4))}[:fit.Hyperparameters()]
	return v
}

// solve returns the solution at λ with hyperparameter i moved by h, and a name that identifies its free rows, its
// rows at a bound and its face of the simplex.
func (v *vectorsCase) solve(t *testing.T, i int, h float64) (s cd.VectorsSolution, name string) {
	t.Helper()
	at := append([]float64(nil), v.at...)
	at[i] += h
	v.solver.Reset()
	found, err := v.solver.Solve(t.Context(), at, cd.Options{Tol: 1e-14, Polish: true})
	if err != nil {
		t.Fatal(err)
	}
	s = *found
	s.Dual, s.W, s.Predictions = append([]float64(nil), s.Dual...), append([]float64(nil), s.W...), append([]float64(nil), s.Predictions...)
	s.Free, s.Bound = append([]int32(nil), s.Free...), append([]int32(nil), s.Bound...)
	return s, fmt.Sprint(s.Free, s.Bound, v.fit.Face(s.W))
}

func (v *vectorsCase) value(s *cd.VectorsSolution) (sum float64) {
	for r, m := range s.Predictions {
		sum += v.ends[r] * m
	}
	return sum
}

func vectorsPoint(s *cd.VectorsSolution) implicit.VectorsPoint {
	return implicit.VectorsPoint{Dual: s.Dual, Free: s.Free, Bound: s.Bound, Predictions: s.Predictions, W: s.W}
}

// TestVectorsHypergradientIsTheDifferenceQuotient checks the derivative of a sum of held-out predictions in ln C
// and in ln ε against differences, where the same rows are free on either side.
func TestVectorsHypergradientIsTheDifferenceQuotient(t *testing.T) {
	const h = 1e-4
	checked := map[string]int{}
	for seed := range uint64(80) {
		v := drawVectors(t, seed)
		s, name := v.solve(t, 0, 0)
		g, err := implicit.NewVectors(v.fit).Solve(t.Context(), v.at, vectorsPoint(&s), implicit.Outer{Slope: v.ends, Curvature: make([]float64, len(v.ends))}, implicit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range v.at {
			up, nameUp := v.solve(t, i, h)
			down, nameDown := v.solve(t, i, -h)
			if name != nameUp || name != nameDown || g.Status != outcome.Converged {
				continue
			}
			want := (v.value(&up) - v.value(&down)) / (2 * h)
			if math.Abs(g.Gradient[i]-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("seed %d, %+v, λ %v: derivative %d is %.10g, differences %.10g", seed, v.o, v.at, i, g.Gradient[i], want)
			}
			if want != 0 {
				checked[fmt.Sprintf("λ%d, classes %t, intercept %t, simplex %t", i, v.o.Classes, v.o.Intercept, v.o.Simplex)]++
			}
		}
	}
	for _, kind := range []string{
		"λ0, classes false, intercept false, simplex false", "λ1, classes false, intercept false, simplex false", "λ0, classes true, intercept false, simplex false",
		"λ0, classes false, intercept true, simplex false", "λ1, classes false, intercept true, simplex false",
		"λ0, classes true, intercept true, simplex false",
	} {
		if checked[kind] < 3 {
			t.Errorf("%s: %d checked, of %v", kind, checked[kind], checked)
		}
	}
	t.Log(checked)
}

// TestVectorsKnowHowFarPredictionsAreOff checks that at a point beside the solution with the right free rows, the
// bound for a criterion with slope 0 and curvature in one row is |∂m| times the error of that row's prediction.
func TestVectorsKnowHowFarPredictionsAreOff(t *testing.T) {
	checked := 0
	for seed := range uint64(40) {
		v := drawVectors(t, seed)
		s, _ := v.solve(t, 0, 0)
		if v.o.Simplex || len(s.Free) == 0 || len(s.Bound) == 0 {
			continue
		}
		r := oracle.NewRandom(seed)
		n, p := v.fit.Dims()
		moved, w, off := make([]float64, n), make([]float64, p), make([]float64, n)
		var sum float64
		for _, i := range s.Free {
			moved[i] = 1e-3 * r.Normal()
			sum += moved[i]
		}
		shift := 0.0
		if v.o.Intercept {
			shift = 1e-3
			moved[s.Free[0]] -= sum
		}
		v.fit.SetPrimal(moved, w)
		v.fit.Predict(w, shift, off)
		beside := vectorsPoint(&s)
		for i, d := range off {
			beside.Predictions[i] += d
		}
		solver := implicit.NewVectors(v.fit)
		solve := func(outer implicit.Outer) *implicit.Hypergradient {
			g, err := solver.Solve(t.Context(), v.at, beside, outer, implicit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		for i := range off {
			slope, curvature := make([]float64, n), make([]float64, n)
			slope[i] = 1
			var move float64 // largest over the hyperparameters
			for _, g := range solve(implicit.Outer{Slope: slope, Curvature: curvature}).Gradient {
				move = math.Max(move, math.Abs(g))
			}
			slope[i], curvature[i] = 0, -2
			want := 2 * move * math.Abs(off[i])
			if got := solve(implicit.Outer{Slope: slope, Curvature: curvature}).ErrorBound; !(got >= want*(1-1e-8)-1e-13 && got <= want*(1+1e-8)+1e-11) { // rounding adds to the bound
				t.Errorf("seed %d, row %d: bound %g, want %g", seed, i, got, want)
			}
			checked++
		}
	}
	if checked < 20 {
		t.Errorf("%d rows checked", checked)
	}
}
