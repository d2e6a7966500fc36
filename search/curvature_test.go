package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// rosenbrock is Rosenbrock's curved valley, scaled to λ, with the minimum 1 at (−1, −1).
func rosenbrock(x []float64) (float64, []float64) {
	u, v := x[0]+2, x[1]+2
	a, b := 1-u, v-u*u
	return 1 + 0.1*(a*a+10*b*b), []float64{0.1 * (-2*a - 40*b*u), 0.1 * 20 * b}
}

func TestCurvedValley(t *testing.T) {
	for _, m := range contenders(context.Background(), 2) {
		limit, ok := map[string]int{"trust region": 45, "l-bfgs": 45}[m.name]
		if !ok {
			continue
		}
		for _, start := range [][]float64{{-3.2, -1}, {-4, -4}, {-1, -3}} {
			f := &analytic{f: rosenbrock}
			r, err := m.run(f, start, cube(2, -5, 1), Options{Evaluations: 100})
			if err != nil || r.Best.Value > 1+1e-5 || r.Status != outcome.Stationary || len(f.seen) > limit {
				t.Errorf("%s from %v: %s at %v, 1+%g, after %d; %v", m.name, start, r.Status, r.Best.LogLambda, r.Best.Value-1, len(f.seen), err)
			}
		}
	}
}

// TestCorners checks two coordinates whose minimum is a corner of the objective.
func TestCorners(t *testing.T) {
	for seed := range uint64(20) {
		random := oracle.NewRandom(seed)
		left, right := 0.1+random.Float64(), 0.1+random.Float64()
		f := &analytic{f: func(x []float64) (float64, []float64) {
			a, b := x[0]+5, x[1]+3
			slope := right
			if a < 0 {
				slope = -left
			}
			return 1 + slope*a + 0.1*a*a + 0.3*b*b, []float64{slope + 0.2*a, 0.6 * b}
		}}
		r, err := TrustRegion(context.Background(), f, []float64{-2, -2}, cube(2, -12, 0), Options{Evaluations: 100})
		if err != nil || r.Best.Value > 1+1e-2 || r.Status != outcome.Kink {
			t.Errorf("seed %d: %s at %v, %g, after %d; %v", seed, r.Status, r.Best.LogLambda, r.Best.Value, len(f.seen), err)
		}
	}
}

// TestGivenCurvature checks that with the objective's own curvature in place of BFGS an ill-conditioned quadratic
// needs only the steps that the trust radius requires, and a least-squares problem that is not quadratic a few
// more.
func TestGivenCurvature(t *testing.T) {
	const dim = 12
	random := oracle.NewRandom(5)
	q := make([][]float64, dim+3)
	for i := range q {
		q[i] = make([]float64, dim)
		for j := range q[i] {
			q[i][j] = random.Normal() * math.Pow(10, -float64(j)/6)
		}
	}
	// Residuals a·x + 0.05·(a·x)² − b, whose solution is −2 in every coordinate.
	truth := slices.Repeat([]float64{-2}, dim)
	model := func(x []float64) (z, slope []float64) {
		for _, row := range q {
			d := dot(row, x)
			z, slope = append(z, d+0.02*d*d), append(slope, 1+0.04*d)
		}
		return z, slope
	}
	target, _ := model(truth)
	evaluate := func(x []float64) (float64, []float64, []float64) {
		z, slope := model(x)
		value, gradient, h := 1.0, make([]float64, dim), make([]float64, dim*dim)
		for k, row := range q {
			e := z[k] - target[k]
			value += e * e / 2
			for i := range row {
				gradient[i] += e * slope[k] * row[i]
				for j := range row {
					h[i*dim+j] += slope[k] * slope[k] * row[i] * row[j]
				}
			}
		}
		return value, gradient, h
	}
	counts := map[bool]int{}
	for _, given := range []bool{true, false} {
		f := &analytic{f: func(x []float64) (float64, []float64) {
			value, gradient, _ := evaluate(x)
			return value, gradient
		}}
		f.at = func(k int, e *Evaluation) error {
			if given {
				_, _, e.Curvature = evaluate(f.seen[k].LogLambda)
			}
			return nil
		}
		r, err := TrustRegion(context.Background(), f, slices.Repeat([]float64{-4}, dim), cube(dim, -12, 0), Options{Evaluations: 200})
		if err != nil {
			t.Fatal(err)
		}
		counts[given] = len(f.seen)
		if given && (r.Best.Value > 1+1e-5 || r.Status != outcome.Stationary || len(f.seen) > 8) {
			t.Errorf("%s at 1+%g after %d", r.Status, r.Best.Value-1, len(f.seen))
		}
	}
	if counts[true] >= counts[false] {
		t.Errorf("%d evaluations with curvature, %d without", counts[true], counts[false])
	}
}

