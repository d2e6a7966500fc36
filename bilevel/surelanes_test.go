package bilevel

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// riskCase is a problem under SURE, and the two corresponding problems for the oracle: with targets y, and with y
// + εδ.
type riskCase struct {
	spec        Spec
	q, moved    *oracle.Problem
	lambda      []float64
	delta       []float64
	epsilon     float64
	information Information
}

func drawRisk(seed uint64) riskCase {
	r := oracle.NewRandom(500 + seed)
	n, p := 30+r.Intn(30), 5+r.Intn(10)
	const sigma = 0.5
	q := r.Problem(oracle.Shape{N: n, P: p, Density: r.Pick(0.6, 1), Correlation: r.Pick(0, 0.4), Mean: r.Pick(0, 3), Active: 4})
	q.Intercept, q.Positive = r.Intn(2) == 0, r.Intn(4) == 0
	c := riskCase{q: q, delta: normals(n, seed), epsilon: 2 * sigma * math.Pow(float64(n), -0.3)}
	c.information = []Information{SURE(n, sigma), AIC(sigma), BIC(n, sigma)}[r.Intn(3)]
	if q.AlphaMax() == 0 { // all columns fall as y rises
		q.Positive = false
	}
	top := math.Log(q.AlphaMax())
	c.lambda = []float64{top - 1 - 2*r.Float64()}
	penalty := func(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) }
	switch r.Intn(3) {
	case 0:
		penalty = func(l []float64) (model.Penalty, error) { return model.ElasticNet(l[0], l[1]) }
		c.lambda = append(c.lambda, top-2)
		q.Ridge = math.Exp(top - 2)
	case 1:
		penalty = model.WeightedLasso
		for len(c.lambda) < p {
			c.lambda = append(c.lambda, top-1-2*r.Float64())
		}
	}
	q.Uniform(math.Exp(c.lambda[0]))
	if len(c.lambda) == p {
		for j, l := range c.lambda {
			q.Alpha[j] = math.Exp(l)
		}
	}
	c.moved = q.Clone()
	c.moved.Y = slices.Clone(q.Y)
	for i := range c.moved.Y {
		c.moved.Y[i] += c.epsilon * c.delta[i]
	}
	c.spec = Spec{
		Risk: &Risk{Information: c.information, Sigma: sigma, Seed: seed}, Intercept: q.Intercept, Certify: true, Solver: cd.Options{Tol: 1e-13},
		Penalty: func(l []float64) (model.Penalty, error) {
			g, err := penalty(l)
			if err == nil && q.Positive {
				return g.NonNegative()
			}
			return g, err
		},
	}
	return c
}

// exact returns the criterion and its gradient by dense solves, and the degrees of freedom.
func (c *riskCase) exact() (value float64, gradient []float64, freedom float64, ok bool) {
	here, there := c.q.Solve(), c.moved.Solve()
	m, moved := c.q.Predictions(here), c.moved.Predictions(there)
	own, other := make([]float64, len(m)), make([]float64, len(m))
	var square float64
	for i, t := range c.q.Y {
		square += (m[i] - t) * (m[i] - t)
		freedom += c.delta[i] * (moved[i] - m[i]) / c.epsilon
		other[i] = c.information.Freedom * c.delta[i] / c.epsilon
		own[i] = 2*c.information.Fit*(m[i]-t) - other[i]
	}
	value = c.information.Fit*square + c.information.Freedom*freedom + c.information.Constant
	all, ridge, each, ok1 := c.q.Hypergradient(here.Beta, own)
	all2, ridge2, each2, ok2 := c.moved.Hypergradient(there.Beta, other)
	switch len(c.lambda) {
	case 1:
		gradient = []float64{all + all2}
	case 2:
		gradient = []float64{all + all2, ridge + ridge2}
	default:
		for j := range each {
			gradient = append(gradient, each[j]+each2[j])
		}
	}
	return value, gradient, freedom, ok1 && ok2
}

