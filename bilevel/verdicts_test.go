package bilevel

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// statuses lists all statuses.
var statuses = []outcome.Status{
	outcome.Converged, outcome.Stationary, outcome.NotConverged, outcome.SupportUncertified, outcome.NotDifferentiable,
	outcome.NotUnique, outcome.Flat, outcome.Failed, outcome.Cancelled,
}

// TestProofsOfSupports checks that a certificate is sought only for gradients that may be right, that it certifies
// only a gradient that has converged, and that without it a column that is about to enter makes the solution not
// differentiable, or not unique if columns are dependent.
func TestProofsOfSupports(t *testing.T) {
	for _, status := range statuses {
		for _, c := range []implicit.Certificate{
			{Support: true, DualMargin: 1},
			{Support: true},
			{DualMargin: 1.5e-10},
			{DualMargin: 0.9e-10},
			{DualMargin: 0.9e-10, Dependent: true},
			{Support: true, Dependent: true},
		} {
			asked := false
			d := Derived{Status: status}
			if err := d.recordProof(func() (implicit.Certificate, error) { asked = true; return c, nil }); err != nil {
				t.Fatal(err)
			}
			want := Derived{Status: status}
			tried := status == outcome.Converged || status == outcome.NotDifferentiable || status == outcome.SupportUncertified
			if tried {
				want.SupportCertified = c.Support && status == outcome.Converged
				if !c.Support && c.DualMargin <= 1e-10 {
					want.Status = outcome.NotDifferentiable
					if c.Dependent {
						want.Status = outcome.NotUnique
					}
				}
			}
			if asked != tried || d != want {
				t.Errorf("%s, %+v: %+v, want %+v", status, c, d, want)
			}
		}
	}
	failed := errors.New("no certificate")
	d := Derived{Status: outcome.Converged}
	if err := d.recordProof(func() (implicit.Certificate, error) { return implicit.Certificate{Support: true}, failed }); !errors.Is(err, failed) || d.SupportCertified {
		t.Errorf("%v, %+v", err, d)
	}
}

// TestStatusesOfReports checks how statuses of lanes combine: the first that is not converged is kept, but
// Stationary gives way to any worse status, and SupportUncertified to any that is worse than itself. A report is
// trusted if its gradient may be used for a step.
func TestStatusesOfReports(t *testing.T) {
	for _, first := range statuses {
		for _, second := range statuses {
			r := newReport(search.Request{LogLambda: []float64{0}}, 1)
			r.worsen(first)
			r.worsen(second)
			want := first
			switch first {
			case outcome.Converged:
				want = second
			case outcome.Stationary:
				if second != outcome.Converged {
					want = second
				}
			case outcome.SupportUncertified:
				if second != outcome.Converged && second != outcome.Stationary {
					want = second
				}
			}
			if r.Status != want {
				t.Errorf("%s, then %s: %s, want %s", first, second, r.Status, want)
			}
			for _, flat := range []bool{false, true} {
				f := r
				f.Flat = flat
				f.finish(1)
				trusted := want == outcome.Converged || want == outcome.Stationary || want == outcome.SupportUncertified
				status := want
				if flat && (want == outcome.Converged || want == outcome.Stationary) {
					status = outcome.Flat
				}
				if f.Trusted != trusted || f.Status != status {
					t.Errorf("%s, flat %t: trusted %t, %s", want, flat, f.Trusted, f.Status)
				}
			}
		}
	}
	if r := newReport(search.Request{LogLambda: []float64{0, 1}}, 2); r.InjectivityMargin != 1 || !r.SupportCertified || !r.Flat || len(r.Gradient) != 2 {
		t.Errorf("before any lane: %+v", r)
	}
	if r := newReport(search.Request{LogLambda: []float64{0, 1}, ValueOnly: true}, 2); r.SupportCertified || r.Flat || r.Gradient != nil {
		t.Errorf("before any lane, of a value: %+v", r)
	}
}

// TestDownhill checks the choice of a side for a common shift of all λ's: the side below if the sum of the slopes
// there is positive, the side above if the sum there is negative, the steeper of the two if both hold, and else
// none.
func TestDownhill(t *testing.T) {
	none := []float64{0, 0}
	for _, c := range []struct{ below, above, want []float64 }{
		{[]float64{1, 2}, []float64{1, 1}, []float64{1, 2}},
		{[]float64{0.25, 0.25}, []float64{0.25, 0}, []float64{0.25, 0.25}},
		{[]float64{-1, -1}, []float64{-1, -2}, []float64{-1, -2}},
		{[]float64{-1, -1}, []float64{0.25, -0.5}, []float64{0.25, -0.5}},
		{[]float64{-1, 0.5}, []float64{0.5, 0.125}, none},
		{[]float64{-0.5, 0}, []float64{0.5, 0}, none},
		{[]float64{1, -1}, []float64{1, -1}, none},
		{[]float64{1, -1}, []float64{-1, 0.5}, []float64{-1, 0.5}},
		{[]float64{2, 1}, []float64{-1, -1}, []float64{2, 1}},   // sums: 3 below, −2 above
		{[]float64{1, 1}, []float64{-2, -1}, []float64{-2, -1}}, // sums: 2 below, −3 above
		{[]float64{1, 1}, []float64{-1, -1}, []float64{1, 1}},   // equally steep
		{[]float64{-0.25, 0}, []float64{0.25, 0}, none},
		{[]float64{0.25, 0}, []float64{0.5, 0}, []float64{0.25, 0}},
	} {
		if got := downhill(c.below, c.above); !slices.Equal(got, c.want) {
			t.Errorf("%v below and %v above: %v, want %v", c.below, c.above, got, c.want)
		}
	}
}

