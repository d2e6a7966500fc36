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

// TestBoundsAreProvedWithAFactor checks that bounds are proved if there is a factor and the second derivatives of
// the criterion are known.
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

// TestOtherSignsAreNotCertified checks that wrong signs are not certified, and right ones are. All columns are in
// the support, so that only the signs are to be proved.
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

// TestMotionIsThatOfThePredictions checks the motion of the predictions when all λ's move together against
// differences.
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
		got, err := implicit.New(fixture.Squared(t, q, seed%2 == 0)).Leverages(scalar(t, q), implicit.Point{Support: cols, Coef: coef, KKT: -1})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got.Motion {
			// The intercept moves all rows alike, and the motion is that of centred columns.
			want := (up[i] - down[i]) / (2 * h)
			if math.Abs(v-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("seed %d, row %d: %g, differences %g", seed, i, v, want)
			}
		}
	}
	if none, err := implicit.New(fixture.Squared(t, oracle.NewRandom(1).Problem(oracle.Shape{N: 5, P: 2}), true)).Leverages(scalar(t, oracle.NewRandom(1).Problem(oracle.Shape{N: 5, P: 2}).Uniform(1)), implicit.Point{}); err != nil || !slices.Equal(none.Motion, make([]float64, 5)) {
		t.Errorf("without a support %v, %v", none, err)
	}
}

// TestCopiesShareTheMovement checks that with copies of columns, of either sign, the gradient is that without
// them, however they share the coefficients, and that the sum of their motions is that of the single column.
func TestCopiesShareTheMovement(t *testing.T) {
	for seed := range uint64(10) {
		r := oracle.NewRandom(4900 + seed)
		q, best, rows := smooth(r)
		q.Ridge = 0
		best = q.SolveFrom(best.Beta)
		cols, coef := best.Support()
		if len(cols) < 2 {
			continue
		}
		a, b := cols[0], cols[1]
		more := q.Clone()
		more.X, more.Alpha = nil, append(more.Alpha, q.Alpha[0], q.Alpha[0], q.Alpha[0])
		for _, row := range q.X {
			more.X = append(more.X, append(slices.Clone(row), row[a], -row[b], row[b]))
		}
		p := int32(len(q.Alpha))
		shared := append(slices.Clone(coef), 0.3*coef[0], -0.2*coef[1], 0.4*coef[1])
		shared[0] *= 0.7
		shared[1] *= 0.4
		n, _ := q.Dims()
		solve := func(q *oracle.Problem, at implicit.Point) implicit.Hypergradient {
			at.KKT = -1
			h, err := implicit.New(fixture.Squared(t, q, true)).Solve(t.Context(), scalar(t, q), at, outerOf(q, best.Beta, rows), implicit.Options{Tol: 1e-12, Prove: true, Motion: [][]float64{make([]float64, n)}})
			if err != nil {
				t.Fatal(err)
			}
			out := *h
			out.Gradient, out.Jacobian = slices.Clone(h.Gradient), slices.Clone(h.Jacobian)
			return out
		}
		want := solve(q, implicit.Point{Support: cols, Coef: coef})
		outer := outerOf(q, best.Beta, rows)
		h, err := implicit.New(fixture.Squared(t, more, true)).Solve(t.Context(), scalar(t, more), implicit.Point{Support: append(slices.Clone(cols), p, p+1, p+2), Coef: shared, KKT: -1}, outer, implicit.Options{Tol: 1e-12, Prove: true})
		if err != nil {
			t.Fatal(err)
		}
		if h.Status != outcome.Converged || math.Abs(h.Gradient[0]-want.Gradient[0]) > 1e-9*math.Abs(want.Gradient[0]) {
			t.Errorf("seed %d: %s, gradient %.12g, without copies %.12g", seed, h.Status, h.Gradient[0], want.Gradient[0])
		}
		k := len(cols)
		for i, j := range want.Jacobian {
			got := h.Jacobian[i]
			switch i {
			case 0:
				got += h.Jacobian[k]
			case 1:
				got += h.Jacobian[k+2] - h.Jacobian[k+1]
			}
			if math.Abs(got-j) > 1e-9*(1+math.Abs(j)) {
				t.Errorf("seed %d: coefficient %d moves by %g, without copies by %g", seed, i, got, j)
			}
		}
	}
}

// TestBoundsOfAnSVMAreProved checks the same for an SVM.
func TestBoundsOfAnSVMAreProved(t *testing.T) {
	b := drawBox(oracle.NewRandom(7), 30, 20, 1, false)
	const logC = -3.
	beta, free, bound := b.solve(t, math.Exp(logC))
	for _, blind := range []bool{false, true} {
		outer := b.outer(beta)
		outer.Blind = blind
		h, err := implicit.NewSVM(b.fit(t, nil, true)).Solve(t.Context(), logC, pointOf(beta, free, bound), outer, implicit.Options{})
		if err != nil || (h.Bound == implicit.Proved) == blind || len(free) == 0 {
			t.Errorf("blind %t, %d free samples: %s, %v", blind, len(free), h.Bound, err)
		}
	}
}
