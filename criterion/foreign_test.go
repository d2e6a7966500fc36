package criterion_test

import (
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/loss"
)

// ownLoss is a caller's loss that embeds one of this module.
type ownLoss struct{ loss.Logistic }

// TestForeign checks that code of the caller is recognised inside weighted criteria and criteria made from losses.
func TestForeign(t *testing.T) {
	for _, l := range loss.All() {
		y := []float64{1, 2}
		if l.Check(2) != nil {
			y[1] = -1
		}
		bound, err := loss.Bind(nil, l, y, nil, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []loss.Loss{l, bound} {
			if criterion.Foreign(criterion.Weighted{Criterion: criterion.Of(l)}) {
				t.Errorf("%T", l)
			}
		}
	}
	if criterion.Foreign(criterion.Of(&loss.Huber{})) {
		t.Error("a pointer to one of ours")
	}
	for _, name := range criterion.Names() {
		if c := criterion.Named(name); c != nil && criterion.Foreign(c) {
			t.Errorf("%s", name)
		}
	}
	made := criterion.Func("made", func(_, _, _ []float64) float64 { return 0 })
	for _, c := range []criterion.Criterion{made, criterion.Weighted{Criterion: made}, criterion.Of(ownLoss{}), criterion.Of(&ownLoss{}), criterion.Of(struct{ loss.Logistic }{})} {
		if !criterion.Foreign(c) {
			t.Errorf("%s, %T", c.Name(), c)
		}
	}
}

// TestOwnCriterionWithWeights checks that the refusal of a caller's criterion for weighted rows names one that is accepted.
func TestOwnCriterionWithWeights(t *testing.T) {
	y, weights := []float64{1, -1}, []float64{1, 2}
	made := criterion.Func("made", func(_, _, _ []float64) float64 { return 0 })
	if err := criterion.Check(nil, made, y, weights); err == nil || !strings.Contains(err.Error(), "criterion.Of a loss of your own") {
		t.Error(err)
	}
	if err := criterion.Check(nil, criterion.Of(ownLoss{}), y, weights); err != nil {
		t.Error(err)
	}
}
