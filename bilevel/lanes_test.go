package bilevel_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// distant answers as a machine elsewhere would: requests and results go through an encoding,
// and every so often a lane is lost, and made anew by asking it all it was asked before.
type distant struct {
	t     *testing.T
	lanes *bilevel.Lanes

	mu      sync.Mutex
	random  *oracle.Random
	history map[bilevel.LaneID][]bilevel.LaneRequest
	lost    int
}

// copied sends a value through its encoding.
func copied[V any](t *testing.T, v V) (out V) {
	t.Helper()
	var wire bytes.Buffer
	if err := gob.NewEncoder(&wire).Encode(v); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&wire).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (d *distant) Run(ctx context.Context, requests []bilevel.LaneRequest, solved func()) ([]bilevel.LaneResult, error) {
	d.mu.Lock() // one after the other, for the same losses each time
	defer d.mu.Unlock()
	for i, r := range requests {
		requests[i] = copied(d.t, r)
		if past := d.history[r.Lane]; len(past) > 0 && d.random.Intn(3) == 0 {
			d.lanes.Forget(r.Lane)
			d.lost++
			for _, before := range past {
				if _, err := d.lanes.Run(ctx, []bilevel.LaneRequest{before}, nil); err != nil {
					return nil, err
				}
			}
		}
		d.history[r.Lane] = append(d.history[r.Lane], requests[i])
	}
	results, err := d.lanes.Run(ctx, requests, solved)
	for i := range results {
		results[i] = copied(d.t, results[i])
	}
	return results, err
}

// evaluable is an outer problem of any kind.
type evaluable interface {
	Evaluate(ctx context.Context, r search.Request) (bilevel.Report, error)
	AskCurvature()
	KeepSolutions()
}

// TestLanesMayBeLostAndElsewhere: problems of all kinds have the same bits over lanes behind
// an encoding that are lost at random and made anew from their requests.
func TestLanesMayBeLostAndElsewhere(t *testing.T) {
	k := fixture.Kernels(t)
	lasso := func(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) }
	logistic := func(v *sparse.View, y []float64) (model.Datafit, error) { return model.NewLogistic(v, y) }
	forward := iterdiff.ForwardPCD
	kinds := map[string]struct {
		spec  bilevel.Spec
		count int // of λ's; 0: one per column
		make  string
	}{
		"lasso":      {bilevel.Spec{Penalty: lasso}, 1, ""},
		"certified":  {bilevel.Spec{Penalty: lasso, Certify: true, Solver: cd.Options{Tol: 1e-11}}, 1, ""},
		"enet":       {bilevel.Spec{Penalty: penalties["enet"]}, 2, ""},
		"wlasso":     {bilevel.Spec{Penalty: penalties["wlasso"]}, 0, ""},
		"sure":       {bilevel.Spec{Penalty: lasso, Risk: &bilevel.Risk{Information: bilevel.BIC(60, 0.5), Sigma: 0.5}}, 1, ""},
		"iterated":   {bilevel.Spec{Penalty: lasso, Iterate: &forward}, 1, ""},
		"logreg":     {bilevel.Spec{Penalty: lasso, Datafit: logistic, Criterion: criterion.Of(loss.Logistic{})}, 1, "signs"},
		"svm":        {bilevel.Spec{}, 1, "svm"},
		"multiclass": {bilevel.Spec{Penalty: lasso}, 24, "classes"},
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			r := oracle.NewRandom(4)
			n, p := 60, 12
			if kind.make == "classes" {
				n = 480
			}
			q := r.Problem(oracle.Shape{N: n, P: p, Density: 0.5})
			for i := range q.Y {
				switch kind.make {
				case "signs", "svm":
					q.Y[i] = math.Copysign(1, q.Y[i])
				case "classes":
					q.Y[i] = float64(i % 24) // each rare
				}
			}
			spec, x := kind.spec, fixture.Matrix(t, q, false)
			var err error
			if spec.Folds, err = bilevel.KFold(nil, n, 3, true, 0); err != nil {
				t.Fatal(err)
			}
			spec.Folds[5] = bilevel.TestOnly
			if spec.Risk != nil {
				spec.Folds = nil
			}
			lanes := func() (*bilevel.Lanes, error) { return bilevel.NewLanes(k, x, q.Y, spec) }
			over := func(runner bilevel.Runner) (evaluable, error) { return bilevel.NewOver(t.Context(), runner, spec) }
			switch kind.make {
			case "svm":
				lanes = func() (*bilevel.Lanes, error) { return bilevel.NewSVMLanes(k, sparse.Transpose(x), q.Y, spec) }
			case "classes":
				lanes = func() (*bilevel.Lanes, error) { return bilevel.NewMulticlassLanes(k, x, q.Y, spec) }
				over = func(runner bilevel.Runner) (evaluable, error) {
					return bilevel.NewMulticlassOver(t.Context(), k, runner, q.Y, spec)
				}
			}
			near, err := lanes()
			if err != nil {
				t.Fatal(err)
			}
			away, err := lanes()
			if err != nil {
				t.Fatal(err)
			}
			far := &distant{t: t, lanes: away, random: oracle.NewRandom(1), history: map[bilevel.LaneID][]bilevel.LaneRequest{}}
			var problems [2]evaluable
			for i, runner := range []bilevel.Runner{near, far} {
				if problems[i], err = over(runner); err != nil {
					t.Fatal(err)
				}
				problems[i].AskCurvature()
				problems[i].KeepSolutions()
			}
			count := kind.count
			if count == 0 {
				count = p
			}
			at := func(l float64) []float64 { return slices.Repeat([]float64{l}, count) }
			for step, request := range []search.Request{
				{LogLambda: at(-2), ValueOnly: true},
				{LogLambda: at(-3)},
				{LogLambda: at(-5), Tol: 1e-9},
				{LogLambda: at(-2.5), From: at(-3)},
				{LogLambda: at(-3.5), From: at(-5), ValueOnly: true},
			} {
				a, err := problems[0].Evaluate(t.Context(), request)
				if err != nil {
					t.Fatal(err)
				}
				b, err := problems[1].Evaluate(t.Context(), request)
				if err != nil {
					t.Fatal(err)
				}
				if a.Value != b.Value || a.Test != b.Test || a.StandardError != b.StandardError || a.Status != b.Status || a.Certificate != b.Certificate || a.Effort != b.Effort ||
					a.SupportCertified != b.SupportCertified || !slices.Equal(a.Gradient, b.Gradient) || !slices.Equal(a.Curvature, b.Curvature) {
					t.Errorf("step %d: %+v\nbeside %+v", step, b, a)
				}
				if !request.ValueOnly && (len(a.Gradient) != count || name == "enet" && a.Curvature == nil) {
					t.Errorf("step %d: %+v", step, a)
				}
			}
			if far.lost < 3 {
				t.Errorf("only %d lanes were lost", far.lost)
			}
		})
	}
}

