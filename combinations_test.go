package pare_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// combination is one combination of options.
type combination struct {
	model              pare.Model
	criterion          pare.Criterion
	loss               string // "" is the model's own
	method             pare.Method
	search             pare.Search
	bare, standardize  bool
	positive, weighted bool
	ends               bool // an unpenalised and an excluded column
	perClass, oneSE    bool
	tested             bool // some rows are kept for testing
}

var ownLosses = []string{"", "mse", "logistic", "smoothed_hinge", "own"}

// drawCombination draws a combination with the model, criterion and method of the given turn.
// Most options that it draws are compatible.
func drawCombination(r *oracle.Random, turn uint64) (c combination) {
	pick := func(n int) int { return int(r.Uint64() % uint64(n)) }
	flag := func() bool { return pick(2) == 1 }
	models, criteria, methods := pare.Models(), pare.Criteria(), pare.Methods()
	m := uint64(len(models))
	for range 100 {
		c = combination{
			model: models[turn%m], criterion: criteria[turn/m%7], method: methods[turn/m/7%5],
			loss: ownLosses[pick(len(ownLosses))], search: pare.Searches()[pick(len(pare.Searches()))],
			bare: flag(), standardize: flag(), positive: flag(), weighted: flag(), ends: flag(), perClass: flag(), oneSE: flag(), tested: flag(),
		}
		c.standardize = c.standardize || !c.model.Traits().Convex        // the units of γ and a
		if traits := c.model.Traits(); !traits.Iterated && pick(4) > 0 { // otherwise nearly all combinations would be refused
			if c.method = pare.Implicit; c.criterion != pare.HoldOut {
				c.criterion = pare.CV
			}
		}
		if c.model == pare.Huber && c.judgesClasses() {
			c.loss = "" // labels of ±1 have no scale
		}
		gradient, choice := c.refusals()
		if len(choice) == 0 || len(gradient) <= 1 && len(choice) <= 1 && pick(4) == 0 {
			break
		}
	}
	return c
}

// refusals returns the options incompatible with the rest, by the names of their flags.
func (c combination) refusals() (gradient, choice []string) {
	held := c.criterion == pare.CV || c.criterion == pare.HoldOut
	left := c.criterion == pare.ALO || c.criterion == pare.GCV
	squared, traits := slices.Contains(squared, c.model), c.model.Traits()
	for _, rule := range []struct {
		broken bool
		flag   string
	}{
		{c.standardize && (c.model == pare.SVM || c.model == pare.SimplexSVR), "standardize"}, // SVMs cannot be standardised without an intercept
		{c.positive && !traits.Positive, "positive"},
		{c.method != pare.Implicit && (c.standardize || !traits.Iterated), "method"},
		{c.loss != "" && (!held || traits.Classes || c.weighted && c.loss == "own" || c.meansOnly() && c.judgesClasses()), "validation-loss"},
		{!held && !left && (!squared || c.weighted), "criterion"},
		{left && (c.model == pare.WeightedLasso || traits.Samples || traits.Classes || !traits.Certified), "criterion"},
		{left && c.method != pare.Implicit, "method"},
		{!held && c.tested, "fold-ids"},
		{c.ends && c.positive && c.model == pare.WeightedLasso, "positive"},
	} {
		if rule.broken {
			gradient = append(gradient, rule.flag)
		}
	}
	choice = slices.Clone(gradient)
	if c.ends && c.positive && c.model == pare.WeightedLasso {
		choice = choice[:len(choice)-1] // a choice is given no λ of ±∞
	}
	points := slices.Contains([]pare.Search{pare.Grid, pare.Random, pare.Halton, pare.TPE}, c.search)
	for _, rule := range []struct {
		broken bool
		flag   string
	}{
		{c.search == pare.Grid && c.model.Traits().Samples, "search"},
		{points && c.model == pare.WeightedLasso, "search"},
		{c.perClass && (traits.Strengths != pare.EachClass || c.search == pare.Grid), "per-class"},
	} {
		if rule.broken {
			choice = append(choice, rule.flag)
		}
	}
	return gradient, choice
}

// done reports whether a status is one with which an inner problem may end successfully.
func (c combination) done(s outcome.Status) bool {
	return s == outcome.Converged || s == outcome.Stationary && !c.model.Traits().Convex
}

