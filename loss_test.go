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
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
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

// TestALossOfOnesOwn checks that a mean squared error written by a user has the value and slope of the
// built-in one, and that the gradient of a criterion that is not a mean over rows agrees with finite
// differences.
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

// named is the mean squared error under a name that pare does not know, with all of its optional methods.
type named struct{ criterion.MeanSquaredError }

// TestALossWithCurvatureOfItsOwn checks that a user's loss with second derivatives is searched like the
// built-in one. Without them the search first uses the same fraction of αmax for every λ.
func TestALossWithCurvatureOfItsOwn(t *testing.T) {
	x, y, err := diabetes()
	if err != nil {
		t.Fatal(err)
	}
	choose := func(loss criterion.Criterion) *pare.Selection {
		s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: pare.Validation{InOrder: true, Loss: loss}}, pare.Config{Model: pare.ElasticNet, Offset: make([]float64, len(y))}) // an offset selects X itself, as other losses do
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

// TestHostileLosses checks that a criterion which misbehaves ends the search but does not lose the evaluations
// made before, whatever the method, and that the search can be resumed once the criterion behaves.
func TestHostileLosses(t *testing.T) {
	x, y, err := diabetes()
	if err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	ended := []outcome.Status{outcome.Stationary, outcome.Kink, outcome.Box, outcome.Budget, outcome.Converged, outcome.NullModel, outcome.Exhausted}
	for name, c := range map[string]struct {
		after  func(slope []float64, cancel func()) float64 // the value that the criterion returns from the third evaluation on
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
		for k, method := range pare.Searches() {
			for j, model := range []pare.Model{pare.Lasso, pare.ElasticNet} {
				if !oracle.Turn(k+2*j, 1) {
					continue
				}
				name := fmt.Sprintf("%s, %s, %s", name, method, model)
				ctx, cancel := context.WithCancel(context.Background())
				calls, evaluations, behaves := 0, 0, false // one call for the null model and one per evaluation
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
	// If the first call already fails, there is nothing to return.
	never := pare.Validation{InOrder: true, Loss: criterion.Func("never", func(_, _, _ []float64) float64 { panic(boom) })}
	if _, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: never}, pare.Config{}); !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
	gone := pare.Validation{InOrder: true, Loss: criterion.Func("gone", func(_, _, _ []float64) float64 { runtime.Goexit(); return 0 })}
	if _, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: gone}, pare.Config{}); outcome.KindOf(err) != outcome.Internal {
		t.Errorf("a criterion that ends its goroutine: %v", err)
	}
	for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		constant := pare.Validation{InOrder: true, Loss: criterion.Func("constant", func(_, _, _ []float64) float64 { return value })}
		for _, method := range pare.Searches() {
			if s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Search: method, Validation: constant, Evaluations: 3}, pare.Config{}); s != nil || outcome.KindOf(err) != outcome.NonFinite {
				t.Errorf("%s of %g: %v, %v", method, value, s, err)
			}
		}
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

