package pare_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// wideRidges yields ridges with more columns than rows, which are chosen on rotated columns.
func wideRidges(t *testing.T, check func(t *testing.T, x sparse.Matrix, y []float64, c pare.Config)) {
	for name, c := range map[string]pare.Config{
		"squared":       {},
		"no intercept":  {NoIntercept: true},
		"scales":        {},
		"logistic":      {Loss: loss.Logistic{}},
		"squared hinge": {Loss: loss.SquaredHinge{}},
		"poisson":       {Loss: loss.Poisson{}},
	} {
		t.Run(name, func(t *testing.T) {
			q := oracle.NewRandom(77).Problem(oracle.Shape{N: 60, P: 150, Mean: 1, Correlation: 0.97, Weights: true, Active: 20, Noise: 3})
			middle := 0.0
			for _, v := range q.Y {
				middle += v / float64(len(q.Y))
			}
			for i, v := range q.Y {
				switch name {
				case "logistic", "squared hinge":
					q.Y[i] = math.Copysign(1, v-middle)
				case "poisson":
					q.Y[i] = math.Floor(4 * math.Exp(0.1*(v-middle)))
				}
			}
			if name == "scales" {
				for i, row := range q.X {
					for j := range row {
						q.X[i][j] = row[j]*math.Pow(10, float64(j%9-4)) + 1e3
					}
				}
			}
			c.Model, c.Weights, c.Tol = pare.Ridge, q.Weights, 1e-12
			check(t, fixture.Matrix(t, q, true), q.Y, c)
		})
	}
}

// TestWideRidgesAreChosenAsOnX checks that the values of a choice and its model are those computed on the original
// columns.
func TestWideRidgesAreChosenAsOnX(t *testing.T) {
	wideRidges(t, func(t *testing.T, x sparse.Matrix, y []float64, c pare.Config) {
		for _, v := range []pare.Validation{{}, {Criterion: pare.HoldOut}, {Split: pare.Forward}} {
			s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Search: pare.Grid, Points: 12, MinRatio: 1e-6, Validation: v}, c)
			if err != nil {
				t.Fatal(err)
			}
			var grid [][]float64
			for _, e := range s.Evaluations {
				grid = append(grid, e.LogLambda)
			}
			at := 0
			for want, err := range pare.Validate(t.Context(), x, y, grid, v, c) {
				if err != nil {
					t.Fatal(err)
				}
				if e := s.Evaluations[at]; math.Abs(e.Value-want.Value) > 1e-6*want.Value || e.Support != want.Support {
					t.Errorf("at λ = %v %g with %d columns, want %g with %d", e.LogLambda, e.Value, e.Support, want.Value, want.Support)
				}
				at++
			}
			if at != 12 {
				t.Errorf("%d of %d points", at, 12)
			}
			one, err := pare.Fit(t.Context(), x, y, s.LogLambda, c)
			if err != nil {
				t.Fatal(err)
			}
			if f := s.Final; !f.Status.OK() || !(f.RelativeGap <= c.Tol) || f.Columns != 150 || math.Abs(f.Objective-one.Objective) > 1e-7*one.Objective {
				t.Errorf("%+v\nwant %+v", f, one)
			}
		}
	})
}

// sameBits checks that a choice has the same bits with remote lanes, with any number of threads, and when an
// interrupted search is resumed.
func sameBits(t *testing.T, x sparse.Matrix, y []float64, c pare.Config, jobs int) {
	t.Helper()
	o := pare.SelectOptions{OneSE: true, Measures: true}
	want := ""
	for _, threads := range []int{1, 2, 8} {
		c.Threads = threads
		s, err := pare.Select(t.Context(), x, y, o, c)
		if err != nil {
			t.Fatal(err)
		}
		if got := without(t, s); want == "" {
			want = got
		} else if got != want {
			t.Errorf("%d threads: %s\nwant %s", threads, got, want)
		}
	}
	far := o
	far.Lanes = func(ctx context.Context, j pare.Job) (bilevel.Runner, error) {
		jobs--
		return pare.NewLanes(ctx, x, y, j)
	}
	s, err := pare.Select(t.Context(), x, y, far, c)
	if err != nil {
		t.Fatal(err)
	}
	if got := without(t, s); got != want || jobs != 0 {
		t.Errorf("by lanes, %d jobs too few: %s\nwant %s", jobs, got, want)
	}
	resumesAnywhere(t, string(c.Model), x, y, o, c, false)
}

