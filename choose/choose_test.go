package choose_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/choose"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// bowl is a quadratic criterion of two λ's with a given minimum.
type bowl struct{ least [2]float64 }

func (b bowl) Eval(_ context.Context, r search.Request) (search.Evaluation, error) {
	e := search.Evaluation{LogLambda: r.LogLambda, Value: 1, Trusted: true, Tol: r.Tol, Curvature: []float64{0.02, 0, 0, 0.02}}
	for i, l := range r.LogLambda {
		away := l - b.least[i]
		e.Value += 0.01 * away * away
		e.Gradient = append(e.Gradient, 0.02*away)
	}
	return e, nil
}

func (b bowl) Null() search.Evaluation { return search.Evaluation{Value: 10} }

// TestTwoStrengthsAreLookedForBelowTheirBestShare checks that both strengths are also searched below their best
// common share of αmax, if this share is as small as the bounds around αmax or smaller.
func TestTwoStrengthsAreLookedForBelowTheirBestShare(t *testing.T) {
	for _, least := range [][2]float64{{-4, -3}, {-9, -7}, {-16, -14}} {
		p := choose.Problem{Objective: bowl{least}, Top: []float64{0, 0}, Ranges: []choose.Range{{Below: 9}, {Below: 9, Above: 4}}, Curved: true}
		result, common, err := choose.Minimise(t.Context(), p, choose.Options{Precision: true})
		if err != nil {
			t.Fatal(err)
		}
		if want := (least[0] + least[1]) / 2; math.Abs(common.Best.LogLambda[0]-want) > 1 {
			t.Errorf("least at %g: the best share is e^%g", least, common.Best.LogLambda[0])
		}
		for i, l := range result.Best.LogLambda {
			if math.Abs(l-least[i]) > 0.1 {
				t.Errorf("least at %g: %s at %g", least, result.Status, result.Best.LogLambda)
				break
			}
		}
	}
}

// jagged is a bowl whose value jumps down again and again on the way to its minimum and rises between the jumps,
// so that its slopes are of no use.
type jagged struct{ bowl }

func (j jagged) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	e, err := j.bowl.Eval(ctx, r)
	e.Value, e.StandardError = math.Ceil(200*(e.Value-1))/8, 0.1
	for i := range e.Gradient {
		e.Gradient[i] = 0.5
	}
	return e, err
}

// lone is finite only where both strengths are the same share.
type lone struct{ jagged }

func (l lone) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	e, err := l.jagged.Eval(ctx, r)
	if r.LogLambda[0] != r.LogLambda[1] {
		e.Value = math.Inf(1)
	}
	return e, err
}

func (lone) Null() search.Evaluation { return search.Evaluation{Value: 100} }

// TestTwoStrengthsWithoutAnother checks that the best common share is chosen, with the slopes of both strengths,
// if no other value is finite.
func TestTwoStrengthsWithoutAnother(t *testing.T) {
	p := choose.Problem{Objective: lone{jagged{bowl{[2]float64{-3, -7}}}}, Top: []float64{0, 0}, Ranges: []choose.Range{{Below: 9}, {Below: 9, Above: 4}}, Jumps: true}
	result, common, err := choose.Minimise(t.Context(), p, choose.Options{})
	if err != nil || !result.Status.OK() || !slices.Equal(result.Best.LogLambda, common.Best.LogLambda) || len(result.Best.Gradient) != 2 {
		t.Errorf("%v, %+v", err, result)
	}
}

// TestTwoStrengthsOfACriterionThatJumps checks that two strengths of a criterion that jumps are searched without
// slopes, which do not show where it decreases, and that the choice nevertheless has slopes.
func TestTwoStrengthsOfACriterionThatJumps(t *testing.T) {
	least := [2]float64{-3, -7}
	p := choose.Problem{Objective: jagged{bowl{least}}, Top: []float64{0, 0}, Ranges: []choose.Range{{Below: 9}, {Below: 9, Above: 4}}, Jumps: true}
	for _, precision := range []bool{false, true} {
		result, common, err := choose.Minimise(t.Context(), p, choose.Options{Precision: precision})
		if err != nil {
			t.Fatal(err)
		}
		if !result.Status.OK() || !(result.Best.Value < common.Best.Value-0.5) || len(result.Best.Gradient) != 2 {
			t.Errorf("%s at %g, the common share at %g: %d evaluations", result.Status, result.Best.LogLambda, common.Best.LogLambda, len(result.Evaluations))
		}
		if at := result.Best.LogLambda; !precision && math.Hypot(at[0]-least[0], at[1]-least[1]) > 0.5 {
			t.Errorf("at %g after %d evaluations", at, len(result.Evaluations))
		}
	}
}