// TestLanesRefuseRequestsThatCannotBe: whatever comes from elsewhere is looked at first.
func TestLanesRefuseRequestsThatCannotBe(t *testing.T) {
	r := oracle.NewRandom(2)
	q, folds, lambda := draw(r, "lasso")
	lanes, err := bilevel.NewLanes(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, bilevel.Spec{Folds: folds, Penalty: penalties["lasso"]})
	if err != nil {
		t.Fatal(err)
	}
	_, p := q.Dims()
	for name, request := range map[string]bilevel.LaneRequest{
		"fold":          {Lane: bilevel.LaneID{Fold: folds.Count(nil)}},
		"negative fold": {Lane: bilevel.LaneID{Fold: -1}},
		"class":         {Lane: bilevel.LaneID{Class: 1}},
		"ask":           {Ask: 77},
		"no λ":          {Ask: bilevel.AskSolve},
		"two λ":         {Ask: bilevel.AskSolve, LogLambda: []float64{1, 2}},
		"tol":           {Ask: bilevel.AskSolve, LogLambda: lambda, Tol: math.NaN()},
		"number":        {Ask: bilevel.AskSolve, LogLambda: lambda, Keep: -1},
		"start":         {Ask: bilevel.AskSolve, LogLambda: lambda, Start: &bilevel.Solution{Support: []int32{int32(p)}, Coef: []float64{1}}},
		"order":         {Ask: bilevel.AskSolve, LogLambda: lambda, Start: &bilevel.Solution{Support: []int32{1, 0}, Coef: []float64{1, 1}}},
		"lengths":       {Ask: bilevel.AskSolve, LogLambda: lambda, Start: &bilevel.Solution{Support: []int32{1}}},
		"infinite":      {Ask: bilevel.AskSolve, LogLambda: lambda, Start: &bilevel.Solution{Support: []int32{1}, Coef: []float64{math.Inf(1)}}},
		"class's slope": {Ask: bilevel.AskSlope, LogLambda: lambda},
	} {
		if _, err := lanes.Run(t.Context(), []bilevel.LaneRequest{request}, nil); outcome.KindOf(err) == "" || outcome.KindOf(err) == outcome.Internal {
			t.Errorf("%s: %v", name, err)
		}
	}
}
