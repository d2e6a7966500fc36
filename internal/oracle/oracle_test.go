package oracle_test

import (
	"math"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestSolveIsExactOnModerateProblems checks the oracle itself: its solutions must satisfy the
// equations that define them.
func TestSolveIsExactOnModerateProblems(t *testing.T) {
	for seed := range uint64(40) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 40, P: 30, Density: 0.6, Correlation: 0.5, Mean: 1, Weights: seed%2 == 0})
		q.Intercept = seed%3 != 0
		q.Uniform(0.05 * q.AlphaMax())
		if seed%4 == 0 {
			q.Ridge = 0.1
		}
		s := q.Solve()
		if null := q.Null(); !s.Exact || math.Abs(s.Gap) > 1e-13*null {
			t.Errorf("seed %d: exact %v, gap %.1e·P₀", seed, s.Exact, s.Gap/null)
		}
	}
}

func TestHypergradientAgreesWithDifferences(t *testing.T) {
	r := oracle.NewRandom(7)
	q := r.Problem(oracle.Shape{N: 50, P: 12, Mean: 0.5, Weights: true})
	q.Intercept, q.Ridge = true, 0.2
	q.Uniform(0.1 * q.AlphaMax())
	rows := []int{0, 3, 5, 8, 13, 21, 34}
	value := func(shift, ridge float64) float64 {
		c := q.Clone()
		c.Ridge *= math.Exp(ridge)
		for j := range c.Alpha {
			c.Alpha[j] *= math.Exp(shift)
		}
		v, _ := c.MeanSquaredError(c.Predictions(c.Solve()), rows)
		return v
	}
	s := q.Solve()
	_, slope := q.MeanSquaredError(q.Predictions(s), rows)
	common, ridge, _, ok := q.Hypergradient(s.Beta, slope)
	if !ok {
		t.Fatal("singular")
	}
	const h = 1e-4
	for _, c := range []struct{ got, want float64 }{
		{common, (value(h, 0) - value(-h, 0)) / (2 * h)},
		{ridge, (value(0, h) - value(0, -h)) / (2 * h)},
	} {
		if math.Abs(c.got-c.want) > 1e-6*math.Abs(c.want) {
			t.Errorf("derivative %.12g, differences %.12g", c.got, c.want)
		}
	}
}

func TestEigenvaluesOfAKnownMatrix(t *testing.T) {
	const n = 9 // the second-difference matrix, with eigenvalues 2 − 2cos(kπ/(n+1))
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n)
		a[i][i] = 2
		if i > 0 {
			a[i][i-1], a[i-1][i] = -1, -1
		}
	}
	got := oracle.Eigenvalues(a)
	for k := 1; k <= n; k++ {
		want := 2 - 2*math.Cos(float64(k)*math.Pi/(n+1))
		nearest := math.Inf(1)
		for _, g := range got {
			nearest = math.Min(nearest, math.Abs(g-want))
		}
		if nearest > 1e-13 {
			t.Errorf("no eigenvalue near %g among %g", want, got)
		}
	}
}

// TestRandomIsSplitMix64 checks the outputs for the seed 1234567 that are published with the C
// source of SplitMix64.
func TestRandomIsSplitMix64(t *testing.T) {
	r := oracle.NewRandom(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := r.Uint64(); got != want {
			t.Errorf("output %d is %d, want %d", i, got, want)
		}
	}
}

func TestFewestDrawATenthOfOneKindAndCountNothing(t *testing.T) {
	for env, want := range map[string][3]uint64{"": {100, 9, 2}, "fewest": {10, 2, 2}} {
		t.Setenv("PARE_CI_CASES", env)
		var joined strings.Builder
		for name, kind := range oracle.Kinds(map[string]string{"c": "3", "a": "1", "b": "2"}) {
			joined.WriteString(name + kind)
		}
		kinds := joined.String()
		if all := env == ""; all && kinds != "a1b2c3" || !all && kinds != "a1" {
			t.Errorf("PARE_CI_CASES=%s: %s", env, kinds)
		}
		if got := [...]uint64{oracle.Draws(100), oracle.Draws(9), oracle.Draws(2)}; got != want {
			t.Errorf("PARE_CI_CASES=%s: %v draws of 100, 9 and 2, want %v", env, got, want)
		}
		counted := false
		t.Run("count", func(t *testing.T) { oracle.Once(t); counted = true })
		if counted != (env == "") {
			t.Errorf("PARE_CI_CASES=%s: counted: %t", env, counted)
		}
	}
}
