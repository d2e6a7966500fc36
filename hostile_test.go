package pare_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// hostile holds functions that turn ordinary rows, with labels -1 and 1, into difficult data.
var hostile = map[string]func(rows [][]float64, y []float64) ([][]float64, []float64){
	"one row":    func(x [][]float64, y []float64) ([][]float64, []float64) { return x[:1], y[:1] },
	"two rows":   func(x [][]float64, y []float64) ([][]float64, []float64) { return x[:2], y[:2] },
	"three rows": func(x [][]float64, y []float64) ([][]float64, []float64) { return x[:3], y[:3] },
	"no column":  func(x [][]float64, y []float64) ([][]float64, []float64) { return columnsOf(x, 0), y },
	"one column": func(x [][]float64, y []float64) ([][]float64, []float64) { return columnsOf(x, 1), y },
	"constant column": func(x [][]float64, y []float64) ([][]float64, []float64) {
		return each(x, 1, func(float64) float64 { return 3 }), y
	},
	"empty column": func(x [][]float64, y []float64) ([][]float64, []float64) {
		return each(x, 1, func(float64) float64 { return 0 }), y
	},
	"constant columns": func(x [][]float64, y []float64) ([][]float64, []float64) {
		return every(x, func(float64) float64 { return 3 }), y
	},
	"empty columns": func(x [][]float64, y []float64) ([][]float64, []float64) {
		return every(x, func(float64) float64 { return 0 }), y
	},
	"large columns":      func(x [][]float64, y []float64) ([][]float64, []float64) { return every(x, by(400)), y },
	"small columns":      func(x [][]float64, y []float64) ([][]float64, []float64) { return every(x, by(-400)), y },
	"overflowing column": func(x [][]float64, y []float64) ([][]float64, []float64) { return each(x, 1, by(600)), y },
	"faint column":       func(x [][]float64, y []float64) ([][]float64, []float64) { return each(x, 1, by(-600)), y },
	"mixed columns": func(x [][]float64, y []float64) ([][]float64, []float64) {
		return each(each(x, 0, by(400)), 1, by(-400)), y
	},
	"equal rows": func(x [][]float64, y []float64) ([][]float64, []float64) {
		return slices.Repeat(x[:4], 5), slices.Repeat(y[:4], 5)
	},
	"equal columns": func(x [][]float64, y []float64) ([][]float64, []float64) {
		out := every(x, by(0))
		for i := range out {
			out[i][2] = out[i][0]
		}
		return out, y
	},
	"one target": func(x [][]float64, y []float64) ([][]float64, []float64) { return x, repeat(1, len(y)) },
	"no target":  func(x [][]float64, y []float64) ([][]float64, []float64) { return x, repeat(0, len(y)) },
	"rare class": func(x [][]float64, y []float64) ([][]float64, []float64) {
		return x, append([]float64{-1}, repeat(1, len(y)-1)...)
	},
	"sorted":       func(x [][]float64, y []float64) ([][]float64, []float64) { return x, slices.Sorted(slices.Values(y)) },
	"exact":        func(x [][]float64, y []float64) ([][]float64, []float64) { return x, columnOf(x, 0) },
	"large target": func(x [][]float64, y []float64) ([][]float64, []float64) { return x, scaled(columnOf(x, 0), 400) },
	"small target": func(x [][]float64, y []float64) ([][]float64, []float64) { return x, scaled(columnOf(x, 0), -400) },
	"far target": func(x [][]float64, y []float64) ([][]float64, []float64) {
		out := slices.Clone(y)
		for i := range out {
			out[i] += 1e15
		}
		return x, out
	},
	"all large": func(x [][]float64, y []float64) ([][]float64, []float64) { return every(x, by(400)), scaled(y, 400) },
	"wide": func(x [][]float64, y []float64) ([][]float64, []float64) {
		r := oracle.NewRandom(8)
		out := make([][]float64, len(x))
		for i := range out {
			for range 120 {
				out[i] = append(out[i], r.Normal())
			}
		}
		return out, y
	},
}

func by(exponent int) func(float64) float64 {
	return func(v float64) float64 { return math.Ldexp(v, exponent) }
}

func scaled(y []float64, exponent int) []float64 {
	out := slices.Clone(y)
	for i := range out {
		out[i] = math.Ldexp(out[i], exponent)
	}
	return out
}

func columnOf(x [][]float64, j int) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i][j]
	}
	return out
}

func columnsOf(x [][]float64, p int) [][]float64 {
	out := make([][]float64, len(x))
	for i := range x {
		out[i] = slices.Clone(x[i][:p])
	}
	return out
}

func each(x [][]float64, j int, f func(float64) float64) [][]float64 {
	out := columnsOf(x, len(x[0]))
	for i := range out {
		out[i][j] = f(out[i][j])
	}
	return out
}

