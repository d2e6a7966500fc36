package bilevel

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestEveryPassLooks checks that every pass checks for cancellation once in 65,536 elements, and that sorts do so
// by comparisons. It counts these checks and compares them with the number of elements that the passes of a
// function visit. The checks of functions that it calls are counted by themselves, and added.
func TestEveryPassLooks(t *testing.T) {
	const n = 1 << 17
	looksOf := func(do func(k *kernels.Set)) int {
		l := oracle.LooksOf(t.Context(), math.MaxInt)
		do((*kernels.Set)(nil).Until(l))
		return math.MaxInt - l.Left()
	}
	paced := func(elements int) int { return elements / (kernels.Block + 1) }
	pieces := looksOf(func(k *kernels.Set) {
		for range k.Pieces(n) {
		}
	})
	identity := looksOf(func(k *kernels.Set) { random.Identity(k, n) })
	zeros := looksOf(func(k *kernels.Set) { kernels.Zeros[float64](k, n) })
	source := random.SplitMix64(1)
	y, weights, ones, groups := make([]float64, n), make([]float64, n), make([]float64, n), make([]int, n)
	folds, rows, label := make(Folds, n), make([]int32, n), make([]int32, n)
	for i := range y {
		y[i], weights[i], ones[i], groups[i] = source.Uniform(), 1+source.Uniform(), 1, i
		folds[i], rows[i], label[i] = i%3-1, int32(i), int32(i%2)
	}
	slices.Sort(y) // so that few comparisons are needed
	sorted := func(compare func(a, b int) int) (comparisons int) {
		slices.SortStableFunc(random.Identity(nil, n), func(a, b int) int { comparisons++; return compare(a, b) })
		return comparisons
	}
	byTarget := sorted(func(a, b int) int { return cmp.Compare(y[a], y[b]) })
	alike := sorted(func(int, int) int { return 0 })
	spec := Spec{Folds: folds, Weights: weights, Intercept: true}
	held := &heldOut{train: ones, rows: rows, class: label, weights: weights}
	total := looksOf(func(k *kernels.Set) { held.criterion().Total(k, n) })
	mean := foldCriterion{criterion: criterion.MeanSquaredError{}, y: y, rows: rows, batches: byBatch(nil, (&Spec{Folds: make(Folds, n)}).inBatches(nil), rows)}
	curved := foldCriterion{criterion: criterion.Of(loss.Logistic{}), y: ones, rows: rows, prediction: y, curvature: weights}
	evaluated := looksOf(func(k *kernels.Set) {
		criterion.Eval(k, curved.criterion, rows, ones, y, make([]float64, n), make([]float64, n))
	})
	clone := looksOf(func(k *kernels.Set) { k.Clone(weights) })
	x, err := sparse.NewDense(n, 1, y)
	if err != nil {
		t.Fatal(err)
	}
	class := &classLane{fold: &classFold{heldOut: *held}}
	request := &LaneRequest{Probability: y, Others: y[:n/2]}
	worker := &classSolver{slope: make([]float64, n), curvature: make([]float64, n)}
	within := func(k *kernels.Set) { // creates a view within a call that can end
		if class.fold.view, err = sparse.NewView(k, x, nil, false); err != nil {
			t.Fatal(err)
		}
	}
	looksOf(within) // the first call computes the moments, which the matrix stores
	view := looksOf(within)
	late := append([]float64{0, 0}, y...)
	split := 2*pieces + zeros
	for name, c := range map[string]struct {
		do   func(k *kernels.Set)
		want int
	}{
		"KFold":      {func(k *kernels.Set) { _, _ = KFold(k, n, 3, false, 0) }, identity + pieces},
		"Stratified": {func(k *kernels.Set) { _, _ = Stratified(k, y, 3, false, 0) }, identity + paced(byTarget+n)},
		"Grouped":    {func(k *kernels.Set) { _, _ = Grouped(k, groups, 3, false, 0) }, identity + paced(n+alike+3*n+n)},
		"Blocks":     {func(k *kernels.Set) { _, _ = Blocks(k, n, 3) }, pieces},
		"Chain":      {func(k *kernels.Set) { _, _ = Chain(k, n, 3) }, 2 * pieces},
		"Last":       {func(k *kernels.Set) { folds.Last(k) }, pieces + paced(n)},
		"Extended":   {func(k *kernels.Set) { Folds{0, 1}.Extended(k, n+2, Newcomers{Alike: late}) }, identity + paced(2+byTarget+n)},
		"Count":      {func(k *kernels.Set) { folds.Count(k) }, pieces},
		"Split":      {func(k *kernels.Set) { spec.Split(k, 0) }, split},
		"test":       {func(k *kernels.Set) { spec.testRows(k) }, pieces},
		"Check":      {func(k *kernels.Set) { _ = spec.Check(k, n) }, paced(n) + paced(2*n) + pieces},
		"Classes":    {func(k *kernels.Set) { _, _, _ = Classes(k, append([]float64{0}, ones[1:]...)) }, paced(2*n) + paced(n)},
		"newHeldOut": {func(k *kernels.Set) { _, _ = newHeldOut(k, &spec, []float64{0, 1}, label, 0) }, pieces + split + paced((n+1)/3+n)},
		"null":       {func(k *kernels.Set) { held.null(k, 2, label, spec) }, paced(n) + 2*total + 2*paced(n)},
		"loss":       {func(k *kernels.Set) { held.loss(k, func(int, int32) float64 { return 1 }) }, 2*total + 2*paced(n)},
		"inBatches":  {func(k *kernels.Set) { (&Spec{Folds: make(Folds, n)}).inBatches(k) }, pieces + paced(n)},
		"errorOf":    {func(k *kernels.Set) { j := mean; j.k = k; j.valueError(0, y) }, paced(n)},
		"slightly":   {func(k *kernels.Set) { j := curved; j.k = k; j.curvatureWithin(1e-9) }, 0},
		"within":     {func(k *kernels.Set) { j := curved; j.k = k; j.curvatureWithin(0.01) }, clone + paced(n)},
		"infinitely": {func(k *kernels.Set) { j := curved; j.k = k; j.curvatureWithin(math.Inf(1)) }, clone + paced(n)},
		"farther":    {func(k *kernels.Set) { j := curved; j.k, j.foreign = k, true; j.curvatureWithin(3) }, clone + paced(8*n) + 4*evaluated},
		"weighRows": {func(k *kernels.Set) {
			within(k)
			if err := worker.setDerivatives(class, request); err != nil {
				t.Error(err)
			}
		}, view + total + 2*clone + paced(n)},
		"weighMotion": {func(k *kernels.Set) { within(k); class.Motion = slices.Clone(y); class.weighMotion(y) }, view + total + paced(n)},
	} {
		if got := looksOf(c.do); got != c.want {
			t.Errorf("%s: %d looks, its passes make %d", name, got, c.want)
		}
	}
	// All values differ, so a sort compares each of them at least once.
	if got := looksOf(func(k *kernels.Set) { Distinct(k, y) }); got < paced(2*n-1) {
		t.Errorf("Distinct: %d looks", got)
	}
}
