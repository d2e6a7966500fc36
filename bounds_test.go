package pare_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/embedded"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// drawBounded draws a problem with bounds, some of which the unbounded solution at some λ violates.
func drawBounded(t *testing.T, r *oracle.Random, m pare.Model, free bool, depth ...float64) (factored, []float64) {
	t.Helper()
	f := drawFactored(r, m, free)
	if m == pare.Huber {
		f.config.Loss = loss.Huber{Delta: 0.5}
	}
	x := matrixOf(t, f.rows, len(f.factors), false)
	lambda, err := pare.LogLambdaMax(x, f.y, f.config)
	if err != nil {
		t.Fatal(err)
	}
	for i := range lambda {
		lambda[i] += depth[min(i, len(depth)-1)]
	}
	at, err := pare.Fit(context.Background(), x, f.y, lambda, f.config)
	if err != nil {
		t.Fatal(err)
	}
	p := len(f.factors)
	f.config.Lower, f.config.Upper = repeat(math.Inf(-1), p), repeat(math.Inf(1), p)
	beta := make([]float64, p)
	for _, one := range append(at.PerClass, at) {
		for k, j := range one.Support {
			if k < len(one.Coef) {
				beta[j] = one.Coef[k]
			}
		}
	}
	for j, b := range beta {
		if f.factors[j] == 0 {
			continue
		}
		switch r.Intn(5) {
		case 0:
			f.config.Lower[j], f.config.Upper[j] = min(0, 0.6*b), max(0, 0.6*b)
		case 1:
			f.config.Lower[j], f.config.Upper[j] = -0.7*math.Abs(b), 0.7*math.Abs(b)
		case 2:
			f.config.Upper[j] = max(0, 0.5*b)
		case 3:
			f.config.Lower[j] = -2 * math.Abs(b)
		}
	}
	return f, lambda
}

// TestBoundsOfEveryModel checks that fits satisfy the optimality conditions under bounds, that coefficients at a bound
// equal it to the last bit, that the gap is an upper bound on the suboptimality, and that hypergradients agree with
// finite differences.
func TestBoundsOfEveryModel(t *testing.T) {
	ctx := context.Background()
	held, trusted, turns := 0, 0, 6*oracle.Draws(8)
	for turn := range turns {
		m := []pare.Model{pare.Lasso, pare.ElasticNet, pare.Logistic, pare.Poisson, pare.Huber, pare.WeightedLasso}[turn%6]
		r := oracle.NewRandom(1000 + turn)
		depth := []float64{-1.5, -2}
		if m == pare.WeightedLasso {
			depth = nil
			for range 12 {
				depth = append(depth, -1-r.Float64())
			}
		}
		f, lambda := bounded(t, r, m, turn, depth)
		name := fmt.Sprintf("turn %d, %s", turn, m)
		x := matrixOf(t, f.rows, len(f.factors), turn%3 == 0)
		fitted, err := pare.Fit(ctx, x, f.y, lambda, f.config)
		if err != nil {
			t.Fatal(name, err)
		}
		if fitted.Status != outcome.Converged {
			t.Errorf("%s: %s, gap %g", name, fitted.Status, fitted.RelativeGap)
		}
		strengths := [2]float64{kernels.Exp(lambda[0])}
		if m == pare.ElasticNet {
			strengths[1] = kernels.Exp(lambda[1])
		}
		if m == pare.WeightedLasso {
			strengths[0] = 1
			for j := range f.factors {
				f.factors[j] = kernels.Exp(lambda[j])
			}
		}
		if v := f.violation(fitted, slopes[m], strengths); !(v <= 1e-5) {
			t.Errorf("%s: the optimality conditions are violated by %g", name, v)
		}
		for k, j := range fitted.Support {
			if b := fitted.Coef[k]; b == f.config.Lower[j] || b == f.config.Upper[j] {
				held++
			}
		}
		for _, tol := range []float64{0.3, 1e-2, 1e-4} {
			c := f.config
			c.Tol = tol
			loose, err := pare.Fit(ctx, x, f.y, lambda, c)
			if err != nil {
				t.Fatal(name, err)
			}
			if lack := loose.Objective - fitted.Objective; !(loose.Gap >= lack-1e-12*loose.Objective) || loose.RelativeGap > tol {
				t.Errorf("%s: gap %g (%g of the null model's), %g is left to gain", name, loose.Gap, loose.RelativeGap, lack)
			}
		}
		trusted += f.slopesAgree(t, name, lambda)
	}
	if least := 40 * int(turns) / 48; held < least || trusted < least {
		t.Errorf("only %d coefficients at a bound and %d gradients looked at", held, trusted)
	}
}