func TestWideRidgesHaveTheSameBits(t *testing.T) {
	wideRidges(t, func(t *testing.T, x sparse.Matrix, y []float64, c pare.Config) { sameBits(t, x, y, c, 1) })
}

// TestRidgesOfWideElasticNets checks that a selection of an elastic net chooses the ridge that it contains as a ridge
// problem of its own, and continues from there.
func TestRidgesOfWideElasticNets(t *testing.T) {
	wideRidges(t, func(t *testing.T, x sparse.Matrix, y []float64, c pare.Config) {
		if c.Loss != nil {
			return // only the squared loss starts with a ridge
		}
		sameBits(t, x, y, pare.Config{Model: pare.ElasticNet, Weights: c.Weights, NoIntercept: c.NoIntercept, Tol: 1e-8}, 2)
		ridge, err := pare.Select(t.Context(), x, y, pare.SelectOptions{}, c)
		if err != nil {
			t.Fatal(err)
		}
		c.Model = pare.ElasticNet
		both, err := pare.Select(t.Context(), x, y, pare.SelectOptions{}, c)
		if err != nil {
			t.Fatal(err)
		}
		if both.Value > ridge.Value+0.01*ridge.StandardError {
			t.Errorf("%g at λ = %v, its ridge has %g", both.Value, both.LogLambda, ridge.Value)
		}
		for _, e := range both.Evaluations {
			for want, err := range pare.Validate(t.Context(), x, y, [][]float64{e.LogLambda}, pare.Validation{}, c) {
				if err != nil {
					t.Fatal(err)
				}
				if math.Abs(e.Value-want.Value) > 0.02*want.StandardError || math.IsInf(e.LogLambda[0], -1) && len(e.Gradient) != 2 {
					t.Errorf("at λ = %v %+v, want %g", e.LogLambda, e, want.Value)
				}
			}
		}
		goesOn(t, x, y, c, both)
	})
}

// TestWideRidgesGoOnFromEarlierOnes checks that wide ridges can start from earlier selections, whose solutions are in
// terms of the original columns.
func TestWideRidgesGoOnFromEarlierOnes(t *testing.T) {
	wideRidges(t, func(t *testing.T, x sparse.Matrix, y []float64, c pare.Config) {
		first, err := pare.Select(t.Context(), x, y, pare.SelectOptions{}, c)
		if err != nil {
			t.Fatal(err)
		}
		goesOn(t, x, y, c, first)
	})
}

// goesOn checks that a choice that starts from an earlier one on the same data is as good and takes fewer
// evaluations.
func goesOn(t *testing.T, x sparse.Matrix, y []float64, c pare.Config, first *pare.Selection) {
	t.Helper()
	again, err := pare.Select(t.Context(), x, y, pare.SelectOptions{From: first}, c)
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Evaluations) >= len(first.Evaluations) || again.Value > first.Value+0.1*first.StandardError {
		t.Errorf("%d evaluations down to %g, %d down to %g", len(again.Evaluations), again.Value, len(first.Evaluations), first.Value)
	}
}

// TestLimitsOfWideRidgesCountColumns checks that limits count the original columns, not the rotated ones.
func TestLimitsOfWideRidgesCountColumns(t *testing.T) {
	wideRidges(t, func(t *testing.T, x sparse.Matrix, y []float64, c pare.Config) {
		c.MaxSupport = 149
		if _, err := pare.Select(t.Context(), x, y, pare.SelectOptions{}, c); outcome.KindOf(err) != outcome.Limit {
			t.Error(err)
		}
		c.MaxSupport = 150
		if _, err := pare.Select(t.Context(), x, y, pare.SelectOptions{}, c); err != nil {
			t.Error(err)
		}
	})
}

