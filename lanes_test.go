package pare_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// TestLanesOfAJobAnswerAsThoseOfSelect checks that a job holds everything that remote lanes
// need, for every model, criterion and search: they give the results of Select.
func TestLanesOfAJobAnswerAsThoseOfSelect(t *testing.T) {
	validations := map[string]pare.SelectOptions{
		"cv":   {},
		"grid": {Search: pare.Grid, Points: 9, Validation: pare.Validation{Split: pare.Stratified, Seed: 3}},
		"bic":  {Validation: pare.Validation{Criterion: pare.BIC}},
	}
	for i, model := range pare.Models() {
		for k, name := range slices.Sorted(maps.Keys(validations)) {
			o, traits := validations[name], model.Traits()
			if !oracle.Turn(i+k, 2) {
				continue
			}
			if name == "bic" && (traits.Loss != (loss.Squared{}).Name() || !traits.Iterated) || name == "grid" && (traits.Samples || traits.Strengths == pare.EachColumn) {
				continue
			}
			t.Run(string(model)+", "+name, func(t *testing.T) {
				q := oracle.NewRandom(8).Problem(oracle.Shape{N: 60, P: 8, Density: 0.6, Active: 3})
				for i, v := range q.Y {
					if traits.Classes {
						q.Y[i] = float64(i % 3)
						continue
					}
					switch traits.Link {
					case loss.Logit, loss.Margin:
						q.Y[i] = math.Copysign(1, v)
					case loss.Log:
						q.Y[i] = math.Floor(math.Abs(3*v)) + 1
					}
				}
				x, c := fixture.Matrix(t, q, false), pare.Config{Model: model, Standardize: !traits.Convex}
				near, err := pare.Select(t.Context(), x, q.Y, o, c)
				if err != nil {
					t.Fatal(err)
				}
				jobs := 0
				o.Lanes = func(ctx context.Context, j pare.Job) (bilevel.Runner, error) {
					jobs++
					j.Config.Threads = 1
					return pare.NewLanes(ctx, x, q.Y, j)
				}
				far, err := pare.Select(t.Context(), x, q.Y, o, c)
				if e, ok := errors.AsType[*outcome.Error](err); ok && e.Flag == "lanes" && jobs == 0 {
					t.Skip(err) // refused by name before any lane is used
				}
				if err != nil {
					t.Fatal(err)
				}
				if a, b := without(t, near), without(t, far); a != b {
					t.Errorf("%s\nbeside %s", b, a)
				}
				if want := map[bool]int{false: 1, true: 2}[traits.Strengths == pare.EachColumn]; jobs != want {
					t.Errorf("%d jobs, want %d", jobs, want)
				}
			})
		}
	}
}

// without returns a selection as JSON without its times.
func without(t *testing.T, s *pare.Selection) string {
	t.Helper()
	s.SecondsSearch, s.SecondsRefit, s.SecondsOneSE = 0, 0, 0
	for i := range s.Evaluations {
		s.Evaluations[i].Seconds = 0
	}
	for _, e := range []*search.Evaluation{s.Common, s.OneSE} {
		if e != nil {
			e.Seconds = 0
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestLanesElsewhereAreRefused checks that remote lanes are refused with limits that apply to
// one process only.
func TestLanesElsewhereAreRefused(t *testing.T) {
	q := oracle.NewRandom(8).Problem(oracle.Shape{N: 30, P: 4})
	x := fixture.Matrix(t, q, true)
	o := pare.SelectOptions{Lanes: func(context.Context, pare.Job) (bilevel.Runner, error) { panic("not asked") }}
	if _, err := pare.Select(t.Context(), x, q.Y, o, pare.Config{MaxBytes: 1 << 30}); outcome.KindOf(err) != outcome.Usage {
		t.Error(err)
	}
}

// TestLanesElsewhereHaveThePoolsLimits checks that remote lanes use the pool's limits on Gram
// matrices and copies of columns, so that they have the bits of local lanes, in a pool of any
// size.
func TestLanesElsewhereHaveThePoolsLimits(t *testing.T) {
	step := int64(2)
	if oracle.Few() {
		step = 4
		if oracle.Fewest() {
			step = 16
		}
	}
	for name, shape := range map[string]oracle.Shape{
		"dense":  {N: 200, P: 300, Active: 40},
		"sparse": {N: 2500, P: 150, Active: 80, Density: 0.5},
	} {
		q := oracle.NewRandom(8).Problem(shape)
		x := fixture.Matrix(t, q, name == "dense")
		gram, packed := 0, 0
		for bytes := int64(64 << 20); ; bytes /= step {
			pool, err := pare.NewPool(pare.PoolOptions{MaxBytes: bytes})
			if err != nil {
				t.Fatal(err)
			}
			o, c := pare.SelectOptions{Evaluations: 3}, pare.Config{Pool: pool}
			near, err := pare.Select(t.Context(), x, q.Y, o, c)
			if outcome.KindOf(err) == outcome.Limit {
				break // the pool is too small for any cache
			}
			if err != nil {
				t.Fatal(err)
			}
			o.Lanes = func(ctx context.Context, j pare.Job) (bilevel.Runner, error) {
				gram, packed = max(gram, j.MaxGram), max(packed, int(j.MaxPacked))
				return pare.NewLanes(ctx, x, q.Y, j)
			}
			far, err := pare.Select(t.Context(), x, q.Y, o, c)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := without(t, near), without(t, far); a != b {
				t.Errorf("%s, %d bytes: %s\nbeside %s", name, bytes, b, a)
			}
		}
		if gram == 0 || (packed > 0) != (name == "sparse") {
			t.Errorf("%s: pools have limited Gram matrices to %d columns, and copies to %d bytes", name, gram, packed)
		}
	}
}

// TestLanesElsewhereCheckTheirLimits checks that lanes refuse a job whose limits are invalid.
func TestLanesElsewhereCheckTheirLimits(t *testing.T) {
	q := oracle.NewRandom(8).Problem(oracle.Shape{N: 30, P: 4})
	x := fixture.Matrix(t, q, true)
	for _, j := range []pare.Job{{MaxGram: -1}, {MaxPacked: -1}} {
		if _, err := pare.NewLanes(t.Context(), x, q.Y, j); outcome.KindOf(err) != outcome.BadParameter {
			t.Errorf("%+v: %v", j, err)
		}
	}
}