// TestRiskAgainstTheOracle checks values and gradients of SURE, AIC and BIC against dense solves of both problems,
// with one λ, two λ's and one for each column, by every method.
func TestRiskAgainstTheOracle(t *testing.T) {
	compared := map[int]int{}
	for seed := range oracle.Cases(60) {
		c := drawRisk(seed)
		value, gradient, _, ok := c.exact()
		if !ok {
			continue
		}
		largest := 1e-3 * math.Abs(value)
		for _, g := range gradient {
			largest = max(largest, math.Abs(g))
		}
		methods := []*iterdiff.Method{nil}
		if seed%4 == 0 {
			for _, m := range []iterdiff.Method{iterdiff.ForwardPGD, iterdiff.BackwardPGD, iterdiff.ForwardPCD, iterdiff.BackwardPCD} {
				methods = append(methods, &m)
			}
		}
		for _, method := range methods {
			spec, near := c.spec, 1e-7
			if spec.Iterate = method; method != nil {
				near, spec.Solver.Tol = 1e-5, 1e-11
			}
			problem, err := New(fixture.Kernels(t), fixture.Matrix(t, c.q, seed%2 == 0), c.q.Y, spec)
			if err != nil {
				t.Fatal(err)
			}
			got, err := problem.Evaluate(t.Context(), search.Request{LogLambda: c.lambda})
			if err != nil {
				t.Fatal(err)
			}
			if method == nil && !got.SupportCertified {
				continue // a knot may be close
			}
			compared[len(methods)]++
			if method == nil && got.Status != outcome.Converged || !(math.Abs(got.Value-value) <= near*(math.Abs(value)+largest)) {
				t.Errorf("seed %d: %s, value %.12g, the oracle has %.12g", seed, got.Status, got.Value, value)
			}
			for i, want := range gradient {
				if !(math.Abs(got.Gradient[i]-want) <= near*largest) {
					t.Errorf("seed %d: gradient %d is %.12g, the oracle has %.12g", seed, i, got.Gradient[i], want)
				}
			}
			if len(got.FoldValues) > 0 {
				t.Errorf("seed %d: fold values %v of a criterion on all rows", seed, got.FoldValues)
			}
		}
	}
	if compared[1] == 0 || compared[5] == 0 {
		t.Errorf("compared %v", compared)
	}
}

// TestRiskBounds checks that at a loose tolerance the degrees of freedom are within ‖δ‖(√(2n·gap₁) + √(2n·gap₂))/ε
// of the exact ones, and that the gradient is within its bound if the supports are right.
func TestRiskBounds(t *testing.T) {
	bounded, loose := 0, 0
	for seed := range oracle.Cases(60) {
		c := drawRisk(seed)
		_, gradient, freedom, ok := c.exact()
		if !ok {
			continue
		}
		evaluate := func(information Information, tol float64) (Report, *Problem) {
			spec := c.spec
			spec.Solver.Tol = tol
			spec.Risk = &Risk{Information: information, Sigma: spec.Risk.Sigma, Seed: seed}
			problem, err := New(fixture.Kernels(t), fixture.Matrix(t, c.q, true), c.q.Y, spec)
			if err != nil {
				t.Fatal(err)
			}
			r, err := problem.Evaluate(t.Context(), search.Request{LogLambda: c.lambda})
			if err != nil {
				t.Fatal(err)
			}
			return r, problem
		}
		r, problem := evaluate(Information{Freedom: 1}, 1e-3)
		n := float64(len(c.q.Y))
		var norm, room float64
		for _, d := range c.delta {
			norm += d * d
		}
		for at := range problem.lanes {
			room += math.Sqrt(2 * n * inProcess[*penalisedLane](t, problem.runner, LaneID{Fold: at}).last.Gap)
		}
		bound := math.Sqrt(norm) * room / c.epsilon
		if off := math.Abs(r.Value - freedom); off > bound+1e-9 {
			t.Errorf("seed %d: %g degrees of freedom, exactly %g, bound %g", seed, r.Value, freedom, bound)
		} else if off > 1e-3*bound {
			loose++
		}
		r, problem = evaluate(c.information, 1e-5)
		for at, exact := range []*oracle.Problem{c.q, c.moved} {
			support, _ := exact.Solve().Support()
			ok = ok && slices.Equal(support, inProcess[*penalisedLane](t, problem.runner, LaneID{Fold: at}).last.Support)
		}
		for i, want := range gradient {
			if ok && !(math.Abs(r.Gradient[i]-want) <= r.ErrorBound*(1+1e-6)+1e-9*math.Abs(want)) {
				t.Errorf("seed %d: gradient %d is %.12g, the oracle has %.12g, bound %g", seed, i, r.Gradient[i], want, r.ErrorBound)
			}
		}
		if ok {
			bounded++
		}
	}
	if bounded == 0 || loose == 0 {
		t.Errorf("%d gradients bounded, %d degrees of freedom off by a thousandth of the bound", bounded, loose)
	}
}

// TestNullValueOfARisk checks that the null value is the criterion of a model without columns.
func TestNullValueOfARisk(t *testing.T) {
	for seed := range oracle.Cases(20) {
		c := drawRisk(seed)
		lambda := slices.Repeat([]float64{math.Log(c.q.AlphaMax()) + 9}, len(c.lambda))
		problem, err := New(fixture.Kernels(t), fixture.Matrix(t, c.q, true), c.q.Y, c.spec)
		if err != nil {
			t.Fatal(err)
		}
		r, err := problem.Evaluate(t.Context(), search.Request{LogLambda: lambda})
		if err != nil {
			t.Fatal(err)
		}
		if null := problem.NullValue(); !(math.Abs(r.Value-null) <= 1e-13*math.Abs(null)) || r.Status != outcome.Flat {
			t.Errorf("seed %d: null value %.17g, far beyond αmax %.17g, %s", seed, null, r.Value, r.Status)
		}
	}
}
