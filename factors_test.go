package pare_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// factored is a problem with penalty factors, some of which are 0 or +Inf.
type factored struct {
	rows      [][]float64
	y         []float64
	factors   []float64
	config    pare.Config
	validates pare.Validation
}

// drawFactored draws a problem with penalty factors for a model.
func drawFactored(r *oracle.Random, m pare.Model, free bool) factored {
	const n, p = 60, 12
	q := r.Problem(oracle.Shape{N: n, P: p, Density: r.Pick(0.5, 1), Mean: r.Pick(0, 1), Active: 5})
	f := factored{rows: q.X, y: slices.Clone(q.Y), config: pare.Config{Model: m, Tol: 1e-13, NoIntercept: r.Intn(3) == 0, Standardize: r.Intn(2) == 0}}
	mean := q.Mean(-1)
	for i, y := range q.Y {
		switch m {
		case pare.Logistic:
			f.y[i] = math.Copysign(1, y-mean+2*r.Normal())
		case pare.Poisson:
			f.y[i] = math.Floor(math.Abs(y - mean))
		case pare.Multiclass:
			f.y[i] = float64((i + r.Intn(2)) % 3)
		}
	}
	for range p {
		f.factors = append(f.factors, r.Pick(0.5, 1, 2, 3))
	}
	f.factors[2] = math.Inf(1)
	if free {
		f.factors[0], f.factors[5] = 0, 0
	}
	if r.Intn(2) == 0 {
		for range n {
			f.config.Weights = append(f.config.Weights, r.Pick(0, 0.5, 1, 2))
		}
	}
	f.config.PenaltyFactors = f.factors
	return f
}

// TestFactorsAreStrengthsOfTheirOwn checks that a Lasso with penalty factors f is a weighted Lasso with λ's λ + ln f,
// and that its derivative in λ is the sum of the weighted Lasso's derivatives.
func TestFactorsAreStrengthsOfTheirOwn(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(8) {
		r := oracle.NewRandom(seed)
		f := drawFactored(r, pare.Lasso, seed%2 == 0)
		x := matrixOf(t, f.rows, len(f.factors), seed%3 == 0)
		top, err := pare.LogLambdaMax(x, f.y, f.config)
		if err != nil {
			t.Fatal(err)
		}
		own := f.config
		own.Model, own.PenaltyFactors = pare.WeightedLasso, nil
		lambda, each := top[0]-1, []float64(nil)
		for _, factor := range f.factors {
			each = append(each, lambda+math.Log(factor))
		}
		got, err := pare.Fit(ctx, x, f.y, []float64{lambda}, f.config)
		if err != nil {
			t.Fatal(err)
		}
		want, err := pare.Fit(ctx, x, f.y, each, own)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Support, want.Support) || math.Abs(got.Objective-want.Objective) > 1e-9*want.Objective {
			t.Errorf("seed %d: objective %.12g on %v, a weighted Lasso has %.12g on %v", seed, got.Objective, got.Support, want.Objective, want.Support)
		}
		for k, b := range want.Coef {
			if math.Abs(got.Coef[k]-b) > 1e-6*(1+math.Abs(b)) {
				t.Errorf("seed %d: coefficient %d is %.10g, want %.10g", seed, want.Support[k], got.Coef[k], b)
			}
		}
		h, err := pare.Gradient(ctx, x, f.y, []float64{lambda}, f.validates, f.config)
		if err != nil {
			t.Fatal(err)
		}
		hs, err := pare.Gradient(ctx, x, f.y, each, f.validates, own)
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		for _, g := range hs.Gradient {
			sum += g
		}
		if math.Abs(h.Value-hs.Value) > 1e-9*h.Value || math.Abs(h.Gradient[0]-sum) > 1e-6*(math.Abs(sum)+1e-3*h.Value) {
			t.Errorf("seed %d: value %.12g, slope %.12g; a weighted Lasso has %.12g, %.12g", seed, h.Value, h.Gradient[0], hs.Value, sum)
		}
	}
}

