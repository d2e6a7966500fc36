package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestEveryMethodKeepsItsPromises checks the properties required of all methods on a hundred functions of one
// to three coordinates with corners, plateaus, teeth and holes.
func TestEveryMethodKeepsItsPromises(t *testing.T) {
	for seed := range oracle.Draws(100) {
		random := oracle.NewRandom(seed)
		dim := 1 + random.Intn(3)
		centre, curvature := make([]float64, dim), make([]float64, dim)
		for i := range dim {
			centre[i], curvature[i] = -10*random.Float64(), math.Exp(4*random.Float64()-3)
		}
		smooth := bowl(centre, curvature)
		kind := seed % 5
		formula := func(x []float64) (float64, []float64) {
			value, gradient := smooth(x)
			for i := range x {
				d := x[i] - centre[i]
				switch kind {
				case 1: // a corner
					value += math.Abs(d)
					gradient[i] += math.Copysign(1, d)
				case 2: // teeth
					value += 1e-3 * math.Cos(40*d)
					gradient[i] -= 0.04 * math.Sin(40*d)
				case 3: // a plateau
					if d > 3 {
						gradient[i] = 0
					}
				case 4: // a hole
					if d > 1 && d < 2 {
						value, gradient[i] = math.NaN(), math.Inf(1)
					}
				}
			}
			return value, gradient
		}
		for _, start := range []float64{-4.6, 2, -12} {
			for _, m := range contenders(context.Background(), dim) {
				f, box := &analytic{f: formula}, cube(dim, -12, 0)
				name := fmt.Sprintf("seed %d, kind %d, %s from %g", seed, kind, m.name, start)
				r, err := m.run(f, slices.Repeat([]float64{start}, dim), box, Options{Evaluations: 40})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				promises(t, name, f, box, 40, r)
				if first := r.Evaluations[0].Value; r.Best.Value > first {
					t.Errorf("%s: from %g to %g", name, first, r.Best.Value)
				}
			}
		}
	}
}

// TestFirstOrderMethodsFindMinima checks quadratics whose minimum is inside the box or at its border.
func TestFirstOrderMethodsFindMinima(t *testing.T) {
	for seed := range uint64(40) {
		random := oracle.NewRandom(seed)
		dim := 1 + random.Intn(4)
		centre, curvature, start := make([]float64, dim), make([]float64, dim), make([]float64, dim)
		want, outside := 1.0, seed%3 == 0
		for i := range dim {
			centre[i], curvature[i], start[i] = -8*random.Float64()-1, math.Exp(2*random.Float64()-2), -9*random.Float64()
			if outside && i == 0 {
				centre[i] = 1
				want += curvature[i] / 2
			}
		}
		for _, m := range contenders(context.Background(), dim) {
			if !m.firstOrder {
				continue
			}
			f, box := &analytic{f: bowl(centre, curvature)}, cube(dim, -9, 0)
			name := fmt.Sprintf("seed %d, %d coordinates, %s", seed, dim, m.name)
			r, err := m.run(f, start, box, Options{Evaluations: 300})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			status := outcome.Stationary
			if outside {
				status = outcome.Box
			}
			limit := map[string]float64{"line search": 1e-3, "adam": 0.03}[m.name]
			if limit == 0 {
				limit = 1e-4
			}
			if r.Best.Value > want*(1+limit) || r.Status != status {
				t.Errorf("%s: %s at %.8g, the least is %.8g, after %d", name, r.Status, r.Best.Value, want, len(f.seen))
			}
			if (m.name == "trust region" || m.name == "l-bfgs") && len(f.seen) > 35 {
				t.Errorf("%s: %d evaluations", name, len(f.seen))
			}
		}
	}
}