// TestCurvatureTooSmall checks an objective that knots bend more than its curvature matrix says; the change of the
// slopes over the last step corrects the matrix.
func TestCurvatureTooSmall(t *testing.T) {
	const dim = 10
	random := oracle.NewRandom(7)
	centre, curvature := make([]float64, dim), make([]float64, dim)
	for i := range dim {
		centre[i], curvature[i] = -6+4*random.Float64(), 0.01*(1+random.Float64())
	}
	f := &analytic{f: bowl(centre, curvature)}
	f.at = func(_ int, e *Evaluation) error {
		e.Curvature = make([]float64, dim*dim)
		for i, c := range curvature {
			e.Curvature[i*dim+i] = 0.4 * c
		}
		return nil
	}
	r, err := TrustRegion(context.Background(), f, slices.Repeat([]float64{-4}, dim), cube(dim, -12, 0), Options{Evaluations: 100, Stop: 1e-4})
	value, _ := f.f(centre)
	if err != nil || r.Best.Value > value*(1+1e-4) || len(f.seen) > 5 {
		t.Errorf("%s at %g, least %g, after %d; %v", r.Status, r.Best.Value, value, len(f.seen), err)
	}
}

// TestManyCoordinates checks a hundred thousand coordinates, half of which end at the border: values decrease at
// every iterate, and the memory is that of a few vectors.
func TestManyCoordinates(t *testing.T) {
	oracle.Once(t)
	const dim = 100_000
	random := oracle.NewRandom(1)
	centre, curvature := make([]float64, dim), make([]float64, dim)
	for i := range dim {
		centre[i], curvature[i] = 3*random.Normal(), (0.1+random.Float64())/dim
	}
	want := 1.0
	for i, c := range centre {
		d := max(0, math.Abs(c)-2)
		want += curvature[i] * d * d / 2
	}
	f := &analytic{f: bowl(centre, curvature)}
	var values []float64
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	r, err := LBFGS(context.Background(), f, make([]float64, dim), cube(dim, -2, 2), LBFGSOptions{
		Options:  Options{Evaluations: 40},
		Patience: 100,
		Judge: func(_ context.Context, e Evaluation) (float64, error) {
			values = append(values, e.Value)
			return e.Value, nil
		},
	})
	runtime.ReadMemStats(&m1)
	if err != nil || r.Status != outcome.Box || r.Best.Value > want*(1+1e-4) || len(f.seen) > 15 {
		t.Errorf("%s at %g, the least is %g, after %d; %v", r.Status, r.Best.Value, want, len(f.seen), err)
	}
	for k := range len(values) - 1 {
		if values[k+1] >= values[k] {
			t.Errorf("values did not fall: %v", values)
		}
	}
	for _, e := range r.Evaluations {
		if e.LogLambda != nil || e.Gradient != nil {
			t.Fatal("a vector was kept")
		}
	}
	if vectors := float64(m1.TotalAlloc-m0.TotalAlloc) / (8 * dim); vectors > float64(8*len(f.seen)+20) {
		t.Errorf("%d evaluations allocated %.0f vectors", len(f.seen), vectors)
	}
}