// TestWideRidgesLeaveRowsOut checks the leave-one-out criteria of a ridge with any number of columns: degrees of
// freedom and generalised cross-validation are those of the n × n smoother matrix, and leave-one-out values are those
// of n-fold cross-validation.
func TestWideRidgesLeaveRowsOut(t *testing.T) {
	const n, p = 24, 1100
	q := oracle.NewRandom(6).Problem(oracle.Shape{N: n, P: p, Mean: 1, Correlation: 0.9, Active: 200, Noise: 5})
	x, c := fixture.Matrix(t, q, true), pare.Config{Model: pare.Ridge, Tol: 1e-12}
	top, err := pare.LogLambdaMax(x, q.Y, c)
	if err != nil {
		t.Fatal(err)
	}
	at := []float64{top[0] - 3}
	products := make([][]float64, n) // X̃X̃ᵀ + nαI
	for i := range products {
		products[i] = make([]float64, n)
		for k := range products[i] {
			var sum oracle.Sum
			for j := range p {
				sum.AddProduct(q.X[i][j]-q.Mean(j), q.X[k][j]-q.Mean(j))
			}
			products[i][k] = sum.Value()
		}
		products[i][i] += n * math.Exp(at[0])
	}
	var mean float64
	for _, y := range q.Y {
		mean += y / n
	}
	freedom, squares, target := 1.0, 0.0, make([]float64, n)
	for i, y := range q.Y {
		target[i] = y - mean
		one := make([]float64, n)
		one[i] = 1
		inverse, ok := oracle.SolveDense(products, one)
		if !ok {
			t.Fatal("singular")
		}
		freedom += 1 - n*math.Exp(at[0])*inverse[i]
	}
	rest, ok := oracle.SolveDense(products, target)
	if !ok {
		t.Fatal("singular")
	}
	for _, v := range rest {
		squares += math.Pow(n*math.Exp(at[0])*v, 2) / n
	}
	left, err := pare.LeaveOneOut(t.Context(), x, q.Y, at, c)
	if err != nil {
		t.Fatal(err)
	}
	share := 1 - freedom/n
	gcv := squares / (share * share)
	if math.Abs(left.Freedom-freedom) > 1e-9*freedom || math.Abs(left.GCV-gcv) > 1e-9*gcv || left.Support != p {
		t.Errorf("%g degrees of freedom, GCV %g of %d columns, want %g and %g", left.Freedom, left.GCV, left.Support, freedom, gcv)
	}
	for each, err := range pare.Validate(t.Context(), x, q.Y, [][]float64{at}, pare.Validation{Folds: n}, c) {
		if err != nil || math.Abs(left.Value-each.Value) > 1e-9*each.Value {
			t.Errorf("%g, want %g (%v)", left.Value, each.Value, err)
		}
	}
	for _, criterion := range []pare.Criterion{pare.ALO, pare.GCV} {
		s, err := pare.Select(t.Context(), x, q.Y, pare.SelectOptions{Validation: pare.Validation{Criterion: criterion}}, c)
		if err != nil || !s.Status.OK() || !(s.Value < s.NullValue) || s.Final == nil {
			t.Errorf("%s: %+v, %v", criterion, s, err)
		}
	}
}

// TestWideRidgesKnowNoAbsentRow checks that the values in a row of weight 0 do not influence a choice.
func TestWideRidgesKnowNoAbsentRow(t *testing.T) {
	q := oracle.NewRandom(5).Problem(oracle.Shape{N: 20, P: 50, Mean: 1, Active: 5})
	weights, ids := make([]float64, 20), make([]int, 20)
	for i := range weights {
		weights[i], ids[i] = 1, i%3
	}
	weights[4] = 0
	for _, bare := range []bool{false, true} {
		c := pare.Config{Model: pare.Ridge, Weights: weights, NoIntercept: bare, Tol: 1e-10}
		chosen := func() *pare.Selection {
			s, err := pare.Select(t.Context(), fixture.Matrix(t, q, true), q.Y, pare.SelectOptions{Validation: pare.Validation{FoldIDs: ids}}, c)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		q.X[4] = q.X[3]
		want := chosen()
		q.X[4] = make([]float64, 50)
		for j := range q.X[4] {
			q.X[4][j] = 1e9 * float64(j%7-3)
		}
		if got := chosen(); math.Abs(got.Value-want.Value) > 1e-6*want.Value || math.Abs(got.LogLambda[0]-want.LogLambda[0]) > 1e-3 {
			t.Errorf("bare %t: %g at %g, without an outlier in the absent row %g at %g", bare, got.Value, got.LogLambda, want.Value, want.LogLambda)
		}
	}
}
