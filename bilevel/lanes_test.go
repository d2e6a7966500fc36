package bilevel_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"math"
	"slices"
	"strings"
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

// distant is a Runner that behaves like one on another machine: requests and results are encoded and decoded, and
// from time to time a lane is lost and rebuilt by repeating all the requests made of it before.
type distant struct {
	t     *testing.T
	lanes *bilevel.Lanes

	mu      sync.Mutex
	random  *oracle.Random
	history map[bilevel.LaneID][]bilevel.LaneRequest
	lost    int
}

// copied encodes and decodes a value.
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
	d.mu.Lock() // one call at a time, so that the same lanes are lost each time
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

// TestLanesMayBeLostAndElsewhere checks that problems of all kinds give the same bits if their lanes run behind an
// encoding, are lost at random and are rebuilt from their requests.
func TestLanesMayBeLostAndElsewhere(t *testing.T) {
	k := fixture.Kernels(t)
	lasso := func(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) }
	logistic := func(v *sparse.View, y []float64) (model.Datafit, error) { return model.NewLogistic(v, y) }
	forward := iterdiff.ForwardPCD
	kinds := map[string]struct {
		spec  bilevel.Spec
		count int // number of λ's; 0: one per column
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
					q.Y[i] = float64(i % 24) // every class is rare
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

// TestLanesRefuseRequestsThatCannotBe checks that invalid requests, which may come from another machine, are
// refused before any work is done, and that requests just inside the limits are answered.
func TestLanesRefuseRequestsThatCannotBe(t *testing.T) {
	const n, p = 40, 10
	q := oracle.NewRandom(2).Problem(oracle.Shape{N: n, P: p})
	three := make([]float64, n)
	for i := range three {
		three[i] = float64(i % 3)
	}
	k, x := fixture.Kernels(t), fixture.Matrix(t, q, true)
	folds, err := bilevel.KFold(nil, n, 2, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	spec := bilevel.Spec{Folds: folds, Penalty: penalties["lasso"]}
	plain, err := bilevel.NewLanes(k, x, q.Y, spec)
	if err != nil {
		t.Fatal(err)
	}
	classes, err := bilevel.NewMulticlassLanes(k, x, three, spec)
	if err != nil {
		t.Fatal(err)
	}
	label := make([]int32, n)
	for i := range label {
		label[i] = int32(i % 3)
	}
	spec.Blocked = &bilevel.Blocked{
		Partition: model.Singletons(p), Count: 3, Penalty: func(l []float64) (model.Blocks, error) { return model.ScoresLasso(3, l) },
		Scores: func(v *sparse.View) (model.Scores, error) { return model.NewSoftmax(v, label, []float64{0, 1, 2}) },
	}
	scores, err := bilevel.NewLanes(k, x, three, spec)
	if err != nil {
		t.Fatal(err)
	}
	each := bilevel.Spec{Folds: folds, Datafit: func(v *sparse.View, y []float64) (model.Datafit, error) { return model.NewSquared(v, y) }}
	each.Blocked = &bilevel.Blocked{Partition: model.Singletons(p), Penalty: func(l []float64) (model.Blocks, error) {
		return model.GroupLasso(slices.Repeat([]float64{1}, p), l[0])
	}}
	blocks, err := bilevel.NewLanes(k, x, q.Y, each)
	if err != nil {
		t.Fatal(err)
	}
	lambda, inf, nan := []float64{-3}, math.Inf(1), math.NaN()
	solve := func(change func(r *bilevel.LaneRequest)) bilevel.LaneRequest {
		r := bilevel.LaneRequest{Ask: bilevel.AskSolve, LogLambda: lambda}
		change(&r)
		return r
	}
	start := func(support []int32, coef ...float64) bilevel.LaneRequest {
		return solve(func(r *bilevel.LaneRequest) { r.Start = &bilevel.Solution{Support: support, Coef: coef} })
	}
	// Fold 0 has the 20 even rows; every third of them is of class 0: 0, 6, 12, …, 36.
	slope := func(own, others int) bilevel.LaneRequest {
		return bilevel.LaneRequest{Ask: bilevel.AskSlope, LogLambda: lambda, Probability: make([]float64, own), Others: make([]float64, others)}
	}
	for name, c := range map[string]struct {
		of      *bilevel.Lanes
		request bilevel.LaneRequest
		kind    outcome.Kind
		says    string
	}{
		"null model":          {plain, bilevel.LaneRequest{}, "", ""},
		"last fold":           {plain, bilevel.LaneRequest{Lane: bilevel.LaneID{Fold: 1}}, "", ""},
		"fold":                {plain, bilevel.LaneRequest{Lane: bilevel.LaneID{Fold: 2}}, outcome.BadParameter, "there are 2 folds of 1 classes"},
		"negative fold":       {plain, bilevel.LaneRequest{Lane: bilevel.LaneID{Fold: -1}}, outcome.BadParameter, "no lane"},
		"class":               {plain, bilevel.LaneRequest{Lane: bilevel.LaneID{Class: 1}}, outcome.BadParameter, "no lane"},
		"negative class":      {plain, bilevel.LaneRequest{Lane: bilevel.LaneID{Class: -1}}, outcome.BadParameter, "no lane"},
		"last class":          {classes, bilevel.LaneRequest{Lane: bilevel.LaneID{Class: 2}}, "", ""},
		"no such class":       {classes, bilevel.LaneRequest{Lane: bilevel.LaneID{Class: 3}}, outcome.BadParameter, "there are 2 folds of 3 classes"},
		"class's first fold":  {classes, bilevel.LaneRequest{Lane: bilevel.LaneID{Fold: -1}}, outcome.BadParameter, "no lane"},
		"ask":                 {plain, bilevel.LaneRequest{Ask: 77}, outcome.BadParameter, "kind of request, 77"},
		"solve":               {plain, solve(func(*bilevel.LaneRequest) {}), "", ""},
		"no λ":                {plain, bilevel.LaneRequest{Ask: bilevel.AskSolve}, outcome.Shape, "no λ"},
		"two λ":               {plain, bilevel.LaneRequest{Ask: bilevel.AskSolve, LogLambda: []float64{1, 2}}, outcome.Shape, "1 hyperparameters, got 2"},
		"tolerance 0.5":       {plain, solve(func(r *bilevel.LaneRequest) { r.Tol = 0.5 }), "", ""},
		"NaN":                 {plain, solve(func(r *bilevel.LaneRequest) { r.Tol = nan }), outcome.BadParameter, "tol"},
		"negative":            {plain, solve(func(r *bilevel.LaneRequest) { r.Tol = -1e-3 }), outcome.BadParameter, "tol"},
		"no tolerance at all": {plain, solve(func(r *bilevel.LaneRequest) { r.Tol = inf }), outcome.BadParameter, "tol"},
		"keep":                {plain, solve(func(r *bilevel.LaneRequest) { r.Keep = -1 }), outcome.BadParameter, "must not be negative"},
		"from":                {plain, solve(func(r *bilevel.LaneRequest) { r.From = -1 }), outcome.BadParameter, "must not be negative"},
		"keep the first":      {plain, solve(func(r *bilevel.LaneRequest) { r.Keep = 1 }), "", ""},
		"from the second":     {plain, solve(func(r *bilevel.LaneRequest) { r.From, r.Keep = 2, 2 }), "", ""},
		"from nowhere":        {plain, start(nil), "", ""},
		"from the first":      {plain, start([]int32{0}, 1), "", ""},
		"from the last":       {plain, start([]int32{0, 1, p - 1}, 1, 1, -1), "", ""},
		"no such column":      {plain, start([]int32{p}, 1), outcome.BadParameter, "ascending columns below 10"},
		"negative column":     {plain, start([]int32{-1}, 1), outcome.BadParameter, "ascending columns"},
		"order":               {plain, start([]int32{1, 0}, 1, 1), outcome.BadParameter, "ascending columns"},
		"order at the end":    {plain, start([]int32{0, 2, 1}, 1, 1, 1), outcome.BadParameter, "ascending columns"},
		"order before":        {plain, start([]int32{1, 0, 2}, 1, 1, 1), outcome.BadParameter, "ascending columns"},
		"twice":               {plain, start([]int32{1, 1}, 1, 1), outcome.BadParameter, "ascending columns"},
		"a column more":       {plain, start([]int32{1}), outcome.BadParameter, "ascending columns"},
		"a coefficient more":  {plain, start([]int32{1}, 1, 1), outcome.BadParameter, "ascending columns"},
		"infinite":            {plain, start([]int32{1}, inf), outcome.BadParameter, "finite coefficient"},
		"minus infinity":      {plain, start([]int32{1}, -inf), outcome.BadParameter, "finite coefficient"},
		"not a number":        {plain, start([]int32{0, 1}, nan, 1), outcome.BadParameter, "finite coefficient"},
		"last of blocks":      {blocks, start([]int32{p - 1}, 1), "", ""},
		"no such block":       {blocks, start([]int32{p}, 1), outcome.BadParameter, "ascending columns below 10"},
		"last of three":       {scores, start([]int32{0, 3*p - 1}, 1, -1), "", ""},
		"no such score":       {scores, start([]int32{3 * p}, 1), outcome.BadParameter, "ascending columns below 30"},
		"slope of a fold":     {plain, bilevel.LaneRequest{Ask: bilevel.AskSlope, LogLambda: lambda}, outcome.Usage, "comes with its solution"},
		"slope":               {classes, slope(20, 7), "", ""},
		"slope without λ":     {classes, bilevel.LaneRequest{Ask: bilevel.AskSlope}, outcome.Shape, "no λ"},
		"probabilities":       {classes, slope(19, 7), outcome.Shape, "got 19 probabilities of the class and 7 of the other classes, expected 20 and 7"},
		"others":              {classes, slope(20, 8), outcome.Shape, "expected 20 and 7"},
		"nothing to restore":  {plain, bilevel.LaneRequest{Ask: bilevel.AskRestore}, "", ""},
		"a byte to restore":   {plain, bilevel.LaneRequest{Ask: bilevel.AskRestore, State: []byte{1}}, outcome.Parse, ""},
	} {
		if c.request.Ask == bilevel.AskSlope && c.of == classes { // a slope requires a solution
			if _, err := classes.Run(t.Context(), []bilevel.LaneRequest{{Ask: bilevel.AskSolve, LogLambda: lambda}}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.of.Run(t.Context(), []bilevel.LaneRequest{c.request}, nil); outcome.KindOf(err) != c.kind || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