// violation returns the largest violation of the optimality conditions by a fit, relative to the largest strength. The
// conditions are zⱼ = fⱼ(α₁ sign βⱼ + α₂βⱼ) if βⱼ ≠ 0, |zⱼ| ≤ fⱼα₁ if βⱼ = 0, and at a bound the inequality in the
// direction of the bound. Coefficients are in units of columns divided by their deviations if these are standardised.
func (f factored) violation(fitted *pare.Fitted, slope func(y, m float64) float64, strengths [2]float64) float64 {
	n, p := len(f.rows), len(f.factors)
	weights := f.config.Weights
	if weights == nil {
		weights = repeat(1, n)
	}
	deviation := repeat(1, p)
	if f.config.Standardize {
		_, _, deviation = densified(f.rows, weights, !f.config.NoIntercept)
	}
	beta := make([]float64, p)
	for k, j := range fitted.Support {
		beta[j] = fitted.Coef[k]
	}
	var total, worst float64
	residual := make([]float64, n)
	for i, row := range f.rows {
		m := fitted.Intercept
		for j, v := range row {
			m += v * beta[j]
		}
		residual[i] = -weights[i] * slope(f.y[i], m)
		total += weights[i]
	}
	for j, factor := range f.factors {
		var z float64
		lower, upper := math.Inf(-1), math.Inf(1)
		if f.config.Lower != nil {
			lower = f.config.Lower[j]
		}
		if f.config.Upper != nil {
			upper = f.config.Upper[j]
		}
		if f.config.Positive {
			lower = max(lower, 0)
		}
		for i, row := range f.rows {
			z += row[j] * residual[i] / total / deviation[j]
		}
		b := beta[j] * deviation[j]
		switch {
		case math.IsInf(factor, 1) && b != 0:
			return math.Inf(1)
		case math.IsInf(factor, 1):
		case beta[j] < lower || beta[j] > upper:
			return math.Inf(1)
		case b == 0:
			if upper > 0 {
				worst = max(worst, z-factor*strengths[0])
			}
			if lower < 0 {
				worst = max(worst, -z-factor*strengths[0])
			}
		case beta[j] == lower || beta[j] == upper:
			worst = max(worst, factor*(strengths[0]+strengths[1]*math.Abs(b))-math.Copysign(1, b)*z)
		default:
			worst = max(worst, math.Abs(z-factor*(strengths[0]*math.Copysign(1, b)+strengths[1]*b)))
		}
	}
	return worst / max(strengths[0], strengths[1])
}

// slopes holds ∂ℓ/∂m for each model, in its textbook form.
var slopes = map[pare.Model]func(y, m float64) float64{
	pare.Lasso:         func(y, m float64) float64 { return m - y },
	pare.ElasticNet:    func(y, m float64) float64 { return m - y },
	pare.WeightedLasso: func(y, m float64) float64 { return m - y },
	pare.Ridge:         func(y, m float64) float64 { return m - y },
	pare.Logistic:      func(y, m float64) float64 { return -y / (1 + math.Exp(y*m)) },
	pare.Poisson:       func(y, m float64) float64 { return math.Exp(m) - y },
	pare.Huber:         func(y, m float64) float64 { return max(-0.5, min(0.5, m-y)) },
}

// TestFactorsOfEveryModel checks that fits satisfy the optimality conditions, that hypergradients agree with finite
// differences, and that the first penalised column enters at αmax.
func TestFactorsOfEveryModel(t *testing.T) {
	ctx := context.Background()
	for turn := range uint64(24) {
		m := []pare.Model{pare.Lasso, pare.ElasticNet, pare.Ridge, pare.Logistic, pare.Poisson, pare.Huber}[turn%6]
		r := oracle.NewRandom(turn)
		f := drawFactored(r, m, m != pare.ElasticNet && m != pare.Ridge && turn%4 < 2)
		if m == pare.Huber {
			f.config.Loss = loss.Huber{Delta: 0.5}
		}
		x := matrixOf(t, f.rows, len(f.factors), turn%3 == 0)
		lambda, err := pare.LogLambdaMax(x, f.y, f.config)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("turn %d, %s", turn, m)
		free := 0
		for _, factor := range f.factors {
			if factor == 0 {
				free++
			}
		}
		at := func(shift ...float64) []float64 {
			out := slices.Clone(lambda)
			for i, s := range shift {
				out[i] += s
			}
			return out
		}
		fit := func(lambda []float64) *pare.Fitted {
			fitted, err := pare.Fit(ctx, x, f.y, lambda, f.config)
			if err != nil {
				t.Fatal(name, err)
			}
			if fitted.Status != outcome.Converged {
				t.Errorf("%s: %s, gap %g", name, fitted.Status, fitted.RelativeGap)
			}
			return fitted
		}
		where := at(-1.5)
		if m != pare.Ridge {
			if got := len(fit(at(1e-6)).Support); got != free {
				t.Errorf("%s: %d columns above αmax, %d are unpenalised", name, got, free)
			}
			if got := len(fit(at(-1e-3)).Support); got <= free {
				t.Errorf("%s: %d columns below αmax, %d are unpenalised", name, got, free)
			}
		}
		var strengths [2]float64
		switch m {
		case pare.ElasticNet:
			where = at(-1.5, -2)
			strengths = [2]float64{kernels.Exp(where[0]), kernels.Exp(where[1])}
		case pare.Ridge:
			where = at(-3)
			strengths[1] = kernels.Exp(where[0])
		default:
			strengths[0] = kernels.Exp(where[0])
		}
		if v := f.violation(fit(where), slopes[m], strengths); !(v <= 1e-5) {
			t.Errorf("%s: the optimality conditions are violated by %g", name, v)
		}
		f.matchesDifferences(t, name, where)
	}
}

