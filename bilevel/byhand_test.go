package bilevel_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestInformationByDefinition checks SURE, AIC and BIC against their definitions for ‖y − m‖² = 7 and 3 degrees of
// freedom.
func TestInformationByDefinition(t *testing.T) {
	const n, sigma = 20, 0.4
	for name, c := range map[string]struct {
		of   bilevel.Information
		want float64
	}{
		"SURE": {bilevel.SURE(n, sigma), 7 - n*0.16 + 2*0.16*3},
		"AIC":  {bilevel.AIC(sigma), 7/0.16 + 2*3},
		"BIC":  {bilevel.BIC(n, sigma), 7/0.16 + math.Log(n)*3},
	} {
		if got := c.of.Fit*7 + c.of.Freedom*3 + c.of.Constant; !(math.Abs(got-c.want) <= 1e-13*math.Abs(c.want)) {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}

// TestRareClassesAreCounted checks that a class is rare if it has at most 0.05 of the total weight, 4 of 80 rows
// here, and that the leader is the middle one of the rare classes by size. Fewer than three rare classes have no
// leader.
func TestRareClassesAreCounted(t *testing.T) {
	sizes := []float64{5, 4, 30, 1, 3, 0, 37} // 80 rows
	var label []int32
	var weights []float64
	for k, size := range sizes {
		for range int(size) {
			label, weights = append(label, int32(k)), append(weights, 1)
		}
	}
	for _, w := range [][]float64{nil, weights} {
		if few, middle := bilevel.RareClasses(label, w, len(sizes)); !slices.Equal(few, []int{5, 3, 4, 1}) || middle != 4 {
			t.Errorf("rare are %v around %d", few, middle)
		}
	}
	for i, k := range label { // half of the rows of class 2 count twice: the total is 95, so that classes up to 4.75 are rare
		if k == 2 && i%2 == 0 {
			weights[i] = 2
		}
		if k == 3 { // so that class 3 has the weight 5
			weights[i] = 5
		}
	}
	if few, middle := bilevel.RareClasses(label, weights, len(sizes)); !slices.Equal(few, []int{5, 4, 1}) || middle != 4 {
		t.Errorf("by weights rare are %v around %d", few, middle)
	}
	if few, _ := bilevel.RareClasses([]int32{0, 1}, nil, 4); few != nil {
		t.Errorf("of two classes with a row each and two without, rare are %v", few)
	}
}

// TestMeanOfWhatFoldsHaveInCommon checks that the mean solution contains the columns that are in more than half of
// the folds, each with the mean of its coefficients over the folds that contain it.
func TestMeanOfWhatFoldsHaveInCommon(t *testing.T) {
	for seed := range uint64(3) {
		r := oracle.NewRandom(90 + seed)
		q := r.Problem(oracle.Shape{N: 36, P: 14, Noise: 2})
		for _, k := range []int{2, 3, 4} {
			folds, err := bilevel.KFold(nil, 36, k, true, seed)
			if err != nil {
				t.Fatal(err)
			}
			p := newProblem(t, q, true, bilevel.Spec{Folds: folds, Penalty: lasso})
			p.KeepSolutions()
			at := []float64{math.Log(q.AlphaMax()) - 1.5}
			evaluate(t, p, search.Request{LogLambda: at, ValueOnly: true})
			each, err := p.Solutions(t.Context(), at)
			if err != nil || len(each) != k {
				t.Fatal(len(each), err)
			}
			var columns []int32
			var coef []float64
			for j := range int32(14) {
				var times, sum float64
				for _, s := range each {
					if at := slices.Index(s.Support, j); at >= 0 {
						times, sum = times+1, sum+s.Coef[at]
					}
				}
				if times > float64(k)/2 {
					columns, coef = append(columns, j), append(coef, sum/times)
				}
			}
			gotColumns, gotCoef, err := p.Mean(t.Context(), at)
			if err != nil || !slices.Equal(gotColumns, columns) || len(gotCoef) != len(coef) {
				t.Fatalf("seed %d, %d folds: columns %v, want %v, %v", seed, k, gotColumns, columns, err)
			}
			for i, b := range coef {
				if !(math.Abs(gotCoef[i]-b) <= 1e-15*math.Abs(b)) {
					t.Errorf("seed %d, %d folds, column %d: %g, want %g", seed, k, columns[i], gotCoef[i], b)
				}
			}
			if none, _, err := p.Mean(t.Context(), []float64{at[0] + 1}); none != nil || err != nil {
				t.Errorf("seed %d: %v where nothing was kept, %v", seed, none, err)
			}
		}
	}
}

// TestSaturationIsTheShareOfWhatMayBeFree checks that saturation is the size of the support, or the number of free
// samples, over the number of training rows or of coefficients, whichever is smaller, averaged over the folds.
func TestSaturationIsTheShareOfWhatMayBeFree(t *testing.T) {
	k := fixture.Kernels(t)
	for _, p := range []int{1, 5, 60} {
		q := oracle.NewRandom(12).Problem(oracle.Shape{N: 30, P: p, Noise: 1})
		folds, err := bilevel.KFold(nil, 30, 3, false, 0)
		if err != nil {
			t.Fatal(err)
		}
		folds[29] = bilevel.TestOnly
		most := math.Min(float64(p), 19) // the last two folds train on 19
		problem := newProblem(t, q, true, bilevel.Spec{Folds: folds, Penalty: lasso})
		problem.KeepSolutions()
		at := []float64{math.Log(q.AlphaMax()) - 2}
		got := evaluate(t, problem, search.Request{LogLambda: at, ValueOnly: true})
		each, err := problem.Solutions(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		var want float64
		for fold, s := range each {
			rows := 19.0
			if fold == 2 {
				rows = 20
			}
			want += float64(len(s.Support)) / math.Min(float64(p), rows) / 3
		}
		if !(math.Abs(got.Saturation-want) <= 1e-15) || want == 0 {
			t.Errorf("%d columns: saturation %g, want %g", p, got.Saturation, want)
		}
		risk := newProblem(t, q, true, bilevel.Spec{Risk: &bilevel.Risk{Information: bilevel.SURE(30, 1), Sigma: 1}, Penalty: lasso})
		risk.KeepSolutions()
		got = evaluate(t, risk, search.Request{LogLambda: at, ValueOnly: true})
		if each, err = risk.Solutions(t.Context(), at); err != nil || len(each) != 2 {
			t.Fatal(len(each), err)
		}
		want = float64(len(each[0].Support)+len(each[1].Support)) / 2 / math.Min(float64(p), 30)
		if !(math.Abs(got.Saturation-want) <= 1e-15) || want == 0 {
			t.Errorf("%d columns: saturation %g of a risk, want %g", p, got.Saturation, want)
		}
		for i := range q.Y {
			q.Y[i] = math.Copysign(1, q.Y[i])
		}
		for i := range folds[:29] {
			if folds[i] = 0; i < 19 {
				folds[i] = bilevel.AlwaysTrain
			}
		}
		svm, err := bilevel.NewSVM(k, sparse.Transpose(fixture.Matrix(t, q, true)), q.Y, bilevel.Spec{Folds: folds, Solver: cd.Options{Tol: 1e-10}})
		if err != nil {
			t.Fatal(err)
		}
		// Of one fold, whose number of free samples the report counts.
		free := 0
		for _, logC := range []float64{-1, -2, -3, -4} {
			if got = evaluate(t, svm, search.Request{LogLambda: []float64{logC}, ValueOnly: true}); got.Saturation != float64(got.Support)/most {
				t.Errorf("%d columns: saturation %g of %d free samples", p, got.Saturation, got.Support)
			}
			free += got.Support
		}
		if free == 0 {
			t.Errorf("%d columns: no sample is free", p)
		}
	}
}

// TestSaturationOfGroupsIsAtMostOne checks that saturation stays at most 1 where a group adds all of its columns,
// more than there are training rows.
func TestSaturationOfGroupsIsAtMostOne(t *testing.T) {
	const n, p = 12, 20
	q := oracle.NewRandom(13).Problem(oracle.Shape{N: n, P: p})
	whole, err := model.NewPartition(make([]int, p))
	if err != nil {
		t.Fatal(err)
	}
	folds, err := bilevel.KFold(nil, n, 2, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	problem := newProblem(t, q, true, bilevel.Spec{Folds: folds, Blocked: &bilevel.Blocked{
		Partition: whole, Penalty: func(l []float64) (model.Blocks, error) { return model.GroupLasso([]float64{1}, l[0]) },
	}, Datafit: func(v *sparse.View, y []float64) (model.Datafit, error) { return model.NewSquared(v, y) }})
	got := evaluate(t, problem, search.Request{LogLambda: []float64{math.Log(q.AlphaMax()) - 3}, ValueOnly: true})
	if got.Support != p || got.Saturation != 1 {
		t.Errorf("saturation %g of %d columns on %d rows", got.Saturation, got.Support, n/2)
	}
}

// foreign is a datafit of another package that wraps one of package model.
type foreign struct{ model.Datafit }

// TestBlocksRefuseADatafitOfAnotherPackage checks that blocks refuse a datafit of another package, because its
// duality gap could not certify them.
func TestBlocksRefuseADatafitOfAnotherPackage(t *testing.T) {
	q := oracle.NewRandom(14).Problem(oracle.Shape{N: 12, P: 3})
	folds, err := bilevel.KFold(nil, 12, 2, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = bilevel.New(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, bilevel.Spec{Folds: folds, Blocked: &bilevel.Blocked{
		Partition: model.Singletons(3), Penalty: func(l []float64) (model.Blocks, error) { return model.GroupLasso(nil, l[0]) },
	}, Datafit: func(v *sparse.View, y []float64) (model.Datafit, error) {
		fit, err := model.NewSquared(v, y)
		return foreign{fit}, err
	}})
	if outcome.KindOf(err) != outcome.Usage {
		t.Error(err)
	}
}

// TestIteratedSupportsAreBounded checks that a support of MaxSupport columns is accepted, and that one column more
// is an error.
func TestIteratedSupportsAreBounded(t *testing.T) {
	r := oracle.NewRandom(3)
	q, folds, lambda := draw(r, "lasso")
	forward := iterdiff.ForwardPCD
	spec := bilevel.Spec{Folds: folds, Penalty: lasso, Iterate: &forward}
	size := evaluate(t, newProblem(t, q, true, spec), search.Request{LogLambda: lambda}).Support
	if size < 2 {
		t.Fatalf("a support of %d", size)
	}
	for most, kind := range map[int]outcome.Kind{size: "", size - 1: outcome.Limit, 0: ""} {
		spec.Solver = cd.Options{MaxSupport: most}
		if _, err := newProblem(t, q, true, spec).Evaluate(t.Context(), search.Request{LogLambda: lambda}); outcome.KindOf(err) != kind {
			t.Errorf("%d columns where %d may be: %v", size, most, err)
		}
	}
}

// TestSolutionsAreKeptOnRequest checks that multiclass problems keep solutions only if they have been asked to.
func TestSolutionsAreKeptOnRequest(t *testing.T) {
	q := oracle.NewRandom(8).Problem(oracle.Shape{N: 30, P: 4})
	for i := range q.Y {
		q.Y[i] = float64(i % 3)
	}
	folds, err := bilevel.KFold(nil, 30, 2, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Repeat([]float64{-3}, 3)
	for _, keep := range []bool{false, true} {
		m := newMulticlass(t, q, false, bilevel.Spec{Folds: folds, Penalty: lasso})
		if keep {
			m.KeepSolutions()
		}
		if _, err := m.Evaluate(t.Context(), search.Request{LogLambda: at}); err != nil {
			t.Fatal(err)
		}
		kept, err := m.Solutions(t.Context(), at)
		if err != nil || len(kept) != map[bool]int{true: 6}[keep] {
			t.Errorf("keep %t: %d solutions, %v", keep, len(kept), err)
		}
	}
}

// TestNullModelOfClasses checks that the scores of the null model are all 0 without an intercept, and otherwise
// the logits of the weighted shares of the classes among the training rows.
func TestNullModelOfClasses(t *testing.T) {
	q := &oracle.Problem{Y: []float64{0, 0, 0, 1, 1, 2, 0, 1, 2, 2}, Alpha: make([]float64, 1)}
	for i := range q.Y {
		q.X = append(q.X, []float64{float64(i * i % 7)})
	}
	folds := bilevel.Folds{-1, -1, -1, -1, -1, -1, 0, 0, 0, 0}
	for _, weights := range [][]float64{nil, {3, 1, 2, 5, 1, 4, 2, 1, 3, 0}} {
		weight := func(i int) float64 {
			if weights == nil {
				return 1
			}
			return weights[i]
		}
		for _, intercept := range []bool{false, true} {
			share := []float64{1. / 3, 1. / 3, 1. / 3}
			if intercept {
				var total float64
				clear(share)
				for i := range 6 {
					share[int(q.Y[i])] += weight(i)
					total += weight(i)
				}
				var sum float64
				for k := range share {
					share[k] /= total - share[k]
					sum += share[k]
				}
				for k := range share {
					share[k] /= sum // the softmax of the logits normalises the odds
				}
			}
			var want, spread, total float64
			for i := 6; i < 10; i++ {
				total += weight(i)
			}
			for i := 6; i < 10; i++ {
				want -= weight(i) / total * math.Log(share[int(q.Y[i])])
			}
			for i := 6; i < 10; i++ {
				spread += math.Pow(weight(i)/total*(-math.Log(share[int(q.Y[i])])-want), 2)
			}
			spread *= 4. / 3
			if weights != nil { // the last row has no weight: 3/2 instead of 4/3
				spread *= 9. / 8
			}
			m, err := bilevel.NewMulticlass(fixture.Kernels(t), fixture.Matrix(t, q, false), q.Y, bilevel.Spec{Folds: folds, Weights: weights, Penalty: lasso, Intercept: intercept})
			if err != nil {
				t.Fatal(err)
			}
			null := m.Null()
			if !(math.Abs(null.Value-want) <= 1e-14) || !(math.Abs(null.StandardError-math.Sqrt(spread)) <= 1e-14) {
				t.Errorf("weights %v, intercept %t: %g and %g, want %g and %g", weights, intercept, null.Value, null.StandardError, want, math.Sqrt(spread))
			}
			if null.TrainLoss != 1 || !null.Trusted || null.Status != outcome.Converged || null.Value != m.NullValue() {
				t.Errorf("%+v", null)
			}
		}
	}
}

// TestMergedColumnsOfStandardisedViewsAreTied checks that multiples of a column are merged if columns are
// standardised, and that the merged column predicts as either column does.
func TestMergedColumnsOfStandardisedViewsAreTied(t *testing.T) {
	k := fixture.Kernels(t)
	q := oracle.NewRandom(77).Problem(oracle.Shape{N: 24, P: 3})
	for i := range q.X {
		q.X[i][2] = -4 * q.X[i][0]
	}
	folds, err := bilevel.KFold(nil, 24, 3, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	merged, group, err := bilevel.Merge(k, fixture.Matrix(t, q, true), bilevel.Spec{Folds: folds, Standardise: true, Intercept: true}, false)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(group, []int32{0, 1, 0}) {
		t.Fatalf("groups %v", group)
	}
	_, values := merged.Column(0)
	for i, v := range values {
		if !(math.Abs(v-q.X[i][0]) <= 1e-13*math.Abs(v)) {
			t.Errorf("row %d: %g, want the column itself, %g", i, v, q.X[i][0])
		}
	}
}

// TestNoStrengthIsTheLargest checks that ln αmax is −∞ for support vector machines, whose lanes do not have one.
func TestNoStrengthIsTheLargest(t *testing.T) {
	q := oracle.NewRandom(1).Problem(oracle.Shape{N: 12, P: 3})
	for i := range q.Y {
		q.Y[i] = float64(1 - 2*(i%2))
	}
	folds := bilevel.Folds{0, 0, 0, 0, 1, 1, 1, 1, -1, -1, -1, -1}
	p, err := bilevel.NewSVM(fixture.Kernels(t), sparse.Transpose(fixture.Matrix(t, q, true)), q.Y, bilevel.Spec{Folds: folds})
	if err != nil {
		t.Fatal(err)
	}
	if top := p.LogLambdaMax(); !math.IsInf(top, -1) {
		t.Errorf("ln αmax %g", top)
	}
}

// TestTimesMultiplyColumns checks that a problem with Times has the value and gradient of a problem whose columns
// have been multiplied beforehand.
func TestTimesMultiplyColumns(t *testing.T) {
	q, folds, lambda := draw(oracle.NewRandom(17), "lasso")
	times := make([]float64, len(q.Alpha))
	other := q.Clone()
	other.X = nil
	for j := range times {
		times[j] = float64(int(1) << (j % 3))
	}
	for _, row := range q.X {
		own := slices.Clone(row)
		for j := range own {
			own[j] *= times[j]
		}
		other.X = append(other.X, own)
	}
	spec := bilevel.Spec{Folds: folds, Penalty: lasso, Solver: cd.Options{Tol: 1e-12}}
	want := evaluate(t, newProblem(t, other, true, spec), search.Request{LogLambda: lambda})
	spec.Times = times
	got := evaluate(t, newProblem(t, q, true, spec), search.Request{LogLambda: lambda})
	if !(math.Abs(got.Value-want.Value) <= 1e-9*want.Value) || !(math.Abs(got.Gradient[0]-want.Gradient[0]) <= 1e-6*math.Abs(want.Gradient[0])) {
		t.Errorf("%g, %g; of the columns themselves %g, %g", got.Value, got.Gradient[0], want.Value, want.Gradient[0])
	}
}

// TestStandardErrorOfAHoldOut checks that with at most twenty held-out rows the standard error is that of the mean
// of the rows, and that it is 0 for a single row.
func TestStandardErrorOfAHoldOut(t *testing.T) {
	for _, held := range []int{1, 2, 3, 20} {
		q := oracle.NewRandom(6).Problem(oracle.Shape{N: 30, P: 2})
		folds := make(bilevel.Folds, 30)
		var mean, square float64
		for i := range folds {
			if folds[i] = bilevel.AlwaysTrain; i < held {
				folds[i] = 0
				mean += q.Y[i] * q.Y[i] / float64(held)
			}
		}
		for _, y := range q.Y[:held] {
			square += (y*y - mean) * (y*y - mean)
		}
		want := 0.0
		if held > 1 {
			want = math.Sqrt(square / float64(held-1) / float64(held))
		}
		q.Intercept = false
		null := newProblem(t, q, true, bilevel.Spec{Folds: folds, Penalty: lasso}).Null() // predicts 0
		if !(math.Abs(null.Value-mean) <= 1e-14*mean) || !(math.Abs(null.StandardError-want) <= 1e-13*want) {
			t.Errorf("%d rows: %g ± %g, want %g ± %g", held, null.Value, null.StandardError, mean, want)
		}
	}
}

// TestClassesBeginWhereTheyAreTold checks that BeginEach takes effect: from their own solutions classes need at
// most half of the passes and epochs that they need from the null model.
func TestClassesBeginWhereTheyAreTold(t *testing.T) {
	q := oracle.NewRandom(8).Problem(oracle.Shape{N: 60, P: 12})
	for i := range q.Y {
		q.Y[i] = float64(i % 3)
	}
	folds, err := bilevel.KFold(nil, 60, 2, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	at, steps := slices.Repeat([]float64{-4.5}, 3), [2]int{}
	var each []*bilevel.Solution
	for i := range steps {
		m := newMulticlass(t, q, true, bilevel.Spec{Folds: folds, Penalty: lasso, Solver: cd.Options{Tol: 1e-8}})
		m.KeepSolutions()
		if i == 1 {
			m.BeginEach(each)
		}
		r, err := m.Evaluate(t.Context(), search.Request{LogLambda: at, ValueOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		steps[i] = r.Passes + r.Epochs
		if each, err = m.Solutions(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	if 2*steps[1] > steps[0] {
		t.Errorf("%d passes and epochs at the solutions, %d at the null model", steps[1], steps[0])
	}
}

// TestLabelsAndTheirClasses checks that the classes are the distinct labels in ascending order, that a single
// class is refused, and that labels must be finite.
func TestLabelsAndTheirClasses(t *testing.T) {
	for seed := range uint64(20) {
		r := oracle.NewRandom(900 + seed)
		y := make([]float64, 2+r.Intn(60))
		for i := range y {
			y[i] = float64(r.Intn(2 + int(3*seed)))
		}
		want := slices.Compact(slices.Sorted(slices.Values(y)))
		if got := bilevel.Distinct(nil, y); !slices.Equal(got, want) {
			t.Errorf("seed %d: %v, want %v", seed, got, want)
		}
		classes, label, err := bilevel.Classes(nil, y)
		if len(want) == 1 {
			if outcome.KindOf(err) != outcome.SingleClass {
				t.Errorf("seed %d: %v", seed, err)
			}
			continue
		}
		if err != nil || !slices.Equal(classes, want) {
			t.Fatal(classes, err)
		}
		for i, k := range label {
			if classes[k] != y[i] {
				t.Errorf("seed %d, row %d: class %g of label %g", seed, i, classes[k], y[i])
			}
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, _, err := bilevel.Classes(nil, []float64{0, 1, bad, 1})
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != outcome.NonFinite || !e.HasRow || e.Row != 2 {
			t.Errorf("%g: %v", bad, err)
		}
	}
	if _, _, err := bilevel.Classes(nil, []float64{3, 3}); outcome.KindOf(err) != outcome.SingleClass {
		t.Errorf("one class: %v", err)
	}
	q := &oracle.Problem{Y: []float64{0, 1, 0, 1}, X: [][]float64{{1}, {2}, {3}, {4}}, Alpha: []float64{1}}
	m := newMulticlass(t, q, true, bilevel.Spec{Folds: bilevel.Folds{0, 0, 1, 1}, Penalty: lasso})
	for _, lambda := range [][]float64{{1}, {1, 2, 3}, nil} {
		if _, err := m.Evaluate(t.Context(), search.Request{LogLambda: lambda}); outcome.KindOf(err) != outcome.Shape {
			t.Errorf("%d strengths of two classes: %v", len(lambda), err)
		}
	}
}
