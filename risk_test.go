package pare_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestInformationCriteria checks the slopes of SURE, AIC and BIC against finite differences, their minima, and that AIC
// is SURE in other units.
func TestInformationCriteria(t *testing.T) {
	x, y := load(t)
	ctx := context.Background()
	top := lambdaMax(t, x, y, pare.Config{})
	at := func(v pare.Validation, l float64) *pare.Hypergradient {
		g, err := pare.Gradient(ctx, x, y, []float64{l}, v, pare.Config{Tol: 1e-13})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for _, c := range []pare.Criterion{pare.SURE, pare.AIC, pare.BIC} {
		v := pare.Validation{Criterion: c, Sigma: 54, Seed: 3}
		const h = 1e-5
		g, want := at(v, top-2), (at(v, top-2+h).Value-at(v, top-2-h).Value)/(2*h)
		if g.Status != outcome.Converged || g.Sigma != 54 || math.Abs(g.Gradient[0]-want) > 1e-6*math.Abs(want) {
			t.Errorf("%s: %+v, differences %g", c, g, want)
		}
		s, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: v}, pare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if !s.Status.OK() || s.Value >= s.NullValue || s.Sigma != 54 {
			t.Errorf("%s: %+v", c, s)
		}
	}
	sure, aic := at(pare.Validation{Criterion: pare.SURE, Sigma: 54}, top-3), at(pare.Validation{Criterion: pare.AIC, Sigma: 54}, top-3)
	if want := sure.Value/(54*54) + float64(len(y)); math.Abs(aic.Value-want) > 1e-9*want {
		t.Errorf("AIC %g, SURE/σ² + n = %g", aic.Value, want)
	}
}

// TestRiskOfColumns checks SURE, AIC and BIC with one λ per column: they end below the best value of a common λ, within
// their box, with the slope of the values, and copies of a column share a λ.
func TestRiskOfColumns(t *testing.T) {
	ctx := context.Background()
	r := oracle.NewRandom(12)
	q := r.Problem(oracle.Shape{N: 80, P: 12, Active: 6, Noise: 1})
	copied := q.Clone()
	for i, row := range q.X {
		copied.X[i] = append(slices.Clone(row), -row[1])
	}
	for _, c := range []pare.Criterion{pare.SURE, pare.AIC, pare.BIC} {
		for _, config := range []pare.Config{{}, {NoIntercept: true, Standardize: true}, {Positive: true}} {
			config.Model, config.Tol = pare.WeightedLasso, 1e-13
			v := pare.Validation{Criterion: c, Sigma: 1, Seed: 5}
			x := matrixOf(t, q.X, 12, false)
			s, err := pare.Select(ctx, x, q.Y, pare.SelectOptions{Validation: v}, config)
			if err != nil {
				t.Fatal(err)
			}
			least := 0.0 // the least gain; under β ≥ 0 no single λ is worth moving here
			if config.Positive {
				least = -1e-12 * s.NullValue
			}
			if !s.Status.OK() && s.Status != outcome.Budget || s.Common == nil || !(s.Common.Value-s.Value >= least && s.Common.Value < s.NullValue) || s.Tested || len(s.LogLambda) != 12 {
				t.Errorf("%s, %+v: %+v", c, config, s)
			}
			for j, l := range s.LogLambda {
				if away := math.Abs(l - s.Common.LogLambda[j]); away > 2+1e-12 {
					t.Errorf("%s, %+v: λ%d is %g from the common one", c, config, j, away)
				}
				at := func(h float64) *pare.Hypergradient {
					moved := slices.Clone(s.LogLambda)
					moved[j] += h
					g, err := pare.Gradient(ctx, x, q.Y, moved, v, config)
					if err != nil {
						t.Fatal(err)
					}
					return g
				}
				const h = 1e-5
				if want := (at(h).Value - at(-h).Value) / (2 * h); math.Abs(s.Gradient[j]-want) > 1e-5*math.Abs(s.NullValue) {
					t.Errorf("%s, %+v: slope %d is %g, by differences %g", c, config, j, s.Gradient[j], want)
				}
			}
			if config.Positive {
				continue // under β ≥ 0 a column and its negative are not copies
			}
			config.Tol = 0
			s, err = pare.Select(ctx, matrixOf(t, copied.X, 13, false), q.Y, pare.SelectOptions{Validation: v}, config)
			if err != nil {
				t.Fatal(err)
			}
			if s.LogLambda[1] != s.LogLambda[12] || s.Gradient[1] != s.Gradient[12] {
				t.Errorf("%s, %+v: copies have λ %g and %g, %s", c, config, s.LogLambda[1], s.LogLambda[12], s.Status)
			}
		}
	}
}

