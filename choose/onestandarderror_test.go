package choose_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare/choose"
	"github.com/seed-45b9a24c/pare/search"
)

// valley has its minimum 1 at λ = −3 and records the tolerances requested.
type valley struct{ asked []float64 }

func (v *valley) Eval(_ context.Context, r search.Request) (search.Evaluation, error) {
	v.asked = append(v.asked, r.Tol)
	return valleyAt(r.LogLambda[0]), nil
}

func (v *valley) Null() search.Evaluation { return search.Evaluation{Value: 10} }

func valleyAt(l float64) search.Evaluation {
	d := l + 3
	value := 1 + d*d*(1+0.3*d)
	return search.Evaluation{
		LogLambda: []float64{l}, Value: value, StandardError: 0.5, FoldValues: []float64{value, value}, TrainLoss: 0.1, Trusted: true,
	}
}

// TestOneStandardErrorWithinTheLoss checks that the gap requested is relative to the training loss of the best
// point. Where the loss tends to 0, a gap relative to the null model's would leave solutions at their start.
func TestOneStandardErrorWithinTheLoss(t *testing.T) {
	f := &valley{}
	e, err := choose.OneStandardError(t.Context(), choose.Problem{Objective: f, Top: []float64{0}}, valleyAt(-3), nil)
	if err != nil || len(f.asked) == 0 || e.Value > 1.5+0.05*0.5 || e.LogLambda[0] <= -3 {
		t.Fatalf("%+v, %v", e, err)
	}
	for _, tol := range f.asked {
		if math.Abs(tol-1e-4) > 1e-15 {
			t.Errorf("a gap of %g was asked for, want 1e-4", tol)
		}
	}
}

// lazy returns one fold's solution at −3, its start, until a gap of at most 1e-5 is requested, as if that solution
// met wider gaps.
type lazy struct{ valley }

func (f *lazy) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	e, err := f.valley.Eval(ctx, r)
	if r.Tol > 1.1e-5 {
		at := valleyAt(-3)
		e.Value, e.FoldValues = 0.5*(e.Value+at.Value), []float64{at.Value, e.Value}
	}
	return e, err
}

// TestOneStandardErrorOfSolutionsThatStay checks that solutions are requested at smaller gaps until they move from
// their start; otherwise the criterion would be that of another λ.
func TestOneStandardErrorOfSolutionsThatStay(t *testing.T) {
	e, err := choose.OneStandardError(t.Context(), choose.Problem{Objective: &lazy{}, Top: []float64{0}}, valleyAt(-3), nil)
	if want := valleyAt(e.LogLambda[0]).Value; err != nil || e.Value != want || math.Abs(want-1.5) > 0.25*0.5 {
		t.Errorf("%+v, want %g; %v", e, want, err)
	}
}

// cliff is 1 up to λ = −0.3 and 30 above it, which no smooth model of its points predicts.
type cliff struct{ valley }

func (f *cliff) Eval(_ context.Context, r search.Request) (search.Evaluation, error) {
	e := valleyAt(-3)
	e.LogLambda = r.LogLambda
	if r.LogLambda[0] > -0.3 {
		e.Value = 30
	}
	e.FoldValues = []float64{e.Value + r.LogLambda[0], e.Value - r.LogLambda[0]}
	return e, nil
}

