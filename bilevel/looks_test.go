package bilevel_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestLoopsOverRowsEndWithTheCall checks that Go loops over all rows check for cancellation as often as the
// kernels do, and stop then. It counts the checks rather than measuring time. Each loop makes at least one pass
// over the rows.
func TestLoopsOverRowsEndWithTheCall(t *testing.T) {
	const n = 1 << 17 // one check every 65,536 rows, and none after the last row
	source := random.SplitMix64(1)
	y, m, weights, groups := make([]float64, n), make([]float64, n), make([]float64, n), make([]int, n)
	rows, ids := make([]int32, n), make(bilevel.Folds, n)
	for i := range y {
		y[i], m[i], weights[i], groups[i] = 1, source.Uniform(), source.Uniform(), i/100
		rows[i], ids[i] = int32(i), i%3-1
	}
	classes := append([]float64{-1}, y[1:]...)
	spec := bilevel.Spec{Folds: ids, Weights: weights}
	loops := map[string]func(k *kernels.Set){
		"KFold":      func(k *kernels.Set) { _, _ = bilevel.KFold(k, n, 3, true, 1) },
		"Stratified": func(k *kernels.Set) { _, _ = bilevel.Stratified(k, m, 3, false, 1) },
		"Grouped":    func(k *kernels.Set) { _, _ = bilevel.Grouped(k, groups, 3, true, 1) },
		"Blocks":     func(k *kernels.Set) { _, _ = bilevel.Blocks(k, n, 3) },
		"Chain":      func(k *kernels.Set) { _, _ = bilevel.Chain(k, n, 3) },
		"Last":       func(k *kernels.Set) { ids.Last(k) },
		"Count":      func(k *kernels.Set) { ids.Count(k) },
		"Extended":   func(k *kernels.Set) { ids[:10].Extended(k, n, bilevel.Newcomers{Shuffle: true}) },
		"Split":      func(k *kernels.Set) { spec.Split(k, 0) },
		"Check":      func(k *kernels.Set) { _ = spec.Check(k, n) },
		"Classes":    func(k *kernels.Set) { _, _, _ = bilevel.Classes(k, classes) },
		"Distinct":   func(k *kernels.Set) { bilevel.Distinct(k, m) },
		"weights":    func(k *kernels.Set) { _ = sparse.CheckWeights(k, weights, n) },
		"target":     func(k *kernels.Set) { _ = loss.CheckTarget(k, loss.Logistic{}, y) },
		"entropy": func(k *kernels.Set) {
			criterion.CrossEntropy{}.Eval(k, make([]int32, n), [][]float64{make([]float64, n), make([]float64, n)})
		},
		"softmax": func(k *kernels.Set) {
			criterion.Eval(k, criterion.Softmax{Classes: 1}, rows, make([]float64, n), m, nil, nil)
		},
	}
	for _, c := range []criterion.Criterion{
		criterion.MeanSquaredError{}, criterion.MeanAbsoluteError{}, criterion.Misclassification{}, criterion.RankError{}, criterion.Of(loss.Logistic{}),
	} {
		loops[c.Name()] = func(k *kernels.Set) { criterion.Eval(k, c, rows, y, m, nil, nil) }
		loops["weighted "+c.Name()] = func(k *kernels.Set) {
			criterion.Eval(k, criterion.Weighted{Criterion: c, Weights: weights}, rows, y, m, nil, nil)
		}
	}
	for _, l := range loss.All() {
		if b, ok := l.(loss.Binder); ok {
			loops["Bind "+l.Name()] = func(k *kernels.Set) { _, _ = b.Bind(k, m, weights, true) }
		}
		if s, ok := l.(loss.Stepper); ok {
			loops["Step "+l.Name()] = func(k *kernels.Set) { s.Step(k, y, m, m) }
		}
	}
	for i, name := range slices.Sorted(maps.Keys(loops)) {
		if !oracle.Turn(i, 4) {
			continue
		}
		run := func(left int) (used int, err error) {
			l := oracle.LooksOf(t.Context(), left)
			defer func() { used = left - l.Left() }()
			defer kernels.Caught(&err)
			loops[name]((*kernels.Set)(nil).Until(l))
			return 0, nil
		}
		if used, err := run(1 << 30); used < 1 || err != nil {
			t.Errorf("%s: %d looks on %d rows, %v", name, used, n, err)
		}
		if used, err := run(0); used != 1 || !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled at the first look: %d looks, %v", name, used, err)
		}
	}
}
