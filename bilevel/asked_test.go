package bilevel

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// recorder is a Runner that records the requests made of lanes and answers that every solve has converged.
type recorder struct {
	asked []LaneRequest
	other outcome.Status // if set, the status of the first lane that is solved
}

func (r *recorder) Run(_ context.Context, requests []LaneRequest, solved func()) ([]LaneResult, error) {
	results := make([]LaneResult, len(requests))
	for i, one := range requests {
		r.asked = append(r.asked, one)
		results[i].Solved.Status, results[i].Derived.Status = outcome.Converged, outcome.Converged
		results[i].Gradient, results[i].Scores, results[i].State = make([]float64, len(one.LogLambda)), make([]float64, 2), []byte{7}
		if one.Tell || one.Ask == AskKept {
			results[i].Solution = &Solution{[]int32{2}, []float64{float64(one.Lane.Fold)}}
		}
		if one.Ask == AskSolve && i == 0 && r.other != "" {
			results[i].Solved.Status = r.other
		}
		if solved != nil {
			solved()
		}
	}
	return results, nil
}

// since returns the requests since the last call, and clears the record.
func (r *recorder) since() (asked []LaneRequest) {
	asked, r.asked = r.asked, nil
	return asked
}

// recorded returns a problem of two folds (or of a risk) that runs over a recorder.
func recorded(t *testing.T, spec Spec) (*Problem, *recorder) {
	t.Helper()
	if spec.Risk == nil {
		spec.Folds = Folds{0, 0, 1, 1}
	}
	r := &recorder{}
	p, err := NewOver(t.Context(), r, spec)
	if err != nil {
		t.Fatal(err)
	}
	if want := []LaneRequest{{}, {Lane: LaneID{Fold: 1}}}; !reflect.DeepEqual(r.since(), want) {
		t.Error("lanes are not asked for the null model first")
	}
	return p, r
}

// TestWhatLanesAreAsked checks that an evaluation sends every lane the same request, and that the request contains
// nothing that the caller did not ask for.
func TestWhatLanesAreAsked(t *testing.T) {
	for name, c := range map[string]struct {
		spec      Spec
		curvature bool
		remember  bool
		request   search.Request
		want      LaneRequest
	}{
		"plain":              {request: search.Request{Tol: 1e-4}, want: LaneRequest{Tol: 1e-4}},
		"value":              {curvature: true, request: search.Request{ValueOnly: true}, want: LaneRequest{ValueOnly: true}},
		"curvature":          {curvature: true, want: LaneRequest{Curvature: true}},
		"rough":              {request: search.Request{Rough: true}, want: LaneRequest{Rough: true}},
		"rough of a risk":    {spec: Spec{Risk: &Risk{}}, request: search.Request{Rough: true}},
		"one at once":        {spec: Spec{AtOnce: 1}, want: LaneRequest{Anew: true}},
		"with a memory":      {remember: true, want: LaneRequest{Anew: true}},
		"from what is known": {request: search.Request{From: []float64{-1}}, want: LaneRequest{From: 1}},
		"from elsewhere":     {request: search.Request{From: []float64{-2}}},
	} {
		p, r := recorded(t, c.spec)
		p.Curvature = c.curvature
		if c.remember {
			if err := p.Remember(t.Context(), 1, nil); err != nil {
				t.Fatal(err)
			}
		}
		p.KeepSolutions()
		if _, err := p.Evaluate(t.Context(), search.Request{LogLambda: []float64{-1}}); err != nil {
			t.Fatal(err)
		}
		r.since()
		c.request.LogLambda = []float64{-3}
		c.want.Ask, c.want.LogLambda, c.want.Keep = AskSolve, []float64{-3}, 2
		if _, err := p.Evaluate(t.Context(), c.request); err != nil {
			t.Fatal(err)
		}
		second := c.want
		second.Lane.Fold = 1
		if got := r.since(); !reflect.DeepEqual(got, []LaneRequest{c.want, second}) {
			t.Errorf("%s: asked %+v, want %+v of each", name, got, c.want)
		}
		again := search.Request{LogLambda: []float64{-1}}
		if _, err := p.Evaluate(t.Context(), again); err != nil || r.since()[1].Keep != 1 {
			t.Errorf("%s: what is kept again has another number, %v", name, err)
		}
		p.Keep = false
		if _, err := p.Evaluate(t.Context(), again); err != nil || r.since()[1].Keep != 0 {
			t.Errorf("%s: kept though nobody asks, %v", name, err)
		}
	}
}