// TestProx checks that the search finds the minimum of the sum of objective and prox term, and that the best point
// is chosen by this sum.
func TestProx(t *testing.T) {
	f := &analytic{f: bowl([]float64{-6, 2}, []float64{1, 0.5})}
	r, err := LBFGS(context.Background(), f, []float64{-2, -2}, cube(2, -12, 4), LBFGSOptions{Prox: 0.5})
	if err != nil || r.Status != outcome.Stationary {
		t.Fatal(r.Status, err)
	}
	for i, want := range []float64{(-6 - 0.5*2) / 1.5, 0} {
		if math.Abs(r.Best.LogLambda[i]-want) > 0.02 {
			t.Errorf("coordinate %d ends at %g, want %g", i, r.Best.LogLambda[i], want)
		}
	}
	least := math.Inf(1)
	for _, q := range f.seen {
		value, _ := f.f(q.LogLambda)
		d, e := q.LogLambda[0]+2, q.LogLambda[1]+2
		least = min(least, value+0.25*(d*d+e*e))
	}
	d, e := r.Best.LogLambda[0]+2, r.Best.LogLambda[1]+2
	if got := r.Best.Value + 0.25*(d*d+e*e); math.Abs(got-least) > 1e-12 {
		t.Errorf("the best sum is %g, the least %g", got, least)
	}
}

// TestJudgeOfAFlatStart checks that the start is returned if the budget ends before there is an iterate to judge.
func TestJudgeOfAFlatStart(t *testing.T) {
	constant := func(x []float64) (float64, []float64) { return 2, make([]float64, len(x)) }
	for _, budget := range []int{1, 2, 20} {
		flat := &analytic{f: constant, at: func(_ int, e *Evaluation) error { e.Flat = true; return nil }}
		r, err := LBFGS(t.Context(), flat, []float64{1, 1}, cube(2, -1, 3), LBFGSOptions{
			Options: Options{Evaluations: budget, Tol: 1e-6, Schedule: Exact},
			Judge:   func(_ context.Context, e Evaluation) (float64, error) { return e.Value, nil },
		})
		if err != nil || r.Best.LogLambda == nil || r.Best.Value != 2 {
			t.Errorf("%d evaluations: %+v, %v", budget, r, err)
		}
	}
}

// TestJudge checks that the search ends when the judge's criterion stops improving, and returns the iterate that
// the judge rated best, evaluated at the final tolerance.
func TestJudge(t *testing.T) {
	for _, schedule := range []Schedule{Exact, Approx, Auto} {
		for budget := 2; budget < 20; budget++ {
			f := &analytic{f: rosenbrock}
			var judged []float64
			third := func(e Evaluation) float64 { return math.Abs(e.LogLambda[0] + 2.2) }
			r, err := LBFGS(context.Background(), f, []float64{-3.2, -1}, cube(2, -5, 1), LBFGSOptions{
				Options: Options{Schedule: schedule, Evaluations: budget},
				Judge: func(_ context.Context, e Evaluation) (float64, error) {
					judged = append(judged, third(e))
					return third(e), nil
				},
				Patience: 2,
			})
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%s, budget %d", schedule, budget)
			if !r.Best.Final || len(f.seen) > budget {
				t.Errorf("%s: final %v after %d", name, r.Best.Final, len(f.seen))
			}
			if schedule == Exact && third(r.Best) != slices.Min(judged) {
				t.Errorf("%s: returned %g, judged %v", name, third(r.Best), judged)
			}
			if budget == 19 && r.Status != outcome.Stationary {
				t.Errorf("%s: %s after %d", name, r.Status, len(f.seen))
			}
		}
	}
	broken := errors.New("broken")
	f := &analytic{f: rosenbrock}
	if _, err := LBFGS(context.Background(), f, []float64{-3.2, -1}, cube(2, -5, 1), LBFGSOptions{
		Judge: func(context.Context, Evaluation) (float64, error) { return 0, broken },
	}); !errors.Is(err, broken) || len(f.seen) != 1 {
		t.Errorf("an error of the judge: %v after %d", err, len(f.seen))
	}
	r, err := LBFGS(context.Background(), f, []float64{-3.2, -1}, cube(2, -5, 1), LBFGSOptions{
		Judge: func(context.Context, Evaluation) (float64, error) { panic("oh") },
	})
	if _, ok := errors.AsType[*outcome.PanicError](err); !ok || len(r.Evaluations) != 1 {
		t.Errorf("a panic of the judge: %v, %+v", err, r)
	}
}

