package bilevel_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// algorithm6 is the descent as the paper prints it. Each step is judged by the last two values, since the next
// value is not known yet: steps are normalised until the value rises; from then on the step size is fixed, except
// that it is divided by 10 at each rise. Bad steps are kept.
func algorithm6(t *testing.T, p *bilevel.Problem, lambda float64, steps int) (last, best float64) {
	t.Helper()
	best, step, adaptive := math.Inf(1), 0.0, true
	previous := math.Inf(1)
	for range steps {
		r := evaluate(t, p, search.Request{LogLambda: []float64{lambda}})
		last, best = r.Value, min(best, r.Value)
		if adaptive {
			step = 1 / math.Abs(r.Gradient[0])
		}
		if r.Value > previous {
			step /= 10
			adaptive = false
		}
		previous = r.Value
		if lambda -= step * r.Gradient[0]; math.IsNaN(lambda) {
			return math.NaN(), best
		}
	}
	return last, best
}

// TestErratumAlgorithm6 demonstrates erratum 9. As printed, the descent divides by ‖∇L‖ = 0 above λmax, and
// returns its last point although it has seen a better one; search.Gradient leaves the flat region and returns the
// best point.
func TestErratumAlgorithm6(t *testing.T) {
	q := oracle.NewRandom(4).Problem(oracle.Shape{N: 60, P: 12, Active: 3})
	folds, err := bilevel.HoldOut(nil, 60, 3, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	problem := newProblem(t, q, true, bilevel.Spec{Folds: folds, Penalty: lasso, Solver: cd.Options{Tol: 1e-12}})
	top := math.Log(q.AlphaMax())
	ours := func(start float64) *search.Result {
		r, err := search.Gradient(context.Background(), problem, []float64{start}, search.Box{Lower: []float64{top - 12}, Upper: []float64{top + 3}}, search.Options{Tol: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if last, _ := algorithm6(t, problem, top+2, 5); !math.IsNaN(last) {
		t.Errorf("as printed, from a flat start: %g", last)
	}
	if r := ours(top + 2); !(r.Best.Value < problem.NullValue()) {
		t.Errorf("from a flat start: %s at %v, value %g", r.Status, r.Best.LogLambda, r.Best.Value)
	}
	worse := 0
	for _, start := range []float64{top - 1, top - 3, top - 5, top - 7} {
		for steps := 3; steps <= 8; steps++ {
			if last, best := algorithm6(t, problem, start, steps); last > best*(1+1e-9) {
				worse++
			}
		}
		r := ours(start)
		for _, e := range r.Evaluations {
			if e.Value < r.Best.Value {
				t.Errorf("from %g: ends at %g, having seen %g", start, r.Best.Value, e.Value)
			}
		}
	}
	if worse == 0 {
		t.Error("the printed descent never ends above its best point")
	}
}

// TestErratumDegreesOfFreedom demonstrates erratum 11. With |S| for the degrees of freedom, the slope of SURE is
// that of the residual sum of squares alone, which is positive everywhere, so that λ decreases without end, and
// the value jumps at knots. The difference form has the slope of its own values, which changes sign.
func TestErratumDegreesOfFreedom(t *testing.T) {
	k := fixture.Kernels(t)
	const n, sigma, h = 50, 4.0, 1e-4
	q := oracle.NewRandom(8).Problem(oracle.Shape{N: n, P: 25, Active: 3, Noise: sigma})
	open := func(c bilevel.Information) *bilevel.Problem {
		s, err := bilevel.New(k, fixture.Matrix(t, q, true), q.Y, bilevel.Spec{
			Risk: &bilevel.Risk{Information: c, Sigma: sigma, Seed: 1}, Penalty: lasso, Solver: cd.Options{Tol: 1e-14},
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	sure, squares := open(bilevel.SURE(n, sigma)), open(bilevel.Information{Fit: 1})
	at := func(s *bilevel.Problem, l float64) bilevel.Report {
		r, err := s.Evaluate(t.Context(), search.Request{LogLambda: []float64{l}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	size := func(l float64) float64 {
		c := q.Clone().Uniform(math.Exp(l))
		s, _ := c.Solve().Support()
		return float64(len(s))
	}
	top := math.Log(q.AlphaMax())
	var compared, falls, rises, jumps int
	for step := range 20 {
		l := top - 0.1 - 0.2*float64(step)
		printed := func(l float64) float64 { return at(squares, l).Value - n*sigma*sigma + 2*sigma*sigma*size(l) }
		slope := at(squares, l).Gradient[0]
		if slope <= 0 {
			t.Errorf("λmax − %.1f: the printed slope is %g", top-l, slope)
		}
		if size(l-0.05) != size(l+0.05) {
			jumps++
		}
		got, want := at(sure, l).Gradient[0], (at(sure, l+h).Value-at(sure, l-h).Value)/(2*h)
		wider := (at(sure, l+2*h).Value - at(sure, l-2*h).Value) / (4 * h)
		if math.Abs(want-wider) > 1e-5*math.Abs(want) || size(l-2*h) != size(l+2*h) {
			continue // a knot
		}
		compared++
		if !(math.Abs(got-want) <= 1e-5*math.Abs(want)) {
			t.Errorf("λmax − %.1f: slope %.10g, differences %.10g", top-l, got, want)
		}
		if d := (printed(l+h) - printed(l-h)) / (2 * h); !(math.Abs(d-slope) <= 1e-5*slope) {
			t.Errorf("λmax − %.1f: differences of the printed value %.10g, of the squares %.10g", top-l, d, slope)
		}
		if got > 0 {
			rises++
		} else {
			falls++
		}
	}
	if compared < 10 || rises < 3 || falls < 3 || jumps < 5 {
		t.Errorf("%d points compared, slope up at %d, down at %d; %d jumps", compared, rises, falls, jumps)
	}
}

// TestErratumConditions demonstrates erratum 12. Where the conditions of the theorem fail, the printed formula has
// no value, or a value that is not a derivative; what is reported is the derivative if there is one, and otherwise
// a status.
func TestErratumConditions(t *testing.T) {
	k := fixture.Kernels(t)
	numbers := newOrthogonal([]float64{3, -3, 2, -2, 1, -1, 0.5, -0.5, 1, 0, -1, 2, 0.3, -0.4}, 1, 1, 1, 1)
	at := func(o *orthogonal, l float64) bilevel.Report {
		problem, err := bilevel.New(k, o.matrix(t), o.y, bilevel.Spec{
			Folds: o.folds, Certify: true, Solver: cd.Options{Tol: 1e-14},
			Penalty: lasso,
		})
		if err != nil {
			t.Fatal(err)
		}
		return evaluate(t, problem, search.Request{LogLambda: []float64{l}})
	}
	slopes := func(o *orthogonal, l float64) (left, right float64) {
		const h = 1e-6
		here := at(o, l).Value
		return (here - at(o, l-h).Value) / h, (at(o, l+h).Value - here) / h
	}
	// Copied columns: A is singular on the support, yet the derivative exists.
	copied, l := numbers.with(1), math.Log(0.3)
	q := &oracle.Problem{Y: copied.y[:orthogonalTrain], Alpha: make([]float64, 5)}
	for i := range orthogonalTrain {
		row := make([]float64, 5)
		for j, c := range copied.columns {
			row[j] = c[i]
		}
		q.X = append(q.X, row)
	}
	if _, ok := oracle.SolveDense(q.Gram([]int32{0, 1, 4}), []float64{1, 1, 2}); ok {
		t.Error("copies: A is regular")
	}
	left, right := slopes(copied, l)
	if r := at(copied, l); r.Status != outcome.Converged || !(math.Abs(r.Gradient[0]-(left+right)/2) <= 1e-5*math.Abs(left)) {
		t.Errorf("copies: %s, %.8g, differences %.8g and %.8g", r.Status, r.Gradient[0], left, right)
	}
	// The kink: the two one-sided slopes differ, so no single number is the derivative.
	l = math.Log(0.25)
	left, right = slopes(numbers, l)
	if r := at(numbers, l); r.Status != outcome.NotDifferentiable || math.Abs(left-right) < 0.01*math.Abs(left) {
		t.Errorf("kink: %s, slopes %g and %g", r.Status, left, right)
	}
	// Beyond λmax.
	left, right = slopes(numbers, 1)
	if r := at(numbers, 1); r.Status != outcome.Flat || r.Gradient[0] != 0 || left != 0 || right != 0 {
		t.Errorf("flat: %s, slopes %g and %g", r.Status, left, right)
	}
}
