package bilevel_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// classLanes answers with scores by fold, class and row, and with bounds that differ from lane to lane.
type classLanes struct {
	scores, tested [][][]float64
	asked          []bilevel.LaneRequest
}

func (l *classLanes) Run(_ context.Context, requests []bilevel.LaneRequest, _ func()) ([]bilevel.LaneResult, error) {
	out := make([]bilevel.LaneResult, len(requests))
	for i, r := range requests {
		l.asked = append(l.asked, r)
		fold, k := r.Lane.Fold, r.Lane.Class
		switch r.Ask {
		case bilevel.AskSolve:
			out[i].Scores, out[i].TestScores = append([]float64(nil), l.scores[fold][k]...), append([]float64(nil), l.tested[fold][k]...)
			out[i].Solved.Status, out[i].Solved.TrainLoss = outcome.Converged, 1
		case bilevel.AskSlope:
			out[i].Gradient = []float64{float64(10*fold + k)}
			out[i].MotionNorm, out[i].ErrorNorm = float64(1+k+fold), float64(4+k*k)
			out[i].Derived = bilevel.Derived{ErrorBound: 100, InjectivityMargin: 1, SupportCertified: true, Status: outcome.Converged}
		}
	}
	return out, nil
}

// crossEntropy returns the mean cross-entropy of scores given by class and row.
func crossEntropy(scores [][]float64, class []int) (mean float64) {
	for i, own := range class {
		var sum float64
		for k := range scores {
			sum += math.Exp(scores[k][i])
		}
		mean += (math.Log(sum) - scores[own][i]) / float64(len(class))
	}
	return mean
}

// TestClassesAreJudgedTogether checks against a computation by hand for three classes the criterion, the test
// value, the gradient and its bound, the probabilities sent to the lanes, and the solutions from which they start.
func TestClassesAreJudgedTogether(t *testing.T) {
	y := []float64{5, 7, 9, 5, 7, 9, 5, 7, 9, 9}
	folds := bilevel.Folds{-1, -1, -1, 0, 0, 0, 1, 1, 1, bilevel.TestOnly}
	lanes := &classLanes{
		scores: [][][]float64{{{1, 0, 2}, {0, 3, 1}, {-1, 0, 0.5}}, {{0, 1, 1}, {2, 1, 0}, {1, 0, 4}}},
		tested: [][][]float64{{{1}, {0}, {2}}, {{0}, {0}, {-1}}},
	}
	m, err := bilevel.NewMulticlassOver(t.Context(), fixture.Kernels(t), lanes, y, bilevel.Spec{Folds: folds})
	if err != nil {
		t.Fatal(err)
	}
	m.KeepSolutions()
	first := []float64{-1, -2, -3}
	r, err := m.Evaluate(t.Context(), search.Request{LogLambda: first})
	if err != nil {
		t.Fatal(err)
	}
	near := func(name string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-14*(1+math.Abs(want))) {
			t.Errorf("%s: %.16g, want %.16g", name, got, want)
		}
	}
	own := []int{0, 1, 2}
	a, b := crossEntropy(lanes.scores[0], own), crossEntropy(lanes.scores[1], own)
	near("value", r.Value, (a+b)/2)
	near("standard error", r.StandardError, math.Abs(a-b)/2)
	near("test", r.Test, (crossEntropy(lanes.tested[0], []int{2})+crossEntropy(lanes.tested[1], []int{2}))/2)
	errors := []float64{4, 5, 8}
	worst := 0.0
	for k := range 3 {
		near("derivative", r.Gradient[k], 5+float64(k))
		others := 17 - errors[k]
		worst = math.Max(worst, 100+(float64(1+k)*others+float64(2+k)*others)/2)
	}
	near("bound", r.ErrorBound, worst)
	if !r.Tested || r.Status != outcome.Converged || len(r.FoldValues) != 2 {
		t.Errorf("%+v", r)
	}
	near("null model", m.NullValue(), math.Log(3)) // the classes are equally frequent among the training rows of either fold
	slopes := 0
	for _, asked := range lanes.asked {
		if asked.Ask != bilevel.AskSlope {
			continue
		}
		slopes++
		fold, k := asked.Lane.Fold, asked.Lane.Class
		near("λ of a class", asked.LogLambda[0], first[k])
		for i := range 3 {
			var sum float64
			for l := range 3 {
				sum += math.Exp(lanes.scores[fold][l][i])
			}
			near("probability", asked.Probability[i], math.Exp(lanes.scores[fold][k][i])/sum)
			if i == k {
				near("of all others", asked.Others[0], 1-math.Exp(lanes.scores[fold][k][i])/sum)
			}
		}
	}
	if slopes != 6 {
		t.Errorf("%d slopes asked for", slopes)
	}
	number := lanes.asked[len(lanes.asked)-1].Keep
	lanes.asked = nil
	if _, err := m.Evaluate(t.Context(), search.Request{LogLambda: []float64{-4, -4, -4}, From: first, ValueOnly: true}); err != nil {
		t.Fatal(err)
	}
	for _, asked := range lanes.asked {
		if number <= 0 || asked.From != number || asked.Keep <= 0 || asked.Keep == number {
			t.Errorf("asked to begin with solution %d and to keep %d, the first was kept as %d", asked.From, asked.Keep, number)
		}
	}
}

// TestClassesOfOneHoldOut checks that the standard error is that of a mean with given weights, √Σ(wᵢ(ℓᵢ − mean))².
func TestClassesOfOneHoldOut(t *testing.T) {
	lanes := &classLanes{scores: [][][]float64{{{1, 0, 2, 1}, {0, 3, 1, -1}}}, tested: [][][]float64{{nil, nil}}}
	m, err := bilevel.NewMulticlassOver(t.Context(), fixture.Kernels(t), lanes, []float64{0, 1, 0, 1, 0, 1}, bilevel.Spec{Folds: bilevel.Folds{-1, -1, 0, 0, 0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Evaluate(t.Context(), search.Request{LogLambda: []float64{0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	var rows []float64
	for i, own := range []int{0, 1, 0, 1} {
		rows = append(rows, crossEntropy([][]float64{{lanes.scores[0][0][i]}, {lanes.scores[0][1][i]}}, []int{own}))
	}
	mean := (rows[0] + rows[1] + rows[2] + rows[3]) / 4
	var square float64
	for _, v := range rows {
		square += (v - mean) * (v - mean)
	}
	if want := math.Sqrt(square/3) / 2; !(math.Abs(r.StandardError-want) <= 1e-14) || !(math.Abs(r.Value-mean) <= 1e-14) || r.Tested {
		t.Errorf("value %g, want %g; standard error %g, want %g", r.Value, mean, r.StandardError, want)
	}
	if null := m.Null(); !(math.Abs(null.Value-math.Ln2) <= 1e-15) || !(null.StandardError <= 1e-15) {
		t.Errorf("null model %g, %g", null.Value, null.StandardError)
	}
}
