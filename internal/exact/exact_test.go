package exact

import (
	"math"
	"math/big"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestExponential checks e^a·e^b = e^(a+b) to nearly all bits, from tiny arguments to those of
// saturated rows, and e itself to forty digits.
func TestExponential(t *testing.T) {
	const e = "2.718281828459045235360287471352662497757247093699959574966967627724076630353547594571382178525166427"
	want, _, err := big.ParseFloat(e, 10, precision, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	if got := exp(of(1)); !below(zero().Sub(got, want), want, 325) {
		t.Errorf("e is %s", got.Text('g', 110))
	}
	for _, pair := range [][2]float64{{0, 1}, {1e-30, -0.7}, {3.25, 17.5}, {-690.5, 11}, {700, -1400}} {
		a, b := of(pair[0]), of(pair[1])
		sum := exp(zero().Add(a, b))
		product := zero().Mul(exp(a), exp(b))
		if !below(product.Sub(product, sum), sum, precision-40) {
			t.Errorf("e^%g·e^%g is not e^%g", pair[0], pair[1], pair[0]+pair[1])
		}
	}
}

// draw draws a problem of any kind, in which held-out rows have weight 0.
func draw(r *oracle.Random) *Problem {
	q := r.Problem(oracle.Shape{N: 8 + r.Intn(20), P: 1 + r.Intn(12), Density: 1, Correlation: r.Pick(0, 0.9, 0.999)})
	q.Weights = make([]float64, len(q.Y))
	for i := range q.Weights {
		if i%4 != 3 {
			q.Weights[i] = 0.5 + r.Float64()
		}
	}
	p := &Problem{Problem: q, Logistic: r.Intn(2) == 0, Standardise: r.Intn(2) == 0}
	q.Intercept, q.Ridge = r.Intn(2) == 0, r.Pick(0, 0, 0x1p-10)
	if p.Logistic {
		q.Classes(r)
		q.Y[0], q.Y[1] = 1, -1
	}
	for j := range q.Alpha {
		// Few bits, so that a change in the 26th bit is exact.
		q.Alpha[j] = float64(float32(r.Pick(1e-4, 1e-2, 0.05) * (1 + r.Float64())))
	}
	if q.Ridge > 0 && r.Intn(2) == 0 {
		q.Uniform(0)
	}
	return p
}

func solve(t *testing.T, q *Problem) *Solution {
	t.Helper()
	s, err := q.Solve(make([]float64, len(q.Alpha)), 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSolutionIsOptimal checks that the optimality conditions hold to a hundred bits for every
// model, starting from β = 0.
func TestSolutionIsOptimal(t *testing.T) {
	for seed := range oracle.Cases(80) {
		q := draw(oracle.NewRandom(seed))
		s := solve(t, q)
		for k, v := range s.lack() {
			if !below(v, of(1), 100) {
				t.Errorf("seed %d: column %d lacks %s", seed, s.active[k], v.Text('g', 5))
			}
		}
		for j, alpha := range q.Alpha {
			if z := float(zero().Abs(s.z[j])); s.sign[j] == 0 && z > alpha {
				t.Errorf("seed %d: column %d is out, with %g for a strength of %g", seed, j, z, alpha)
			}
			if s.sign[j] != 0 && alpha > 0 && s.beta[j].Sign() != s.sign[j] {
				t.Errorf("seed %d: column %d has the wrong sign", seed, j)
			}
		}
	}
}

// TestGradientAgreesWithDifferences checks the gradient of a linear function of the
// predictions, including those of held-out rows, against differences of the solutions.
func TestGradientAgreesWithDifferences(t *testing.T) {
	const h = 0x1p-26
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(seed)
		q := draw(r)
		s := solve(t, q)
		slope := Slope(vector(len(q.Y)))
		for i := range slope {
			slope[i].SetFloat64(r.Normal())
		}
		common, ridge, each := s.Gradient(slope)
		along := func(change func(q *oracle.Problem, factor float64)) float64 {
			at := func(factor float64) *Number {
				moved := *q
				moved.Problem = q.Clone()
				change(moved.Problem, factor)
				other, err := moved.Solve(s.Beta(), s.Intercept())
				if err != nil {
					t.Fatal(err)
				}
				return dot(slope, other.m)
			}
			d := zero().Sub(at(1+h), at(1-h))
			return float(d.Quo(d, of(2*h)))
		}
		check := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-11*(math.Abs(got)+1e-3) {
				t.Errorf("seed %d: ∂ of %s is %.15g, differences have %.15g", seed, what, got, want)
			}
		}
		check("all strengths", common, along(func(q *oracle.Problem, factor float64) {
			for j := range q.Alpha {
				q.Alpha[j] *= factor
			}
		}))
		check("the ridge", ridge, along(func(q *oracle.Problem, factor float64) { q.Ridge *= factor }))
		check("one strength", each[0], along(func(q *oracle.Problem, factor float64) { q.Alpha[0] *= factor }))
	}
}

// TestMachineAgreesWithDifferences does the same for the SVM.
func TestMachineAgreesWithDifferences(t *testing.T) {
	const h = 0x1p-26
	for seed := range oracle.Cases(80) {
		r := oracle.NewRandom(seed)
		q := draw(r)
		q.Classes(r)
		c := r.Pick(0x1p-7, 0.25, 10)
		slope := Slope(vector(len(q.Y)))
		for i := range slope {
			slope[i].SetFloat64(r.Normal())
		}
		at := func(c float64) (*SVM, *Number) {
			s, err := q.SolveSVM(c, make([]float64, len(q.Y)))
			if err != nil {
				t.Fatal(err)
			}
			sum := zero()
			for i, g := range slope {
				sum.Add(sum, zero().Mul(zero().Mul(g, of(q.Y[i])), s.margin[i]))
			}
			return s, sum
		}
		s, _ := at(c)
		for i, m := range floats(s.margin) {
			if q.Weight(i) > 0 && (s.at[i] < 0 && m < 1 || s.at[i] > 0 && m > 1 || s.at[i] == 0 && math.Abs(m-1) > 1e-12) {
				t.Errorf("seed %d: sample %d, at %d, has a margin of %g", seed, i, s.at[i], m)
			}
		}
		_, up := at(c * (1 + h))
		_, down := at(c * (1 - h))
		want := up.Sub(up, down)
		want.Quo(want, of(2*h))
		if got := s.Gradient(slope); math.Abs(got-float(want)) > 1e-11*(math.Abs(got)+1e-3) {
			t.Errorf("seed %d: %.15g, differences have %.15g", seed, got, float(want))
		}
	}
}

// TestSaturatedRow checks a problem with one row of each class, for which m = ln((1 − α)/α) and
// ∂m/∂ln α = −1/(1 − α), with curvatures from 1e-3 to 1e-300.
func TestSaturatedRow(t *testing.T) {
	for _, alpha := range []float64{1e-3, 1e-12, 1e-100, 1e-300} {
		q := &Problem{Logistic: true, Problem: &oracle.Problem{X: [][]float64{{1}, {-1}}, Y: []float64{1, -1}, Alpha: []float64{alpha}}}
		guess := math.Log((1 - alpha) / alpha)
		s, err := q.Solve([]float64{guess}, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, _, _ := s.Gradient(Slope{of(1), of(0)})
		if want := -1 / (1 - alpha); math.Abs(s.Beta()[0]-guess) > 1e-13 || math.Abs(got-want) > 1e-15 {
			t.Errorf("α = %g: β is %.17g, its derivative %.17g", alpha, s.Beta()[0], got)
		}
	}
}