// TestRiskHasNoSplit checks that SURE, AIC and BIC, which use all rows, refuse options for held-out rows and test rows
// by name before any work.
func TestRiskHasNoSplit(t *testing.T) {
	x, y := load(t)
	ids := make([]int, len(y))
	ids[3] = -2
	for flag, v := range map[string]pare.Validation{
		"fold-ids": {FoldIDs: ids}, "folds": {Folds: 5}, "split": {Split: pare.Stratified}, "in-order": {InOrder: true},
		"groups": {Groups: ids}, "validation-loss": {Loss: criterion.MeanSquaredError{}},
	} {
		for _, c := range []pare.Criterion{pare.SURE, pare.AIC, pare.BIC} {
			for _, m := range []pare.Model{pare.Lasso, pare.WeightedLasso} {
				v.Criterion = c
				_, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: v}, pare.Config{Model: m})
				if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != outcome.Usage || e.Flag != flag {
					t.Errorf("%s of %s with %s: %v", c, m, flag, err)
				}
			}
		}
	}
}

// TestNoiseLevel checks that the estimated noise level is the residual standard deviation of a Lasso chosen by
// cross-validation, and that models of other losses have no estimate.
func TestNoiseLevel(t *testing.T) {
	x, y := load(t)
	ctx := context.Background()
	g, err := pare.Gradient(ctx, x, y, []float64{-1}, pare.Validation{Criterion: pare.SURE, Seed: 7}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: pare.Validation{Seed: 7}}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	q := problemOf(x, y, true)
	_, p := x.Dims()
	beta := make([]float64, p)
	for k, j := range s.Final.Support {
		beta[j] = s.Final.Coef[k]
	}
	var square float64
	for _, r := range q.Residual(beta, s.Final.Intercept) {
		square += r * r
	}
	if want := math.Sqrt(square / float64(len(y)-len(s.Final.Support)-1)); math.Abs(g.Sigma-want) > 1e-9*want {
		t.Errorf("σ = %.12g, want %.12g", g.Sigma, want)
	}
	still, err := sparse.NewDense(4, 1, []float64{3, 3, 3, 3})
	if err != nil {
		t.Fatal(err)
	}
	g, err = pare.Gradient(ctx, still, []float64{1, 2, 4, 5}, []float64{0}, pare.Validation{Criterion: pare.SURE}, pare.Config{})
	if want := math.Sqrt(10. / 3); err != nil || math.Abs(g.Sigma-want) > 1e-12 {
		t.Errorf("σ without a column of use: %+v, want %g; %v", g, want, err)
	}
	px, py := patients(t)
	for _, m := range []pare.Model{pare.Logistic, pare.SVM, pare.Multiclass} {
		if _, err := pare.Select(ctx, px, py, pare.SelectOptions{Validation: pare.Validation{Criterion: pare.SURE}}, pare.Config{Model: m}); outcome.KindOf(err) != outcome.Usage {
			t.Errorf("SURE of %s: %v", m, err)
		}
	}
	if _, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: pare.Validation{InOrder: true, Criterion: "tea"}}, pare.Config{}); outcome.KindOf(err) != outcome.Usage {
		t.Errorf("an unknown criterion: %v", err)
	}
	for _, sigma := range []float64{-1, math.NaN(), math.Inf(1), 1e-300, 1e-160, 1e-12, 1e160, 1e300} { // targets are at most 346
		if _, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: pare.Validation{Criterion: pare.AIC, Sigma: sigma}}, pare.Config{}); outcome.KindOf(err) != outcome.BadParameter {
			t.Errorf("σ = %g: %v", sigma, err)
		}
	}
}

// TestNoiseLevelTakesOffThePenalty checks that twice the penalty factors at half the λ give the same noise level, since
// they define the same Lasso with the same residuals.
func TestNoiseLevelTakesOffThePenalty(t *testing.T) {
	x, y := load(t)
	_, p := x.Dims()
	level := func(factor float64) float64 {
		f := slices.Repeat([]float64{factor}, p)
		f[2], f[3] = 3*factor, math.Inf(1)
		g, err := pare.Gradient(t.Context(), x, y, []float64{-1 - math.Log(factor)}, pare.Validation{Criterion: pare.AIC}, pare.Config{PenaltyFactors: f})
		if err != nil {
			t.Fatal(err)
		}
		return g.Sigma
	}
	if one, two := level(1), level(2); !(math.Abs(one-two) <= 1e-9*one) {
		t.Errorf("σ = %.12g, with twice the factors %.12g", one, two)
	}
}