// bounded draws a bounded problem, at times with unpenalised columns if the model allows them.
func bounded(t *testing.T, r *oracle.Random, m pare.Model, turn uint64, depth []float64) (factored, []float64) {
	t.Helper()
	if m != pare.WeightedLasso {
		return drawBounded(t, r, m, m != pare.ElasticNet && turn%4 < 2, depth...)
	}
	f := drawFactored(r, pare.Lasso, false)
	f.config.Model, f.config.PenaltyFactors = m, nil
	lambda, err := pare.LogLambdaMax(matrixOf(t, f.rows, len(f.factors), false), f.y, f.config)
	if err != nil {
		t.Fatal(err)
	}
	f.config.Lower, f.config.Upper = repeat(-0.05, len(lambda)), repeat(0.4, len(lambda))
	for i := range lambda {
		lambda[i] += depth[i]
	}
	return f, lambda
}

// slopesAgree compares a hypergradient with finite differences if it is trusted and λ is not a knot, and returns the
// number of comparisons.
func (f factored) slopesAgree(t *testing.T, name string, lambda []float64) (looked int) {
	t.Helper()
	x := matrixOf(t, f.rows, len(f.factors), false)
	c := f.config
	c.Certify = true
	value := func(i int, step float64) *pare.Hypergradient {
		moved := slices.Clone(lambda)
		moved[i] += step
		h, err := pare.Gradient(context.Background(), x, f.y, moved, f.validates, c)
		if err != nil {
			t.Fatal(name, err)
		}
		return h
	}
	here := value(0, 0)
	switch here.Status {
	case outcome.Converged, outcome.Flat:
	default:
		return 0
	}
	for i, got := range here.Gradient {
		const h = 1e-5
		up, down := value(i, h).Value, value(i, -h).Value
		forward, backward := (up-here.Value)/h, (here.Value-down)/h
		scale := math.Abs(forward) + 1e-2*math.Abs(here.Value)
		if math.Abs(forward-backward) > 1e-3*scale {
			continue
		}
		looked = 1
		if want := (up - down) / (2 * h); !(math.Abs(got-want) <= 1e-5*scale) {
			t.Errorf("%s: ∂/∂λ%d = %.10g, differences %.10g (%s, bound %g)", name, i+1, got, want, here.Status, here.ErrorBound)
		}
	}
	return looked
}

