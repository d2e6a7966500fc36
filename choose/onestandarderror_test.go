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

// valley has its least value 1 at λ = −3 and notes the tolerances asked for.
type valley struct{ asked []float64 }

func (v *valley) Eval(_ context.Context, r search.Request) (search.Evaluation, error) {
	v.asked = append(v.asked, r.Tol)
	return valleyAt(r.LogLambda[0]), nil
}

func (v *valley) Null() search.Evaluation { return search.Evaluation{Value: 10} }

func valleyAt(l float64) search.Evaluation {
	d := l + 3
	return search.Evaluation{
		LogLambda: []float64{l}, Value: 1 + d*d*(1+0.3*d), StandardError: 0.5, FoldValues: []float64{1, 1}, TrainLoss: 0.1, Trusted: true,
	}
}

// Where the loss tends to 0 a gap relative to the null model's would leave solutions where they
// begin, so the one-standard-error choice asks for one relative to the loss of the best.
func TestOneStandardErrorWithinTheLoss(t *testing.T) {
	for curved, want := range map[bool]float64{false: 1e-3, true: 1e-4} {
		f := &valley{}
		p := choose.Problem{Objective: f, Top: []float64{0}, Curved: curved}
		e, err := choose.OneStandardError(t.Context(), p, valleyAt(-3), nil)
		if err != nil || len(f.asked) == 0 || e.Value > 1.5+0.05*0.5 || e.LogLambda[0] <= -3 {
			t.Fatalf("curved %t: %+v, %v", curved, e, err)
		}
		for _, tol := range f.asked {
			if math.Abs(tol-want) > 1e-15 {
				t.Errorf("curved %t: a gap of %g was asked for, want %g", curved, tol, want)
			}
		}
	}
}

// A point up to 0.05 below the crossing is the choice, without another evaluation that would move it by less; one above
// the limit is not.
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

// steep is a criterion that bends less the further it is from its minimum at 0.
type steep struct {
	steepness float64
	asked     int
}

func (s *steep) at(l float64) search.Evaluation {
	d := math.Sqrt(s.steepness) * l
	return search.Evaluation{
		LogLambda: []float64{l}, Value: 1 + d*d*(1-0.1*d*d), Gradient: []float64{math.Sqrt(s.steepness) * d * (2 - 0.4*d*d)}, StandardError: 1, FoldValues: []float64{1, 1}, Trusted: true,
	}
}

func (s *steep) Eval(_ context.Context, r search.Request) (search.Evaluation, error) {
	s.asked++
	e := s.at(r.LogLambda[0])
	e.Gradient = nil
	return e, nil
}

func (s *steep) Null() search.Evaluation { return s.at(2.2 / math.Sqrt(s.steepness)) }

// TestOneStandardErrorAmongManyPoints: the rule takes a moment, not minutes, after a grid of 100,000
// points down from αmax, and names the point of one that goes up.
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
