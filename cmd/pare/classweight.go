package main

import (
	"math"
	"slices"
	"strings"

	"github.com/seed-45b9a24c/pare/outcome"
)

// classFlags are the flags for row weights by class.
type classFlags struct {
	ClassWeight string `placeholder:"balanced|CLASS:W,..." help:"Weights of the classes: balanced gives all classes the same total weight; CLASS:W gives some classes a weight, 1 for the others (models of classes)." group:"Problem"`
	WeighIn     string `name:"class-weight-in" default:"both" placeholder:"both|fit" help:"Where --class-weight applies: both, in the fit and the criterion, or fit, with balanced computed from the rows that each fold trains on (default: both)." group:"Problem"`
}

// weighClasses multiplies the row weights by the weights of the rows' classes.
func (f classFlags) weighClasses(d *dataset) error {
	if err := oneOf("class-weight-in", f.WeighIn, "both", "fit"); err != nil || f.ClassWeight == "" {
		if err == nil && f.WeighIn != "both" {
			err = outcome.At(outcome.Usage, "class-weight-in", "applies only with --class-weight")
		}
		return err
	}
	if d.classes == nil {
		return outcome.At(outcome.Usage, "class-weight", "applies only to models of classes, and this target is a number")
	}
	balanced := f.ClassWeight == "balanced"
	if f.WeighIn == "fit" && balanced {
		d.balanced = true
		return nil
	}
	kinds := slices.Compact(slices.Sorted(slices.Values(d.y)))
	byClass := slices.Repeat([]float64{1}, len(kinds))
	if !balanced {
		if err := f.named(d.classes, byClass); err != nil {
			return err
		}
	}
	if f.WeighIn == "fit" {
		d.classWeights = byClass
		return nil
	}
	if d.weights == nil {
		d.weights = slices.Repeat([]float64{1}, len(d.y))
	}
	class := func(i int) int {
		k, _ := slices.BinarySearch(kinds, d.y[i])
		return k
	}
	if balanced {
		var all float64
		held := make([]float64, len(kinds))
		for i, w := range d.weights {
			held[class(i)] += w
			all += w
		}
		for k, w := range held {
			byClass[k] = all / float64(float64(len(kinds))*w)
		}
	}
	weights := make([]float64, len(d.weights))
	for i, w := range d.weights {
		if w > 0 {
			weights[i] = w * byClass[class(i)]
		}
	}
	d.weights = weights
	return nil
}

// named reads weights given by class name.
func (f classFlags) named(classes []string, byClass []float64) error {
	given := make([]bool, len(byClass))
	for field := range strings.SplitSeq(f.ClassWeight, ",") {
		at := strings.LastIndex(field, ":")
		if at < 0 {
			return outcome.At(outcome.Usage, "class-weight", "give balanced, or CLASS:WEIGHT,...; got %q", field)
		}
		k := slices.Index(classes, strings.TrimSpace(field[:at]))
		if k < 0 || k >= len(byClass) {
			return outcome.At(outcome.BadParameter, "class-weight", "unknown class %q; the classes are %s", field[:at], strings.Join(classes, ", "))
		}
		w, err := parseNumber(strings.TrimSpace(field[at+1:]))
		if err != nil || !(w > 0) || math.IsInf(w, 1) {
			return outcome.At(outcome.BadParameter, "class-weight", "a weight must be positive and finite, got %q", field[at+1:])
		}
		if given[k] {
			return outcome.At(outcome.Usage, "class-weight", "class %s has two weights; give only one", classes[k])
		}
		byClass[k], given[k] = w, true
	}
	return nil
}