// TestNothingIsFinite checks that if no value is finite the search returns an error, and no point that a caller
// might take for a choice.
func TestNothingIsFinite(t *testing.T) {
	for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, m := range contenders(context.Background(), 1) {
			f := &analytic{f: func([]float64) (float64, []float64) { return value, []float64{1} }}
			r, err := m.run(f, []float64{-4}, cube(1, -9, 0), Options{Evaluations: 12})
			if outcome.KindOf(err) != outcome.NonFinite || r.Best.LogLambda != nil || !math.IsNaN(r.Best.Value) || len(r.Evaluations) == 0 {
				t.Errorf("%g, %s: %v, %+v", value, m.name, err, r.Best)
			}
		}
	}
}

// TestFlatStarts checks that a search that starts above λmax, where the objective is constant, starts again
// inside, and reports Flat if the objective is constant everywhere.
func TestFlatStarts(t *testing.T) {
	for _, dim := range []int{1, 2} {
		centre, curvature := slices.Repeat([]float64{-4}, dim), slices.Repeat([]float64{1}, dim)
		valley := bowl(centre, curvature)
		for _, m := range contenders(context.Background(), dim) {
			if !m.firstOrder {
				continue
			}
			for _, all := range []bool{false, true} {
				flat := func(x []float64) bool { return all || x[0] >= -1 }
				f := &analytic{f: func(x []float64) (float64, []float64) {
					if flat(x) {
						return 20, make([]float64, dim)
					}
					return valley(x)
				}}
				f.at = func(k int, e *Evaluation) error {
					e.Flat = flat(f.seen[k].LogLambda)
					return nil
				}
				r, err := m.run(f, slices.Repeat([]float64{3}, dim), cube(dim, -12, 0), Options{Evaluations: 200})
				if err != nil {
					t.Fatal(err)
				}
				if all && (r.Status != outcome.Flat || len(f.seen) > 4) {
					t.Errorf("%s, flat everywhere: %s after %d", m.name, r.Status, len(f.seen))
				}
				if !all && (r.Status != outcome.Stationary || r.Best.Value > 1.02) {
					t.Errorf("%s, flat above −1: %s at %g", m.name, r.Status, r.Best.Value)
				}
			}
		}
	}
}

// TestStartsWithoutANumber checks that a start at which the value is NaN is left for another point, and that NaN
// everywhere gives a typed error within a few evaluations.
func TestStartsWithoutANumber(t *testing.T) {
	nan := math.NaN()
	for _, m := range contenders(context.Background(), 1) {
		if !m.firstOrder {
			continue
		}
		for name, hole := range map[string]func(x float64) bool{
			"below": func(x float64) bool { return x < -8 },
			"above": func(x float64) bool { return x > -7 },
		} {
			f := &analytic{f: func(x []float64) (float64, []float64) {
				if hole(x[0]) {
					return nan, []float64{nan}
				}
				return bowl([]float64{-7.5}, []float64{1})(x)
			}}
			start := map[string]float64{"below": -9, "above": -6}[name]
			r, err := m.run(f, []float64{start}, cube(1, -12, 0), Options{Evaluations: 200})
			if err != nil || r.Best.Value > 1.02 {
				t.Errorf("%s, NaN %s: %v, %+v", m.name, name, err, r.Best)
			}
		}
		f := &analytic{f: func([]float64) (float64, []float64) { return nan, []float64{nan} }}
		_, err := m.run(f, []float64{-6}, cube(1, -12, 0), Options{})
		if outcome.KindOf(err) != outcome.NonFinite && !strings.Contains(fmt.Sprint(err), "not finite") || len(f.seen) > 6 {
			t.Errorf("%s, NaN everywhere: %v after %d", m.name, err, len(f.seen))
		}
	}
}