// TestWhatIsLeftBehind checks that an evaluation with a memory asks for the states in which the lanes ended, and,
// if solutions are kept, for the states that the lanes kept.
func TestWhatIsLeftBehind(t *testing.T) {
	for _, keep := range []bool{false, true} {
		p, r := recorded(t, Spec{})
		p.Keep = keep
		at := []float64{-1}
		e, err := p.Eval(t.Context(), search.Request{LogLambda: at, ValueOnly: true})
		if err != nil || e.Memory.Last != nil || e.Memory.Kept != nil || len(r.since()) != 2 {
			t.Errorf("without a memory: %+v, %v", e.Memory, err)
		}
		if err := p.Remember(t.Context(), 5, nil); err != nil {
			t.Fatal(err)
		}
		if e, err = p.Eval(t.Context(), search.Request{LogLambda: at, ValueOnly: true}); err != nil {
			t.Fatal(err)
		}
		var states []int
		for _, one := range r.since() {
			if one.Ask == AskState {
				states = append(states, one.Lane.Fold, one.From)
			}
		}
		want := []int{0, 0, 1, 0}
		if keep {
			want = append(want, 0, 1, 1, 1)
		}
		if !slices.Equal(states, want) || len(e.Memory.Last) != 6 || e.Memory.Last[0] != 5 || (e.Memory.Kept != nil) != keep { // a tag, an empty λ, and two states of a byte each
			t.Errorf("keep %t: states asked for %v, want %v; %v", keep, states, want, e.Memory)
		}
	}
}

