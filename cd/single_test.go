package cd_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
)

// TestEstimatesCertify checks solves that estimate the correlations of a large matrix in 32 bits: their certificates
// must be those of arithmetic that shares nothing with the solver, from cold and warm starts, and with one strength
// for all columns few products may be computed.
func TestEstimatesCertify(t *testing.T) {
	for seed := range oracle.Draws(6) {
		r := oracle.NewRandom(7000 + seed)
		q := r.Problem(oracle.Shape{N: 60, P: 4500, Active: 20, Correlation: 0.5, Mean: r.Pick(0, 30), Weights: seed%3 == 2})
		q.Intercept = seed%2 == 0
		top := q.AlphaMax()
		name, alike := "one strength", false
		switch seed {
		case 3:
			name, q.Ridge = "and a ridge", 0.02*top
		case 4:
			name, q.Positive = "β ≥ 0", true
		case 5:
			name = "one for each column"
		default:
			alike = true
		}
		s := cd.New(fixture.Squared(t, q, true))
		for _, share := range []float64{0.3, 0.05, 0.01} {
			q.Uniform(share * top)
			if seed == 5 {
				for j := range q.Alpha {
					q.Alpha[j] *= 1 + float64(j%3)
				}
				q.Alpha[7] = 0
			}
			g := fixture.Penalty(t, q)
			for _, tol := range []float64{0.999, 0.3, 0.01, 1e-9} { // at loose tolerances, columns violate optimality
				sol := solve(t, s, g, cd.Options{Tol: tol, Estimate: true})
				name := fmt.Sprintf("%s, %g of αmax to %g", name, share, tol)
				certified(t, name, q, sol, tol)
				beta := scatter(sol, 4500)
				b := q.BestIntercept(beta)
				if gap := q.Gap(beta, b); math.Abs(sol.Gap-gap) > 1e-12*q.Null() {
					t.Errorf("%s: a gap of %g, %g by plain arithmetic", name, sol.Gap, gap)
				}
				if columns, products := cd.Met(s); alike && columns > 1000 && products > columns/4 {
					t.Errorf("%s: %d products of %d columns", name, products, columns)
				}
				exact := q.Correlations(q.Residual(beta, b))
				for j, c := range cd.Known(s) {
					if z := q.Total() * exact[j]; math.Abs(c-z) > 1e-12*q.Total()*top {
						t.Fatalf("%s: the correlation of column %d is %g, not %g", name, j, z, c)
					}
				}
			}
		}
	}
}

// TestEstimatesOfALogisticFit checks that a logistic fit with estimates ends at the same objective as one without.
func TestEstimatesOfALogisticFit(t *testing.T) {
	r := oracle.NewRandom(1)
	q := r.Problem(oracle.Shape{N: 60, P: 4500, Active: 20, Correlation: 0.5}).Classes(r)
	q.Intercept = true
	plain, estimated := fixture.Logistic(t, q, true), fixture.Logistic(t, q, true)
	for _, share := range []float64{0.3, 0.05} {
		g, err := model.Lasso(math.Log(share * model.AlphaMax(plain)))
		if err != nil {
			t.Fatal(err)
		}
		a := solve(t, cd.New(plain), g, cd.Options{Tol: 1e-10})
		b := solve(t, cd.New(estimated), g, cd.Options{Tol: 1e-10, Estimate: true})
		if math.Abs(a.Objective-b.Objective) > 1e-10 || b.RelativeGap > 1e-10 {
			t.Errorf("%g of αmax: %.12g with a gap of %g, %.12g with one of %g", share, a.Objective, a.RelativeGap, b.Objective, b.RelativeGap)
		}
	}
}

// TestModelsOfSomeRowsHaveExactSlopes checks working sets with columns that estimates have shown to be inactive: a
// model of a sample of the rows needs their exact correlations all the same, which the sample cannot give.
func TestModelsOfSomeRowsHaveExactSlopes(t *testing.T) {
	r := oracle.NewRandom(80)
	const p = 60
	q := r.Problem(oracle.Shape{N: 6000, P: p, Active: 5}).Classes(r)
	q.Intercept = true
	s := cd.New(fixture.Logistic(t, q, true))
	for _, share := range []float64{0.05, 0.9, 0.3}[:oracle.Draws(3)] {
		q.Uniform(share * q.LogisticAlphaMax())
		sol := solve(t, s, fixture.Penalty(t, q), cd.Options{Tol: 1e-8, Estimate: true})
		if sol.RelativeGap > 1e-8 || !cd.Thinned(s) {
			t.Errorf("%g of αmax: a gap of %g, models of some rows: %t", share, sol.RelativeGap, cd.Thinned(s))
		}
		beta := scatter(sol, p)
		if gap := q.LogisticGap(beta, q.LogisticIntercept(beta)); math.Abs(gap-sol.Gap) > 1e-11 {
			t.Errorf("%g of αmax: a gap of %.6g, %.6g by plain arithmetic", share, sol.Gap, gap)
		}
	}
}