func every(x [][]float64, f func(float64) float64) [][]float64 {
	out := columnsOf(x, len(x[0]))
	for j := range x[0] {
		out = each(out, j, f)
	}
	return out
}

// TestHostileData checks that difficult data give finite numbers and a status, or an error with a specific kind.
func TestHostileData(t *testing.T) {
	ctx := context.Background()
	q := oracle.NewRandom(5).Problem(oracle.Shape{N: 20, P: 4, Active: 2})
	y := make([]float64, len(q.Y))
	for i, v := range q.Y {
		y[i] = math.Copysign(1, v)
	}
	faulty := func(name string, err error) bool {
		if e, ok := errors.AsType[*outcome.Error](err); err != nil && (!ok || e.Kind == outcome.Internal || e.Message == "") {
			t.Errorf("%s: %v", name, err)
		}
		return err != nil
	}
	finite := func(name string, values ...float64) {
		for _, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 1) {
				t.Errorf("%s: %g", name, values)
				return
			}
		}
	}
	for i, what := range slices.Sorted(maps.Keys(hostile)) {
		rows, target := hostile[what](q.X, y)
		x := matrixOf(t, rows, len(rows[0]), false)
		for j, m := range pare.Models() {
			if !oracle.Turn(i+j, 4) {
				continue
			}
			configs := []pare.Config{{}, {NoIntercept: true, Standardize: m != pare.SVM}, {Positive: m != pare.SVM && m != pare.Ridge}}
			if oracle.Few() {
				configs = configs[:1]
			}
			convex := m.Traits().Convex
			for _, c := range configs {
				c.Model, c.MaxEpochs, c.Certify = m, 50, true
				name := fmt.Sprintf("%s, %+v", what, c)
				lambda := repeat(-2, m.Hyperparameters(x, target))
				if f, err := pare.Fit(ctx, x, target, lambda, c); !faulty(name, err) {
					if !convex && math.IsNaN(f.Gap) { // no gap is known
						f.Gap, f.RelativeGap = 0, 0
					}
					finite(name, append(slices.Clone(f.Coef), f.Intercept, f.Objective, f.Gap, f.RelativeGap, f.KKT, f.DualMargin)...)
				}
				for _, v := range []pare.Validation{{InOrder: true}, {InOrder: true, Criterion: pare.HoldOut, Split: pare.Stratified}, {Criterion: pare.SURE}} {
					name := fmt.Sprintf("%s, %+v", name, v)
					if g, err := pare.Gradient(ctx, x, target, lambda, v, c); !faulty(name, err) && g.Status != outcome.Failed {
						if !convex && math.IsNaN(g.RelativeGap) {
							g.RelativeGap = 0
						}
						finite(name, append(slices.Clone(g.Gradient), g.Value, g.RelativeGap, g.KKT)...)
					}
					if s, err := pare.Select(ctx, x, target, pare.SelectOptions{Validation: v, Evaluations: 6, OneSE: true}, c); !faulty(name, err) {
						finite(name, append(slices.Clone(s.LogLambda), s.Value, s.NullValue)...)
					}
				}
			}
		}
	}
}

// TestFaintColumns checks that entries too small to be squared are refused, with the column or the row, and not treated
// as 0.
func TestFaintColumns(t *testing.T) {
	q := oracle.NewRandom(5).Problem(oracle.Shape{N: 20, P: 4})
	y := repeat(1, 20)
	y[3], y[8] = -1, -1
	for _, m := range pare.Models() {
		x := matrixOf(t, every(q.X, by(-600)), 4, false)
		_, err := pare.Fit(context.Background(), x, y, repeat(-2, m.Hyperparameters(x, y)), pare.Config{Model: m})
		if e, ok := errors.AsType[*outcome.Error](err); !ok || !e.HasColumn && !e.HasRow {
			t.Errorf("%s: %v", m, err)
		}
	}
}

// TestGroupsOfOtherModels checks that the refusal of groups of columns names every model that has them.
func TestGroupsOfOtherModels(t *testing.T) {
	x, y := load(t)
	_, p := x.Dims()
	_, err := pare.Fit(t.Context(), x, y, []float64{-2}, pare.Config{Groups: make([]int, p)})
	if err == nil {
		t.Fatal("accepted")
	}
	words := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == ' ' || r == ',' })
	for _, m := range pare.Models() {
		if m.Traits().Grouped && !slices.Contains(words, string(m)) {
			t.Errorf("%s is not named: %v", m, err)
		}
	}
}