// matchesDifferences compares the hypergradient at λ with finite differences.
func (f factored) matchesDifferences(t *testing.T, name string, lambda []float64) {
	t.Helper()
	x := matrixOf(t, f.rows, len(f.factors), false)
	value := func(i int, step float64) *pare.Hypergradient {
		moved := slices.Clone(lambda)
		moved[i] += step
		h, err := pare.Gradient(context.Background(), x, f.y, moved, f.validates, f.config)
		if err != nil {
			t.Fatal(name, err)
		}
		return h
	}
	here := value(0, 0)
	if here.Status != outcome.Converged {
		t.Errorf("%s: the gradient is %s", name, here.Status)
	}
	for i, got := range here.Gradient {
		const h = 1e-5
		up, down := value(i, h).Value, value(i, -h).Value
		forward, backward := (up-here.Value)/h, (here.Value-down)/h
		scale := math.Abs(forward) + 1e-2*math.Abs(here.Value)
		if math.Abs(forward-backward) > 1e-3*scale {
			t.Logf("%s: a knot", name)
			continue
		}
		if want := (up - down) / (2 * h); !(math.Abs(got-want) <= 1e-5*scale) {
			t.Errorf("%s: ∂/∂λ%d = %.10g, differences %.10g", name, i+1, got, want)
		}
	}
}

// TestFactorsInAChoice checks that a selection with factors ends at a lower criterion than both ends of the path, and
// that its model contains the unpenalised columns and not the excluded one.
func TestFactorsInAChoice(t *testing.T) {
	ctx := context.Background()
	for turn, m := range []pare.Model{pare.Lasso, pare.Logistic, pare.Poisson, pare.ElasticNet, pare.Multiclass} {
		f := drawFactored(oracle.NewRandom(uint64(turn)), m, m != pare.ElasticNet && m != pare.Multiclass)
		f.config.Tol = 1e-8
		x := matrixOf(t, f.rows, len(f.factors), false)
		s, err := pare.Select(ctx, x, f.y, pare.SelectOptions{Schedule: search.Exact}, f.config)
		if err != nil {
			t.Fatal(m, err)
		}
		if !(s.Value <= s.NullValue) || s.Final == nil || s.Final.Status != outcome.Converged {
			t.Errorf("%s: chosen at %g, null model %g, %+v", m, s.Value, s.NullValue, s.Final)
			continue
		}
		for j, factor := range f.factors {
			in := slices.Contains(s.Final.Support, int32(j))
			if in && math.IsInf(factor, 1) || !in && factor == 0 {
				t.Errorf("%s: column %d of factor %g: in the support is %t", m, j, factor, in)
			}
		}
		for e, err := range pare.Validate(ctx, x, f.y, [][]float64{s.LogLambda}, pare.Validation{}, f.config) {
			if err != nil || math.Abs(e.Value-s.Value) > 1e-3*s.Value {
				t.Errorf("%s: chosen at %g, validated %g, %v", m, s.Value, e.Value, err)
			}
		}
	}
}

