package search

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/outcome"
)

// blurred is an objective known up to its tolerance: values err in proportion to the tolerance and slopes in
// proportion to its root, in a manner that depends on λ.
func blurred(f func(x []float64) (float64, []float64), share float64) *analytic {
	a := &analytic{f: f}
	a.at = func(k int, e *Evaluation) error {
		q := a.seen[k]
		blur := share * math.Sqrt(q.Tol) * math.Sin(1000*q.LogLambda[0])
		e.Value += blur * blur * math.Copysign(1, blur)
		for i := range e.Gradient {
			e.Gradient[i] += blur
		}
		e.Tol = q.Tol
		return nil
	}
	return a
}

func TestTolerances(t *testing.T) {
	for _, c := range []struct {
		schedule Schedule
		final    float64
		budget   int
		want     []float64
	}{
		{"", 1e-7, 50, nil},
		{Exact, 1e-7, 50, nil},
		{Auto, 1e-6, 50, []float64{1e-3, 1e-4, 1e-4, 1e-5, 1e-6}},
		{Auto, 1e-8, 50, []float64{1e-3, 1e-4, 1e-4, 1e-5, 1e-6}},
		{Auto, 1e-4, 50, []float64{1e-3, 1e-4, 1e-4, 1e-4, 1e-4}},
		{Auto, 1e-2, 50, []float64{1e-2, 1e-2, 1e-2, 1e-2, 1e-2}},
		{Approx, 1e-6, 5, []float64{1e-2, 1e-3, 1e-4, 1e-5}},
		{Approx, 1e-11, 50, []float64{1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10}},
		{Approx, 1e-6, 1, nil},
	} {
		got, err := c.schedule.tolerances(c.final, c.budget)
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*b }
		if err != nil || !slices.EqualFunc(got, c.want, near) {
			t.Errorf("%s to %g: %v, want %v; %v", c.schedule, c.final, got, c.want, err)
		}
	}
}

// TestSearchesEndAtTheFinalTolerance checks that, for every schedule and budget, the result was evaluated at the
// final tolerance, and that no search requests a tighter one.
func TestSearchesEndAtTheFinalTolerance(t *testing.T) {
	for _, schedule := range []Schedule{Exact, Approx, Auto} {
		for budget := 1; budget <= 30; budget++ {
			for _, m := range contenders(context.Background(), 1) {
				f := blurred(bowl([]float64{-6.5}, []float64{0.2}), 1)
				r, err := m.run(f, []float64{-4.6}, cube(1, -12, 0), Options{Evaluations: budget, Schedule: schedule, Tol: 1e-7})
				if err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("%s, %s, budget %d", m.name, schedule, budget)
				promises(t, name, f, cube(1, -12, 0), budget, r)
				if !r.Best.Final || r.Best.Tol != 1e-7 {
					t.Errorf("%s: the best is known to %g", name, r.Best.Tol)
				}
				for k, e := range r.Evaluations {
					asked := f.seen[k].Tol
					if asked < 1e-7 || e.Final != (asked == 1e-7) {
						t.Errorf("%s: evaluation %d asked for %g, final: %v", name, k, asked, e.Final)
					}
					if !m.firstOrder && asked != 1e-7 {
						t.Errorf("%s: a value alone asked for %g", name, asked)
					}
				}
			}
		}
	}
}

// TestLooseStartsDoNotMislead checks that methods end at the minimum although early evaluations are inaccurate.
func TestLooseStartsDoNotMislead(t *testing.T) {
	for _, dim := range []int{1, 2} {
		for _, m := range contenders(context.Background(), dim) {
			if !m.firstOrder || m.name == "adam" {
				continue
			}
			for _, share := range []float64{0.5, 5} {
				for _, schedule := range []Schedule{Approx, Auto} {
					f := blurred(bowl([]float64{-6.5, -3}[:dim], []float64{0.2, 0.3}[:dim]), share)
					r, err := m.run(f, []float64{-4.6, -4.6}[:dim], cube(dim, -12, 0), Options{Evaluations: 60, Schedule: schedule, Tol: 1e-10})
					if err != nil {
						t.Fatal(err)
					}
					if r.Best.Value > 1+1e-3 {
						t.Errorf("%s, %d coordinates, %s, blur %g: %s at %g after %d", m.name, dim, schedule, share, r.Status, r.Best.Value, len(f.seen))
					}
				}
			}
		}
	}
}