// TestStoppedWhileTheNoiseIsEstimated checks that a selection stopped during the noise estimate returns a search
// without an evaluation, whatever stops it.
func TestStoppedWhileTheNoiseIsEstimated(t *testing.T) {
	x, y := load(t)
	stop := make(chan struct{})
	close(stop)
	for _, m := range []pare.Model{pare.Lasso, pare.ElasticNet, pare.WeightedLasso, pare.Ridge} {
		for status, o := range map[outcome.Status]pare.SelectOptions{outcome.Cancelled: {Stop: stop}, outcome.Budget: {MaxDuration: 1}} {
			o.Validation.Criterion = pare.SURE
			s, err := pare.Select(t.Context(), x, y, o, pare.Config{Model: m})
			if err != nil {
				t.Errorf("%s, %s: %v", m, status, err)
			} else if s.LogLambda != nil || s.Status != status || outcome.KindOf(s.Err) != outcome.Limit || s.Final != nil || !math.IsNaN(s.Value) {
				t.Errorf("%s, %s: %+v", m, status, s)
			}
		}
	}
}

// TestGCVOnSeparableClassesEnds checks that a search ends although GCV has no minimum on separable classes: the path
// ends where no further gain is possible.
func TestGCVOnSeparableClassesEnds(t *testing.T) {
	x, y := few(t, 3, 40, 200, 2)
	for _, m := range []pare.Model{pare.Logistic, pare.SquaredHinge} {
		s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Validation: pare.Validation{Criterion: pare.GCV}}, pare.Config{Model: m})
		if err != nil {
			t.Fatalf("%s: %v", m, err)
		}
		if n := len(s.Evaluations); n > 40 || s.LogLambda[0] < s.LogLambdaMax[0]-10 {
			t.Errorf("%s: %d evaluations, down to λ = %g below ln αmax", m, n, s.LogLambdaMax[0]-s.LogLambda[0])
		}
	}
}

// TestLeftOutOfManyRowsGoesBySlopes checks that, with at least a hundred times p² rows, degrees of freedom do not limit
// a search to short steps, and that its result is as good as the best of a fine grid.
func TestLeftOutOfManyRowsGoesBySlopes(t *testing.T) {
	q := oracle.NewRandom(8).Problem(oracle.Shape{N: 2600, P: 5, Mean: 1, Correlation: 0.6, Active: 3, Noise: 4})
	x := fixture.Matrix(t, q, true)
	for _, m := range []pare.Model{pare.Lasso, pare.Logistic} {
		y := q.Y
		if m == pare.Logistic {
			y = make([]float64, len(q.Y))
			for i, v := range q.Y {
				y[i] = math.Copysign(1, v-q.Y[0])
			}
		}
		for _, by := range []pare.Criterion{pare.ALO, pare.GCV} {
			s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Validation: pare.Validation{Criterion: by}}, pare.Config{Model: m})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(s.Evaluations); n > 15 {
				t.Errorf("%s, %s: %d evaluations", m, by, n)
			}
			if least, spread := leastLeftOut(t, x, y, by, pare.Config{Model: m}, 80); !(s.Value <= least+0.05*spread) {
				t.Errorf("%s, %s: %g at ln αmax − %g, %g ± %g on a grid", m, by, s.Value, s.LogLambdaMax[0]-s.LogLambda[0], least, spread)
			}
		}
	}
}

// TestLeftOutGoesDownToTheNoise checks that a search reaches the noise level even if that is a millionth of the signal.
// In units of its standard error the criterion is then far from 0.
func TestLeftOutGoesDownToTheNoise(t *testing.T) {
	for _, n := range []int{60, 3000} {
		q := oracle.NewRandom(3).Problem(oracle.Shape{N: n, P: 5, Mean: 1, Correlation: 0.6, Active: 5, Noise: 1e-3})
		x := fixture.Matrix(t, q, true)
		for _, by := range []pare.Criterion{pare.ALO, pare.GCV} {
			s, err := pare.Select(t.Context(), x, q.Y, pare.SelectOptions{Validation: pare.Validation{Criterion: by}}, pare.Config{})
			if err != nil {
				t.Fatal(err)
			}
			if least, spread := leastLeftOut(t, x, q.Y, by, pare.Config{}, 40); !(s.Value <= least+0.05*spread) {
				t.Errorf("%d rows, %s: %g at ln αmax − %g, %g ± %g on a grid", n, by, s.Value, s.LogLambdaMax[0]-s.LogLambda[0], least, spread)
			}
		}
	}
}

