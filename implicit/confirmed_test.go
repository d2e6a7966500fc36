package implicit_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestSupportIsConfirmedAsFarAsTheResidualMoves checks the clearance from which on columns outside the support are
// known to stay there. From a point that is off by δ on the support the residual moves by ‖X̃δ‖ₛ; under the
// squared loss without a ridge the required clearance is exactly this. Under the logistic loss it is at least
// that, and at most that times the root of the bound of its curvature over the least curvature.
func TestSupportIsConfirmedAsFarAsTheResidualMoves(t *testing.T) {
	for seed := range uint64(12) {
		r := oracle.NewRandom(4200 + seed)
		q, best, rows := smooth(r)
		q.Ridge = 0
		best = q.SolveFrom(best.Beta)
		curved := seed%2 == 1
		if curved {
			q = q.Classes(r)
			q.Uniform(0.2 * q.LogisticAlphaMax())
			for j := range q.Alpha {
				q.Alpha[j] = kernels.Exp(math.Log(q.Alpha[j]))
			}
			best = q.SolveLogistic()
		}
		view := fixture.View(t, q, true)
		var fit model.Datafit
		var err error
		if curved {
			fit, err = model.NewLogistic(view, q.Y)
		} else {
			fit, err = model.NewSquared(view, q.Y)
		}
		if err != nil {
			t.Fatal(err)
		}
		beta := slices.Clone(best.Beta)
		for j, b := range beta {
			beta[j] = b * (1 + 1e-4*r.Normal())
		}
		cols, coef := (&oracle.Solution{Beta: beta}).Support()
		_, exact := (&oracle.Solution{Beta: best.Beta}).Support()
		if len(cols) == 0 {
			continue
		}
		here, there := model.NewState(fit), model.NewState(fit)
		fit.Fit(cols, coef, here)
		fit.Fit(cols, exact, there)
		var moved oracle.Sum
		least := math.Inf(1)
		for i := range q.Y {
			if w := q.Weight(i); w > 0 {
				d := here.Weighted[i] - there.Weighted[i]
				moved.Add(d / w * d)
				if curved {
					p := 1 / (1 + math.Exp(here.Prediction[i]))
					least = math.Min(least, p*(1-p))
				}
			}
		}
		truth := math.Sqrt(moved.Value())
		s, g, outer := implicit.New(fit), scalar(t, q), outerOf(q, beta, rows)
		confirmed := func(clearance float64) bool {
			h, err := s.Solve(t.Context(), g, implicit.Point{Support: cols, Coef: coef, KKT: -1, Clearance: clearance}, outer, implicit.Options{Tol: 1e-12, Prove: true})
			if err != nil {
				t.Fatal(err)
			}
			return h.Status == outcome.Converged
		}
		most := 1.01
		if curved {
			most = 1.01 * math.Sqrt(0.25/least)
		}
		if confirmed(0.99*truth) || !confirmed(most*truth*1.01) {
			t.Errorf("seed %d: the residual moves by %g; confirmed with a clearance of 0.99 of it: %t, of %g times: %t", seed, truth, confirmed(0.99*truth), most, confirmed(most*truth*1.01))
		}
	}
}

// TestOtherSignsAreNotConfirmed checks that a point at which one coefficient has the wrong sign is not confirmed,
// however close the point is and however large the clearance of other columns.
func TestOtherSignsAreNotConfirmed(t *testing.T) {
	for seed := range uint64(10) {
		q, best, rows := smooth(oracle.NewRandom(4300 + seed))
		smallest := -1
		for j, b := range best.Beta {
			if b != 0 && (smallest < 0 || math.Abs(b) < math.Abs(best.Beta[smallest])) {
				smallest = j
			}
		}
		if smallest < 0 {
			continue
		}
		for _, share := range []float64{-0.01, -1} {
			beta := slices.Clone(best.Beta)
			beta[smallest] *= share
			cols, coef := (&oracle.Solution{Beta: beta}).Support()
			at := implicit.Point{Support: cols, Coef: coef, KKT: -1, Clearance: math.Inf(1)}
			h, err := implicit.New(fixture.Squared(t, q, true)).Solve(t.Context(), scalar(t, q), at, outerOf(q, beta, rows), implicit.Options{Tol: 1e-12, Prove: true})
			if err != nil {
				t.Fatal(err)
			}
			if h.Status != outcome.SupportUncertified {
				t.Errorf("seed %d: %s with a coefficient of %g, that of the solution is %g", seed, h.Status, beta[smallest], best.Beta[smallest])
			}
		}
	}
}