// counted counts the rough and the full slopes that a criterion is asked for.
type counted struct {
	choose.Objective
	rough, full *int
}

func (c counted) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	switch {
	case r.ValueOnly:
	case r.Rough:
		*c.rough++
	default:
		*c.full++
	}
	return c.Objective.Eval(ctx, r)
}

// TestSlopesToStepBy checks that a choice to a share of the standard error uses rough slopes only, for one λ and
// for two; with Precision, and with other methods, full slopes are requested in the end.
func TestSlopesToStepBy(t *testing.T) {
	for name, c := range map[string]struct {
		o    choose.Options
		full bool
	}{
		"plain":     {},
		"precision": {choose.Options{Precision: true}, true},
		"lbfgs":     {choose.Options{Search: choose.LBFGS}, true},
	} {
		for _, pair := range []bool{false, true} {
			p := choose.Problem{Objective: bowl{[2]float64{-4, -3}}, Top: []float64{0, 0}, Ranges: []choose.Range{{Below: 9}, {Below: 9, Above: 4}}, Curved: true, Pair: pair, Start: 0.5}
			if pair {
				p.Objective = between{at: [2]float64{-2, -2}, width: [2]float64{2, 2}}
			}
			var rough, full int
			p.Objective = counted{p.Objective, &rough, &full}
			if _, _, err := choose.Minimise(t.Context(), p, c.o); err != nil {
				t.Fatal(err)
			}
			if (full > 0) != c.full || rough == 0 && !c.full {
				t.Errorf("%s, pair %t: %d slopes to step by, %d in full", name, pair, rough, full)
			}
		}
	}
}

// TestRoughAnswersAreRecalledForRoughQuestions checks that a rough slope is not returned where a full one is asked
// for, but a full one is returned where a rough one is asked for.
func TestRoughAnswersAreRecalledForRoughQuestions(t *testing.T) {
	var rough, full int
	f := choose.Recalling(counted{bowl{}, &rough, &full})
	for _, asked := range []bool{true, true, false, true, false} {
		if _, err := f.Eval(t.Context(), search.Request{LogLambda: []float64{-1, -2}, Rough: asked}); err != nil {
			t.Fatal(err)
		}
	}
	if rough != 1 || full != 1 {
		t.Errorf("evaluated roughly %d times and in full %d times, want once each", rough, full)
	}
}

// wavy is a bowl with waves, included in its slopes, and with a standard error. It counts evaluations.
type wavy struct {
	bowl
	count *int
	work  float64
}

func (w wavy) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	*w.count++
	e, err := w.bowl.Eval(ctx, r)
	e.Curvature = nil
	for i, l := range r.LogLambda {
		e.Value += float64(0.002 * math.Sin(9*l))
		e.Gradient[i] += float64(0.018 * math.Cos(9*l))
	}
	e.StandardError, e.Work, e.Support = 0.05, w.work, 10
	return e, err
}

// TestCAndEpsilonAreLookedForByTurns checks that C and ε are searched in turn and found even if the minimum is far
// from the starting line and waves stop descents. If evaluations are expensive, fewer are made.
func TestCAndEpsilonAreLookedForByTurns(t *testing.T) {
	for _, least := range [][2]float64{{-2, -1}, {2, -2}, {-4, 1}} {
		var counts [2]int
		for k, work := range []float64{1e3, 1e9} {
			f := wavy{bowl{least}, &counts[k], work}
			p := choose.Problem{Objective: f, Top: []float64{-1, 0}, Ranges: []choose.Range{{Below: 16, Above: 12}, {Below: 12, Above: 3}}, Shape: choose.Dual, Curved: true, Start: 1}
			result, common, err := choose.Minimise(t.Context(), p, choose.Options{})
			if err != nil || common != nil || !result.Status.OK() {
				t.Fatalf("%v, %v, %v", result, common, err)
			}
			// The depth of the waves, 2·0.002, and a fifth of the standard error of 0.05, or two fifths if work is expensive,
			// where waves may stop a step.
			if result.Best.Value > 1-2*0.002+0.2*0.05*float64(1+k) || len(result.Best.LogLambda) != 2 {
				t.Errorf("least at %g, work %g: %g at %g after %d evaluations", least, work, result.Best.Value, result.Best.LogLambda, counts[k])
			}
			for _, e := range result.Evaluations {
				if len(e.LogLambda) != 2 {
					t.Fatalf("an evaluation at %g", e.LogLambda)
				}
			}
		}
		if counts[1] >= counts[0] {
			t.Errorf("least at %g: %d evaluations, %d where they are dear", least, counts[0], counts[1])
		}
	}
}

