package pare_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
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
		want, err := pare.Gradient(ctx, x, y, at, pare.Validation{InOrder: true}, c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pare.Gradient(ctx, x, y, at, pare.Validation{InOrder: true, Loss: criterion.Func("own", squares)}, c)
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
		s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: pare.Validation{InOrder: true, Loss: loss}}, pare.Config{Model: pare.ElasticNet})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want, got := choose(nil), choose(named{})
	if !slices.Equal(got.LogLambda, want.LogLambda) || len(got.Evaluations) != len(want.Evaluations) || got.Common != nil {
		t.Errorf("%v after %d, the model's own %v after %d", got.LogLambda, len(got.Evaluations), want.LogLambda, len(want.Evaluations))
	}
}

// A criterion that misbehaves costs what comes after, not what came before, by every
// method; and a search that it broke off is resumed when it behaves.
func TestHostileLosses(t *testing.T) {
	x, y, err := diabetes()
	if err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	ended := []outcome.Status{outcome.Stationary, outcome.Kink, outcome.Box, outcome.Budget, outcome.Converged, outcome.NullModel, outcome.Exhausted}
	for name, c := range map[string]struct {
		after  func(slope []float64, cancel func()) float64 // what it returns from the third evaluation on
		status []outcome.Status
	}{
		"NaN":  {func([]float64, func()) float64 { return math.NaN() }, ended},
		"+Inf": {func([]float64, func()) float64 { return math.Inf(1) }, ended},
		"−Inf": {func([]float64, func()) float64 { return math.Inf(-1) }, ended},
		"slope": {func(s []float64, _ func()) float64 {
			if s != nil {
				s[0] = math.NaN()
			}
			return 1e9
		}, ended},
		"panic":  {func([]float64, func()) float64 { panic(boom) }, []outcome.Status{outcome.Failed}},
		"exit":   {func([]float64, func()) float64 { runtime.Goexit(); return 0 }, []outcome.Status{outcome.Failed}},
		"cancel": {func(_ []float64, cancel func()) float64 { cancel(); return 1 }, []outcome.Status{outcome.Cancelled}},
	} {
		for _, method := range pare.Searches() {
			for _, model := range []pare.Model{pare.Lasso, pare.ElasticNet} {
				name := fmt.Sprintf("%s, %s, %s", name, method, model)
				ctx, cancel := context.WithCancel(context.Background())
				calls, evaluations, behaves := 0, 0, false // one call for the null model, and one an evaluation
				o := pare.SelectOptions{
					Search: method, Evaluations: 12, Log: search.NewLog(""),
					Progress: func(search.Evaluation) { evaluations++ },
					Validation: pare.Validation{Criterion: pare.HoldOut, Loss: criterion.Func("hostile", func(y, m, slope []float64) float64 {
						value := squares(y, m, slope)
						if calls++; calls > 3 && !behaves {
							return c.after(slope, cancel)
						}
						return value
					})},
				}
				if method == pare.Grid {
					o.Evaluations = 0
					o.Points = 12
				}
				s, err := pare.Select(ctx, x, y, o, pare.Config{Model: model, Threads: 1})
				cancel()
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				broken := s.Status == outcome.Failed && outcome.KindOf(s.Err) == outcome.NonFinite && c.status[0] == outcome.Stationary
				if !slices.Contains(c.status, s.Status) && !broken || (s.Final == nil) != (s.Status == outcome.Cancelled) || math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
					t.Errorf("%s: status %s, value %g, %v", name, s.Status, s.Value, s.Err)
				}
				for _, e := range s.Evaluations[:min(2, len(s.Evaluations))] {
					if e.Final && e.Value < s.Value {
						t.Errorf("%s: %g was seen, %g is returned", name, e.Value, s.Value)
					}
				}
				if s.Status == outcome.Failed && !broken && outcome.KindOf(s.Err) != outcome.Internal || name == "panic" && !errors.Is(s.Err, boom) {
					t.Errorf("%s: %v", name, s.Err)
				}
				if broken || s.Status != outcome.Failed && s.Status != outcome.Cancelled {
					continue
				}
				behaves = true
				done := len(s.Evaluations)
				again, err := pare.Select(context.Background(), x, y, o, pare.Config{Model: model, Threads: 1})
				if err != nil || !slices.Contains(ended, again.Status) || evaluations != len(again.Evaluations) || !reflect.DeepEqual(again.Evaluations[:done], s.Evaluations) {
					t.Errorf("%s, resumed: %v, %s after %d, %d of them asked, %d before", name, err, again.Status, len(again.Evaluations), evaluations, done)
				}
			}
		}
	}
	// From the first call on there is nothing to return.
	never := pare.Validation{InOrder: true, Loss: criterion.Func("never", func(_, _, _ []float64) float64 { panic(boom) })}
	if _, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: never}, pare.Config{}); !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
	gone := pare.Validation{InOrder: true, Loss: criterion.Func("gone", func(_, _, _ []float64) float64 { runtime.Goexit(); return 0 })}
	if _, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: gone}, pare.Config{}); outcome.KindOf(err) != outcome.Internal {
		t.Errorf("a criterion that ends its goroutine: %v", err)
	}
	for _, v := range []pare.Validation{{Loss: never.Loss, Criterion: pare.SURE}} {
		if _, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: v}, pare.Config{}); err == nil {
			t.Errorf("%+v is accepted", v)
		}
	}
	bad := pare.Validation{InOrder: true, Loss: criterion.Func("nan", func(_, _, s []float64) float64 { return math.NaN() })}
	g, err := pare.Gradient(context.Background(), x, y, []float64{-2}, bad, pare.Config{})
	if err != nil || g.Status != outcome.Failed {
		t.Errorf("%v, %v", g, err)
	}
}