// TestOneStandardErrorAtACliff checks that the interval is halved where the model converges slowly, so that the
// choice is close to the cliff.
func TestOneStandardErrorAtACliff(t *testing.T) {
	f := &cliff{}
	e, err := choose.OneStandardError(t.Context(), choose.Problem{Objective: f, Top: []float64{0}}, valleyAt(-3), nil)
	if err != nil || !(e.LogLambda[0] <= -0.3) || e.LogLambda[0] < -0.35 {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestOneStandardErrorIsNearEnough checks that a point that is at most 0.05 below the crossing is chosen without a
// further evaluation, which would move it by less, and that a point above the limit is not chosen.
func TestOneStandardErrorIsNearEnough(t *testing.T) {
	for steepness, asks := range map[float64]int{1: 2, 30: 1} {
		f := &steep{steepness: steepness}
		best := f.at(0)
		e, err := choose.OneStandardError(t.Context(), choose.Problem{Objective: f, Top: []float64{2.2 / math.Sqrt(steepness)}}, best, []search.Evaluation{f.at(2 / math.Sqrt(steepness))})
		if err != nil {
			t.Fatal(err)
		}
		limit := best.Value + 1
		if e.Value > limit+0.05 || e.Value < limit-0.25 || f.asked != asks {
			t.Errorf("steepness %g: λ = %g with %g after %d evaluations, the limit is %g", steepness, e.LogLambda[0], e.Value, f.asked, limit)
		}
	}
}

// steep is a criterion whose curvature decreases with the distance from its minimum at 0.
type steep struct {
	steepness float64
	asked     int
}

func (s *steep) at(l float64) search.Evaluation {
	d := math.Sqrt(s.steepness) * l
	value := 1 + d*d*(1-0.1*d*d)
	return search.Evaluation{
		LogLambda: []float64{l}, Value: value, Gradient: []float64{math.Sqrt(s.steepness) * d * (2 - 0.4*d*d)}, StandardError: 1, FoldValues: []float64{value, value}, Trusted: true,
	}
}

func (s *steep) Eval(_ context.Context, r search.Request) (search.Evaluation, error) {
	s.asked++
	e := s.at(r.LogLambda[0])
	e.Gradient = nil
	return e, nil
}

func (s *steep) Null() search.Evaluation { return s.at(2.2 / math.Sqrt(s.steepness)) }

// TestOneStandardErrorAmongManyPoints checks that the rule takes seconds, not minutes, after a grid of 100,000
// points down from αmax, and chooses the same point after the reversed grid.
func TestOneStandardErrorAmongManyPoints(t *testing.T) {
	const many = 100_000
	var down []search.Evaluation
	for k := range many {
		down = append(down, valleyAt(-3*float64(k)/many))
	}
	up := slices.Clone(down)
	slices.Reverse(up)
	began := time.Now()
	p := choose.Problem{Objective: &valley{}, Top: []float64{0}}
	a, err := choose.OneStandardError(t.Context(), p, valleyAt(-3), down)
	if took := time.Since(began); err != nil || took > 20*time.Second {
		t.Fatalf("%v after %v", err, took)
	}
	b, err := choose.OneStandardError(t.Context(), p, valleyAt(-3), up)
	if err != nil || a.LogLambda[0] != b.LogLambda[0] || math.Abs(a.Value-1.5) > 0.05*0.5 {
		t.Errorf("%+v and %+v, %v", a, b, err)
	}
}

// slope increases linearly from 1 at λ = −3 to the value of the null model at 0.
type slope struct{ null float64 }

func (s slope) Eval(_ context.Context, r search.Request) (search.Evaluation, error) {
	return s.at(r.LogLambda[0]), nil
}

func (s slope) at(l float64) search.Evaluation {
	value := 1 + (s.null-1)*(l+3)/3
	return search.Evaluation{LogLambda: []float64{l}, Value: value, StandardError: 1, FoldValues: []float64{value, value}, Trusted: true}
}

func (s slope) Null() search.Evaluation { return search.Evaluation{Value: s.null} }

// TestOneStandardErrorOfTheNullModel checks that the null model is chosen if its value is within the limit,
// whatever the search has seen.
func TestOneStandardErrorOfTheNullModel(t *testing.T) {
	for null, want := range map[float64]float64{1.2: 0, 1.9: 0, 4: -2} {
		f := slope{null}
		for _, seen := range [][]search.Evaluation{nil, {f.at(-2.5)}, {f.at(-2.5), f.at(-0.5)}} {
			e, err := choose.OneStandardError(t.Context(), choose.Problem{Objective: f, Top: []float64{0}}, f.at(-3), seen)
			if err != nil || math.Abs(e.LogLambda[0]-want) > 0.06 || want == 0 && e.LogLambda[0] != 0 {
				t.Errorf("a null model of %g, %d seen: %+v, %v", null, len(seen), e, err)
			}
		}
	}
}