// TestNoContext checks that a nil context is refused as the caller's error, not reported as a defect of pare.
func TestNoContext(t *testing.T) {
	x, y := load(t)
	var none context.Context
	lambda := []float64{-2}
	fitter, err := pare.NewFitter(x, y, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := fitter.Fit(t.Context(), lambda)
	if err != nil {
		t.Fatal(err)
	}
	first := func(all iter.Seq2[*pare.Fitted, error]) (err error) {
		for _, err = range all {
			break
		}
		return err
	}
	_, fit := pare.Fit(none, x, y, lambda, pare.Config{})
	_, choice := pare.Select(none, x, y, pare.SelectOptions{}, pare.Config{})
	_, gradient := pare.Gradient(none, x, y, lambda, pare.Validation{}, pare.Config{})
	_, held := pare.OutOfFold(none, x, y, lambda, pare.Validation{}, pare.Config{})
	_, left := pare.LeaveOneOut(none, x, y, lambda, pare.Config{})
	_, relaxed := pare.Relax(none, x, y, f, pare.Config{})
	_, again := fitter.Fit(none, lambda)
	path := first(pare.Path(none, x, y, [][]float64{lambda}, pare.Config{}))
	for name, err := range map[string]error{
		"Fit": fit, "Select": choice, "Gradient": gradient, "OutOfFold": held, "LeaveOneOut": left, "Relax": relaxed, "Fitter.Fit": again, "Path": path,
	} {
		if outcome.KindOf(err) != outcome.Usage || !strings.Contains(err.Error(), "context.Background()") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := fitter.Fit(t.Context(), lambda); err != nil {
		t.Errorf("the Fitter afterwards: %v", err)
	}
}

// TestArguments checks that invalid arguments are refused with the kind and the position of the error before any result
// is reported, and that X and y are not modified.
func TestArguments(t *testing.T) {
	x, y := load(t)
	n, p := x.Dims()
	before := fingerprint(x, y)
	bad := slices.Clone(y)
	bad[7] = math.NaN()
	unlabelled := slices.Repeat([]float64{1}, n)
	unlabelled[7] = math.NaN()
	nan, inf := math.NaN(), math.Inf(1)
	ctx := context.Background()
	fit := func(x sparse.Matrix, y, lambda []float64, c pare.Config) error {
		f, err := pare.Fit(ctx, x, y, lambda, c)
		if (f == nil) != (err != nil) {
			t.Errorf("%v and %v", f, err)
		}
		return err
	}
	choose := func(o pare.SelectOptions, c pare.Config) error {
		o.Progress = func(search.Evaluation) { t.Errorf("%+v: evaluated", o) }
		_, err := pare.Select(ctx, x, y, o, c)
		return err
	}
	gradient := func(lambda []float64, v pare.Validation) error {
		_, err := pare.Gradient(ctx, x, y, lambda, v, pare.Config{})
		return err
	}
	validate := func(v pare.Validation, c pare.Config) error {
		for e, err := range pare.Validate(ctx, x, y, [][]float64{{0}}, v, c) {
			if err == nil {
				t.Errorf("%+v: evaluated to %g", v, e.Value)
			}
			return err
		}
		return nil
	}
	ids := make([]int, n)
	ids[5], ids[6] = 1, -3
	positive := make([]int, n)
	positive[4] = 2
	for name, c := range map[string]struct {
		err  error
		kind outcome.Kind
		row  int
	}{
		"no matrix":            {fit(nil, y, []float64{0}, pare.Config{}), outcome.Shape, -1},
		"a reader's no matrix": {fit((*sparse.CSC)(nil), y, []float64{0}, pare.Config{}), outcome.Shape, -1},
		"a dense no matrix":    {fit((*sparse.Dense)(nil), y, []float64{0}, pare.Config{}), outcome.Shape, -1},
		"a matrix in another":  {fit(struct{ sparse.Matrix }{x}, y, []float64{0}, pare.Config{}), outcome.Shape, -1},
		"short y":              {fit(x, y[:5], []float64{0}, pare.Config{}), outcome.Shape, -1},
		"short labels":         {fit(x, y[:5], []float64{0}, pare.Config{Model: pare.Multiclass}), outcome.Shape, -1},
		"an SVM's short":       {fit(x, y[:5], []float64{0}, pare.Config{Model: pare.SVM}), outcome.Shape, -1},
		"NaN among labels":     {fit(x, unlabelled, []float64{0}, pare.Config{Model: pare.Logistic}), outcome.NonFinite, 7},
		"NaN among an SVM's":   {fit(x, unlabelled, []float64{0}, pare.Config{Model: pare.SVM}), outcome.NonFinite, 7},
		"NaN in y":             {fit(x, bad, []float64{0}, pare.Config{}), outcome.NonFinite, 7},
		"no λ":                 {fit(x, y, nil, pare.Config{}), outcome.Shape, -1},
		"two λ for the Lasso":  {fit(x, y, []float64{0, 0}, pare.Config{}), outcome.Shape, -1},
		"one λ for enet":       {fit(x, y, []float64{0}, pare.Config{Model: pare.ElasticNet}), outcome.Shape, -1},
		"one λ for wlasso":     {fit(x, y, []float64{0}, pare.Config{Model: pare.WeightedLasso}), outcome.Shape, -1},
		"NaN λ":                {fit(x, y, []float64{nan}, pare.Config{}), outcome.BadParameter, -1},
		"infinite λ":           {fit(x, y, []float64{inf}, pare.Config{}), outcome.BadParameter, -1},
		"λ = 800":              {fit(x, y, []float64{800}, pare.Config{}), outcome.BadParameter, -1},
		"λ = −800":             {fit(x, y, []float64{-800}, pare.Config{}), outcome.BadParameter, -1},
		"NaN among wlasso's":   {fit(x, y, append(repeat(0, p-1), nan), pare.Config{Model: pare.WeightedLasso}), outcome.BadParameter, -1},
		"tolerance −1":         {fit(x, y, []float64{0}, pare.Config{Tol: -1}), outcome.BadParameter, -1},
		"tolerance 1e-16":      {fit(x, y, []float64{0}, pare.Config{Tol: 1e-16}), outcome.BadParameter, -1},
		"tolerance NaN":        {fit(x, y, []float64{0}, pare.Config{Tol: nan}), outcome.BadParameter, -1},
		"tolerance +Inf":       {fit(x, y, []float64{0}, pare.Config{Tol: inf}), outcome.BadParameter, -1},
		"threads −1":           {fit(x, y, []float64{0}, pare.Config{Threads: -1}), outcome.BadParameter, -1},
		"epochs −1":            {fit(x, y, []float64{0}, pare.Config{MaxEpochs: -1}), outcome.BadParameter, -1},
		"unknown model":        {fit(x, y, []float64{0}, pare.Config{Model: "tree"}), outcome.Usage, -1},
		"unknown kernels":      {fit(x, y, []float64{0}, pare.Config{Kernels: "gpu"}), outcome.BadParameter, -1},
		"one fold":             {choose(pare.SelectOptions{Validation: pare.Validation{InOrder: true, Folds: 1}}, pare.Config{}), outcome.BadParameter, -1},
		"more folds than rows": {choose(pare.SelectOptions{Validation: pare.Validation{InOrder: true, Folds: n + 1}}, pare.Config{}), outcome.BadParameter, -1},
		"validate no model":    {validate(pare.Validation{InOrder: true}, pare.Config{Model: "forest"}), outcome.Usage, -1},
		"validate no split":    {validate(pare.Validation{InOrder: true, Split: "odd"}, pare.Config{}), outcome.Usage, -1},
		"validate one fold":    {validate(pare.Validation{InOrder: true, Folds: 1}, pare.Config{}), outcome.BadParameter, -1},
		"fold −3":              {gradient([]float64{0}, pare.Validation{FoldIDs: ids}), outcome.BadParameter, 6},
		"short fold ids":       {gradient([]float64{0}, pare.Validation{FoldIDs: ids[:9]}), outcome.Shape, -1},
		"fold 2 in a hold-out": {gradient([]float64{0}, pare.Validation{FoldIDs: positive, Criterion: pare.HoldOut}), outcome.BadParameter, 4},
		"short groups":         {gradient([]float64{0}, pare.Validation{InOrder: true, Groups: ids[:9]}), outcome.Shape, -1},
		"gradient of two λ":    {gradient([]float64{0, 0}, pare.Validation{InOrder: true}), outcome.Shape, -1},
		"start −1":             {choose(pare.SelectOptions{Start: -1}, pare.Config{}), outcome.BadParameter, -1},
		"start NaN":            {choose(pare.SelectOptions{Start: nan}, pare.Config{}), outcome.BadParameter, -1},
		"start +Inf":           {choose(pare.SelectOptions{Start: inf}, pare.Config{}), outcome.BadParameter, -1},
		"unknown schedule":     {choose(pare.SelectOptions{Schedule: "steep"}, pare.Config{}), outcome.BadParameter, -1},
		"unknown search":       {choose(pare.SelectOptions{Search: "luck"}, pare.Config{}), outcome.Usage, -1},
		"evaluations −1":       {choose(pare.SelectOptions{Evaluations: -1}, pare.Config{}), outcome.BadParameter, -1},
		"points −1":            {choose(pare.SelectOptions{Search: pare.Grid, Points: -1}, pare.Config{}), outcome.BadParameter, -1},
		"ratio 2":              {choose(pare.SelectOptions{Search: pare.Grid, MinRatio: 2}, pare.Config{}), outcome.BadParameter, -1},
		"a grid beyond memory": {choose(pare.SelectOptions{Search: pare.Grid, Points: math.MaxInt}, pare.Config{}), outcome.BadParameter, -1},
		"ratio NaN":            {choose(pare.SelectOptions{Search: pare.Grid, MinRatio: nan}, pare.Config{}), outcome.BadParameter, -1},
		"a grid for wlasso":    {choose(pare.SelectOptions{Search: pare.Grid}, pare.Config{Model: pare.WeightedLasso}), outcome.Usage, -1},
		"σ without SURE":       {gradient([]float64{0}, pare.Validation{InOrder: true, Sigma: 1}), outcome.Usage, -1},

		"fold ids and folds":  {gradient([]float64{0}, pare.Validation{FoldIDs: make([]int, n), Folds: 2}), outcome.Usage, -1},
		"select tolerance −1": {choose(pare.SelectOptions{}, pare.Config{Tol: -1}), outcome.BadParameter, -1},
	} {
		e, ok := errors.AsType[*outcome.Error](c.err)
		if !ok || e.Kind != c.kind || (c.row >= 0) != e.HasRow || (c.row >= 0 && e.Row != c.row) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	if fingerprint(x, y) != before {
		t.Error("X or y was changed")
	}
}

// TestFaintTargets checks that a loss which underflows is refused rather than taken for a minimum, and that a tiny
// constant target still counts as constant.
func TestFaintTargets(t *testing.T) {
	x, y := load(t)
	huber := pare.Config{Model: pare.Huber}
	for exponent, kind := range map[int]outcome.Kind{-400: "", -500: outcome.BadParameter, -1000: outcome.BadParameter, -1060: outcome.BadParameter} {
		if f, err := pare.Fit(t.Context(), x, scaled(y, exponent), []float64{float64(exponent)*math.Ln2 - 1}, huber); outcome.KindOf(err) != kind || err == nil && len(f.Support) == 0 {
			t.Errorf("2^%d: %v, %+v", exponent, err, f)
		}
	}
	huber.Loss = loss.Huber{Delta: 1}
	for _, v := range []float64{0, 1e-150, -1e-300} {
		if top := lambdaMax(t, x, repeat(v, len(y)), huber); !math.IsInf(top, -1) {
			t.Errorf("y = %g: ln αmax = %g", v, top)
		}
	}
}

// TestTargetsThatOverflow checks that every model with a numerical target refuses targets that overflow, since neither
// columns nor λ can be judged.
func TestTargetsThatOverflow(t *testing.T) {
	x, y := load(t)
	for _, size := range []float64{1e155, 1e300, 1e308} {
		for i := range y {
			y[i] = size * []float64{1, -1, 0.1}[i%3]
		}
		for _, m := range []pare.Model{pare.Lasso, pare.ElasticNet, pare.WeightedLasso, pare.Ridge, pare.Huber, pare.SVR, pare.SimplexSVR} {
			_, err := pare.Select(t.Context(), x, y, pare.SelectOptions{}, pare.Config{Model: m})
			if outcome.KindOf(err) != outcome.NonFinite || !strings.Contains(err.Error(), "overflows: scale the target") {
				t.Errorf("%s, %g: %v", m, size, err)
			}
		}
	}
}

// TestSupportVectorsOfNoColumns checks that, without a nonzero in any column, a choice of C succeeds and gives the null
// model.
func TestSupportVectorsOfNoColumns(t *testing.T) {
	_, y := load(t)
	for _, p := range []int{0, 2} {
		rows := make([][]float64, len(y))
		for i := range rows {
			rows[i] = make([]float64, p)
		}
		x := matrixOf(t, rows, p, false)
		s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Evaluations: 5}, pare.Config{Model: pare.SVR})
		if err != nil || s.Final == nil || len(s.Final.Coef) != 0 || math.Abs(s.Value/s.NullValue-1) > 0.1 {
			t.Errorf("%d columns: %v, %+v", p, err, s)
		}
	}
}

// TestRowsThatOutweighAll checks that, if one weight makes those of all other rows negligible, the error blames the
// weight and not the target.
func TestRowsThatOutweighAll(t *testing.T) {
	x, y := load(t)
	weights := repeat(1, len(y))
	weights[0], y[0] = 1e308, 0 // the null model fits this row exactly
	for _, c := range []pare.Config{{}, {NoIntercept: true}, {Loss: loss.Huber{Delta: 1}}} {
		c.Weights = weights
		_, err := pare.Fit(t.Context(), x, y, []float64{-1}, c)
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != outcome.BadParameter || !e.HasRow || e.Row != 0 {
			t.Errorf("loss %v, without intercept %v: %v", c.Loss, c.NoIntercept, err)
		}
	}
}

// TestConstantTargets checks that a target without variation is reported, and that no search is run.
func TestConstantTargets(t *testing.T) {
	x, y := load(t)
	for _, value := range []float64{0, 0.1, -7e5} {
		constant := repeat(value, len(y))
		if top := lambdaMax(t, x, constant, pare.Config{}); !math.IsInf(top, -1) {
			t.Errorf("y = %g: ln αmax = %g", value, top)
		}
		f, err := pare.Fit(context.Background(), x, constant, []float64{-20}, pare.Config{})
		if err != nil || len(f.Support) != 0 || f.Gap != 0 || f.Status != outcome.Converged || f.Intercept != value {
			t.Errorf("y = %g: %v, %+v", value, err, f)
		}
		if _, err := pare.Select(context.Background(), x, constant, pare.SelectOptions{}, pare.Config{}); outcome.KindOf(err) != outcome.BadParameter {
			t.Errorf("y = %g: select: %v", value, err)
		}
	}
}

// TestOffsetsThatExplainTheTarget checks that a target equal to an offset plus a constant counts as constant: the
// rounding error of the difference is nothing to explain.
func TestOffsetsThatExplainTheTarget(t *testing.T) {
	for _, m := range []pare.Model{pare.Lasso, pare.ElasticNet, pare.WeightedLasso, pare.Ridge, pare.GroupLasso, pare.SparseGroup} {
		for seed := range uint64(12) {
			q := oracle.NewRandom(seed).Problem(oracle.Shape{N: 15, P: 3})
			offset, constant := q.Y, 0.1*math.Sin(float64(seed))
			y := slices.Clone(offset)
			for i := range y {
				y[i] += constant
			}
			x := matrixOf(t, q.X, 3, true)
			for _, l := range []loss.Loss{loss.Squared{}, loss.Huber{Delta: 0.5}} {
				f, err := pare.Fit(t.Context(), x, y, repeat(-4, m.Hyperparameters(x, y)), pare.Config{Model: m, Loss: l, Offset: offset})
				if err != nil || f.Status != outcome.Converged || f.Epochs > 10 || !(f.Objective <= 1e-25) || !(math.Abs(f.Intercept-constant) <= 1e-13) {
					t.Errorf("%s, %s, seed %d: %+v, %v", m, l.Name(), seed, f, err)
				}
			}
		}
	}
}

// TestConstantColumnsHaveNoStrength checks that columns which are constant under an intercept have αmax = 0 rather than
// the rounding error of their correlations, and that they stay out of the model at any strength.
func TestConstantColumnsHaveNoStrength(t *testing.T) {
	const n = 40
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = 1e4, math.Sin(float64(3*i))
	}
	design, err := sparse.NewDense(n, 1, x)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []pare.Model{pare.Lasso, pare.GroupLasso, pare.SparseGroup, pare.MCP, pare.SCAD} {
		c := pare.Config{Model: m}
		if m == pare.GroupLasso || m == pare.SparseGroup {
			c.Groups = []int{0}
		}
		top, err := pare.LogLambdaMax(design, y, c)
		if err != nil || !math.IsInf(top[0], -1) {
			t.Errorf("%s: ln αmax = %v, %v", m, top, err)
		}
		if f, err := pare.Fit(t.Context(), design, y, []float64{-33}, c); err != nil || !f.Status.OK() || len(f.Support) > 0 {
			t.Errorf("%s: %+v, %v", m, f, err)
		}
	}
}

