package bilevel_test

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// rememberable is a problem that another process may continue.
type rememberable interface {
	search.Objective
	KeepSolutions()
	Remember(ctx context.Context, tag byte, left []search.Memory) error
}

// rememberedKinds returns constructors of small problems, one for every kind of lane. The arguments are the most
// lanes that are held at once, and the memories of an earlier problem (nil: nothing is remembered).
func rememberedKinds(t *testing.T) map[string]func(atOnce int, left *[]search.Memory) (rememberable, *bilevel.Lanes, error) {
	t.Helper()
	k, r := fixture.Kernels(t), oracle.NewRandom(44)
	const n, p = 40, 10
	q := r.Problem(oracle.Shape{N: n, P: p, Density: 0.6, Mean: 1})
	numbers, signs, three := q.Y, make([]float64, n), make([]float64, n)
	for i, y := range q.Y {
		signs[i], three[i] = math.Copysign(1, y), float64(i%3)
	}
	x := fixture.Matrix(t, q, false)
	folds, err := bilevel.KFold(nil, n, 2, true, 0)
	if err != nil {
		t.Fatal(err)
	}
	logistic := func(v *sparse.View, y []float64) (model.Datafit, error) { return model.NewLogistic(v, y) }
	open := func(spec bilevel.Spec, lanes func(spec bilevel.Spec) (*bilevel.Lanes, error)) func(int, *[]search.Memory) (rememberable, *bilevel.Lanes, error) {
		return func(atOnce int, left *[]search.Memory) (rememberable, *bilevel.Lanes, error) {
			own := spec
			own.Folds, own.AtOnce = folds, atOnce
			own.Solver.Tol = 1e-3 // loose, so that results depend on the start
			if own.Risk != nil {
				own.Folds = nil
			}
			made, err := lanes(own)
			if err != nil {
				return nil, nil, err
			}
			problem, err := bilevel.NewOver(t.Context(), made, own)
			if err == nil && left != nil {
				err = problem.Remember(t.Context(), 3, *left)
			}
			return problem, made, err
		}
	}
	dense := func(y []float64) func(bilevel.Spec) (*bilevel.Lanes, error) {
		return func(spec bilevel.Spec) (*bilevel.Lanes, error) { return bilevel.NewLanes(k, x, y, spec) }
	}
	halves, err := model.NewPartition([]int{0, 0, 1, 1, 1, 2, 2, 3, 3, 3})
	if err != nil {
		t.Fatal(err)
	}
	squared := func(v *sparse.View, y []float64) (model.Datafit, error) { return model.NewSquared(v, y) }
	grouped := &bilevel.Blocked{
		Partition: halves, Penalty: func(l []float64) (model.Blocks, error) { return model.GroupLasso([]float64{1, 2, 1, 1.5}, l[0]) },
	}
	softmax := &bilevel.Blocked{
		Partition: model.Singletons(p), Count: 3, Penalty: func(l []float64) (model.Blocks, error) { return model.ScoresLasso(3, l) },
		Scores: func(v *sparse.View) (model.Scores, error) {
			class := make([]int32, n)
			for i, k := range three {
				class[i] = int32(k)
			}
			return model.NewSoftmax(v, class, []float64{0, 1, 2})
		},
	}
	return map[string]func(int, *[]search.Memory) (rememberable, *bilevel.Lanes, error){
		"groups":  open(bilevel.Spec{Blocked: grouped, Datafit: squared, Intercept: true}, dense(numbers)),
		"softmax": open(bilevel.Spec{Blocked: softmax, Intercept: true}, dense(three)),
		"svr": open(bilevel.Spec{Criterion: criterion.Of(loss.Squared{}), Intercept: true}, func(spec bilevel.Spec) (*bilevel.Lanes, error) {
			return bilevel.NewVectorsLanes(k, x, numbers, bilevel.VectorRegression, spec)
		}),
		"lasso":    open(bilevel.Spec{Penalty: lasso, Intercept: true}, dense(numbers)),
		"scaled":   open(bilevel.Spec{Penalty: lasso, Standardise: true}, dense(numbers)),
		"sure":     open(bilevel.Spec{Penalty: lasso, Risk: &bilevel.Risk{Information: bilevel.SURE(n, 0.5), Sigma: 0.5}}, dense(numbers)),
		"logistic": open(bilevel.Spec{Penalty: lasso, Datafit: logistic, Criterion: criterion.Of(loss.Logistic{})}, dense(signs)),
		"svm": open(bilevel.Spec{}, func(spec bilevel.Spec) (*bilevel.Lanes, error) {
			return bilevel.NewSVMLanes(k, sparse.Transpose(x), signs, spec)
		}),
		"classes": func(atOnce int, left *[]search.Memory) (rememberable, *bilevel.Lanes, error) {
			spec := bilevel.Spec{Penalty: lasso, Folds: folds, AtOnce: atOnce, Solver: cd.Options{Tol: 1e-3}}
			made, err := bilevel.NewMulticlassLanes(k, x, three, spec)
			if err != nil {
				return nil, nil, err
			}
			problem, err := bilevel.NewMulticlassOver(t.Context(), k, made, three, spec)
			if err == nil && left != nil {
				err = problem.Remember(t.Context(), 3, *left)
			}
			return problem, made, err
		},
	}
}