// TestGapsAreRelativeToTheNullModelWithItsColumns checks that the part of the target explained by an unpenalised
// column, however large, changes neither the other coefficients nor the choice.
func TestGapsAreRelativeToTheNullModelWithItsColumns(t *testing.T) {
	ctx := context.Background()
	const n, p, tol = 100, 20, 1e-8
	r := oracle.NewRandom(3)
	rows, rest := make([][]float64, n), make([]float64, n)
	for i := range rows {
		row := make([]float64, p)
		for j := range row {
			if row[j] = r.Normal(); j >= 2 {
				row[j] = row[1] + 0.1*row[j]
			}
		}
		rows[i], rest[i] = row, row[1]-0.5*row[5]+0.1*r.Normal()
	}
	x := matrixOf(t, rows, p, false)
	for _, l := range []loss.Loss{nil, loss.Huber{Delta: 1}} {
		c := pare.Config{Loss: l, Tol: tol, PenaltyFactors: repeat(1, p)}
		c.PenaltyFactors[0] = 0
		top, err := pare.LogLambdaMax(x, rest, c)
		if err != nil {
			t.Fatal(err)
		}
		fit := func(y []float64, below, tol float64) *pare.Fitted {
			c := c
			c.Tol = tol
			f, err := pare.Fit(ctx, x, y, []float64{top[0] - below}, c)
			if err != nil || f.Status != outcome.Converged {
				t.Fatal(l, err, f)
			}
			return f
		}
		null, least, value := fit(rest, -1, 1e-13).Objective, fit(rest, 4, 1e-13).Objective, 0.0
		for _, scale := range []float64{1, 10, 1e2, 1e4} {
			y := make([]float64, n)
			for i := range y {
				y[i] = rest[i] + scale*rows[i][0]
			}
			f := fit(y, 4, tol)
			if off := f.Objective - least; !(off <= (f.RelativeGap+1e-12)*null) {
				t.Errorf("%v, %g: %g above the minimum %g, with a relative gap of %g and a null model of %g", l, scale, off, least, f.RelativeGap, null)
			}
			s, err := pare.Select(ctx, x, y, pare.SelectOptions{}, c)
			if err != nil {
				t.Fatal(err)
			}
			if value == 0 {
				value = s.Value
			}
			if !(math.Abs(s.Value-value) <= 1e-3*value) {
				t.Errorf("%v, %g: chosen at %g, %s; of scale 1 at %g", l, scale, s.Value, s.Status, value)
			}
		}
	}
}

func TestFactorsRefused(t *testing.T) {
	ctx := context.Background()
	inf := math.Inf(1)
	for _, c := range []struct {
		name    string
		config  pare.Config
		factors []float64
		lambda  []float64
		kind    outcome.Kind
	}{
		{"too few", pare.Config{}, []float64{1}, []float64{0}, outcome.Shape},
		{"negative", pare.Config{}, []float64{1, -1, 1}, []float64{0}, outcome.BadParameter},
		{"not a number", pare.Config{}, []float64{1, math.NaN(), 1}, []float64{0}, outcome.BadParameter},
		{"extreme", pare.Config{}, []float64{1, 1e-200, 1}, []float64{0}, outcome.BadParameter},
		{"λ's of their own", pare.Config{Model: pare.WeightedLasso}, []float64{1, 2, 1}, []float64{0, 0, 0}, outcome.Usage},
		{"samples", pare.Config{Model: pare.SVM}, []float64{1, 2, 1}, []float64{0}, outcome.Usage},
		{"a ridge on an unpenalised column", pare.Config{Model: pare.ElasticNet}, []float64{1, 0, 1}, []float64{0, 0}, outcome.Usage},
		{"β ≥ 0 of an unpenalised column", pare.Config{Positive: true}, []float64{1, 0, inf}, []float64{0}, outcome.BadParameter},
		{"iterates", pare.Config{Method: pare.ForwardPGD}, []float64{1, 2, 1}, []float64{0}, outcome.Usage},
	} {
		c.config.PenaltyFactors = c.factors
		x := matrixOf(t, [][]float64{{1, 0, 2}, {0, 1, -1}, {2, 1, 0}, {1, -1, 1}}, 3, true)
		_, err := pare.Gradient(ctx, x, []float64{1, -1, 1, -1}, c.lambda, pare.Validation{Folds: 2}, c.config)
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != c.kind {
			t.Errorf("%s: %v, want %s", c.name, err, c.kind)
		}
	}
}