// TestSoftmaxOfRowsWithHardlyAnyCurvature checks that, where the quadratic model of the loss has almost no curvature
// and its minimum is far from the loss's, another kind of step is taken. Without it the intercepts become NaN, and the
// solve takes 100,000 sweeps.
func TestSoftmaxOfRowsWithHardlyAnyCurvature(t *testing.T) {
	x, err := sparse.NewDense(5, 2, []float64{
		-0.1561302288456533, 1.7992238530794509, 1.647226609200847, -0.6430653212675624, 0.804036113637448,
		-0.42557120914651186, -0.1715470359936016, -0.9507674076249758, 1.9019972197887802, 0.11642886844200188,
	})
	if err != nil {
		t.Fatal(err)
	}
	y := []float64{0, 2, 0, 2, 0}
	c := pare.Config{Model: pare.Multinomial, Weights: []float64{1, 2, 1000, 0.001, 1000}, Tol: 1e-9}
	top, err := pare.LogLambdaMax(x, y, c)
	if err != nil {
		t.Fatal(err)
	}
	for k := range 80 {
		lambda := top[0] - float64(k)*0.1
		if f, err := pare.Fit(t.Context(), x, y, []float64{lambda}, c); err != nil || !f.Status.OK() {
			t.Errorf("λ = %g: %+v, %v", lambda, f, err)
		}
	}
}