// TestLostAtTheFinalTolerance checks an objective whose value or slope is finite at loose tolerances but not at
// the final one: the best point seen is returned with a typed error, unless the search can continue with the
// remaining information. No method evaluates at a λ that is not a number.
func TestLostAtTheFinalTolerance(t *testing.T) {
	nan := math.NaN()
	for _, dim := range []int{1, 2} {
		for _, m := range contenders(context.Background(), dim) {
			if !m.firstOrder {
				continue
			}
			for what, lost := range map[string]Evaluation{"value": {Value: nan, Gradient: make([]float64, dim)}, "slope": {Value: 1.5, Gradient: slices.Repeat([]float64{nan}, dim)}} {
				name := fmt.Sprintf("%s, %d coordinates, %s", m.name, dim, what)
				f := &analytic{f: bowl([]float64{-6, -6}[:dim], []float64{1, 1}[:dim])}
				f.at = func(k int, e *Evaluation) error {
					if e.Trusted = true; f.seen[k].Tol <= 1e-6 {
						e.Value, e.Gradient = lost.Value, lost.Gradient
					}
					return nil
				}
				r, err := m.run(f, slices.Repeat([]float64{-5}, dim), cube(dim, -12, 0), Options{Evaluations: 40, Schedule: Auto})
				if err != nil && outcome.KindOf(err) != outcome.NonFinite || err == nil && !(r.Best.Final && finite(r.Best.Value)) {
					t.Errorf("%s: %v, %+v", name, err, r.Best)
				}
				if r.Best.LogLambda == nil || !finite(r.Best.Value) {
					t.Errorf("%s: %+v: %v", name, r.Best, err)
				}
				if what == "slope" && err == nil && r.Status != outcome.Budget {
					t.Errorf("%s: %s where there is no slope", name, r.Status)
				}
				for _, q := range f.seen {
					if slices.ContainsFunc(q.LogLambda, math.IsNaN) {
						t.Fatalf("%s: asked at %v", name, q.LogLambda)
					}
				}
			}
		}
	}
}

// TestEveryEnding checks that the work done so far is returned if, after any number of evaluations, the objective
// fails or panics or the context ends.
func TestEveryEnding(t *testing.T) {
	broken := errors.New("broken")
	for at := range 6 {
		for _, how := range []string{"error", "panic", "panic with an error", "cancel", "budget"} {
			ctx, cancel := context.WithCancel(context.Background())
			for _, m := range contenders(ctx, 1) {
				ctx, cancel = context.WithCancel(context.Background())
				m = contenders(ctx, 1)[slices.IndexFunc(contenders(ctx, 1), func(c contender) bool { return c.name == m.name })]
				f := &analytic{f: bowl([]float64{-6}, []float64{0.3})}
				f.at = func(k int, _ *Evaluation) error {
					if k < at {
						return nil
					}
					switch how {
					case "error":
						return broken
					case "panic":
						panic("oh")
					case "panic with an error":
						panic(broken)
					case "cancel":
						cancel()
					}
					return nil
				}
				options := Options{Evaluations: 50}
				if how == "budget" {
					options.Evaluations = at + 1
				}
				r, err := m.run(f, []float64{-1}, cube(1, -12, 0), options)
				name := fmt.Sprintf("%s, %s at %d", m.name, how, at)
				done := at
				switch how {
				case "budget":
					done = at + 1
					if err != nil || (len(f.seen) == done && r.Status != outcome.Budget && !r.Status.OK()) {
						t.Errorf("%s: %v, %v", name, r.Status, err)
					}
				case "cancel":
					if len(f.seen) > at && (err != nil || r.Status != outcome.Cancelled) {
						t.Errorf("%s: %v, %v", name, r.Status, err)
					}
				case "error":
					if len(f.seen) > at && !errors.Is(err, broken) {
						t.Errorf("%s: %v", name, err)
					}
				default:
					if len(f.seen) <= at {
						break
					}
					value, ok := errors.AsType[*outcome.PanicError](err)
					if e, typed := errors.AsType[*outcome.Error](err); !ok || !typed || e.Kind != outcome.Internal || len(value.Stack) == 0 || err.Error() != fmt.Sprintf("panic: %v", value.Value) {
						t.Errorf("%s: %v", name, err)
					}
					if how == "panic with an error" != errors.Is(err, broken) {
						t.Errorf("%s: the cause is lost: %v", name, err)
					}
				}
				if len(r.Evaluations) > done || (len(f.seen) > at && len(r.Evaluations) != done) {
					t.Errorf("%s: %d evaluations kept", name, len(r.Evaluations))
				}
				if len(r.Evaluations) > 0 {
					f.seen = f.seen[:len(r.Evaluations)]
					promises(t, name, f, cube(1, -12, 0), 50, r)
				}
				cancel()
			}
			cancel()
		}
	}
}

