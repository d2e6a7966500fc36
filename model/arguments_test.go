package model_test

import (
	"errors"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestArgumentsThatCannotBe checks that invalid arguments of penalties and datafits are refused, up to the ends of
// what is allowed.
func TestArgumentsThatCannotBe(t *testing.T) {
	part, err := model.NewPartition([]int{0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	_, below := model.NewPartition([]int{0, -1})
	two := math.Log(2)
	for math.Exp(two) > 2 {
		two = math.Nextafter(two, 0)
	}
	scad := func(logA float64) error {
		_, err := model.NewSCAD(0, logA)
		return err
	}
	for _, c := range []struct {
		name  string
		err   error
		valid bool
	}{
		{"SCAD with a of 3", scad(math.Log(3)), true},
		{"SCAD with a of 2 or less", scad(two), false},
		{"SCAD with a of NaN", scad(math.NaN()), false},
		{"weights of groups", model.CheckGroupWeights([]float64{1, 1e-300}, part), true},
		{"a weight of 0", model.CheckGroupWeights([]float64{1, 0}, part), false},
		{"a negative weight", model.CheckGroupWeights([]float64{-1, 1}, part), false},
		{"a weight of +Inf", model.CheckGroupWeights([]float64{1, math.Inf(1)}, part), false},
		{"a weight of NaN", model.CheckGroupWeights([]float64{1, math.NaN()}, part), false},
		{"a group below 0", below, false},
		{"too few weights", model.CheckGroupWeights([]float64{1}, part), false},
	} {
		var e *outcome.Error
		if c.valid != (c.err == nil) || !c.valid && !errors.As(c.err, &e) {
			t.Errorf("%s: %v", c.name, c.err)
		}
	}
}

// TestOffsetsAreFinite checks that offsets may have any sign but must be finite, and that the error names the row.
func TestOffsetsAreFinite(t *testing.T) {
	y := []float64{-1, 1, 1}
	view := fixture.View(t, &oracle.Problem{X: [][]float64{{1}, {2}, {4}}, Y: y, Alpha: []float64{1}}, true)
	for _, l := range []loss.Loss{loss.Squared{}, loss.Logistic{}} {
		for _, v := range []float64{0, -3, math.Inf(1), math.Inf(-1), math.NaN()} {
			_, err := model.NewOffset(view, y, []float64{0, v, 0}, l)
			var e *outcome.Error
			switch finite := !math.IsInf(v, 0) && !math.IsNaN(v); {
			case finite && err != nil, !finite && (!errors.As(err, &e) || e.Kind != outcome.NonFinite || e.Row != 1):
				t.Errorf("%s: an offset of %g: %v", l.Name(), v, err)
			}
		}
	}
}