// TestStandardisedSoftmaxKnowsNoUnit checks that fits of standardised columns do not depend on the units of the
// columns.
func TestStandardisedSoftmaxKnowsNoUnit(t *testing.T) {
	const n, p = 40, 3
	r := oracle.NewRandom(11)
	x, y := make([][]float64, n), make([]float64, n)
	for i := range x {
		x[i] = []float64{5 + r.Normal(), 5 + r.Normal(), 5 + r.Normal()}
		y[i] = math.Trunc(min(2, max(0, x[i][0]-4+r.Normal())))
	}
	for _, m := range []pare.Model{pare.Multinomial, pare.MultinomialNet, pare.MultinomialGroup, pare.MultinomialPerClass} {
		c := pare.Config{Model: m, Standardize: true, MaxEpochs: 1000}
		for _, dense := range []bool{false, true} {
			top, err := pare.LogLambdaMax(matrixOf(t, x, p, dense), y, c)
			if err != nil {
				t.Fatal(err)
			}
			for k := range top {
				top[k] -= 2
			}
			want, err := pare.Fit(t.Context(), matrixOf(t, x, p, dense), y, top, c)
			if err != nil || !want.Status.OK() {
				t.Fatalf("%s, dense %t: %v, %v", m, dense, want, err)
			}
			for _, unit := range []int{-100, -10, 60} {
				got, err := pare.Fit(t.Context(), matrixOf(t, every(x, by(unit)), p, dense), y, top, c)
				if err != nil || got.Objective != want.Objective || got.Effort != want.Effort || got.Status != want.Status {
					t.Errorf("%s, dense %t, X·2^%d: %v, %+v at %v; want %+v at %v", m, dense, unit, err, got.Effort, got.Objective, want.Effort, want.Objective)
				}
			}
		}
	}
}