// knots is a problem that answers with a status and the gradient λ, and records its requests.
type knots struct {
	status func(at float64) outcome.Status
	fails  func(at float64) error
	value  float64
	asked  []search.Request
	lost   error // error of memoryAfter
}

func (k *knots) Evaluate(_ context.Context, r search.Request) (report Report, err error) {
	k.asked = append(k.asked, r)
	if k.fails != nil {
		err = k.fails(r.LogLambda[0])
	}
	report.Status, report.Gradient, report.Value = k.status(r.LogLambda[0]), r.LogLambda, k.value
	return report, err
}

func (k *knots) memoryAfter(context.Context, []float64) (search.Memory, error) {
	return search.Memory{Last: []byte{1}}, k.lost
}

// TestSidesOfAKnot checks that one-sided slopes are taken 1e-7 to either side in all λ's at the tightest
// tolerance, only if a gradient was asked for and does not exist, and that both sides must have one.
func TestSidesOfAKnot(t *testing.T) {
	failed := errors.New("no slope")
	at := []float64{1, -2}
	for name, c := range map[string]struct {
		below, here, above outcome.Status
		fails              func(at float64) error
		lost               error
		valueOnly, noValue bool
		asked              int
		chosen             int // −1 below, 1 above
		err                error
	}{
		"regular":        {here: outcome.Converged, asked: 1},
		"a value":        {here: outcome.NotDifferentiable, valueOnly: true, asked: 1},
		"not unique":     {here: outcome.NotUnique, asked: 1},
		"knot":           {below: outcome.Converged, here: outcome.NotDifferentiable, above: outcome.Converged, asked: 3, chosen: 1},
		"no value":       {below: outcome.Converged, here: outcome.NotDifferentiable, above: outcome.Converged, noValue: true, asked: 3, chosen: 1},
		"one side":       {below: outcome.NotConverged, here: outcome.NotDifferentiable, above: outcome.Converged, asked: 2},
		"other side":     {below: outcome.Converged, here: outcome.NotDifferentiable, above: outcome.NotConverged, asked: 3},
		"error":          {here: outcome.NotDifferentiable, fails: func(float64) error { return failed }, asked: 1, err: failed},
		"error below":    {here: outcome.NotDifferentiable, fails: failsAt(failed, -1), asked: 2, err: failed},
		"error above":    {below: outcome.Converged, here: outcome.NotDifferentiable, above: outcome.Converged, fails: failsAt(failed, 1), asked: 3, err: failed},
		"nothing behind": {here: outcome.Converged, lost: failed, asked: 1, err: failed},
	} {
		k := &knots{value: 7, fails: c.fails, lost: c.lost, status: func(l float64) outcome.Status {
			switch {
			case l < 1:
				return c.below
			case l > 1:
				return c.above
			}
			return c.here
		}}
		if c.noValue {
			k.value = math.NaN()
		}
		e, err := evalOnSide(t.Context(), k, search.Request{LogLambda: at, ValueOnly: c.valueOnly})
		if !errors.Is(err, c.err) || len(k.asked) != c.asked {
			t.Errorf("%s: %v after %d evaluations", name, err, len(k.asked))
			continue
		}
		for i, r := range k.asked[1:] {
			shift := 1e-7 * float64(2*i-1)
			if r.Tol != 1e-14 || r.ValueOnly || len(r.LogLambda) != 2 || !(math.Abs(r.LogLambda[0]-1-shift) <= 1e-15) || !(math.Abs(r.LogLambda[1]+2-shift) <= 1e-15) {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if err != nil {
			continue
		}
		if want := at[0] + 1e-7*float64(c.chosen); !(math.Abs(e.Gradient[0]-want) <= 1e-15) || e.Trusted != (c.chosen != 0 && !c.noValue) || len(e.Memory.Last) != 1 || math.IsNaN(e.Value) != c.noValue {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// failsAt returns an error on one side of λ = 1.
func failsAt(err error, side float64) func(float64) error {
	return func(at float64) error {
		if side*(at-1) > 0 {
			return err
		}
		return nil
	}
}