// TestTwoValleys checks that a step over a hump, to a point whose slope leads further away, does not lose the
// valley from which it came.
func TestTwoValleys(t *testing.T) {
	for seed := range uint64(60) {
		random := oracle.NewRandom(seed)
		depth, wave, at := 0.1+random.Float64(), 1+2*random.Float64(), -10*random.Float64()
		f := &analytic{f: func(x []float64) (float64, []float64) {
			d := x[0] - at
			return 3 + 0.02*d*d + depth*math.Sin(wave*d), []float64{0.04*d + depth*wave*math.Cos(wave*d)}
		}}
		for _, start := range []float64{-11, -4.6, -0.7} {
			f.seen = nil
			r, err := Secant(context.Background(), f, start, cube(1, -12, 0), Options{})
			if err != nil || !r.Status.OK() {
				t.Fatal(r.Status, err)
			}
			if x := r.Best.LogLambda[0]; r.Status != outcome.Box {
				_, gradient := f.f([]float64{x})
				// A local minimum to 1e-6 of the value, estimated by slope²/(2·curvature).
				if loss := gradient[0] * gradient[0] / (2 * depth * wave * wave); loss > 4e-6*r.Best.Value {
					t.Errorf("seed %d from %g: %s at %g with slope %g after %d", seed, start, r.Status, x, gradient[0], len(f.seen))
				}
			}
			if len(f.seen) > 16 {
				t.Errorf("seed %d from %g: %d evaluations", seed, start, len(f.seen))
			}
		}
	}
}

// TestUnresolvedSteps checks that the search ends if the objective answers a short step with the solution of the
// previous point, and hence the same value.
func TestUnresolvedSteps(t *testing.T) {
	solved := math.Inf(1)
	f := &analytic{f: func(x []float64) (float64, []float64) {
		if math.Abs(x[0]-solved) > 0.01 {
			solved = x[0]
		}
		d := solved + 6.3
		return 1 + math.Abs(d) + 0.1*d*d, []float64{math.Copysign(1, d) + 0.2*(x[0]+6.3)}
	}}
	r, err := Secant(context.Background(), f, -4.6, cube(1, -12, 0), Options{})
	if err != nil || !r.Status.OK() || r.Best.Value > 1.02 || len(f.seen) > 10 {
		t.Errorf("%s at %v after %d; %v", r.Status, r.Best.LogLambda, len(f.seen), err)
	}
}

// TestTrustRegionFromAnEvaluation checks that a trust region that starts from an evaluation of sufficient
// tolerance does not repeat it, and returns it if no point is better.
func TestTrustRegionFromAnEvaluation(t *testing.T) {
	f := &analytic{f: func(x []float64) (float64, []float64) {
		return 1 + (x[0]+3)*(x[0]+3) + (x[1]+1)*(x[1]+1), []float64{2 * (x[0] + 3), 2 * (x[1] + 1)}
	}}
	f.at = func(k int, e *Evaluation) error {
		e.Tol = f.seen[k].Tol
		return nil
	}
	ctx, box := t.Context(), cube(2, -12, 0)
	for _, at := range [][]float64{{-3, -1}, {-4, -2}} {
		start, err := Point(ctx, f, at, Options{Tol: 1e-4})
		if err != nil || len(start.Evaluations) != 1 || start.Best.Gradient == nil {
			t.Fatalf("%+v, %v", start, err)
		}
		again, err := TrustRegion(ctx, f, at, box, Options{Tol: 1e-4})
		if err != nil {
			t.Fatal(err)
		}
		r, err := TrustRegionFrom(ctx, f, start.Best, box, Options{Tol: 1e-4})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != again.Status || !slices.Equal(r.Best.LogLambda, again.Best.LogLambda) || len(r.Evaluations) != len(again.Evaluations)-1 {
			t.Errorf("%s at %g after %d evaluations; %s at %g after %d", r.Status, r.Best.LogLambda, len(r.Evaluations), again.Status, again.Best.LogLambda, len(again.Evaluations))
		}
		if tight, err := TrustRegionFrom(ctx, f, start.Best, box, Options{Tol: 1e-8}); err != nil || !slices.Equal(tight.Evaluations[0].LogLambda, at) {
			t.Errorf("a loose evaluation is not made again: %v, %v", tight, err)
		}
	}
}