// meansOnly reports a logarithmic link: targets are not negative, and ℓ″ is unbounded.
func (c combination) meansOnly() bool {
	traits, err := pare.Config{Model: c.model}.Traits()
	return err == nil && traits.Link == loss.Log
}

func (c combination) judgesClasses() bool { return c.loss == "logistic" || c.loss == "smoothed_hinge" }

// data draws a problem for the combination.
func (c combination) data(t *testing.T, r *oracle.Random) (sparse.Matrix, []float64) {
	const n, p = 36, 5
	q := r.Problem(oracle.Shape{N: n, P: p, Density: r.Pick(0.6, 1), Mean: r.Pick(0, 1), Active: 3})
	q.Y = c.targets(r, q)
	return matrixOf(t, q.X, p, r.Intn(2) == 0), q.Y
}

// targets turns the targets of a problem into ones that the model accepts.
func (c combination) targets(r *oracle.Random, q *oracle.Problem) []float64 {
	classes := c.model == pare.Logistic || c.model == pare.SVM || c.model == pare.SquaredHinge || c.judgesClasses()
	mean := q.Mean(-1)
	for i, y := range q.Y {
		switch {
		case c.model == pare.Poisson:
			q.Y[i] = math.Floor(math.Abs(y - mean))
		case c.meansOnly():
			q.Y[i] = 0.1 + math.Abs(y-mean)
		case c.model.Traits().Classes:
			q.Y[i] = float64((i+r.Intn(2))%3) + 1
		case classes:
			q.Y[i] = math.Copysign(1, y-mean+r.Normal())
		}
	}
	return q.Y
}

func (c combination) config(r *oracle.Random, n int) pare.Config {
	config := pare.Config{Model: c.model, Method: c.method, NoIntercept: c.bare, Standardize: c.standardize, Positive: c.positive, Tol: 1e-12, Certify: true}
	if c.weighted {
		for range n {
			config.Weights = append(config.Weights, r.Pick(0, 0.5, 1, 2))
		}
	}
	return config
}

func (c combination) validation(n int) pare.Validation {
	v := pare.Validation{Criterion: c.criterion}
	switch c.loss {
	case "mse":
		v.Loss = criterion.MeanSquaredError{}
	case "logistic":
		v.Loss = criterion.Of(loss.Logistic{})
	case "smoothed_hinge":
		v.Loss = criterion.Of(loss.SmoothedHinge{})
	case "own":
		v.Loss = criterion.Func("own", squares)
	}
	if c.tested {
		for i := range n {
			v.FoldIDs = append(v.FoldIDs, [...]int{0, -1, -2, -1}[i/2%4])
		}
	}
	return v
}

// refused reports whether an error names one of the incompatible options. If there are
// incompatible options, an error must name one of them.
func refused(t *testing.T, name string, err error, flags []string) bool {
	t.Helper()
	if err == nil {
		if len(flags) > 0 {
			t.Errorf("%s: taken in spite of %v", name, flags)
		}
		return false
	}
	e, ok := errors.AsType[*outcome.Error](err)
	if ok && e.Kind == outcome.SingleClass {
		return true // the weights leave a fold without the class
	}
	if !ok || !slices.Contains(flags, e.Flag) || e.Kind != outcome.Usage && e.Kind != outcome.BadParameter {
		t.Errorf("%s: %v, want one of %v", name, err, flags)
	}
	return true
}