// TestMultiplesUnderFactors checks that among columns that are multiples of one another only the longest, whose penalty
// is the cheapest, has a coefficient, with or without factors and standardisation.
func TestMultiplesUnderFactors(t *testing.T) {
	r := oracle.NewRandom(3)
	const n, p = 20, 6
	rows, y := make([][]float64, n), make([]float64, n)
	for i := range rows {
		v, w := math.Round(4*r.Normal()), r.Normal()
		rows[i] = []float64{v, v, 2 * v, 2 * v, w, -v}
		y[i] = v + w + r.Normal()
	}
	for _, c := range []pare.Config{
		{PenaltyFactors: []float64{1, 1, 1, 1, 2, 1}},
		{PenaltyFactors: []float64{1, 1, 0.5, 0.5, 2, 1}, Standardize: true},
		{Model: pare.ElasticNet, PenaltyFactors: []float64{1, 1, 1, 1, 2, 1}},
	} {
		for _, dense := range []bool{true, false} {
			c.Tol = 1e-10
			lambda, err := pare.LogLambdaMax(matrixOf(t, rows, p, dense), y, c)
			if err != nil {
				t.Fatal(err)
			}
			lambda[0]--
			if len(lambda) == 2 {
				lambda[1] = -60
			}
			all, err := pare.Fit(t.Context(), matrixOf(t, rows, p, dense), y, lambda, c)
			if err != nil {
				t.Fatal(err)
			}
			long := make([][]float64, n)
			for i, row := range rows {
				long[i] = row[2:5]
			}
			few := c
			few.PenaltyFactors = c.PenaltyFactors[2:5]
			some, err := pare.Fit(t.Context(), matrixOf(t, long, 3, dense), y, lambda, few)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(all.Objective-some.Objective) > all.Gap+some.Gap+1e-12*some.Objective {
				t.Errorf("%+v, dense %t: objective %.10g with a gap of %.2g, want %.10g; columns %v, %v", c, dense, all.Objective, all.Gap, some.Objective, all.Support, all.Coef)
			}
		}
	}
}

// TestUnpenalisedColumnsWithoutAMinimumEndSoon checks a direction in which the loss decreases for ever. Its curvature
// falls with it, by a factor of e at each Newton step, so that 60 steps reduce both to 1e-26. If the curvature in the
// Gram matrix were lost to rounding on the way, the solve would take 100,000 sweeps with 50 Newton steps each.
func TestUnpenalisedColumnsWithoutAMinimumEndSoon(t *testing.T) {
	x := matrixOf(t, [][]float64{{1, 1, 0.3}, {1, 2, 0.5}}, 3, true)
	c := pare.Config{Model: pare.Poisson, NoIntercept: true, PenaltyFactors: []float64{0, 0, 1}, Tol: 1e-9}
	f, err := pare.Fit(t.Context(), x, []float64{2, 0}, []float64{-3}, c)
	if err != nil {
		t.Fatal(err)
	}
	const step = 40                                          // operations counted for the factorisation of two columns and two rows
	if f.Status != outcome.Converged || f.Work > 2*60*step { // including the null model
		t.Errorf("%s after %d sweeps, work of %g; a Newton step is %d", f.Status, f.Epochs, f.Work, step)
	}
	if !(f.Objective <= 1e-12) { // the minimum of e^m − ym + y log y − y over the rows is 0, at m = log 2 and −∞
		t.Errorf("the objective is %g", f.Objective)
	}
}

// TestUnpenalisedColumnsThatTellAllRowsApart checks unpenalised columns that fit half of the rows without a finite
// minimum, and cannot fit the rest, which are equal but for their class. When the curvature of the first half has
// vanished, the rounding error of dependent columns must not pass for curvature and give penalised columns an αmax.
func TestUnpenalisedColumnsThatTellAllRowsApart(t *testing.T) {
	for seed := range uint64(60) {
		r := oracle.NewRandom(seed)
		var rows [][]float64
		var y []float64
		for i := range 4 {
			row := make([]float64, 9)
			for j := range row {
				row[j] = r.Normal()
			}
			rows = append(rows, row, row)
			y = append(y, 1, float64(1-2*(i%2)))
		}
		c := pare.Config{Model: pare.Logistic, Standardize: seed%2 == 0, PenaltyFactors: []float64{0, 0, 0, 0, 0, 0, 1, 1, 1}}
		top, err := pare.LogLambdaMax(matrixOf(t, rows, 9, true), y, c)
		if err != nil || !math.IsInf(top[0], -1) {
			t.Errorf("seed %d: αmax e^%g, %v", seed, top, err)
		}
	}
}