// tubed is constant except for two effects of ε: waves that fade with ε below 1, and a notch that exists only for
// large C.
type tubed struct{ count *int }

func (t tubed) Null() search.Evaluation { return search.Evaluation{Value: 10} }

func (t tubed) Eval(_ context.Context, r search.Request) (search.Evaluation, error) {
	*t.count++
	x, y := r.LogLambda[0], r.LogLambda[1]
	e := search.Evaluation{LogLambda: r.LogLambda, Value: 2, Gradient: make([]float64, 2), Trusted: true, StandardError: 1, Work: 1e3, Support: max(0, 40-int(8*y)), TrainLoss: 0.4}
	width := min(1, math.Exp(y))
	e.Value += float64(0.1 * width * math.Sin(4*y))
	e.Gradient[1] = 0.4 * width * math.Cos(4*y)
	if y < 0 {
		e.Gradient[1] += float64(0.1 * width * math.Sin(4*y))
	}
	up := 1 / (1 + math.Exp(-2*x)) // increases from small C to large C
	a := y / 0.3
	v := 0.4 * up * math.Exp(-a*a/2)
	e.Value -= v
	e.Gradient[0] = -2 * v * (1 - up)
	e.Gradient[1] += v * a / 0.3
	return e, nil
}

// TestANotchAtALargeCIsFound checks that a notch in ε that exists only for large C is found, and that few points
// are spent on values of C between which the criterion hardly changes.
func TestANotchAtALargeCIsFound(t *testing.T) {
	var count int
	p := choose.Problem{Objective: tubed{&count}, Top: []float64{-5, -2.3}, Ranges: []choose.Range{{Below: 16, Above: 12}, {Below: 12, Above: 3}}, Shape: choose.Dual, Curved: true, Start: math.Exp(-5)}
	result, _, err := choose.Minimise(t.Context(), p, choose.Options{})
	if err != nil || !result.Status.OK() {
		t.Fatalf("%v, %v", result, err)
	}
	if result.Best.Value > 1.6 || count > 75 {
		t.Errorf("%g at %g after %d evaluations", result.Best.Value, result.Best.LogLambda, count)
	}
}

// dips is constant except for two dips. The second one is deeper, and off every line through the first that is
// parallel to a coordinate.
type dips struct {
	count *int
	work  float64
}

func (d dips) Null() search.Evaluation { return search.Evaluation{Value: 10} }

func (d dips) Eval(_ context.Context, r search.Request) (search.Evaluation, error) {
	*d.count++
	x, y := r.LogLambda[0], r.LogLambda[1]
	e := search.Evaluation{LogLambda: r.LogLambda, Value: 2, Gradient: make([]float64, 2), Trusted: true, StandardError: 1, Work: d.work, Support: 10, TrainLoss: 0.4}
	for _, dip := range []struct{ x, y, depth, long, wide float64 }{{-4, -3, 0.5, 1, 1}, {2, -1, 0.6, 1, 1.5}} {
		a, b := (x-dip.x)/dip.long, (y-dip.y)/dip.wide
		v := dip.depth * math.Exp(-(a*a+b*b)/2)
		e.Value -= v
		e.Gradient[0] += v * a / dip.long
		e.Gradient[1] += v * b / dip.wide
	}
	return e, nil
}

// TestOtherDipsAreFollowed checks that a line through the first dip that passes the edge of the second one leads
// to its minimum. If evaluations are expensive the first dip is accepted.
func TestOtherDipsAreFollowed(t *testing.T) {
	for _, work := range []float64{1e3, 1e9} {
		var count int
		f := dips{&count, work}
		p := choose.Problem{Objective: f, Top: []float64{-1, 0}, Ranges: []choose.Range{{Below: 16, Above: 12}, {Below: 12, Above: 3}}, Shape: choose.Dual, Curved: true, Start: 1}
		result, _, err := choose.Minimise(t.Context(), p, choose.Options{})
		if err != nil || !result.Status.OK() {
			t.Fatalf("%v, %v", result, err)
		}
		if result.Best.Value > 1.41 && work < 1e6 || result.Best.Value > 1.51 {
			t.Errorf("work %g: %g at %g after %d evaluations", work, result.Best.Value, result.Best.LogLambda, count)
		}
		for limit := count - 1; work < 1e6 && limit > count-20; limit-- { // a search that has converged remains so if its budget ends shortly before the last evaluation
			o := choose.Options{}
			o.Evaluations = limit
			if result, _, err := choose.Minimise(t.Context(), p, o); err != nil || !result.Status.OK() || result.Best.Value > 1.51 {
				t.Errorf("%d evaluations: %v, %v", limit, result, err)
			}
		}
	}
}