// TestArgumentsOfTheOthers checks that the other methods refuse invalid arguments before the objective is
// evaluated.
func TestArgumentsOfTheOthers(t *testing.T) {
	ctx, nan, inf := context.Background(), math.NaN(), math.Inf(1)
	f := &analytic{f: bowl([]float64{0}, []float64{1})}
	box, start := cube(1, -1, 1), []float64{0}
	for name, run := range map[string]func() (*Result, error){
		"rate":            func() (*Result, error) { return Adam(ctx, f, start, box, AdamOptions{Rate: nan}) },
		"negative rate":   func() (*Result, error) { return Adam(ctx, f, start, box, AdamOptions{Rate: -1}) },
		"adam's box":      func() (*Result, error) { return Adam(ctx, f, start, Box{}, AdamOptions{}) },
		"adam's budget":   func() (*Result, error) { return Adam(ctx, f, start, box, AdamOptions{Options: Options{Stop: -1}}) },
		"memory":          func() (*Result, error) { return LBFGS(ctx, f, start, box, LBFGSOptions{Memory: -1}) },
		"prox":            func() (*Result, error) { return LBFGS(ctx, f, start, box, LBFGSOptions{Prox: inf}) },
		"l-bfgs's box":    func() (*Result, error) { return LBFGS(ctx, f, nil, box, LBFGSOptions{}) },
		"l-bfgs's tol":    func() (*Result, error) { return LBFGS(ctx, f, start, box, LBFGSOptions{Options: Options{Tol: -1}}) },
		"trust's box":     func() (*Result, error) { return TrustRegion(ctx, f, []float64{nan}, box, Options{}) },
		"trust's tol":     func() (*Result, error) { return TrustRegion(ctx, f, start, box, Options{Tol: inf}) },
		"schedule":        func() (*Result, error) { return TrustRegion(ctx, f, start, box, Options{Schedule: "slow"}) },
		"unbounded":       func() (*Result, error) { return Random(ctx, f, cube(1, -1, inf), 0, Options{}) },
		"no coordinates":  func() (*Result, error) { return Random(ctx, f, Box{}, 0, Options{}) },
		"halton's box":    func() (*Result, error) { return Halton(ctx, f, cube(1, 1, -1), Options{}) },
		"tpe's box":       func() (*Result, error) { return TPE(ctx, f, cube(1, -inf, 1), TPEOptions{}) },
		"tpe's start":     func() (*Result, error) { return TPE(ctx, f, box, TPEOptions{Startup: -1}) },
		"tpe's quantile":  func() (*Result, error) { return TPE(ctx, f, box, TPEOptions{Gamma: 1}) },
		"halton's budget": func() (*Result, error) { return Halton(ctx, f, box, Options{Evaluations: -1}) },
	} {
		_, err := run()
		if _, ok := errors.AsType[*outcome.Error](err); !ok || len(f.seen) > 0 {
			t.Errorf("%s: %v after %d evaluations", name, err, len(f.seen))
		}
	}
	for name, wrong := range map[string]func(e *Evaluation){
		"slopes":    func(e *Evaluation) { e.Gradient = []float64{1, 2} },
		"curvature": func(e *Evaluation) { e.Curvature = []float64{1, 2} },
	} {
		f := &analytic{f: f.f, at: func(_ int, e *Evaluation) error { wrong(e); return nil }}
		if _, err := TrustRegion(ctx, f, start, box, Options{}); !errors.Is(err, err) || err == nil {
			t.Errorf("wrong number of %s: %v", name, err)
		} else if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != outcome.Shape {
			t.Errorf("wrong number of %s: %v", name, err)
		}
	}
}
