package bilevel_test

import (
	"context"
	"math"
	"reflect"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// answers is a Runner that returns these results.
type answers []bilevel.LaneResult

func (a answers) Run(context.Context, []bilevel.LaneRequest, func()) ([]bilevel.LaneResult, error) {
	return append([]bilevel.LaneResult(nil), a...), nil
}

// threeAnswers returns results whose sums and products are exact.
func threeAnswers() answers {
	return answers{
		{
			Null: 1, NullError: 9, Top: -1,
			Value: 4, Test: 8, Tested: true, Gradient: []float64{1, 2}, Shape: []float64{3, 6}, Curvature: []float64{3, 0, 0, 6},
			Solved:  bilevel.Solved{Certificate: outcome.Certificate{Gap: 1, RelativeGap: 0.25, KKT: 3}, Effort: outcome.Effort{Epochs: 1, Passes: 2, Steps: 3}, Support: 5, Status: outcome.Converged, Seconds: 1, TrainLoss: 0.5, Saturation: 0.25, Work: 10},
			Derived: bilevel.Derived{ErrorBound: 1, InjectivityMargin: 0.5, Bound: implicit.Proved, Iterations: 3, Work: 100, Seconds: 4, SupportCertified: true, Status: outcome.Converged},
		},
		{
			Null: 2, NullError: 9, Top: 3,
			Value: 7, Test: 4, Tested: true, Gradient: []float64{4}, Columns: []int32{1}, Shape: []float64{6, 6}, Curvature: []float64{0, 3, 3, 0},
			Solved:  bilevel.Solved{Certificate: outcome.Certificate{Gap: 2, RelativeGap: 0.5, KKT: 1}, Effort: outcome.Effort{Epochs: 10, Passes: 20, Steps: 30}, Support: 6, Status: outcome.Converged, Seconds: 2, TrainLoss: 0.25, Saturation: 0.5, Work: 20},
			Derived: bilevel.Derived{ErrorBound: 2, InjectivityMargin: 0.125, Bound: implicit.Proved, Iterations: 5, Work: 200, Seconds: 8, SupportCertified: true, Status: outcome.Converged},
		},
		{
			Null: 6, NullError: 9, Top: 2,
			Value: 10, Test: 0, Tested: true, Gradient: []float64{-4, 12}, Shape: []float64{0, 12}, Curvature: []float64{3, 0, 0, 3},
			Solved:  bilevel.Solved{Certificate: outcome.Certificate{Gap: 4, RelativeGap: 0.125, KKT: 2}, Effort: outcome.Effort{Epochs: 100, Passes: 200, Steps: 300}, Support: 6, Status: outcome.Converged, Seconds: 4, TrainLoss: 0.75, Saturation: 0.75, Work: 40},
			Derived: bilevel.Derived{ErrorBound: 6, InjectivityMargin: 0.25, Bound: implicit.Proved, Iterations: 7, Work: 400, Seconds: 16, SupportCertified: true, Status: outcome.Converged},
		},
	}
}

func over(t *testing.T, of answers) *bilevel.Problem {
	t.Helper()
	folds := make(bilevel.Folds, len(of))
	for i := range folds {
		folds[i] = i
	}
	p, err := bilevel.NewOver(t.Context(), of, bilevel.Spec{Folds: folds})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func reportOf(t *testing.T, of answers, request search.Request) bilevel.Report {
	t.Helper()
	p := over(t, of)
	p.Curvature = true
	report := evaluate(t, p, request)
	report.Seconds = 0 // varies from run to run
	return report
}

// TestReportIsWhatItsLanesSay checks a report against a computation by hand for three lanes: means of what is
// counted per fold, sums of effort, the worst of the certificates.
func TestReportIsWhatItsLanesSay(t *testing.T) {
	near := func(name string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-15*math.Abs(want)) {
			t.Errorf("%s: %.17g, want %.17g", name, got, want)
		}
	}
	of := threeAnswers()
	got := reportOf(t, of, search.Request{LogLambda: []float64{0, 1}})
	near("value", got.Value, 7)
	near("test", got.Test, 4)
	near("standard error", got.StandardError, math.Sqrt(3)) // √(18/2)/√3
	near("derivative 0", got.Gradient[0], -1)
	near("derivative 1", got.Gradient[1], 6)
	near("bound", got.ErrorBound, 3)
	near("margin", got.InjectivityMargin, 0.125)
	near("gap", got.Gap, 7)
	near("relative gap", got.RelativeGap, 0.5)
	near("tolerance", got.Tol, 0.5)
	near("KKT", got.KKT, 3)
	near("training loss", got.TrainLoss, 0.25)
	near("saturation", got.Saturation, 0.5)
	near("work", got.Work, 770)
	near("seconds of solves", got.SecondsSolve, 7)
	near("seconds of gradients", got.SecondsGradient, 28)
	if got.Support != 6 || got.Iterations != 15 || got.Effort != (outcome.Effort{Epochs: 111, Passes: 222, Steps: 333}) {
		t.Errorf("support %d, %d iterations, %+v", got.Support, got.Iterations, got.Effort)
	}
	if !got.Tested || !got.Trusted || got.Flat || !got.SupportCertified || got.Bound != implicit.Proved || got.Status != outcome.Converged || !reflect.DeepEqual(got.FoldValues, []float64{4, 7, 10}) {
		t.Errorf("%+v", got)
	}
	for i, want := range []float64{2, 1, 1, 3} {
		near("curvature", got.Curvature[i], want)
	}
	near("shape 0", got.Shape[0], 3)
	near("shape 1", got.Shape[1], 8)
	value := reportOf(t, of, search.Request{LogLambda: []float64{0, 1}, ValueOnly: true})
	if value.Value != got.Value || value.Gradient != nil || value.Curvature != nil || value.Shape != nil || value.ErrorBound != 0 || value.Work != 70 || value.SupportCertified || value.Flat {
		t.Errorf("the value alone: %+v", value)
	}
	if two := reportOf(t, of[:2], search.Request{LogLambda: []float64{0, 1}, ValueOnly: true}); two.Support != 6 { // the mean of 5 and 6, rounded up
		t.Errorf("support %d of two lanes", two.Support)
	}
	p := over(t, of)
	null := p.Null()
	near("null", null.Value, 3)
	near("error of the null model", null.StandardError, math.Sqrt(14./2/3)) // of the values 1, 2 and 6, whose mean is 3
	if p.LogLambdaMax() != 3 || null.TrainLoss != 1 || !null.Trusted {
		t.Errorf("top %g, %+v", p.LogLambdaMax(), null)
	}
}

// TestReportIsAsGoodAsItsWorstLane checks that a single lane that failed, or has no certificate, changes the
// corresponding part of the report of all lanes.
func TestReportIsAsGoodAsItsWorstLane(t *testing.T) {
	type verdict struct {
		status           outcome.Status
		trusted, certain bool
		bound            implicit.Bound
	}
	good := verdict{outcome.Converged, true, true, implicit.Proved}
	with := func(change func(v *verdict)) verdict { v := good; change(&v); return v }
	for name, c := range map[string]struct {
		lane   func(l *bilevel.LaneResult)
		expect verdict
	}{
		"as the others": {func(*bilevel.LaneResult) {}, good},
		"not converged": {
			func(l *bilevel.LaneResult) { l.Solved.Status = outcome.NotConverged },
			with(func(v *verdict) { v.status, v.trusted = outcome.NotConverged, false }),
		},
		"stationary": {
			func(l *bilevel.LaneResult) { l.Solved.Status = outcome.Stationary },
			with(func(v *verdict) { v.status = outcome.Stationary }),
		},
		"flat alone": {
			func(l *bilevel.LaneResult) { l.Derived.Status = outcome.Flat }, good,
		},
		"not differentiable": {
			func(l *bilevel.LaneResult) { l.Derived.Status = outcome.NotDifferentiable },
			with(func(v *verdict) { v.status, v.trusted = outcome.NotDifferentiable, false }),
		},
		"support uncertified": {
			func(l *bilevel.LaneResult) {
				l.Derived.Status, l.Derived.SupportCertified = outcome.SupportUncertified, false
			},
			with(func(v *verdict) { v.status, v.certain = outcome.SupportUncertified, false }),
		},
		"estimated": {
			func(l *bilevel.LaneResult) { l.Derived.Bound = implicit.Estimated },
			with(func(v *verdict) { v.bound = implicit.Estimated }),
		},
		"NaN": {
			func(l *bilevel.LaneResult) { l.Value = math.NaN() },
			with(func(v *verdict) { v.status, v.trusted = outcome.Failed, false }),
		},
		"infinite derivative": {
			func(l *bilevel.LaneResult) { l.Gradient = []float64{math.Inf(-1), 0}; l.Columns = nil },
			with(func(v *verdict) { v.status, v.trusted = outcome.Failed, false }),
		},
	} {
		for at := range 3 {
			of := threeAnswers()
			c.lane(&of[at])
			r := reportOf(t, of, search.Request{LogLambda: []float64{0, 1}})
			if got := (verdict{r.Status, r.Trusted, r.SupportCertified, r.Bound}); got != c.expect || r.Flat {
				t.Errorf("%s, lane %d: %+v, want %+v", name, at, got, c.expect)
			}
		}
	}
	of := threeAnswers()
	for i := range of {
		of[i].Derived.Status, of[i].Solved.TrainLoss, of[i].Solved.RelativeGap = outcome.Flat, math.Inf(1), math.NaN()
	}
	of[0].Curvature = nil
	if r := reportOf(t, of, search.Request{LogLambda: []float64{0, 1}}); r.Curvature != nil {
		t.Errorf("a lane has no curvature: %v", r.Curvature)
	}
	for i := range of {
		of[i].Curvature = make([]float64, 4)
	}
	if r := reportOf(t, of, search.Request{LogLambda: []float64{0, 1}}); r.Curvature != nil {
		t.Errorf("there is no curvature: %v", r.Curvature)
	}
	if r := reportOf(t, of, search.Request{LogLambda: []float64{0, 1}}); !r.Flat || r.Status != outcome.Flat || r.TrainLoss != 0 || r.Tol != 0 {
		t.Errorf("all flat: %+v", r)
	}
}