// TestColumnsOnTheEdgeAreNotConfirmed checks a point that is off by more than rounding, at which the correlation
// of a column outside the support has reached its strength: it exceeds the strength on the way to the solution on
// this support.
func TestColumnsOnTheEdgeAreNotConfirmed(t *testing.T) {
	const off = 1e-6
	q := &oracle.Problem{X: [][]float64{{1, 1.5}, {1, 0.5}}, Y: []float64{1.5 + off, 1.5 - 3*off}, Alpha: []float64{0.5, 0.5}}
	outer := implicit.Outer{Slope: []float64{1, -2}, Curvature: []float64{1, 1}}
	for _, beta := range []float64{1, 1 - off} { // on the edge, and beyond it
		at := implicit.Point{Support: []int32{0}, Coef: []float64{beta}, KKT: -1}
		h, err := implicit.New(fixture.Squared(t, q, true)).Solve(t.Context(), scalar(t, q), at, outer, implicit.Options{Tol: 1e-12, Prove: true})
		if err != nil {
			t.Fatal(err)
		}
		if h.Status != outcome.SupportUncertified {
			t.Errorf("β = %g: %s", beta, h.Status)
		}
	}
}

// TestNothingIsConfirmedBesideAnEdge checks β = 0 with one column on the edge of entering, and another column that
// is inside, on the edge or beyond it.
func TestNothingIsConfirmedBesideAnEdge(t *testing.T) {
	q := &oracle.Problem{X: [][]float64{{1, 0}, {0, 1}}, Y: []float64{1, 0}, Alpha: []float64{0.5, 0.5}}
	outer := implicit.Outer{Slope: []float64{1, -2}, Curvature: []float64{1, 1}}
	for y, want := range map[float64]outcome.Status{0.9: outcome.Flat, 1: outcome.Flat, 1.1: outcome.SupportUncertified} {
		q.Y[1] = y
		h, err := implicit.New(fixture.Squared(t, q, true)).Solve(t.Context(), scalar(t, q), implicit.Point{KKT: -1}, outer, implicit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if h.Status != want {
			t.Errorf("y₂ = %g: %s, want %s", y, h.Status, want)
		}
	}
}

// TestNothingIsCertified checks that above αmax the solution 0 is certified as unique.
func TestNothingIsCertified(t *testing.T) {
	q, _, _ := smooth(oracle.NewRandom(5))
	q.Ridge = 0
	fit := fixture.Squared(t, q, true)
	g, err := model.Lasso(math.Log(model.AlphaMax(fit)) + 0.1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := implicit.New(fit).Certify(t.Context(), g, implicit.Point{})
	if err != nil || !c.Support || !c.Unique || c.Undecided != 0 || c.Shared || c.Dependent || math.Abs(c.DualMargin-(1-math.Exp(-0.1))) > 1e-12 {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestLeveragesAreLimited checks that the number of columns of the support is also limited.
func TestLeveragesAreLimited(t *testing.T) {
	q := &oracle.Problem{X: [][]float64{make([]float64, 1001), make([]float64, 1001)}, Y: []float64{1, 2}, Alpha: make([]float64, 1001)}
	at := implicit.Point{}
	for j := range int32(1001) {
		q.X[0][j] = 1
		at.Support, at.Coef = append(at.Support, j), append(at.Coef, 1)
	}
	g, err := model.Lasso(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := implicit.New(fixture.Squared(t, q, true)).Leverages(g, at); outcome.KindOf(err) != outcome.Limit {
		t.Errorf("%v", err)
	}
}

// TestHeldColumnsHaveZeros checks two columns of which one is at its bound: gradient and Jacobian are 0 for this
// column, and for the other column equal to those of a problem without the first.
func TestHeldColumnsHaveZeros(t *testing.T) {
	q := &oracle.Problem{X: [][]float64{{1, 0.2}, {-1, 1}, {0.5, -1}, {2, 1}}, Y: []float64{3, 1, -2, 9}, Weights: []float64{1, 1, 1, 0}, Alpha: make([]float64, 2)}
	for held := range 2 {
		lower, upper := []float64{-50, -50}, []float64{50, 50}
		upper[held] = 0.1
		box, err := model.NewBox(lower, upper)
		if err != nil {
			t.Fatal(err)
		}
		fit := fixture.Squared(t, q, true)
		logs := []float64{-3, -3}
		g, err := model.WeightedLasso(logs)
		if err != nil {
			t.Fatal(err)
		}
		if g, err = g.Within(box.In(fit.View())); err != nil {
			t.Fatal(err)
		}
		sol, err := cd.New(fit).Solve(t.Context(), g, cd.Options{Tol: 1e-14})
		if err != nil || len(sol.Support) != 2 || sol.Coef[held] != 0.1 {
			t.Fatalf("%v at %v, %v", sol.Coef, sol.Support, err)
		}
		h, err := implicit.New(fit).Solve(t.Context(), g, implicit.Point{Support: sol.Support, Coef: sol.Coef, KKT: -1}, outerOf(q, sol.Coef, []int{3}), implicit.Options{Tol: 1e-14})
		if err != nil || len(h.Gradient) != 2 || h.Gradient[held] != 0 {
			t.Fatalf("gradient %v, %v", h.Gradient, err)
		}
		// The other β is (z − α)/‖x‖², so ∂β/∂λ = −α/‖x‖², times the slope of the error.
		other := 1 - held
		var square float64
		for i := range 3 {
			square += q.X[i][other] * q.X[i][other] / 3
		}
		alpha := math.Exp(-3)
		if sol.Coef[other] < 0 {
			alpha = -alpha
		}
		residual := q.X[3][0]*sol.Coef[0] + q.X[3][1]*sol.Coef[1] - q.Y[3]
		if want := 2 * residual * q.X[3][other] * -alpha / square; math.Abs(h.Gradient[other]-want) > 1e-12*math.Abs(want) {
			t.Errorf("column %d held: %g, want %g", held, h.Gradient[other], want)
		}
	}
}

// TestOtherSetsAreNotConfirmed checks that an SVM's gradient is never reported as converged at a point whose free
// samples, or samples at their bounds, differ from those of the solution.
func TestOtherSetsAreNotConfirmed(t *testing.T) {
	others := 0
	for seed := range uint64(20) {
		r := oracle.NewRandom(4400 + seed)
		b := drawBox(r, 36, 8+r.Intn(20), 1, seed%2 == 0)
		fit, logC := b.fit(t, nil, true), r.Pick(-4, -3, -2)
		exact, err := cd.NewSVM(fit).Solve(t.Context(), logC, cd.Options{Tol: 1e-14, Polish: true})
		if err != nil {
			t.Fatal(err)
		}
		free, bound := slices.Clone(exact.Free), slices.Clone(exact.Bound)
		for _, tol := range []float64{0.1, 1e-2, 1e-3} {
			x, err := cd.NewSVM(fit).Solve(t.Context(), logC, cd.Options{Tol: tol})
			if err != nil {
				t.Fatal(err)
			}
			if slices.Equal(x.Free, free) && slices.Equal(x.Bound, bound) {
				continue
			}
			others++
			outer := implicit.Outer{Slope: make([]float64, 36), Curvature: make([]float64, 36)}
			for _, i := range b.held {
				outer.Slope[i] = r.Normal()
			}
			h, err := implicit.NewSVM(fit).Solve(t.Context(), logC, implicit.SVMPoint{Free: x.Free, Dual: x.Dual, Bound: x.Bound}, outer, implicit.Options{Tol: 1e-10})
			if err != nil {
				t.Fatal(err)
			}
			if h.Status == outcome.Converged {
				t.Errorf("seed %d, tolerance %g: converged with other sets", seed, tol)
			}
		}
	}
	if others < 10 {
		t.Errorf("%d points with other sets", others)
	}
}

// TestSVMOnAKinkOfASampleAtZero checks a sample with dual variable 0 on the margin: the margin moves, so the
// sample is free on one side of λ.
func TestSVMOnAKinkOfASampleAtZero(t *testing.T) {
	b := &boxCase{x: [][]float64{{1}, {-2}, {-0.1}, {1}}, y: []float64{1, -1, -1, 1}, s: []float64{1, 1, 0, 0}, held: []int32{2, 3}}
	fit := b.fit(t, nil, true)
	for logC, want := range map[float64]outcome.Status{math.Log(0.5): outcome.NotDifferentiable, math.Log(0.7): outcome.Converged} {
		c := math.Exp(logC)
		g, err := implicit.NewSVM(fit).Solve(t.Context(), logC, implicit.SVMPoint{Bound: []int32{0}}, b.outer([]float64{c, 0, 0, 0}), implicit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if g.Status != want {
			t.Errorf("C = %g: %s, want %s; margin %g", c, g.Status, want, g.DegeneracyMargin)
		}
	}
}
