package pare_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestArguments: what cannot be done is refused with the kind and the place,
// before anything is reported as done, and X and y stay as they are.
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

// TestConstantTargets: nothing to explain is said, not searched.
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
