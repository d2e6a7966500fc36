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
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// TestSelectFindsTheMinimum: against a fine grid on the same folds; from the
// default start and from three far ones; refitted on all rows.
func TestSelectFindsTheMinimum(t *testing.T) {
	x, y := load(t)
	splits := []pare.Validation{{InOrder: true}, {Seed: 42}, {InOrder: true, Criterion: pare.HoldOut}, {InOrder: true, Folds: 10}}
	starts := []float64{0, 0.3, 0.01, 2, 1e-4}
	for _, v := range splits[:min(len(splits), int(oracle.Cases(len(splits))))] {
		grid, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: v, Search: pare.Grid, Points: 200}, pare.Config{Tol: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		if len(grid.Evaluations) != 200 || grid.Gradient != nil {
			t.Errorf("grid: %d evaluations", len(grid.Evaluations))
		}
		for _, method := range []pare.Search{"", pare.Auto, pare.GradientStep} {
			for _, start := range starts[:min(len(starts), int(oracle.Cases(len(starts))))] {
				name := fmt.Sprintf("%+v, search %q from %g", v, method, start)
				precise := method != pare.GradientStep
				if precise && start != 0 {
					continue // it begins at αmax
				}
				s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: v, Search: method, Start: start, Precision: precise}, pare.Config{Tol: 1e-9})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if !s.Status.OK() && s.Status != outcome.Budget {
					t.Errorf("%s: %s", name, s.Status)
				}
				for _, e := range s.Evaluations {
					if e.Final && e.Value < s.Value {
						t.Errorf("%s: %g was seen, %g returned", name, e.Value, s.Value)
					}
				}
				if !slices.Equal(s.Final.LogLambda, s.LogLambda) || s.Final.Status != outcome.Converged || s.Final.RelativeGap > 1e-9 {
					t.Errorf("%s: refitted at %v with %s, chosen %v", name, s.Final.LogLambda, s.Final.Status, s.LogLambda)
				}
				if s.NullValue != grid.NullValue || s.Value > s.NullValue {
					t.Errorf("%s: value %g, null value %g and %g", name, s.Value, s.NullValue, grid.NullValue)
				}
				// Curves of few rows have several minima; one of them is found.
				if s.Value > grid.Value*1.03 && s.Status != outcome.Box {
					t.Errorf("%s: %s at %.8g (λ %.4f), the grid has %.8g (λ %.4f)", name, s.Status, s.Value, s.LogLambda[0], grid.Value, grid.LogLambda[0])
				}
				if s.Status != outcome.Stationary && s.Status != outcome.Kink {
					continue
				}
				at := s.LogLambda[0]
				for e, err := range pare.Validate(context.Background(), x, y, [][]float64{{at + 0.005}, {at - 0.005}}, v, pare.Config{Tol: 1e-9}) {
					if err != nil {
						t.Fatal(err)
					}
					if e.Value < s.Value*(1-2e-6) {
						t.Errorf("%s: %s at λ %.4f with %.9g, but %.9g at %.4f", name, s.Status, at, s.Value, e.Value, e.LogLambda[0])
					}
				}
			}
		}
	}
}

// TestSearches: every method gets near the best of a grid in its budget, on the
// coordinates of one λ and of two, and says where it has been.
func TestSearches(t *testing.T) {
	x, y := load(t)
	for _, m := range []pare.Model{pare.Lasso, pare.ElasticNet} {
		c := pare.Config{Model: m}
		grid, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Search: pare.Grid}, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range pare.Searches() {
			s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Search: method, Evaluations: 100}, c)
			if err != nil {
				t.Fatalf("%s, %s: %v", m, method, err)
			}
			if len(s.Evaluations) > 100 || s.Value > grid.Value*1.03 || s.Final == nil || s.Final.Status != outcome.Converged {
				t.Errorf("%s, %s: %s at %g after %d evaluations, the grid has %g", m, method, s.Status, s.Value, len(s.Evaluations), grid.Value)
			}
			least := s.Value
			if slices.Contains(s.LogLambda, math.Inf(-1)) { // a Lasso or a ridge, which a mixture has to beat clearly
				least -= 0.01 * s.StandardError
			}
			for _, e := range s.Evaluations {
				if len(e.LogLambda) != len(s.LogLambda) || e.Final && e.Value < least {
					t.Errorf("%s, %s: %+v, the best is %g", m, method, e, s.Value)
				}
			}
		}
	}
}

// TestSelectElasticNet ends no worse than a product grid, within a thousandth.
func TestSelectElasticNet(t *testing.T) {
	x, y := load(t)
	c := pare.Config{Model: pare.ElasticNet}
	grid, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Search: pare.Grid, Points: 225}, c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{}, c)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.LogLambda) != 2 || len(s.Gradient) != 2 || s.Value > grid.Value*(1+1e-3) {
		t.Errorf("%s at %g (%v) after %d evaluations, the grid has %g (%v)", s.Status, s.Value, s.LogLambda, len(s.Evaluations), grid.Value, grid.LogLambda)
	}
	if len(grid.Evaluations) != 225 {
		t.Errorf("a grid of %d points", len(grid.Evaluations))
	}
}

// TestSelectEnds: by budget and by context, with the best so far.
func TestSelectEnds(t *testing.T) {
	x, y := load(t)
	s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Evaluations: 2}, pare.Config{})
	if err != nil || s.Status != outcome.Budget || len(s.Evaluations) != 2 || s.Final == nil {
		t.Errorf("a budget of 2: %v, %+v", err, s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	seen := 0
	s, err = pare.Select(ctx, x, y, pare.SelectOptions{Progress: func(search.Evaluation) {
		if seen++; seen == 2 {
			cancel()
		}
	}}, pare.Config{})
	if err != nil || s.Status != outcome.Cancelled || len(s.Evaluations) != 2 || s.LogLambda == nil || s.Final != nil || outcome.KindOf(s.Err) != outcome.Limit || !errors.Is(s.Err, context.Canceled) {
		t.Errorf("cancelled after two: %v, %+v, %+v", err, s, s.Final)
	}
	s, err = pare.Select(ctx, x, y, pare.SelectOptions{}, pare.Config{})
	if err != nil || s.Status != outcome.Cancelled || s.Final != nil || s.LogLambda != nil || !math.IsNaN(s.Value) {
		t.Errorf("cancelled before: %v, %+v", err, s)
	}
	if _, err := pare.Gradient(ctx, x, y, []float64{0}, pare.Validation{InOrder: true}, pare.Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("gradient of a cancelled context: %v", err)
	}
	if f, err := pare.Fit(ctx, x, y, []float64{0}, pare.Config{}); err != nil || f.Status != outcome.Cancelled {
		t.Errorf("fit of a cancelled context: %v, %+v", err, f)
	}
}
