package iterdiff_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

func TestArguments(t *testing.T) {
	q := draw(t, oracle.NewRandom(1), fixture.Kernels(t), squared, "lasso", iterdiff.ForwardPCD)
	g := q.penalty(t)
	short, err := model.WeightedLasso([]float64{0})
	if err != nil {
		t.Fatal(err)
	}
	limits, err := model.NewBox(nil, make([]float64, 9))
	if err != nil {
		t.Fatal(err)
	}
	lasso, err := model.Lasso(-1)
	if err != nil {
		t.Fatal(err)
	}
	bounded, err := lasso.Within(limits)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		g    model.Penalty
		o    iterdiff.Options
		c    iterdiff.Outer
		kind outcome.Kind
	}{
		"no criterion":         {g, iterdiff.Options{}, nil, outcome.Usage},
		"bounds":               {bounded, iterdiff.Options{}, q.outer, outcome.Usage},
		"no penalty":           {model.Penalty{}, iterdiff.Options{}, q.outer, outcome.BadParameter},
		"one strength":         {short, iterdiff.Options{}, q.outer, outcome.Shape},
		"method":               {g, iterdiff.Options{Method: 4}, q.outer, outcome.Usage},
		"tolerance":            {g, iterdiff.Options{Tol: 1e-16}, q.outer, outcome.BadParameter},
		"NaN tolerance":        {g, iterdiff.Options{Tol: math.NaN()}, q.outer, outcome.BadParameter},
		"epochs":               {g, iterdiff.Options{Epochs: -1}, q.outer, outcome.BadParameter},
		"most epochs":          {g, iterdiff.Options{MaxEpochs: -1}, q.outer, outcome.BadParameter},
		"budget":               {g, iterdiff.Options{MemoryBudget: -1}, q.outer, outcome.BadParameter},
		"step":                 {g, iterdiff.Options{Step: math.Inf(1)}, q.outer, outcome.BadParameter},
		"start of two lengths": {g, iterdiff.Options{Start: iterdiff.Point{Support: []int32{1}}}, q.outer, outcome.Shape},
		"start outside":        {g, iterdiff.Options{Start: iterdiff.Point{Support: []int32{99}, Coef: []float64{1}}}, q.outer, outcome.Shape},
		"start descending":     {g, iterdiff.Options{Start: iterdiff.Point{Support: []int32{2, 1}, Coef: []float64{1, 1}}}, q.outer, outcome.Shape},
		"intercept not finite": {g, iterdiff.Options{Start: iterdiff.Point{Intercept: math.NaN()}}, q.outer, outcome.NonFinite},
		"start not finite":     {g, iterdiff.Options{Start: iterdiff.Point{Support: []int32{1}, Coef: []float64{math.NaN()}}}, q.outer, outcome.NonFinite},
	} {
		if _, err := q.solver.Solve(t.Context(), c.g, c.c, c.o); outcome.KindOf(err) != c.kind {
			t.Errorf("%s: %v, want an error of kind %s", name, err, c.kind)
		}
	}
	if _, err := iterdiff.New(other{}); outcome.KindOf(err) != outcome.Usage {
		t.Errorf("an unknown loss: %v", err)
	}
	svm := draw(t, oracle.NewRandom(1), fixture.Kernels(t), box, "svm", iterdiff.ForwardPCD)
	if _, err := svm.svm.Solve(t.Context(), 800, svm.outer, iterdiff.Options{}); outcome.KindOf(err) != outcome.BadParameter {
		t.Errorf("C = e^800: %v", err)
	}
}

// other is a datafit of another package.
type other struct{ model.Datafit }

func (other) View() *sparse.View {
	x, err := sparse.NewDense(1, 1, []float64{1})
	if err != nil {
		panic(err)
	}
	k, err := kernels.Named("purego")
	if err != nil {
		panic(err)
	}
	view, err := sparse.NewView(k, x, nil, false)
	if err != nil {
		panic(err)
	}
	return view
}

func (other) Target() []float64 { return []float64{1} }

func TestMethodNames(t *testing.T) {
	if got := fmt.Sprint(allMethods, iterdiff.Method(9)); got != "[forward PCD backward PCD forward PGD backward PGD] unknown" {
		t.Error(got)
	}
}
