package pare_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

func squares(y, m, slope []float64) (value float64) {
	for i, t := range y {
		d := m[i] - t
		value += d * d / float64(len(y))
		if slope != nil {
			slope[i] = 2 * d / float64(len(y))
		}
	}
	return value
}

// A user's mean squared error is ours, value and slope; and a criterion that is not a
// mean over rows has the gradient that differences say.
func TestALossOfOnesOwn(t *testing.T) {
	x, y, err := diabetes()
	if err != nil {
		t.Fatal(err)
	}
	ctx, at := context.Background(), []float64{-2}
	for _, model := range []pare.Model{pare.Lasso, pare.ElasticNet} {
		c := pare.Config{Model: model, Tol: 1e-10}
		if model == pare.ElasticNet {
			at = []float64{-2, -6}
		}
		want, err := pare.Gradient(ctx, x, y, at, pare.Validation{}, c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pare.Gradient(ctx, x, y, at, pare.Validation{Loss: criterion.Func("own", squares)}, c)
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range got.Gradient {
			if math.Abs(got.Value/want.Value-1) > 1e-12 || math.Abs(g/want.Gradient[i]-1) > 1e-9 {
				t.Errorf("%s: %g %v, want %g %v", model, got.Value, got.Gradient, want.Value, want.Gradient)
			}
		}
	}
	own := pare.Validation{Loss: criterion.Func("root", func(y, m, slope []float64) float64 {
		root := math.Sqrt(squares(y, m, slope))
		for i := range slope {
			slope[i] /= 2 * root
		}
		return root
	})}
	value := func(l float64) float64 {
		g, err := pare.Gradient(ctx, x, y, []float64{l}, own, pare.Config{Tol: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		return g.Value
	}
	g, err := pare.Gradient(ctx, x, y, []float64{-2}, own, pare.Config{Tol: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	if want := (value(-2+1e-5) - value(-2-1e-5)) / 2e-5; math.Abs(g.Gradient[0]-want) > 1e-5*math.Abs(want) {
		t.Errorf("slope %g, by differences %g", g.Gradient[0], want)
	}
	s, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: own}, pare.Config{})
	if err != nil || !s.Status.OK() || s.Final == nil {
		t.Errorf("%+v, %v", s, err)
	}
}

// named is a loss that pare does not know, with all that its own has to say.
type named struct{ criterion.MeanSquaredError }

// A loss that tells its second derivatives is searched like the model's own; without them
// the search begins with one share of αmax.
func TestALossWithCurvatureOfItsOwn(t *testing.T) {
	x, y, err := diabetes()
	if err != nil {
		t.Fatal(err)
	}
	choose := func(loss criterion.Criterion) *pare.Selection {
		s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: pare.Validation{Loss: loss}}, pare.Config{Model: pare.ElasticNet})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want, got, without := choose(nil), choose(named{}), choose(criterion.Func("squares", squares))
	if !slices.Equal(got.LogLambda, want.LogLambda) || len(got.Evaluations) != len(want.Evaluations) || got.Common != nil {
		t.Errorf("%v after %d, the model's own %v after %d", got.LogLambda, len(got.Evaluations), want.LogLambda, len(want.Evaluations))
	}
	if without.Common == nil {
		t.Error("a function of the value and the slope has no curvature")
	}
}

// A criterion that misbehaves costs what comes after, not what came before.
func TestHostileLosses(t *testing.T) {
	x, y, err := diabetes()
	if err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for name, c := range map[string]struct {
		after  func(slope []float64) float64 // what it returns from the third evaluation on
		status []outcome.Status
	}{
		"NaN":    {func([]float64) float64 { return math.NaN() }, []outcome.Status{outcome.Stationary, outcome.Kink, outcome.Budget}},
		"+Inf":   {func([]float64) float64 { return math.Inf(1) }, []outcome.Status{outcome.Stationary, outcome.Kink, outcome.Budget}},
		"−Inf":   {func([]float64) float64 { return math.Inf(-1) }, []outcome.Status{outcome.Stationary, outcome.Kink, outcome.Budget}},
		"slope":  {func(s []float64) float64 { s[0] = math.NaN(); return 1e9 }, []outcome.Status{outcome.Stationary, outcome.Kink, outcome.Budget}},
		"panic":  {func([]float64) float64 { panic(boom) }, []outcome.Status{outcome.Failed}},
		"cancel": {func([]float64) float64 { cancel(); return 1 }, []outcome.Status{outcome.Cancelled}},
	} {
		for _, method := range []pare.Search{pare.Auto, pare.GradientStep, pare.LineSearch, pare.LBFGS, pare.Adam} {
			evaluations := 0
			o := pare.SelectOptions{
				Search: method, Evaluations: 12, Schedule: search.Exact,
				Progress: func(search.Evaluation) { evaluations++ },
				Validation: pare.Validation{Criterion: pare.HoldOut, Loss: criterion.Func(name, func(y, m, slope []float64) float64 {
					value := squares(y, m, slope)
					if evaluations >= 2 && slope != nil {
						return c.after(slope)
					}
					return value
				})},
			}
			within := context.Background()
			if name == "cancel" {
				within = ctx
				if method != pare.Auto {
					continue
				}
			}
			s, err := pare.Select(within, x, y, o, pare.Config{})
			if err != nil {
				t.Errorf("%s, %s: %v", name, method, err)
				continue
			}
			known := false
			for _, status := range c.status {
				known = known || s.Status == status
			}
			if !known || s.Final == nil || math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
				t.Errorf("%s, %s: status %s, value %g", name, method, s.Status, s.Value)
			}
			for _, e := range s.Evaluations[:min(2, len(s.Evaluations))] {
				if e.Value < s.Value {
					t.Errorf("%s, %s: %g was seen, %g is returned", name, method, e.Value, s.Value)
				}
			}
			if name == "panic" && !errors.Is(s.Err, boom) {
				t.Errorf("%s: %v", method, s.Err)
			}
		}
	}
	// From the first call on there is nothing to return.
	never := pare.Validation{Loss: criterion.Func("never", func(_, _, _ []float64) float64 { panic(boom) })}
	if _, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: never}, pare.Config{}); !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
	for _, v := range []pare.Validation{{Loss: never.Loss, Criterion: pare.SURE}} {
		if _, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: v}, pare.Config{}); err == nil {
			t.Errorf("%+v is accepted", v)
		}
	}
	bad := pare.Validation{Loss: criterion.Func("nan", func(_, _, s []float64) float64 { return math.NaN() })}
	g, err := pare.Gradient(context.Background(), x, y, []float64{-2}, bad, pare.Config{})
	if err != nil || g.Status != outcome.Failed {
		t.Errorf("%v, %v", g, err)
	}
}