// TestSoftmaxOfColumnsFarFromZero checks that, with intercepts, the location of the columns makes no difference, and
// that no step is based on curvatures that are mere rounding error. Such steps lead to objectives of 1e298.
func TestSoftmaxOfColumnsFarFromZero(t *testing.T) {
	const n, p = 40, 3
	r := oracle.NewRandom(11)
	near, y := make([][]float64, n), make([]float64, n)
	for i := range near {
		near[i] = make([]float64, p)
		for j := range near[i] {
			near[i][j] = math.Round(8*r.Normal()) / 8
		}
		y[i] = math.Trunc(min(2, max(0, 1+near[i][0]+r.Normal())))
	}
	from := func(by float64) [][]float64 { return every(near, func(v float64) float64 { return v + by }) }
	for _, m := range []pare.Model{pare.Multinomial, pare.MultinomialGroup, pare.MultinomialNet, pare.MultinomialPerClass}[:oracle.Draws(4)] {
		for _, standardize := range []bool{false, true} {
			c := pare.Config{Model: m, Standardize: standardize, MaxEpochs: 400}
			top, err := pare.LogLambdaMax(matrixOf(t, near, p, true), y, c)
			if err != nil {
				t.Fatal(err)
			}
			for _, deep := range []float64{0.7, 2, 4} {
				at := make([]float64, len(top))
				for k := range at {
					at[k] = top[k] - deep
				}
				want, err := pare.Fit(t.Context(), matrixOf(t, near, p, true), y, at, c)
				if err != nil || !want.Status.OK() {
					t.Fatal(err)
				}
				got, err := pare.Fit(t.Context(), matrixOf(t, from(0x1p24), p, true), y, at, c)
				if err != nil || !got.Status.OK() || math.Abs(got.Objective-want.Objective) > got.Gap+want.Gap+1e-7*want.Objective {
					t.Errorf("%s, %g below: %g at a gap of %g, %v, %v; near 0 %g", m, deep, got.Objective, got.Gap, got.Status, err, want.Objective)
				}
				for _, by := range []float64{0x1p24, 0x1p27, 0x1p35} {
					for _, dense := range []bool{false, true} {
						got, err := pare.Fit(t.Context(), matrixOf(t, from(by), p, dense), y, at, c)
						if null := math.Log(3); err != nil || !(got.Objective <= null) || !(got.Gap >= 0) || got.Status.OK() && got.Objective > want.Objective+got.Gap+1e-4 {
							t.Errorf("%s, %g below, from %g, dense %t: %g at a gap of %g, %v, %v; near 0 %g", m, deep, by, dense, got.Objective, got.Gap, got.Status, err, want.Objective)
						}
					}
				}
			}
		}
	}
}