// TestDistrust checks that an untrusted evaluation is repeated at the final tolerance before it is used for a
// step, and that an untrusted start is replaced by a point above it. All further evaluations are made at the final
// tolerance.
func TestDistrust(t *testing.T) {
	f := &analytic{f: bowl([]float64{-6}, []float64{1})}
	for from, second := range []float64{-2.6, -5.6} {
		f.seen = nil
		f.at = func(k int, e *Evaluation) error {
			e.Trusted = k < from || f.seen[k].Tol <= 1e-5*(1+1e-9)
			return nil
		}
		r, err := Secant(context.Background(), f, -4.6, cube(1, -12, 0), Options{Schedule: Auto, Tol: 1e-6})
		if err != nil || r.Status != outcome.Stationary {
			t.Fatal(r.Status, err)
		}
		for k, q := range f.seen {
			want := 1e-6
			if k <= from {
				want = []float64{1e-3, 1e-4}[k]
			}
			if math.Abs(q.Tol-want) > 1e-9*want {
				t.Errorf("no trust from %d on: evaluation %d at %v to %g", from, k, q.LogLambda, q.Tol)
			}
		}
		if at := f.seen[from+1].LogLambda[0]; math.Abs(at-second) > 1e-12 {
			t.Errorf("no trust from %d on: followed by %g", from, at)
		}
	}
	// If the box leaves no other point, the start is repeated.
	f.seen = nil
	if r, err := Secant(context.Background(), f, -4.6, cube(1, -4.6, -4.6), Options{Schedule: Auto, Tol: 1e-6}); err != nil || !r.Best.Final || len(f.seen) > 3 {
		t.Errorf("%v after %d; %v", r.Best, len(f.seen), err)
	}
	// At the final tolerance, which cannot be tightened, an untrusted evaluation is accepted.
	f.at = func(_ int, e *Evaluation) error { e.Trusted = false; return nil }
	f.seen = nil
	if r, err := Secant(context.Background(), f, -4.6, cube(1, -12, 0), Options{Schedule: Auto}); err != nil || r.Status != outcome.Stationary {
		t.Fatal(r.Status, err)
	}
	if len(f.seen) > 8 || f.seen[3].Tol != defaultTol {
		t.Errorf("%d evaluations, the fourth to %g", len(f.seen), f.seen[3].Tol)
	}
}

// TestWrongBracket checks a loose evaluation whose slope has the wrong sign, so that the bracket excludes the
// minimum.
func TestWrongBracket(t *testing.T) {
	for _, wrong := range []int{0, 1, 2, 3} {
		f := &analytic{f: bowl([]float64{-7}, []float64{0.5})}
		f.at = func(k int, e *Evaluation) error {
			if k == wrong {
				e.Gradient[0] = -e.Gradient[0]
			}
			e.Tol = f.seen[k].Tol
			return nil
		}
		r, err := Secant(context.Background(), f, -4.6, cube(1, -12, 0), Options{Schedule: Auto, Tol: 1e-6})
		if err != nil || r.Best.Value > 1+1e-4 {
			t.Errorf("wrong slope at %d: %s at %v, %g, after %d; %v", wrong, r.Status, r.Best.LogLambda, r.Best.Value, len(f.seen), err)
		}
	}
}

// TestStepsSayWhatTheyNeed checks that with the schedule Auto evaluations stay loose while steps have a large
// predicted gain, and that the final tolerance is requested at once where they have not.
func TestStepsSayWhatTheyNeed(t *testing.T) {
	methods := map[string]func(f Objective, start float64) (*Result, error){
		"secant": func(f Objective, start float64) (*Result, error) {
			return Secant(context.Background(), f, start, cube(1, -12, 0), Options{Schedule: Auto})
		},
		"trust region": func(f Objective, start float64) (*Result, error) {
			return TrustRegion(context.Background(), f, []float64{start}, cube(1, -12, 0), Options{Schedule: Auto})
		},
	}
	for name, run := range methods {
		far := &analytic{f: bowl([]float64{-11}, []float64{0.2})}
		if _, err := run(far, 0); err != nil {
			t.Fatal(err)
		}
		for k, q := range far.seen[:6] {
			if want := []float64{1e-3, 1e-4}[min(k, 1)]; !(q.Tol <= want && q.Tol > 0.8*want) {
				t.Errorf("%s from far: %g asked at %v, want %g or a little less", name, q.Tol, q.LogLambda, want)
			}
		}
		near := &analytic{f: bowl([]float64{-11}, []float64{0.2})}
		if _, err := run(near, -10.999); err != nil {
			t.Fatal(err)
		}
		for _, q := range near.seen[1:] {
			if q.Tol > 1e-5 {
				t.Errorf("%s from near: %g asked at %v", name, q.Tol, q.LogLambda)
			}
		}
	}
	// The tolerance is the one needed, but at most 1e-4 or the final one if that is looser; close to the final one it
	// is the final one, because the point would have to be confirmed at it.
	for _, c := range [][3]float64{{1e-2, 1e-6, 1e-4}, {2e-5, 1e-6, 2e-5}, {9e-6, 1e-6, 1e-6}, {1e-12, 1e-6, 1e-6}, {1, 1e-2, 1e-2}, {1, 1e-3, 1e-3}} {
		if got := sufficientTol(c[0], c[1]); got != c[2] {
			t.Errorf("%g needed, %g in the end: %g, want %g", c[0], c[1], got, c[2])
		}
	}
}

// TestSlopeThatPointsTheWrongWay checks that a descent does not end at a start whose value is too low and whose
// slope has the wrong sign until it is evaluated at the final tolerance, so that all steps from it fail.
func TestSlopeThatPointsTheWrongWay(t *testing.T) {
	f := &analytic{f: bowl([]float64{-2}, []float64{0.5})}
	f.at = func(k int, e *Evaluation) error {
		if e.Tol = f.seen[k].Tol; f.seen[k].LogLambda[0] == -5 && e.Tol > 1e-6 {
			e.Value -= 0.05
			e.Gradient[0] *= -20
		}
		return nil
	}
	r, err := Gradient(context.Background(), f, []float64{-5}, cube(1, -12, 0), Options{Evaluations: 50, Schedule: Auto, Tol: 1e-6, Stop: 1e-6})
	if err != nil || !r.Status.OK() || math.Abs(r.Best.LogLambda[0]+2) > 1e-2 {
		t.Errorf("%v, %s at %v", err, r.Status, r.Best.LogLambda)
	}
}
