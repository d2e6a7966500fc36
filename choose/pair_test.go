package choose_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/choose"
	"github.com/seed-45b9a24c/pare/search"
)

// between is a criterion of two strengths: a Lasso with its minimum at λ₁ = −1, a ridge that is a little worse,
// and a basin of mixtures of both, whose walls are as thick as the distance from the Lasso to it.
type between struct {
	at, width [2]float64
	flat      bool // the ridge is as good for decades below λ₂ = −1 as at its minimum, and nearly as good as the Lasso
}

func (v between) value(l []float64) float64 {
	bowl := func(l float64) float64 { // for one strength alone
		away := l + 1
		return 1 - math.Exp(-away*away/8)
	}
	value := 1 + bowl(l[0])
	if math.IsInf(l[0], -1) {
		value = 1.3 + bowl(l[1])
		if v.flat {
			value = 1.04 + bowl(max(l[1], -1)) - 0.001*math.Exp(-(l[1]+9)*(l[1]+9)/8)
		}
	}
	if math.IsInf(l[0], -1) || math.IsInf(l[1], -1) {
		return value
	}
	well := 0.0
	for i, at := range v.at {
		away := (l[i] - at) / v.width[i]
		well += away * away / 2
	}
	return value + 0.15/(1+math.Exp(-3*(l[1]+5))) - math.Exp(-well)
}

func (v between) Eval(_ context.Context, r search.Request) (search.Evaluation, error) {
	e := search.Evaluation{LogLambda: r.LogLambda, Value: v.value(r.LogLambda), StandardError: 0.5, Trusted: true, Tol: r.Tol, TrainLoss: 1}
	at := func(i int, by float64) []float64 {
		moved := append([]float64{}, r.LogLambda...)
		moved[i] += by
		return moved
	}
	const h = 1e-4
	for i, l := range r.LogLambda {
		slope := 0.0
		if !math.IsInf(l, -1) {
			slope = (v.value(at(i, h)) - v.value(at(i, -h))) / (2 * h)
		}
		e.Gradient = append(e.Gradient, slope)
	}
	return e, nil
}

func (v between) Null() search.Evaluation { return search.Evaluation{Value: 3, StandardError: 0.5} }

// TestMixturesHardlyWorseAreFollowed checks that a mixture of Lasso and ridge that is only slightly worse than the
// better of the two is followed, by the next mixture or by its slope, into a basin that is much better than
// either.
func TestMixturesHardlyWorseAreFollowed(t *testing.T) {
	for name, v := range map[string]between{
		"by the next mixture": {at: [2]float64{-1.7, -1.7}, width: [2]float64{0.5, 0.8}},
		"by its slope":        {at: [2]float64{-2.4, -2.6}, width: [2]float64{0.8, 0.6}},
	} {
		first := v.value([]float64{-1 + math.Log(0.9), -1 + math.Log(0.1)})
		alone := v.value([]float64{-1, math.Inf(-1)})
		if !(first > alone) {
			t.Fatalf("%s: the first mixture is better than the Lasso: %g, %g", name, first, alone)
		}
		p := choose.Problem{Objective: v, Top: []float64{0, 0}, RidgeTop: 0, Ranges: []choose.Range{{Below: 9}, {Below: 9, Above: 4}}, Pair: true, Pass: 1}
		r, _, err := choose.Minimise(t.Context(), p, choose.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: the Lasso %.3f, the first mixture %.3f, the basin %.3f, %v: %.3f", name, alone, first, v.value(v.at[:]), r.Best.LogLambda, r.Best.Value)
		if r.Best.Value > v.value(v.at[:])+0.05 {
			t.Errorf("%s: %s, %g at %.2f; the basin at %.2f has %g", name, r.Status, r.Best.Value, r.Best.LogLambda, v.at, v.value(v.at[:]))
		}
	}
}

// TestMixturesTakeTheStrongestRidgeThatWillDo checks that a ridge that is equally good over decades is mixed at
// its largest strength: at its formal minimum it has no effect beside the Lasso.
func TestMixturesTakeTheStrongestRidgeThatWillDo(t *testing.T) {
	v := between{at: [2]float64{-1.4, -3}, width: [2]float64{0.5, 1}, flat: true}
	if weak, alone := v.value([]float64{-1 + math.Log(0.9), -9 + math.Log(0.1)}), v.value([]float64{-1, math.Inf(-1)}); math.Abs(weak-alone) > 0.05 {
		t.Fatalf("the weakest ridge leads from %g to %g", alone, weak)
	}
	p := choose.Problem{Objective: v, Top: []float64{0, 0}, RidgeTop: 0, Ranges: []choose.Range{{Below: 9}, {Below: 9, Above: 4}}, Pair: true, Pass: 1}
	r, _, err := choose.Minimise(t.Context(), p, choose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Best.Value > v.value(v.at[:])+0.2 {
		t.Errorf("%s, %g at %.2f; the basin at %.2f has %g", r.Status, r.Best.Value, r.Best.LogLambda, v.at, v.value(v.at[:]))
	}
}
