package bilevel

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestCurvaturesAreMeansOverLanes checks that the curvature is the mean over lanes, and nil if a lane has none or
// if all diagonal entries are 0.
func TestCurvaturesAreMeansOverLanes(t *testing.T) {
	p := &Problem{laneWeight: 0.5}
	for _, c := range []struct{ a, b, want []float64 }{
		{[]float64{0.5, 0.25, 0.25, 0}, []float64{0.25, 0, 0, 0}, []float64{0.375, 0.125, 0.125, 0}},
		{[]float64{0, 0, 0, 0.5}, []float64{0, 0, 0, 0}, []float64{0, 0, 0, 0.25}},
		{[]float64{0, 4, 4, 0}, []float64{0, 0, 0, 0}, nil},
		{[]float64{1, 4, 4, 1}, nil, nil},
		{nil, []float64{1, 4, 4, 1}, nil},
	} {
		if got := p.curvature(2, []LaneResult{{Curvature: c.a}, {Curvature: c.b}}); !slices.Equal(got, c.want) {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
	var r Report
	r.addShape(nil, 0.5)
	if r.Shape != nil {
		t.Errorf("of no shapes %v", r.Shape)
	}
	r.addShape([]float64{3}, 0.5)
	r.addShape([]float64{5}, 0.25)
	if !slices.Equal(r.Shape, []float64{2.75}) {
		t.Errorf("a half of 3 and a quarter of 5: %v", r.Shape)
	}
}

// TestCurvatureOfAClassWithinAReach checks that the curvature within a reach r is bounded by e²ʳ times the
// curvature, and stays finite.
func TestCurvatureOfAClassWithinAReach(t *testing.T) {
	w := &classSolver{slope: make([]float64, 2), curvature: []float64{0.25, 0.5}}
	for reach, growth := range map[float64]float64{0: 1, 0.25: math.Exp(0.5), 3: math.Exp(6), 300: math.Exp(600), 1e9: math.Exp(600)} {
		for i, got := range w.curvatureWithin(reach) {
			if want := w.curvature[i] * growth; !(math.Abs(got-want) <= 1e-12*want) {
				t.Errorf("within %g: %g, want %g", reach, got, want)
			}
		}
	}
}

// TestWhatBoundsAskOfACriterion checks what error bounds require of a criterion: a bound of the curvature within a
// reach only if the curvature varies; a criterion without curvature is blind.
func TestWhatBoundsAskOfACriterion(t *testing.T) {
	made := criterion.Func("made", func(_, _, _ []float64) float64 { return 0 })
	for _, c := range []struct {
		of            criterion.Criterion
		blind, within bool
	}{
		{criterion.MeanSquaredError{}, false, false},
		{riskPart{}, false, false},
		{criterion.Of(loss.Logistic{}), false, true},
		{made, true, false},
	} {
		j := foldCriterion{criterion: c.of}
		if got := j.outer(); got.Blind != c.blind || (got.CurvatureWithin != nil) != c.within {
			t.Errorf("%s: blind %t, within %t", c.of.Name(), got.Blind, got.CurvatureWithin != nil)
		}
	}
}

// TestBoxesBoundCoefficients checks that a box from 0 to ∞ gives the results and the αmax of a non-negative
// penalty.
func TestBoxesBoundCoefficients(t *testing.T) {
	q := oracle.NewRandom(21).Problem(oracle.Shape{N: 30, P: 6})
	box, err := model.NewBox(make([]float64, 6), slices.Repeat([]float64{math.Inf(1)}, 6))
	if err != nil {
		t.Fatal(err)
	}
	nonNegative := func(l []float64) (model.Penalty, error) {
		g, err := model.Lasso(l[0])
		if err != nil {
			return g, err
		}
		return g.NonNegative()
	}
	logistic := slices.Clone(q.Y)
	for i, y := range logistic {
		logistic[i] = float64(i % 2)
		q.X[i][0] += y
	}
	for name, open := range map[string]func(spec Spec) (Report, float64, error){
		"folds": func(spec Spec) (Report, float64, error) {
			p, err := New(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, spec)
			if err != nil {
				return Report{}, 0, err
			}
			r, err := p.Evaluate(t.Context(), search.Request{LogLambda: []float64{-4}, Tol: 1e-12})
			return r, p.LogLambdaMax(), err
		},
		"classes": func(spec Spec) (Report, float64, error) {
			p, err := NewMulticlass(fixture.Kernels(t), fixture.Matrix(t, q, true), logistic, spec)
			if err != nil {
				return Report{}, 0, err
			}
			r, err := p.Evaluate(t.Context(), search.Request{LogLambda: []float64{-5, -5}, Tol: 1e-12})
			return r, 0, err
		},
	} {
		folds := slices.Repeat(Folds{0, 0, 1, 1, 2, 2}, 5)
		boxed, top, err := open(Spec{Folds: folds, Penalty: lassoOf, Box: box, AlphaMax: (*model.Null).AlphaMax})
		if err != nil {
			t.Fatal(err)
		}
		want, most, err := open(Spec{Folds: folds, Penalty: nonNegative, AlphaMax: (*model.Null).AlphaMaxNonNegative})
		if err != nil {
			t.Fatal(err)
		}
		free, _, err := open(Spec{Folds: folds, Penalty: lassoOf})
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(boxed.Value-want.Value) <= 1e-9*want.Value) || !(math.Abs(boxed.Gradient[0]-want.Gradient[0]) <= 1e-6*math.Abs(want.Gradient[0])+1e-9) || !(math.Abs(top-most) <= 1e-12) {
			t.Errorf("%s: %.12g %v below %g, not negative %.12g %v below %g", name, boxed.Value, boxed.Gradient, top, want.Value, want.Gradient, most)
		}
		if math.Abs(free.Value-want.Value) < 1e-6*want.Value {
			t.Errorf("%s: the box makes no difference", name)
		}
	}
}

// TestWhatClassesAreAsked checks that an evaluation asks the classes for scores and then for slopes, each class at
// its own strength, and that the last request to a class keeps the solution.
func TestWhatClassesAreAsked(t *testing.T) {
	for _, keep := range []bool{false, true} {
		for _, valueOnly := range []bool{false, true} {
			r := &recorder{}
			m, err := NewMulticlassOver(t.Context(), fixture.Kernels(t), r, []float64{0, 1, 0, 1, 0, 1}, Spec{Folds: Folds{0, 0, 1, 1, -1, -1}})
			if err != nil {
				t.Fatal(err)
			}
			m.Keep, m.Curvature = keep, true
			if r.since(); keep {
				if _, err := m.Evaluate(t.Context(), search.Request{LogLambda: []float64{8, 9}}); err != nil {
					t.Fatal(err)
				}
				r.since()
			}
			report, err := m.Evaluate(t.Context(), search.Request{LogLambda: []float64{1, 2}, From: []float64{8, 9}, Tol: 1e-5, ValueOnly: valueOnly})
			if err != nil || (report.Curvature != nil) == valueOnly {
				t.Fatal(report.Curvature, err)
			}
			var want []LaneRequest
			number, from := 0, 0
			if keep {
				number, from = 2, 1
			}
			for fold := range 2 {
				for class := range 2 {
					one := LaneRequest{Lane: LaneID{fold, class}, Ask: AskSolve, LogLambda: []float64{float64(1 + class)}, Tol: 1e-5, From: from, ValueOnly: valueOnly}
					if valueOnly {
						one.Keep = number
					}
					want = append(want, one)
				}
			}
			for fold := 0; fold < 2 && !valueOnly; fold++ {
				for class := range 2 {
					want = append(want, LaneRequest{
						Lane: LaneID{fold, class}, Ask: AskSlope, LogLambda: []float64{float64(1 + class)}, Tol: 1e-5, Keep: number, Curvature: true,
						Probability: []float64{0.5, 0.5}, Others: []float64{0.5},
					})
				}
			}
			if got := r.since(); !reflect.DeepEqual(got, want) {
				t.Errorf("keep %t, value only %t: asked %+v\nwant %+v", keep, valueOnly, got, want)
			}
		}
	}
}

// TestLanesThatBreakOffKeepTheirVectors checks that the vectors of a lane that failed are never lent to the lanes
// that take turns after it.
func TestLanesThatBreakOffKeepTheirVectors(t *testing.T) {
	const n = 1 << 13
	q := oracle.NewRandom(18).Problem(oracle.Shape{N: n, P: 1})
	var weights []*float64
	lanes, err := NewLanes(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, Spec{
		Folds: slices.Repeat(Folds{0, 1, 2, 3}, n/4), Penalty: lassoOf, AtOnce: 1,
		Training: func(_ *kernels.Set, own []float64) { weights = append(weights, &own[0]) },
	})
	if err != nil {
		t.Fatal(err)
	}
	for fold, lambda := range []float64{math.NaN(), -3, -3, -3} {
		var out LaneResult
		if err := lanes.answerAlone(t.Context(), LaneRequest{Lane: LaneID{Fold: fold}, Ask: AskSolve, LogLambda: []float64{lambda}}, &out, nil); (err != nil) != (fold == 0) {
			t.Fatal(err)
		}
	}
	held := &inProcess[*penalisedLane](t, lanes, LaneID{}).curvature[0]
	if slices.Contains(weights[1:], held) || slices.Contains(weights[1:], weights[0]) {
		t.Error("another lane has the vectors of one that broke off")
	}
}

// TestColumnsAlikeInNorm checks that columns of equal norm are found, also if rounding puts their norms on either
// side of a seventh digit; that columns of zeros are not; and that few others are.
func TestColumnsAlikeInNorm(t *testing.T) {
	const digit = 1 << 28 // in units of the last bit of a float64
	r := oracle.NewRandom(22)
	var values []float64
	want := map[int32]bool{}
	column := func(v float64, counts bool) {
		if counts {
			want[int32(len(values))] = true
		}
		values = append(values, v)
	}
	for i := range 300 {
		edge := math.Float64frombits(math.Float64bits(1+r.Float64()*float64(int(1)<<(i%20))) / digit * digit)
		below := math.Nextafter(edge, 0)
		pattern := [][]float64{{edge, below}, {below, edge}, {below, below, edge}, {edge, edge, below}, {edge, edge}, {below, -below}}[i%6]
		for _, v := range pattern {
			column(v, true)
		}
		column(3000*(1+0.001*float64(i)), false)
		column(0, false)
	}
	x, err := sparse.NewDense(1, len(values), values)
	if err != nil {
		t.Fatal(err)
	}
	view, err := sparse.NewView(fixture.Kernels(t), x, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	got, more := equalNorms(view), 0
	if !slices.IsSorted(got) {
		t.Error("not in order")
	}
	for _, j := range got {
		switch {
		case values[j] == 0:
			t.Errorf("column %d is 0", j)
		case want[j]:
			delete(want, j)
		default:
			more++
		}
	}
	if len(want) > 0 || more > 150 {
		t.Errorf("%d columns are not found, and %d others of 300 are", len(want), more)
	}
}

// TestCurvaturesOfClassesEndWithTheCall checks that a cancelled computation returns the error, wherever it is
// cancelled, and that a completed one is whole.
func TestCurvaturesOfClassesEndWithTheCall(t *testing.T) {
	const n = 1 << 18
	results := make([]LaneResult, 2)
	for k := range results {
		results[k].Motion, results[k].MotionSquare = slices.Repeat([]float64{0.5}, n), float64(n)
	}
	curvature := func(left int) (h []float64, err error) {
		defer kernels.Caught(&err)
		k := fixture.Kernels(t).Until(oracle.LooksOf(t.Context(), left))
		m := &Multiclass{k: k, classes: []float64{0, 1}, folds: make([]*multiclassFold, 1), spec: Spec{Threads: 1, Among: team.NewThreads(1, nil)}}
		return m.curvature(t.Context(), results)
	}
	want, err := curvature(1 << 30)
	if err != nil || !slices.Equal(want, []float64{0.75 * n, -0.25 * n, -0.25 * n, 0.75 * n}) {
		t.Fatalf("%v, %v", want, err)
	}
	ends := 0
	for left := range 100 {
		h, err := curvature(left)
		switch {
		case errors.Is(err, context.Canceled):
			ends++
		case err != nil || !slices.Equal(h, want):
			t.Errorf("ended at look %d: %v, %v", left, h, err)
		}
	}
	if ends == 0 || ends == 100 {
		t.Errorf("ends at %d looks", ends)
	}
}