// TestRivalsAreDipsOrTheNextBest checks that the rival is the deepest dip that no line has crossed or, without
// one, the best point apart from the best dip.
func TestRivalsAreDipsOrTheNextBest(t *testing.T) {
	at := func(x, y, value float64) search.Evaluation {
		return search.Evaluation{LogLambda: []float64{x, y}, Value: value, StandardError: 1}
	}
	line := []search.Evaluation{at(-2, 0, 2.2), at(-1, 0, 2.1), at(0, 0, 2), at(0.3, 0, 2.01), at(1, 0, 2.15), at(4, 0, 2.5)}
	for _, c := range []struct {
		name   string
		done   []search.Evaluation
		x      float64
		across int
		ok     bool
	}{
		{"no dip", line, -1, 1, true},
		{"a dip", append(line[:5:5], at(2, 0, 2.25), at(3, 0, 2.2), at(4, 0, 2.5)), 3, 1, true},
		{"crossed", append(line[:6:6], at(-1, 1, 2.6), at(-1, -1, 2.6)), 1, 1, true},
		{"far above", []search.Evaluation{at(-1, 0, 2.31), at(0, 0, 2), at(1, 0, 2.31)}, 0, 0, false},
	} {
		rival, across, ok := choose.RivalTo(line[2], c.done)
		if ok != c.ok || ok && (rival.LogLambda[0] != c.x || across != c.across) {
			t.Errorf("%s: %v, %d, %t", c.name, rival.LogLambda, across, ok)
		}
	}
}

// apart is a criterion with one λ for each of two columns, whose values are above those of single.
type apart struct{ bowl }

func (a apart) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	e, err := a.bowl.Eval(ctx, r)
	e.Value++
	return e, err
}

// single is a bowl with one λ for both columns.
type single struct{ bowl }

func (s single) Eval(_ context.Context, r search.Request) (search.Evaluation, error) {
	away := r.LogLambda[0] - s.least[0]
	return search.Evaluation{LogLambda: r.LogLambda, Value: 1 + 0.01*away*away, Gradient: []float64{0.02 * away}, Trusted: true, Tol: r.Tol}, nil
}

// TestColumnsAreNoWorseThanOneStrength checks that one λ per column is not chosen if one λ for all columns was
// better.
func TestColumnsAreNoWorseThanOneStrength(t *testing.T) {
	for _, by := range append(choose.Searches(), "") {
		if by.Points() {
			continue
		}
		c := choose.Columns{
			One:   choose.Problem{Objective: single{bowl{[2]float64{-4}}}, Top: []float64{0}, Ranges: []choose.Range{{Below: 9}}},
			Count: 2,
			Each: func() (search.Objective, []int32, error) {
				return apart{bowl{[2]float64{-4.2, -3.8}}}, []int32{0, 1}, nil
			},
		}
		result, common, err := c.Minimise(t.Context(), choose.Options{Search: by})
		if err != nil {
			t.Fatal(by, err)
		}
		if !(result.Best.Value <= common.Best.Value) || len(result.Best.LogLambda) != 2 || len(result.Best.Gradient) != 2 {
			t.Errorf("%s: %g at %g, with one λ %g", by, result.Best.Value, result.Best.LogLambda, common.Best.Value)
		}
	}
}

// TestNothingToChoose checks that every search returns an error if there is no λ to choose.
func TestNothingToChoose(t *testing.T) {
	for _, m := range choose.Searches() {
		for _, p := range []choose.Problem{{}, {Common: true}, {Pair: true}} {
			p.Objective = bowl{}
			if _, _, err := choose.Minimise(t.Context(), p, choose.Options{Search: m}); outcome.KindOf(err) != outcome.Shape {
				t.Errorf("%s: %v", m, err)
			}
		}
	}
}