// TestNothingBehindALoss checks that a nil pointer or function is refused by name, and that weights for the
// wrong number of rows are refused.
func TestNothingBehindALoss(t *testing.T) {
	x, y, err := diabetes()
	if err != nil {
		t.Fatal(err)
	}
	of := func(judge criterion.Criterion, judged loss.Loss) error {
		_, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Validation: pare.Validation{Loss: judge}}, pare.Config{Loss: judged})
		return err
	}
	mse := criterion.MeanSquaredError{}
	for name, c := range map[string]struct {
		err  error
		kind outcome.Kind
		flag string
	}{
		"loss":             {of(nil, (*absent)(nil)), outcome.BadParameter, "loss"},
		"one of ours":      {of(nil, (*loss.Huber)(nil)), outcome.BadParameter, "loss"},
		"criterion":        {of((*unknown)(nil), nil), outcome.BadParameter, "validation-loss"},
		"function":         {of(criterion.Func("no function", nil), nil), outcome.BadParameter, "validation-loss"},
		"weighted":         {of(criterion.Weighted{Weights: y}, nil), outcome.BadParameter, "validation-loss"},
		"weighted pointer": {of(criterion.Weighted{Criterion: (*unknown)(nil)}, nil), outcome.BadParameter, "validation-loss"},
		"weights":          {of(criterion.Weighted{Criterion: mse, Weights: y[1:]}, nil), outcome.Shape, "validation-loss"},
		"no weights":       {of(criterion.Weighted{Criterion: mse, Weights: []float64{}}, nil), outcome.Shape, "validation-loss"},
	} {
		e, ok := errors.AsType[*outcome.Error](c.err)
		if !ok || e.Kind != c.kind || e.Flag != c.flag {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	if err := of(criterion.Weighted{Criterion: mse, Weights: slices.Repeat([]float64{2}, len(y))}, nil); err != nil {
		t.Error(err)
	}
}

// goldenFamily is a row of testdata/golden/families.jsonl.
type goldenFamily struct{ fixture.Family }

func (g goldenFamily) config() pare.Config {
	c := pare.Config{Tol: 1e-12, NoIntercept: !g.Intercept, Standardize: g.Standardize}
	c.Balanced = g.ClassWeight == "balanced"
	if g.Penalty == "" { // support vectors
		c.Model = pare.Model(g.Datafit)
		c.Intercept = g.Intercept && c.Model == pare.SVM
		c.NoIntercept = c.NoIntercept && c.Model != pare.SVM
		return c
	}
	c.Model = map[string]pare.Model{"l1": pare.Lasso, "enet": pare.ElasticNet, "ridge": pare.Ridge}[g.Penalty]
	for _, l := range loss.All() {
		if l.Name() == g.Datafit {
			c.Loss = l
		}
	}
	switch l := c.Loss.(type) {
	case loss.Huber: // otherwise δ is 1.345·1.4826 deviations
		if delta, ok := g.Delta.(float64); ok {
			c.Loss = loss.Huber{Delta: delta}
		}
	case loss.Tweedie:
		l.Power = g.Power
		c.Loss = l
	}
	return c
}

// TestGoldenFamilies checks αmax, values, hypergradients and the solution of the first fold against an
// independent computation, to 1e-9 and 1e-7.
func TestGoldenFamilies(t *testing.T) {
	rows := fixture.Golden[goldenFamily](t, "testdata/golden/families.jsonl")
	if len(rows) != 24 {
		t.Fatalf("%d rows", len(rows))
	}
	for k, row := range rows {
		if oracle.Turn(k, 1) {
			t.Run(row.String(), row.test)
		}
	}
}

func (g goldenFamily) test(t *testing.T) {
	ctx := context.Background()
	x, y := g.Problem(t, "../shared/data/")
	c := g.config()
	v := pare.Validation{InOrder: true, Loss: criterion.Named(g.Loss), Folds: g.Folds}
	if c.Loss != nil && criterion.Deviance(c.Loss).Name() == g.Loss {
		v.Loss = criterion.Deviance(c.Loss)
	}
	first := make([]float64, len(y)) // the weights that select the training rows of the first fold
	for i := range y {
		if first[i] = g.Weight(i); g.Weights != "" {
			c.Weights = append(c.Weights, first[i])
		}
		if g.Offset != "" {
			c.Offset = append(c.Offset, math.Log(1+float64(i%4)/4))
		}
		held := g.Split == "cv" && i%g.Folds == 0
		if g.Split == "holdout" {
			held = i%3 == 2
			v.Criterion, v.FoldIDs = pare.HoldOut, append(v.FoldIDs, map[bool]int{true: 0, false: -1}[held])
		}
		if held {
			first[i] = 0
		}
	}
	if _, p := x.Dims(); g.Factors != "" { // the first column is neither penalised nor bounded
		for j := range p {
			c.PenaltyFactors = append(c.PenaltyFactors, 1+float64(j%3)/2)
			c.Lower, c.Upper = append(c.Lower, g.Lower), append(c.Upper, g.Upper)
		}
		c.PenaltyFactors[0], c.Lower[0], c.Upper[0] = 0, math.Inf(-1), math.Inf(1)
	}
	near := func(what string, got, want, tol float64) {
		t.Helper()
		if !(math.Abs(got-want) <= tol*math.Abs(want)) {
			t.Errorf("%s %.15g, want %.15g", what, got, want)
		}
	}
	if g.Penalty == "l1" || g.Penalty == "enet" { // for other penalties αmax is defined differently
		top, err := pare.LogLambdaMax(x, y, c)
		if err != nil {
			t.Fatal(err)
		}
		near("αmax", math.Exp(top[0]), g.AlphaMax, 1e-12)
	}
	got, err := pare.Gradient(ctx, x, y, g.LogLambda, v, c)
	if err != nil {
		t.Fatal(err)
	}
	near("value", got.Value, g.Value, 1e-9)
	largest := 0.0
	for _, want := range g.Gradient {
		largest = max(largest, math.Abs(want))
	}
	for i, want := range g.Gradient {
		if d := math.Abs(got.Gradient[i] - want); !(d <= 1e-7*largest) {
			t.Errorf("gradient %g, want %g", got.Gradient, g.Gradient)
		}
	}
	c.Weights, c.Tol = first, 1e-15 // a gap determines coefficients only to its square root
	f, err := pare.Fit(ctx, x, y, g.LogLambda, c)
	if err != nil {
		t.Fatal(err)
	}
	near("objective", f.Objective, g.Info[0].Objective, 1e-11)
	if g.Info[0].Null != 0 { // the loss of the intercept alone
		bare := f
		if c.PenaltyFactors != nil {
			null, err := pare.Fit(ctx, x, y, []float64{math.Log(g.AlphaMax) + 1}, c)
			if err != nil {
				t.Fatal(err)
			}
			near("P₀ with the first column", f.Gap/f.RelativeGap, null.Objective, 1e-9)
			c.PenaltyFactors = nil
			if bare, err = pare.Fit(ctx, x, y, g.LogLambda, c); err != nil {
				t.Fatal(err)
			}
		}
		near("P₀", bare.Gap/bare.RelativeGap, g.Info[0].Null, 1e-9)
	}
	if g.Standardize || g.Penalty == "" || len(g.Coef.Index) < len(f.Support) { // coefficients are of scaled columns, or only the first 60 are stored
		return
	}
	near("intercept", f.Intercept, g.Info[0].B, 1e-8)
	if len(f.Support) != len(g.Coef.Index) {
		t.Fatalf("support %v, want %v", f.Support, g.Coef.Index)
	}
	var off float64 // from ‖β − β̂‖² ≤ 2·gap/α₂
	if g.Penalty != "l1" {
		off = math.Sqrt(2 * f.Gap / math.Exp(g.LogLambda[len(g.LogLambda)-1]))
	}
	for k, j := range g.Coef.Index {
		if f.Support[k] != j {
			t.Fatalf("support %v, want %v", f.Support, g.Coef.Index)
		}
		if d := math.Abs(f.Coef[k] - g.Coef.Value[k]); !(d <= 1e-7*math.Abs(g.Coef.Value[k])+off) {
			t.Errorf("coefficient %.15g, want %.15g to %g", f.Coef[k], g.Coef.Value[k], off)
		}
	}
}

// TestLossesAreChosenWell checks that, with an ℓ1 strength, the default search comes within a thousandth of
// the best of 200 strengths.
func TestLossesAreChosenWell(t *testing.T) {
	ctx := context.Background()
	for i, l := range loss.All() {
		if !oracle.Turn(i, 3) {
			continue
		}
		x, y := diabetesFor(t, l)
		c, v := pare.Config{Loss: l}, pare.Validation{InOrder: true}
		s, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: v}, c)
		if err != nil || s.Final == nil || !s.Status.OK() {
			t.Fatalf("%s: %+v, %v", l.Name(), s, err)
		}
		top := lambdaMax(t, x, y, c)
		var grid [][]float64
		for k := range 200 {
			grid = append(grid, []float64{top - 9*float64(k)/199})
		}
		best := math.Inf(1)
		for e, err := range pare.Validate(ctx, x, y, grid, v, c) {
			if err != nil {
				t.Fatal(err)
			}
			best = min(best, e.Value)
		}
		if s.Value > best*(1+1e-3) || len(s.Evaluations) > 20 {
			t.Errorf("%s: %g after %d evaluations, %g on the grid", l.Name(), s.Value, len(s.Evaluations), best)
		}
	}
}
