package bilevel

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestIteratesAreReportedAsTheyEnded checks that the last change of the iterates, relative to the largest slope,
// is reported as the error bound of all slopes, that a value counts as converged by its gap, and that columns are
// listed if each has a λ of its own.
func TestIteratesAreReportedAsTheyEnded(t *testing.T) {
	failed, broken := errors.New("failed"), errors.New("broken")
	for name, c := range map[string]struct {
		result  iterdiff.Result
		options cd.Options
		each    bool
		broken  error
		err     error
		kind    outcome.Kind
		solved  outcome.Status
		bound   float64
	}{
		"to the end":       {result: iterdiff.Result{Gap: 1e-7, Change: 0.5, Status: outcome.Converged}, solved: outcome.Converged, bound: 2},
		"just":             {result: iterdiff.Result{Gap: 1e-6, Change: 0.25, Status: outcome.Budget}, solved: outcome.Converged, bound: 1},
		"not by the gap":   {result: iterdiff.Result{Gap: 1.5e-6, Status: outcome.Budget}, solved: outcome.Budget},
		"by the iterates":  {result: iterdiff.Result{Gap: 1e-8, Change: 1, Status: outcome.Budget}, solved: outcome.Converged, bound: 4},
		"no gap":           {result: iterdiff.Result{Gap: math.NaN(), Status: outcome.NotConverged}, solved: outcome.NotConverged},
		"its tolerance":    {result: iterdiff.Result{Gap: 1e-3, Status: outcome.Budget}, options: cd.Options{Tol: 1e-2, MaxEpochs: 9}, solved: outcome.Converged},
		"by column":        {result: iterdiff.Result{Status: outcome.Converged}, each: true, solved: outcome.Converged},
		"as many columns":  {result: iterdiff.Result{Status: outcome.Converged}, options: cd.Options{MaxSupport: 3}, solved: outcome.Converged},
		"too many columns": {result: iterdiff.Result{Status: outcome.Converged}, options: cd.Options{MaxSupport: 2}, kind: outcome.Limit},
		"one too many":     {result: iterdiff.Result{Status: outcome.Converged}, options: cd.Options{MaxSupport: 1}, kind: outcome.Limit},
		"an error":         {err: failed},
		"broken":           {broken: broken, err: broken},
	} {
		c.result.Value, c.result.Gradient, c.result.Support, c.result.KKT, c.result.Epochs = 3, []float64{1, -4, 2}, []int32{1, 4, 6}, 0.125, 11
		l := &iteratedLane{method: iterdiff.BackwardPGD, perColumn: c.each}
		l.failure = c.broken
		var asked iterdiff.Options
		l.iterate = func(_ context.Context, _ []float64, o iterdiff.Options) (*iterdiff.Result, error) {
			asked = o
			if c.err != nil && c.broken == nil {
				return nil, c.err
			}
			return &c.result, nil
		}
		err := l.solve(t.Context(), &LaneRequest{}, c.options)
		if c.err != nil || c.kind != "" {
			if c.err != nil && !errors.Is(err, c.err) || c.kind != "" && outcome.KindOf(err) != c.kind {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		tol := c.options.Tol
		if tol == 0 {
			tol = 1e-6
		}
		if asked.Tol != tol || asked.MaxEpochs != c.options.MaxEpochs || asked.Method != iterdiff.BackwardPGD {
			t.Errorf("%s: asked for %+v", name, asked)
		}
		var columns []int32
		if c.each {
			columns = c.result.Support
		}
		if l.Value != 3 || len(l.Gradient) != 3 || !slices.Equal(l.Columns, columns) || l.Solved.Status != c.solved || l.Solved.Support != 3 || l.Solved.KKT != 0.125 || l.Solved.Epochs != 11 ||
			!(l.Solved.RelativeGap == c.result.Gap || math.IsNaN(c.result.Gap)) {
			t.Errorf("%s: %+v", name, l.LaneResult)
		}
		if l.Derived.ErrorBound != c.bound || l.Derived.Status != c.result.Status || !math.IsNaN(l.Derived.InjectivityMargin) {
			t.Errorf("%s: %+v", name, l.Derived)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	l := &iteratedLane{iterate: func(context.Context, []float64, iterdiff.Options) (*iterdiff.Result, error) {
		return &iterdiff.Result{Status: outcome.Cancelled}, nil
	}}
	if err := l.solve(ctx, &LaneRequest{}, cd.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