// requestsOf returns evaluations at random places, with and without gradients, starting where the last one ended
// and from kept solutions.
func requestsOf(name string) (all []search.Request) {
	at := func(l float64) []float64 {
		switch name {
		case "classes":
			return []float64{l, l, l}
		case "svr":
			return []float64{l, -2}
		}
		return []float64{l}
	}
	return []search.Request{
		{LogLambda: at(-2)},
		{LogLambda: at(-3.5), ValueOnly: true},
		{LogLambda: at(-2.5), From: at(-2)},
		{LogLambda: at(-2.8)},
		{LogLambda: at(-3), From: at(-3.5), Tol: 1e-7},
	}
}

func evaluations(t *testing.T, p rememberable, requests []search.Request) (all []search.Evaluation) {
	t.Helper()
	p.KeepSolutions()
	return unkept(t, p, requests)
}

// unkept evaluates requests with a problem that keeps solutions only if it has been asked to.
func unkept(t *testing.T, p rememberable, requests []search.Request) (all []search.Evaluation) {
	t.Helper()
	for _, r := range requests {
		e, err := p.Eval(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// TestAnotherProcessGoesOnToTheBit checks that a problem made anew from the memories of all evaluations so far
// continues with the same bits, whichever evaluation was the last and whether or not solutions are kept. Without
// these memories, or under another tag, results differ.
func TestAnotherProcessGoesOnToTheBit(t *testing.T) {
	for name, open := range rememberedKinds(t) {
		for which, evaluations := range []func(*testing.T, rememberable, []search.Request) []search.Evaluation{evaluations, unkept} {
			requests := requestsOf(name)
			none := []search.Memory{}
			first, _, err := open(0, &none)
			if err != nil {
				t.Fatal(name, err)
			}
			whole := evaluations(t, first, requests)
			var left []search.Memory
			for _, e := range whole {
				left = append(left, e.Memory)
			}
			differs := false
			for cut := range requests {
				for _, kept := range [][]search.Memory{left[:cut], nil} {
					if kept == nil && cut != 2 {
						continue
					}
					next, _, err := open(0, &kept)
					if err != nil {
						t.Fatal(name, err)
					}
					for i, e := range evaluations(t, next, requests[cut:]) {
						want := whole[cut+i]
						same := e.Value == want.Value && slices.Equal(e.Gradient, want.Gradient) && e.Tol == want.Tol && e.TrainLoss == want.TrainLoss
						differs = differs || kept == nil && !same
						if kept != nil && (!same || !slices.Equal(e.Memory.Last, want.Memory.Last) || !slices.Equal(e.Memory.Kept, want.Memory.Kept)) {
							t.Errorf("%s, %d, gone on with after %d: evaluation %d is %.17g %v, without a stop %.17g %v", name, which, cut, cut+i, e.Value, e.Gradient, want.Value, want.Gradient)
						}
					}
				}
			}
			if !differs && name != "svr" { // it always starts cold
				t.Errorf("%s: nothing depends on what is remembered", name)
			}
		}
	}
}

// TestLanesThatTakeTurnsRememberAlike checks that lanes that release their data between turns give the results of
// a problem that remembers, that no more lanes are solved at a time than there is room for, and that a call that
// has ended frees its room.
func TestLanesThatTakeTurnsRememberAlike(t *testing.T) {
	for name, open := range rememberedKinds(t) {
		if name == "classes" { // classes keep their data
			continue
		}
		requests, none := requestsOf(name), []search.Memory{}
		remembers, _, err := open(0, &none)
		if err != nil {
			t.Fatal(name, err)
		}
		turns, lanes, err := open(1, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		// Lanes refuse this request only after they have taken room.
		bad := []bilevel.LaneRequest{{Ask: bilevel.AskSolve, LogLambda: []float64{math.NaN()}}}
		if _, err := lanes.Run(t.Context(), bad, nil); err == nil {
			t.Fatalf("%s: no error", name)
		}
		want := evaluations(t, remembers, requests)
		for i, e := range evaluations(t, turns, requests) {
			if e.Value != want[i].Value || !slices.Equal(e.Gradient, want[i].Gradient) || e.Tol != want[i].Tol {
				t.Errorf("%s, evaluation %d: %.17g %v, of a problem that remembers %.17g %v", name, i, e.Value, e.Gradient, want[i].Value, want[i].Gradient)
			}
		}
		var solved atomic.Int64
		solve := []bilevel.LaneRequest{
			{Ask: bilevel.AskSolve, LogLambda: requests[0].LogLambda, ValueOnly: true},
			{Lane: bilevel.LaneID{Fold: 1}, Ask: bilevel.AskNull},
		}
		_, plain, err := open(0, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		for told, of := range []*bilevel.Lanes{lanes, plain} {
			if _, err := of.Run(t.Context(), solve, func() { solved.Add(1) }); err != nil || solved.Load() != int64(told+1) {
				t.Errorf("%s: told of %d solutions of %d, %v", name, solved.Load(), told+1, err)
			}
		}
	}
}

// TestFromIsWhereAnEvaluationBegins checks that an evaluation with From does not depend on evaluations in between.
func TestFromIsWhereAnEvaluationBegins(t *testing.T) {
	differs := 0
	for name, open := range rememberedKinds(t) {
		if name == "svm" { // its lanes do not keep solutions
			continue
		}
		all := requestsOf(name)
		from := search.Request{LogLambda: all[3].LogLambda, From: all[0].LogLambda}
		var results []search.Evaluation
		for _, requests := range [][]search.Request{{all[0], all[3]}, {all[0], all[1], from}, {all[0], all[1], all[3]}} {
			none := []search.Memory{}
			p, _, err := open(0, &none)
			if err != nil {
				t.Fatal(name, err)
			}
			evaluated := evaluations(t, p, requests)
			results = append(results, evaluated[len(evaluated)-1])
		}
		at, jumped := results[0], results[1]
		if at.Value != jumped.Value || !slices.Equal(at.Gradient, jumped.Gradient) {
			t.Errorf("%s: %.17g %v from where the last ended, %.17g %v by From", name, at.Value, at.Gradient, jumped.Value, jumped.Gradient)
		}
		if at.Value != results[2].Value {
			differs++
		}
	}
	if differs < 4 {
		t.Errorf("where an evaluation begins makes a difference to %d kinds of problems only", differs)
	}
}

// TestMemoriesThatNoProblemLeaves checks that invalid memories, cut at any byte or with an extra byte, are refused
// and never read beyond their end, and that memories under another tag are ignored.
func TestMemoriesThatNoProblemLeaves(t *testing.T) {
	for name, open := range rememberedKinds(t) {
		none := []search.Memory{}
		p, _, err := open(0, &none)
		if err != nil {
			t.Fatal(name, err)
		}
		all := evaluations(t, p, requestsOf(name)[:1])
		for which, data := range map[string][]byte{"last": all[0].Memory.Last, "kept": all[0].Memory.Kept} {
			try := func(data []byte) error {
				left := search.Memory{Last: data}
				if which == "kept" {
					left = search.Memory{Kept: data}
				}
				return p.Remember(t.Context(), 3, []search.Memory{left})
			}
			if len(data) < 3 {
				t.Fatalf("%s: the %s memory has %d bytes", name, which, len(data))
			}
			for end := 1; end < len(data); end++ {
				if err := try(data[:end]); outcome.KindOf(err) != outcome.Parse {
					t.Errorf("%s: %d bytes of %d of the %s memory: %v", name, end, len(data), which, err)
				}
			}
			if err := try(append(slices.Clone(data), 0)); outcome.KindOf(err) != outcome.Parse {
				t.Errorf("%s: a byte more of the %s memory: %v", name, which, err)
			}
			other := append([]byte{data[0] + 1}, 0xff, 0xff, 0xff)
			if err := try(other); err != nil {
				t.Errorf("%s: under another tag: %v", name, err)
			}
			if err := try(data); err != nil {
				t.Errorf("%s: the %s memory itself: %v", name, which, err)
			}
		}
	}
}