// TestEveryCombination checks that every combination of options either gives a value and a
// gradient that agree with finite differences, or is refused by the name of an incompatible
// option.
func TestEveryCombination(t *testing.T) {
	ctx := context.Background()
	slopes, choices := 0, 0
	triples := 7 * 5 * len(pare.Models()) // combinations of model, criterion and method
	draws := oracle.Cases(100 * len(pare.Models()))
	if oracle.Few() {
		draws = max(8, draws/5)
	}
	for draw := range draws {
		r := oracle.NewRandom(31 * draw)
		c := drawCombination(r, 7919*draw%uint64(triples))
		x, y := c.data(t, r)
		config, v := c.config(r, len(y)), c.validation(len(y))
		name := fmt.Sprintf("draw %d, %+v", draw, c)
		gradient, choice := c.refusals()
		lambda := somewhere(t, x, y, pare.Config{Model: c.model, NoIntercept: c.bare, Weights: config.Weights, Standardize: !c.model.Traits().Convex, Positive: c.positive && c.model.Traits().Positive})
		if slices.ContainsFunc(lambda, func(l float64) bool { return math.IsInf(l, 0) }) {
			continue // β ≥ 0 excludes every column
		}
		if c.ends && c.model == pare.WeightedLasso {
			lambda[1], lambda[3] = math.Inf(-1), math.Inf(1)
		}
		at := func(i int, step float64) (*pare.Hypergradient, error) {
			moved := slices.Clone(lambda)
			moved[i] += step
			return pare.Gradient(ctx, x, y, moved, v, config)
		}
		here, err := at(0, 0)
		if !refused(t, name, err, gradient) && (c.method != pare.Implicit || here.SupportCertified || !c.model.Traits().Certified && c.model != pare.SVM && here.Status.OK()) {
			if !c.done(here.Status) && here.Status != outcome.Flat && (c.method == pare.Implicit || here.Status != outcome.Budget) {
				t.Errorf("%s: %s", name, here.Status)
			}
			for i, got := range here.Gradient {
				if math.IsInf(lambda[i], 0) {
					if got != 0 {
						t.Errorf("%s: ∂/∂λ%d = %g at λ = %g", name, i+1, got, lambda[i])
					}
					continue
				}
				const h = 1e-5
				up, err := at(i, h)
				if err != nil {
					t.Fatal(err)
				}
				down, err := at(i, -h)
				if err != nil {
					t.Fatal(err)
				}
				forward, backward := (up.Value-here.Value)/h, (here.Value-down.Value)/h
				scale := math.Abs(forward) + 1e-2*math.Abs(here.Value)
				if math.Abs(forward-backward) > 1e-3*scale {
					continue // a knot lies between the two points
				}
				slopes++
				near := 1e-5
				if c.method != pare.Implicit {
					near = 1e-4
				}
				if want := (forward + backward) / 2; !(math.Abs(got-want) <= near*scale) {
					t.Errorf("%s: ∂/∂λ%d = %.10g, differences %.10g", name, i+1, got, want)
				}
			}
			for e, err := range pare.Validate(ctx, x, y, [][]float64{lambda}, v, config) {
				if err != nil || here.Status != outcome.Budget && math.Abs(e.Value-here.Value) > 1e-6*math.Abs(here.Value)+1e-9 {
					t.Errorf("%s: validated %g, %v; the gradient has %g", name, e.Value, err, here.Value)
				}
			}
		}
		config.Tol = 1e-8
		o := pare.SelectOptions{Validation: v, Search: c.search, PerClass: c.perClass, OneSE: c.oneSE, Evaluations: 9}
		if !c.search.Points() {
			o.Schedule = search.Exact // choose to the tolerance, not to the standard error
		} else if oracle.Few() {
			o.MinRatio = 0.03 // below that, separable classes take a thousand times as long
		}
		s, err := pare.Select(ctx, x, y, o, config)
		if refused(t, name, err, choice) {
			continue
		}
		choices++
		if s.Final == nil || len(s.LogLambda) != len(lambda) || math.IsNaN(s.Value) || math.IsInf(s.Value, 0) || s.Err != nil || !c.done(s.Final.Status) || s.Final.Model != c.model {
			t.Errorf("%s: %+v", name, s)
			continue
		}
		best := slices.IndexFunc(s.Evaluations, func(e search.Evaluation) bool { return e.Value == s.Value && slices.Equal(e.LogLambda, s.LogLambda) })
		if best < 0 || !s.Evaluations[best].Trusted {
			continue
		}
		for e, err := range pare.Validate(ctx, x, y, [][]float64{s.LogLambda}, v, config) {
			if err != nil || math.Abs(e.Value-s.Value) > 1e-3*math.Abs(s.Value)+1e-6 {
				t.Errorf("%s: chosen at %g, validated %g, %v", name, s.Value, e.Value, err)
			}
		}
		for _, e := range s.Evaluations {
			if e.Value < s.Value-1e-3*math.Abs(s.Value) && e.Trusted && e.Tol <= 1e-7 && c.model != pare.WeightedLasso {
				t.Errorf("%s: %g was seen, %g chosen", name, e.Value, s.Value)
			}
		}
		if out, err := s.Final.Predictor().Predict(x); err != nil || slices.ContainsFunc(out, math.IsNaN) {
			t.Errorf("%s: predictions %v, %v", name, out, err)
		}
	}
	if n := int(draws); slopes < n/3 || choices < n/5 {
		t.Errorf("only %d slopes and %d choices looked at", slopes, choices)
	}
}