// TestFarBelowWhatCanBeSolved checks that the sequence of solves down to a tiny strength ends at the first solve that
// fails. Hundreds more, each with the maximum number of passes, would take half a minute.
func TestFarBelowWhatCanBeSolved(t *testing.T) {
	q := oracle.NewRandom(3).Problem(oracle.Shape{N: 12, P: 40})
	x := matrixOf(t, q.X, 40, true)
	for _, m := range []pare.Model{pare.GroupLasso, pare.SparseGroup, pare.SparseGroupPair} {
		c := pare.Config{Model: m}
		top, err := pare.LogLambdaMax(x, q.Y, c)
		if err != nil {
			t.Fatal(err)
		}
		for k := range top {
			top[k] -= 100
		}
		if f, err := pare.Fit(t.Context(), x, q.Y, top, c); err != nil || f.Passes > 1000 {
			t.Errorf("%s: %v, %+v", m, err, f)
		}
	}
}

// TestStandardErrorsOfAnyScale checks that standard errors are in proportion to the criterion, even where their squares
// overflow or underflow.
func TestStandardErrorsOfAnyScale(t *testing.T) {
	x, y := load(t)
	for _, v := range []pare.Validation{{}, {Criterion: pare.HoldOut}, {Criterion: pare.ALO}} {
		shares := make([]float64, 0, 3)
		for _, exponent := range []int{0, -400, 490} {
			target := scaled(y, exponent)
			grid := [][]float64{{lambdaMax(t, x, target, pare.Config{}) - 2}}
			for e, err := range pare.Validate(t.Context(), x, target, grid, v, pare.Config{}) {
				if err != nil {
					t.Fatal(err)
				}
				shares = append(shares, e.StandardError/e.Value)
			}
		}
		if !(shares[0] > 0.001) || !(math.Abs(shares[1]-shares[0]) <= 1e-9) || !(math.Abs(shares[2]-shares[0]) <= 1e-9) {
			t.Errorf("%s: %g", v.Criterion, shares)
		}
	}
}

