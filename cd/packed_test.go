package cd_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestBoundsOfCopiesChangeNoBit checks that the memory allowed for packed copies of columns (one
// byte, or room for some or all of them) changes no bit of solutions, certificates and counted
// work down a path, and that a solver without a bound gives the same solutions up to rounding.
func TestBoundsOfCopiesChangeNoBit(t *testing.T) {
	for seed := range oracle.Cases(24) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 60 + r.Intn(60), P: 10 + r.Intn(80), Density: 0.3, Mean: 1, Weights: seed%2 == 0})
		q.Intercept = seed%3 == 0
		if seed%4 < 2 { // rows held out, as in a fold
			q.Weights = make([]float64, len(q.X))
			for i := range q.Weights {
				q.Weights[i] = float64(min(1, i%5))
			}
		}
		top := q.AlphaMax()
		logistic := seed%8 > 4
		if logistic {
			q.Classes(r)
			top = q.LogisticAlphaMax()
		}
		path := func(bytes int64) (all []cd.Solution) {
			s := cd.New(fitOn(t, fixture.Kernels(t), q, false, logistic))
			for _, share := range []float64{0.3, 0.05, 0.01, 0.1} {
				sol := solve(t, s, fixture.Penalty(t, q.Clone().Uniform(share*top)), cd.Options{Tol: 1e-12, MaxPacked: bytes})
				all = append(all, cd.Solution{
					Support: slices.Clone(sol.Support), Coef: slices.Clone(sol.Coef), Intercept: sol.Intercept,
					Objective: sol.Objective, Certificate: sol.Certificate, Effort: sol.Effort, Work: sol.Work,
				})
			}
			return all
		}
		want := path(1 << 40)
		for _, bytes := range []int64{1, 2000, 6000} {
			for k, got := range path(bytes) {
				if !reflect.DeepEqual(got, want[k]) {
					t.Fatalf("seed %d, %d bytes, solve %d: %+v, want %+v", seed, bytes, k, got, want[k])
				}
			}
		}
		_, p := q.Dims()
		for k, free := range path(0) {
			a, b := scatter(&free, p), scatter(&want[k], p)
			for j := range a {
				if math.Abs(a[j]-b[j]) > 1e-5*(1+math.Abs(a[j])) {
					t.Errorf("seed %d, solve %d: β_%d = %g, without a bound %g", seed, k, j, b[j], a[j])
				}
			}
		}
	}
}