// TestBoundsAndFactorsGolden checks value, slope and αmax of a Poisson regression with penalty factors, one of them 0,
// and bounds on the penalised columns. The expected numbers come from an independent program that uses accelerated
// proximal gradients and Newton's method.
func TestBoundsAndFactorsGolden(t *testing.T) {
	x, y, err := embedded.Diabetes(context.Background(), sparse.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ids, factors, upper, lower := make([]int, len(y)), make([]float64, 10), repeat(2, 10), repeat(-2, 10)
	for i := range y {
		y[i] = math.Floor(y[i] / 25)
		if ids[i] = -1; i%3 == 2 {
			ids[i] = 0
		}
	}
	for j := range factors {
		factors[j] = 1 + float64(j%3)/2
	}
	factors[0], upper[0], lower[0] = 0, math.Inf(1), math.Inf(-1)
	c := pare.Config{Model: pare.Poisson, PenaltyFactors: factors, Lower: lower, Upper: upper, Tol: 1e-12}
	top, err := pare.LogLambdaMax(x, y, c)
	if err != nil || math.Abs(kernels.Exp(top[0])/0.05593658107441348-1) > 1e-10 {
		t.Errorf("αmax %.15g, %v", kernels.Exp(top[0]), err)
	}
	h, err := pare.Gradient(context.Background(), x, y, []float64{-5.186121803796027}, pare.Validation{Criterion: pare.HoldOut, FoldIDs: ids}, c)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(h.Value/0.9272273063567759-1) > 1e-9 || math.Abs(h.Gradient[0]/0.0044622309505061835-1) > 1e-7 || h.Status != outcome.Converged {
		t.Errorf("value %.15g, slope %.15g, %s", h.Value, h.Gradient[0], h.Status)
	}
}

// TestBoundsInAChoice checks that the choice and its model satisfy the bounds, for every model that has bounds.
func TestBoundsInAChoice(t *testing.T) {
	ctx := context.Background()
	for turn, m := range []pare.Model{pare.Lasso, pare.ElasticNet, pare.Logistic, pare.Poisson, pare.Multiclass, pare.WeightedLasso} {
		f := drawFactored(oracle.NewRandom(uint64(turn)), m, false)
		f.config.Tol, f.config.PenaltyFactors = 1e-8, nil
		f.config.Lower, f.config.Upper = repeat(-0.1, len(f.factors)), repeat(0.2, len(f.factors))
		x := matrixOf(t, f.rows, len(f.factors), false)
		s, err := pare.Select(ctx, x, f.y, pare.SelectOptions{Schedule: search.Exact}, f.config)
		if err != nil {
			t.Fatal(m, err)
		}
		if s.Err != nil || !(s.Value <= s.NullValue) || s.Final == nil || s.Final.Status != outcome.Converged {
			t.Errorf("%s: chosen at %g, null model %g, %v, %+v", m, s.Value, s.NullValue, s.Err, s.Final)
			continue
		}
		for _, one := range append(s.Final.PerClass, s.Final) {
			for _, b := range one.Coef {
				if b < -0.1 || b > 0.2 {
					t.Errorf("%s: a coefficient of %g", m, b)
				}
			}
		}
		for e, err := range pare.Validate(ctx, x, f.y, [][]float64{s.LogLambda}, pare.Validation{}, f.config) {
			if err != nil || math.Abs(e.Value-s.Value) > 1e-3*s.Value {
				t.Errorf("%s: chosen at %g, validated %g, %v", m, s.Value, e.Value, err)
			}
		}
	}
}

// TestBoundsTellCopiesApart checks that, with one strength for each column, equal columns share a strength unless their
// bounds differ.
func TestBoundsTellCopiesApart(t *testing.T) {
	f := drawFactored(oracle.NewRandom(2), pare.WeightedLasso, false)
	p := len(f.factors)
	for _, row := range f.rows {
		row[1] = row[0]
	}
	f.config.PenaltyFactors = nil
	f.config.Lower, f.config.Upper = repeat(-0.3, p), repeat(0.3, p)
	f.config.Upper[1] = 0.1
	s, err := pare.Select(t.Context(), matrixOf(t, f.rows, p, false), f.y, pare.SelectOptions{}, f.config)
	if err != nil || s.Err != nil || s.Final == nil || s.Final.Status != outcome.Converged {
		t.Fatal(err, s)
	}
	for k, j := range s.Final.Support {
		if b := s.Final.Coef[k]; b < -0.3 || b > f.config.Upper[j] {
			t.Errorf("column %d has a coefficient of %g", j, b)
		}
	}
}

// TestPositiveIsALowerBound checks that β ≥ 0 is the same as a lower bound of 0 on every column.
func TestPositiveIsALowerBound(t *testing.T) {
	for turn := range uint64(6) {
		m := []pare.Model{pare.Lasso, pare.ElasticNet, pare.Logistic}[turn%3]
		f := drawFactored(oracle.NewRandom(turn), m, false)
		x := matrixOf(t, f.rows, len(f.factors), turn%2 == 0)
		fit := func(c pare.Config) *pare.Fitted {
			lambda, err := pare.LogLambdaMax(x, f.y, c)
			if err != nil {
				t.Fatal(err)
			}
			for i := range lambda {
				lambda[i] -= 2
			}
			fitted, err := pare.Fit(context.Background(), x, f.y, lambda, c)
			if err != nil {
				t.Fatal(err)
			}
			return fitted
		}
		positive, zero := f.config, f.config
		positive.Positive = true
		zero.Lower = make([]float64, len(f.factors))
		a, b := fit(positive), fit(zero)
		if math.Abs(a.Objective-b.Objective) > 1e-12*a.Objective || !slices.Equal(a.Support, b.Support) || a.LogLambdaMax[0] != b.LogLambdaMax[0] {
			t.Errorf("turn %d, %s: objective %.15g on %v, with bounds %.15g on %v", turn, m, a.Objective, a.Support, b.Objective, b.Support)
		}
	}
}

func TestBoundsRefused(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name   string
		config pare.Config
		flag   string
		kind   outcome.Kind
	}{
		{"too few", pare.Config{Lower: []float64{0}}, "lower", outcome.Shape},
		{"too many", pare.Config{Upper: make([]float64, 4)}, "upper", outcome.Shape},
		{"both", pare.Config{Lower: []float64{0}, Upper: make([]float64, 4)}, "lower", outcome.Shape},
		{"above 0", pare.Config{Lower: []float64{0, 1, 0}}, "lower", outcome.BadParameter},
		{"below 0", pare.Config{Upper: []float64{0, 1, -1}}, "upper", outcome.BadParameter},
		{"not a number", pare.Config{Upper: []float64{0, math.NaN(), 1}}, "upper", outcome.BadParameter},
		{"a ridge", pare.Config{Model: pare.Ridge, Upper: []float64{1, 1, 1}}, "upper", outcome.Usage},
		{"samples", pare.Config{Model: pare.SVM, Upper: []float64{1, 1, 1}}, "upper", outcome.Usage},
		{"an unpenalised column", pare.Config{Upper: []float64{1, 1, inf}, PenaltyFactors: []float64{1, 0, 1}}, "", outcome.BadParameter},
		{"iterates", pare.Config{Method: pare.BackwardPCD, Upper: []float64{1, 1, 1}}, "method", outcome.Usage},
	} {
		x := matrixOf(t, [][]float64{{1, 0, 2}, {0, 1, -1}, {2, 1, 0}, {1, -1, 1}}, 3, true)
		for range 20 { // the error must be the same every time
			_, err := pare.Gradient(context.Background(), x, []float64{1, -1, 1, -1}, []float64{-3}, pare.Validation{Folds: 2}, c.config)
			if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != c.kind || e.Flag != c.flag {
				t.Fatalf("%s: %v, want %s", c.name, err, c.kind)
			}
		}
	}
}