// TestNoPointIsWorseThanNone checks classes that are separable but for the rows without an entry. There a fold's start
// along its tangent can have a loss of 1e32, which must not be returned as a stationary choice. Each row without an
// entry loses at least ln 2 if both classes have the same such rows, and no fold of these data loses more than a few
// times that.
func TestNoPointIsWorseThanNone(t *testing.T) {
	y := []float64{1, -1, 1, -1, -1, 1, -1, -1, -1, 1, -1, -1, 1}
	rows := make([][]float64, len(y))
	for i := range rows {
		rows[i] = make([]float64, 4)
	}
	rows[1][2], rows[4][2] = 1, 1
	rows[5], rows[8] = []float64{-1, -3, 0, -1}, []float64{1, 3, 0, 1}
	for _, precision := range []bool{false, true} {
		v := pare.Validation{Split: pare.Stratified, Seed: 17100}
		s, err := pare.Select(t.Context(), matrixOf(t, rows, 4, false), y, pare.SelectOptions{Validation: v, Precision: precision}, pare.Config{Model: pare.Logistic, Tol: 1e-4})
		if err != nil {
			t.Fatal(err)
		}
		if !(s.Value < s.NullValue) || !s.Status.OK() {
			t.Errorf("precision %t: %s at %g, the null model has %g", precision, s.Status, s.Value, s.NullValue)
		}
		for _, e := range s.Evaluations {
			if !(e.Value < 2) || e.Trusted && !(e.Tol <= 1e-3) {
				t.Errorf("precision %t: λ = %g has %g, to a gap of %g, trusted %t", precision, e.LogLambda, e.Value, e.Tol, e.Trusted)
			}
		}
	}
}

// TestTangentsThatOvershoot checks that a solve starts at β = 0 if the tangent leads to a point that is no better. From
// such a point a fold takes 100,000 sweeps, at every λ but the first.
func TestTangentsThatOvershoot(t *testing.T) {
	y := []float64{1, -1, -1, -1, -1, -1, -1, -1, -1}
	offset := []float64{0.8821736686054393, 0, 0, -0.08516544344920295, 0, 0, 0.14219197359502625, 0, 0.8201349291869064}
	x := matrixOf(t, [][]float64{
		{0, 0, 0, 0, 6, 5, 15},
		{0, 0, 0, 0, 6, 5, 15},
		{0, 0, 0, 0, 6, 5, 15},
		{0, 0, 6, 0, 5, 6, 18},
		{0, 5, 0, 10, 0, 0, 0},
		{0, 0, 6, 0, 0, 3, 9},
		{0, 0, 0, 0, 6, 5, 15},
		{0, 0, 6, 0, 5, 6, 18},
		{0, 5, 0, 10, 5, 5, 15},
	}, 7, false)
	c := pare.Config{Model: pare.Logistic, Offset: offset, Standardize: true, Tol: 1e-9}
	s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Validation: pare.Validation{Split: pare.Forward}}, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.Evaluations {
		if e.Status == outcome.NotConverged || !(e.Tol <= 1e-3) {
			t.Errorf("λ = %g: %s at a gap of %g", e.LogLambda, e.Status, e.Tol)
		}
	}
}
