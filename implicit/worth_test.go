package implicit_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestBoundsAreProvedWithAFactor, and where second derivatives of the criterion are known.
func TestBoundsAreProvedWithAFactor(t *testing.T) {
	q, best, rows := smooth(oracle.NewRandom(91))
	cols, coef := best.Support()
	for _, blind := range []bool{false, true} {
		outer := outerOf(q, best.Beta, rows)
		outer.Blind = blind
		h, err := implicit.New(fixture.Squared(t, q, true)).Solve(t.Context(), scalar(t, q), implicit.Point{Support: cols, Coef: coef, KKT: -1}, outer, implicit.Options{Prove: true})
		want := implicit.Proved
		if blind {
			want = implicit.Estimated
		}
		if err != nil || h.Bound != want {
			t.Errorf("blind %t: %s, %v", blind, h.Bound, err)
		}
	}
}

// TestOtherSignsAreNotCertified, nor refused where they are right: all columns are in, so that the proof is that of signs.
func TestOtherSignsAreNotCertified(t *testing.T) {
	right := 0
	for seed := range uint64(12) {
		r := oracle.NewRandom(4700 + seed)
		q := r.Problem(oracle.Shape{N: 30, P: 3, Noise: 1})
		q.Intercept = seed%2 == 0
		q.Uniform(0.01 * q.AlphaMax())
		for j := range q.Alpha {
			q.Alpha[j] = math.Exp(math.Log(q.Alpha[j]))
		}
		best := q.Solve()
		cols, coef := best.Support()
		if len(cols) < 3 {
			continue
		}
		smallest := 0
		for k, b := range coef {
			if math.Abs(b) < math.Abs(coef[smallest]) {
				smallest = k
			}
		}
		for _, share := range []float64{1, -0.1, -1} {
			own := slices.Clone(coef)
			own[smallest] *= share
			c, err := implicit.New(fixture.Squared(t, q, true)).Certify(t.Context(), scalar(t, q), implicit.Point{Support: cols, Coef: own})
			if err != nil {
				t.Fatal(err)
			}
			if c.Support != (share == 1) || c.Undecided > 0 == c.Support || !c.Unique {
				t.Errorf("seed %d: %+v with a coefficient %g times that of the solution", seed, c, share)
			}
			if c.Support {
				right++
			}
		}
	}
	if right < 5 {
		t.Errorf("%d supports certified", right)
	}
}

// TestMotionIsThatOfThePredictions where all λ's move together, by differences.
func TestMotionIsThatOfThePredictions(t *testing.T) {
	const h = 1e-4
	for seed := range uint64(8) {
		q, best, _ := smooth(oracle.NewRandom(4800 + seed))
		predictions := func(step float64) []float64 {
			c := q.Clone()
			c.Ridge *= math.Exp(step)
			for j := range c.Alpha {
				c.Alpha[j] *= math.Exp(step)
			}
			return c.Predictions(c.SolveFrom(best.Beta))
		}
		up, down := predictions(h), predictions(-h)
		cols, coef := best.Support()
		got, err := implicit.New(fixture.Squared(t, q, seed%2 == 0)).Motion(t.Context(), scalar(t, q), implicit.Point{Support: cols, Coef: coef, KKT: -1})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			// The intercept moves all rows alike; the motion is of centred columns.
			want := (up[i] - down[i]) / (2 * h)
			if math.Abs(v-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("seed %d, row %d: %g, differences %g", seed, i, v, want)
			}
		}
	}
	if none, err := implicit.New(fixture.Squared(t, oracle.NewRandom(1).Problem(oracle.Shape{N: 5, P: 2}), true)).Motion(t.Context(), scalar(t, oracle.NewRandom(1).Problem(oracle.Shape{N: 5, P: 2}).Uniform(1)), implicit.Point{}); err != nil || !slices.Equal(none, make([]float64, 5)) {
		t.Errorf("without a support %v, %v", none, err)
	}
}