// TestInnerProblemsAreCounted checks that Solved is called as each inner problem ends, with the number done, the
// total and λ.
func TestInnerProblemsAreCounted(t *testing.T) {
	var told []string
	spec := Spec{Solved: func(done, of int, logLambda []float64) { told = append(told, fmt.Sprint(done, of, logLambda)) }}
	p, _ := recorded(t, spec)
	if _, err := p.Evaluate(t.Context(), search.Request{LogLambda: []float64{3}}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"1 2 [3]", "2 2 [3]"}; !slices.Equal(told, want) {
		t.Errorf("an evaluation: %v, want %v", told, want)
	}
	told = nil
	spec.Folds = Folds{0, 0, 0, 0}
	p, err := NewOver(t.Context(), &recorder{}, spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range p.Path(t.Context(), [][]float64{{1}, {2}, {3}}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"1 3 [1]", "2 3 [2]", "3 3 [3]"}; !slices.Equal(told, want) {
		t.Errorf("a path: %v, want %v", told, want)
	}
	told = nil
	spec.Folds = Folds{0, 0, 1, 1, -1, -1}
	m, err := NewMulticlassOver(t.Context(), fixture.Kernels(t), &recorder{}, []float64{0, 1, 0, 1, 0, 1}, spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Evaluate(t.Context(), search.Request{LogLambda: []float64{1, 2}, ValueOnly: true}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"1 4 [1 2]", "2 4 [1 2]", "3 4 [1 2]", "4 4 [1 2]"}; !slices.Equal(told, want) {
		t.Errorf("classes: %v, want %v", told, want)
	}
}

// TestPathsRemember checks that with a memory each point of a path carries the states in which the lanes ended,
// and that lanes are then asked to solve anew.
func TestPathsRemember(t *testing.T) {
	spec := Spec{Folds: Folds{0, 0, 0, 0}}
	r := &recorder{}
	p, err := NewOver(t.Context(), r, spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, on := range []bool{false, true} {
		if on {
			if err := p.Remember(t.Context(), 9, nil); err != nil {
				t.Fatal(err)
			}
		}
		r.since()
		points := 0
		for report, err := range p.Path(t.Context(), [][]float64{{1}, {2}}) {
			points++
			if err != nil || (len(report.Memory.Last) > 0) != on || on && report.Memory.Last[0] != 9 {
				t.Errorf("memory %t: %v, %v", on, report.Memory, err)
			}
		}
		want := []LaneRequest{
			{Ask: AskSolve, LogLambda: []float64{1}, ValueOnly: true, Anew: on},
			{Ask: AskState},
			{Ask: AskSolve, LogLambda: []float64{2}, ValueOnly: true, Anew: on},
			{Ask: AskState},
		}
		if !on {
			want = []LaneRequest{want[0], want[2]}
		}
		if got := r.since(); points != 2 || !reflect.DeepEqual(got, want) {
			t.Errorf("memory %t: %d points, asked %+v", on, points, got)
		}
	}
}

// TestWhereProblemsBegin checks that a start applies to the next evaluation only. Begin gives all lanes one
// predictor in terms of the columns of X, if lanes have such coefficients; BeginEach gives each lane a solution of
// its own, if there are as many solutions as lanes.
func TestWhereProblemsBegin(t *testing.T) {
	forward := iterdiff.ForwardPCD
	a, b := &Solution{[]int32{1}, []float64{2}}, &Solution{[]int32{0}, []float64{3}}
	for name, c := range map[string]struct {
		spec   Spec
		begins bool
	}{
		"columns":    {Spec{}, true},
		"iterates":   {Spec{Iterate: &forward}, false},
		"blocks":     {Spec{Blocked: &Blocked{}}, true},
		"one score":  {Spec{Blocked: &Blocked{Count: 1}}, true},
		"two scores": {Spec{Blocked: &Blocked{Count: 2}}, false},
	} {
		p, r := recorded(t, c.spec)
		starts := func() (at []*Solution, unscaled bool) {
			if _, err := p.Evaluate(t.Context(), search.Request{LogLambda: []float64{0}}); err != nil {
				t.Fatal(err)
			}
			asked := r.since()
			return []*Solution{asked[0].Start, asked[1].Start}, asked[0].Unscaled || asked[1].Unscaled
		}
		p.Begin([]*Solution{a, b})
		want := []*Solution{nil, nil}
		if c.begins {
			want = []*Solution{a, a}
		}
		if got, unscaled := starts(); !slices.Equal(got, want) || unscaled != c.begins {
			t.Errorf("%s: begins at %v, %t", name, got, unscaled)
		}
		if got, _ := starts(); got[0] != nil || got[1] != nil {
			t.Errorf("%s: begins there twice", name)
		}
		p.BeginEach([]*Solution{b, a})
		if got, unscaled := starts(); !slices.Equal(got, []*Solution{b, a}) || unscaled {
			t.Errorf("%s, each: begins at %v, %t", name, got, unscaled)
		}
		p.BeginEach([]*Solution{a})
		if got, _ := starts(); got[0] != nil {
			t.Errorf("%s: one solution for two lanes", name)
		}
	}
}

// rareProblem returns a problem of 24 rare classes in two folds that runs over a recorder, and the recorder.
func rareProblem(t *testing.T) (*Multiclass, *recorder) {
	t.Helper()
	var y []float64
	var folds Folds
	for i := range 96 {
		y, folds = append(y, float64(i%24)), append(folds, i/24%2)
	}
	r := &rareRecorder{}
	m, err := NewMulticlassOver(t.Context(), fixture.Kernels(t), r, y, Spec{Folds: folds})
	if err != nil {
		t.Fatal(err)
	}
	r.since()
	return m, &r.recorder
}

// rareRecorder is a recorder that answers with 48 scores, as many as a fold has rows.
type rareRecorder struct{ recorder }

func (r *rareRecorder) Run(ctx context.Context, requests []LaneRequest, solved func()) ([]LaneResult, error) {
	results, err := r.recorder.Run(ctx, requests, solved)
	for i := range results {
		results[i].Scores = make([]float64, 48)
	}
	return results, err
}

// TestRareClassesFollowTheirLeader checks that the leader of the rare classes is solved first and once in each
// fold, and that the other classes start from its solution. There is no leader if classes have been given starts,
// or if an earlier process left states behind.
func TestRareClassesFollowTheirLeader(t *testing.T) {
	at := search.Request{LogLambda: slices.Repeat([]float64{-1}, 24)}
	for name, prepare := range map[string]func(m *Multiclass){
		"led":       func(*Multiclass) {},
		"begun":     func(m *Multiclass) { m.Begin(slices.Repeat([]*Solution{{}}, 24)) },
		"each":      func(m *Multiclass) { m.BeginEach(slices.Repeat([]*Solution{{}}, 48)) },
		"too few":   func(m *Multiclass) { m.BeginEach(slices.Repeat([]*Solution{{}}, 24)) },
		"resumed":   func(m *Multiclass) { m.memory = memory{true, 1} },
		"not begun": func(m *Multiclass) { m.memory = memory{true, 2} },
	} {
		m, r := rareProblem(t)
		m.KeepSolutions()
		prepare(m)
		if m.memory.on {
			left := m.memory.encode(make([]LaneResult, 48), nil)
			if err := m.Remember(t.Context(), 1, []search.Memory{{Last: left}}); err != nil {
				t.Fatal(err)
			}
			r.since()
		}
		led := name == "led" || name == "too few" || name == "not begun"
		if _, err := m.Evaluate(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		asked := r.since()
		if led {
			if len(asked) != 2+48+48 {
				t.Fatalf("%s: %d requests", name, len(asked))
			}
			for fold, one := range asked[:2] {
				want := LaneRequest{Lane: LaneID{fold, 12}, Ask: AskSolve, LogLambda: []float64{-1}, ValueOnly: true, Tell: true}
				if !reflect.DeepEqual(one, want) {
					t.Errorf("%s: the leader is asked %+v", name, one)
				}
			}
			for _, one := range asked[2:50] {
				if one.Start == nil || one.Start.Coef[0] != float64(one.Lane.Fold) {
					t.Errorf("%s: %v begins at %v", name, one.Lane, one.Start)
				}
			}
		} else if len(asked) != 48+48 {
			t.Errorf("%s: %d requests", name, len(asked))
		}
		if _, err := m.Evaluate(t.Context(), at); err != nil || len(r.since()) != 48+48 {
			t.Errorf("%s: led twice, %v", name, err)
		}
	}
}

// TestHeldOutPredictionsSayHowTheyEnded checks that the status of a fold's predictions is the worst among its
// classes.
func TestHeldOutPredictionsSayHowTheyEnded(t *testing.T) {
	spec := Spec{Folds: Folds{0, 0, 1, 1, -1, -1}, Solver: cd.Options{Tol: 1e-3}}
	y := []float64{0, 1, 0, 1, 0, 1}
	for _, other := range []outcome.Status{"", outcome.NotConverged} {
		r := &recorder{other: other}
		m, err := NewMulticlassOver(t.Context(), fixture.Kernels(t), r, y, spec)
		if err != nil {
			t.Fatal(err)
		}
		classes, err := m.HeldOut(t.Context(), []float64{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewOver(t.Context(), r, spec)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := p.HeldOut(t.Context(), []float64{1})
		if err != nil {
			t.Fatal(err)
		}
		want := outcome.Converged
		if other != "" {
			want = other
		}
		for of, folds := range map[string][]Predicted{"classes": classes, "folds": plain} {
			scores := map[string]int{"classes": 2, "folds": 1}[of]
			if len(folds) != 2 || folds[0].Status != want || folds[1].Status != outcome.Converged || !slices.Equal(folds[1].Rows, []int32{2, 3}) || len(folds[0].Scores) != scores || len(folds[0].Scores[0]) != 2 {
				t.Errorf("%s, %s: %+v", of, want, folds)
			}
		}
	}
}