// leastLeftOut returns the least value of a criterion on a grid down to αmax/10⁶, and its standard error.
func leastLeftOut(t *testing.T, x sparse.Matrix, y []float64, by pare.Criterion, c pare.Config, points int) (least, spread float64) {
	t.Helper()
	top, err := pare.LogLambdaMax(x, y, c)
	if err != nil {
		t.Fatal(err)
	}
	least, c.Tol = math.Inf(1), 1e-9
	for k := range points {
		out, err := pare.LeaveOneOut(t.Context(), x, y, []float64{top[0] - 14*float64(k)/float64(points-1)}, c)
		if err != nil {
			t.Fatal(err)
		}
		value := out.Value
		if by == pare.GCV {
			value = out.GCV
		}
		if value < least {
			least, spread = value, out.StandardError
		}
	}
	return least, spread
}

// TestInformationChoosesAsAGridDoes checks that choices by information criteria are within 0.3 standard errors of the
// best of a fine grid and the null model. The standard error of a sum of squares is √(2n)·σ². Cases include a σ of a
// hundred-thousandth of the target, and a BIC that is least where the first few columns enter.
func TestInformationChoosesAsAGridDoes(t *testing.T) {
	for seed := range oracle.Draws(10) {
		n := 60 + 8*int(seed)
		sigma := 4 * math.Pow(10, -float64(seed%5)) // the standard deviation of the targets is about 4
		q := oracle.NewRandom(seed).Problem(oracle.Shape{N: n, P: 8 + int(seed%3)*40, Correlation: 0.5, Active: 4, Noise: sigma})
		x := fixture.Matrix(t, q, true)
		for by, unit := range map[pare.Criterion]float64{pare.SURE: sigma * sigma, pare.AIC: 1, pare.BIC: 1} {
			v := pare.Validation{Criterion: by, Sigma: sigma}
			s, err := pare.Select(t.Context(), x, q.Y, pare.SelectOptions{Validation: v}, pare.Config{})
			if err != nil {
				t.Fatal(err)
			}
			least, at := leastInformation(t, x, q.Y, v, s, 14)
			spread := unit * math.Sqrt(2*float64(n))
			if e := s.Evaluations[0]; math.Abs(e.StandardError-spread) > 1e-12*spread {
				t.Errorf("seed %d, %s: a standard error of %g, want %g", seed, by, e.StandardError, spread)
			}
			if !(s.Value <= least+0.3*spread) {
				t.Errorf("seed %d, %s: %g after %d evaluations, %g ± %g at ln αmax − %.3g", seed, by, s.Value, len(s.Evaluations), least, spread, at)
			}
		}
	}
}

// leastInformation returns the least value over the null model and 80 points down to the given depth, and the depth of
// the minimum.
func leastInformation(t *testing.T, x sparse.Matrix, y []float64, v pare.Validation, s *pare.Selection, deepest float64) (least, at float64) {
	t.Helper()
	least = s.NullValue
	for k := range 80 {
		depth := deepest * float64(k) / 79
		g, err := pare.Gradient(t.Context(), x, y, []float64{s.LogLambdaMax[0] - depth}, v, pare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if g.Value < least {
			least, at = g.Value, depth
		}
	}
	return least, at
}

// TestInformationIsRough checks choices by AIC and BIC where dozens of columns enter close together, so that the
// criteria have dips between two points of a path.
func TestInformationIsRough(t *testing.T) {
	const sigma = 2
	for seed, by := range map[uint64]pare.Criterion{5: pare.AIC, 12: pare.BIC} {
		n := 60 + 8*int(seed)
		q := oracle.NewRandom(seed).Problem(oracle.Shape{N: n, P: 60, Correlation: 0.5, Active: 8, Noise: sigma})
		x := fixture.Matrix(t, q, true)
		v := pare.Validation{Criterion: by, Sigma: sigma}
		s, err := pare.Select(t.Context(), x, q.Y, pare.SelectOptions{Validation: v}, pare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		least, at := leastInformation(t, x, q.Y, v, s, 8)
		if spread := math.Sqrt(2 * float64(n)); !(s.Value <= least+0.05*spread) {
			t.Errorf("%s: %g after %d evaluations, %g ± %g at ln αmax − %.3g", by, s.Value, len(s.Evaluations), least, spread, at)
		}
	}
}