// TestBoundsFarFromASmallTarget checks that distant bounds do not enter the optimality measure, however small the
// target is: fits, and folds on condensed rows, converge as they do in larger units.
func TestBoundsFarFromASmallTarget(t *testing.T) {
	const n, p = 400, 6
	for seed := range oracle.Cases(12) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: n, P: p, Density: 1, Active: p})
		x := matrixOf(t, q.X, p, true)
		c := pare.Config{Lower: make([]float64, p), Upper: make([]float64, p)}
		for _, scale := range []float64{1, 0x1p-40} {
			y := make([]float64, n)
			for i, v := range q.Y {
				y[i] = scale * v
			}
			for j := range p {
				c.Lower[j], c.Upper[j] = -1, 1
				if j%3 == 0 {
					c.Lower[j], c.Upper[j] = -0.1*scale, 0.1*scale // some coefficients reach these bounds
				}
			}
			top, err := pare.LogLambdaMax(x, y, c)
			if err != nil {
				t.Fatal(err)
			}
			grid := [][]float64{{top[0] - 1}, {top[0] - 2}, {top[0] - 4}, {top[0] - 7}}
			for e, err := range pare.Validate(t.Context(), x, y, grid, pare.Validation{}, c) {
				if err != nil || e.Status != outcome.Converged {
					t.Errorf("seed %d, times %g: folds at λ %g end %s at a gap of %g, %v", seed, scale, e.LogLambda, e.Status, e.Tol, err)
				}
			}
			for f, err := range pare.Path(t.Context(), x, y, grid, c) {
				if err != nil || f.Status != outcome.Converged {
					t.Errorf("seed %d, times %g: %s at λ %g, at a gap of %g, %v", seed, scale, f.Status, f.LogLambda, f.RelativeGap, err)
				}
			}
		}
	}
}
