package implicit_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestMarginsBoundTheSmallestEigenvalue checks margins of systems scaled to a unit diagonal: a margin is at most
// the smallest eigenvalue, and at least 1/s of it for s columns, as the trace of the inverse implies.
func TestMarginsBoundTheSmallestEigenvalue(t *testing.T) {
	tried := map[string]int{}
	check := func(name string, a [][]float64, got float64) {
		t.Helper()
		scaled := make([][]float64, len(a))
		for k := range a {
			for l := range a {
				scaled[k] = append(scaled[k], a[k][l]/math.Sqrt(a[k][k]*a[l][l]))
			}
		}
		least := slices.Min(oracle.Eigenvalues(scaled))
		if tried[name]++; !(got <= least*(1+1e-9) && got >= 0.9*least/float64(len(a))) {
			t.Errorf("%s of %d: margin %g, smallest eigenvalue %g", name, len(a), got, least)
		}
	}
	for seed := range uint64(20) {
		r := oracle.NewRandom(5600 + seed)
		q, best, rows := smooth(r)
		cols, coef := best.Support()
		h, err := implicit.New(fixture.Squared(t, q, true)).Solve(t.Context(), scalar(t, q), implicit.Point{Support: cols, Coef: coef, KKT: -1}, outerOf(q, best.Beta, rows), implicit.Options{Prove: true})
		if err != nil {
			t.Fatal(err)
		}
		check("columns", q.System(cols), h.InjectivityMargin)
		b := drawBox(r, 30, 12, 1, false)
		beta, free, bound := b.solve(t, math.Exp(-3))
		if len(free) > 0 && len(bound) > 0 {
			var a [][]float64
			for _, i := range free {
				var row []float64
				for _, k := range free {
					row = append(row, b.product(int(i), int(k)))
				}
				a = append(a, row)
			}
			h, err := implicit.NewSVM(b.fit(t, nil, true)).Solve(t.Context(), -3, pointOf(beta, free, bound), b.outer(beta), implicit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			check("samples", a, h.InjectivityMargin)
		}
		v := drawVectors(t, seed&^3) // regression without an intercept
		if s, _ := v.solve(t, 0, 0); len(s.Free) > 0 {
			h, err := implicit.NewVectors(v.fit).Solve(t.Context(), v.at, vectorsPoint(&s), implicit.Outer{Slope: v.ends, Curvature: make([]float64, len(v.ends))}, implicit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, p := v.fit.Dims()
			x := v.fit.Rows(s.Free, v.fit.Face(s.W), nil)
			var a [][]float64
			for k := range s.Free {
				var row []float64
				for l := range s.Free {
					row = append(row, dot(x[k*p:][:p], x[l*p:][:p]))
				}
				a = append(a, row)
			}
			if h.InjectivityMargin > 0 {
				check("rows", a, h.InjectivityMargin)
			}
		}
	}
	for _, kind := range []string{"columns", "samples", "rows"} {
		if tried[kind] < 5 {
			t.Errorf("%d systems of %s", tried[kind], kind)
		}
	}
}

// TestDependenceDoesNotDependOnUnits checks two columns and their sum, whose strength is the sum of theirs: at the
// solution the columns are found to be dependent, in any units. Away from it nothing can be proved, and dependence
// is not examined.
func TestDependenceDoesNotDependOnUnits(t *testing.T) {
	q := oracle.NewRandom(5700).Problem(oracle.Shape{N: 12, P: 3})
	for i, row := range q.X {
		row[2] = row[0] + row[1]
		q.Y[i] = 3 * row[2]
	}
	q.Uniform(1e-3 * q.AlphaMax())
	q.Alpha[2] *= 2
	pair := q.Clone()
	pair.Alpha[2] = math.Inf(1)
	beta := pair.Solve().Beta
	for _, y := range []float64{1, 0x1p20, 0x1p-20} {
		for _, off := range []float64{0, 1e-5} {
			c := inUnits(q, 1, y)
			share := 0.3 * math.Min(beta[0], beta[1]) // the coefficient of the sum
			coef := []float64{y * (beta[0] - share) * (1 + off), y * (beta[1] - share) * (1 + off), y * share}
			got, err := implicit.New(fixture.Squared(t, c, true)).Certify(t.Context(), weighted(t, c), implicit.Point{Support: []int32{0, 1, 2}, Coef: coef})
			if err != nil || got.Dependent != (off == 0) || got.Unique {
				t.Errorf("y times %g, %g off: %v, %+v", y, off, err, got)
			}
		}
	}
}

// TestIterationsAreThoseOfAllSystems checks that Iterations counts all systems: a system with one column takes one
// iteration, and with two strengths whose motion is requested there are three systems.
func TestIterationsAreThoseOfAllSystems(t *testing.T) {
	q := oracle.NewRandom(5800).Problem(oracle.Shape{N: 20, P: 1})
	q.Uniform(math.Exp(math.Log(0.1 * q.AlphaMax())))
	q.Ridge = math.Exp(-2)
	best := q.Solve()
	cols, coef := best.Support()
	outer := outerOf(q, best.Beta, []int{0, 1, 2, 3})
	o := implicit.Options{Tol: 1e-6, Motion: [][]float64{make([]float64, 20), make([]float64, 20)}}
	h, err := implicit.NewIterative(fixture.Squared(t, q, true)).Solve(t.Context(), scalar(t, q), implicit.Point{Support: cols, Coef: coef, KKT: -1}, outer, o)
	if err != nil || h.Iterations != 3 {
		t.Errorf("%v, %d iterations, want 3", err, h.Iterations)
	}
}

// TestIterationsCountTheCheckOfTheRank checks that Iterations includes the check of the rank, which is made for
// systems with neither a factor nor a ridge.
func TestIterationsCountTheCheckOfTheRank(t *testing.T) {
	q, best, rows := smooth(oracle.NewRandom(5900))
	q.Ridge = 0
	best = q.SolveFrom(best.Beta)
	cols, coef := best.Support()
	iterations := map[bool]int{}
	for _, assumed := range []bool{false, true} {
		h, err := implicit.NewIterative(fixture.Squared(t, q, true)).Solve(t.Context(), scalar(t, q), implicit.Point{Support: cols, Coef: coef, KKT: -1}, outerOf(q, best.Beta, rows), implicit.Options{AssumeFullRank: assumed})
		if err != nil || len(cols) < 2 {
			t.Fatalf("%v, support %v", err, cols)
		}
		iterations[assumed] = h.Iterations
	}
	if iterations[false] <= iterations[true] {
		t.Errorf("%d iterations, %d without the check", iterations[false], iterations[true])
	}
}

// TestNothingIsFlatBelowTheLargestStrength checks that the criterion is flat if all coefficients are 0, unless a
// column is about to enter.
func TestNothingIsFlatBelowTheLargestStrength(t *testing.T) {
	q := oracle.NewRandom(5950).Problem(oracle.Shape{N: 20, P: 3})
	top := q.AlphaMax()
	for share, want := range map[float64]outcome.Status{1.1: outcome.Flat, 0.9: outcome.SupportUncertified} {
		q.Uniform(share * top)
		h, err := implicit.New(fixture.Squared(t, q, true)).Solve(t.Context(), scalar(t, q), implicit.Point{KKT: -1}, outerOf(q, make([]float64, 3), []int{0}), implicit.Options{})
		if err != nil || h.Status != want {
			t.Errorf("%g times the largest strength: %v, %s, want %s", share, err, h.Status, want)
		}
	}
}

// TestVectorsOfOneRowAtItsBound checks that solutions with a single row at its bound depend on ln C as others do.
func TestVectorsOfOneRowAtItsBound(t *testing.T) {
	const h = 1e-4
	checked := 0
	for seed := uint64(1); seed < 200; seed += 4 { // classification: one λ
		v := drawVectors(t, seed)
		for _, logC := range []float64{-2, -1, 0, 1} {
			v.at[0] = logC
			s, name := v.solve(t, 0, 0)
			if len(s.Bound) != 1 {
				continue
			}
			up, nameUp := v.solve(t, 0, h)
			down, nameDown := v.solve(t, 0, -h)
			if name != nameUp || name != nameDown {
				continue
			}
			g, err := implicit.NewVectors(v.fit).Solve(t.Context(), v.at, vectorsPoint(&s), implicit.Outer{Slope: v.ends, Curvature: make([]float64, len(v.ends))}, implicit.Options{})
			want := (v.value(&up) - v.value(&down)) / (2 * h)
			if err != nil || g.Status == outcome.Converged && math.Abs(g.Gradient[0]-want) > 1e-6*(1+math.Abs(want)) || g.Status == outcome.Flat {
				t.Errorf("seed %d: %v, %s, %g, differences %g", seed, err, g.Status, g.Gradient[0], want)
			}
			checked++
		}
	}
	if checked < 3 {
		t.Errorf("%d checked", checked)
	}
}
